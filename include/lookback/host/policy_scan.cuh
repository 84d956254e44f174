// SPDX-License-Identifier: MIT
// A scan on lookback's CPU policy: how many threads, and whether there is anything to share among them.
#pragma once

#include <lookback/host/decoupled_look_back.cuh>
#include <lookback/host/execution_policy.cuh>

namespace lookback::detail {

/// Scans n elements, which fit in `tile`.
template <class Tile, class Problem>
void scan_one_tile(Tile &tile, const Problem &problem, std::int64_t n) {
  tile.reduce(0, static_cast<int>(n));
  if constexpr (Problem::initial_type::exists) {
    const auto initial = static_cast<typename Problem::accumulator>(problem.initial.value);
    tile.scan(&initial);
  } else {
    tile.scan(nullptr);
  }
}

/// Starting a thread costs more than it saves below this many bytes of input.
inline constexpr std::int64_t bytes_worth_a_thread = 1 << 20;

template <class Problem>
void scan(const Problem &problem, std::int64_t n) {
  using shape = typename Problem::shape;
  if (n <= shape::row_elements) {
    tree_tile<Problem, 1> tile(problem);
    scan_one_tile(tile, problem, n);
  } else if (n <= shape::tile_elements) {
    const auto tile = std::make_unique<tree_tile<Problem>>(problem);
    scan_one_tile(*tile, problem, n);
  } else {
    const std::int64_t bytes = n * static_cast<std::int64_t>(shape::element_bytes);
    const std::int64_t useful = bytes / bytes_worth_a_thread + 1;
    const unsigned threads =
        useful == 1 ? 1 : static_cast<unsigned>(std::min<std::int64_t>(useful, std::thread::hardware_concurrency()));
    threaded_scan<Problem>(problem, n).run(threads);
  }
}

/// Runs the problem that `make()` describes over n elements. Returns result + n; for n <= 0 returns `result` untouched,
/// having called nothing. Throws what an operator, a copy or an allocation threw.
template <class Derived, class Output, class Make>
Output run(const host_execution_policy<Derived> &, std::int64_t n, Output result, Make make) {
  if (n <= 0) return result;
  scan(make(), n);
  return result + n;
}

} // namespace lookback::detail
