// SPDX-License-Identifier: MIT
// Totals and prefixes that are more than one word: under ThreadSanitizer, and once for each
// mutation that only they show.
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

using test::kind;
TEST_CASE("cells with a flag, objects, 2 warps") {
  test::scan_intervals<kind::inclusive, 2, test::owned_interval,
                       test::widened<test::owned_interval, 256>>(40, 35);
}
TEST_CASE("cells of two words, 1 warp") {
  test::scan_intervals<kind::exclusive, 1, test::split_interval,
                       test::widened<test::split_interval, 512>>(40, 35);
}
