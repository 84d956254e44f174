// SPDX-License-Identifier: MIT
// The grid barrier of a cooperative launch, split into arrival and wait, and the named barriers by
// which the warps of a block synchronise around it. The driver provides the grid barrier's memory.
//
// The code is that of cooperative_groups::grid_group::barrier_arrive() and barrier_wait() in CUDA
// 13.0, for sm_70 and newer. It uses the same word (cooperative_groups/details/driver_abi.h) and
// the same protocol (details/sync.h), so both barriers may follow each other in one kernel. Their
// header takes 1.7 s to compile, as long as all of lookback::DeviceScan.
#pragma once

#include <lookback/arch/simt.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace simt {

namespace detail {
/// The barrier's word. Its highest bit flips when all blocks have arrived; the other bits are then
/// as they were before the first arrival.
LOOKBACK_DEVICE unsigned *grid_barrier() {
  unsigned high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  return reinterpret_cast<unsigned *>(static_cast<unsigned long long>(high) << 32 | low) + 1;
}
} // namespace detail

// ---- named barriers between the warps of a block, one of which waits for the grid ---------------

/// The named barriers 2 and 3 of the block. At each, some warps signal with tell() and the others
/// wait with be_told(); `Warps` counts all of them.
enum class news { ready = 2, complete = 3 };
/// Arrives without waiting. Every thread of the warp calls. Its earlier writes are visible to the
/// warps that wait with be_told().
template <news What, int Warps>
LOOKBACK_DEVICE void tell() {
  asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"n"(static_cast<int>(What)),
               "n"(Warps * warp_threads)
               : "memory");
}
/// Waits until all other warps have arrived. Every thread of the waiting warps calls, from the same
/// place in the code.
template <news What, int Warps>
LOOKBACK_DEVICE void be_told() {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"n"(static_cast<int>(What)),
               "n"(Warps * warp_threads)
               : "memory");
}

// ---- the grid -----------------------------------------------------------------------------------

/// The value of the barrier's word before a block's arrival, for the block's wait.
using grid_arrival = unsigned;

/// Arrives at the grid barrier. One thread of every block calls, once. Its earlier writes, and
/// those of the block's other threads before an earlier block barrier, are visible to every thread
/// that has waited, and to the warps that such a thread signals with tell(). The release stalls
/// until the writes are visible on the device, so loads and copies that can start before it should.
LOOKBACK_DEVICE grid_arrival arrive_at_grid() {
  grid_arrival before;
  const unsigned mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
  asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(detail::grid_barrier()), "r"(mine)
               : "memory");
  return before;
}
/// Waits until all blocks have arrived. The thread that has arrived calls.
LOOKBACK_DEVICE void wait_for_grid(grid_arrival before) {
  for (spin_bound bound;; bound.count("other blocks at the grid barrier", 0)) {
    unsigned now;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];"
                 : "=r"(now)
                 : "l"(detail::grid_barrier())
                 : "memory");
    if (((before ^ now) & 0x80000000u) != 0) return;
  }
}

} // namespace simt
} // namespace LOOKBACK_ABI
} // namespace lookback
