// SPDX-License-Identifier: MIT
// The two passes over a tile of runs whose keys wait in shared memory. A lane remembers of a row
// where runs begin and end, so that numbers of runs need no exchange of 64 bits a step, and results
// leave in whole units.
#pragma once

#include <lookback/block/staged_runs.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/tile/kept_items.cuh>
#include <lookback/tile/results_in_room.cuh>
#include <lookback/tile/warp_rows.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether a problem has results for runs whose keys wait in shared memory.
template <class Problem>
inline constexpr bool places_runs = can_stage<Problem> &&counts_runs<typename Problem::accumulator>;

/// Whether the results of runs are differences of prefix sums (tile/run_sums.cuh).
template <class Problem>
inline constexpr bool subtracts_sums = places_runs<Problem>
    &&adds_integers_of_runs<typename Problem::input_type, decltype(Problem::op)>;

/// The array of a problem that only the first pass over a tile reads: the keys of sums by key; the
/// values of sums of runs (tile/run_sums.cuh), unless they are more than twice as wide as keys:
/// then there is room for few beginnings, and values that are read again cost more.
template <class Problem>
constexpr int find_array_apart() {
  if constexpr (subtracts_sums<Problem>) {
    using staged = staged_input<typename Problem::input_type>;
    constexpr int keys = staged::arrays - 1;
    return keys == 1 && 2 * sizeof(typename staged::template element<keys>) >=
                            sizeof(typename staged::template element<0>)
               ? 0
               : no_array;
  }
  return adds_by_key<Problem> && !marks_heads<Problem> ? 1 : no_array;
}
template <class Problem>
inline constexpr int array_apart = find_array_apart<Problem>();

/// What a lane remembers of a row between the two passes: V(lane), which is the reduction of the
/// values of the last run and the number of runs that begin in the row up to its last element, and
/// the sides of its elements.
template <class T, int E>
class kept_runs {
  using word = std::conditional_t<(E <= 8), std::uint32_t, std::uint64_t>;

public:
  LOOKBACK_DEVICE kept_runs(const T &value, side_bits sides, unsigned through)
      : value_(value), word_(word{sides.begins} | word{sides.ends} << E | word{through} << 2 * E) {}
  LOOKBACK_DEVICE const T &value() const { return value_; }
  LOOKBACK_DEVICE side_bits sides() const {
    constexpr unsigned mask = (1u << E) - 1;
    return {static_cast<unsigned>(word_) & mask, static_cast<unsigned>(word_ >> E) & mask};
  }
  LOOKBACK_DEVICE unsigned through() const { return static_cast<unsigned>(word_ >> 2 * E); }
  LOOKBACK_DEVICE unsigned before() const {
    return through() - simt::count_bits(sides().begins); // mutant: runs-before
  }

private:
  T value_;
  word word_;
};

template <class Problem>
struct lane_state_of<Problem, std::enable_if_t<places_runs<Problem> && !subtracts_sums<Problem>>> {
  using type = kept_runs<decltype(Problem::accumulator::value), Problem::shape::vector_elements>;
};

/// Finds the runs of the warp's rows and reduces their values. The last lane writes the aggregates
/// of full rows to `row_aggregates`.
template <class Rows, class T, int E, int Count, int TileRows, class Operator>
LOOKBACK_DEVICE void reduce_rows(const Rows &rows,
                                 uninitialized_array<kept_runs<T, E>, Count> &kept,
                                 uninitialized_array<run_prefix<T>, TileRows> &row_aggregates,
                                 run_operator<T, Operator> &op, lane_exchange<run_prefix<T>> &) {
  using shape = typename Rows::shape;
  const int lane = rows.lane;
  uninitialized_array<T, Count> values;
  side_bits sides[Count];
  unsigned begun[Count]; // lanes at or below this one, as bits
  row_counts<Count, shape::row_elements> counts;
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const int count = rows.lane_items(i);
    const auto vector = rows.read(i, count);
    sides[i] = vector.sides();
    construct(values[i], vector.value_of(0));
    LOOKBACK_UNROLL
    for (int k = 1; k < E; ++k) {
      if (k >= count) continue;
      const T own = vector.value_of(k);
      const bool anew = (sides[i].begins >> k & 1) != 0; // mutant: runs-fold
      construct(values[i], anew ? own : static_cast<T>(op.op(values[i], own)));
    }
    begun[i] = simt::ballot(sides[i].begins != 0) << (simt::warp_threads - 1 - lane);
    counts.set(i, simt::count_bits(sides[i].begins));
  }
  unsigned before[Count], starts[Count + 1];
  counts.scan(lane, before, starts);
  LOOKBACK_UNROLL
  for (int distance = 1; distance < network::lanes; distance *= 2) {
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const T left = simt::shuffle_up(values[i], distance);
      const bool alone = begun[i] >> (simt::warp_threads - distance) != 0; // mutant: runs-network
      if (lane < rows.vectors(i) && lane >= distance && !alone)
        construct(values[i], static_cast<T>(op.op(left, values[i])));
    }
  }
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const unsigned through = before[i] - starts[i] + simt::count_bits(sides[i].begins);
    construct(kept[i], kept_runs<T, E>(values[i], sides[i], through));
    if (lane == shape::row_vectors - 1 && lane < rows.vectors(i))
      construct(row_aggregates[rows.row(i)], run_prefix<T>{values[i], through});
  }
}

