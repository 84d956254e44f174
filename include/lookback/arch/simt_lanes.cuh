// SPDX-License-Identifier: MIT
// Floating-point numbers in CPU vectors: 16 bytes of one row, or 16 bytes of each of two
// independent rows, which cost no more with AVX. Every function works in place, and on each row's
// 16 bytes separately.
#pragma once

#include <lookback/core/config.cuh>

#if defined(__x86_64__) && defined(__SSE2__)
#include <emmintrin.h>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace simt::detail {

template <class T, int Rows>
struct cpu_vector;
template <>
struct cpu_vector<float, 1> {
  using type = __m128;
};
template <>
struct cpu_vector<double, 1> {
  using type = __m128d;
};
template <class T, int Rows>
using values = typename cpu_vector<T, Rows>::type;
using floats = values<float, 1>;
using doubles = values<double, 1>;

/// Loads from `from` and stores to `to`; the second row is `step` elements further on.
LOOKBACK_HOST_INLINE void load(floats &x, const float *from, int) { x = _mm_loadu_ps(from); }
LOOKBACK_HOST_INLINE void load(doubles &x, const double *from, int) { x = _mm_loadu_pd(from); }
LOOKBACK_HOST_INLINE void store(float *to, int, const floats &x) { _mm_storeu_ps(to, x); }
LOOKBACK_HOST_INLINE void store(double *to, int, const doubles &x) { _mm_storeu_pd(to, x); }
/// Stores one row past the caches; `to` is aligned to 16 bytes.
LOOKBACK_HOST_INLINE void stream(float *to, const floats &x) { _mm_stream_ps(to, x); }
LOOKBACK_HOST_INLINE void stream(double *to, const doubles &x) { _mm_stream_pd(to, x); }

inline float last_of(floats x) { return _mm_cvtss_f32(_mm_shuffle_ps(x, x, 0xff)); }
inline double last_of(doubles x) { return _mm_cvtsd_f64(_mm_unpackhi_pd(x, x)); }
/// Sets all elements of a row to the number of that row.
LOOKBACK_HOST_INLINE void fill(floats &x, const float *rows) { x = _mm_set1_ps(rows[0]); }
LOOKBACK_HOST_INLINE void fill(doubles &x, const double *rows) { x = _mm_set1_pd(rows[0]); }
/// Moves the elements of x one place to the right; the last element of `before` becomes the first.
LOOKBACK_HOST_INLINE void move_one(const floats &before, floats &x) {
  x = _mm_shuffle_ps(_mm_shuffle_ps(before, x, _MM_SHUFFLE(0, 0, 3, 3)), x,
                     _MM_SHUFFLE(2, 1, 2, 0));
}
LOOKBACK_HOST_INLINE void move_one(const doubles &before, doubles &x) {
  x = _mm_shuffle_pd(before, x, 1);
}
/// Replaces the first element of x by that of `first`.
LOOKBACK_HOST_INLINE void keep_one(const floats &first, floats &x) { x = _mm_move_ss(x, first); }
LOOKBACK_HOST_INLINE void keep_one(const doubles &first, doubles &x) { x = _mm_move_sd(x, first); }
/// The two functions above, for two elements.
LOOKBACK_HOST_INLINE void move_two(const floats &before, floats &x) {
  x = _mm_shuffle_ps(before, x, _MM_SHUFFLE(1, 0, 3, 2));
}
LOOKBACK_HOST_INLINE void keep_two(const floats &first, floats &x) {
  x = _mm_shuffle_ps(first, x, _MM_SHUFFLE(3, 2, 1, 0));
}
/// Transposes: element k of vector l becomes element l of vector k.
LOOKBACK_HOST_INLINE void transpose(floats (&x)[4]) { _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]); }
LOOKBACK_HOST_INLINE void transpose(doubles (&x)[2]) {
  const doubles first = _mm_unpacklo_pd(x[0], x[1]);
  x[1] = _mm_unpackhi_pd(x[0], x[1]);
  x[0] = first;
}

