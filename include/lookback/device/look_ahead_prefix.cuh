// SPDX-License-Identifier: MIT
// The look-ahead warps of the pipeline in device/look_ahead.cuh, and what the roles of that pipeline share.
#pragma once

#include <lookback/core/problem.cuh>
#include <lookback/core/simt_sm90.cuh>
#include <lookback/device/early_initial.cuh>
#include <lookback/device/look_back.cuh>
#include <lookback/device/tile_source.cuh>

namespace lookback::detail {

/// Whether a problem can take the pipeline: what it reads can be staged, results go to plain memory, accumulators are bytes and few.
template <class Problem>
struct can_look_ahead {
  static constexpr bool value = can_stage<Problem> && std::is_pointer<typename Problem::output_type>::value &&
                                std::is_trivially_copyable<typename Problem::stored>::value &&
                                std::is_trivially_copyable<typename Problem::accumulator>::value &&
                                sizeof(typename Problem::accumulator) <= 16;
};

/// Where a warp is in the ring of stages: the phase flips when it comes round.
template <int Stages>
struct ring_position {
  int stage = 0;
  unsigned phase = 0;
  LOOKBACK_DEVICE void operator++() {
    if (++stage == Stages) stage = 0, phase ^= 1;
  }
  /// `tiles` further on, at most Stages; or back, if that is negative.
  LOOKBACK_DEVICE void advance(int tiles) {
    stage += tiles;
    if (stage >= Stages) stage -= Stages, phase ^= 1;
    if (stage < 0) stage += Stages, phase ^= 1;
  }
};

#if LOOKBACK_TARGETS_SM_90
/// The next tile to copy, and the one whose arrival it waits for.
template <int Stages>
struct copying {
  simt::cache_policy policy;
  int i = 0;
  ring_position<Stages> at{}, arriving{};
};
#endif

/// Stages of the ring, copies in flight at once, tiles between a tile's reduction and its scan, and warps of each kind. Where a block has
/// more than `short_column` tiles, only `long_column_warps` of the look-ahead warps work, since all of them poll; where it has
/// fewer, the first prefixes count: they come sooner with more warps, and with no more than `short_in_flight` copies before them.
/// And what is read leaves the L2 cache before all else; in longer columns, after.
struct look_ahead_tuning {
  int stages, in_flight, short_in_flight, depth, scanning_warps, look_ahead_warps, long_column_warps, short_column;
  constexpr int warps() const { return scanning_warps + 2 + look_ahead_warps; }
};

/// The tiles of one block: b, b + G, b + 2 G, ...
struct tile_column {
  unsigned first, step, tiles; // of all blocks
  LOOKBACK_DEVICE int count() const { return static_cast<int>((tiles - first - 1) / step + 1); }
  LOOKBACK_DEVICE unsigned tile(int i) const { return first + i * step; }
};

/// Clears the block's share of the tiles' cells: side by side, so that few lines of memory are touched.
template <class Cells>
LOOKBACK_DEVICE void clear_totals(const Cells &cells, const tile_column &column) {
  const unsigned share = (column.tiles - 1) / simt::block_count() + 1, first = simt::block_index() * share;
  for (unsigned i = simt::thread_index(); i < share && first + i < column.tiles; i += simt::block_threads())
    cells.clear(first + i);
}

template <class Problem, class Tuning>
using look_ahead_source = staged_tile<Problem, Tuning::value.scanning_warps, true>;

/// A block's shared memory: the ring of stages. Each barrier says what has happened to the tile in its stage.
template <class Problem, class Tuning>
struct look_ahead_storage {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  static constexpr int stages = Tuning::value.stages;

