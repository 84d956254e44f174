// SPDX-License-Identifier: MIT
// The kernel that runs before the kernel of the scan.
#pragma once

#include <lookback/arch/simt.cuh>
#include <lookback/core/segments.cuh>
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

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
