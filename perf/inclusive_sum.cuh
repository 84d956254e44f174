// SPDX-License-Identifier: MIT
#pragma once

#include "device.cuh"

namespace perf {

template <class T>
struct inclusive_sum : call<T> {
  static constexpr const char *name = "inclusive_sum";

  template <class DeviceScan>
  static cudaError_t scan(void *temporary, std::size_t &size, operands<T, T> o) {
    return DeviceScan::InclusiveSum(temporary, size, o.in, o.out, o.n);
  }
};

} // namespace perf
