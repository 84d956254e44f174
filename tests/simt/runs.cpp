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
/// Runs of two characters, of up to `longest` of them, and their lengths in the type T.
template <class T, class Run>
void lengths_of_runs(std::uint64_t count, std::size_t tiles, std::size_t longest, Run run) {
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = test::some_tiles(one, test::tree_sizes(sizeof(T), sizeof(T)).tile, tiles);
    std::vector<char> keys;
    std::vector<T> expected;
    while (keys.size() < n) {
      const std::size_t length = std::min(1 + one.random() % longest, n - keys.size());
      keys.insert(keys.end(), length, keys.empty() || keys.back() == 'a' ? 'b' : 'a');
      expected.push_back(static_cast<T>(length));
    }
    const test::bare_input<char> from(keys, one.random() % 2);
    std::vector<char> first_keys(n);
    std::vector<T> lengths(n);
    std::int64_t number = -1;
    namespace core = lookback::detail;
    run(core::make_reduction_by_key<T>(from.data(), core::ones<T>{}, first_keys.data(),
                                       lengths.data(), lookback::equal_to{}, lookback::plus{},
                                       static_cast<std::int64_t>(n), &number),
        n, one);
    REQUIRE_EQ(number, static_cast<std::int64_t>(expected.size()));
    lengths.resize(expected.size());
    REQUIRE(lengths == expected);
    for (std::size_t r = 0; r < expected.size(); ++r)
      REQUIRE_EQ(first_keys[r], r % 2 == 0 ? 'b' : 'a');
  });
}
/// 4, 8 and 16 characters a vector.
TEST_CASE("lengths of runs: 4 bytes") {
  lengths_of_runs<std::int32_t>(100, 3, 300, test::by_tiles<8>{});
}
TEST_CASE("lengths of runs: 2 bytes") {
  lengths_of_runs<std::uint16_t>(60, 3, 300, test::by_tiles<8>{});
}
TEST_CASE("lengths of runs: 1 byte") {
  lengths_of_runs<std::uint8_t>(60, 3, 200, test::by_tiles<8>{});
}
/// Two teams of scanning warps, as on sm_90; warps that copy, as on sm_80.
TEST_CASE("lengths of runs in the pipeline") {
  lengths_of_runs<std::int32_t>(60, 9, 300,
                                test::by_pipeline<test::look_ahead_by<5, 2, 4, 8, 2, 2, 2, 2>>{});
  lengths_of_runs<std::uint8_t>(30, 5, 200,
                                test::by_pipeline<test::look_ahead_by<5, 2, 2, 4, 2, 2, 2, 2>>{});
  lengths_of_runs<std::int32_t>(60, 9, 300,
                                test::by_pipeline<test::load_ahead_by<4, 2, 8, 2, 2, 1>>{});
}
