// SPDX-License-Identifier: MIT
// The two passes over a tile by key whose results are sums of integers, where keys and values wait
// in shared memory. Sums of integers have the same bits in any order, and subtraction inverts them:
// a result is the difference of two prefix sums, one up to the element and one before the head of
// its segment. So rows are scanned without regard to keys, which only the first pass reads.
#pragma once

#include <lookback/tile/scan_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// What a lane remembers of a row between the two passes: the sum of the warp's rows before its
/// vector, and, in the first of the rows that share a word, where segments begin in these rows
/// (heads_in_words).
template <class T>
struct kept_keys {
  unsigned_sum<T> before;
  std::uint32_t heads;
};
/// Bit k of the heads of a row: a segment begins with element k of the lane's vector, which has E
/// elements. As many rows as fit share a word, that of the first of them: registers are scarce.
template <int E>
struct heads_in_words {
  static constexpr int rows = 32 / E;
  LOOKBACK_DEVICE static constexpr int first(int row) { return row / rows * rows; }
  LOOKBACK_DEVICE static std::uint32_t put(unsigned heads, int row) {
    return heads << (E * (row % rows));
  }
  LOOKBACK_DEVICE static unsigned get(std::uint32_t word, int row) {
    return word >> (E * (row % rows)) & ((1u << E) - 1); // mutant: keyed-heads
  }
};
template <class Problem>
struct lane_state_of<Problem, std::enable_if_t<adds_by_key<Problem>>> {
  using type = kept_keys<decltype(Problem::accumulator::value)>;
};

/// Sums of a lane's vector, of which `count` elements are valid, from the sum before it:
/// through[k] up to element k. `element(k)` is its value. Returns the sum before the last head, or
/// 0 if there is none.
template <class Sum, int E, class Element>
LOOKBACK_DEVICE Sum sum_vector(Sum before, unsigned heads, int count, Element element,
                               Sum (&through)[E]) {
  Sum before_head{};
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k) {
    if ((heads >> k & 1) != 0) before_head = before;
    if (k < count) before = static_cast<Sum>(before + static_cast<Sum>(element(k)));
    through[k] = before;
  }
  return before_head;
}

/// The sum before the newest head of a row, if a lane has one; else `newest`.
template <class Sum>
LOOKBACK_DEVICE Sum newest_of(unsigned with_heads, Sum before_head, Sum newest) {
  const Sum last = simt::shuffle(before_head, with_heads != 0 ? simt::highest_bit(with_heads) : 0);
  return with_heads != 0 ? last : newest; // mutant: keyed-newest
}

/// Sums the warp's rows, and writes one aggregate for all of them: the sum from the newest head on.
template <class Rows, class T, int Count, int TileRows, class Operator>
LOOKBACK_DEVICE void reduce_rows(const Rows &rows, uninitialized_array<kept_keys<T>, Count> &kept,
                                 uninitialized_array<keyed<T>, TileRows> &row_aggregates,
                                 segmented_operator<T, Operator> &, lane_exchange<keyed<T>> &) {
  constexpr int E = Rows::shape::vector_elements;
  using sum = unsigned_sum<T>;
  unsigned heads[Count];
  sum before_head[Count], of_vector[Count], through[Count]; // the row up to the lane's vector
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const int count = rows.lane_items(i);
    const auto vector = rows.read(i, count);
    heads[i] = vector.heads();
    sum sums[E];
    before_head[i] = sum_vector(
        sum{}, heads[i], count, [&](int k) { return vector.get(k).value; }, sums);
    of_vector[i] = through[i] = sums[E - 1];
  }
  LOOKBACK_UNROLL
  for (int distance = 1; distance < network::lanes; distance *= 2) {
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const sum left = simt::shuffle_up(through[i], distance);
      if (rows.lane >= distance) {
        simt::keep_branch();
        through[i] = static_cast<sum>(through[i] + left);
      }
    }
  }
  std::uint32_t words[Count] = {};
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    words[heads_in_words<E>::first(i)] |= heads_in_words<E>::put(heads[i], i);
  sum all{}, newest{}; // of the rows so far, and before the newest head
  bool begins = false;
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const auto before = static_cast<sum>(all + through[i] - of_vector[i]); // mutant: keyed-before
    construct(kept[i], kept_keys<T>{before, words[i]});
    const unsigned with_heads = simt::ballot(heads[i] != 0);
    newest = newest_of(with_heads, static_cast<sum>(before + before_head[i]), newest);
    begins = begins || with_heads != 0;
    all = static_cast<sum>(all + simt::broadcast(through[i], simt::warp_threads - 1));
  }
  write_aggregate(rows, row_aggregates, keyed<T>{T{}, false},
                  keyed<T>{static_cast<T>(all - newest), begins});
}

