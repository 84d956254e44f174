// SPDX-License-Identifier: MIT
// Numbers of items that only the device knows, as kernels see them. Every block reads the number
// first. All blocks read the same one, so they agree on which of them have a tile.
#pragma once

#include <lookback/arch/simt.cuh>
#include <lookback/core/device_count.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Writes the total of no items. One thread calls.
LOOKBACK_NO_EXECUTION_CHECK
template <class Problem>
LOOKBACK_DEVICE void set_total_of_nothing([[maybe_unused]] const Problem &problem) {
  if constexpr (Problem::sink_type::wants_total) {
    using T = typename Problem::accumulator;
    if constexpr (Problem::initial_type::exists)
      problem.sink.set_total(static_cast<T>(problem.initial.value)); // mutant: no-items
    else
      problem.sink.set_nothing();
  }
}

/// Reports an invalid count, once: called by every thread of every block.
template <class Int>
LOOKBACK_DEVICE void report_count(const linear_on_device<Int> &extent) {
  if (simt::block_index() != 0 || simt::thread_index() != 0) return;
  if (extent.error != nullptr)
    *extent.error = linear_on_device<Int>::invalid_value; // mutant: count-error
  else
    simt::refuse_count();
}

/// The extent of a problem with the actual number of items. If there are none, the total has been
/// written. If the count is invalid, there are none either, and the error has been reported.
template <class Problem>
LOOKBACK_DEVICE auto actual_extent(const Problem &problem) {
  auto extent = problem.extent;
  if (!extent.read())
    report_count(extent);
  else if (extent.items == 0 && simt::block_index() == 0 && simt::thread_index() == 0)
    set_total_of_nothing(problem); // mutant: actual-nothing
  return extent;
}

/// The tiles of a grid that has a block for each.
template <class Problem>
LOOKBACK_DEVICE unsigned tiles_of_grid([[maybe_unused]] const Problem &problem) {
  if constexpr (counts_on_device<Problem>) // mutant: grid-tiles
    return static_cast<unsigned>(problem.tiles());
  else
    return simt::block_count();
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
