// SPDX-License-Identifier: MIT
#include "selection_device.cuh"

void perf::add_partition_if(std::vector<cell> &cells) { add_types<partition_if_50>(cells); }
