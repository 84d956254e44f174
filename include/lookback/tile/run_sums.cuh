// SPDX-License-Identifier: MIT
// The two passes over a tile of runs whose results are sums of integers, where keys, and values if
// there are any, wait in shared memory. Sums of integers have the same bits in any order, and
// subtraction inverts them: the sum of a run is the difference of two prefix sums, one where the
// run begins and one where the next begins. So rows are scanned without regard to runs. The first
// element of a run leaves its key and its prefix sum in shared memory, and neighbours there give
// the differences. The length of a run is the sum of ones, whose prefix sums are the indices.
// Values may be in a ring of their own: then only the first pass has them.
#pragma once

#include <lookback/tile/runs_tile.cuh>
#include <lookback/tile/vector_loads.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// What a lane remembers of a row between the two passes: where runs begin in its vector, how many
/// begin in the warp's share before the vector, and the sum of the share before the vector.
template <class T, int E, bool Ones>
class kept_sum {
public:
  LOOKBACK_DEVICE kept_sum(kept_items heads, unsigned_sum<T> before)
      : heads_(heads), before_(before) {}
  LOOKBACK_DEVICE kept_items heads() const { return heads_; }
  /// `first`: index in the share of the first item of the vector.
  LOOKBACK_DEVICE unsigned_sum<T> before(int) const { return before_; }

private:
  kept_items heads_;
  unsigned_sum<T> before_;
};
/// The same for sums of ones: the sum is the index of the vector's first item.
template <class T, int E>
class kept_sum<T, E, true> {
public:
  LOOKBACK_DEVICE kept_sum(kept_items heads, unsigned_sum<T>) : heads_(heads) {}
  LOOKBACK_DEVICE kept_items heads() const { return heads_; }
  LOOKBACK_DEVICE unsigned_sum<T> before(int first) const {
    return static_cast<unsigned_sum<T>>(first);
  }

private:
  kept_items heads_;
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
  Sum head;    // of its vector before the last head; 0 if it has none
  Sum through; // of the row up to the end of the vector, once scanned
};
/// Sums of a vector's first `count` items.
template <int E, bool Ones, class Sum, class Vector>
LOOKBACK_DEVICE lane_sums<Sum> sums_of(const Vector &vector, unsigned heads, int count) {
  lane_sums<Sum> sums{};
  if constexpr (Ones) {
    sums.all = static_cast<Sum>(count);
    sums.head = static_cast<Sum>(heads != 0 ? simt::highest_bit(heads) : 0);
  } else {
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      if ((heads >> k & 1) != 0) sums.head = sums.all;
      if (k < count) sums.all = static_cast<Sum>(sums.all + static_cast<Sum>(vector.value_of(k)));
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

/// Finds where runs begin in the warp's rows, and sums their values.
template <class Rows, class T, int E, bool Ones, int Count, int TileRows, class Operator>
LOOKBACK_DEVICE void reduce_rows(const Rows &rows,
                                 uninitialized_array<kept_sum<T, E, Ones>, Count> &kept,
                                 uninitialized_array<run_prefix<T>, TileRows> &row_aggregates,
                                 run_operator<T, Operator> &, lane_exchange<run_prefix<T>> &) {
  using shape = typename Rows::shape;
  using sum = unsigned_sum<T>;
  unsigned heads[Count], heads_before[Count], starts[Count + 1];
  lane_sums<sum> sums[Count];
  row_counts<Count, shape::row_elements> counts;
  auto left = rows.read(0, rows.lane_items(0)).key_before();
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const int count = rows.lane_items(i);
    const auto vector = rows.read(i, count);
    const bool first = i == 0 && rows.lane == 0 && vector.begins_all();
    heads[i] = vector.heads(count, left, first);
    sums[i] = sums_of<E, Ones, sum>(vector, heads[i], count);
    counts.set(i, simt::count_bits(heads[i]));
  }
  counts.scan(rows.lane, heads_before, starts);
  scan_sums<E, Ones>(sums, rows.lane);
  sum all = 0, newest = 0; // of the rows so far, and before the newest head of the lanes `with_it`
  unsigned with_it = 1;
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const auto before = static_cast<sum>(all + sums[i].through - sums[i].all); // mutant: sums-above
    construct(kept[i], kept_sum<T, E, Ones>(kept_items(heads[i], heads_before[i]), before));
    const unsigned with_heads = simt::ballot(heads[i] != 0);
    if (with_heads != 0) {
      with_it = with_heads; // mutant: sums-newest
      newest = static_cast<sum>(before + sums[i].head);
    }
    const sum of_row = Ones ? static_cast<sum>(rows.items(i))
                            : simt::broadcast(sums[i].through, simt::warp_threads - 1);
    all = static_cast<sum>(all + of_row);
  }
  const auto open = static_cast<sum>(all - simt::shuffle(newest, simt::highest_bit(with_it)));
  write_aggregate(rows, row_aggregates, run_prefix<T>{0, 0},
                  run_prefix<T>{static_cast<T>(open), starts[Count]});
}

