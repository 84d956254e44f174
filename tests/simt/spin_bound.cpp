// SPDX-License-Identifier: MIT
// Every wait for other blocks, for something that never comes: a bounded one says what it is.
#include <lookback/carry/look_ahead_carry.cuh>
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

namespace {

namespace core = lookback::detail;
using test::interval;

/// What one warp that runs `wait(state)` over empty cells reports.
template <class Wait>
std::string report_of(Wait wait) {
  std::vector<lookback::simt::word_pair> totals(128), group_aggregates(4), group_prefixes(4);
  core::scan_state<interval> state;
  state.tile_aggregates = {totals.data(), nullptr};
  state.group_aggregates = {group_aggregates.data(), nullptr};
  state.group_prefixes = {group_prefixes.data(), nullptr};
  struct bounded {
    bounded() { lookback::simt::spin_bound::polls_at_most = 2; }
    ~bounded() { lookback::simt::spin_bound::polls_at_most = ~0u; }
  } const bound;
  try {
    emulator::run({emulator::mode::random, 1}, {{1, 32, 0, [&] { wait(state); }}});
  } catch (const std::runtime_error &report) {
    return report.what();
  }
  return "nothing";
}

void check_report(const std::string &report, const std::string &expected) {
  INFO(report);
  CHECK_NE(report.find(expected), std::string::npos);
}

} // namespace

TEST_CASE("a wait that goes on for too long says what it waits for") {
  test::join_neighbours op;
  core::lane_exchange<interval>::storage nothing;
  core::lane_exchange<interval> exchange(nothing);
  check_report(
      report_of([](const auto &state) { core::wait_for<interval>(state.group_prefixes, 3); }),
      "waits for the prefix 3: expected 1, seen 0");
  check_report(
      report_of([&](const auto &state) { core::look_back_over_groups(state, 1, op, exchange); }),
      "waits for the prefix or the aggregate of group 0: expected 1, seen 0");
  check_report(report_of([&](const auto &state) {
                 const interval *const no_input = nullptr;
                 interval *const no_output = nullptr;
                 core::look_back(core::make_problem<true, interval>(no_input, no_output, op,
                                                                    core::no_initial{}),
                                 state, 33, true, core::maybe<interval>(), op, exchange);
               }),
               "waits for the aggregate of tile 32: expected 1, seen 0");
  check_report(report_of([&](const auto &state) {
                 core::uninitialized_array<interval, 2> totals;
                 core::reduce_aggregates<2>(state.tile_aggregates, 2, 1, 65, totals, op, exchange);
               }),
               "waits for the aggregates of the tiles from 64: expected 1, seen 0");
}
