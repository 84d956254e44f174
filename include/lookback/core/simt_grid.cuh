// SPDX-License-Identifier: MIT
// The barrier of a cooperative launch, in two halves, and what the warps of a block tell each other around it. The driver lends each
// such launch the memory for it.
//
// This is what cooperative_groups::grid_group::barrier_arrive() and barrier_wait() are compiled to, in the toolkit 13.0 for sm_70
// and newer: the same word (cooperative_groups/details/driver_abi.h), the same protocol (details/sync.h), so that the two may
// follow each other in one kernel. Their header takes 1.7 s to compile, as long as all of lookback::DeviceScan.
#pragma once

#include <lookback/core/simt.cuh>

namespace lookback::simt {

namespace detail {
/// The word of the barrier. Its highest bit flips when all blocks have arrived; the others are then as they were.
LOOKBACK_DEVICE unsigned *grid_barrier() {
  unsigned high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  return reinterpret_cast<unsigned *>(static_cast<unsigned long long>(high) << 32 | low) + 1;
}
} // namespace detail

// ---- between warps of a block that do different things, one of which waits for the grid ---------------------------------

/// What is told: of each, some warps tell and the others are told, `Warps` together. Barriers 2 and 3 of the block.
enum class news { ready = 2, complete = 3 };
/// By every thread of a warp, which goes on at once: what it wrote before is seen by those who are told.
template <news What, int Warps>
LOOKBACK_DEVICE void tell() {
  asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"n"(static_cast<int>(What)), "n"(Warps * warp_threads)
               : "memory");
}
/// By every thread of the other warps, all in one place of the code: until they have been told.
template <news What, int Warps>
LOOKBACK_DEVICE void be_told() {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"n"(static_cast<int>(What)), "n"(Warps * warp_threads) : "memory");
}

// ---- the grid --------------------------------------------------------------------------------------------------------------

/// What the barrier's word was when a block arrived: for its wait.
using grid_arrival = unsigned;

/// By one thread of every block, once. What it wrote before, and what the block's others wrote before a barrier of the block that
/// came first, is seen by whoever has waited, and by those whom these tell. The release waits until such writes are seen by
/// the device: loads and copies that can begin before it should.
LOOKBACK_DEVICE grid_arrival arrive_at_grid() {
  grid_arrival before;
  const unsigned mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
  asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(detail::grid_barrier()), "r"(mine)
               : "memory");
  return before;
}
/// By the thread that has arrived: returns when all blocks have.
LOOKBACK_DEVICE void wait_for_grid(grid_arrival before) {
  for (spin_bound bound;; bound.count("other blocks at the grid barrier", 0)) {
    unsigned now;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(detail::grid_barrier()) : "memory");
    if (((before ^ now) & 0x80000000u) != 0) return;
  }
}

} // namespace lookback::simt
