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

  /// Where the next `Bytes` bytes are to be put.
  void *next() { return room_ + end_; }
  /// They are there.
  void push() {
    end_ += Bytes;
    std::size_t done = 0;
    for (; done + line <= end_; done += line, begin_ = 0) {
      if (begin_ == 0)
        store_line(lines_ + done, room_ + done);
      else // the line's begin is not ours
        std::memcpy(lines_ + begin_, room_ + begin_, line - begin_);
    }
    if (done == 0) return;
    lines_ += done;
    end_ -= done;
    std::memcpy(room_, room_ + done, line);
  }

private:
  static constexpr std::size_t line = 64;
  static std::size_t offset_of(const void *address) { return reinterpret_cast<std::uintptr_t>(address) % line; }
  static void store_line(unsigned char *to, const unsigned char *from) {
#if defined(__x86_64__) && defined(__SSE2__)
    for (std::size_t b = 0; b < line; b += 16)
      _mm_stream_si128(reinterpret_cast<__m128i *>(to + b),
                       _mm_load_si128(reinterpret_cast<const __m128i *>(from + b)));
#else
    std::memcpy(to, from, line);
#endif
  }

  unsigned char *lines_;    // the place of room_[0]
  std::size_t begin_, end_; // room_[begin_] to room_[end_ - 1] wait
  alignas(line) unsigned char room_[Bytes + 2 * line];
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

/// Sums of rows of the tree, 32 vectors of two doubles, written out: a compiler's own code for them is slower than a serial
/// loop, since it moves every second element to another vector and back. Usable with `T` where `sums_rows<T>` holds.
#if defined(__x86_64__) && defined(__SSE2__)
template <class T>
inline constexpr bool sums_rows = std::is_same<T, double>::value;

/// The network of core/tree.cuh over the 32 lanes of `from`, in registers.
inline void sum_network(const double *from, double *to) {
  __m128d x[16]; // two lanes each
  const __m128d front = _mm_loadu_pd(from);
  x[0] = _mm_move_sd(_mm_add_pd(_mm_unpacklo_pd(front, front), front), front);
  for (int i = 1; i < 16; ++i) x[i] = _mm_add_pd(_mm_loadu_pd(from + 2 * i - 1), _mm_loadu_pd(from + 2 * i));
  for (int i = 15; i >= 1; --i) x[i] = _mm_add_pd(x[i - 1], x[i]);
  for (int i = 15; i >= 2; --i) x[i] = _mm_add_pd(x[i - 2], x[i]);
  for (int i = 15; i >= 4; --i) x[i] = _mm_add_pd(x[i - 4], x[i]);
  for (int i = 15; i >= 8; --i) x[i] = _mm_add_pd(x[i - 8], x[i]);
  for (int i = 0; i < 16; ++i) _mm_storeu_pd(to + 2 * i, x[i]);
}

/// Results of a row's 64 `items`, which may be where they go, from `base`, which is left of it, and the network's lanes.
template <bool Inclusive>
void sum_row(const double *items, double base, const double *lanes, double *results) {
  const __m128d bases = _mm_set1_pd(base);
  __m128d left = _mm_set_pd(base + lanes[0], base);
  for (int l = 0; l < 32; l += 2, items += 4, results += 4) {
    const __m128d first = _mm_loadu_pd(items), second = _mm_loadu_pd(items + 2); // vectors
    const __m128d through = _mm_add_pd(left, _mm_unpacklo_pd(first, second));
    const __m128d low = Inclusive ? through : left;
    const __m128d high = Inclusive ? _mm_add_pd(through, _mm_unpackhi_pd(first, second)) : through;
    if (l < 30) left = _mm_add_pd(bases, _mm_loadu_pd(lanes + l + 1));
    // Not two whole vectors: a store from a register's upper half costs no shuffle.
    _mm_storeu_pd(results, _mm_unpacklo_pd(low, high));
    _mm_storeh_pd(results + 2, low);
    _mm_storeh_pd(results + 3, high);
  }
}
#else
template <class T>
inline constexpr bool sums_rows = false;
template <class T>
void sum_network(const T *, T *) {}
template <bool Inclusive, class T>
void sum_row(const T *, T, const T *, T *) {}
#endif

} // namespace lookback::simt
