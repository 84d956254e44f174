// SPDX-License-Identifier: MIT
// Scans of segments that are given by offsets, under many schedules.
#include <lookback/strategy/segment_units.cuh>

#include <simt/segmented.hpp>

TEST_CASE("segments: sums of floats") { test::sum_segments<test::by_look_back<4>>(60, 14000); }
TEST_CASE("segments: 8 bytes") {
  test::scan_interval_segments<test::interval, test::interval, 4>(60, 7000);
}
TEST_CASE("segments: short ones, 8 bytes") {
  test::scan_interval_segments<test::interval, test::interval, 4>(60, 9000, test::short_lengths);
}
TEST_CASE("segments: 24 bytes") {
  test::scan_interval_segments<test::long_interval, test::long_interval, 2>(60, 3000);
}
/// Tiles of 32 elements, so that the ring of status words is used more than once.
TEST_CASE("segments: small tiles, several groups of them") {
  using wide = test::widened<test::interval, 496>;
  test::scan_interval_segments<test::interval, wide, 1>(40, 400 * 32);
}

// ---- long segments by the pipeline -------------------------------------------------------------
template <unsigned Ring>
using ahead = test::by_pipeline_of<test::look_ahead_by<4, 2, 2, 4, 2>, Ring>;
TEST_CASE("segments by the pipeline: sums of floats") { test::sum_segments<ahead<128>>(60, 60000); }
/// Some trials have a tile a segment or more on average, others have fewer.
TEST_CASE("segments by the pipeline or by the look-back") {
  test::sum_segments<test::by_pipeline_of<test::look_ahead_by<4, 2, 2, 4, 2>, 128, 1>>(40, 60000);
}
TEST_CASE("segments by the pipeline: long ones among many short ones") {
  test::sum_segments<test::by_pipeline_of<test::look_ahead_by<4, 2, 2, 4, 2>, 128, 1000>>(
      20, 1, test::long_among_many);
}
TEST_CASE("segments by the pipeline: 8 bytes") {
  test::scan_interval_segments_by<test::interval, test::interval, ahead<128>>(60, 30000);
}
/// Tiles of 256 elements: the ring of status words is used more than once.
TEST_CASE("segments by the pipeline: small tiles, several groups of them") {
  using wide = test::widened<test::interval, 64>;
  test::scan_interval_segments_by<test::interval, wide,
                                  test::by_pipeline_of<test::look_ahead_by<5, 2, 2, 8, 3, 1>, 128>>(
      60, 400 * 256);
}

// ---- sums of integers in adjacent segments -----------------------------------------------------
template <int Stages, int Depth, int Teams, int MarkingWarps>
using by_heads = test::by_heads_of<test::mark_ahead_by<Stages, Depth, 4, Teams, MarkingWarps>, 128>;

TEST_CASE("adjacent segments: offsets of 8 bytes") {
  test::sum_adjacent_segments<std::int32_t, std::int64_t, by_heads<5, 4, 2, 4>>(60, 40 * 4096,
                                                                                test::some_lengths);
}
TEST_CASE("adjacent segments: offsets of 4 bytes, many of them empty") {
  test::sum_adjacent_segments<std::uint32_t, std::uint32_t, by_heads<4, 3, 1, 2>>(60, 40 * 4096,
                                                                                  test::many_empty);
}
