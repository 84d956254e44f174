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
#include <lookback/host/short_line.cuh>

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
  const auto n = static_cast<std::int64_t>(problem.extent.items);
  const auto output = problem.sink.output;
  if (n <= short_items<Problem>)
    return scan_short(problem, problem.input, output, static_cast<int>(n));
  if constexpr (!is_integer_sum<Problem> && is_plain<T> &&
                std::is_pointer<typename Problem::input_type>::value) {
    if (n < Problem::shape::row_elements) {
      const auto scan_from = [&](const T *initial) {
        scan_row<Problem>(items_view<Problem>(problem.input), output, static_cast<int>(n), initial,
                          problem.op, problem.sink.project);
      };
      if constexpr (Problem::initial_type::exists) {
        const auto initial = static_cast<T>(problem.initial.value);
        return scan_from(&initial);
      } else {
        return scan_from(nullptr);
      }
    }
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
