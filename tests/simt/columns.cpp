// SPDX-License-Identifier: MIT
// Scans of columns, and of rows from the end, under many schedules.
#include <lookback/strategy/column_units.cuh>

#include <simt/columns.hpp>

TEST_CASE("columns: sums of floats") {
  test::scan_lines<float, 32, 16>(
      80, 30000, lookback::plus{}, 0.3f, -1.f,
      [](test::trial &one, std::size_t) { return static_cast<float>(one.random() % 4096) / 37; });
}
/// A thread has two columns.
TEST_CASE("columns: sums of 2 bytes") {
  test::scan_lines<std::uint16_t, 32, 16>(
      60, 60000, lookback::plus{}, 3, 7,
      [](test::trial &one, std::size_t) { return static_cast<std::uint16_t>(one.random()); });
}
TEST_CASE("columns: 8 bytes") {
  test::scan_interval_lines<test::interval, test::interval>(60, 20000);
}
TEST_CASE("columns: 24 bytes") {
  test::scan_interval_lines<test::long_interval, test::long_interval>(60, 10000);
}
/// Tiles of 128 elements, so that the ring of status words is used more than once.
TEST_CASE("columns: small tiles") {
  test::scan_interval_lines<test::interval, test::widened<test::interval, 120>>(40, 30000);
}
/// Tiles of 32 elements.
TEST_CASE("columns: small tiles, several groups of them") {
  test::scan_interval_lines<test::interval, test::widened<test::interval, 496>>(40, 400 * 32);
}
/// A few warps a row.
TEST_CASE("rows: sums of floats") {
  test::scan_lines<float, 32, 16>(
      40, 0, lookback::plus{}, 0.3f, -1.f,
      [](test::trial &one, std::size_t) { return static_cast<float>(one.random() % 4096) / 37; });
}
