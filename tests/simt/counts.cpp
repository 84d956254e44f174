// SPDX-License-Identifier: MIT
// Numbers of items that only the device knows, by every strategy, under many schedules.
#include <lookback/strategy/pipeline.cuh>

#include <simt/counts.hpp>
#include <simt/runs.hpp>
#include <simt/segmented.hpp>
#include <simt/selections.hpp>

using test::interval;
using medium = test::widened<interval, 64>; // 8 rows a tile
using wide = test::widened<interval, 512>;  // one row a tile

TEST_CASE("counts on the device: one tile") { test::count_one_tile<interval, medium>(80); }
TEST_CASE("counts on the device: a cluster") { test::count_cluster<interval, medium>(60); }
TEST_CASE("counts on the device: a wave") { test::count_wave<interval, medium>(60, 12); }
TEST_CASE("counts on the device: the pipeline") {
  test::count_ahead<test::look_ahead_by<3, 2, 1, 2, 2>, interval, test::widened<interval, 16>>(40,
                                                                                               9);
}
TEST_CASE("counts on the device: the pipeline, tiles in registers") {
  test::count_ahead<test::hold_ahead_by<3, 2, 3, 4, 2>, interval, interval>(20, 9);
}
TEST_CASE("counts on the device: the look-back") {
  test::count_drawn<lookback::detail::tree_look_back, interval, medium>(60, 40);
  test::count_drawn<lookback::detail::tree_look_back, test::long_interval,
                    test::widened<test::long_interval, 64>>(40, 40);
}
TEST_CASE("counts on the device: large elements") {
  using huge = test::widened<interval, 2048>;
  test::count_drawn<lookback::detail::warp_tiles, interval, huge>(20, 40);
}
TEST_CASE("counts on the device: selections, runs and partitions") {
  using namespace lookback::detail;
  using rows = test::counted_rows;
  using ahead_rows = test::pipeline_rows<test::look_ahead_by<5, 2, 4, 8, 2, 2, 2, 2>>;
  using drawn = test::by_count<first_of<one_tile<rows>, wave<rows>, tree_look_back<rows>>>;
  using ahead = test::by_count<first_of<one_tile<ahead_rows>, pipeline<ahead_rows>>>;
  test::select_trials<std::uint32_t>(20, 4, drawn{});
  test::select_trials<std::uint32_t>(20, 9, ahead{});
  test::reduce_runs<interval>(20, 4, drawn{});
  test::sum_runs<std::uint32_t, std::int32_t>(20, 6, ahead{});
  test::find_long_runs(20, 6, ahead{});
  test::part_in_three<std::uint32_t>(20, 3, drawn{});
  using in_half_tiles =
      test::by_count<first_of<cluster_of_half_tiles<rows>, one_tile<rows>, tree_look_back<rows>>>;
  test::select_trials<std::uint8_t>(20, 2, in_half_tiles{});
}
TEST_CASE("counts on the device: segments") {
  test::scan_interval_segments<interval, test::widened<interval, 120>, 2, 32,
                               test::number_on_device>(40, 3000);
}
