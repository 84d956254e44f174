// SPDX-License-Identifier: MIT
// Clears words of temporary storage in stream order, for scans that prepare nothing else.
#pragma once

#include <lookback/carry/prepare_state.cuh>
#include <lookback/strategy/strategy.cuh>

#include <cstddef>
#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Enqueues the kernel that clears `words` >= 1 words and does nothing else, on at most `most`
/// blocks. It does not overlap the kernel before it: strategy/adjacent_segments.cuh relies on this.
template <class Rows, class Launch>
void clear_words(std::uint64_t *zeroed, std::size_t words, Launch &launch,
                 std::size_t most = Rows::prepare_blocks_at_most) {
  const std::size_t blocks = (words - 1) / Rows::prepare_threads + 1;
  launch(prepare_kernel<no_initial>, block_shape{Rows::prepare_threads, 0},
         launch_grid{blocks < most ? blocks : most}, no_initial{}, 0u, zeroed, words);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
