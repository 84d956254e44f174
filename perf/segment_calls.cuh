// SPDX-License-Identifier: MIT
// The sums of segments and of the lines of arrays, as CUB and lookback spell them, and for each
// source file the function that adds its cells.
#pragma once

#include "calls.cuh"

#include <cuda_bf16.h>

namespace perf {

/// Sums of the segments between consecutive offsets.
template <class T>
struct segmented_sum : call<T> {
  using second = call<long long>; // the offsets, one more than there are segments
  static constexpr door through = door::device_segmented_scan;

  template <class Device>
  static cudaError_t invoke(void *temporary, std::size_t &size,
                            const operands<T, T, long long> &o) {
    return Device::InclusiveSegmentedSum(temporary, size, o.in, o.out, o.second, o.second + 1,
                                         o.segments);
  }
};

/// Where a row begins.
struct begin_of_row {
  long long length;
  __host__ __device__ long long operator()(long long row) const { return row * length; }
};

/// Sums along an axis of an array. CUB has them for rows, as segments whose offsets are computed.
template <class T>
struct axis_sum : call<T> {
  static constexpr door through = door::device_segmented_scan;
  static std::string type() {
    if constexpr (std::is_same_v<T, __nv_bfloat16>)
      return "bf16";
    else
      return call<T>::type();
  }

  template <class Device>
  static cudaError_t invoke(void *temporary, std::size_t &size, const operands<T, T> &o) {
    const auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(0LL),
                                                        begin_of_row{o.n / o.segments});
    return Device::InclusiveSegmentedSum(temporary, size, o.in, o.out, begins, begins + 1,
                                         o.segments);
  }
};

void add_segmented_sum(std::vector<cell> &cells);
void add_axis_sum(std::vector<cell> &cells);

} // namespace perf
