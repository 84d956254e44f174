// SPDX-License-Identifier: MIT
// Sums of floating-point numbers by rows of the tree (core/tree.cuh), in the vectors of a CPU: as many of a row's lanes at once as 16
// bytes have elements. A compiler's own code for them takes up to twice as long, and for doubles longer than a serial loop: it
// moves one element at a time to where it can be added.
#pragma once

#include <lookback/core/simt_host.cuh>
#include <lookback/core/simt_lanes.cuh>

#include <type_traits>

namespace lookback::simt {

#if defined(__x86_64__) && defined(__SSE2__)

/// Whether the functions below exist for T.
template <class T>
inline constexpr bool sums_rows = std::is_same<T, float>::value || std::is_same<T, double>::value;

namespace detail {

/// Several lanes of each of `Rows` rows, and what is done with them together.
template <class T, int Rows = 1>
struct several_lanes {
  using several = values<T, Rows>;
  static constexpr int count = 16 / sizeof(T), all = 32 / count, row = 32 * count; // lanes, and the elements of each
  static constexpr int pace = lines_to_come::pace / (16 * count * Rows); // with every so many, a line that is to come

  /// Lanes count * g and on of the rows that begin at `items`.
  LOOKBACK_HOST_INLINE several_lanes(const T *items, int g) {
    for (int l = 0; l < count; ++l) load(elements[l], items + (g * count + l) * count, row);
    turn(elements);
  }
  /// The same with zeros behind the first `existing`.
  LOOKBACK_HOST_INLINE several_lanes(const T *items, int g, int existing) {
    for (int l = 0; l < count; ++l) {
      elements[l] = several{};
      if (l < existing) load(elements[l], items + (g * count + l) * count, row);
    }
    turn(elements);
  }
  LOOKBACK_HOST_INLINE void add_up(several &totals) const {
    totals = elements[0];
    for (int k = 1; k < count; ++k) totals = totals + elements[k];
  }
  /// Results of the first `existing`, from everything left of each lane. Of the very first element nothing is: it is its own result.
  template <bool Inclusive, bool Streams = false>
  LOOKBACK_HOST_INLINE void write(several &left, bool very_first, T *results, int g, int existing = count) const {
    several scanned[count];
    for (int k = 0; k < count; ++k) {
      if (!Inclusive) scanned[k] = left;
      left = left + elements[k];
      if (very_first && k == 0) keep_one(elements[0], left);
      if (Inclusive) scanned[k] = left;
    }
    turn(scanned);
    for (int l = 0; l < count && l < existing; ++l) {
      if constexpr (Streams)
        stream(results + (g * count + l) * count, scanned[l]);
      else
        store(results + (g * count + l) * count, row, scanned[l]);
    }
  }

