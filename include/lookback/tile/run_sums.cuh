// SPDX-License-Identifier: MIT
// The two passes over a tile of runs whose results are sums of integers, where keys, and values if
// there are any, wait in shared memory. Sums have the same bits in any order, and can be taken
// apart: the sum of a run is the difference of two prefix sums, one where the run begins and one
// where the next begins. So rows are scanned without regard to runs, the first element of a run
// writes the sum of the run before it, and no element needs to know what is behind it. The length
// of a run is the sum of ones, whose prefix sums are the indices.
#pragma once

#include <lookback/tile/runs_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The type of sums of T: they may overflow on the way.
template <class T>
using unsigned_sum = std::make_unsigned_t<T>;

/// What a lane remembers of a row between the two passes: where runs begin, and `open`, the sum of
/// what is before its vector, from the beginning of the newest run in the row, or from that of the
/// row if no run begins in it before the vector.
template <class T, int E, bool Ones>
class kept_sum {
public:
  LOOKBACK_DEVICE kept_sum(kept_items heads, unsigned_sum<T> open) : heads_(heads), open_(open) {}
  LOOKBACK_DEVICE kept_items heads() const { return heads_; }
  LOOKBACK_DEVICE unsigned_sum<T> open() const { return open_; }

private:
  kept_items heads_;
  unsigned_sum<T> open_;
};
/// The same for sums of ones, packed into one word: registers are scarce.
template <class T, int E>
class kept_sum<T, E, true> {
  static constexpr int number_bits = 10; // of a number of items in a row
  static_assert(simt::warp_threads * E < 1 << number_bits, "a number of items must fit");
  using word = std::conditional_t<E + 2 * number_bits <= 32, std::uint32_t, std::uint64_t>;

public:
  LOOKBACK_DEVICE kept_sum(kept_items heads, unsigned open)
      : word_(word{heads.bits()} | word{heads.through()} << E | word{open} << (E + number_bits)) {}
  LOOKBACK_DEVICE kept_items heads() const {
    return {static_cast<unsigned>(word_) & ((1u << E) - 1),
            static_cast<unsigned>(word_ >> E) & ((1u << number_bits) - 1)};
  }
  LOOKBACK_DEVICE unsigned open() const {
    return static_cast<unsigned>(word_ >> (E + number_bits));
  }

private:
  word word_;
};

/// Whether a problem sums ones.
template <class Input>
inline constexpr bool sums_ones = false;
template <class T, class Which, class Keys, class Equal, int TileElements>
inline constexpr bool sums_ones<runs_input<T, Which, Keys, ones<T>, Equal, TileElements>> = true;

template <class Problem>
struct lane_state_of<Problem, std::enable_if_t<subtracts_sums<Problem>>> {
  using type = kept_sum<decltype(Problem::accumulator::value), Problem::shape::vector_elements,
                        sums_ones<typename Problem::input_type>>;
};

/// A lane's sums of a row.
template <class Sum>
struct lane_sums {
  Sum all;     // of its vector
  Sum tail;    // of its vector from the last head on, or of all of it
  Sum through; // of the row up to the end of the vector, once scanned
};
/// Sums of a vector's first `count` items.
template <int E, bool Ones, class Sum, class Vector>
LOOKBACK_DEVICE lane_sums<Sum> sums_of(const Vector &vector, unsigned heads, int count) {
  lane_sums<Sum> sums{};
  if constexpr (Ones) {
    sums.all = static_cast<Sum>(count);
    sums.tail = static_cast<Sum>(heads != 0 ? count - simt::highest_bit(heads) : count);
  } else {
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      const auto x = k < count ? static_cast<Sum>(vector.value_of(k)) : Sum{0};
      sums.all = static_cast<Sum>(sums.all + x);
      sums.tail = (heads >> k & 1) != 0 ? x : static_cast<Sum>(sums.tail + x);
    }
  }
  return sums;
}
/// Scans the sums of all rows: `through` of each lane.
template <int E, bool Ones, class Sum, int Count>
LOOKBACK_DEVICE void scan_sums(lane_sums<Sum> (&sums)[Count], int lane) {
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    sums[i].through = Ones ? static_cast<Sum>(lane * E + sums[i].all) : sums[i].all;
  if constexpr (!Ones) {
    LOOKBACK_UNROLL
    for (int distance = 1; distance < network::lanes; distance *= 2) {
      LOOKBACK_UNROLL
      for (int i = 0; i < Count; ++i) {
        const Sum left = simt::shuffle_up(sums[i].through, distance);
        if (lane >= distance) sums[i].through = static_cast<Sum>(sums[i].through + left);
      }
    }
  }
}

