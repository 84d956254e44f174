// SPDX-License-Identifier: MIT
// Consecutive tiles as parts of the tree: whole groups, and single tiles of groups that are not
// whole.
#pragma once

#include <lookback/core/config.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The tiles `first` to `end - 1`: one part for each whole group, and one for each tile of a group
/// that is there in part.
class tree_parts {
public:
  struct part {
    std::uint64_t first, tiles;
  };
  LOOKBACK_HOST_DEVICE tree_parts(std::uint64_t first, std::uint64_t end, std::uint64_t group_tiles)
      : first_(first), end_(end), group_tiles_(group_tiles),
        groups_begin_((first + group_tiles - 1) / group_tiles * group_tiles),
        groups_end_(end / group_tiles * group_tiles) {
    if (groups_begin_ > end) groups_begin_ = end;
    if (groups_end_ < groups_begin_) groups_end_ = groups_begin_;
  }

  /// Number of parts.
  LOOKBACK_HOST_DEVICE std::uint64_t count() const {
    return leading() + groups() + (end_ - groups_end_);
  }
  /// The tiles of part i.
  LOOKBACK_HOST_DEVICE part operator[](std::uint64_t i) const {
    if (i < leading()) return {first_ + i, 1};
    i -= leading();
    if (i < groups()) return {groups_begin_ + i * group_tiles_, group_tiles_};
    return {groups_end_ + (i - groups()), 1};
  }

private:
  LOOKBACK_HOST_DEVICE std::uint64_t leading() const { return groups_begin_ - first_; }
  LOOKBACK_HOST_DEVICE std::uint64_t groups() const {
    return (groups_end_ - groups_begin_) / group_tiles_;
  }
  std::uint64_t first_, end_, group_tiles_;
  std::uint64_t groups_begin_, groups_end_; // tiles
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
