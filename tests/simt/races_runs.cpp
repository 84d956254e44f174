// SPDX-License-Identifier: MIT
// Results for runs, and partitions into three parts, small enough to compile in seconds: under
// ThreadSanitizer, and once for each mutation.
#include <lookback/strategy/pipeline.cuh>

#include <simt/runs.hpp>

TEST_CASE("reduction by key") { test::reduce_runs<test::interval>(30, 3, test::by_tiles<4>{}); }
TEST_CASE("reduction by key in the pipeline") {
  test::reduce_runs<test::interval>(20, 5, test::by_pipeline<test::look_ahead_by<4, 2, 2, 4, 1>>{});
}
TEST_CASE("reduction by key: objects") {
  test::reduce_runs<test::owned_interval>(20, 3, test::by_tiles<4>{});
}
TEST_CASE("sums of runs, gathered in the second pass") {
  test::sum_runs<std::uint32_t, std::int32_t>(
      24, 4, test::by_pipeline<test::look_ahead_by<5, 2, 4, 8, 2, 2, 2, 2>>{});
}
TEST_CASE("sums of runs, gathered in the first pass") {
  test::sum_runs<std::uint32_t, std::int32_t>(
      16, 4, test::by_pipeline<test::look_ahead_by<5, 2, 3, 8, 2, 2, 2, 1>>{});
}
TEST_CASE("sums of runs whose values have a ring of their own") {
  test::sum_runs<std::uint32_t, std::int32_t>(
      40, 4, test::by_pipeline<test::look_ahead_by<5, 2, 3, 8, 2, 2, 2, 1, false, 2>>{});
}
TEST_CASE("three parts") { test::part_in_three<std::uint32_t>(20, 2, test::by_tiles<8>{}); }