/// Finds where runs begin in the warp's rows, and sums their values. The last lane writes the
/// aggregates of full rows to `row_aggregates`.
template <class Rows, class T, int E, bool Ones, int Count, int TileRows, class Operator>
LOOKBACK_DEVICE void reduce_rows(const Rows &rows,
                                 uninitialized_array<kept_sum<T, E, Ones>, Count> &kept,
                                 uninitialized_array<run_prefix<T>, TileRows> &row_aggregates,
                                 run_operator<T, Operator> &, lane_exchange<run_prefix<T>> &) {
  using shape = typename Rows::shape;
  using sum = unsigned_sum<T>;
  const int lane = rows.lane;
  unsigned heads[Count];
  lane_sums<sum> sums[Count];
  row_counts<Count, shape::row_elements> counts;
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const int count = rows.lane_items(i);
    const auto vector = rows.read(i, count);
    heads[i] = vector.heads(count);
    sums[i] = sums_of<E, Ones, sum>(vector, heads[i], count);
    counts.set(i, simt::count_bits(heads[i]));
  }
  counts.scan(lane);
  scan_sums<E, Ones>(sums, lane);
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const unsigned below = simt::ballot(heads[i] != 0) & ((1u << lane) - 1);
    const auto to_head = static_cast<sum>(sums[i].through - sums[i].tail),
               to_newest = simt::shuffle(to_head, below != 0 ? simt::highest_bit(below) : 0);
    auto open = static_cast<sum>(sums[i].through - sums[i].all);
    if (below != 0) open = static_cast<sum>(open - to_newest); // mutant: sums-newest
    construct(kept[i], kept_sum<T, E, Ones>(kept_items(heads[i], counts.get(i)), open));
    if (lane == shape::row_vectors - 1 && lane < rows.vectors(i)) {
      const auto last = static_cast<sum>(heads[i] != 0 ? sums[i].tail : open + sums[i].all);
      construct(row_aggregates[rows.row(i)], run_prefix<T>{static_cast<T>(last), counts.get(i)});
    }
  }
}

/// The second pass over the rows of a warp.
template <class Rows, class Kept, class T>
class placed_sums {
  using sum = unsigned_sum<T>;
  using problem = typename Rows::problem_type;
  using source = typename Rows::source_type;
  using shape = typename Rows::shape;
  static constexpr int E = shape::vector_elements, count = Rows::count;
  static constexpr int keys = source::arrays - 1; // the array of the keys; array 0 has the values
  using kept_type = uninitialized_array<Kept, count>;

  using output = typename problem::output_type;
  using firsts_type = std::decay_t<decltype(std::declval<const output &>().firsts())>;
  using lasts_type = std::decay_t<decltype(std::declval<const output &>().lasts())>;
  using first_type = typename output_value<firsts_type, T>::type;
  using last_type = typename output_value<lasts_type, T>::type;
  template <int A>
  using element = typename source::template element<A>;
  /// Whether results can pass through the warp's rows in shared memory: no other warp reads there.
  static constexpr bool fit =
      Rows::aligned && fits_room<firsts_type, element<keys>> && fits_room<lasts_type, element<0>>;
  static constexpr bool even = sizeof(first_type) == sizeof(last_type) && sizeof(first_type) <= 8;
  static constexpr std::size_t pair_alignment = // so that one access has all of an even pair
      even                                       ? 2 * sizeof(first_type)
      : alignof(first_type) < alignof(last_type) ? alignof(last_type)
                                                 : alignof(first_type);
  /// What the first element of a run writes: its key, and the sum of the run before it.
  struct alignas(pair_alignment) pair {
    first_type first;
    last_type last;
  };
  /// Pairs for which there is room.
  static constexpr unsigned pairs =
      count * shape::row_elements * sizeof(element<keys>) / sizeof(pair);

public:
  /// `before`: runs that begin to the left of the warp's share. `starts[i]`: those that begin in it
  /// before row i. `last`: index in the share of the last item of all, or -1 if it is elsewhere.
  LOOKBACK_DEVICE placed_sums(const Rows &rows, std::uint64_t before,
                              const unsigned (&starts)[count + 1], const kept_type &kept, int last)
      : rows_(rows), output_(rows.problem.sink.output), before_(before), starts_(starts),
        kept_(kept), last_(last) {}

