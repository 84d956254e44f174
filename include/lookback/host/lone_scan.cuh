// SPDX-License-Identifier: MIT
// A scan on the calling thread alone: nothing is shared, so nothing is published and nobody waits.
#pragma once

#include <lookback/host/shared_state.cuh>
#include <lookback/host/tile.cuh>

namespace lookback::detail {

/// Everything left of the next tile, while tiles pass.
template <class Problem>
class tiles_before {
  using T = typename Problem::accumulator;

public:
  explicit tiles_before(const Problem &problem) {
    if constexpr (Problem::initial_type::exists) {
      before_group_.set(static_cast<T>(problem.initial.value));
      prefix_.set(before_group_.value());
    }
  }
  const maybe<T> &prefix() const { return prefix_; }

  /// A tile whose total is `total` has passed.
  template <class Operator>
  void push(const T &total, Operator &op) {
    const T through = within_.push(total, op); // T, inclusive
    prefix_.set(before_group_.exists() ? static_cast<T>(op(before_group_.value(), through)) : through);
    if (++tiles_ == Problem::shape::group_tiles) {
      before_group_.set(prefix_.value());
      within_.clear();
      tiles_ = 0;
    }
  }

private:
  growing_network<T> within_;
  maybe<T> before_group_, prefix_; // G, and with the group's tiles
  int tiles_ = 0;                  // of the group
};

/// A scan of any length, tile after tile by means of one.
template <class Problem>
class lone_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;

public:
  lone_scan(const Problem &problem, std::int64_t n)
      : problem_(problem), boundary_(problem_.input, shape::tiles(static_cast<std::uint64_t>(n))), tile_(problem_),
        before_(problem_), n_(n) {}

  void run() {
    constexpr std::int64_t tile_elements = shape::tile_elements;
    auto op = problem_.op;
    auto coming = lines_of(problem_, std::min(tile_elements, n_), n_);
    for (std::int64_t first = 0; first < n_; first += tile_elements) {
      const std::int64_t left = n_ - first - tile_elements; // behind this tile
      tile_.reduce(first, static_cast<int>(std::min(n_ - first, tile_elements)), coming);
      const maybe<T> &prefix = before_.prefix();
      tile_.scan(prefix.exists() ? &prefix.value() : nullptr, coming);
      if (left <= 0) return;
      before_.push(tile_.total(), op);
    }
  }

private:
  Problem problem_;
  saved_boundary<typename Problem::input_type> boundary_;
  tree_tile<Problem> tile_;
  tiles_before<Problem> before_;
  const std::int64_t n_;
};

} // namespace lookback::detail