  alignas(128) unsigned char tiles[stages][look_ahead_source<Problem, Tuning>::bytes];
  uninitialized_array<T, shape::tile_rows> row_totals[stages];   // or of runs, one a scanning warp
  uninitialized_array<T, shape::tile_rows> row_prefixes[stages]; // R, inclusive
  uninitialized_array<T, 1> prefix[stages];                      // everything left of the tile
  uninitialized_array<T, 1> groups[stages];                      // G of the tile's group, handed on
  simt::barrier copied[stages], reduced[stages], rows_ready[stages], prefix_ready[stages], groups_ready[stages],
      scanned[stages];
  simt::barrier cleared; // the totals of all tiles, by all blocks

#if LOOKBACK_TARGETS_SM_90
  /// Tiles whose copies begin before the block has met: no more than are in flight at once, each in a stage of its own.
  static constexpr int first_copies = Tuning::value.short_in_flight < stages ? Tuning::value.short_in_flight : stages;
  /// By the thread that begins those copies.
  LOOKBACK_DEVICE void initialize_first_copies() {
    for (int s = 0; s < first_copies; ++s) simt::initialize(copied[s], 1);
    simt::publish_barriers();
  }
  /// By the same, when they are on their way: the barriers of the copies to come, and `cleared`.
  LOOKBACK_DEVICE void initialize_later_copies() {
    for (int s = first_copies; s < stages; ++s) simt::initialize(copied[s], 1);
    simt::initialize(cleared, 1);
    simt::publish_barriers();
  }
  /// The other barriers, by one thread of each of `turns` warps, `turn` being this one's: initializing takes a while.
  LOOKBACK_DEVICE void initialize_others(int turn, int turns) {
    for (int s = turn; s < stages; s += turns) {
      simt::initialize(reduced[s], Tuning::value.scanning_warps);
      simt::initialize(rows_ready[s], simt::warp_threads);
      simt::initialize(prefix_ready[s], 1);
      simt::initialize(groups_ready[s], simt::warp_threads);
      simt::initialize(scanned[s], Tuning::value.scanning_warps * simt::warp_threads);
    }
    simt::publish_barriers();
  }
#endif
};

#if LOOKBACK_TARGETS_SM_90
/// Prefixes of tiles `turn`, turn + warps, ... of the block. A warp reads the totals from the first tile of the
/// previous tile's group on, and gets G of that group from the warp that had the tile before.
///
/// A tile's prefix is written over the prefix of the tile `stages` before it, once that one is scanned. It is by then: the
/// totals read here include the block's own last tile, and that was reduced later (depth < stages). The wait says so.
template <class Problem, class Tuning, class T, class Operator>
LOOKBACK_DEVICE void look_ahead(const Problem &problem, const T &early_initial, const tile_state<T> &state,
                                const tile_column &column, int turn, int warps, Operator &op,
                                look_ahead_storage<Problem, Tuning> &shared) {
  constexpr int window = 6; // groups read at once: all there are since the previous tile, with up to 160 blocks
  constexpr int group_tiles = Problem::shape::group_tiles;
  const int lane = simt::lane_index();
  typename lane_exchange<T>::storage nothing;
  lane_exchange<T> exchange(nothing);
  ring_position<Tuning::value.stages> at;
  at.advance(turn);
  for (int i = turn; i < column.count(); i += warps, at.advance(warps)) {
    auto before = at;
    before.advance(-1);
    const unsigned tile = column.tile(i), group = tile / group_tiles;
    const int mine = static_cast<int>(tile % group_tiles);
    maybe<T> left;                    // G(first)
    uninitialized_array<T, 1> within; // T of the tile's own group
    bool begins = true;
    for (unsigned first = i == 0 ? 0 : column.tile(i - 1) / group_tiles;; first += window) {
      uninitialized_array<T, window> totals; // (groups), one tile a lane
      scan_totals(state.tile_totals, first, 1, tile, totals, op, exchange);
      if (begins) {
        if (i > 0) simt::wait(shared.groups_ready[before.stage], before.phase);
        if (i > 0 && (Problem::initial_type::exists || first > 0)) left.set(shared.groups[before.stage][0]);
        if constexpr (Problem::initial_type::exists)
          if (i == 0) left.set(initial_of(problem, early_initial));
        begins = false;
      }
      LOOKBACK_UNROLL
      for (int u = 0; u < window; ++u) {
        if (first + u < group) left.append(op, exchange.from(totals[u], group_tiles - 1, true));
        if (first + u == group) construct(within[0], totals[u]);
      }
      if (group - first < window) break;
    }
    if (lane == 0) { // who alone writes; another lane might find that the phase after this one has ended, too
      simt::wait(shared.scanned[at.stage], at.phase ^ 1);
      if (left.exists()) construct(shared.groups[at.stage][0], left.value());
    }
    simt::arrive(shared.groups_ready[at.stage]); // every lane: the groups that it has read may be written over
    if (mine > 0) left.append(op, exchange.from(within[0], mine - 1, true));
    if (lane == 0) {
      if (left.exists()) construct(shared.prefix[at.stage][0], left.value());
      simt::arrive(shared.prefix_ready[at.stage]);
    }
  }
}
#endif

} // namespace lookback::detail
