// SPDX-License-Identifier: MIT
// The Kogge-Stone network over the 32 lanes of a warp, through shuffles: the tree's network for
// rows, tiles and groups.
// P. M. Kogge, H. S. Stone, "A Parallel Algorithm for the Efficient Solution of a General Class of
// Recurrence Equations", IEEE Transactions on Computers C-22(8), 1973.
#pragma once

#include <lookback/block/network.cuh>
#include <lookback/core/segments.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// How lanes see each other's values.
enum class exchange_by { shuffle, copy, rounds };
template <class T>
inline constexpr exchange_by exchange_of = sizeof(T) >= 512 ? exchange_by::rounds
                                           : std::is_trivially_copyable<T>::value
                                               ? exchange_by::shuffle
                                               : exchange_by::copy;

/// By shuffles, for values that are trivially copyable.
template <class T, exchange_by = exchange_of<T>>
class lane_exchange {
public:
  struct storage {};
  LOOKBACK_DEVICE explicit lane_exchange(storage &) {}

  /// The value of the lane `distance` below; meaningful where that lane exists and `holds`.
  LOOKBACK_DEVICE T up(const T &value, int distance, bool) {
    return simt::shuffle_up(value, distance);
  }
  /// The value of lane `lane`, which `holds`.
  LOOKBACK_DEVICE T from(const T &value, int lane, bool) { return simt::broadcast(value, lane); }
};

/// By copy construction through shared memory when it is not. Only lanes that hold a value are
/// copied from.
template <class T>
class lane_exchange<T, exchange_by::copy> {
public:
  struct storage {
    uninitialized_array<T, simt::warp_threads> slots;
  };
  LOOKBACK_DEVICE explicit lane_exchange(storage &shared) : slots_(shared.slots) {}

  LOOKBACK_DEVICE const T &up(const T &value, int distance, bool holds) {
    publish(value, holds);
    const int lane = simt::lane_index();
    return slots_[lane >= distance ? lane - distance : lane];
  }
  LOOKBACK_DEVICE const T &from(const T &value, int lane, bool holds) {
    publish(value, holds);
    return slots_[lane];
  }

private:
  LOOKBACK_DEVICE void publish(const T &value, bool holds) {
    // No lane uses the references of the exchange before any longer.
    simt::synchronize_warp(); // mutant: exchange-reuse
    if (holds) construct(slots_[simt::lane_index()], value);
    simt::synchronize_warp(); // mutant: exchange
  }
  uninitialized_array<T, simt::warp_threads> &slots_;
};

/// The same with room for the values of a few lanes: large ones come in rounds.
template <class T>
class lane_exchange<T, exchange_by::rounds> {
  static constexpr int fit = static_cast<int>(16 * 1024 / sizeof(T));
  static constexpr int slots = fit >= 16 ? 16 : fit >= 8 ? 8 : 4;

public:
  struct storage {
    uninitialized_array<T, slots> values;
  };
  LOOKBACK_DEVICE explicit lane_exchange(storage &shared) : slots_(shared.values) {}

  LOOKBACK_DEVICE const T &up(const T &value, int distance, bool holds) {
    const int lane = simt::lane_index(), wanted = lane >= distance ? lane - distance : lane;
    const bool exists = (simt::ballot(holds) >> wanted & 1) != 0;
    LOOKBACK_ROLLED
    for (int first = 0; first < simt::warp_threads; first += slots) {
      // All lanes have read the slots of the previous round.
      simt::synchronize_warp(); // mutant: round-reuse
      if (holds && lane >= first && lane < first + slots) construct(slots_[lane - first], value);
      simt::synchronize_warp(); // mutant: round
      if (exists && wanted >= first && wanted < first + slots)
        construct(taken_[0], slots_[wanted - first]);
    }
    return taken_[0];
  }
  LOOKBACK_DEVICE const T &from(const T &value, int lane, bool holds) {
    simt::synchronize_warp();
    if (holds && simt::lane_index() == lane) construct(slots_[0], value);
    simt::synchronize_warp();
    return slots_[0];
  }

private:
  uninitialized_array<T, slots> &slots_;
  uninitialized_array<T, 1> taken_;
};

