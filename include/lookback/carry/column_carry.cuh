// SPDX-License-Identifier: MIT
// The carry of columns: as in the look-back (carry/look_back_carry.cuh), but with status words for
// each column, and with a level below the tiles, since a unit of work has only some rows of a tile.
//
//   row_aggregates      of every pair of a unit, in a ring: they are read within a tile only
//   tile_aggregates     of every tile that another one follows
//   group_aggregates    of every group that another one follows
//   group_prefixes      G of the group that follows
//
// All threads of a block read the words that its unit waits for; then the first thread of each pair
// of a row and a column computes the prefix of that row.
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
  tile_status<T> row_aggregates;  // (ring_units, pairs of a unit), or fewer units if there are
  tile_status<T> tile_aggregates; // (strips, tiles, width)
  tile_status<T> group_aggregates, group_prefixes; // (strips, groups, width)

  /// Threads of the block clear words: clear_rows_behind().
  LOOKBACK_DEVICE void clear_behind(unsigned) const {}
  /// Clears a pair's word of the unit four sections after this one, if that unit exists and an
  /// earlier one has used the word.
  LOOKBACK_DEVICE void clear_rows_behind(unsigned unit, unsigned all, int pairs, int pair) const {
    const unsigned next = unit + base::sections / 2 * Section;
    if (next < ring_units || next >= all) return;
    row_aggregates.clear(row_word(next, pairs, pair)); // mutant: clear-row
  }
  /// The word of a pair of a unit.
  LOOKBACK_DEVICE static std::size_t row_word(unsigned unit, int pairs, int pair) {
    return std::size_t{unit % ring_units} * pairs + pair;
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

template <class Problem, int Threads, unsigned Section>
class column_carry {
  using sizes = column_sizes<Problem, Threads>;
  using T = typename Problem::accumulator;
  using tile = column_rows<Problem, Threads>;
  static constexpr int tile_rows = Problem::shape::tile_rows,
                       group_tiles = Problem::shape::group_tiles, values = sizes::values_of_column;

public:
  using state_type = column_state<T, Section>;

  /// `rows`, `width`: of every unit. `shared`: (width, values), for each column the aggregates of
  /// rows, those of tiles, and G . T.
  LOOKBACK_DEVICE column_carry(const Problem &problem, const state_type &state, int rows, int width,
                               T *shared)
      : problem_(problem), state_(state), rows_(rows), width_(width), pairs_(rows * width),
        row_values_(shared), tile_values_(shared + tile_rows),
        outer_(shared + tile_rows + network::lanes), op_(problem.op) {}

  /// Finds the prefixes of all rows of the unit. `items`: of this thread's row, whose aggregate the
  /// leading thread has. Called by all threads of the block. A unit that completes a tile publishes
  /// its aggregate before it waits for earlier tiles; any other waits for rows and tiles together.
  LOOKBACK_DEVICE void find_prefixes(const column_step &step, const tile &own, int items) {
    const int row = step.row + own.row(), column = own.column();
    const bool leads = own.leads() && items > 0, follows = step.tile > 0;
    if (leads && items == sizes::row_elements) {
      construct(row_values_[column * values + row], own.aggregate());
      if (!step.ends_line && step.row + rows_ < tile_rows)
        state_.row_aggregates.publish(state_type::row_word(step.unit, pairs_, own.pair()),
                                      own.aggregate());
    }
    const bool finds_outer = follows && own.is_second() && own.row() == 0 && column < step.columns;
    gather(step, own, step.row, follows && !step.ends_tile ? group_position(step) : 0);
    simt::synchronize_block(); // mutant: column-rows
    if (step.ends_tile) {
      if (leads && own.row() == 0) publish_tile(step, column);
      if (follows) gather(step, own, 0, group_position(step));
      simt::synchronize_block(); // mutant: column-tiles
    }
    // R, and G . T.
    if (leads && row > 0)
      construct(own.prefix(own.row(), column), network_value(row_values_, column, row));
    if (finds_outer) construct(outer_[column * values], tile_prefix(step, column));
    simt::synchronize_block(); // mutant: column-prefixes
  }
  /// (G . T) . R of a row of the unit, after find_prefixes().
  LOOKBACK_DEVICE maybe<T> prefix(const column_step &step, const tile &own, int row, int column) {
    maybe<T> prefix;
    if (step.tile > 0)
      prefix.set(outer_[column * values]);
    else if constexpr (Problem::initial_type::exists)
      prefix.set(static_cast<T>(problem_.initial.value));
    if (step.row + row > 0) prefix.append(op_, own.prefix(row, column));
    return prefix;
  }

private:
  LOOKBACK_DEVICE static int group_position(const column_step &step) {
    return static_cast<int>(step.tile % group_tiles);
  }
  LOOKBACK_DEVICE std::size_t word(std::int64_t first, std::int64_t i, int column) const {
    return static_cast<std::size_t>(first + i * width_ + column);
  }

  /// Waits for the aggregates of the first `rows` rows of the unit's tile, which are those of
  /// earlier units, and of the first `tiles` tiles of its group. Keeps them in shared memory. A
  /// thread has one column, and all loads of a batch are in flight at once.
  LOOKBACK_DEVICE void gather(const column_step &step, const tile &own, int rows, int tiles) const {
    constexpr int at_once = sizeof(T) <= 8 ? 4 : 2;
    const int column = own.column(), distance = own.threads() * rows_, all = rows + tiles,
              begin = own.index() * rows_ + own.row();
    if (column >= step.columns || begin >= distance) return;
    for (int first = begin; first < all; first += at_once * distance) {
      typename tile_status<T>::reading seen[at_once];
      bool ready = false;
      for (simt::spin_bound bound;;) {
        ready = true;
        LOOKBACK_UNROLL
        for (int i = 0; i < at_once; ++i) {
          const int at = first + i * distance;
          if (at < rows)
            seen[i] = state_.row_aggregates.read(row_word(step, at, column));
          else if (at < all)
            seen[i] = state_.tile_aggregates.read(tile_word(step, at - rows, column));
        }
        LOOKBACK_UNROLL
        for (int i = 0; i < at_once; ++i)
          ready = ready && (first + i * distance >= all || seen[i].ready()); // mutant: column-ready
        if (ready) break;
        bound.count("aggregates of column", static_cast<std::size_t>(column));
        simt::back_off();
      }
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int at = first + i * distance;
        if (at < all)
          construct(row_values_[column * values + (at < rows ? at : tile_rows + at - rows)],
                    seen[i].value());
      }
    }
  }
  /// The word of row `row` of the unit's tile, which is before the unit.
  LOOKBACK_DEVICE std::size_t row_word(const column_step &step, int row, int column) const {
    const int shift = simt::highest_bit(static_cast<unsigned>(rows_)), // a power of two
        units = (step.row >> shift) - (row >> shift);
    return state_type::row_word(step.unit - static_cast<unsigned>(units) * step.stride, pairs_,
                                (row & (rows_ - 1)) * width_ + column);
  }
  /// The word of tile `tile` of the unit's group.
  LOOKBACK_DEVICE std::size_t tile_word(const column_step &step, int tile, int column) const {
    return word(step.first_tile, step.tile - group_position(step) + tile, column);
  }
  /// The unit completes its tile, whose aggregate is also needed if it completes the group.
  LOOKBACK_DEVICE void publish_tile(const column_step &step, int column) {
    const T aggregate = network_value(row_values_, column, tile_rows);
    state_.tile_aggregates.publish(word(step.first_tile, step.tile, column), aggregate);
    construct(tile_values_[column * values + group_position(step)], aggregate);
  }

  /// Kogge-Stone over `count` >= 1 values of a column: the value of the last lane, which is
  /// that of a balanced tree over 32 lanes, of which only the last `count` exist.
  LOOKBACK_DEVICE T network_value(const T *rows, int column, int count) {
    constexpr int lanes = network::lanes;
    [[maybe_unused]] constexpr int together = sizeof(T) <= 8 ? lanes : 1;
    uninitialized_array<T, lanes> x; // (lanes): the last `count` exist
    const int absent = lanes - count;
    const T *const from = rows + column * values - absent;
    LOOKBACK_UNROLL_BY(together)
    for (int l = 0; l < lanes; ++l) {
      // Some value even if there is none: otherwise the compiler keeps the registers' old ones.
      construct(x[l], from[l >= absent ? l : absent]);
      // As soon as both operands are there: few values are live.
      LOOKBACK_UNROLL_BY(together)
      for (int distance = 1; (l + 1) % (2 * distance) == 0; distance *= 2)
        if (l - distance >= absent) construct(x[l], network::combined<T>(x, l, distance, op_));
    }
    return x[lanes - 1];
  }

  /// G . T of the unit's tile, which is not the first, for one column. A unit that completes a
  /// group also publishes the group's aggregate, and the prefix of the next group.
  LOOKBACK_DEVICE T tile_prefix(const column_step &step, int column) {
    const int tiles = group_position(step);
    const std::int64_t group = step.tile / group_tiles;
    const bool completes_group = step.ends_tile && tiles + 1 == group_tiles;
    maybe<T> aggregate;
    if (completes_group) {
      aggregate.set(network_value(tile_values_, column, group_tiles));
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
    if (tiles > 0) prefix.append(op_, network_value(tile_values_, column, tiles));
    return prefix.value();
  }
  /// G(group), group > 0, from the nearest prefix that is ready: G(j + 1) . aggregate(j + 1) . ...
  /// is the fold of the tree for any j. If no prefix in the window is ready yet, the oldest group
  /// in it can still finish without this one, so waiting ends.
  LOOKBACK_DEVICE T group_prefix(const column_step &step, std::int64_t group, int column) {
    constexpr int window = sizeof(T) <= 8 ? 4 : 2;
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
  const int rows_, width_, pairs_;
  T *const row_values_, *const tile_values_, *const outer_;
  std::decay_t<decltype(Problem::op)> op_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
