// SPDX-License-Identifier: MIT
// Up to 16 tiles: the blocks of one cluster tell each other their totals through distributed shared memory. No state in
// global memory, nothing to prepare, one launch; clusters are scheduled together, so nobody waits for a block that is not there.
#pragma once

#include <lookback/block/warp_shuffle.cuh>
#include <lookback/core/problem.cuh>
#include <lookback/core/simt_sm90.cuh>

namespace lookback::detail {

inline constexpr unsigned cluster_tiles_at_most = 16; // half a group: the walk is one step of the tree

/// Everything left of tile `tile`, from the totals that the blocks of the cluster hold at `total`. Called by every thread,
/// with the block's own total in place; the prefix is returned to the first warp. Until leave_cluster() others may read.
/// Before sm_90 the code is empty, and never launched.
template <class Problem, class T, class Operator>
LOOKBACK_DEVICE maybe<T> look_in_cluster(const Problem &problem, const T &total, unsigned tile, Operator &op,
                                         lane_exchange<T> &exchange) {
  maybe<T> prefix;
#if LOOKBACK_TARGETS_SM_90
  simt::arrive_at_cluster();
  simt::wait_for_cluster();
  if (simt::warp_index() == 0) {
    const int lane = simt::lane_index(), existing = static_cast<int>(tile);
    uninitialized_array<T, 1> totals; // T(lane)
    if (lane < existing) construct(totals[0], *simt::in_block(&total, lane));
    warp_inclusive_scan<1>(
        totals, [=](int) { return existing; }, op, exchange);
    if constexpr (Problem::initial_type::exists) prefix.set(static_cast<T>(problem.initial.value));
    if (existing > 0) prefix.append(op, exchange.from(totals[0], existing - 1, lane < existing));
  }
  simt::synchronize_warp();
  simt::arrive_at_cluster();
#endif
  return prefix;
}
/// No block ends while another may still read its total.
LOOKBACK_DEVICE void leave_cluster() {
#if LOOKBACK_TARGETS_SM_90
  simt::wait_for_cluster();
#endif
}

} // namespace lookback::detail
