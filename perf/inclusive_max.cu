// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

namespace {

struct maximum {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

struct inclusive_max : perf::call<int> {
  static constexpr const char *name = "inclusive_max";

  // Rising with noise: the running maximum changes all along, so that a lost tile shows.
  static __device__ int element(long long i, std::uint64_t random) {
    return static_cast<int>(i / 4) + static_cast<int>(random % 4096);
  }

  template <class DeviceScan>
  static cudaError_t scan(void *temporary, std::size_t &size, perf::operands<int, int> o) {
    return DeviceScan::InclusiveScan(temporary, size, o.in, o.out, maximum{}, o.n);
  }
};

} // namespace

void perf::add_inclusive_max(std::vector<cell> &cells) { add<inclusive_max>(cells); }
