// SPDX-License-Identifier: MIT
// A little of everything that orders memory, small enough to compile in seconds: under ThreadSanitizer, and once for each
// mutation. What moves elements is in races_moves.cpp, a wave in races_wave.cpp, the pipeline in races_look_ahead.cpp.
#include <lookback/device/decoupled_look_back.cuh>

#include <simt/problems.hpp>

namespace {

template <test::kind Kind, int Warps, class T, class In>
void intervals(std::uint64_t count, std::size_t tiles, std::size_t tiles_at_least = 0) {
  const auto elements = test::interval_elements<In, T>(tiles * test::tree_sizes(sizeof(In), sizeof(T)).tile);
  const std::uint32_t begin = Kind == test::kind::inclusive ? 1 : 0, end = Kind == test::kind::exclusive ? 1 : 2;
  const auto expected = [=](std::size_t n, std::size_t) {
    std::vector<T> results;
    for (std::uint32_t i = 0; i < n; ++i) results.push_back(test::make_interval<T>({begin, end + i}));
    return results;
  };
  test::for_each_trial(count, [&](test::trial &one) {
    test::check_scan<Kind, Warps, false, T>(one, elements, test::make_interval<T>(test::interval_initial), test::join_neighbours{},
                                            test::make_interval<T>({77, 78}), expected,
                                            1 + tiles_at_least * test::tree_sizes(sizeof(In), sizeof(T)).tile);
  });
}

} // namespace

using test::kind;
TEST_CASE("cells of one word, vectors of two elements") { intervals<kind::inclusive, 2, test::interval, test::interval>(80, 3); }
/// The prefix is there first and the totals come one by one, in any order: a walk that does not ask for all of them is found out.
TEST_CASE("a prefix before the totals between") {
  namespace core = lookback::detail;
  using state = core::tile_state<test::interval>;
  test::for_each_trial(40, [](test::trial &one) {
    const std::uint32_t groups = 2 + static_cast<std::uint32_t>(one.random() % 31);
    std::vector<std::uint32_t> order;
    for (std::uint32_t g = 1; g < groups; ++g) order.push_back(g);
    std::shuffle(order.begin(), order.end(), one.random);
    std::vector<lookback::simt::word_pair> totals(groups), prefixes(groups);
    unsigned ticket = 0;
    test::interval found{};
    emulator::run(one.schedule, {{2, 32, sizeof(unsigned), [&] {
      state cells;
      cells.group_totals = {totals.data(), nullptr};
      cells.group_prefixes = {prefixes.data(), nullptr};
      auto &mine = lookback::simt::shared_memory<unsigned>();
      if (lookback::simt::lane_index() == 0) mine = lookback::simt::fetch_increment(&ticket);
      lookback::simt::synchronize_block();
      if (mine == 0) {
        if (lookback::simt::lane_index() != 0) return;
        cells.group_prefixes.publish(0, {0, 1});
        for (const std::uint32_t g : order) cells.group_totals.publish(g, {g, g + 1});
      } else {
        core::lane_exchange<test::interval>::storage nothing;
        core::lane_exchange<test::interval> exchange(nothing);
        test::join_neighbours op;
        const test::interval left = core::look_back_over_groups(cells, groups, op, exchange);
        if (lookback::simt::lane_index() == 0) found = left;
      }
    }}});
    REQUIRE_EQ(found, test::interval{0, groups});
  });
}
TEST_CASE("cells with a flag, objects, 2 warps") {
  intervals<kind::inclusive, 2, test::owned_interval, test::widened<test::owned_interval, 256>>(40, 35);
}
TEST_CASE("cells of two words, 1 warp") {
  intervals<kind::exclusive, 1, test::split_interval, test::widened<test::split_interval, 512>>(40, 35);
}
/// Last, because thousands of threads cost the sanitizer most; what is cheap came first, for mutations to end there.
TEST_CASE("four groups, cells of one word") {
  intervals<kind::inclusive, 1, test::interval, test::widened<test::interval, 512>>(20, 100, 96);
}
