// SPDX-License-Identifier: MIT
// Scans of floating-point sums on the calling thread, one row after another: only the prefix is
// kept.
#pragma once

#include <lookback/host/lone_scan.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class Problem>
inline constexpr bool is_float_sum = sums_rows<Problem, items_view<Problem>>;

/// Scans a problem of at least one item from the prefix of `tiles`, and extends it by the problem's
/// full tiles.
template <class Problem>
void scan_float_sum(const Problem &problem, tiles_before<typename Problem::accumulator> &tiles) {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  constexpr bool inclusive = Problem::inclusive;
  auto op = problem.op;
  row_network<T> rows;
  bool has_prefix = tiles.prefix().exists();
  T prefix = has_prefix ? tiles.prefix().value() : T{}; // of the row
  auto items = problem.input;
  T *results = problem.sink.output;
  auto n = static_cast<std::int64_t>(problem.extent.items); // not yet scanned
  for (int r = 0; n >= shape::row_elements; n -= shape::row_elements) {
    const T aggregate = has_prefix
                            ? simt::scan_row_of_sums<inclusive, true>(items, prefix, results)
                            : simt::scan_row_of_sums<inclusive, false>(items, prefix, results);
    const T through = rows.push(r, aggregate, op); // R, inclusive
    prefix = extend_left_side(tiles.prefix().get(), through, op);
    has_prefix = true;
    if (++r == shape::tile_rows) {
      tiles.push(through, op);
      prefix = tiles.prefix().value();
      r = 0;
    }
    items += shape::row_elements;
    results += shape::row_elements;
  }
  if (n > 0)
    scan_row<Problem>(items_view<Problem>(items), results, static_cast<int>(n),
                      has_prefix ? &prefix : nullptr, op, problem.sink.project);
}

/// Scans a problem of at least one item on the calling thread, from the prefix of `tiles`, and
/// extends it by all tiles but the last; if `Through`, by the last tile, too, which is then full.
template <bool Through, class Problem>
void scan_from_tiles(const Problem &problem, tiles_before<typename Problem::accumulator> &tiles) {
  if constexpr (is_float_sum<Problem>)
    scan_float_sum(problem, tiles);
  else // on the heap: it may be too large for a stack
    std::make_unique<lone_scan<Problem>>(problem)->template run<Through>(tiles);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
