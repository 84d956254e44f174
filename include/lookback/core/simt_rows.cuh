// SPDX-License-Identifier: MIT
// Sums of floating-point numbers by rows of the tree (core/tree.cuh), in the vectors of a CPU: as many of a row's lanes at once as a
// vector has elements. A compiler's own code for them takes up to twice as long, and for doubles longer than a serial loop: it
// moves one element at a time to where it can be added.
#pragma once

#include <lookback/core/config.cuh>

#include <type_traits>

#if defined(__x86_64__) && defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lookback::simt {

#if defined(__x86_64__) && defined(__SSE2__)

/// Whether the functions below exist for T.
template <class T>
inline constexpr bool sums_rows = std::is_same<T, float>::value || std::is_same<T, double>::value;

namespace detail {

inline __m128 load(const float *from) { return _mm_loadu_ps(from); }
inline __m128d load(const double *from) { return _mm_loadu_pd(from); }
inline void store(float *to, __m128 values) { _mm_storeu_ps(to, values); }
inline void store(double *to, __m128d values) { _mm_storeu_pd(to, values); }
inline __m128 everywhere(float value) { return _mm_set1_ps(value); }
inline __m128d everywhere(double value) { return _mm_set1_pd(value); }
inline float last_of(__m128 values) { return _mm_cvtss_f32(_mm_shuffle_ps(values, values, 0xff)); }
inline double last_of(__m128d values) { return _mm_cvtsd_f64(_mm_unpackhi_pd(values, values)); }
inline __m128 sum(__m128 a, __m128 b) { return _mm_add_ps(a, b); }
inline __m128d sum(__m128d a, __m128d b) { return _mm_add_pd(a, b); }

/// The first lane of `first` and the other lanes of `rest`.
inline __m128 first_and_rest(__m128 first, __m128 rest) { return _mm_move_ss(rest, first); }
inline __m128d first_and_rest(__m128d first, __m128d rest) { return _mm_move_sd(rest, first); }
/// The left neighbour of every lane of `values`; `before` are the lanes to their left.
inline __m128 one_left(__m128 before, __m128 values) {
  return _mm_shuffle_ps(_mm_shuffle_ps(before, values, _MM_SHUFFLE(0, 0, 3, 3)), values, _MM_SHUFFLE(2, 1, 2, 0));
}
inline __m128d one_left(__m128d before, __m128d values) { return _mm_shuffle_pd(before, values, 1); }
/// Element k of vector l for element l of vector k.
inline void turn(__m128 (&square)[4]) { _MM_TRANSPOSE4_PS(square[0], square[1], square[2], square[3]); }
inline void turn(__m128d (&square)[2]) {
  const __m128d first = _mm_unpacklo_pd(square[0], square[1]);
  square[1] = _mm_unpackhi_pd(square[0], square[1]);
  square[0] = first;
}

/// Several lanes of a row, and what is done with them together.
template <class T>
struct several_lanes {
  using values = decltype(load(static_cast<const T *>(nullptr)));
  static constexpr int count = 16 / sizeof(T); // lanes, and the elements of each

  /// Lanes count * g and on of the row that begins at `items`: all of them, or zeros behind the first `existing`.
  LOOKBACK_HOST_INLINE several_lanes(const T *items, int g) {
    for (int l = 0; l < count; ++l) elements[l] = load(items + (g * count + l) * count);
    turn(elements);
  }
  LOOKBACK_HOST_INLINE several_lanes(const T *items, int g, int existing) {
    for (int l = 0; l < count; ++l) elements[l] = l < existing ? load(items + (g * count + l) * count) : values{};
    turn(elements);
  }
  LOOKBACK_HOST_INLINE values totals() const {
    values result = elements[0];
    for (int k = 1; k < count; ++k) result = sum(result, elements[k]);
    return result;
  }
  /// Results of the first `existing`, from everything left of each lane. Of the very first element nothing is: it is its own result.
  template <bool Inclusive>
  LOOKBACK_HOST_INLINE void write(values left, bool very_first, T *results, int g, int existing = count) const {
    values scanned[count];
    for (int k = 0; k < count; ++k) {
      if (!Inclusive) scanned[k] = left;
      left = very_first && k == 0 ? first_and_rest(elements[0], sum(left, elements[0])) : sum(left, elements[k]);
      if (Inclusive) scanned[k] = left;
    }
    turn(scanned);
    for (int l = 0; l < count; ++l)
      if (l < existing) store(results + (g * count + l) * count, scanned[l]);
  }

