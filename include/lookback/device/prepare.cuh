// SPDX-License-Identifier: MIT
// The kernel before the scan's own.
#pragma once

#include <lookback/core/by_key.cuh>
#include <lookback/core/simt.cuh>

namespace lookback::detail {

/// What must be so before the scan begins: cells empty, ticket zero, and the keys before each tile saved.
template <class Input>
LOOKBACK_KERNEL(256, 1)
prepare_kernel(const Input input, const unsigned tiles, std::uint64_t *const zeroed, const std::size_t words) {
  simt::release_next_kernel(); // it waits for this kernel's writes before it uses them
  const std::size_t step = static_cast<std::size_t>(simt::block_count()) * simt::block_threads();
  const std::size_t first =
      static_cast<std::size_t>(simt::block_index()) * simt::block_threads() + simt::thread_index();
  for (std::size_t i = first; i < words; i += step) zeroed[i] = 0;
  if constexpr (boundary_of<Input>::exists)
    for (std::size_t tile = first + 1; tile < tiles; tile += step) input.save_boundary(tile);
}

} // namespace lookback::detail
