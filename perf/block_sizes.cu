// SPDX-License-Identifier: MIT
#include "algorithms.cuh"

namespace {

template <int Threads, int Items>
perf::algorithm look_back() {
  using namespace lookback;
  return {perf::with_tile("lookback:decoupled_look_back<by_warp>", Threads, Items),
          perf::inclusive_sum_by<
              decoupled_look_back<walk_by_warp, dynamic_ids, three_phase<>, Threads, Items>>};
}

template <int... Threads>
void add_block_sizes(std::vector<perf::algorithm> &all) {
  (all.insert(all.end(),
              {look_back<Threads, 3>(), look_back<Threads, 7>(), look_back<Threads, 15>(),
               look_back<Threads, 23>(), look_back<Threads, 31>(), look_back<Threads, 39>()}),
   ...);
}

} // namespace

std::vector<perf::algorithm> perf::block_sizes() {
  std::vector<algorithm> all;
  add_block_sizes<64, 128, 256, 512, 1024>(all);
  return all;
}
