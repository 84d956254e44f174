// SPDX-License-Identifier: MIT
// CPU instructions, for host/. They change run times, never results, and may do nothing.
#pragma once

#include <lookback/core/config.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__) && defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace simt {

inline constexpr std::size_t cache_line = 64; // bytes

/// Prefetches memory that will be read soon, in order, one cache line at a time between other work:
/// many requests at once delay the core's stores (f32 sum of 2^26, two cores of a Xeon: 0.85 of a
/// copy's speed; 0.95 with one line at a time).
class line_prefetcher {
public:
  line_prefetcher() = default; // none
  line_prefetcher(const void *begin, const void *end)
      : next_(static_cast<const unsigned char *>(begin)),
        end_(static_cast<const unsigned char *>(end)) {}

  /// Bytes of work for each prefetched line. A tile is reduced, and then scanned; each of the two
  /// prefetches one line per `pace` bytes, so together they prefetch as many bytes as the tile has.
  static constexpr std::size_t pace = 2 * cache_line;

  /// Prefetches the next line.
  void prefetch() {
    if (next_ >= end_) return;
#if defined(__GNUC__)
    __builtin_prefetch(next_, 0, 2);
#endif
    next_ += cache_line;
  }
  /// Prefetches the lines for `bytes` of work.
  void prefetch(std::size_t bytes) {
    for (std::size_t b = 0; b < bytes; b += pace) prefetch();
  }

private:
  const unsigned char *next_ = nullptr, *end_ = nullptr;
};

/// Stores bytes to consecutive addresses past the caches, which then need not first read the lines
/// that are overwritten. Where there is no such store, it copies. Only whole cache lines are
/// stored: a line in two parts would be written twice, so its first part waits in a buffer for the
/// rest. The stores are ordered only after order_streams().
template <std::size_t Bytes>
class line_stream {
public:
  /// The first bytes go to `to`.
  explicit line_stream(void *to)
      : lines_(static_cast<unsigned char *>(to) - offset_of(to)), begin_(offset_of(to)),
        end_(begin_) {}
  line_stream(const line_stream &) = delete;
  line_stream &operator=(const line_stream &) = delete;
  ~line_stream() { std::memcpy(lines_ + begin_, buffer_ + begin_, end_ - begin_); }

  /// Buffer for the next `Bytes` bytes. Its address equals that of the destination modulo a cache
  /// line: objects of a larger alignment cannot be constructed in it.
  void *next() { return buffer_ + end_; }
  /// Stores the bytes that are in the buffer of next().
  void push() {
    end_ += Bytes;
    std::size_t done = 0;
    for (; done + cache_line <= end_; done += cache_line, begin_ = 0) {
      if (begin_ == 0)
        store_line(lines_ + done, buffer_ + done);
      else // the stream starts within this line
        std::memcpy(lines_ + begin_, buffer_ + begin_, cache_line - begin_);
    }
    if (done == 0) return;
    lines_ += done;
    end_ -= done;
    std::memcpy(buffer_, buffer_ + done, cache_line);
  }

private:
  static std::size_t offset_of(const void *address) {
    return reinterpret_cast<std::uintptr_t>(address) % cache_line;
  }
  static void store_line(unsigned char *to, const unsigned char *from) {
#if defined(__x86_64__) && defined(__SSE2__)
    for (std::size_t b = 0; b < cache_line; b += 16)
      _mm_stream_si128(reinterpret_cast<__m128i *>(to + b),
                       _mm_load_si128(reinterpret_cast<const __m128i *>(from + b)));
#else
    std::memcpy(to, from, cache_line);
#endif
  }

  unsigned char *lines_;    // destination of buffer_[0]
  std::size_t begin_, end_; // buffer_[begin_] to buffer_[end_ - 1] are not stored yet
  alignas(cache_line) unsigned char buffer_[Bytes + 2 * cache_line];
};
/// Orders the stores of all line_streams of this thread before its later stores.
inline void order_streams() {
#if defined(__x86_64__) && defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Writes the running sums of the first integers of `from`, modulo 2^bits, a CPU vector at a time.
/// `running` is their prefix, and on return includes them. Returns the number of integers done: at
/// most `count`, possibly none.
template <bool Inclusive, class T>
std::ptrdiff_t running_sums(const T *from, T *to, std::ptrdiff_t count, T &running) {
  std::ptrdiff_t i = 0;
#if defined(__x86_64__) && defined(__SSE2__)
  constexpr int size = sizeof(T); // bytes; a vector holds too few integers of 8 bytes
  if constexpr (size <= 4) {
    if (count < 2 * (16 / size)) return 0; // a serial loop is faster
    const auto sum = [](__m128i a, __m128i b) {
      return size == 1 ? _mm_add_epi8(a, b) : size == 2 ? _mm_add_epi16(a, b) : _mm_add_epi32(a, b);
    };
    const auto broadcast_last = [](__m128i a) {
      if (size == 1) a = _mm_unpackhi_epi8(a, a);
      if (size <= 2) a = _mm_shufflehi_epi16(a, 0xff);
      return _mm_shuffle_epi32(a, 0xff);
    };
    __m128i prefix =
        broadcast_last(_mm_slli_si128(_mm_cvtsi32_si128(static_cast<int>(running)), 16 - size));
    for (; i + 16 / size <= count; i += 16 / size) {
      __m128i within = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i));
      if (size == 1) within = sum(within, _mm_slli_si128(within, 1));
      if (size <= 2) within = sum(within, _mm_slli_si128(within, 2));
      within = sum(within, _mm_slli_si128(within, 4));
      within = sum(within, _mm_slli_si128(within, 8));
      _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i),
                       sum(prefix, Inclusive ? within : _mm_slli_si128(within, size)));
      prefix = sum(prefix, broadcast_last(within));
    }
    running = static_cast<T>(_mm_cvtsi128_si32(prefix));
  }
#else
  static_cast<void>(from), static_cast<void>(to), static_cast<void>(count),
      static_cast<void>(running);
#endif
  return i;
}

} // namespace simt
} // namespace LOOKBACK_ABI
} // namespace lookback
