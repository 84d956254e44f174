// SPDX-License-Identifier: MIT
// Hardware words of the CPU, for host/. They change times, never results, and may do nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lookback::simt {

/// Brings the `bytes` bytes from `address` on near the core.
inline void prefetch(const void *address, std::size_t bytes) {
#if defined(__GNUC__)
  constexpr std::size_t line = 64; // bytes
  for (std::size_t b = 0; b < bytes; b += line)
    __builtin_prefetch(static_cast<const unsigned char *>(address) + b, 0, 2);
#else
  static_cast<void>(address), static_cast<void>(bytes);
#endif
}

/// Copies to memory past the caches, which then need not read first what is written over. Returns false, having done
/// nothing, where there is no such store or `to` is not aligned for it. What was stored is in order only after
/// order_streams().
template <std::size_t Bytes>
bool stream(void *to, const void *from) {
#if defined(__x86_64__) && defined(__SSE2__)
  if (Bytes % 16 != 0 || reinterpret_cast<std::uintptr_t>(to) % 16 != 0) return false;
  for (std::size_t b = 0; b < Bytes / 16; ++b)
    _mm_stream_si128(static_cast<__m128i *>(to) + b, _mm_loadu_si128(static_cast<const __m128i *>(from) + b));
  return true;
#else
  static_cast<void>(to), static_cast<void>(from);
  return false;
#endif
}
inline void order_streams() {
#if defined(__x86_64__) && defined(__SSE2__)
  _mm_sfence();
#endif
}

} // namespace lookback::simt
