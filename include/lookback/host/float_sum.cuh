// SPDX-License-Identifier: MIT
// Sums of floating-point numbers on the calling thread, row after row: nothing is kept but what is to the left.
#pragma once

#include <lookback/host/lone_scan.cuh>

namespace lookback::detail {

template <class Problem>
inline constexpr bool is_float_sum = sums_rows<Problem, items_view<Problem>>;

/// Scans n >= 1 elements.
template <class Problem>
void scan_float_sum(const Problem &problem, std::int64_t n) {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  constexpr bool inclusive = Problem::inclusive;
  auto op = problem.op;
  tiles_before<Problem> tiles(problem);
  row_network<T> rows;
  bool has_base = tiles.prefix().exists();
  T base = has_base ? tiles.prefix().value() : T{}; // everything left of the row
  auto items = problem.input;
  T *results = problem.output;
  for (int r = 0; n >= shape::row_elements; n -= shape::row_elements) {
    const T total = has_base ? simt::scan_row_of_sums<inclusive, true>(items, base, results)
                             : simt::scan_row_of_sums<inclusive, false>(items, base, results);
    const T through = rows.push(r, total, op); // R, inclusive
    base = tiles.prefix().exists() ? op(tiles.prefix().value(), through) : through;
    has_base = true;
    if (++r == shape::tile_rows) {
      tiles.push(through, op);
      base = tiles.prefix().value();
      r = 0;
    }
    items += shape::row_elements;
    results += shape::row_elements;
  }
  if (n > 0)
    scan_row<Problem>(items_view<Problem>(items), results, static_cast<int>(n), has_base ? &base : nullptr, op,
                      problem.project);
}

} // namespace lookback::detail
