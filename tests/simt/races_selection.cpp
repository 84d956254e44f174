// SPDX-License-Identifier: MIT
// Selections, small enough to compile in seconds: under ThreadSanitizer, and once for each
// mutation.
#include <lookback/strategy/pipeline.cuh>

#include <simt/selections.hpp>

TEST_CASE("selection by tiles") { test::select_by_tiles<8, std::uint8_t>(30, 3); }
TEST_CASE("selection in half tiles") { test::select_in_half_tiles<4, std::uint16_t>(20, 3); }
TEST_CASE("selection in the pipeline") {
  test::select_ahead<test::look_ahead_by<4, 2, 2, 4, 1>, std::uint32_t>(30, 5);
}
