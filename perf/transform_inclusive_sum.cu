// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"

void perf::add_transform_inclusive_sum(std::vector<cell> &cells) {
  add<transform_inclusive_sum>(cells);
}
