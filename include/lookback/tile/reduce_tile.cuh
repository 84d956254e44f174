// SPDX-License-Identifier: MIT
// The reduction of a tile in shared memory, for the default strategies: vectors by lanes, rows by
// warps, then the rows of the tile.
#pragma once

#include <lookback/block/lane_scan.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/tile/warp_rows.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// vectors[i] <- V(lane) of row i of the warp, inclusive, for lanes whose vector is full. The last
/// lane writes the aggregates of full rows to `row_aggregates`.
template <class Rows, class T, int Count, int TileRows, class Operator>
LOOKBACK_DEVICE void reduce_rows(const Rows &rows, uninitialized_array<T, Count> &vectors,
                                 uninitialized_array<T, TileRows> &row_aggregates, Operator &op,
                                 lane_exchange<T> &exchange) {
  using shape = typename Rows::shape;
  const int lane = rows.lane;
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const auto vector = rows.read(i, lane < rows.vectors(i) ? shape::vector_elements : 0);
    if (lane < rows.vectors(i))
      construct(vectors[i], fold_lane<typename Rows::problem_type>(vector, op));
  }
  warp_inclusive_scan<Count>(
      vectors, [&](int i) { return rows.vectors(i); }, op, exchange);
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    if (lane == shape::row_vectors - 1 && lane < rows.vectors(i))
      construct(row_aggregates[rows.row(i)], vectors[i]);
}

/// row_prefix <- R(lane), inclusive, of the first `rows` rows of a tile. Called by a full warp,
/// after the barrier that follows reduce_rows().
template <class T, int TileRows, class Operator>
LOOKBACK_DEVICE void scan_row_aggregates(const uninitialized_array<T, TileRows> &row_aggregates,
                                         int rows, uninitialized_array<T, 1> &row_prefix,
                                         Operator &op, lane_exchange<T> &exchange) {
  const int lane = simt::lane_index();
  if (lane < rows) construct(row_prefix[0], row_aggregates[lane]);
  warp_inclusive_scan<1>(
      row_prefix, [=](int) { return rows; }, op, exchange);
}

/// The aggregate of a full tile in every lane of the warp, from R(lane) of its `rows` full rows.
template <class Problem, class T>
LOOKBACK_DEVICE decltype(auto) tile_aggregate(const uninitialized_array<T, 1> &row_prefix, int rows,
                                              lane_exchange<T> &exchange) {
  return exchange.from(row_prefix[0], Problem::shape::tile_rows - 1, simt::lane_index() < rows);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
