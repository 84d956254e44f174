// SPDX-License-Identifier: MIT
// Numbers of items that only the device knows, small enough to compile in seconds: under
// ThreadSanitizer, and once for each mutation.
#include <lookback/strategy/pipeline.cuh>

#include <simt/counts.hpp>
#include <simt/runs.hpp>
#include <simt/selections.hpp>

using test::interval;
using medium = test::widened<interval, 64>; // 8 rows a tile

TEST_CASE("counts on the device: one tile") { test::count_one_tile<interval, medium>(20); }
TEST_CASE("counts on the device: a cluster") { test::count_cluster<interval, medium>(20); }
TEST_CASE("counts on the device: a wave") { test::count_wave<interval, medium>(20, 8); }
TEST_CASE("counts on the device: the pipeline") {
  test::count_ahead<test::look_ahead_by<3, 2, 1, 2, 2>, interval, interval>(20, 9);
}
TEST_CASE("counts on the device: a few sums by the pipeline") {
  test::sum_few_ahead<test::look_ahead_by<3, 2, 1, 2, 2>>(6);
}
TEST_CASE("counts on the device: the look-back") {
  test::count_drawn<lookback::detail::tree_look_back, interval, medium>(20, 12);
}
TEST_CASE("counts on the device: large elements") {
  using huge = test::widened<interval, 2048>;
  test::count_drawn<lookback::detail::warp_tiles, interval, huge>(10, 12);
}
TEST_CASE("counts on the device: runs and partitions") {
  using drawn = test::by_count<
      lookback::detail::first_of<lookback::detail::one_tile<test::counted_rows>,
                                 lookback::detail::tree_look_back<test::counted_rows>>>;
  test::find_long_runs(10, 2, drawn{});
  test::select_trials<std::uint32_t>(20, 2, drawn{});
}
