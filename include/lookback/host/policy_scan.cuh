// SPDX-License-Identifier: MIT
// A scan on lookback's CPU policy: how many threads, and whether there is anything to share among them.
#pragma once

#include <lookback/host/decoupled_look_back.cuh>
#include <lookback/host/execution_policy.cuh>
#include <lookback/host/lone_scan.cuh>

namespace lookback::detail {

/// Bytes of input that are worth a thread. Starting one costs what a core does in the meantime.
inline constexpr std::int64_t bytes_per_thread = 2 << 20;

/// Threads for `bytes` bytes: those that have enough to do, as far as this process may use that many cores.
inline std::size_t useful_threads(std::int64_t bytes) {
  if (bytes < 2 * bytes_per_thread) return 1;
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  return static_cast<std::size_t>(std::max<std::int64_t>(1, std::min(bytes / bytes_per_thread, cores)));
}

/// Scans n elements, which fit in `tile`.
template <class Tile, class Problem>
void scan_one_tile(Tile &tile, const Problem &problem, std::int64_t n) {
  tile.reduce(0, static_cast<int>(n));
  if constexpr (Problem::initial_type::exists) {
    const auto initial = static_cast<typename Problem::accumulator>(problem.initial.value);
    tile.scan(&initial, -1);
  } else {
    tile.scan(nullptr, -1);
  }
}

/// The longest input that the tree folds serially anyway: the first vector's total, which is the second one's base, is
/// itself a serial fold. An initial value is in front of that total, and ends it with the first vector.
template <class Problem>
inline constexpr int serial_elements = Problem::shape::vector_elements *(Problem::initial_type::exists ? 1 : 2);

/// At most that many plain values.
template <class Problem>
void scan_serially(const Problem &problem, int n) {
  using T = typename Problem::accumulator;
  using stored = typename Problem::stored;
  auto op = problem.op;
  const items_view<Problem> items(problem.input);
  uninitialized_array<T, 1> running;
  const auto write = [&](int i, const T &item) {
    problem.output[i] = static_cast<stored>(problem.project(running[0], item));
  };
  int i = 0;
  if constexpr (Problem::initial_type::exists) {
    construct(running[0], static_cast<T>(problem.initial.value));
  } else {
    const T item = items[i];
    construct(running[0], item);
    write(i++, item);
  }
  for (; i < n; ++i) {
    const T item = items[i];
    if constexpr (!Problem::inclusive) write(i, item);
    if (Problem::inclusive || i + 1 < n) construct(running[0], static_cast<T>(op(running[0], item)));
    if constexpr (Problem::inclusive) write(i, item);
  }
}

template <class Problem>
void scan(const Problem &problem, std::int64_t n) {
  using shape = typename Problem::shape;
  if constexpr (is_plain<typename Problem::accumulator> && std::is_pointer<typename Problem::input_type>::value) {
    if (n <= serial_elements<Problem>) return scan_serially(problem, static_cast<int>(n));
  }
  const std::size_t threads = useful_threads(n * static_cast<std::int64_t>(shape::element_bytes));
  if (threads > 1) return threaded_scan<Problem>(problem, n).run(threads);
  if constexpr (is_integer_sum<Problem>) {
    scan_sum(problem, n);
  } else if (n <= shape::row_elements) {
    tree_tile<Problem, 1> tile(problem);
    scan_one_tile(tile, problem, n);
  } else if (n <= shape::tile_elements) {
    tree_tile<Problem> tile(problem); // on the stack: a few times 16 KB, and an allocation costs as much as a row
    scan_one_tile(tile, problem, n);
  } else {
    std::make_unique<lone_scan<Problem>>(problem, n)->run();
  }
}

/// Runs the problem that `make()` describes over n elements. Returns result + n; for n <= 0 returns `result` untouched,
/// having called nothing. Throws what an operator, a copy or an allocation threw; the output may then be written in
/// part.
template <class Derived, class Output, class Make>
Output run(const host_execution_policy<Derived> &, std::int64_t n, Output result, Make make) {
  if (n <= 0) return result;
  scan(make(), n);
  return result + n;
}

} // namespace lookback::detail
