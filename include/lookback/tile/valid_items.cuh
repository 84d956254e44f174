// SPDX-License-Identifier: MIT
// How much of a tile is valid: every tile is full but the last of a scan, which may be partial.
#pragma once

#include <lookback/core/tree.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The valid items of a tile, and of the warp rows of the tile. `Full`: the tile is known at
/// compile time to be full.
template <class Shape, bool Full = false>
struct valid_items {
  int of_tile;

  LOOKBACK_HOST_DEVICE bool fill_tile() const { return Full || of_tile == Shape::tile_elements; }
  LOOKBACK_HOST_DEVICE int of_row(int row) const {
    const int left = of_tile - row * Shape::row_elements;
    return Full || left > Shape::row_elements ? Shape::row_elements : left < 0 ? 0 : left;
  }
  /// Number of full rows.
  LOOKBACK_HOST_DEVICE int rows() const {
    return Full ? Shape::tile_rows : of_tile / Shape::row_elements;
  }
  /// Number of full vectors of a row.
  LOOKBACK_HOST_DEVICE int vectors(int row) const {
    return Full ? Shape::row_vectors : of_row(row) / Shape::vector_elements;
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