/// The values of a lane's vector, copied before a beginning is stored: the compiler cannot move
/// loads across those stores, and would load the values one by one.
template <class T, int E>
class lane_values {
public:
  template <class Vector>
  LOOKBACK_DEVICE explicit lane_values(const Vector &vector) {
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) values_[k] = vector.value_of(k);
  }
  LOOKBACK_DEVICE T value_of(int k) const { return values_[k]; }

private:
  T values_[E];
};
/// Calls take(k, before) for every head of a lane's vector, with the sum before it. `before`: the
/// sum before the vector.
template <int E, class Vector, class Sum, class Take>
LOOKBACK_DEVICE void for_heads(const Vector &vector, unsigned heads, Sum before, Take take) {
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k) {
    if ((heads >> k & 1) != 0) take(k, before);
    if (k + 1 < E)
      before = static_cast<Sum>(before + static_cast<Sum>(vector.value_of(k))); // mutant: sums-in
  }
}

/// The lane's elements of a row after the first pass, which has freed the room of their values:
/// these are read from memory again.
template <class Rows>
class elements_again : public decltype(std::declval<const Rows &>().read(0, 0)) {
  using staged = decltype(std::declval<const Rows &>().read(0, 0));

public:
  LOOKBACK_DEVICE elements_again(const Rows &rows, int i)
      : staged(rows.read(i, rows.lane_items(i))) {
    load_lane(rows.problem.input.values() + rows.lane_item(i), Rows::aligned, rows.lane_items(i),
              values_);
  }
  LOOKBACK_DEVICE auto value_of(int k) const {
    return static_cast<decltype(staged::value_of(k))>(values_.get(k));
  }

private:
  lane_vector<typename Rows::source_type::first_type, Rows::shape::vector_elements> values_;
};

/// The results of a share in which too many runs begin to be gathered, and whose values are no
/// longer in shared memory. The second pass computes everything again, row by row. So lanes need to
/// remember only the last row of a share between the passes, which saves registers.
template <class Rows, class T>
class rows_again : rows_of_runs<Rows> {
  using base = rows_of_runs<Rows>;
  using base::count, base::E, base::keys;
  using key = typename base::template element<keys>;
  using sum = unsigned_sum<T>;
  using shape = typename Rows::shape;

public:
  LOOKBACK_DEVICE rows_again(const Rows &rows, void *place) : rows_(rows), place_(place) {}

  /// Stores the results of all runs that begin in the share; the first of them has rank `rank`.
  /// `newest`: the sum of the share before the run that is open where it begins. Returns the sum
  /// before the last run. `Bytes`: room at `place`, in the first row's keys. Results pass through
  /// it once the row has been read.
  template <unsigned Bytes>
  LOOKBACK_DEVICE sum store(std::uint64_t rank, sum newest) const {
    uninitialized_array<elements_again<Rows>, count> read;
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) construct(read[i], elements_again<Rows>(rows_, i));
    key left = read[0].key_before();
    sum all = 0; // of the rows so far
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const int items = rows_.lane_items(i);
      const bool first = i == 0 && rows_.lane == 0 && read[0].begins_all();
      const unsigned heads = read[i].heads(items, left, first);
      lane_sums<sum> sums[1] = {sums_of<E, false, sum>(read[i], heads, items)};
      scan_sums<E, false>(sums, rows_.lane);
      unsigned before[1], starts[2];
      row_counts<1, shape::row_elements> counts;
      counts.set(0, simt::count_bits(heads));
      counts.scan(rows_.lane, before, starts);
      const auto own = static_cast<sum>(all + sums[0].through - sums[0].all); // mutant: again-above
      newest = store_row<Bytes>(read[i], {heads, before[0], starts[1], own}, rank, newest);
      rank += starts[1]; // mutant: again-rank
      all = static_cast<sum>(all + simt::broadcast(sums[0].through, simt::warp_threads - 1));
    }
    return newest;
  }

