// SPDX-License-Identifier: MIT
// The carry of columns: as in the look-back (carry/look_back_carry.cuh), but with status words for
// each column, and with a level below the tiles, since a unit of work has only some rows of a tile.
//
//   row_aggregates      of every thread of a unit, in a ring: they are read within a tile only
//   tile_aggregates     of every tile that another one follows
//   group_aggregates    of every group that another one follows
//   group_prefixes      G of the group that follows
//
// A thread waits for the words of its own column, so nothing here needs whole warps.
#pragma once

#include <lookback/carry/ring_state.cuh>
#include <lookback/tile/column_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Status words in device memory. A unit reads words of up to 2 `Section` units before it.
template <class T, unsigned Section>
struct column_state : ring_sections<Section> {
  using base = ring_sections<Section>;
  static constexpr unsigned ring_units = base::sections * Section;
  tile_status<T> row_aggregates;  // (ring_units, threads of a unit), or fewer units if there are
  tile_status<T> tile_aggregates; // (strips, tiles, width)
  tile_status<T> group_aggregates, group_prefixes; // (strips, groups, width)

  /// All threads of the block clear words: clear_rows_behind().
  LOOKBACK_DEVICE void clear_behind(unsigned) const {}
  /// Clears this thread's word of the unit four sections after this one, if that unit exists and an
  /// earlier one has used the word.
  LOOKBACK_DEVICE void clear_rows_behind(unsigned unit, unsigned all, int threads) const {
    const unsigned next = unit + base::sections / 2 * Section;
    if (next < ring_units || next >= all) return;
    row_aggregates.clear(row_word(next, threads)); // mutant: clear-row
  }
  /// The word of this thread in a unit.
  LOOKBACK_DEVICE static std::size_t row_word(unsigned unit, int threads) {
    return std::size_t{unit % ring_units} * threads + simt::thread_index();
  }
};

/// Where a unit is in the lines of its columns: its rows are `row` and the following ones of tile
/// `tile` of the lines. The unit before it in the same columns is `unit - stride`.
struct column_step {
  unsigned unit, stride;
  int columns, row;
  std::int64_t tile;
  std::int64_t first_tile, first_group; // words of tile 0 and of group 0 of the first column
  bool ends_line, ends_tile;            // ends_tile: completes a tile that another one follows
};

template <class Problem, unsigned Section>
class column_carry {
  using sizes = column_sizes<Problem>;
  using T = typename Problem::accumulator;
  using tile = column_tile<Problem>;
  static constexpr int tile_rows = Problem::shape::tile_rows,
                       group_tiles = Problem::shape::group_tiles, threads = sizes::threads;

public:
  using state_type = column_state<T, Section>;
  struct storage {
    /// Aggregates of rows, then of tiles: (network::lanes, width)
    uninitialized_array<T, network::lanes * sizes::width_at_most> values;
    uninitialized_array<T, sizes::width_at_most> prefixes; // G . T
  };

  /// `rows`, `width`: of every unit.
  LOOKBACK_DEVICE column_carry(const Problem &problem, const state_type &state, int rows, int width,
                               storage &shared)
      : problem_(problem), state_(state), rows_(rows), width_(width), shared_(shared),
        op_(problem.op) {}

