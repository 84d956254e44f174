// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

namespace {

/// The number of items in device memory. The host knows that it is at most 2^28.
struct counted {
  static cudaError_t InclusiveSum(void *temporary, std::size_t &size, const int *in, int *out,
                                  long long n) {
    static perf::device_buffer memory;
    auto *const count = static_cast<long long *>(memory.reserve(sizeof n));
    if (temporary == nullptr) // in the phase that is not timed
      perf::check(cudaMemcpy(count, &n, sizeof n, cudaMemcpyHostToDevice));
    return lookback::DeviceScan::InclusiveSum(temporary, size, in, out,
                                              lookback::device_count{count, 1LL << 28});
  }
};

} // namespace

void perf::add_inclusive_sum_device_count(std::vector<cell> &cells) {
  using sum = inclusive_sum_device_count;
  add_sizes<sum>(cells, event_microseconds, [](long long n) {
    return std::vector<contender>{{"lookback", device_call<sum, counted>(n)},
                                  {"cub", device_call<sum, cub::DeviceScan>(n)}};
  });
}