/// Inclusive scan over lanes 0 .. valid(i) - 1 of each of `Count` independent values a lane, all
/// in the same five steps so that their latencies overlap. Lanes from valid(i) on hold nothing
/// and are not read. 5 steps; at most 129 applications of the operator a row.
template <int Count, class T, class Operator, class Valid>
LOOKBACK_DEVICE void warp_inclusive_scan(uninitialized_array<T, Count> &values, Valid valid,
                                         Operator &op, lane_exchange<T> &exchange) {
  const int lane = simt::lane_index();
  LOOKBACK_UNROLL
  for (int distance = 1; distance < network::lanes; distance *= 2) {
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const bool holds = lane < valid(i);
      const T &left = exchange.up(values[i], distance, holds);
      if (holds && lane >= distance) construct(values[i], static_cast<T>(op(left, values[i])));
    }
  }
}

/// The same for the pairs of a scan by key, combined as their operator does, with half the
/// shuffles: which lanes begin segments is known before the first step, and a value reaches over
/// `distance` lanes when none of them does.
template <int Count, class T, class Operator, class Valid>
LOOKBACK_DEVICE std::enable_if_t<exchange_of<keyed<T>> == exchange_by::shuffle>
warp_inclusive_scan(uninitialized_array<keyed<T>, Count> &pairs, Valid valid,
                    segmented_operator<T, Operator> &op, lane_exchange<keyed<T>> &) {
  const int lane = simt::lane_index();
  unsigned heads[Count]; // at or below this lane
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    heads[i] = simt::ballot(lane < valid(i) && pairs[i].head) << (simt::warp_threads - 1 - lane);
  LOOKBACK_UNROLL
  for (int distance = 1; distance < network::lanes; distance *= 2) {
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const T left = simt::shuffle_up(pairs[i].value, distance);
      if (lane < valid(i) && lane >= distance && heads[i] >> (simt::warp_threads - distance) == 0)
        pairs[i].value = static_cast<T>(op.op(left, pairs[i].value));
    }
  }
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    if (lane < valid(i)) pairs[i].head = heads[i] != 0;
}

/// The same for runs of which fewer than 2^32 begin in all lanes together: a group of tiles has no
/// more elements.
template <int Count, class T, class Operator, class Valid>
LOOKBACK_DEVICE std::enable_if_t<exchange_of<run_prefix<T>> == exchange_by::shuffle>
warp_inclusive_scan(uninitialized_array<run_prefix<T>, Count> &prefixes, Valid valid,
                    run_operator<T, Operator> &op, lane_exchange<run_prefix<T>> &) {
  const int lane = simt::lane_index();
  unsigned begun[Count], runs[Count]; // lanes at or below this one in which runs begin; how many
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    runs[i] = lane < valid(i) ? static_cast<unsigned>(prefixes[i].runs) : 0;
    begun[i] = simt::ballot(runs[i] != 0) << (simt::warp_threads - 1 - lane);
  }
  LOOKBACK_UNROLL
  for (int distance = 1; distance < network::lanes; distance *= 2) {
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const T left = simt::shuffle_up(prefixes[i].value, distance);
      const unsigned below = simt::shuffle_up(runs[i], distance);
      if (lane < distance || lane >= valid(i)) continue;
      runs[i] += below;
      if (begun[i] >> (simt::warp_threads - distance) == 0) // mutant: runs-reach
        construct(prefixes[i].value, static_cast<T>(op.op(left, prefixes[i].value)));
    }
  }
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    if (lane < valid(i)) prefixes[i].runs = runs[i];
}

/// The same for numbers of items whose sum over all lanes is below 2^32, as it is for a group of
/// tiles.
template <int Count, class Valid>
LOOKBACK_DEVICE void warp_inclusive_scan(uninitialized_array<tally, Count> &values, Valid valid,
                                         plus &, lane_exchange<tally> &) {
  const int lane = simt::lane_index();
  unsigned through[Count];
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    through[i] = lane < valid(i) ? static_cast<unsigned>(values[i].items) : 0;
  LOOKBACK_UNROLL
  for (int distance = 1; distance < network::lanes; distance *= 2) {
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const unsigned left = simt::shuffle_up(through[i], distance);
      if (lane >= distance) through[i] += left; // mutant: tallies
    }
  }
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) values[i].items = through[i];
}

