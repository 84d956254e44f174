// SPDX-License-Identifier: MIT
// Sums of integers in adjacent segments, whose heads warps mark, small enough to compile in
// seconds: under ThreadSanitizer, and once for each mutation.
#include <lookback/strategy/segment_units.cuh>

#include <simt/segmented.hpp>

/// Fewer words in the ring than there are tiles.
template <int Stages, int Depth, int MarkingWarps>
using by_heads = test::by_heads_of<test::mark_ahead_by<Stages, Depth, 4, 2, MarkingWarps>, 128>;

TEST_CASE("adjacent segments: more tiles than words in the ring") {
  test::sum_adjacent_segments<std::int32_t, std::int64_t, by_heads<3, 2, 2>>(8, 1,
                                                                             test::mostly_one_tile);
}
TEST_CASE("adjacent segments: offsets of 8 bytes") {
  test::sum_adjacent_segments<std::int32_t, std::int64_t, by_heads<5, 4, 3>>(10, 30 * 4096,
                                                                             test::some_lengths);
}
TEST_CASE("adjacent segments: offsets of 4 bytes, many of them empty") {
  test::sum_adjacent_segments<std::uint32_t, std::uint32_t, by_heads<3, 2, 2>>(10, 30 * 4096,
                                                                               test::many_empty);
}
