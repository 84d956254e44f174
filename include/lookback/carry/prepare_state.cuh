// SPDX-License-Identifier: MIT
// The kernel that runs before the kernel of the scan.
#pragma once

#include <lookback/arch/simt.cuh>
#include <lookback/core/segments.cuh>
#include <lookback/core/tile_status.cuh>
#include <lookback/tile/early_initial.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Threads of the blocks that prepare a state, at most.
inline constexpr int prepare_threads_at_most = 256;

/// Prepares the temporary storage: clears the status words and the dynamic tile id, and saves what
/// the scan may overwrite. `saved` is an input with keys, an initial value, or nothing.
template <class Saved>
LOOKBACK_KERNEL(prepare_threads_at_most, 1)
prepare_kernel(const Saved saved, const unsigned tiles, std::uint64_t *const zeroed,
               const std::size_t words) {
  simt::release_next_kernel(); // it waits for this kernel's writes before it uses them
  const std::size_t step = static_cast<std::size_t>(simt::block_count()) * simt::block_threads();
  const std::size_t first =
      static_cast<std::size_t>(simt::block_index()) * simt::block_threads() + simt::thread_index();
  for (std::size_t i = first; i < words; i += step) zeroed[i] = 0;
  if constexpr (boundary_of<Saved>::exists)
    for (std::size_t tile = first + 1; tile < tiles; tile += step) saved.save_boundary(tile);
  if constexpr (is_initial_to_save<Saved>)
    if (first == 0) saved.save();
}

/// The same for `problem`, whose number of items only the device knows: clears the status words of
/// the actual tiles. Leaves an invalid number to the scan.
template <class Problem, class Saved, class State>
LOOKBACK_KERNEL(prepare_threads_at_most, 1)
prepare_actual_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem, const Saved saved,
                      const State state) {
  simt::release_next_kernel();
  auto extent = problem.extent;
  extent.read();
  const auto tiles = static_cast<unsigned>(extent.tiles(Problem::shape::tile_elements));
  const unsigned step = simt::block_count() * static_cast<unsigned>(simt::block_threads());
  const unsigned first = simt::block_index() * static_cast<unsigned>(simt::block_threads()) +
                         static_cast<unsigned>(simt::thread_index());
  if (first == 0) *state.next_tile_id = 0;
  for (std::size_t tile = first; tile < tiles; tile += step) {
    state.tile_aggregates.clear(tile); // mutant: counted-clear
    if (tile % Problem::shape::group_tiles == 0) {
      state.group_aggregates.clear(tile / Problem::shape::group_tiles);
      state.group_prefixes.clear(tile / Problem::shape::group_tiles);
    }
    if constexpr (boundary_of<Saved>::exists)
      if (tile > 0) saved.save_boundary(tile);
  }
  if constexpr (is_initial_to_save<Saved>)
    if (first == 0) saved.save();
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