/// The reductions of lanes 0 .. valid(i) - 1 of each of `Count` independent values a lane, in all
/// lanes, with the bits of warp_inclusive_scan(). `valid(i)` must be the same in all lanes; if it
/// is 0, values[i] must not be read.
template <int Count, class T, class Operator, class Valid>
LOOKBACK_DEVICE void warp_reduce(uninitialized_array<T, Count> &values, Valid valid, Operator &op,
                                 lane_exchange<T> &exchange) {
  warp_inclusive_scan<Count>(values, valid, op, exchange);
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    if (valid(i) > 0)
      construct(values[i], exchange.from(values[i], valid(i) - 1, simt::lane_index() < valid(i)));
}

/// Sums of integers have the same bits in any order, so one instruction adds all lanes.
template <class T>
inline constexpr bool fits_add_lanes = is_integer<T> && sizeof(T) <= sizeof(unsigned);
template <int Count, class T, class Valid>
LOOKBACK_DEVICE std::enable_if_t<fits_add_lanes<T>>
warp_reduce(uninitialized_array<T, Count> &values, Valid valid, plus &, lane_exchange<T> &) {
  const int lane = simt::lane_index();
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    construct(values[i], static_cast<T>(simt::add_lanes(
                             lane < valid(i) ? static_cast<unsigned>(values[i]) : 0u)));
}
/// The same for numbers of items, with the same limit.
template <int Count, class Valid>
LOOKBACK_DEVICE void warp_reduce(uninitialized_array<tally, Count> &values, Valid valid, plus &,
                                 lane_exchange<tally> &) {
  const int lane = simt::lane_index();
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    values[i].items =
        simt::add_lanes(lane < valid(i) ? static_cast<unsigned>(values[i].items) : 0u);
}
/// The sum of the values of the last lane that `begins` and of the lanes above it; if no lane
/// begins, of all lanes. Only lanes that hold a value count.
template <class T>
LOOKBACK_DEVICE T add_from_last(const T &value, bool holds, bool begins) {
  const unsigned begun = simt::ballot(begins);
  const bool counts = holds && simt::lane_index() >= simt::highest_bit(begun);
  return static_cast<T>(simt::add_lanes(counts ? static_cast<unsigned>(value) : 0u));
}
/// The same for sums of runs, of which fewer than 2^32 begin in all lanes together.
template <int Count, class T, class Valid>
LOOKBACK_DEVICE std::enable_if_t<fits_add_lanes<T>>
warp_reduce(uninitialized_array<run_prefix<T>, Count> &prefixes, Valid valid,
            run_operator<T, plus> &, lane_exchange<run_prefix<T>> &) {
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const bool holds = simt::lane_index() < valid(i);
    const unsigned runs = holds ? static_cast<unsigned>(prefixes[i].runs) : 0u;
    construct(prefixes[i].value, add_from_last(prefixes[i].value, holds, runs != 0));
    prefixes[i].runs = simt::add_lanes(runs);
  }
}
/// The same for sums by key.
template <int Count, class T, class Valid>
LOOKBACK_DEVICE std::enable_if_t<fits_add_lanes<T>>
warp_reduce(uninitialized_array<keyed<T>, Count> &pairs, Valid valid, segmented_operator<T, plus> &,
            lane_exchange<keyed<T>> &) {
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const bool holds = simt::lane_index() < valid(i), begins = holds && pairs[i].head;
    const T sum = add_from_last(pairs[i].value, holds, begins);
    construct(pairs[i], keyed<T>{sum, simt::ballot(begins) != 0});
  }
}

/// The sum, from the newest head on, of the pairs of all lanes: first pairs[0] of all lanes, then
/// pairs[1], and so on. Only those count for which exists(i).
template <int Count, class T, class Exists>
LOOKBACK_DEVICE keyed<T> sum_in_order(const uninitialized_array<keyed<T>, Count> &pairs,
                                      Exists exists) {
  const int lane = simt::lane_index();
  int newest = -1;
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const unsigned heads = simt::ballot(exists(i) && pairs[i].head);
    if (heads != 0) newest = i * simt::warp_threads + simt::highest_bit(heads);
  }
  unsigned_sum<T> sum{};
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i)
    if (exists(i) && i * simt::warp_threads + lane >= newest)
      sum = static_cast<unsigned_sum<T>>(sum + static_cast<unsigned_sum<T>>(pairs[i].value));
  return {static_cast<T>(simt::add_lanes(sum)), newest >= 0};
}

