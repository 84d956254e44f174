// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

void perf::add_exclusive_sum_i8_to_i32(std::vector<cell> &cells) {
  add<exclusive_sum_i8_to_i32>(cells);
}
