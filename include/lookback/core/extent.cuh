// SPDX-License-Identifier: MIT
// Extents: the items of a scan, and their division into tiles.
//
//   items                     how many there are
//   tiles(tile_items)         how many there are
//   tile(index, tile_items)   one of them: which items it has, whether it is the first or the last
//   first_of_tree(index)      the first tile of the tree of tile `index`
//   one_tree                  whether all tiles are in one tree
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
  static constexpr bool one_tree = true;
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
  LOOKBACK_HOST_DEVICE_INLINE static constexpr unsigned first_of_tree(unsigned) { return 0; }
};

/// Lines of `line_tiles` > 1 tiles each, one after another, `items` items in all. Every line has a
/// tree of its own. Only the last tile of the last line may be partial.
struct lines_of_tiles : linear {
  static constexpr bool one_tree = false;
  unsigned line_tiles;
  unsigned inverse; // floor(2^32 / line_tiles)

  LOOKBACK_HOST_DEVICE constexpr lines_of_tiles(std::uint64_t all_items, unsigned tiles_of_line)
      : linear{all_items}, line_tiles(tiles_of_line),
        inverse(static_cast<unsigned>((std::uint64_t{1} << 32) / tiles_of_line)) {}
  /// Without a division, which delays the warps that look ahead (H200, bf16, one line of 2^27: 141
  /// us with it, 137 without, 135 for a linear extent). The high half of the product is the index
  /// of the line, or one less.
  LOOKBACK_HOST_DEVICE_INLINE unsigned first_of_tree(unsigned index) const {
    const auto line = static_cast<unsigned>(std::uint64_t{index} * inverse >> 32);
    const unsigned first = line * line_tiles;
    return index - first < line_tiles ? first : first + line_tiles;
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