/// The sum of the lanes up to this one.
template <class Int>
LOOKBACK_DEVICE Int sum_through_lane(Int value) {
  LOOKBACK_UNROLL
  for (int distance = 1; distance < simt::warp_threads; distance *= 2) {
    const Int left = simt::shuffle_up(value, distance);
    if (simt::lane_index() >= distance) value += left;
  }
  return value;
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Warps scan rows of 32 items by Kogge and Stone's network through shuffles; the first warp scans
/// the warps' aggregates.
///
/// - *Additions*: at most 129 a row; 32 for every row but the first of each warp; at most 129 over
///   the warps' aggregates; and one an item of every warp but the first.
/// - *Steps*: 5 shuffles, one carry for each item of a thread, 5 shuffles.
/// - *Memory*: n accesses to shared memory, 3 barriers.
/// - *Source*: P. M. Kogge, H. S. Stone, IEEE Transactions on Computers C-22(8), 1973.
/// @ingroup block_scans
struct warp_shuffle {
  static constexpr int default_items = 4;         ///< Items of a thread if the caller names none.
  static constexpr bool in_global_memory = false; ///< The storage is in shared memory.

  /// @private The scan of one block: block/network.cuh says what it has.
  template <class T, int Threads, int Items>
  class block {
    static constexpr int warps = Threads / simt::warp_threads;
    using exchange = detail::lane_exchange<T>;

  public:
    struct storage {
      detail::uninitialized_array<T, Threads * Items> values;
      detail::uninitialized_array<T, warps> sums; // of the warps, then of all warps up to one
      typename exchange::storage exchanges[warps];
    };
    LOOKBACK_DEVICE explicit block(storage &room) : room_(room) {}

    template <bool Inclusive, class Source, class Operator>
    LOOKBACK_DEVICE void scan(int count, Source x, Operator &op) {
      const int lane = simt::lane_index(), warp = simt::warp_index(),
                first = warp * Items * simt::warp_threads;
      exchange lanes(room_.exchanges[warp]);
      const auto valid = [=](int k) {
        return count - first - k * simt::warp_threads;
      }; // of row k, perhaps more than 32
      detail::uninitialized_array<T, Items> rows;
      LOOKBACK_UNROLL
      for (int k = 0; k < Items; ++k)
        if (lane < valid(k)) detail::construct(rows[k], x(first + k * simt::warp_threads + lane));
      detail::warp_inclusive_scan<Items>(rows, valid, op, lanes);
      LOOKBACK_UNROLL
      for (int k = 1; k < Items; ++k) {
        const T &before = lanes.from(rows[k - 1], simt::warp_threads - 1, lane < valid(k - 1));
        if (lane < valid(k)) detail::construct(rows[k], static_cast<T>(op(before, rows[k])));
      }
      // The last element of a warp that is not the last: of a whole warp.
      if (valid(Items - 1) > simt::warp_threads && lane == simt::warp_threads - 1)
        detail::construct(room_.sums[warp], rows[Items - 1]);
      simt::synchronize_block();
      if (warp == 0) {
        const int whole = (count - 1) / (Items * simt::warp_threads); // warps before the last
        detail::uninitialized_array<T, 1> sums;
        if (lane < whole) detail::construct(sums[0], room_.sums[lane]);
        detail::warp_inclusive_scan<1>(
            sums, [=](int) { return whole; }, op, lanes);
        if (lane < whole) detail::construct(room_.sums[lane], sums[0]);
      }
      simt::synchronize_block();
      LOOKBACK_UNROLL
      for (int k = 0; k < Items; ++k) {
        if (lane >= valid(k)) continue;
        T &value = room_.values[first + k * simt::warp_threads + lane];
        if (warp == 0)
          detail::construct(value, rows[k]);
        else
          detail::construct(value, static_cast<T>(op(room_.sums[warp - 1], rows[k])));
      }
      simt::synchronize_block();
    }
    template <bool Inclusive>
    LOOKBACK_DEVICE const T &result(int i) const {
      return room_.values[Inclusive ? i : i - 1];
    }

  private:
    storage &room_;
  };
};

} // namespace LOOKBACK_ABI
} // namespace lookback
