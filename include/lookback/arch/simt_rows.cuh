// SPDX-License-Identifier: MIT
// Scans of floating-point sums by rows of the tree (core/tree.cuh) in CPU vectors: as many of a
// row's lanes at once as 16 bytes hold elements. Code that a compiler vectorises takes up to twice
// as long, and for doubles longer than a serial loop, because it moves elements into place one at a
// time.
#pragma once

#include <lookback/arch/simt_host.cuh>
#include <lookback/arch/simt_lanes.cuh>

#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace simt {

#if defined(__x86_64__) && defined(__SSE2__)

/// Whether the functions below support T.
template <class T>
inline constexpr bool sums_rows = std::is_same<T, float>::value || std::is_same<T, double>::value;

namespace detail {

/// A pack of `count` adjacent lanes of each of `Rows` rows, which are processed together.
template <class T, int Rows = 1>
struct lane_pack {
  using vector = values<T, Rows>;
  static constexpr int count = 16 / sizeof(T); // lanes of a pack, and elements of a lane
  static constexpr int packs = 32 / count;     // of a row
  static constexpr int row = 32 * count;       // elements
  static constexpr int pace =
      line_prefetcher::pace / (16 * count * Rows); // packs for each prefetched line

  /// Pack g, from lane count * g on, of the rows that begin at `items`.
  LOOKBACK_HOST_INLINE lane_pack(const T *items, int g) {
    for (int l = 0; l < count; ++l) load(elements[l], items + (g * count + l) * count, row);
    transpose(elements);
  }
  /// The same with zeros after the first `valid_lanes` lanes.
  LOOKBACK_HOST_INLINE lane_pack(const T *items, int g, int valid_lanes) {
    for (int l = 0; l < count; ++l) {
      elements[l] = vector{};
      if (l < valid_lanes) load(elements[l], items + (g * count + l) * count, row);
    }
    transpose(elements);
  }
  LOOKBACK_HOST_INLINE void add_up(vector &aggregates) const {
    aggregates = elements[0];
    for (int k = 1; k < count; ++k) aggregates = aggregates + elements[k];
  }
  /// Writes the results of the first `valid_lanes` lanes from the prefix of each lane. With
  /// `very_first`, the first element has no prefix: it is its own result.
  template <bool Inclusive, bool Streams = false>
  LOOKBACK_HOST_INLINE void write(vector &prefix, bool very_first, T *results, int g,
                                  int valid_lanes = count) const {
    vector scanned[count];
    for (int k = 0; k < count; ++k) {
      if (!Inclusive) scanned[k] = prefix;
      prefix = prefix + elements[k];
      if (very_first && k == 0) keep_one(elements[0], prefix);
      if (Inclusive) scanned[k] = prefix;
    }
    transpose(scanned);
    for (int l = 0; l < count && l < valid_lanes; ++l) {
      if constexpr (Streams)
        stream(results + (g * count + l) * count, scanned[l]);
      else
        store(results + (g * count + l) * count, row, scanned[l]);
    }
  }

