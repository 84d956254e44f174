// SPDX-License-Identifier: MIT
// The GPU driver with the doors of selections and partitions.
#pragma once

#include "device.cuh"
#include "selection_calls.cuh"

#include <cub/device/device_partition.cuh>
#include <cub/device/device_select.cuh>
#include <lookback/device_partition.cuh>
#include <lookback/device_select.cuh>

namespace perf {

template <>
struct libraries<door::device_select> {
  using cub = ::cub::DeviceSelect;
  using lookback = ::lookback::DeviceSelect;
};
template <>
struct libraries<door::device_partition> {
  using cub = ::cub::DevicePartition;
  using lookback = ::lookback::DevicePartition;
};

/// `Call` of the types of selections.
template <template <class> class Call>
void add_types(std::vector<cell> &cells) {
  add<Call<std::int8_t>>(cells);
  add<Call<std::int16_t>>(cells);
  add<Call<std::int32_t>>(cells);
  add<Call<std::int64_t>>(cells);
}

} // namespace perf