  /// (G . T) . R of this thread's row, which has `items` elements. `aggregate`: of the row, used
  /// only if it is full. Called by all threads of the block.
  LOOKBACK_DEVICE maybe<T> prefix(const column_step &step, const tile &own, int items,
                                  const T &aggregate) {
    const int row = step.row + own.row(), column = own.column();
    const bool exists = items > 0, in_columns = own.row() < rows_ && column < step.columns;
    if (items == sizes::row_elements) {
      construct(shared_.values[row * width_ + column], aggregate);
      if (!step.ends_line && step.row + rows_ < tile_rows)
        state_.row_aggregates.publish(state_type::row_word(step.unit, threads), aggregate);
    }
    if (in_columns) gather_rows(step, own);
    simt::synchronize_block(); // mutant: column-rows
    maybe<T> row_prefix, tile_aggregate;
    if (exists && row > 0) row_prefix.set(network_value(column, row));
    if (step.ends_tile && in_columns && own.row() == 0) {
      tile_aggregate.set(network_value(column, tile_rows));
      state_.tile_aggregates.publish(word(step.first_tile, step.tile, column),
                                     tile_aggregate.value());
    }
    maybe<T> prefix;
    if (step.tile > 0) {
      const int tiles = group_position(step);
      simt::synchronize_block(); // mutant: column-values
      if (in_columns) gather_tiles(step, own);
      if (tile_aggregate.exists())
        construct(shared_.values[tiles * width_ + column], tile_aggregate.value());
      simt::synchronize_block(); // mutant: column-tiles
      if (in_columns && own.row() == 0) find_tile_prefix(step, column);
      simt::synchronize_block(); // mutant: column-prefixes
      if (exists) prefix.set(shared_.prefixes[column]);
    } else if constexpr (Problem::initial_type::exists) {
      prefix.set(static_cast<T>(problem_.initial.value));
    }
    if (row_prefix.exists()) prefix.append(op_, row_prefix.value());
    return prefix;
  }

private:
  LOOKBACK_DEVICE static int group_position(const column_step &step) {
    return static_cast<int>(step.tile % group_tiles);
  }
  LOOKBACK_DEVICE std::size_t word(std::int64_t first, std::int64_t i, int column) const {
    return static_cast<std::size_t>(first + i * width_ + column);
  }