  /// `open[i]`: the sum of what is before the lane's vector of row i, from where its run begins.
  LOOKBACK_DEVICE void run(const sum (&open)[count]) const {
    if constexpr (fit)
      if (LOOKBACK_LIKELY(is_multiple(output_.firsts()) && is_multiple(output_.lasts())))
        return through_room(open);
    one_by_one(open);
  }

private:
  LOOKBACK_DEVICE const auto &written() const { return output_.written(); }
  /// Calls take(k, value) for every head of a lane's vector with the sum of the run before it. The
  /// lane of the last item of all stores the sum of the last run.
  template <class Vector, class Take>
  LOOKBACK_DEVICE void scan(const Vector &vector, int i, sum open, Take take) const {
    const unsigned heads = kept_[i].heads().bits();
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      if (k >= rows_.lane_items(i)) continue;
      const auto x = static_cast<sum>(vector.value_of(k));
      const bool anew = (heads >> k & 1) != 0;
      if (anew) take(k, static_cast<T>(open));
      open = anew ? x : static_cast<sum>(open + x); // mutant: sums-anew
    }
    const int last = last_ - i * shape::row_elements;
    if (last >= 0 && last / E == rows_.lane)
      output_.lasts()[static_cast<std::ptrdiff_t>(before_ + starts_[count]) - 1] =
          written().last(rows_.first_item() + last_, static_cast<T>(open)); // mutant: sums-last
  }
  /// Rank, among the runs that begin in the share, of the first one of the lane's vector.
  LOOKBACK_DEVICE unsigned rank_of_first(int i) const {
    return starts_[i] + kept_[i].heads().before();
  }

  LOOKBACK_DEVICE void through_room(const sum (&open)[count]) const {
    lane_vector<first_type, E> firsts[count];
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const auto vector = rows_.read(i, rows_.lane_items(i));
      LOOKBACK_UNROLL
      for (int k = 0; k < E; ++k)
        firsts[i].set(
            k, static_cast<first_type>(written().first(rows_.lane_item(i) + k, vector.key_of(k))));
    }
    if (LOOKBACK_LIKELY(starts_[count] <= pairs))
      store_pairs(firsts, open);
    else
      store_vectors(firsts, open);
  }
  /// Calls take(i, k, value) for every head of the rows with the sum of the run before it.
  template <class Take>
  LOOKBACK_DEVICE void scan_all(const sum (&open)[count], Take take) const {
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i)
      scan(rows_.read(i, rows_.lane_items(i)), i, open[i], [&](int k, const T &value) {
        take(i, k, static_cast<last_type>(written().last(rows_.lane_item(i) + k - 1, value)));
      });
  }
  /// Stores keys and sums at once, if there is room for both in the place of the keys. They are
  /// few, so there is little to gain by whole units.
  LOOKBACK_DEVICE void store_pairs(const lane_vector<first_type, E> (&firsts)[count],
                                   const sum (&open)[count]) const {
    auto *const room = reinterpret_cast<pair *>(
        rows_.source.template row_of<Rows::aligned, keys>(rows_.stage, rows_.first_row));
    simt::synchronize_warp(); // every lane has read its keys // mutant: pairs-reuse
    pair *at[count];
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) at[i] = room + rank_of_first(i);
    scan_all(open, [&](int i, int k, const last_type &value) {
      construct(*at[i]++, pair{firsts[i].get(k), value});
    });
    simt::synchronize_warp(); // mutant: pairs-results
    for (unsigned j = static_cast<unsigned>(rows_.lane); j < starts_[count];
         j += simt::warp_threads) {
      const pair own = room[j];
      const auto rank = static_cast<std::ptrdiff_t>(before_ + j);
      output_.firsts()[rank] = own.first;
      if (rank > 0) output_.lasts()[rank - 1] = own.last;
    }
  }
  /// Stores the keys, then the sums, in whole units.
  LOOKBACK_DEVICE void store_vectors(const lane_vector<first_type, E> (&firsts)[count],
                                     const sum (&open)[count]) const {
    lane_vector<last_type, E> lasts[count]; // of the runs before these
    scan_all(open, [&](int i, int k, const last_type &value) { lasts[i].set(k, value); });
    const unsigned begun = starts_[count];
    const auto to = static_cast<std::ptrdiff_t>(before_);
    store_chosen<keys, false>(rows_, firsts, output_.firsts() + to, begun, [&](int i) {
      return chosen_items{kept_[i].heads().bits(), rank_of_first(i)};
    });
    // No run is before the first of all.
    const unsigned skipped = before_ == 0 ? 1 : 0; // mutant: sums-none
    store_chosen<0, false>(
        rows_, lasts, output_.lasts() + (to - 1 + skipped), begun - skipped, [&](int i) {
          const unsigned first = rows_.lane == 0 && i == 0 ? skipped : 0;
          return chosen_items{kept_[i].heads().bits() & ~first, rank_of_first(i) + first - skipped};
        });
  }

  LOOKBACK_DEVICE void one_by_one(const sum (&open)[count]) const {
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const auto vector = rows_.read(i, rows_.lane_items(i));
      const std::ptrdiff_t item = rows_.lane_item(i);
      auto rank = static_cast<std::ptrdiff_t>(before_ + rank_of_first(i));
      scan(vector, i, open[i], [&](int k, const T &value) {
        output_.firsts()[rank] = written().first(item + k, vector.key_of(k));
        if (rank > 0) output_.lasts()[rank - 1] = written().last(item + k - 1, value);
        ++rank;
      });
    }
  }

  const Rows &rows_;
  const output &output_;
  const std::uint64_t before_;
  const unsigned (&starts_)[count + 1];
  const kept_type &kept_;
  const int last_;
};

