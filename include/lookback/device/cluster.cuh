// SPDX-License-Identifier: MIT
// Up to 16 tiles: the blocks of one cluster send each other their totals, from shared memory to shared memory. No state in global
// memory, nothing to prepare, one launch; clusters are scheduled together, so nobody waits for a block that is not there.
#pragma once

#include <lookback/block/warp_shuffle.cuh>
#include <lookback/core/problem.cuh>
#include <lookback/core/simt_sm90.cuh>
#include <lookback/device/early_initial.cuh>

namespace lookback::detail {

inline constexpr unsigned cluster_tiles_at_most = 16; // half a group: the walk is one step of the tree

/// Values that are sent: those that are nothing but bytes, and few.
template <class T>
inline constexpr bool can_send = std::is_trivially_copyable<T>::value && sizeof(T) <= 64;

/// Where a block receives the totals of the tiles before its own: room in shared memory.
template <class T>
struct cluster_totals {
  static constexpr int words = (sizeof(T) + 3) / 4;
  std::uint32_t totals[cluster_tiles_at_most][words];
  simt::barrier received;
};

/// By every thread, before any total is known: says how much the block of tile `tile` will receive. Nobody may be sent to before.
/// `Ordered`: and what was read before is read before anybody who has looked writes.
template <bool Ordered, class T>
LOOKBACK_DEVICE void expect_totals(cluster_totals<T> &shared, unsigned tile) {
#if LOOKBACK_TARGETS_SM_90
  if (simt::warp_index() == 0) {
    // The warps' barrier keeps this a branch: racecheck takes an initialization under a predicate for one by every warp.
    if (simt::lane_index() == 0) {
      simt::initialize(shared.received, 1);
      simt::publish_barriers();
    }
    simt::synchronize_warp();
    if (simt::lane_index() == 0) simt::arrive_and_expect(shared.received, tile * sizeof(shared.totals[0]));
  }
  simt::synchronize_warp();
  simt::arrive_at_cluster<Ordered>();
#endif
}

/// Sends tile `tile`'s total, if there is one, to the tiles behind it, and returns everything to its left: T(0) . ... in the tree's
/// order. Called by every thread after expect_totals(); `total` is needed in the first warp alone. Every warp looks for itself, to
/// save a barrier. A block ends when it has received everything; what it sent needs nothing of it. Before sm_90 the code is empty, and
/// never launched.
template <class Problem, class T, class Operator>
LOOKBACK_DEVICE maybe<T> look_in_cluster(const Problem &problem, const T &early_initial, cluster_totals<T> &shared,
                                         unsigned tile, const maybe<T> &total, Operator &op,
                                         lane_exchange<T> &exchange) {
  maybe<T> prefix;
#if LOOKBACK_TARGETS_SM_90
  constexpr int words = cluster_totals<T>::words;
  const int lane = simt::lane_index(), existing = static_cast<int>(tile);
  simt::wait_for_cluster(); // everybody expects
  if (simt::warp_index() == 0 && total.exists() && lane > existing && lane < static_cast<int>(simt::block_count())) {
    std::uint32_t raw[words] = {};
    std::memcpy(raw, static_cast<const void *>(&total.value()), sizeof(T));
    LOOKBACK_UNROLL
    for (int w = 0; w < words; ++w) simt::send(shared.totals[tile][w], lane, raw[w], shared.received);
  }
  simt::synchronize_warp();
  simt::wait_for_sent(shared.received, 0);
  uninitialized_array<T, 1> totals; // T(lane)
  if (lane < existing) std::memcpy(static_cast<void *>(&totals[0]), shared.totals[lane], sizeof(T));
  warp_inclusive_scan<1>(
      totals, [=](int) { return existing; }, op, exchange);
  if constexpr (Problem::initial_type::exists) prefix.set(initial_of(problem, early_initial));
  const T &before = exchange.from(totals[0], existing > 0 ? existing - 1 : 0, lane < existing);
  if (existing > 0) prefix.append(op, before);
#endif
  return prefix;
}

} // namespace lookback::detail