/// Rows of runs. The source's array of the keys is `keys`; array 0 has the values.
template <class Rows>
struct rows_of_runs {
  using source = typename Rows::source_type;
  static constexpr int E = Rows::shape::vector_elements, count = Rows::count,
                       keys = source::arrays - 1;
  template <int A>
  using element = typename source::template element<A>;
};

/// The second pass over the rows of a warp.
template <class Rows, class T, class Operator>
class placed_runs : rows_of_runs<Rows> {
  using base = rows_of_runs<Rows>;
  using base::count, base::E, base::keys;
  template <int A>
  using element = typename base::template element<A>;
  using kept_type = uninitialized_array<kept_runs<T, E>, count>;

  using output = typename Rows::problem_type::output_type;
  using firsts_type = std::decay_t<decltype(std::declval<const output &>().firsts())>;
  using lasts_type = std::decay_t<decltype(std::declval<const output &>().lasts())>;
  /// Whether results can pass through the warp's rows in shared memory: no other warp reads there.
  static constexpr bool fit =
      Rows::aligned && fits_room<firsts_type, element<keys>> && fits_room<lasts_type, element<0>>;

public:
  /// `before`: runs that begin to the left of the warp's share. `starts[i]`: those that begin in it
  /// before row i.
  LOOKBACK_DEVICE placed_runs(const Rows &rows, std::uint64_t before,
                              const unsigned (&starts)[count + 1], const kept_type &kept,
                              Operator &op)
      : rows_(rows), output_(rows.problem.sink.output), before_(before), starts_(starts),
        kept_(kept), op_(op) {}

