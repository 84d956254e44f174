// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

namespace {

struct exclusive_sum_i8_to_i32 : perf::call<std::int8_t, std::int32_t> {
  static constexpr const char *name = "exclusive_sum_i8_to_i32";

  template <class DeviceScan>
  static cudaError_t scan(void *temporary, std::size_t &size, perf::operands<std::int8_t, std::int32_t> o) {
    return DeviceScan::ExclusiveSum(temporary, size, o.in, o.out, o.n);
  }
};

} // namespace

void perf::add_exclusive_sum_i8_to_i32(std::vector<cell> &cells) { add<exclusive_sum_i8_to_i32>(cells); }
