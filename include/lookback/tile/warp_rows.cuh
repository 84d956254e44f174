// SPDX-License-Identifier: MIT
// A warp's share of a tile in shared memory: consecutive rows.
#pragma once

#include <lookback/tile/tile_source.cuh>
#include <lookback/tile/valid_items.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// What a lane remembers of a row between the reduction and the scan of a tile: V(lane), unless a
/// kind of problem needs something else.
template <class Problem, class = void>
struct lane_state_of {
  using type = typename Problem::accumulator;
};
template <class Problem>
using lane_state = typename lane_state_of<Problem>::type;

/// Where the result of item `item` of tile `tile` goes if every item's result has its own place;
/// otherwise where all results begin.
template <class Problem>
LOOKBACK_DEVICE typename Problem::output_type
output_at(const Problem &problem, [[maybe_unused]] unsigned tile, [[maybe_unused]] int item) {
  if constexpr (selects<Problem>)
    return problem.sink.output;
  else
    return problem.sink.output +
           (static_cast<std::ptrdiff_t>(tile) * Problem::shape::tile_elements + item);
}

/// Rows first_row .. first_row + Count - 1 of tile `tile`, which is in `stage`. `output`: where the
/// results of row first_row go, by output_at(). The members count rows from first_row. `Full`: the
/// tile is full. `Aligned`: the input is known to be aligned to 16 bytes.
template <class Problem, class Source, int Count, bool Full, bool Aligned>
struct warp_rows {
  using problem_type = Problem;
  using source_type = Source;
  using shape = typename Problem::shape;
  static constexpr int count = Count;
  static constexpr bool full = Full, aligned = Aligned;

  LOOKBACK_DEVICE warp_rows(const Problem &problem_, const Source &source_, unsigned char *stage_,
                            unsigned tile_, bool is_last_tile_, int lane_, int first_row_,
                            int valid_, typename Problem::output_type output_)
      : problem(problem_), source(source_), stage(stage_), tile(tile_), is_last_tile(is_last_tile_),
        lane(lane_), first_row(first_row_), valid{valid_}, output(output_) {}

  const Problem &problem;
  const Source &source;
  unsigned char *const stage;
  const unsigned tile;
  const bool is_last_tile; // of all
  const int lane, first_row;
  const valid_items<shape, Full> valid;
  const typename Problem::output_type output; // (Count, row_elements)

  LOOKBACK_DEVICE int row(int i) const { return first_row + i; } // of the tile
  LOOKBACK_DEVICE int items(int i) const { return valid.of_row(row(i)); }
  LOOKBACK_DEVICE int vectors(int i) const { return valid.vectors(row(i)); }
  /// Valid items of the lane's vector of row i.
  LOOKBACK_DEVICE int lane_items(int i) const {
    constexpr int E = shape::vector_elements;
    const int left = items(i) - lane * E;
    return Full || left > E ? E : left < 0 ? 0 : left; // mutant: lane-items
  }
  /// Index of the first item of the rows.
  LOOKBACK_DEVICE std::ptrdiff_t first_item() const {
    return static_cast<std::ptrdiff_t>(tile) * shape::tile_elements +
           first_row * shape::row_elements;
  }
  /// Which item of the rows is the last item of all, or -1 if none is.
  LOOKBACK_DEVICE int last_of_all() const {
    if (!is_last_tile) return -1;
    const int items = Full ? shape::tile_elements : valid.of_tile,
              last = items - 1 - first_row * shape::row_elements;
    return last >= 0 && last < Count * shape::row_elements ? last : -1;
  }
  /// Index of the first item of the lane's vector of row i.
  LOOKBACK_DEVICE std::ptrdiff_t lane_item(int i) const {
    return first_item() + (i * shape::row_elements + lane * shape::vector_elements);
  }
  /// The lane's vector of row i, `items` of which are valid.
  LOOKBACK_DEVICE auto read(int i, int items) const {
    return source.template read<Aligned>(stage, tile, row(i), items);
  }
  /// The lane's vector of row i of array A.
  template <int A>
  LOOKBACK_DEVICE auto read_array(int i) const {
    return source.template read_array<Aligned, A>(stage, row(i));
  }
};

/// What gather_results() reads of the rows. Constructed before reduce_rows(), which reads the same
/// elements, so that the compiler loads them once.
template <class Rows, class = void>
struct early_items {
  LOOKBACK_DEVICE explicit early_items(const Rows &) {}
};
/// What remains to be done of the first pass over a tile once other warps have its aggregates: for
/// most problems nothing.
template <class Rows, class Kept>
LOOKBACK_DEVICE void gather_results(const Rows &, const Kept &, const early_items<Rows> &) {}
/// The same for callers that have not read it before the reduction.
template <class Rows, class Kept>
LOOKBACK_DEVICE void gather_results(const Rows &rows, const Kept &kept) {
  gather_results(rows, kept, early_items<Rows>(rows));
}

/// Writes one aggregate for all rows of the warp: to the place of its last row, and `none` to those
/// of the rows before it. For scans that need the prefix of the warp's first row only. Called by
/// the whole warp.
template <class Rows, class T, int TileRows>
LOOKBACK_DEVICE void write_aggregate(const Rows &rows,
                                     uninitialized_array<T, TileRows> &row_aggregates,
                                     const T &none, const T &aggregate) {
  constexpr int last = Rows::count - 1;
  if (rows.lane < last) construct(row_aggregates[rows.row(rows.lane)], none);
  if (rows.lane == last) construct(row_aggregates[rows.row(last)], aggregate); // mutant: share
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
