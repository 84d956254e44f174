// SPDX-License-Identifier: MIT
// The walk: how a tile learns what is to its left. One warp, two levels, in the tree's order.
// D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002, with this
// difference: tiles publish totals only, and prefixes are published a group of 32 tiles at a time, because a prefix that is
// built on whatever happened to be ready would give bits that depend on the schedule.
#pragma once

#include <lookback/block/warp_shuffle.cuh>
#include <lookback/core/tree.cuh>
#include <lookback/device/device_memory.cuh>
#include <lookback/device/tile_state.cuh>

namespace lookback::detail {

/// Waits until cell `i` is ready and returns its value. Every lane of the warp asks for the same cell: one sector a poll.
template <class T, class Cells>
LOOKBACK_DEVICE T wait_for(const Cells &cells, std::size_t i) {
  for (simt::spin_bound bound;; simt::back_off()) {
    const auto seen = cells.read(i);
    if (simt::all_of_warp(seen.ready())) return seen.value();
    bound.count("prefix", i);
  }
}

/// T of the tiles below `tile` in groups first, first + step, ..., `Window` of them: lane l gets tile l of each. Every load is on
/// its way before any is looked at, so that one round trip serves them all.
template <int Window, class T, class Operator>
LOOKBACK_DEVICE void scan_totals(const cells<T> &tile_totals, unsigned first, unsigned step, unsigned tile,
                                 uninitialized_array<T, Window> &totals, Operator &op, lane_exchange<T> &exchange) {
  const auto watched = [=](int u) { return (first + u * step) * simt::warp_threads + simt::lane_index(); };
  typename cells<T>::reading seen[Window];
  simt::spin_bound bound;
  for (bool ready = false; !ready;) {
    LOOKBACK_UNROLL
    for (int u = 0; u < Window; ++u)
      if (watched(u) < tile) seen[u] = tile_totals.read(watched(u));
    ready = true;
    LOOKBACK_UNROLL
    for (int u = 0; u < Window; ++u) ready = ready && (watched(u) >= tile || seen[u].ready());
    if (!ready) bound.count("aggregates of the tiles from", watched(0));
    ready = simt::all_of_warp(ready);
    if (!ready) simt::back_off(); // all blocks ask for the same few lines, and those who publish wait behind them
  }
  LOOKBACK_UNROLL
  for (int u = 0; u < Window; ++u)
    if (watched(u) < tile) construct(totals[u], seen[u].value());
  const auto existing = [=](int u) {
    const int tiles = static_cast<int>(tile) - static_cast<int>(first + u * step) * simt::warp_threads;
    return tiles < 0 ? 0 : tiles > simt::warp_threads ? simt::warp_threads : tiles;
  };
  warp_inclusive_scan<Window>(totals, existing, op, exchange);
}

/// G(group), found by walking over the groups before it. Called by a full warp; lane l watches group - 1 - l.
///
/// As soon as some prefix in the window is there, and every total between it and us, the prefix is extended serially:
/// G(j + 1) . total(j + 1) . ... is the tree's own fold, whichever j it was. A window is 1024 tiles; should no prefix in it
/// be there yet, the oldest group in it will still finish without us, so waiting is safe.
template <class T, class Memory, class Operator>
LOOKBACK_DEVICE T look_back_over_groups(const tile_state<T, Memory> &state, unsigned group, Operator &op,
                                        lane_exchange<T> &exchange) {
  const int lane = simt::lane_index();
  const bool watches = static_cast<unsigned>(lane) < group;
  const std::size_t watched = watches ? group - 1 - lane : 0;
  for (simt::spin_bound bound;; bound.count("prefix or the aggregate of group", watched), simt::back_off()) {
    typename cells<T, Memory>::reading prefix, total;
    if (watches) {
      prefix = state.group_prefixes.read(watched);
      total = state.group_totals.read(watched);
    }
    const unsigned prefixes = simt::ballot(watches && prefix.ready());
    const unsigned totals = simt::ballot(watches && total.ready());
    if (prefixes == 0) continue;
    const int nearest = simt::lowest_bit(prefixes);
    const unsigned between = (1u << nearest) - 1;
    if ((totals & between) != between) continue;
    uninitialized_array<T, 1> mine; // the nearest prefix in its lane, totals in the lanes between
    if (lane == nearest) construct(mine[0], prefix.value());
    if (lane < nearest) construct(mine[0], total.value());
    maybe<T> folded;
    for (int l = nearest; l >= 0; --l) folded.append(op, exchange.from(mine[0], l, lane <= nearest));
    return folded.value();
  }
}

/// Publishes tile `tile`'s total and returns everything to its left. Called by a full warp; `total` is the same in all of
/// its lanes, or unread when this is the last tile of the scan. Nothing is returned for tile 0 of a scan without an
/// initial value.
///
///   lane l < j    total of tile l of the group, j = tile % 32        lane j    this tile's own total
///   after the network: lane j - 1 holds T(j - 1); lane 31 of a group's last tile holds the group's total
///
/// Only a group's last tile walks over the groups; the others wait for what it publishes. Hundreds of tiles polling the
/// same few lines are traffic enough to slow the scan (measured: 720 against 686 us for 2^28 i32 on an H200).
template <class Problem, class Memory, class T, class Operator>
LOOKBACK_DEVICE maybe<T> look_back(const Problem &problem, const tile_state<T, Memory> &state, unsigned tile,
                                   bool is_last, const maybe<T> &total, Operator &op, lane_exchange<T> &exchange) {
  constexpr unsigned group_tiles = Problem::shape::group_tiles;
  const int lane = simt::lane_index();
  const unsigned group = tile / group_tiles;
  const int mine = static_cast<int>(tile % group_tiles);
  const bool completes_group = mine + 1 == static_cast<int>(group_tiles) && !is_last;
  const int existing = mine + (is_last ? 0 : 1);

  uninitialized_array<T, 1> totals; // of the group's tiles, one a lane
  if (lane == mine && !is_last) {
    state.tile_totals.publish(tile, total.value());
    construct(totals[0], total.value());
  }
  bool have = lane >= mine;
  simt::spin_bound bound;
  while (!simt::all_of_warp(have)) {
    if (!have) {
      const auto seen = state.tile_totals.read(group * group_tiles + lane);
      have = seen.ready();
      if (have) construct(totals[0], seen.value());
      if (!have) bound.count("aggregate of tile", group * group_tiles + lane);
    }
  }
  warp_inclusive_scan<1>(
      totals, [=](int) { return existing; }, op, exchange);
  if (completes_group && lane == mine) state.group_totals.publish(group, totals[0]);

  maybe<T> prefix; // G(group)
  if (group > 0)
    prefix.set(completes_group ? look_back_over_groups(state, group, op, exchange)
                               : wait_for<T>(state.group_prefixes, group - 1));
  else if constexpr (Problem::initial_type::exists)
    prefix.set(static_cast<T>(problem.initial.value));

  if (completes_group && lane == mine) {
    maybe<T> through = prefix;
    through.append(op, totals[0]);
    state.group_prefixes.publish(group, through.value());
  }
  if (mine > 0) prefix.append(op, exchange.from(totals[0], mine - 1, lane < existing));
  return prefix;
}

} // namespace lookback::detail
