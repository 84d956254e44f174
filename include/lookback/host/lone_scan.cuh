// SPDX-License-Identifier: MIT
// A scan on the calling thread alone: nothing is shared, so nothing is published and nobody waits.
#pragma once

#include <lookback/host/shared_state.cuh>
#include <lookback/host/tile.cuh>

namespace lookback::detail {

/// A scan of any length, tile after tile by means of one.
template <class Problem>
class lone_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;

public:
  lone_scan(const Problem &problem, std::int64_t n)
      : problem_(problem), boundary_(problem_.input, shape::tiles(static_cast<std::uint64_t>(n))), tile_(problem_),
        n_(n) {}

  void run() {
    constexpr std::int64_t tile_elements = shape::tile_elements;
    auto op = problem_.op;
    if constexpr (Problem::initial_type::exists) {
      before_group_.set(static_cast<T>(problem_.initial.value));
      prefix_.set(before_group_.value());
    }
    for (std::int64_t first = 0, tiles = 1; first < n_; first += tile_elements, ++tiles) {
      const std::int64_t left = n_ - first - tile_elements; // behind this tile
      tile_.reduce(first, static_cast<int>(std::min(n_ - first, tile_elements)));
      tile_.scan(prefix_.exists() ? &prefix_.value() : nullptr, left >= tile_elements ? first + tile_elements : -1);
      if (left <= 0) return;
      const T through = within_.push(tile_.total(), op); // T, inclusive
      prefix_.set(before_group_.exists() ? static_cast<T>(op(before_group_.value(), through)) : through);
      if (tiles % shape::group_tiles == 0) {
        before_group_.set(prefix_.value());
        within_.clear();
      }
    }
  }

private:
  Problem problem_;
  saved_boundary<typename Problem::input_type> boundary_;
  tree_tile<Problem> tile_;
  growing_network<T> within_;
  maybe<T> before_group_, prefix_; // G, and everything left of the tile
  const std::int64_t n_;
};

} // namespace lookback::detail
