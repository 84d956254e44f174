// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

template <>
struct perf::libraries<perf::door::offsets_from_counts> {
  using cub = perf::offsets_by<::cub::DeviceScan>;
  using lookback = ::lookback::DeviceScan;
};

void perf::add_offsets_from_counts(std::vector<cell> &cells) { add<offsets_from_counts>(cells); }
