// SPDX-License-Identifier: MIT
// Where the shards of a distributed scan are in the sequence, and which parts of the tree each of
// them ends.
#pragma once

#include <lookback/core/tree.cuh>
#include <lookback/core/tree_parts.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The shards of all ranks, for a tree of this shape.
template <class Shape>
class shard_layout {
public:
  static constexpr std::uint64_t tile = Shape::tile_elements;

  /// `items[r]` is the length of the shard of rank r.
  explicit shard_layout(const std::vector<std::uint64_t> &items) : ends_(items.size() + 1) {
    for (std::size_t r = 0; r < items.size(); ++r) ends_[r + 1] = ends_[r] + items[r];
  }

  int ranks() const { return static_cast<int>(ends_.size()) - 1; }
  /// Whether all shards are empty.
  bool is_empty() const { return ends_.back() == 0; }
  std::uint64_t begin(int rank) const { return ends_[static_cast<std::size_t>(rank)]; }
  std::uint64_t end(int rank) const { return ends_[static_cast<std::size_t>(rank) + 1]; }
  std::uint64_t items(int rank) const { return end(rank) - begin(rank); }
  /// Where the tile begins that contains the first element of the shard.
  std::uint64_t first_tile_begin(int rank) const { return begin(rank) / tile * tile; }

  /// Open items: the last items of a shard that belong to a tile which a later shard ends.
  std::uint64_t open_items(int rank) const {
    return is_last(rank) ? 0 : std::min(items(rank), end(rank) % tile);
  }
  std::uint64_t most_open_items() const {
    return most([this](int rank) { return open_items(rank); });
  }
  /// The tiles that end in the shard, if a later shard needs their aggregates. A rank sends one
  /// record for each part.
  tree_parts tiles(int rank) const {
    const std::uint64_t first = begin(rank) / tile;
    return {first, is_last(rank) ? first : end(rank) / tile, Shape::group_tiles};
  }
  std::uint64_t most_records() const {
    return most([this](int rank) { return tiles(rank).count(); });
  }

private:
  /// Whether all later shards are empty.
  bool is_last(int rank) const { return end(rank) == ends_.back(); }
  template <class Count>
  std::uint64_t most(Count count) const {
    std::uint64_t result = 0;
    for (int rank = 0; rank < ranks(); ++rank) result = std::max(result, count(rank));
    return result;
  }

  std::vector<std::uint64_t> ends_; // of rank r: ends_[r + 1]
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