  several elements[count]; // element k of all lanes side by side
};

/// The network of core/tree.cuh over the lanes of a row, several after several.
template <class T, int Rows = 1>
class network_of_sums {
  using several = values<T, Rows>;
  static constexpr int count = several_lanes<T>::count;

public:
  /// x, the totals of the g-th several lanes, becomes V of them.
  LOOKBACK_HOST_INLINE void push(int g, several &x) {
    several moved = before_[0][g] = x;
    move_one(g == 0 ? x : before_[0][g - 1], moved);
    moved = moved + x;
    if (g == 0) keep_one(x, moved);
    before_[1][g] = moved;
    if constexpr (count > 2) {
      x = moved;
      move_two(g == 0 ? moved : before_[1][g - 1], x);
      x = x + moved;
      if (g == 0) keep_two(moved, x);
    } else {
      x = g == 0 ? moved : before_[1][g - 1] + moved;
    }
    before_[2][g] = x;
    if (g >= 4 / count) x = before_[2][g - 4 / count] + x;
    before_[3][g] = x;
    if (g >= 8 / count) x = before_[3][g - 8 / count] + x;
    before_[4][g] = x;
    if (g >= 16 / count) x = before_[4][g - 16 / count] + x;
  }

private:
  several before_[5][several_lanes<T>::all]; // as they are before each step
};

template <int Rows, class T>
LOOKBACK_HOST_INLINE void reduce_rows(const T *items, T *lanes, lines_to_come &coming) {
  using some = several_lanes<T, Rows>;
  network_of_sums<T, Rows> network;
  values<T, Rows> x;
  LOOKBACK_HOST_UNROLL
  for (int g = 0; g < some::all; ++g) {
    if (g % some::pace == 0) coming.ask();
    some(items, g).add_up(x), network.push(g, x);
    store(lanes + g * some::count, 32, x);
  }
}
template <int Rows, bool Inclusive, bool Streams, class T>
LOOKBACK_HOST_INLINE void scan_rows(const T *items, const T *bases, const T *lanes, T *results, lines_to_come &coming) {
  using some = several_lanes<T, Rows>;
  values<T, Rows> base, left;
  fill(base, bases);
  load(left, lanes, 32);
  move_one(left, left);
  left = base + left;
  keep_one(base, left);
  for (int g = 0; g < some::all; ++g) {
    if (g > 0) {
      load(left, lanes + g * some::count - 1, 32);
      left = base + left;
    }
    if (g % some::pace == 0) coming.ask();
    some(items, g).template write<Inclusive, Streams>(left, false, results, g);
  }
}
#if defined(LOOKBACK_AVX)
template <class T>
LOOKBACK_AVX void reduce_two_rows(const T *items, T *lanes, lines_to_come &coming) {
  reduce_rows<2>(items, lanes, coming);
}
template <bool Inclusive, class T>
LOOKBACK_AVX void scan_two_rows(const T *items, const T *bases, const T *lanes, T *results, lines_to_come &coming) {
  scan_rows<2, Inclusive, false>(items, bases, lanes, results, coming);
}
#endif

/// Everything left of several lanes of a row, of which `now` is V and `before` of the lanes before them: becomes `before`. Left of
/// the row are `bases`, or nothing.
template <bool HasBase, class Values>
LOOKBACK_HOST_INLINE void move_left(const Values &bases, Values &before, const Values &now, int g) {
  Values left = now;
  move_one(before, left);
  if (HasBase) left = bases + left;
  if (HasBase && g == 0) keep_one(bases, left);
  before = left;
}

} // namespace detail

/// V of `rows` whole rows of `items`, to `lanes`: (rows, 32). Meanwhile asks for what is `coming`, as the next does.
template <class T>
void reduce_rows_of_sums(const T *items, int rows, T *lanes, lines_to_come &coming) {
  constexpr int row = detail::several_lanes<T>::row;
  int r = 0;
#if defined(LOOKBACK_AVX)
  if (detail::has_avx())
    for (; r + 1 < rows; r += 2) detail::reduce_two_rows(items + r * row, lanes + r * 32, coming);
#endif
  for (; r < rows; ++r) detail::reduce_rows<1>(items + r * row, lanes + r * 32, coming);
}

/// Results of `rows` whole rows of `items`, which may be where these are, from what is left of each row, `bases`, and V of its `lanes`.
/// `Streams`: past the caches, to a place aligned to 16 bytes.
template <bool Inclusive, bool Streams, class T>
void scan_rows_of_sums(const T *items, int rows, const T *bases, const T *lanes, T *results, lines_to_come &coming) {
  constexpr int row = detail::several_lanes<T>::row;
  int r = 0;
#if defined(LOOKBACK_AVX)
  if (!Streams && detail::has_avx()) // lines past the caches are to be filled one after the other
    for (; r + 1 < rows; r += 2)
      detail::scan_two_rows<Inclusive>(items + r * row, bases + r, lanes + r * 32, results + r * row, coming);
#endif
  for (; r < rows; ++r)
    detail::scan_rows<1, Inclusive, Streams>(items + r * row, bases + r, lanes + r * 32, results + r * row, coming);
}

/// Both at once, of one row. With `HasBase`, `base` is everything left of the row, otherwise nothing is. Returns V of its last lane.
template <bool Inclusive, bool HasBase, class T>
T scan_row_of_sums(const T *items, T base, T *results) {
  using some = detail::several_lanes<T>;
  detail::network_of_sums<T> network;
  detail::values<T, 1> bases, now;
  detail::fill(bases, &base);
  now = bases;
  LOOKBACK_HOST_UNROLL
  for (int g = 0; g < some::all; ++g) {
    const some lanes(items, g);
    auto left = now;
    lanes.add_up(now);
    network.push(g, now);
    detail::move_left<HasBase>(bases, left, now, g);
    lanes.template write<Inclusive>(left, !HasBase && g == 0, results, g);
  }
  return detail::last_of(now);
}

/// The same of a row's first `count` elements.
template <bool Inclusive, bool HasBase, class T>
void scan_row_of_sums(const T *items, int count, T base, T *results) {
  using some = detail::several_lanes<T>;
  constexpr int square = some::count * some::count;
  detail::network_of_sums<T> network;
  detail::values<T, 1> bases, now;
  detail::fill(bases, &base);
  now = bases;
  int whole = some::count;
  for (int g = 0; g * square < count; ++g) {
    if ((g + 1) * square > count) whole = (count - g * square) / some::count;
    const some lanes = whole == some::count ? some(items, g) : some(items, g, whole);
    auto left = now;
    lanes.add_up(now);
    network.push(g, now);
    detail::move_left<HasBase>(bases, left, now, g);
    T of_lane[some::count];
    detail::store(of_lane, 0, left);
    lanes.template write<Inclusive>(left, !HasBase && g == 0, results, g, whole);
    if (whole == some::count) continue;
    T running = of_lane[whole];
    for (int i = g * square + whole * some::count; i < count; ++i) {
      const T through = !HasBase && i == 0 ? items[i] : running + items[i]; // read before it may be written over
      results[i] = Inclusive ? through : running;
      running = through;
    }
  }
}

#else

template <class T>
inline constexpr bool sums_rows = false;
template <class T>
void reduce_rows_of_sums(const T *, int, T *, lines_to_come &) {}
template <bool Inclusive, bool Streams, class T>
void scan_rows_of_sums(const T *, int, const T *, const T *, T *, lines_to_come &) {}
template <bool Inclusive, bool HasBase, class T>
T scan_row_of_sums(const T *, T base, T *) {
  return base;
}
template <bool Inclusive, bool HasBase, class T>
void scan_row_of_sums(const T *, int, T, T *) {}

#endif

} // namespace lookback::simt
