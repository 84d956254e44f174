// SPDX-License-Identifier: MIT
#include "selection_device.cuh"

void perf::add_unique(std::vector<cell> &cells) {
  add<unique_7>(cells);
  add<unique_1000>(cells);
}
