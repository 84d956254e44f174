// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

#include <lookback/execution_policy.cuh>
#include <thrust/scan.h>
#include <thrust/system/cuda/execution_policy.h>

namespace {

template <class Policy>
std::function<perf::timed_run()> thrust_call(const Policy &policy, long long n) {
  return [policy, n]() -> perf::timed_run {
    const auto o = perf::prepare_operands<perf::wall_inclusive_sum>(n);
    const auto scan = [policy](perf::operands<int, int> o) {
      thrust::inclusive_scan(policy, o.in, o.in + o.n, o.out);
    };
    perf::check_against_cub<perf::wall_inclusive_sum>(o, scan);
    return perf::in_turn(scan, o, perf::wall_microseconds);
  };
}

} // namespace

void perf::add_wall_inclusive_sum(std::vector<cell> &cells) {
  add_sizes<wall_inclusive_sum>(cells, wall_microseconds, [](long long n) {
    return std::vector<contender>{
        {"lookback", thrust_call(lookback::par, n)},
        {"cub", device_call<wall_inclusive_sum, cub::DeviceScan>(n, wall_microseconds)},
        {"thrust", thrust_call(thrust::cuda::par, n)}};
  });
}
