// SPDX-License-Identifier: MIT
// Scans of segments that are given by offsets, under many schedules.
#include <lookback/strategy/segment_units.cuh>

#include <simt/segmented.hpp>

TEST_CASE("segments: sums of floats") { test::sum_segments<4>(60, 14000); }
TEST_CASE("segments: 8 bytes") {
  test::scan_interval_segments<test::interval, test::interval, 4>(60, 7000);
}
TEST_CASE("segments: 24 bytes") {
  test::scan_interval_segments<test::long_interval, test::long_interval, 2>(60, 3000);
}
/// Tiles of 32 elements, so that the ring of status words is used more than once.
TEST_CASE("segments: small tiles, several groups of them") {
  using wide = test::widened<test::interval, 496>;
  test::scan_interval_segments<test::interval, wide, 1>(40, 400 * 32);
}