  vector elements[count]; // elements[k]: element k of every lane
};

/// The network of core/tree.cuh over the lanes of a row, one pack after another.
template <class T, int Rows = 1>
class network_of_sums {
  using vector = values<T, Rows>;
  static constexpr int count = lane_pack<T>::count;

public:
  /// Turns x, the aggregates of the lanes of pack g, into their V.
  LOOKBACK_HOST_INLINE void push(int g, vector &x) {
    vector moved = before_[0][g] = x;
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
  vector before_[5][lane_pack<T>::packs]; // the packs before each step
};

template <int Rows, class T>
LOOKBACK_HOST_INLINE void reduce_rows(const T *items, T *lanes, line_prefetcher &prefetcher) {
  using pack = lane_pack<T, Rows>;
  network_of_sums<T, Rows> network;
  values<T, Rows> x;
  LOOKBACK_HOST_UNROLL
  for (int g = 0; g < pack::packs; ++g) {
    if (g % pack::pace == 0) prefetcher.prefetch();
    pack(items, g).add_up(x), network.push(g, x);
    store(lanes + g * pack::count, 32, x);
  }
}
template <int Rows, bool Inclusive, bool Streams, class T>
LOOKBACK_HOST_INLINE void scan_rows(const T *items, const T *row_prefixes, const T *lanes,
                                    T *results, line_prefetcher &prefetcher) {
  using pack = lane_pack<T, Rows>;
  values<T, Rows> row_prefix, lane_prefix;
  fill(row_prefix, row_prefixes);
  load(lane_prefix, lanes, 32);
  move_one(lane_prefix, lane_prefix);
  lane_prefix = row_prefix + lane_prefix;
  keep_one(row_prefix, lane_prefix);
  for (int g = 0; g < pack::packs; ++g) {
    if (g > 0) {
      load(lane_prefix, lanes + g * pack::count - 1, 32);
      lane_prefix = row_prefix + lane_prefix;
    }
    if (g % pack::pace == 0) prefetcher.prefetch();
    pack(items, g).template write<Inclusive, Streams>(lane_prefix, false, results, g);
  }
}
#if defined(LOOKBACK_AVX)
template <class T>
LOOKBACK_AVX void reduce_two_rows(const T *items, T *lanes, line_prefetcher &prefetcher) {
  reduce_rows<2>(items, lanes, prefetcher);
}
template <bool Inclusive, class T>
LOOKBACK_AVX void scan_two_rows(const T *items, const T *row_prefixes, const T *lanes, T *results,
                                line_prefetcher &prefetcher) {
  scan_rows<2, Inclusive, false>(items, row_prefixes, lanes, results, prefetcher);
}
#endif

/// Turns `before`, V of the previous pack, into the prefixes of the lanes of pack g. `now` is V of
/// pack g, and `row_prefix` the prefix of the row, if it has one.
template <bool HasPrefix, class Values>
LOOKBACK_HOST_INLINE void to_lane_prefixes(const Values &row_prefix, Values &before,
                                           const Values &now, int g) {
  Values prefix = now;
  move_one(before, prefix);
  if (HasPrefix) prefix = row_prefix + prefix;
  if (HasPrefix && g == 0) keep_one(row_prefix, prefix);
  before = prefix;
}

} // namespace detail

/// Writes V of `rows` full rows of `items` to `lanes`: (rows, 32). Prefetches between packs, as
/// does the next function.
template <class T>
void reduce_rows_of_sums(const T *items, int rows, T *lanes, line_prefetcher &prefetcher) {
  constexpr int row = detail::lane_pack<T>::row;
  int r = 0;
#if defined(LOOKBACK_AVX)
  if (detail::has_avx())
    for (; r + 1 < rows; r += 2)
      detail::reduce_two_rows(items + r * row, lanes + r * 32, prefetcher);
#endif
  for (; r < rows; ++r) detail::reduce_rows<1>(items + r * row, lanes + r * 32, prefetcher);
}

/// Writes the results of `rows` full rows of `items`, possibly in place, from the prefix of each
/// row and V of its lanes. With `Streams`, the stores go past the caches, and `results` is aligned
/// to 16 bytes.
template <bool Inclusive, bool Streams, class T>
void scan_rows_of_sums(const T *items, int rows, const T *row_prefixes, const T *lanes, T *results,
                       line_prefetcher &prefetcher) {
  constexpr int row = detail::lane_pack<T>::row;
  int r = 0;
#if defined(LOOKBACK_AVX)
  if (!Streams && detail::has_avx()) // streams should fill one cache line after another
    for (; r + 1 < rows; r += 2)
      detail::scan_two_rows<Inclusive>(items + r * row, row_prefixes + r, lanes + r * 32,
                                       results + r * row, prefetcher);
#endif
  for (; r < rows; ++r)
    detail::scan_rows<1, Inclusive, Streams>(items + r * row, row_prefixes + r, lanes + r * 32,
                                             results + r * row, prefetcher);
}

/// Reduces one row and writes its results. Without `HasPrefix`, the row has no prefix. Returns V of
/// its last lane.
template <bool Inclusive, bool HasPrefix, class T>
T scan_row_of_sums(const T *items, T prefix, T *results) {
  using pack = detail::lane_pack<T>;
  detail::network_of_sums<T> network;
  detail::values<T, 1> row_prefix, now;
  detail::fill(row_prefix, &prefix);
  now = row_prefix;
  LOOKBACK_HOST_UNROLL
  for (int g = 0; g < pack::packs; ++g) {
    const pack lanes(items, g);
    auto lane_prefix = now;
    lanes.add_up(now);
    network.push(g, now);
    detail::to_lane_prefixes<HasPrefix>(row_prefix, lane_prefix, now, g);
    lanes.template write<Inclusive>(lane_prefix, !HasPrefix && g == 0, results, g);
  }
  return detail::last_of(now);
}

/// The same for a row's first `count` elements.
template <bool Inclusive, bool HasPrefix, class T>
void scan_row_of_sums(const T *items, int count, T prefix, T *results) {
  using pack = detail::lane_pack<T>;
  constexpr int pack_elements = pack::count * pack::count;
  detail::network_of_sums<T> network;
  detail::values<T, 1> row_prefix, now;
  detail::fill(row_prefix, &prefix);
  now = row_prefix;
  int full_lanes = pack::count;
  for (int g = 0; g * pack_elements < count; ++g) {
    if ((g + 1) * pack_elements > count) full_lanes = (count - g * pack_elements) / pack::count;
    const pack lanes = full_lanes == pack::count ? pack(items, g) : pack(items, g, full_lanes);
    auto lane_prefix = now;
    lanes.add_up(now);
    network.push(g, now);
    detail::to_lane_prefixes<HasPrefix>(row_prefix, lane_prefix, now, g);
    T prefixes[pack::count];
    detail::store(prefixes, 0, lane_prefix);
    lanes.template write<Inclusive>(lane_prefix, !HasPrefix && g == 0, results, g, full_lanes);
    if (full_lanes == pack::count) continue;
    T running = prefixes[full_lanes];
    for (int i = g * pack_elements + full_lanes * pack::count; i < count; ++i) {
      const T through = !HasPrefix && i == 0
                            ? items[i]
                            : running + items[i]; // read before the result may overwrite it
      results[i] = Inclusive ? through : running;
      running = through;
    }
  }
}

#else

template <class T>
inline constexpr bool sums_rows = false;
template <class T>
void reduce_rows_of_sums(const T *, int, T *, line_prefetcher &) {}
template <bool Inclusive, bool Streams, class T>
void scan_rows_of_sums(const T *, int, const T *, const T *, T *, line_prefetcher &) {}
template <bool Inclusive, bool HasPrefix, class T>
T scan_row_of_sums(const T *, T prefix, T *) {
  return prefix;
}
template <bool Inclusive, bool HasPrefix, class T>
void scan_row_of_sums(const T *, int, T, T *) {}

#endif

} // namespace simt
} // namespace LOOKBACK_ABI
} // namespace lookback
