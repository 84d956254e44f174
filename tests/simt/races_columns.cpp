// SPDX-License-Identifier: MIT
// Scans of columns, small enough to compile in seconds: under ThreadSanitizer, and once for each
// mutation.
#include <lookback/strategy/column_units.cuh>

#include <simt/columns.hpp>

TEST_CASE("columns: small tiles") {
  test::scan_interval_lines<test::interval, test::widened<test::interval, 120>>(12, 300000);
}
TEST_CASE("columns: small tiles, several groups of them") {
  test::scan_interval_lines<test::interval, test::widened<test::interval, 496>>(12, 400 * 32);
}
TEST_CASE("columns: short ones, in registers") {
  test::scan_interval_lines<test::interval, test::interval>(40, 60);
}
TEST_CASE("rows in registers") { test::scan_interval_lines<test::interval, test::interval>(30, 0); }
