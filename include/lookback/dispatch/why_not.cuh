// SPDX-License-Identifier: MIT
// The message for the user when a scan could not be launched.
#pragma once

#include <lookback/dispatch/dispatch.cuh>

#include <string>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Why `strategies<Algorithm>::scan` returned `status`.
template <class Algorithm, class Problem>
std::string why_not(Algorithm, cudaError_t status, [[maybe_unused]] const Problem &problem,
                    [[maybe_unused]] std::int64_t n) {
  if constexpr (std::is_same<Algorithm, lookback::look_ahead>::value) {
    if (status == cudaErrorNotSupported)
      return "lookback: look_ahead takes trivially copyable items of up to 64 bytes, with "
             "accumulators of up to 16 bytes (8 unless the input is a pointer or a transform of "
             "one) and results of 1, 2, 4, 8 or 16 bytes. It also takes structs of 12 to 64 bytes "
             "whose size is a multiple of 4 (above 48 bytes, of 8), from array to array, both "
             "aligned to 16 bytes. By key, keys and values must be pointers, and results must not "
             "overwrite the keys. The GPU must allow a block 163 KiB of shared memory (by key, "
             "227; without keys, from array to array of up to 8 bytes an item, 99). Without "
             ".with(look_ahead), lookback chooses a strategy that takes this call";
  } else if constexpr (!std::is_same<Algorithm, fastest>::value) {
    device_facts device;
    if (status == cudaErrorInvalidConfiguration && current_device(device) == cudaSuccess) {
      const block_shape largest =
          Algorithm::largest_block(problem.over({static_cast<std::uint64_t>(n)}));
      return "lookback: the strategy's block of " + std::to_string(largest.threads) +
             " threads needs " + std::to_string(largest.shared_bytes) +
             " bytes of shared memory, and a block of this device has at most " +
             std::to_string(device.shared_bytes) +
             ": choose fewer threads or fewer items per thread";
    }
  }
  return "lookback: launching the scan";
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
