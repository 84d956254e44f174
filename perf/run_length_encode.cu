// SPDX-License-Identifier: MIT
#include "device.cuh"
#include "selection_calls.cuh"

#include <cub/device/device_run_length_encode.cuh>
#include <lookback/device_run_length_encode.cuh>

template <>
struct perf::libraries<perf::door::device_run_length_encode> {
  using cub = ::cub::DeviceRunLengthEncode;
  using lookback = ::lookback::DeviceRunLengthEncode;
};

void perf::add_run_length_encode(std::vector<cell> &cells) {
  add<run_length_encode_7>(cells);
  add<run_length_encode_1000>(cells);
}
