// SPDX-License-Identifier: MIT
// Stands in for include/lookback/core/simt_grid.cuh as core/simt.cuh of this directory does for the other.
#pragma once

#include <lookback/core/simt.cuh>

namespace lookback::simt {

struct grid_arrival {
  int phase = -1; // none
};

inline grid_arrival arrive_at_grid() { return {emulator::arrive_at_grid()}; }
inline void wait_for_grid(grid_arrival arrival, EMULATOR_CALLER) { emulator::wait_for_grid(arrival.phase, where); }

} // namespace lookback::simt
