// SPDX-License-Identifier: MIT
// Stands in for include/lookback/arch/simt_grid.cuh as arch/simt.cuh of this directory does for the
// other.
#pragma once

#include <lookback/arch/simt.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace simt {

enum class news { ready = 2, complete = 3 };
template <news What, int Warps>
void tell() {
  emulator::tell(static_cast<int>(What) - 2, Warps);
}
template <news What, int Warps>
void be_told(EMULATOR_CALLER) {
  emulator::be_told(static_cast<int>(What) - 2, Warps, where);
}

struct grid_arrival {
  int phase = -1; // none
};

inline grid_arrival arrive_at_grid() { return {emulator::arrive_at_grid()}; }
inline void wait_for_grid(grid_arrival arrival, EMULATOR_CALLER) {
  emulator::wait_for_grid(arrival.phase, where);
}

} // namespace simt
} // namespace LOOKBACK_ABI
} // namespace lookback
