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
/// The map x -> a x + b of numbers modulo 256, in 2 bytes. Composing two does not commute.
struct narrow_map {
  std::uint8_t a, b;
  bool operator==(const narrow_map &other) const { return a == other.a && b == other.b; }
};
struct compose_maps {
  narrow_map operator()(const narrow_map &x, const narrow_map &y) const {
    return {static_cast<std::uint8_t>(x.a * y.a), static_cast<std::uint8_t>(y.a * x.b + y.b)};
  }
};
/// Strips of 2-byte elements, of several units a block. Pairs do not fit odd distances.
lookback::axis some_strips_of_pairs(test::trial &one, const test::tree_sizes &size, bool same) {
  lookback::axis lines;
  lines.inner = one.random() % 2 == 0 ? 16 : 64;
  lines.length = static_cast<std::int64_t>((2 + 3 * (one.random() % 2)) * size.row);
  lines.outer = 2 + static_cast<std::int64_t>(one.random() % 3);
  lines.reverse = one.random() % 2 == 0;
  if (!same && one.random() % 2 == 0) lines.output.length = lines.inner + 1;
  return lookback::detail::checked_axis(lines);
}
/// Strips of one unit each: so many that blocks fill their rooms again.
lookback::axis many_strips_of_pairs(test::trial &one, const test::tree_sizes &size, bool) {
  lookback::axis lines;
  lines.inner = 16;
  lines.length = static_cast<std::int64_t>(2 * size.row);
  lines.outer = 24 + static_cast<std::int64_t>(one.random() % 8);
  lines.reverse = one.random() % 2 == 0;
  return lookback::detail::checked_axis(lines);
}
/// Three tiles of 16 columns.
lookback::axis some_tiles_of_a_strip(test::trial &one, const test::tree_sizes &size, bool) {
  lookback::axis lines;
  lines.inner = 16;
  lines.length = static_cast<std::int64_t>(2 * size.tile + size.row + one.random() % 2);
  lines.reverse = one.random() % 2 == 0;
  return lookback::detail::checked_axis(lines);
}
/// Two columns a lane. Maps with an odd factor keep what was before them.
void scan_strips_of_pairs(std::uint64_t count, test::choose_lines choose) {
  test::scan_lines<narrow_map, 32, 16>(
      count, choose, compose_maps{}, {3, 5}, {7, 7}, [](test::trial &one, std::size_t) {
        return narrow_map{static_cast<std::uint8_t>(one.random() | 1),
                          static_cast<std::uint8_t>(one.random())};
      });
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
/// A lane a row. (ThreadSanitizer has no room for more trials.)
TEST_CASE("columns: whole strips") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(1, test::some_strips<30000>);
}
TEST_CASE("columns: whole strips, partial units") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(3, test::some_partial_units);
}
TEST_CASE("columns: whole strips, several tiles") {
  test::scan_interval_lines<narrow_interval, narrow_interval>(1, some_tiles_of_a_strip);
}
TEST_CASE("columns: whole strips of 2-byte elements") {
  scan_strips_of_pairs(12, some_strips_of_pairs);
}
TEST_CASE("columns: more strips of 2-byte elements than rooms") {
  scan_strips_of_pairs(4, many_strips_of_pairs);
}
TEST_CASE("columns: whole strips of 2-byte elements, several tiles") {
  scan_strips_of_pairs(1, some_tiles_of_a_strip);
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
