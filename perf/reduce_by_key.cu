// SPDX-License-Identifier: MIT
#include "device.cuh"
#include "selection_calls.cuh"

#include <cub/device/device_reduce.cuh>
#include <lookback/device_reduce.cuh>

template <>
struct perf::libraries<perf::door::device_reduce> {
  using cub = ::cub::DeviceReduce;
  using lookback = ::lookback::DeviceReduce;
};

void perf::add_reduce_by_key(std::vector<cell> &cells) {
  add<reduce_by_key_7>(cells);
  add<reduce_by_key_1000>(cells);
}
