// SPDX-License-Identifier: MIT
// Extents: the items of a scan, and their division into tiles.
//
//   items                     how many there are
//   tiles(tile_items)         how many there are
//   tile(index, tile_items)   one of them: which items it has, whether it is the first or the last
#pragma once

#include <lookback/core/config.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A tile of an extent. All tiles are full but the last one, which may be partial.
struct tile_extent {
  std::uint64_t first; // index of its first item
  int valid;           // number of valid items
  bool is_first, is_last;
};

/// One sequence of `items` items.
struct linear {
  std::uint64_t items = 0;

  /// ceil(items / tile_items)
  LOOKBACK_HOST_DEVICE constexpr std::uint64_t tiles(int tile_items) const {
    const auto size = static_cast<std::uint64_t>(tile_items);
    return items / size + (items % size != 0);
  }
  LOOKBACK_HOST_DEVICE_INLINE tile_extent tile(unsigned index, int tile_items) const {
    const auto size = static_cast<std::uint64_t>(tile_items);
    const std::uint64_t first = index * size, left = items - first;
    return {first, left < size ? static_cast<int>(left) : tile_items, index == 0, left <= size};
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
