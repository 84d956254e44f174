// SPDX-License-Identifier: MIT
// The scan of a tile in shared memory, for the default strategies, once the prefix of the tile is
// known: reads the items again, and stores the results.
#pragma once

#include <lookback/block/lane_scan.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/tile/left_side.cuh>
#include <lookback/tile/warp_rows.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether the problem's results can be stored as vectors (has_vectors), and whether its output is
/// aligned for that, too (as_vectors). Rows consist of whole vectors, so the first address decides
/// for all.
template <class Problem>
inline constexpr bool has_vectors =
    !selects<Problem> &&
    can_move_as_vectors<typename Problem::stored, typename Problem::output_type>;
template <class Problem>
LOOKBACK_DEVICE bool as_vectors(const Problem &problem) {
  return moves_as_vectors<typename Problem::stored, Problem::shape::vector_elements>(
      problem.sink.output);
}

/// Called for every vector if the sink wants the total; only the one with the scan's last item
/// passes it on. `through`: the prefix including this vector, whose first item is item `first` of
/// tile `tile`.
template <class Problem, class T>
LOOKBACK_DEVICE void set_total([[maybe_unused]] const Problem &problem,
                               [[maybe_unused]] unsigned tile, [[maybe_unused]] int first,
                               [[maybe_unused]] const maybe<T> &through) {
  using shape = typename Problem::shape;
  if constexpr (Problem::sink_type::wants_total) {
    const auto own = problem.extent.tile(tile, shape::tile_elements);
    const int left = own.valid - first;
    const bool is_last = own.is_last && left > 0 && left <= shape::vector_elements;
    if (is_last) problem.sink.set_total(through.value()); // mutant: total
  }
}

/// Called for every vector with the prefix of its tile: that of its group, if the tile is the
/// group's first. Only the first vector of the last group passes it on.
template <class Problem, class T>
LOOKBACK_DEVICE void set_group_prefix([[maybe_unused]] const Problem &problem,
                                      [[maybe_unused]] unsigned tile, [[maybe_unused]] int first,
                                      [[maybe_unused]] const maybe<T> &prefix) {
  if constexpr (wants_group_prefix<typename Problem::sink_type>) {
    constexpr unsigned group = Problem::shape::group_tiles;
    const bool is_last = (problem.tiles() - 1) / group * group == tile; // mutant: group-prefix
    if (is_last && first == 0) construct(*problem.sink.group_prefix, prefix.value());
  }
}

/// Stores the results of row i of the warp, `items` of which are valid: as vectors if
/// `vector_stores`.
///
/// Results that are not vectors may pass through their own row in shared memory, if they fit and no
/// other warp reads from it. If the source shifts unaligned rows, unaligned results are shifted,
/// too.
template <class Rows, int E>
LOOKBACK_DEVICE void
store_results(const Rows &rows, int i, int items, bool vector_stores,
              const lane_vector<typename Rows::problem_type::stored, E> &results) {
  using Problem = typename Rows::problem_type;
  using source = typename Rows::source_type;
  using stored = typename Problem::stored;
  using staged = typename source::first_type;
  constexpr bool through_stage = (!source::shifts || results_pass_stage<Problem>)&&Rows::aligned &&
                                 sizeof(stored) <= sizeof(staged) &&
                                 alignof(stored) <= source::alignment;
  store_row<E, through_stage, source::shifts>(
      rows.output + i * Rows::shape::row_elements, items, vector_stores,
      rows.source.template row_of<Rows::aligned>(rows.stage, rows.row(i)), results);
}

/// Scans row i of the warp and stores its results, from the prefix of the tile, `row_prefix(row)`,
/// which returns R(row - 1), and V of the row. `FullRow`: all items of the row are valid.
/// `vector_stores`: results are stored as vectors.
template <bool FullRow, class Rows, class T, class RowPrefix, class Operator>
LOOKBACK_DEVICE void scan_row(const Rows &rows, int i, const maybe<T> &prefix, RowPrefix row_prefix,
                              const T &vector_aggregates, bool vector_stores, Operator &op,
                              lane_exchange<T> &exchange) {
  using Problem = typename Rows::problem_type;
  using shape = typename Problem::shape;
  constexpr int E = shape::vector_elements;
  const int lane = rows.lane, row = rows.row(i);
  const int items = FullRow ? shape::row_elements : rows.items(i);
  const int count = FullRow ? E : items - lane * E; // of this lane's vector and those behind it
  const int first = row * shape::row_elements + lane * E; // of the tile
  set_group_prefix(rows.problem, rows.tile, first, prefix);
  maybe<T> left = prefix;
  append_left_side(
      left, row, [&]() -> decltype(auto) { return row_prefix(row); }, count > 0 ? lane : 0,
      [&]() -> decltype(auto) { return exchange.up(vector_aggregates, 1, lane < items / E); }, op);
  const auto vector = rows.read(i, count);
  lane_vector<typename Problem::stored, E> results;
  scan_lane(rows.problem, left, count, vector, op, results);
  set_total(rows.problem, rows.tile, first, left);
  store_results(rows, i, items, vector_stores, results);
}

/// Scans the rows of the warp and stores their results. `Alone`: the tile is the only one, so a
/// partial tile is the usual case.
template <bool Alone, class Rows, class T, int Count, class RowPrefix, class Operator>
LOOKBACK_DEVICE void scan_rows(const Rows &rows, const maybe<T> &prefix, RowPrefix row_prefix,
                               const uninitialized_array<T, Count> &vectors, bool vector_stores,
                               Operator &op, lane_exchange<T> &exchange) {
  using Problem = typename Rows::problem_type;
  using source = typename Rows::source_type;
  constexpr int E = Problem::shape::vector_elements;
  [[maybe_unused]] constexpr int row_items = Problem::shape::row_elements;
  // If lanes combine 8 or 16 items a row by a user's operator, the code of a partial tile is
  // compiled once instead of once a row: the compiler's optimiser takes a third less time.
  constexpr bool rolled = !Rows::full && !Alone && !source::shifts && E >= 8 &&
                          !adds_parts<Problem, typename source::elements>;
  const auto scan = [&](int i, auto full, bool as_vectors) {
    scan_row<decltype(full)::value>(rows, i, prefix, row_prefix, vectors[i], as_vectors, op,
                                    exchange);
  };
  if constexpr (rolled) {
    LOOKBACK_ROLLED
    for (int i = 0; i < Count; ++i)
      if (rows.items(i) > 0) scan(i, std::false_type{}, vector_stores);
  } else {
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      if constexpr (Rows::full) {
        scan(i, std::true_type{}, vector_stores);
      } else {
        if (Alone && LOOKBACK_LIKELY(vector_stores && rows.items(i) == row_items))
          scan(i, std::true_type{}, true);
        else if (rows.items(i) > 0)
          scan(i, std::false_type{}, vector_stores);
        else
          break;
      }
    }
  }
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
