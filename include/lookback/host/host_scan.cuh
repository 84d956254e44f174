// SPDX-License-Identifier: MIT
// A scan with lookback's CPU policy: chooses the number of threads, and one of the scans of host/.
#pragma once

#include <lookback/host/host_policy.cuh>

#if defined(__CUDA_ARCH__)
namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {
/// nvcc's pass for device code compiles no host function, so it need not read the headers of host/.
template <class Derived, class Output, class Make>
Output run(const host_execution_policy<Derived> &, std::int64_t n, Output result, Make make);
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
#else

#include <lookback/host/float_sum.cuh>
#include <lookback/host/host_look_back.cuh>
#include <lookback/host/separate_results.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Scans a problem that fits in `tile`.
template <class Tile, class Problem>
void scan_one_tile(Tile &tile, const Problem &problem) {
  simt::line_prefetcher none;
  tile.reduce(0, static_cast<int>(problem.extent.items), none);
  if constexpr (Problem::initial_type::exists) {
    const auto initial = static_cast<typename Problem::accumulator>(problem.initial.value);
    tile.scan(&initial, none);
  } else {
    tile.scan(nullptr, none);
  }
}

/// Who scans a problem: as many threads as are useful, or the calling thread alone, which may then
/// be one of many that scan.
enum class scanned_by { threads, this_thread };

/// Scans a problem. Never inlined, so that scan() can be.
template <class Problem>
LOOKBACK_HOST_NOINLINE void scan_many(const Problem &problem, scanned_by who) {
  using shape = typename Problem::shape;
  const auto n = static_cast<std::int64_t>(problem.extent.items);
  if constexpr (separate_results<typename Problem::output_type>::value) {
    const std::size_t threads = useful_threads(n * static_cast<std::int64_t>(shape::element_bytes));
    if (threads > 1 && who == scanned_by::threads)
      return threaded_scan<Problem>(problem).run(threads);
  }
  if constexpr (is_integer_sum<Problem>) {
    scan_sum(problem);
  } else if constexpr (is_float_sum<Problem>) {
    tiles_before tiles(initial_of<typename Problem::accumulator>(problem.initial));
    scan_float_sum(problem, tiles);
  } else if (n <= shape::row_elements) {
    tree_tile<Problem, 1> tile(problem);
    scan_one_tile(tile, problem);
  } else if (n <= shape::tile_elements) {
    // On the stack: it takes a few times 16 KB, and an allocation costs as much as a row.
    tree_tile<Problem> tile(problem);
    scan_one_tile(tile, problem);
  } else {
    scan_alone(problem);
  }
}

/// Scans a problem of at least one item. Short scans are done here: passing the problem through
/// memory to another function would cost as much as a few elements.
template <class Problem>
void scan(const Problem &problem, scanned_by who = scanned_by::threads) {
  static_assert(!Problem::sink_type::wants_total, "the CPU does not compute totals");
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  const auto n = static_cast<std::int64_t>(problem.extent.items);
  const items_view<Problem> items(problem.input);
  if constexpr (is_integer_sum<Problem>) {
    // For so few elements, a serial loop is faster than CPU vectors.
    constexpr int few = std::max(2 * shape::vector_elements - 1, 16);
    if (n <= few) {
      scan_sum_serially(problem, items, problem.sink.output, 0, n, initial_sum(problem));
      return;
    }
  } else if constexpr (is_plain<T> && std::is_pointer<typename Problem::input_type>::value) {
    const auto with_initial = [&](auto scan_from) {
      if constexpr (Problem::initial_type::exists) {
        const auto initial = static_cast<T>(problem.initial.value);
        scan_from(&initial);
      } else {
        scan_from(nullptr);
      }
    };
    constexpr int serial = (Problem::initial_type::exists ? 1 : 2) * shape::vector_elements;
    if (n <= serial) // a serial loop associates as the tree does
      return with_initial([&](const T *initial) {
        auto op = problem.op;
        auto project = problem.sink.project;
        scan_first<Problem>(items, problem.sink.output, static_cast<int>(n), initial, op, project);
      });
    if (n < shape::row_elements)
      return with_initial([&](const T *initial) {
        scan_row<Problem>(items, problem.sink.output, static_cast<int>(n), initial, problem.op,
                          problem.sink.project);
      });
  }
  scan_many(problem, who);
}

/// Runs the problem that `make()` describes over n elements. Returns result + n; for n <= 0, calls
/// nothing and returns `result`. Throws the exception of an operator, a copy or an allocation; the
/// output may then be written in part.
template <class Derived, class Output, class Make>
Output run(const host_execution_policy<Derived> &, std::int64_t n, Output result, Make make) {
  if (n <= 0) return result;
  scan(make().over({static_cast<std::uint64_t>(n)}));
  return result + n;
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback

#endif
