// SPDX-License-Identifier: MIT
// As many tiles as are resident at once: every tile reads the totals of all tiles before it, and nobody's prefix is waited
// for. Each block has its own tile from the start, without a ticket, and clears its own cell; it reads and reduces the tile while
// others still clear theirs. Every block must be resident for the waiting to end: the launch is cooperative, which guarantees it.
#pragma once

#include <lookback/core/simt_grid.cuh>
#include <lookback/device/look_back.cuh>

namespace lookback::detail {

inline constexpr int wave_groups_at_most = 64; // 2048 tiles: more than any device holds at once

/// What the warps of a block find out for each other: room in shared memory.
template <class T>
struct wave_totals {
  uninitialized_array<T, wave_groups_at_most> groups;
  uninitialized_array<T, 1> within; // T of the tile's own group, up to the tile before it
};

/// Publishes tile `tile`'s total, unless it is the last, and returns everything to its left. Called by every thread; `total`
/// is needed in the first warp alone. The groups before the tile are shared out among the warps.
template <int Warps, class Problem, class Memory, class T, class Operator>
LOOKBACK_DEVICE maybe<T> look_over_wave(const Problem &problem, const tile_state<T, Memory> &state, unsigned tile,
                                        const maybe<T> &total, Operator &op, lane_exchange<T> &exchange,
                                        wave_totals<T> &shared, simt::grid_arrival cleared) {
  constexpr int group_tiles = Problem::shape::group_tiles;
  constexpr int window = 4; // groups that a warp reads at once: one round trip for 1024 tiles and 8 warps
  const int lane = simt::lane_index(), warp = simt::warp_index();
  const unsigned group = tile / group_tiles;
  const int mine = static_cast<int>(tile % group_tiles);

  if (warp == 0 && lane == 0 && total.exists()) state.tile_totals.publish(tile, total.value());
  simt::wait_for_grid(static_cast<simt::grid_arrival &&>(cleared)); // every cell
  for (unsigned first = warp * window; first <= group; first += Warps * window) {
    uninitialized_array<T, window> totals; // (groups), one tile a lane
    scan_totals(state.tile_totals, first, tile, totals, op, exchange);
    LOOKBACK_UNROLL
    for (int u = 0; u < window; ++u) {
      if (first + u < group && lane == group_tiles - 1) construct(shared.groups[first + u], totals[u]);
      if (first + u == group && lane == mine - 1) construct(shared.within[0], totals[u]);
    }
  }
  simt::synchronize_block();

  maybe<T> left; // every thread for itself, to save a barrier
  if constexpr (Problem::initial_type::exists) left.set(static_cast<T>(problem.initial.value));
  for (unsigned g = 0; g < group; ++g) left.append(op, shared.groups[g]);
  if (mine > 0) left.append(op, shared.within[0]);
  return left;
}

} // namespace lookback::detail
