// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

namespace {

template <class T>
struct exclusive_sum : perf::call<T> {
  static constexpr const char *name = "exclusive_sum";

  template <class DeviceScan>
  static cudaError_t scan(void *temporary, std::size_t &size, perf::operands<T, T> o) {
    return DeviceScan::ExclusiveSum(temporary, size, o.in, o.out, o.n);
  }
};

} // namespace

void perf::add_exclusive_sum(std::vector<cell> &cells) {
  add<exclusive_sum<std::int8_t>>(cells);
  add<exclusive_sum<std::int16_t>>(cells);
  add<exclusive_sum<std::int32_t>>(cells);
  add<exclusive_sum<std::int64_t>>(cells);
  add<exclusive_sum<__int128_t>>(cells);
  add<exclusive_sum<float>>(cells);
  add<exclusive_sum<double>>(cells);
}
