// SPDX-License-Identifier: MIT
// A little of everything that orders memory, small enough to compile in seconds: under
// ThreadSanitizer, and once for each mutation. Cells that are more than one word are in
// races_cells.cpp, what moves elements in races_moves.cpp, a wave in races_wave.cpp, the pipeline
// in races_look_ahead.cpp.
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

using test::kind;
TEST_CASE("cells of one word, vectors of two elements") {
  test::scan_intervals<kind::inclusive, 2, test::interval, test::interval>(80, 3);
}
/// The prefix is there first and the totals come one by one, in any order: a walk that does not ask
/// for all of them is found out.
TEST_CASE("a prefix before the totals between") {
  namespace core = lookback::detail;
  using state = core::scan_state<test::interval>;
  test::for_each_trial(40, [](test::trial &one) {
    const std::uint32_t groups = 2 + static_cast<std::uint32_t>(one.random() % 31);
    std::vector<std::uint32_t> order;
    for (std::uint32_t g = 1; g < groups; ++g) order.push_back(g);
    std::shuffle(order.begin(), order.end(), one.random);
    std::vector<lookback::simt::word_pair> totals(groups), prefixes(groups);
    unsigned tile_id = 0;
    test::interval found{};
    emulator::run(one.schedule, {{2, 32, sizeof(unsigned), [&] {
                                    state cells;
                                    cells.group_aggregates = {totals.data(), nullptr};
                                    cells.group_prefixes = {prefixes.data(), nullptr};
                                    auto &mine = lookback::simt::shared_memory<unsigned>();
                                    if (lookback::simt::lane_index() == 0)
                                      mine = lookback::simt::fetch_increment(&tile_id);
                                    lookback::simt::synchronize_block();
                                    if (mine == 0) {
                                      if (lookback::simt::lane_index() != 0) return;
                                      cells.group_prefixes.publish(0, {0, 1});
                                      for (const std::uint32_t g : order)
                                        cells.group_aggregates.publish(g, {g, g + 1});
                                    } else {
                                      core::lane_exchange<test::interval>::storage nothing;
                                      core::lane_exchange<test::interval> exchange(nothing);
                                      test::join_neighbours op;
                                      const test::interval left =
                                          core::look_back_over_groups(cells, groups, op, exchange);
                                      if (lookback::simt::lane_index() == 0) found = left;
                                    }
                                  }}});
    REQUIRE_EQ(found, test::interval{0, groups});
  });
}
/// Last, because thousands of threads cost the sanitizer most; what is cheap came first, for
/// mutations to end there.
TEST_CASE("four groups, cells of one word") {
  test::scan_intervals<kind::inclusive, 1, test::interval, test::widened<test::interval, 512>>(
      20, 100, 96);
}
