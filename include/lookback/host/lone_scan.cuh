// SPDX-License-Identifier: MIT
// A scan on the calling thread alone: no shared state, no waits.
#pragma once

#include <lookback/host/growing_tree.cuh>
#include <lookback/host/shared_state.cuh>
#include <lookback/host/tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A scan of any length, one tile after another in the memory of one tile.
template <class Problem>
class lone_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;

public:
  explicit lone_scan(const Problem &problem)
      : problem_(problem), boundary_(problem_.input, problem_.tiles()), tile_(problem_),
        n_(static_cast<std::int64_t>(problem.extent.items)) {}

  /// Scans from the prefix of `tiles`, and extends it by all tiles but the last; if `Through`, by
  /// the last tile, too, which is then full.
  template <bool Through = false>
  void run(tiles_before<T> &tiles) {
    constexpr std::int64_t tile_elements = shape::tile_elements;
    auto op = problem_.op;
    auto prefetcher = prefetcher_of(problem_, std::min(tile_elements, n_), n_);
    for (std::int64_t first = 0; first < n_; first += tile_elements) {
      const std::int64_t remaining = n_ - first - tile_elements; // after this tile
      tile_.reduce(first, static_cast<int>(std::min(n_ - first, tile_elements)), prefetcher);
      tile_.scan(tiles.prefix().get(), prefetcher);
      if (!Through && remaining <= 0) return;
      tiles.push(tile_.aggregate(), op);
    }
  }

private:
  Problem problem_;
  saved_boundary<typename Problem::input_type> boundary_;
  tree_tile<Problem> tile_;
  const std::int64_t n_;
};

/// The whole scan of a problem on the calling thread. Its state is on the heap: it may be too large
/// for a stack.
template <class Problem>
void scan_alone(const Problem &problem) {
  using T = typename Problem::accumulator;
  struct whole_scan {
    tiles_before<T> tiles;
    lone_scan<Problem> scan;
  };
  const std::unique_ptr<whole_scan> whole(
      new whole_scan{tiles_before<T>(initial_of<T>(problem.initial)), lone_scan<Problem>(problem)});
  whole->scan.run(whole->tiles);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