private:
  /// The runs that begin in a row: `heads` in the lane's vector, `before` before that, `all` of
  /// them. `sums`: the sum of the share before the vector.
  struct row_runs {
    unsigned heads, before, all;
    sum sums;
  };
  /// Stores the results of these runs: first the sums, then the keys.
  template <unsigned Bytes>
  LOOKBACK_DEVICE sum store_row(const elements_again<Rows> &vector, const row_runs &runs,
                                std::uint64_t rank, sum newest) const {
    lane_vector<key, E> firsts;
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) firsts.set(k, vector.key_of(k));
    const auto &output = rows_.problem.sink.output;
    const auto to = static_cast<std::ptrdiff_t>(rank);
    pass_through<Bytes / sizeof(sum), sum>(
        runs,
        [&](auto take) {
          for_heads<E>(vector, runs.heads, runs.sums, [&](int, sum before) { take(before); });
        },
        [&](const sum *place, unsigned from, unsigned some) {
          LOOKBACK_ROLLED
          for (unsigned j = static_cast<unsigned>(rows_.lane); j < some; j += simt::warp_threads) {
            const sum previous = j > 0 ? place[j - 1] : newest;
            // No run is before the first of all.
            if (to + from + j > 0) // mutant: again-first
              output.lasts()[to + from + j - 1] = static_cast<T>(place[j] - previous);
          }
          newest = place[some - 1];
        });
    pass_through<Bytes / sizeof(key), key>(
        runs,
        [&](auto take) {
          for_heads<E>(vector, runs.heads, sum{}, [&](int k, sum) { take(firsts.get(k)); });
        },
        [&](const key *place, unsigned from, unsigned some) {
          LOOKBACK_ROLLED
          for (unsigned j = static_cast<unsigned>(rows_.lane); j < some; j += simt::warp_threads)
            output.firsts()[to + from + j] = place[j];
        });
    return newest;
  }
  /// Calls store(place, from, some) when lanes have put `some` of a row's values X into their
  /// places, from that of run `from` on: at most `Most` at once. each(take) calls take(x) for the
  /// lane's values in turn.
  template <unsigned Most, class X, class Each, class Store>
  LOOKBACK_DEVICE void pass_through(const row_runs &runs, Each each, Store store) const {
    static_assert(Most > 0, "there must be room for a value");
    auto *const place = static_cast<X *>(place_);
    LOOKBACK_ROLLED
    for (unsigned from = 0; from < runs.all; from += Most) {
      simt::synchronize_warp(); // every lane has read what is there // mutant: again-reuse
      unsigned at = runs.before - from;
      each([&](const X &x) {
        if (at < Most) construct(place[at], x);
        ++at;
      });
      simt::synchronize_warp(); // mutant: again-results
      store(place, from, runs.all - from < Most ? runs.all - from : Most);
    }
  }

  const Rows &rows_;
  void *const place_;
};

/// The results of the rows of a warp.
template <class Rows, class Kept, class T>
class placed_sums : rows_of_runs<Rows> {
  using base = rows_of_runs<Rows>;
  using base::count, base::E, base::keys;
  using sum = unsigned_sum<T>;
  using shape = typename Rows::shape;
  using kept_type = uninitialized_array<Kept, count>;

public:
  using key = typename base::template element<keys>;

private:
  static constexpr bool ones = sums_ones<typename Rows::problem_type::input_type>,
                        splits = Rows::source_type::splits;
  static constexpr bool even = sizeof(key) == sizeof(sum);
  static constexpr std::size_t pair_alignment = // so that one access has all of an even pair
      even                          ? 2 * sizeof(sum)
      : alignof(key) < alignof(sum) ? alignof(sum)
                                    : alignof(key);
  /// What the warp gathers of a run that begins in its share: the key, and the sum of the items of
  /// the share before it.
  struct alignas(pair_alignment) beginning {
    key first;
    sum before;
  };
  /// Bytes of the share's keys that stay: the warp of the next rows reads the last key, and if rows
  /// are not aligned, the warps beside this one read whole units of 16 bytes.
  static constexpr unsigned unit = 16, stays = Rows::aligned ? sizeof(key) : 2 * unit,
                            row_bytes = shape::row_elements * sizeof(key);
  /// Beginnings for which there is room in the place of the share's other keys.
  static constexpr unsigned room_items =
      (count * row_bytes - stays) / sizeof(beginning); // mutant: room-last

