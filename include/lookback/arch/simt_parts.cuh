// SPDX-License-Identifier: MIT
// Sums of the integers that are packed in a word: four bytes or two halves at once.
#pragma once

#include <lookback/core/config.cuh>

#include <cstdint>
#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace simt {

/// `sum` plus the first `count` parts of `word`, modulo 2^32. A part is an integer T of 1 or 2
/// bytes. One instruction on a GPU.
template <class T>
LOOKBACK_DEVICE std::uint32_t add_parts(std::uint32_t word, int count, std::uint32_t sum) {
#if defined(__CUDA_ARCH__)
  const unsigned ones = 0x01010101u >> (8 * (4 - count));
  if constexpr (sizeof(T) == 1 && std::is_signed<T>::value)
    return __dp4a(static_cast<int>(word), static_cast<int>(ones), static_cast<int>(sum));
  else if constexpr (sizeof(T) == 1)
    return __dp4a(word, ones, sum);
  else if constexpr (std::is_signed<T>::value)
    return __dp2a_lo(static_cast<int>(word), static_cast<int>(ones), static_cast<int>(sum));
  else
    return __dp2a_lo(word, ones, sum);
#else
  for (int k = 0; k < count; ++k)
    sum += static_cast<std::uint32_t>(static_cast<T>(word >> (8 * sizeof(T) * k)));
  return sum;
#endif
}

} // namespace simt
} // namespace LOOKBACK_ABI
} // namespace lookback
