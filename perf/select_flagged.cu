// SPDX-License-Identifier: MIT
#include "selection_device.cuh"

void perf::add_select_flagged(std::vector<cell> &cells) { add_types<select_flagged_50>(cells); }
