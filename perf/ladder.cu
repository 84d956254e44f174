// SPDX-License-Identifier: MIT
// Every strategy, CUB and a memcpy: inclusive_sum of i32 at all sizes.
#include "algorithms.hpp"
#include "calls.cuh"
#include "device.cuh"

namespace {

using sum = perf::inclusive_sum<int>;

void add_algorithms(std::vector<perf::cell> &cells) {
  std::vector<perf::algorithm> all = perf::catalogue();
  for (const auto &more : {perf::other_tiles(), perf::block_sizes()})
    all.insert(all.end(), more.begin(), more.end());
  perf::add_sizes<sum>(cells, perf::event_microseconds, [&](long long n) {
    std::vector<perf::contender> contenders;
    for (const perf::algorithm &a : all) {
      const auto phase = [run = a.inclusive_sum](void *temporary, std::size_t &size,
                                                 perf::operands<int, int> o) {
        return run(temporary, size, o.in, o.out, o.n);
      };
      contenders.push_back({a.name, perf::two_phase_call<sum>(phase, n)});
    }
    contenders.push_back({"cub", perf::device_call<sum, cub::DeviceScan>(n)});
    return contenders;
  });
}

} // namespace

int main(int argc, char **argv) { return perf::compare_on_device(add_algorithms, argc, argv); }