  /// Waits for `count` words, the i-th of which is `at(i)`, and keeps their values in rows
  /// `own.row() + i * rows_` of shared_.values. All loads of a batch are in flight at once.
  template <class At>
  LOOKBACK_DEVICE void gather(const tile_status<T> &words, int count, const tile &own,
                              const char *name, At at) {
    constexpr int at_once = sizeof(T) <= 8 ? 8 : 2;
    for (int first = 0; first < count; first += at_once) {
      typename tile_status<T>::reading seen[at_once];
      bool ready = false;
      for (simt::spin_bound bound;;) {
        ready = true;
        LOOKBACK_UNROLL
        for (int i = 0; i < at_once; ++i)
          if (first + i < count) seen[i] = words.read(at(first + i));
        LOOKBACK_UNROLL
        for (int i = 0; i < at_once; ++i)
          ready = ready && (first + i >= count || seen[i].ready()); // mutant: column-ready
        if (ready) break;
        bound.count(name, at(first));
        simt::back_off();
      }
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i)
        if (first + i < count)
          construct(shared_.values[(own.row() + (first + i) * rows_) * width_ + own.column()],
                    seen[i].value());
    }
  }
  /// The aggregates of the rows before the unit, from the words of the same thread in earlier units
  /// of the tile.
  LOOKBACK_DEVICE void gather_rows(const column_step &step, const tile &own) {
    const int before = step.row / rows_; // units
    gather(state_.row_aggregates, before, own, "aggregate of row", [&](int i) {
      return state_type::row_word(step.unit - static_cast<unsigned>(before - i) * step.stride,
                                  threads);
    });
  }
  LOOKBACK_DEVICE void gather_tiles(const column_step &step, const tile &own) {
    const int tiles = group_position(step), more = tiles - own.row();
    const std::int64_t first = step.tile - tiles + own.row();
    gather(state_.tile_aggregates, more > 0 ? (more + rows_ - 1) / rows_ : 0, own,
           "aggregate of tile",
           [&](int i) { return word(step.first_tile, first + i * rows_, own.column()); });
  }

  /// Kogge-Stone over `count` >= 1 values of a column: the value of the last lane, which is
  /// that of a balanced tree over 32 lanes, of which only the last `count` exist.
  LOOKBACK_DEVICE T network_value(int column, int count) {
    constexpr int lanes = network::lanes;
    [[maybe_unused]] constexpr int together = sizeof(T) <= 8 ? lanes : 1;
    uninitialized_array<T, lanes> x; // (lanes): the last `count` exist
    const int absent = lanes - count;
    LOOKBACK_UNROLL_BY(together)
    for (int l = 0; l < lanes; ++l)
      if (l >= absent) construct(x[l], shared_.values[(l - absent) * width_ + column]);
    LOOKBACK_UNROLL_BY(together)
    for (int distance = 1; distance < lanes; distance *= 2) {
      LOOKBACK_UNROLL_BY(together)
      for (int l = lanes - 1; l > 0; --l)
        if (l % (2 * distance) == 2 * distance - 1 && l - distance >= absent)
          construct(x[l], static_cast<T>(op_(x[l - distance], x[l])));
    }
    return x[lanes - 1];
  }

  /// G . T of the unit's tile, for one column. A unit that completes a group also publishes its
  /// aggregate, and the prefix of the next group.
  LOOKBACK_DEVICE void find_tile_prefix(const column_step &step, int column) {
    const int tiles = group_position(step);
    const std::int64_t group = step.tile / group_tiles;
    const bool completes_group = step.ends_tile && tiles + 1 == group_tiles;
    maybe<T> aggregate;
    if (completes_group) {
      aggregate.set(network_value(column, group_tiles));
      state_.group_aggregates.publish(word(step.first_group, group, column), aggregate.value());
    }
    maybe<T> prefix; // G
    if (group > 0)
      prefix.set(group_prefix(step, group, column));
    else if constexpr (Problem::initial_type::exists)
      prefix.set(static_cast<T>(problem_.initial.value));
    if (completes_group) {
      maybe<T> through = prefix;
      through.append(op_, aggregate.value());
      state_.group_prefixes.publish(word(step.first_group, group, column), through.value());
    }
    if (tiles > 0) prefix.append(op_, network_value(column, tiles));
    construct(shared_.prefixes[column], prefix.value());
  }
  /// G(group), group > 0, from the nearest prefix that is ready: G(j + 1) . aggregate(j + 1) . ...
  /// is the fold of the tree for any j. If no prefix in the window is ready yet, the oldest group
  /// in it can still finish without this one, so waiting ends.
  LOOKBACK_DEVICE T group_prefix(const column_step &step, std::int64_t group, int column) {
    constexpr int window = sizeof(T) <= 8 ? 8 : 2;
    const int watched = group < window ? static_cast<int>(group) : window;
    const auto at = [&](std::int64_t g) { return word(step.first_group, g, column); };
    for (simt::spin_bound bound;; bound.count("prefix", at(group - 1)), simt::back_off()) {
      typename tile_status<T>::reading seen[window];
      LOOKBACK_UNROLL
      for (int i = 0; i < window; ++i)
        if (i < watched) seen[i] = state_.group_prefixes.read(at(group - 1 - i));
      maybe<T> prefix;
      std::int64_t next = group; // whose aggregate is to be appended
      LOOKBACK_UNROLL
      for (int i = window - 1; i >= 0; --i)
        if (i < watched && seen[i].ready()) prefix.set(seen[i].value()), next = group - i;
      if (!prefix.exists()) continue; // mutant: column-prefix-found
      for (; next < group; ++next) prefix.append(op_, group_aggregate(at(next)));
      return prefix.value();
    }
  }
  LOOKBACK_DEVICE T group_aggregate(std::size_t i) const {
    for (simt::spin_bound bound;; bound.count("aggregate of group", i), simt::back_off()) {
      const auto seen = state_.group_aggregates.read(i);
      if (seen.ready()) return seen.value();
    }
  }

  const Problem &problem_;
  const state_type &state_;
  const int rows_, width_;
  storage &shared_;
  std::decay_t<decltype(Problem::op)> op_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