  /// Whether beginnings are gathered in the first pass: the second is then soon done with a tile
  /// whose prefix it has waited for. (The keys of more rows would take too many registers there.)
  static constexpr bool early = count <= 4;
  static_assert(early || !splits, "the second pass cannot gather values");

public:
  LOOKBACK_DEVICE placed_sums(const Rows &rows, const kept_type &kept)
      : rows_(rows), kept_(kept),
        begun_(simt::broadcast(kept[count - 1].heads().through(), simt::warp_threads - 1)) {}

  /// Runs that begin in the share.
  LOOKBACK_DEVICE unsigned begun() const { return begun_; }

  /// Ends the first pass: gathers the beginnings of runs if that is to be done early.
  LOOKBACK_DEVICE void end_first_pass(const lane_vector<key, E> (&firsts)[count]) const {
    if constexpr (early && gathers)
      if (begun_ > 0 && has_room()) put<true>(firsts, 0);
  }
  LOOKBACK_DEVICE static void read_keys(const Rows &rows, lane_vector<key, E> (&firsts)[count]) {
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const auto vector = rows.read(i, rows.lane_items(i));
      LOOKBACK_UNROLL
      for (int k = 0; k < E; ++k) firsts[i].set(k, vector.key_of(k));
    }
  }
  /// The second pass. `before`: runs that begin to the left of the warp's share. `open`: the sum,
  /// up to the share, of the run that is open where the share begins.
  LOOKBACK_DEVICE void store(std::uint64_t before, sum open) const {
    // The sum of the share before the newest run: negative, while that run began before the share.
    auto newest = static_cast<sum>(0 - open);
    if (begun_ > 0) newest = store_all(before, newest);
    store_last(before, newest);
  }