/// Places the results of the warp's rows, from the prefix of the tile, `row_prefix(row)`, which
/// returns R(row - 1), and what the lanes remember. The warp of the last element passes on the
/// number of runs.
template <bool, class Rows, class T, int E, bool Ones, int Count, class RowPrefix, class Operator>
LOOKBACK_DEVICE void scan_rows(const Rows &rows, const maybe<run_prefix<T>> &prefix,
                               RowPrefix row_prefix,
                               const uninitialized_array<kept_sum<T, E, Ones>, Count> &kept, bool,
                               run_operator<T, Operator> &, lane_exchange<run_prefix<T>> &) {
  using sum = unsigned_sum<T>;
  run_prefix<T> left{0, 0}; // of the tile
  if (prefix.exists()) left = prefix.value();
  std::uint64_t before = left.runs;
  unsigned starts[Count + 1];
  starts[0] = 0;
  sum open[Count];
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    run_prefix<T> above{0, 0}; // of the rows of the tile before this one
    if (rows.row(i) > 0) above = row_prefix(rows.row(i));
    if (i == 0) before += above.runs;
    open[i] = static_cast<sum>(kept[i].open());
    if (kept[i].heads().before() == 0) { // mutant: sums-beside
      open[i] = static_cast<sum>(open[i] + static_cast<sum>(above.value));
      if (above.runs == 0) open[i] = static_cast<sum>(open[i] + static_cast<sum>(left.value));
    }
    starts[i + 1] = starts[i] + simt::broadcast(kept[i].heads().through(), simt::warp_threads - 1);
  }
  const int last = rows.last_of_all();
  placed_sums<Rows, kept_sum<T, E, Ones>, T>(rows, before, starts, kept, last).run(open);
  if (last >= 0 && rows.lane == 0)
    rows.problem.sink.set_number(before + starts[Count]); // mutant: sums-total
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
