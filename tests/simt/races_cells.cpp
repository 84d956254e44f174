// SPDX-License-Identifier: MIT
// Totals and prefixes that are more than one word: under ThreadSanitizer, and once for each
// mutation that only they show. And the textbook's look-back, which has a tile of its own.
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/strategies.hpp>

using test::kind;
TEST_CASE("cells with a flag, objects, 2 warps") {
  test::scan_intervals<kind::inclusive, 2, test::owned_interval,
                       test::widened<test::owned_interval, 256>>(40, 35);
}
TEST_CASE("cells of two words, 1 warp") {
  test::scan_intervals<kind::exclusive, 1, test::split_interval,
                       test::widened<test::split_interval, 512>>(40, 35);
}
TEST_CASE("cells of two wide words, 1 warp") {
  test::scan_intervals<kind::inclusive, 1, test::long_interval,
                       test::widened<test::long_interval, 512>>(40, 70);
}
TEST_CASE("textbook's look-back, 2 warps of 2 rows") {
  using strategy = lookback::decoupled_look_back<lookback::walk_by_warp, lookback::dynamic_ids,
                                                 lookback::warp_vectors, 64, 4>;
  test::for_each_trial(30, [](test::trial &one) {
    const std::size_t n = 1 + one.random() % 1500;
    INFO("n = ", n);
    const auto x = test::interval_elements<test::interval, test::interval>(n);
    std::vector<test::interval> y(n), expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back({1, i + 2});
    test::scan_by_textbook<strategy>(
        lookback::detail::make_problem<true, test::interval>(
            x.data(), y.data(), test::join_neighbours{}, lookback::detail::no_initial{}),
        n, one.schedule);
    REQUIRE_EQ(test::first_difference(y, expected), test::nowhere);
  });
}
