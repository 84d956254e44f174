// SPDX-License-Identifier: MIT
#include "selection_device.cuh"

void perf::add_select_if(std::vector<cell> &cells) {
  add_types<select_if_0>(cells);
  add_types<select_if_50>(cells);
  add_types<select_if_100>(cells);
  add_types<select_if_50_clustered>(cells);
}
