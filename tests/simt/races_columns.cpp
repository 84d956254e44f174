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
/// Three tiles of 16 columns.
lookback::axis some_tiles_of_a_strip(test::trial &one, const test::tree_sizes &size, bool) {
  lookback::axis lines;
  lines.inner = 16;
  lines.length = static_cast<std::int64_t>(2 * size.tile + size.row + one.random() % 2);
  lines.reverse = one.random() % 2 == 0;
  return lookback::detail::checked_axis(lines);
}
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
/// Two lanes a row. (ThreadSanitizer has no room for more trials.)
TEST_CASE("columns: whole strips") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(1, test::some_strips<30000>);
}
TEST_CASE("columns: whole strips, several tiles") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(1, some_tiles_of_a_strip);
}
/// Random values, so that a mix-up of the two columns shows.
TEST_CASE("columns: two, as pairs") {
  test::scan_lines<std::uint32_t, 32, 16>(
      24, test::some_pairs<9000>, lookback::plus{}, 3, 7,
      [](test::trial &one, std::size_t) { return static_cast<std::uint32_t>(one.random()); });
}
TEST_CASE("columns: short ones, in registers") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(40, test::some_axis<60>);
}
TEST_CASE("rows by the pipeline") {
  test::scan_interval_lines<test::interval, test::widened<test::interval, 16>>(
      12, test::some_rows_of_tiles);
}
TEST_CASE("rows in registers") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(30, test::some_rows);
}
