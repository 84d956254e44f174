// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

namespace {

template <class T>
struct inclusive_sum : perf::call<T> {
  static constexpr const char *name = "inclusive_sum";

  template <class DeviceScan>
  static cudaError_t scan(void *temporary, std::size_t &size, perf::operands<T, T> o) {
    return DeviceScan::InclusiveSum(temporary, size, o.in, o.out, o.n);
  }
};

struct inclusive_sum_misaligned : inclusive_sum<int> {
  static constexpr const char *name = "inclusive_sum_misaligned";
  static constexpr int shift = 1;
};

} // namespace

void perf::add_inclusive_sum(std::vector<cell> &cells) {
  add<inclusive_sum<std::int8_t>>(cells);
  add<inclusive_sum<std::int16_t>>(cells);
  add<inclusive_sum<std::int32_t>>(cells);
  add<inclusive_sum<std::int64_t>>(cells);
  add<inclusive_sum<__int128_t>>(cells);
  add<inclusive_sum<float>>(cells);
  add<inclusive_sum<double>>(cells);
  add<inclusive_sum_misaligned>(cells);
}
