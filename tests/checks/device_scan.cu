// SPDX-License-Identifier: MIT
#include <lookback/device_scan.cuh>

cudaError_t inclusive_sum(void *temporary, std::size_t &bytes, const int *input, int *output,
                          int count) {
  return lookback::DeviceScan::InclusiveSum(temporary, bytes, input, output, count);
}
