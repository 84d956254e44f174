// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

namespace {

struct inclusive_sum_by_key : perf::call<int> {
  template <class DeviceScan>
  static cudaError_t scan(void *temporary, std::size_t &size, perf::operands<int, int> o) {
    return DeviceScan::InclusiveSumByKey(temporary, size, o.keys, o.in, o.out, o.n);
  }
};

struct short_segments : inclusive_sum_by_key {
  static constexpr const char *name = "inclusive_sum_by_key_7";
  static constexpr int key_segment = 7;
};

struct long_segments : inclusive_sum_by_key {
  static constexpr const char *name = "inclusive_sum_by_key_1000";
  static constexpr int key_segment = 1000;
};

} // namespace

void perf::add_inclusive_sum_by_key(std::vector<cell> &cells) {
  add<short_segments>(cells);
  add<long_segments>(cells);
}