  values elements[count]; // element k of all lanes side by side
};

/// The network of core/tree.cuh: V of the g-th several lanes, whose totals are `x`, after those before them. `before`: (5, 32), the
/// lanes as they are before each step.
template <class T, class Values>
LOOKBACK_HOST_INLINE Values push_lanes(T *before, int g, Values x) {
  constexpr int count = several_lanes<T>::count, row = 32;
  const int lane = g * count;
  const auto at = [before](int step, int l) { return before + step * row + l; };
  store(at(0, lane), x);
  const Values once = sum(one_left(g == 0 ? x : load(at(0, lane - count)), x), x);
  x = g == 0 ? first_and_rest(x, once) : once;
  store(at(1, lane), x);
  if constexpr (count > 2) {
    const Values twice = sum(_mm_shuffle_ps(g == 0 ? x : load(at(1, lane - count)), x, _MM_SHUFFLE(1, 0, 3, 2)), x);
    x = g == 0 ? _mm_shuffle_ps(x, twice, _MM_SHUFFLE(3, 2, 1, 0)) : twice;
  } else if (lane >= 2) {
    x = sum(load(at(1, lane - 2)), x);
  }
  store(at(2, lane), x);
  if (lane >= 4) x = sum(load(at(2, lane - 4)), x);
  store(at(3, lane), x);
  if (lane >= 8) x = sum(load(at(3, lane - 8)), x);
  store(at(4, lane), x);
  if (lane >= 16) x = sum(load(at(4, lane - 16)), x);
  return x;
}

/// Everything left of several lanes, of which `now` is V and `before` of the lanes before them. Left of the row are `bases`, or
/// nothing.
template <bool HasBase, class Values>
LOOKBACK_HOST_INLINE Values left_of(Values bases, Values before, Values now, int g) {
  const Values left = one_left(before, now);
  if (!HasBase) return left;
  return g == 0 ? first_and_rest(bases, sum(bases, left)) : sum(bases, left);
}

} // namespace detail

/// V of a whole row of `items`, to `lanes`.
template <class T>
void reduce_row_of_sums(const T *items, T *lanes) {
  using several = detail::several_lanes<T>;
  alignas(16) T before[5 * 32];
  LOOKBACK_HOST_UNROLL
  for (int g = 0; g < 32 / several::count; ++g)
    detail::store(lanes + g * several::count, detail::push_lanes(before, g, several(items, g).totals()));
}

/// Results of a whole row, which may be where the items are, from `base`, which is left of it, and the row's `lanes`.
template <bool Inclusive, class T>
void scan_row_of_sums(const T *items, T base, const T *lanes, T *results) {
  using several = detail::several_lanes<T>;
  const auto bases = detail::everywhere(base);
  auto left = detail::load(lanes);
  left = detail::first_and_rest(bases, detail::sum(bases, detail::one_left(left, left)));
  for (int g = 0; g < 32 / several::count; ++g) {
    if (g > 0) left = detail::sum(bases, detail::load(lanes + g * several::count - 1));
    several(items, g).template write<Inclusive>(left, false, results, g);
  }
}

/// Both at once. With `HasBase`, `base` is everything left of the row, otherwise nothing is. Returns V of the row's last lane.
template <bool Inclusive, bool HasBase, class T>
T scan_row_of_sums(const T *items, T base, T *results) {
  using several = detail::several_lanes<T>;
  alignas(16) T before[5 * 32];
  const auto bases = detail::everywhere(base);
  auto within = bases;
  LOOKBACK_HOST_UNROLL
  for (int g = 0; g < 32 / several::count; ++g) {
    const several lanes(items, g);
    const auto now = detail::push_lanes(before, g, lanes.totals());
    lanes.template write<Inclusive>(detail::left_of<HasBase>(bases, within, now, g), !HasBase && g == 0, results, g);
    within = now;
  }
  return detail::last_of(within);
}

/// The same of a row's first `count` elements.
template <bool Inclusive, bool HasBase, class T>
void scan_row_of_sums(const T *items, int count, T base, T *results) {
  using several = detail::several_lanes<T>;
  constexpr int lanes = several::count, square = lanes * lanes;
  alignas(16) T before[5 * 32];
  const auto bases = detail::everywhere(base);
  auto within = bases;
  int g = 0;
  for (; (g + 1) * square <= count; ++g) {
    const several all(items, g);
    const auto now = detail::push_lanes(before, g, all.totals());
    all.template write<Inclusive>(detail::left_of<HasBase>(bases, within, now, g), !HasBase && g == 0, results, g);
    within = now;
  }
  if (g * square == count) return;
  const int whole = (count - g * square) / lanes;
  const several some(items, g, whole);
  const auto now = detail::push_lanes(before, g, some.totals());
  const auto left = detail::left_of<HasBase>(bases, within, now, g);
  some.template write<Inclusive>(left, !HasBase && g == 0, results, g, whole);
  T of_lane[lanes];
  detail::store(of_lane, left);
  T running = of_lane[whole];
  for (int i = g * square + whole * lanes; i < count; ++i) {
    const T item = items[i], through = !HasBase && i == 0 ? item : running + item;
    results[i] = Inclusive ? through : running;
    running = through;
  }
}

#else

template <class T>
inline constexpr bool sums_rows = false;
template <class T>
void reduce_row_of_sums(const T *, T *) {}
template <bool Inclusive, class T>
void scan_row_of_sums(const T *, T, const T *, T *) {}
template <bool Inclusive, bool HasBase, class T>
T scan_row_of_sums(const T *, T base, T *) {
  return base;
}
template <bool Inclusive, bool HasBase, class T>
void scan_row_of_sums(const T *, int, T, T *) {}

#endif

} // namespace lookback::simt
