// SPDX-License-Identifier: MIT
// A scan on the calling thread alone: no shared state, no waits.
#pragma once

#include <lookback/host/shared_state.cuh>
#include <lookback/host/tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The prefix of the next tile, extended tile by tile.
template <class Problem>
class tiles_before {
  using T = typename Problem::accumulator;

public:
  explicit tiles_before(const Problem &problem) {
    if constexpr (Problem::initial_type::exists) {
      group_prefix_.set(static_cast<T>(problem.initial.value));
      prefix_.set(group_prefix_.value());
    }
  }
  const maybe<T> &prefix() const { return prefix_; }

  /// Extends the prefix by a tile with this aggregate.
  template <class Operator>
  void push(const T &aggregate, Operator &op) {
    const T through = within_.push(aggregate, op); // T, inclusive
    prefix_.set(extend_left_side(group_prefix_.get(), through, op));
    if (++tiles_ == Problem::shape::group_tiles) {
      group_prefix_.set(prefix_.value());
      within_.clear();
      tiles_ = 0;
    }
  }

private:
  growing_network<T> within_;
  maybe<T> group_prefix_, prefix_; // G, and G extended by the group's tiles so far
  int tiles_ = 0;                  // of the group so far
};

/// A scan of any length, one tile after another in the memory of one tile.
template <class Problem>
class lone_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;

public:
  explicit lone_scan(const Problem &problem)
      : problem_(problem), boundary_(problem_.input, problem_.tiles()), tile_(problem_),
        tiles_before_(problem_), n_(static_cast<std::int64_t>(problem.extent.items)) {}

  void run() {
    constexpr std::int64_t tile_elements = shape::tile_elements;
    auto op = problem_.op;
    auto prefetcher = prefetcher_of(problem_, std::min(tile_elements, n_), n_);
    for (std::int64_t first = 0; first < n_; first += tile_elements) {
      const std::int64_t remaining = n_ - first - tile_elements; // after this tile
      tile_.reduce(first, static_cast<int>(std::min(n_ - first, tile_elements)), prefetcher);
      tile_.scan(tiles_before_.prefix().get(), prefetcher);
      if (remaining <= 0) return;
      tiles_before_.push(tile_.aggregate(), op);
    }
  }

private:
  Problem problem_;
  saved_boundary<typename Problem::input_type> boundary_;
  tree_tile<Problem> tile_;
  tiles_before<Problem> tiles_before_;
  const std::int64_t n_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
