// SPDX-License-Identifier: MIT
// Short lines: so few items that a serial loop associates as the tree does.
#pragma once

#include <lookback/core/segments.cuh>
#include <lookback/host/integer_sum.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Most items that `scan_short` scans: those of the first vector or, without an initial value, of
/// the first two. Sums of integers may associate in any order; for more items than this, CPU
/// vectors are faster. (None by key: results may overwrite a key that the next item reads.)
template <class Problem>
inline constexpr int
    short_items = boundary_of<typename Problem::input_type>::exists ? 0
                  : is_integer_sum<Problem> ? std::max(2 * Problem::shape::vector_elements - 1, 16)
                  : is_plain<typename Problem::accumulator>
                      ? (Problem::initial_type::exists ? 1 : 2) * Problem::shape::vector_elements
                      : 0;

/// Scans `n` items, 0 < n <= short_items, from `input` to `output`, with the operator and initial
/// value of `problem`. An item is read once, before its result is written.
template <class Problem>
void scan_short(const Problem &problem, typename Problem::input_type input,
                typename Problem::output_type output, int n) {
  using T = typename Problem::accumulator;
  constexpr bool has_initial = Problem::initial_type::exists;
  const items_view<Problem> items(input);
  auto op = problem.op;
  auto project = problem.sink.project;
  if constexpr (is_integer_sum<Problem>) {
    scan_sum_serially(problem, items, output, 0, n, initial_sum(problem));
  } else if constexpr (has_initial) {
    const auto initial = static_cast<T>(problem.initial.value);
    scan_first<Problem>(items, output, n, &initial, op, project);
  } else {
    scan_first<Problem>(items, output, n, nullptr, op, project);
  }
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