private:
  LOOKBACK_DEVICE sum store_all(std::uint64_t before, sum newest) const {
    if (!LOOKBACK_LIKELY(has_room())) {
      if constexpr (splits)
        return rows_again<Rows, T>(rows_, room()).template store<again_bytes>(before, newest);
      else if constexpr (gathers)
        return in_rounds(before, newest);
      else
        return one_by_one(before, newest);
    }
    if constexpr (gathers) {
      if (!early) gather();
      return store_gathered(before, begun_, newest);
    }
    return newest; // not reached
  }
  /// Rows that are not aligned are gathered only if values are apart and sums have at most 4 bytes.
  /// Elsewhere the code for them takes registers from that for aligned rows. (Lengths of aligned
  /// runs of 7, without that code and with it: 376, 646 us, H200, 2^28 i32.)
  static constexpr bool gathers = Rows::aligned || (splits && sizeof(T) <= 4);
  LOOKBACK_DEVICE bool has_room() const {
    if constexpr (gathers)
      return begun_ <= room_items;
    else
      return false;
  }
  LOOKBACK_DEVICE beginning *room() const {
    auto *const row = reinterpret_cast<unsigned char *>(
        rows_.source.template row_of<Rows::aligned, keys>(rows_.stage, rows_.first_row));
    if constexpr (Rows::aligned) return reinterpret_cast<beginning *>(row);
    const auto at = static_cast<unsigned>(row - rows_.stage);
    return reinterpret_cast<beginning *>(rows_.stage +
                                         (at + unit - 1) / unit * unit); // mutant: room-first
  }
  /// Bytes of the first row's keys that may be overwritten, from room() on, once they have been
  /// read. There are other rows: the last key of the share stays.
  static constexpr unsigned again_bytes =
      Rows::aligned ? row_bytes : row_bytes - unit; // mutant: again-bytes
  static_assert(!splits || count > 1, "the first row must not be the last one");
  /// Gathers the beginnings of all runs in the place of the warp's keys, so that each is beside the
  /// one before it.
  LOOKBACK_DEVICE void gather() const {
    lane_vector<key, E> firsts[count];
    read_keys(rows_, firsts);
    put<true>(firsts, 0);
  }
  /// Calls take(k, before) for every head of a lane's vector of row i, with the sum of the share
  /// before it.
  template <class Vector, class Take>
  LOOKBACK_DEVICE void for_heads(const Vector &vector, int i, Take take) const {
    detail::for_heads<E>(vector, kept_[i].heads().bits(),
                         kept_[i].before(i * shape::row_elements + rows_.lane * E), take);
  }
  /// Stores the key of the run of rank `rank`, and the sum of the run before it.
  LOOKBACK_DEVICE void store(std::uint64_t rank, const key &first, sum of_previous) const {
    const auto at = static_cast<std::ptrdiff_t>(rank);
    const auto &output = rows_.problem.sink.output;
    output.firsts()[at] = first;
    if (rank > 0) output.lasts()[at - 1] = static_cast<T>(of_previous); // mutant: sums-first
  }
  /// If the share has the last item of all, stores the sum of the last run. `newest`: the sum of
  /// the share before that run.
  LOOKBACK_DEVICE void store_last(std::uint64_t before, sum newest) const {
    const int last = rows_.last_of_all();
    // No item of the share is behind the vector of this lane in the last row.
    if (last < 0 || rows_.lane != simt::warp_threads - 1) return;
    const auto run = static_cast<std::ptrdiff_t>(before + begun_) - 1;
    const auto through = ones ? static_cast<sum>(last + 1) : through_share();
    rows_.problem.sink.output.lasts()[run] = static_cast<T>(through - newest); // mutant: sums-last
  }
  /// The sum of the share, for its last lane.
  LOOKBACK_DEVICE sum through_share() const {
    const int items = rows_.lane_items(count - 1);
    const auto through = [&](const auto &vector) {
      const sum own = sums_of<E, ones, sum>(vector, 0, items).all;
      return static_cast<sum>(kept_[count - 1].before(0) + own);
    };
    if constexpr (splits)
      return through(elements_again<Rows>(rows_, count - 1));
    else
      return through(rows_.read(count - 1, items));
  }

  /// Puts the beginnings of the runs from `from` on for which there is room into their places.
  /// `All`: those of all heads.
  template <bool All>
  LOOKBACK_DEVICE void put(const lane_vector<key, E> (&firsts)[count], unsigned from) const {
    simt::synchronize_warp(); // every lane has read what is there // mutant: beginnings-reuse
    const auto read = [&](int i) { return lane_values<T, E>(rows_.read(i, rows_.lane_items(i))); };
    uninitialized_array<lane_values<T, E>, count> values;
    LOOKBACK_UNROLL
    for (int i = 0; i < count && All; ++i) construct(values[i], read(i));
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      // Where runs are long, most rows have no beginning. (Shares of a copy's speed without this
      // and with it, H200, 2^28 i32, runs of 1000: lengths 0.83, 0.85; sums by key 0.89, 0.87.)
      if constexpr (ones)
        if (simt::ballot(kept_[i].heads().bits() != 0) == 0) continue;
      if (!All) construct(values[i], read(i)); // one row at a time, for fewer registers
      unsigned rank = kept_[i].heads().before() - from;
      beginning *to = room() + static_cast<int>(rank);
      for_heads(values[i], i, [&](int k, sum before) {
        if (All || rank++ < room_items) construct(*to, beginning{firsts[i].get(k), before});
        ++to;
      });
    }
  }
  /// Stores `some` runs whose beginnings have been put into their places. `rank`: of the first of
  /// them. Returns the sum of the share before the last run.
  LOOKBACK_DEVICE sum store_gathered(std::uint64_t rank, unsigned some, sum newest) const {
    const beginning *const begun = room();
    simt::synchronize_warp(); // mutant: beginnings-results
    const auto to = static_cast<std::ptrdiff_t>(rank);
    const auto firsts_to = simt::in_register(rows_.problem.sink.output.firsts() + to);
    const auto lasts_to = simt::in_register(rows_.problem.sink.output.lasts() + (to - 1));
    const unsigned none = to == 0 ? 1 : 0; // no run is before the first of all
    LOOKBACK_ROLLED
    for (unsigned j = static_cast<unsigned>(rows_.lane); j < some; j += simt::warp_threads) {
      const beginning own = begun[j];
      const sum previous = j > 0 ? begun[j - 1].before : newest;
      firsts_to[j] = own.first;
      if (j >= none) lasts_to[j] = static_cast<T>(own.before - previous); // mutant: sums-none
    }
    return begun[some - 1].before;
  }
  /// There are more beginnings than there is room for.
  LOOKBACK_DEVICE sum in_rounds(std::uint64_t before, sum newest) const {
    lane_vector<key, E> firsts[count];
    read_keys(rows_, firsts);
    for (unsigned from = 0; from < begun_; from += room_items) {
      put<false>(firsts, from);
      const unsigned left = begun_ - from;
      newest = store_gathered(before + from, left < room_items ? left : room_items, newest);
    }
    return newest;
  }

  /// Without gathering.
  LOOKBACK_DEVICE sum one_by_one(std::uint64_t before_share, sum newest) const {
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const auto vector = rows_.read(i, rows_.lane_items(i));
      const unsigned with_heads = simt::ballot(kept_[i].heads().bits() != 0),
                     below = with_heads & ((1u << rows_.lane) - 1);
      sum last{}; // before the lane's last head
      for_heads(vector, i, [&](int, sum before) { last = before; });
      const sum beside = simt::shuffle(last, below != 0 ? simt::highest_bit(below) : 0);
      sum previous = below != 0 ? beside : newest; // mutant: sums-beside
      std::uint64_t rank = before_share + kept_[i].heads().before();
      for_heads(vector, i, [&](int k, sum before) {
        store(rank++, vector.key_of(k), static_cast<sum>(before - previous));
        previous = before;
      });
      last = simt::shuffle(last, with_heads != 0 ? simt::highest_bit(with_heads) : 0);
      if (with_heads != 0) newest = last; // mutant: sums-next
    }
    return newest;
  }

  const Rows &rows_;
  const kept_type &kept_;
  const unsigned begun_;
};

