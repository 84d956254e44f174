// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

#include <thrust/iterator/transform_iterator.h>

namespace {

struct is_odd {
  __host__ __device__ int operator()(int value) const { return value & 1; }
};

struct transform_inclusive_sum : perf::call<int> {
  static constexpr const char *name = "transform_inclusive_sum";

  template <class DeviceScan>
  static cudaError_t scan(void *temporary, std::size_t &size, perf::operands<int, int> o) {
    return DeviceScan::InclusiveSum(temporary, size, thrust::make_transform_iterator(o.in, is_odd{}), o.out,
                                    o.n);
  }
};

} // namespace

void perf::add_transform_inclusive_sum(std::vector<cell> &cells) { add<transform_inclusive_sum>(cells); }
