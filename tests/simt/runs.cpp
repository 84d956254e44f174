// SPDX-License-Identifier: MIT
// Results for runs of equal keys, and partitions into three parts, under many schedules.
#include <lookback/strategy/pipeline.cuh>

#include <simt/runs.hpp>

TEST_CASE("reduction by key: 8 bytes") {
  test::reduce_runs<test::interval>(300, 5, test::by_tiles<4>{});
}
TEST_CASE("reduction by key: 24 bytes") {
  test::reduce_runs<test::long_interval>(200, 6, test::by_tiles<4>{});
}
TEST_CASE("reduction by key: objects") {
  test::reduce_runs<test::owned_interval>(200, 6, test::by_tiles<2>{});
}
TEST_CASE("reduction by key in the pipeline: 8 bytes") {
  test::reduce_runs<test::interval>(200, 9,
                                    test::by_pipeline<test::look_ahead_by<5, 2, 3, 8, 2>>{});
}
TEST_CASE("reduction by key in the pipeline: many look-ahead warps") {
  test::reduce_runs<test::interval>(60, 24,
                                    test::by_pipeline<test::look_ahead_by<6, 2, 4, 8, 4>>{});
}
TEST_CASE("reduction by key in the pipeline: teams, and warps that copy") {
  test::reduce_runs<test::interval>(
      60, 12, test::by_pipeline<test::look_ahead_by<5, 2, 4, 8, 2, 2, 2, 2>>{});
  test::reduce_runs<test::interval>(60, 12,
                                    test::by_pipeline<test::load_ahead_by<4, 2, 8, 2, 2, 1>>{});
}
TEST_CASE("long runs in the pipeline") {
  test::find_long_runs(200, 9, test::by_pipeline<test::look_ahead_by<4, 2, 2, 8, 2>>{});
}
TEST_CASE("long runs") { test::find_long_runs(300, 5, test::by_tiles<4>{}); }
TEST_CASE("unique by key") { test::unique_pairs(300, 5, test::by_tiles<4>{}); }
TEST_CASE("three parts: 1 byte") {
  test::part_in_three<std::uint8_t>(100, 3, test::by_tiles<16>{});
}
TEST_CASE("three parts: 4 bytes") {
  test::part_in_three<std::uint32_t>(150, 4, test::by_tiles<8>{});
}
/// 4 elements a vector, with room for both results and without; 2, 8 and 16.
TEST_CASE("sums of runs") {
  test::sum_runs<std::uint32_t, std::int32_t>(100, 3, test::by_tiles<8>{});
  test::sum_runs<char, std::int32_t>(50, 3, test::by_tiles<8>{});
  test::sum_runs<std::int64_t, std::int64_t>(50, 3, test::by_tiles<16>{});
  test::sum_runs<std::uint16_t, std::uint16_t>(50, 3, test::by_tiles<8>{});
  test::sum_runs<char, std::uint8_t>(50, 2, test::by_tiles<8>{});
}
TEST_CASE("lengths of runs") {
  test::sum_runs<std::uint32_t, std::int32_t, true>(100, 3, test::by_tiles<8>{});
  test::sum_runs<char, std::uint16_t, true>(50, 3, test::by_tiles<8>{});
  test::sum_runs<char, std::uint8_t, true>(50, 2, test::by_tiles<8>{});
}
/// Two teams of scanning warps, as on sm_90; warps that copy, as on sm_80.
TEST_CASE("sums of runs in the pipeline") {
  using teams = test::look_ahead_by<5, 2, 4, 8, 2, 2, 2, 2>;
  test::sum_runs<std::uint32_t, std::int32_t>(60, 9, test::by_pipeline<teams>{});
  test::sum_runs<std::uint32_t, std::int32_t>(
      40, 9, test::by_pipeline<test::look_ahead_by<5, 2, 3, 8, 2, 2, 2, 1>>{});
  test::sum_runs<std::uint32_t, std::int32_t>(
      60, 9, test::by_pipeline<test::look_ahead_by<5, 2, 3, 8, 2, 2, 2, 1, false, 3>>{});
  test::sum_runs<std::uint16_t, std::uint16_t>(
      30, 5, test::by_pipeline<test::look_ahead_by<4, 2, 2, 16, 2, 2, 2, 2, false, 2>>{});
  test::sum_runs<std::int32_t, std::int64_t>(
      30, 5, test::by_pipeline<test::look_ahead_by<4, 2, 3, 8, 2, 2, 2, 1, false, 3>>{});
  test::sum_runs<std::uint16_t, std::int32_t>(
      30, 5, test::by_pipeline<test::look_ahead_by<4, 1, 2, 16, 1, 1, 1, 1, false, 1>>{});
  test::sum_runs<char, std::int32_t, false, signed char>(
      30, 5, test::by_pipeline<test::look_ahead_by<5, 2, 3, 8, 2, 2, 2, 1, false, 3>>{});
  test::sum_runs<std::uint32_t, std::int32_t, true>(60, 9, test::by_pipeline<teams>{});
  test::sum_runs<char, std::uint8_t, true>(
      30, 5, test::by_pipeline<test::look_ahead_by<5, 2, 2, 4, 2, 2, 2, 2>>{});
  test::sum_runs<std::uint32_t, std::int32_t, true>(
      60, 9, test::by_pipeline<test::load_ahead_by<4, 2, 8, 2, 2, 1>>{});
}