template <class Rows>
struct early_items<Rows, std::enable_if_t<subtracts_sums<typename Rows::problem_type>>> {
  using placed = placed_sums<Rows, lane_state<typename Rows::problem_type>,
                             decltype(Rows::problem_type::accumulator::value)>;
  lane_vector<typename placed::key, Rows::shape::vector_elements> keys[Rows::count];

  LOOKBACK_DEVICE explicit early_items(const Rows &rows) { placed::read_keys(rows, keys); }
};
/// Called between the passes, by all lanes of the warp, which have read the keys of its rows.
template <class Rows, class T, int E, bool Ones, int Count>
LOOKBACK_DEVICE void gather_results(const Rows &rows,
                                    const uninitialized_array<kept_sum<T, E, Ones>, Count> &kept,
                                    const early_items<Rows> &early) {
  placed_sums<Rows, kept_sum<T, E, Ones>, T>(rows, kept).end_first_pass(early.keys);
}

/// Places the results of the warp's rows, from the prefix of the tile, from `row_prefix(row)`,
/// which returns R(row - 1), and from what the lanes remember. The warp of the last element writes
/// the number of runs.
template <bool, class Rows, class T, int E, bool Ones, int Count, class RowPrefix, class Operator>
LOOKBACK_DEVICE void scan_rows(const Rows &rows, const maybe<run_prefix<T>> &prefix,
                               RowPrefix row_prefix,
                               const uninitialized_array<kept_sum<T, E, Ones>, Count> &kept, bool,
                               run_operator<T, Operator> &, lane_exchange<run_prefix<T>> &) {
  using sum = unsigned_sum<T>;
  run_prefix<T> left{0, 0}, above{0, 0}; // of the tile, and of the rows of the tile before these
  if (prefix.exists()) left = prefix.value();
  if (rows.first_row > 0) above = row_prefix(rows.first_row);
  auto open = static_cast<sum>(above.value);
  if (above.runs == 0) open = static_cast<sum>(open + static_cast<sum>(left.value));
  const std::uint64_t before = left.runs + above.runs;
  const placed_sums<Rows, kept_sum<T, E, Ones>, T> placed(rows, kept);
  placed.store(before, open);
  if (rows.last_of_all() >= 0 && rows.lane == 0)
    rows.problem.sink.set_number(before + placed.begun()); // mutant: sums-total
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
