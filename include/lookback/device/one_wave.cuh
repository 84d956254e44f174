// SPDX-License-Identifier: MIT
// As many tiles as are resident at once: every tile reads the totals of all tiles before it, and nobody's prefix is waited
// for. Each block has its own tile from the start, without a ticket, and clears its own cell; it reads and reduces the tile while
// others still clear theirs: a warp of its own does the waiting, because to arrive at the grid's barrier takes as long as to
// read the tile (H200: 0.5 us). Every block must be resident for that to end: the launch is cooperative, which guarantees it.
#pragma once

#include <lookback/core/simt_grid.cuh>
#include <lookback/device/early_initial.cuh>
#include <lookback/device/look_back.cuh>

namespace lookback::detail {

inline constexpr int wave_groups_at_most = 64; // 2048 tiles: more than any device holds at once

/// What the warps of a block find out for each other: room in shared memory.
template <class T>
struct wave_totals {
  uninitialized_array<T, wave_groups_at_most> groups;
  uninitialized_array<T, 1> within; // T of the tile's own group, up to the tile before it
};

/// By the warp of each block that waits: until every cell of the grid is clear. Meanwhile the block reduces its tile.
template <int Warps>
LOOKBACK_DEVICE void attend_wave() {
  simt::be_told<simt::news::ready, Warps + 1>(); // the block's cell is clear
  if (simt::lane_index() == 0) simt::wait_for_grid(simt::arrive_at_grid());
  simt::synchronize_warp();
  simt::tell<simt::news::complete, Warps + 1>();
}

/// Publishes tile `tile`'s total, unless it is the last, and returns everything to its left. Called by every thread but those of the
/// warp that waits; `total` is needed in the first warp alone. The groups before the tile are shared out among the warps.
template <int Warps, class Problem, class Memory, class T, class Operator>
LOOKBACK_DEVICE maybe<T> look_over_wave(const Problem &problem, const T &early_initial, const tile_state<T, Memory> &state,
                                        unsigned tile, const maybe<T> &total, Operator &op, lane_exchange<T> &exchange,
                                        wave_totals<T> &shared) {
  constexpr int group_tiles = Problem::shape::group_tiles;
  constexpr int window = 2; // groups that a warp reads at once: one round trip for 512 tiles and 8 warps
  const int lane = simt::lane_index(), warp = simt::warp_index();
  const unsigned group = tile / group_tiles;
  const int mine = static_cast<int>(tile % group_tiles);

  if (warp == 0 && lane == 0 && total.exists()) state.tile_totals.publish(tile, total.value());
  simt::be_told<simt::news::complete, Warps + 1>(); // every cell was clear
  for (unsigned first = warp; first <= group; first += Warps * window) {
    uninitialized_array<T, window> totals; // (groups), one tile a lane
    scan_totals(state.tile_totals, first, Warps, tile, totals, op, exchange);
    LOOKBACK_UNROLL
    for (int u = 0; u < window; ++u) {
      const unsigned seen = first + u * Warps;
      if (seen < group && lane == group_tiles - 1) construct(shared.groups[seen], totals[u]);
      if (seen == group && lane == mine - 1) construct(shared.within[0], totals[u]);
    }
  }
  simt::synchronize_warps<Warps>();

  maybe<T> left; // every thread for itself, to save a barrier
  if constexpr (Problem::initial_type::exists) left.set(initial_of(problem, early_initial));
  if (group > 0) left.append(op, shared.groups[0]); // apart, so that there is something from then on
  for (unsigned g = 1; g < group; ++g) left.append(op, shared.groups[g]);
  if (mine > 0) left.append(op, shared.within[0]);
  return left;
}

} // namespace lookback::detail
