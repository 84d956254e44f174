// SPDX-License-Identifier: MIT
// Hardware words of the CPU, for host/. They change times, never results, and may do nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__) && defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lookback::simt {

inline constexpr std::size_t cache_line = 64; // bytes

/// Memory that will be read soon, in order. It is brought near the core a cache line at a time between other work: lines that are
/// asked for together keep the core's results waiting (f32 sum of 2^26, two cores of a Xeon: 0.85 of a copy's speed, then 0.95).
class lines_to_come {
public:
  lines_to_come() = default; // none
  lines_to_come(const void *begin, const void *end)
      : next_(static_cast<const unsigned char *>(begin)), end_(static_cast<const unsigned char *>(end)) {}

  /// As much is read as is asked for, and as much is written: a line is asked for with every `pace` bytes of either.
  static constexpr std::size_t pace = 2 * cache_line;

  /// Asks for the next line.
  void ask() {
    if (next_ >= end_) return;
#if defined(__GNUC__)
    __builtin_prefetch(next_, 0, 2);
#endif
    next_ += cache_line;
  }
  /// The same with `bytes` of work.
  void ask(std::size_t bytes) {
    for (std::size_t b = 0; b < bytes; b += pace) ask();
  }

private:
  const unsigned char *next_ = nullptr, *end_ = nullptr;
};

/// Bytes that are on their way to consecutive places past the caches, which then need not read first what is written over.
/// Where there is no such store they are copied. Whole cache lines only: a line in two parts would be written twice, so its
/// begin waits here for its end. What was stored is in order only after order_streams().
template <std::size_t Bytes>
class line_stream {
public:
  /// The next bytes belong at `to`.
  explicit line_stream(void *to)
      : lines_(static_cast<unsigned char *>(to) - offset_of(to)), begin_(offset_of(to)), end_(begin_) {}
  line_stream(const line_stream &) = delete;
  line_stream &operator=(const line_stream &) = delete;
  ~line_stream() { std::memcpy(lines_ + begin_, room_ + begin_, end_ - begin_); }

  /// Where the next `Bytes` bytes are to be put. Keeps the address modulo a cache line: objects
  /// of a larger alignment cannot be constructed here.
  void *next() { return room_ + end_; }
  /// They are there.
  void push() {
    end_ += Bytes;
    std::size_t done = 0;
    for (; done + cache_line <= end_; done += cache_line, begin_ = 0) {
      if (begin_ == 0)
        store_line(lines_ + done, room_ + done);
      else // the line's begin is not ours
        std::memcpy(lines_ + begin_, room_ + begin_, cache_line - begin_);
    }
    if (done == 0) return;
    lines_ += done;
    end_ -= done;
    std::memcpy(room_, room_ + done, cache_line);
  }

private:
  static std::size_t offset_of(const void *address) { return reinterpret_cast<std::uintptr_t>(address) % cache_line; }
  static void store_line(unsigned char *to, const unsigned char *from) {
#if defined(__x86_64__) && defined(__SSE2__)
    for (std::size_t b = 0; b < cache_line; b += 16)
      _mm_stream_si128(reinterpret_cast<__m128i *>(to + b),
                       _mm_load_si128(reinterpret_cast<const __m128i *>(from + b)));
#else
    std::memcpy(to, from, cache_line);
#endif
  }

  unsigned char *lines_;    // the place of room_[0]
  std::size_t begin_, end_; // room_[begin_] to room_[end_ - 1] wait
  alignas(cache_line) unsigned char room_[Bytes + 2 * cache_line];
};
inline void order_streams() {
#if defined(__x86_64__) && defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Writes the running sums of the first integers of `from`, modulo 2^bits, a vector at a time. `running` is the sum of what is
/// to their left, and ends with them added. Returns how many were done: fewer than `count`, perhaps none.
template <bool Inclusive, class T>
std::ptrdiff_t running_sums(const T *from, T *to, std::ptrdiff_t count, T &running) {
  std::ptrdiff_t i = 0;
#if defined(__x86_64__) && defined(__SSE2__)
  constexpr int size = sizeof(T); // bytes; of 8 there are too few in a vector
  if constexpr (size <= 4) {
    if (count < 2 * (16 / size)) return 0; // one by one they are done sooner
    const auto sum = [](__m128i a, __m128i b) {
      return size == 1 ? _mm_add_epi8(a, b) : size == 2 ? _mm_add_epi16(a, b) : _mm_add_epi32(a, b);
    };
    const auto last_everywhere = [](__m128i a) {
      if (size == 1) a = _mm_unpackhi_epi8(a, a);
      if (size <= 2) a = _mm_shufflehi_epi16(a, 0xff);
      return _mm_shuffle_epi32(a, 0xff);
    };
    __m128i left = last_everywhere(_mm_slli_si128(_mm_cvtsi32_si128(static_cast<int>(running)), 16 - size));
    for (; i + 16 / size <= count; i += 16 / size) {
      __m128i within = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i));
      if (size == 1) within = sum(within, _mm_slli_si128(within, 1));
      if (size <= 2) within = sum(within, _mm_slli_si128(within, 2));
      within = sum(within, _mm_slli_si128(within, 4));
      within = sum(within, _mm_slli_si128(within, 8));
      _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i),
                       sum(left, Inclusive ? within : _mm_slli_si128(within, size)));
      left = sum(left, last_everywhere(within));
    }
    running = static_cast<T>(_mm_cvtsi128_si32(left));
  }
#else
  static_cast<void>(from), static_cast<void>(to), static_cast<void>(count), static_cast<void>(running);
#endif
  return i;
}

} // namespace lookback::simt