#if defined(LOOKBACK_AVX)
template <>
struct cpu_vector<float, 2> {
  typedef float type __attribute__((vector_size(32)));
};
template <>
struct cpu_vector<double, 2> {
  typedef double type __attribute__((vector_size(32)));
};
inline bool has_avx() { return __builtin_cpu_supports("avx") != 0; }

using two_floats = values<float, 2>;
using two_doubles = values<double, 2>;

LOOKBACK_HOST_INLINE void load(two_floats &x, const float *from, int step) {
  x = __builtin_shufflevector(_mm_loadu_ps(from), _mm_loadu_ps(from + step), 0, 1, 2, 3, 4, 5, 6,
                              7);
}
LOOKBACK_HOST_INLINE void load(two_doubles &x, const double *from, int step) {
  x = __builtin_shufflevector(_mm_loadu_pd(from), _mm_loadu_pd(from + step), 0, 1, 2, 3);
}
LOOKBACK_HOST_INLINE void store(float *to, int step, const two_floats &x) {
  _mm_storeu_ps(to, __builtin_shufflevector(x, x, 0, 1, 2, 3));
  _mm_storeu_ps(to + step, __builtin_shufflevector(x, x, 4, 5, 6, 7));
}
LOOKBACK_HOST_INLINE void store(double *to, int step, const two_doubles &x) {
  _mm_storeu_pd(to, __builtin_shufflevector(x, x, 0, 1));
  _mm_storeu_pd(to + step, __builtin_shufflevector(x, x, 2, 3));
}
LOOKBACK_HOST_INLINE void fill(two_floats &x, const float *rows) {
  x = __builtin_shufflevector(_mm_set1_ps(rows[0]), _mm_set1_ps(rows[1]), 0, 1, 2, 3, 4, 5, 6, 7);
}
LOOKBACK_HOST_INLINE void fill(two_doubles &x, const double *rows) {
  x = __builtin_shufflevector(_mm_set1_pd(rows[0]), _mm_set1_pd(rows[1]), 0, 1, 2, 3);
}
LOOKBACK_HOST_INLINE void move_one(const two_floats &before, two_floats &x) {
  x = __builtin_shufflevector(before, x, 3, 8, 9, 10, 7, 12, 13, 14);
}
LOOKBACK_HOST_INLINE void move_one(const two_doubles &before, two_doubles &x) {
  x = __builtin_shufflevector(before, x, 1, 4, 3, 6);
}
LOOKBACK_HOST_INLINE void keep_one(const two_floats &first, two_floats &x) {
  x = __builtin_shufflevector(first, x, 0, 9, 10, 11, 4, 13, 14, 15);
}
LOOKBACK_HOST_INLINE void keep_one(const two_doubles &first, two_doubles &x) {
  x = __builtin_shufflevector(first, x, 0, 5, 2, 7);
}
LOOKBACK_HOST_INLINE void move_two(const two_floats &before, two_floats &x) {
  x = __builtin_shufflevector(before, x, 2, 3, 8, 9, 6, 7, 12, 13);
}
LOOKBACK_HOST_INLINE void keep_two(const two_floats &first, two_floats &x) {
  x = __builtin_shufflevector(first, x, 0, 1, 10, 11, 4, 5, 14, 15);
}
LOOKBACK_HOST_INLINE void transpose(two_floats (&x)[4]) {
  const two_floats a = __builtin_shufflevector(x[0], x[1], 0, 8, 1, 9, 4, 12, 5, 13);
  const two_floats b = __builtin_shufflevector(x[0], x[1], 2, 10, 3, 11, 6, 14, 7, 15);
  const two_floats c = __builtin_shufflevector(x[2], x[3], 0, 8, 1, 9, 4, 12, 5, 13);
  const two_floats d = __builtin_shufflevector(x[2], x[3], 2, 10, 3, 11, 6, 14, 7, 15);
  x[0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  x[1] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  x[2] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  x[3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}
LOOKBACK_HOST_INLINE void transpose(two_doubles (&x)[2]) {
  const two_doubles first = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6);
  x[1] = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
  x[0] = first;
}
#endif

} // namespace simt::detail
} // namespace LOOKBACK_ABI
} // namespace lookback

#endif