  /// `left[i]`: the reduction of the values to the left of the lane's vector of row i, up to where
  /// their run begins.
  LOOKBACK_DEVICE void run(const maybe<T> (&left)[count]) const {
    if constexpr (fit)
      if (LOOKBACK_LIKELY(is_multiple(output_.firsts()) && is_multiple(output_.lasts())))
        return through_room(left);
    one_by_one(left);
  }

private:
  LOOKBACK_DEVICE const auto &written() const { return output_.written(); }
  /// Calls take(k, value) for the valid elements of a vector with the reduction up to each.
  template <class Vector, class Take>
  LOOKBACK_DEVICE void scan(const Vector &vector, int i, maybe<T> through, Take take) const {
    const side_bits sides = kept_[i].sides();
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      if (k >= rows_.lane_items(i)) continue;
      if ((sides.begins >> k & 1) != 0) // mutant: runs-anew
        through.set(vector.value_of(k));
      else
        through.append(op_, vector.value_of(k));
      take(k, through.value());
    }
  }

  /// Rank, among the runs that begin in the share, of the first one of the lane's vector.
  LOOKBACK_DEVICE unsigned rank_of_first(int i) const {
    return starts_[i] + kept_[i].before(); // mutant: runs-first
  }
  /// Place of the run that ends first in a lane's vector. Place 0 is the run that is open where the
  /// share begins; places 1, 2, ... are the runs that begin in it.
  LOOKBACK_DEVICE unsigned place_of_last(int i) const {
    const side_bits sides = kept_[i].sides();
    const unsigned up_to_it = sides.ends & (0u - sides.ends); // the lowest bit
    return rank_of_first(i) + simt::count_bits(sides.begins & (up_to_it | (up_to_it - 1)));
  }

  LOOKBACK_DEVICE void through_room(const maybe<T> (&left)[count]) const {
    using first_type = std::remove_pointer_t<firsts_type>;
    using last_type = std::remove_pointer_t<lasts_type>;
    lane_vector<first_type, E> firsts[count];
    lane_vector<last_type, E> lasts[count];
    const unsigned begun = starts_[count];
    bool ends_open = false, ends_newest = false; // the run of place 0, and of place `begun`
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const auto vector = rows_.read(i, rows_.lane_items(i));
      LOOKBACK_UNROLL
      for (int k = 0; k < E; ++k)
        firsts[i].set(
            k, static_cast<first_type>(written().first(rows_.lane_item(i) + k, vector.key_of(k))));
      scan(vector, i, left[i], [&](int k, const T &value) {
        lasts[i].set(k, static_cast<last_type>(written().last(rows_.lane_item(i) + k, value)));
      });
      const unsigned ends = kept_[i].sides().ends, place = place_of_last(i);
      ends_open = ends_open || (ends != 0 && place == 0);
      ends_newest = ends_newest || (ends != 0 && place + simt::count_bits(ends) - 1 == begun);
    }
    const unsigned skipped = simt::ballot(ends_open) != 0 ? 0 : 1, // mutant: runs-open
        ended = begun + (simt::ballot(ends_newest) != 0 ? 1 : 0);  // mutant: runs-newest
    const auto base = static_cast<std::ptrdiff_t>(before_) - 1;    // of place 0
    if (begun > 0)
      store_chosen<keys, false>(rows_, firsts, output_.firsts() + (base + 1), begun, [&](int i) {
        return chosen_items{kept_[i].sides().begins, rank_of_first(i)};
      });
    if (ended > skipped)
      store_chosen<0, false>(
          rows_, lasts, output_.lasts() + (base + skipped), ended - skipped, [&](int i) {
            return chosen_items{kept_[i].sides().ends, place_of_last(i) - skipped};
          });
  }
  LOOKBACK_DEVICE void one_by_one(const maybe<T> (&left)[count]) const {
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const auto vector = rows_.read(i, rows_.lane_items(i));
      const side_bits sides = kept_[i].sides();
      auto rank = static_cast<std::ptrdiff_t>(before_ + rank_of_first(i)) - 1;
      scan(vector, i, left[i], [&](int k, const T &value) {
        if ((sides.begins >> k & 1) != 0)
          output_.firsts()[++rank] = written().first(rows_.lane_item(i) + k, vector.key_of(k));
        if ((sides.ends >> k & 1) != 0)
          output_.lasts()[rank] = written().last(rows_.lane_item(i) + k, value);
      });
    }
  }

  const Rows &rows_;
  const output &output_;
  const std::uint64_t before_;
  const unsigned (&starts_)[count + 1];
  const kept_type &kept_;
  Operator &op_;
};

/// Places the results of the warp's rows, from the prefix of the tile, `row_prefix(row)`, which
/// returns R(row - 1), and what the lanes remember. The warp of the last element passes on the
/// number of runs.
template <bool, class Rows, class T, int E, int Count, class RowPrefix, class Operator>
LOOKBACK_DEVICE void scan_rows(const Rows &rows, const maybe<run_prefix<T>> &prefix,
                               RowPrefix row_prefix,
                               const uninitialized_array<kept_runs<T, E>, Count> &kept, bool,
                               run_operator<T, Operator> &op, lane_exchange<run_prefix<T>> &) {
  std::uint64_t before = prefix.exists() ? prefix.value().runs : 0;
  unsigned starts[Count + 1];
  starts[0] = 0;
  maybe<T> left[Count];
  const auto follow = [&](int i, const T &value, bool anew) {
    if (anew)
      left[i].set(value);
    else
      left[i].append(op.op, value);
  };
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const run_prefix<T> above = row_prefix(rows.row(i));
    if (i == 0 && rows.first_row > 0) before += above.runs;
    if (prefix.exists()) left[i].set(prefix.value().value);
    const bool some = Rows::full || rows.items(i) > rows.lane * E;
    if (rows.row(i) > 0 && some) follow(i, above.value, above.runs != 0);
    const T beside = simt::shuffle_up(kept[i].value(), 1);
    if (rows.lane > 0 && some) follow(i, beside, kept[i].before() != 0); // mutant: runs-beside
    starts[i + 1] = starts[i] + simt::broadcast(kept[i].through(), simt::warp_threads - 1);
  }
  placed_runs<Rows, T, Operator>(rows, before, starts, kept, op.op).run(left);
  if (rows.last_of_all() >= 0 && rows.lane == 0)
    rows.problem.sink.set_number(before + starts[Count]); // mutant: runs-total
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