/// Stores the results of row i of the warp. `newest`: the sum of the warp's rows before the head of
/// the segment that is open where the row begins; it becomes that of the next row.
template <bool FullRow, class Rows, class T>
LOOKBACK_DEVICE void subtract_row(const Rows &rows, int i, unsigned_sum<T> before_row,
                                  unsigned heads, unsigned_sum<T> &newest, bool vector_stores) {
  using problem = typename Rows::problem_type;
  using sum = unsigned_sum<T>;
  constexpr int E = Rows::shape::vector_elements;
  const int items = FullRow ? Rows::shape::row_elements : rows.items(i);
  const int count = FullRow ? E : rows.lane_items(i);
  const auto is_head = [&](int k) { return (heads >> k & 1) != 0; };
  const auto values = rows.template read_array<0>(i);
  sum through[E];
  const sum before_head = sum_vector(
      before_row, heads, count,
      [&](int k) { return rows.problem.input.element(values.get(k), is_head(k)).value; }, through);
  const unsigned with_heads = simt::ballot(heads != 0),
                 below = with_heads & ((1u << rows.lane) - 1); // mutant: keyed-below
  sum start = newest_of(below, before_head, newest);
  newest = newest_of(with_heads, before_head, newest);
  lane_vector<typename problem::stored, E> results;
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k) {
    const sum before = k > 0 ? through[k - 1] : before_row;
    if (is_head(k)) start = before; // mutant: keyed-start
    const auto scanned = static_cast<T>((problem::inclusive ? through[k] : before) - start);
    results.set(k, static_cast<typename problem::stored>(rows.problem.sink.project(
                       keyed<T>{scanned, true}, keyed<T>{scanned, is_head(k)})));
  }
  store_results(rows, i, items, vector_stores, results);
}

/// Stores the results of the warp's rows, from the prefix of the tile, from `row_prefix(row)`,
/// which returns R(row - 1), and from what the lanes remember.
template <bool Alone, class Rows, class T, int Count, class RowPrefix, class Operator>
LOOKBACK_DEVICE void
scan_rows(const Rows &rows, const maybe<keyed<T>> &prefix, RowPrefix row_prefix,
          const uninitialized_array<kept_keys<T>, Count> &kept, bool vector_stores,
          segmented_operator<T, Operator> &, lane_exchange<keyed<T>> &) {
  using sum = unsigned_sum<T>;
  keyed<T> left{T{}, false}, above{T{}, false}; // of the tile, and of its rows before these
  if (prefix.exists()) left = prefix.value();
  if (rows.first_row > 0) above = row_prefix(rows.first_row);
  auto open = static_cast<sum>(above.value); // the sum, up to the rows, of the open segment
  if (!above.head) open = static_cast<sum>(open + static_cast<sum>(left.value));
  // That segment began before these rows, so this is minus its sum so far (modulo 2^bits).
  auto newest = static_cast<sum>(0 - open);
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    set_group_prefix(rows.problem, rows.tile, rows.row(i) * simt::warp_threads + rows.lane, prefix);
    using in_words = heads_in_words<Rows::shape::vector_elements>;
    const unsigned heads = in_words::get(kept[in_words::first(i)].heads, i);
    const int items = rows.items(i);
    if (Rows::full ||
        (Alone && LOOKBACK_LIKELY(vector_stores && items == Rows::shape::row_elements)))
      subtract_row<true, Rows, T>(rows, i, kept[i].before, heads, newest, vector_stores);
    else if (items > 0)
      subtract_row<false, Rows, T>(rows, i, kept[i].before, heads, newest, vector_stores);
    else
      break;
  }
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
