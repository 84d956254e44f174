// SPDX-License-Identifier: MIT
// For the files that compile the strategies.
#pragma once

#include "algorithms.hpp"

#include <lookback/catalogue.cuh>
#include <lookback/device_scan.cuh>

namespace perf {

template <class Algorithm>
cudaError_t inclusive_sum_by(void *temporary, std::size_t &size, const int *in, int *out,
                             long long n) {
  return lookback::DeviceScan::InclusiveSum(temporary, size, in, out, n, nullptr, Algorithm{});
}

/// "lookback:chained<1024x15>", "lookback:scan_then_add<brent_kung:128x4>"
inline std::string with_tile(std::string name, int threads, int items) {
  const std::string tile = std::to_string(threads) + "x" + std::to_string(items) + ">";
  if (name.back() != '>') return name + "<" + tile;
  name.back() = ':';
  return name + tile;
}

} // namespace perf
