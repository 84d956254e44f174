// SPDX-License-Identifier: MIT
#include "algorithms.cuh"

namespace {

template <int Threads, int Items>
perf::algorithm look_back() {
  using namespace lookback;
  return {perf::with_tile("lookback:decoupled_look_back<by_warp>", Threads, Items),
          perf::inclusive_sum_by<
              decoupled_look_back<walk_by_warp, dynamic_ids, warp_vectors, Threads, Items>>};
}

template <int... Threads>
void add_block_sizes(std::vector<perf::algorithm> &all) {
  (all.insert(all.end(),
              {look_back<Threads, 4>(), look_back<Threads, 8>(), look_back<Threads, 16>(),
               look_back<Threads, 24>(), look_back<Threads, 32>(), look_back<Threads, 48>()}),
   ...);
}

} // namespace

std::vector<perf::algorithm> perf::block_sizes() {
  std::vector<algorithm> all;
  add_block_sizes<64, 128, 256, 512, 1024>(all);
  return all;
}
