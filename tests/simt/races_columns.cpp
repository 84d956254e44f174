// SPDX-License-Identifier: MIT
// Scans of columns and rows, small enough to compile in seconds: under ThreadSanitizer, and once
// for each mutation.
#include <lookback/strategy/column_units.cuh>

#include <simt/columns.hpp>

namespace {
/// An interval in 4 bytes: a vector may be two rows. (For ThreadSanitizer, rows end before 65536.)
struct narrow_interval {
  std::uint16_t begin, end;
  explicit narrow_interval(test::interval value)
      : begin(static_cast<std::uint16_t>(value.begin)), end(static_cast<std::uint16_t>(value.end)) {
  }
  operator test::interval() const { return {begin, end}; }
};
} // namespace

TEST_CASE("rows in registers: short ones") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(48, test::some_short_rows);
}
TEST_CASE("columns: small tiles") {
  test::scan_interval_lines<test::interval, test::widened<test::interval, 120>>(
      12, test::some_axis<300000>);
}
TEST_CASE("columns: small tiles, several groups of them") {
  test::scan_interval_lines<test::interval, test::widened<test::interval, 496>>(
      12, test::some_axis<400 * 32>);
}
/// A lane a row. (ThreadSanitizer has no room for more trials.)
TEST_CASE("columns: whole strips") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(2, test::some_strips<70000>);
}
TEST_CASE("columns: short ones, in registers") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(40, test::some_axis<60>);
}
TEST_CASE("rows in registers") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(30, test::some_rows);
}
