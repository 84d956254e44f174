// SPDX-License-Identifier: MIT
// Scans of segments that are given by offsets, small enough to compile in seconds: under
// ThreadSanitizer, and once for each mutation.
#include <lookback/strategy/segment_units.cuh>

#include <simt/counts.hpp>
#include <simt/segmented.hpp>

TEST_CASE("segments") {
  test::scan_interval_segments<test::interval, test::widened<test::interval, 120>, 2>(25, 3000);
}
TEST_CASE("segments: vectors of several items") {
  test::scan_interval_segments<test::interval, test::interval, 2>(8, 5000);
}
TEST_CASE("segments: short ones, of several items a vector") {
  test::scan_interval_segments<test::interval, test::interval, 2>(12, 4000, test::short_lengths);
}
TEST_CASE("segments: small tiles, several groups of them") {
  using wide = test::widened<test::interval, 496>;
  test::scan_interval_segments<test::interval, wide, 1>(12, 400 * 32);
}
TEST_CASE("segments: their number on the device") {
  test::scan_interval_segments<test::interval, test::widened<test::interval, 120>, 2, 32,
                               test::number_on_device>(8, 3000);
}
/// Long segments by the pipeline: tiles of 256 elements, so that the ring has fewer words than
/// there are tiles.
TEST_CASE("segments by the pipeline") {
  test::scan_interval_segments_by<test::interval, test::widened<test::interval, 64>,
                                  test::by_pipeline_of<test::look_ahead_by<4, 2, 2, 2, 2>, 128>>(
      12, 200 * 256);
}
TEST_CASE("segments by the pipeline: long ones among many short ones") {
  test::scan_interval_segments_by<
      test::interval, test::widened<test::interval, 64>,
      test::by_pipeline_of<test::look_ahead_by<4, 2, 2, 2, 2>, 128, 1000>>(6, 1,
                                                                           test::long_among_many);
}
TEST_CASE("segments by the pipeline: mostly of one tile") {
  test::scan_interval_segments_by<test::interval, test::widened<test::interval, 64>,
                                  test::by_pipeline_of<test::look_ahead_by<4, 2, 2, 2, 2>, 128>>(
      6, 1, test::mostly_one_tile);
}
