// SPDX-License-Identifier: MIT
#include "algorithms.cuh"

namespace {

using namespace lookback;

template <int Threads, int Items>
void add_strategies(std::vector<perf::algorithm> &all) {
  using network = three_phase<>;
  const auto add = [&](const char *name, auto algorithm) {
    all.push_back(
        {perf::with_tile(name, Threads, Items), perf::inclusive_sum_by<decltype(algorithm)>});
  };
  add("lookback:scan_then_add<three_phase>", scan_then_add<network, Threads, Items>{});
  add("lookback:reduce_then_scan", reduce_then_scan<network, Threads, Items>{});
  add("lookback:chained", chained<network, Threads, Items>{});
  add("lookback:auxiliary_block", auxiliary_block<network, Threads, Items>{});
  add("lookback:decoupled_look_back<by_thread>",
      decoupled_look_back<walk_by_thread, dynamic_ids, network, Threads, Items>{});
}

template <int Threads, int Items>
void add_networks(std::vector<perf::algorithm> &all) {
  const auto add = [&](const char *name, auto network) {
    all.push_back({perf::with_tile(name, Threads, Items),
                   perf::inclusive_sum_by<scan_then_add<decltype(network), Threads, Items>>});
  };
  add("lookback:scan_then_add<kogge_stone>", kogge_stone<>{});
  add("lookback:scan_then_add<brent_kung>", brent_kung{});
  add("lookback:scan_then_add<blelloch>", blelloch<>{});
  add("lookback:scan_then_add<warp_shuffle>", warp_shuffle{});
}

} // namespace

std::vector<perf::algorithm> perf::other_tiles() {
  std::vector<algorithm> all;
  add_strategies<128, 31>(all);
  add_strategies<256, 15>(all);
  add_strategies<256, 31>(all);
  add_strategies<512, 15>(all);
  add_strategies<512, 39>(all);
  add_strategies<1024, 31>(all);
  add_strategies<512, 105>(all); // takes all of the shared memory
  add_networks<128, 4>(all);
  add_networks<128, 8>(all);
  add_networks<256, 4>(all);
  add_networks<256, 8>(all);
  add_networks<512, 4>(all);
  return all;
}
