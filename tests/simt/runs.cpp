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
TEST_CASE("length of runs, 1 byte") {
  test::for_each_trial(100, [](test::trial &one) {
    const std::size_t n = test::some_tiles(one, 4096, 3);
    std::vector<char> keys;
    std::vector<std::int32_t> expected;
    while (keys.size() < n) {
      const std::size_t length = std::min<std::size_t>(1 + one.random() % 300, n - keys.size());
      keys.insert(keys.end(), length, keys.empty() || keys.back() == 'a' ? 'b' : 'a');
      expected.push_back(static_cast<std::int32_t>(length));
    }
    std::vector<char> first_keys(n);
    std::vector<std::int32_t> lengths(n);
    std::int64_t number = -1;
    namespace core = lookback::detail;
    test::scan<8>(core::make_reduction_by_key<std::int32_t>(
                      static_cast<const char *>(keys.data()), core::ones<std::int32_t>{},
                      first_keys.data(), lengths.data(), lookback::equal_to{}, lookback::plus{},
                      static_cast<std::int64_t>(n), &number),
                  n, one.schedule);
    REQUIRE_EQ(number, static_cast<std::int64_t>(expected.size()));
    lengths.resize(expected.size());
    REQUIRE(lengths == expected);
  });
}
