// SPDX-License-Identifier: MIT
// Where the shards of a distributed scan are in the sequence, and which parts of the tree each of
// them ends.
#pragma once

#include <lookback/core/tree.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Consecutive tiles whose aggregates a rank sends: one record for each tile of a group that it has
/// in part, and one for each whole group.
class sent_tiles {
public:
  struct part {
    std::uint64_t first, tiles;
  };
  sent_tiles(std::uint64_t first, std::uint64_t end, std::uint64_t group_tiles)
      : first_(first), end_(end), group_tiles_(group_tiles),
        groups_begin_(std::min(end, (first + group_tiles - 1) / group_tiles * group_tiles)),
        groups_end_(std::max(groups_begin_, end / group_tiles * group_tiles)) {}

  /// Number of records.
  std::uint64_t records() const { return leading() + groups() + (end_ - groups_end_); }
  /// The tiles of record i.
  part record(std::uint64_t i) const {
    if (i < leading()) return {first_ + i, 1};
    i -= leading();
    if (i < groups()) return {groups_begin_ + i * group_tiles_, group_tiles_};
    return {groups_end_ + (i - groups()), 1};
  }

private:
  std::uint64_t leading() const { return groups_begin_ - first_; }
  std::uint64_t groups() const { return (groups_end_ - groups_begin_) / group_tiles_; }
  std::uint64_t first_, end_, group_tiles_;
  std::uint64_t groups_begin_, groups_end_; // tiles
};

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
  /// The tiles that end in the shard, if a later shard needs their aggregates.
  sent_tiles tiles(int rank) const {
    const std::uint64_t first = begin(rank) / tile;
    return {first, is_last(rank) ? first : end(rank) / tile, Shape::group_tiles};
  }
  std::uint64_t most_records() const {
    return most([this](int rank) { return tiles(rank).records(); });
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
