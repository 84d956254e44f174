// SPDX-License-Identifier: MIT
// The look-back: one warp, two levels, in the order of the tree. D. Merrill, M. Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002, with one
// difference: tiles publish only aggregates, and prefixes are published for a group of 32 tiles at
// a time. A prefix built on any earlier prefix that happens to be ready would have bits that depend
// on the schedule.
#pragma once

#include <lookback/carry/no_carry.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Waits until status word `i` is ready and returns its value. Called by a full warp: every lane
/// reads the same word, so that a poll costs one sector.
template <class T, class Status>
LOOKBACK_DEVICE T wait_for(const Status &status, std::size_t i) {
  for (simt::spin_bound bound;; simt::back_off()) {
    const auto seen = status.read(i);
    if (simt::all_of_warp(seen.ready())) return seen.value();
    bound.count("prefix", i);
  }
}

/// Waits until `count` entries of a status array are ready, 1 to 32, the first of which is `first`.
/// Lane l gets the value of the entry first + l; lanes from `count` on get that of the last one.
template <class T, class Status>
LOOKBACK_DEVICE void wait_for_entries(const Status &status, unsigned first, int count, T &value) {
  const int lane = simt::lane_index();
  const unsigned entry = first + (lane < count ? lane : count - 1);
  for (simt::spin_bound bound;; simt::back_off()) {
    const auto seen = status.read(entry);
    if (simt::all_of_warp(seen.ready())) { // mutant: entries-ready
      construct(value, seen.value());
      return;
    }
    bound.count("aggregate", entry);
  }
}

/// Reads entry `entry` of each lane again until all of them are ready. `seen` is the first reading.
template <class Status>
LOOKBACK_DEVICE void wait_until_ready(const Status &status, unsigned entry,
                                      typename Status::reading &seen) {
  for (simt::spin_bound bound; !simt::all_of_warp(seen.ready());) {
    bound.count("aggregate", entry);
    simt::back_off();
    seen = status.read(entry);
  }
}

/// As wait_for_entries(), of two arrays, whose first loads share one round trip.
template <class T, class Status, class SecondStatus>
LOOKBACK_DEVICE void wait_for_entries(const Status &status, unsigned first, int count, T &value,
                                      const SecondStatus &second_status, unsigned second_first,
                                      int second_count, T &second_value) {
  const int lane = simt::lane_index();
  const unsigned entry = first + (lane < count ? lane : count - 1),
                 second_entry = second_first + (lane < second_count ? lane : second_count - 1);
  auto seen = status.read(entry);
  auto second_seen = second_status.read(second_entry);
  wait_until_ready(status, entry, seen);                      // mutant: first-entries
  wait_until_ready(second_status, second_entry, second_seen); // mutant: second-entries
  construct(value, seen.value());
  construct(second_value, second_seen.value());
}

/// Waits for the aggregates of the tiles watched(0), ..., watched(Window - 1) of every lane, of
/// those that are below `tile`. All first loads are issued before any result is tested, so that
/// they share one round trip. For that, none is conditional: lanes without a tile read the last
/// one, since the compiler would otherwise wait for some of the loads before it issues the others.
/// With `ByLane`, lanes without a tile read nothing.
///
/// Polls compete with the loads of tiles, so only aggregates that were not ready are read again.
/// With `AllAgain`, or if an aggregate takes two loads, all are. Microseconds of 2^28 items, H200:
///                             all   not ready
///   sums of runs of 7         726      703
///   sums by key               835      826
///   misaligned sums           552      544
///   lengths of runs of 1000   303      321
///   sums of i128             2014     2112
/// bound.count() precedes the reads: after them, sums of 2^28 f64 took 1041 us, not 1000.
template <bool AllAgain, bool ByLane, int Window, class T, class Status, class Watched>
LOOKBACK_DEVICE void wait_for_aggregates(const Status &tile_aggregates, Watched watched,
                                         unsigned tile,
                                         uninitialized_array<T, Window> &aggregates) {
  const unsigned last = tile > 0 ? tile - 1 : 0;
  typename Status::reading seen[Window];
  constexpr bool all_again = AllAgain || sizeof(typename Status::reading) > 16;
  const auto read_all = [&] {
    LOOKBACK_UNROLL
    for (int u = 0; u < Window; ++u)
      if (!ByLane || watched(u) < tile)
        seen[u] = tile_aggregates.read(watched(u) < last ? watched(u) : last);
  };
  if constexpr (!all_again) read_all();
  simt::spin_bound bound;
  for (bool ready = false; !ready;) {
    if constexpr (all_again) read_all();
    ready = true;
    LOOKBACK_UNROLL
    for (int u = 0; u < Window; ++u)
      ready = ready && (watched(u) >= tile || seen[u].ready()); // mutant: aggregate-ready
    if (!ready) bound.count("aggregates of the tiles from", watched(0));
    ready = simt::all_of_warp(ready);
    if (!ready) {
      // All blocks poll the same few cache lines, which delays the blocks that publish to them.
      simt::back_off();
      if constexpr (!all_again) {
        LOOKBACK_UNROLL
        for (int u = 0; u < Window; ++u)
          if (watched(u) < tile && !seen[u].ready()) seen[u] = tile_aggregates.read(watched(u));
      }
    }
  }
  LOOKBACK_UNROLL
  for (int u = 0; u < Window; ++u)
    if (watched(u) < tile) construct(aggregates[u], seen[u].value());
}

/// Reduces, for each of `Window` groups (first, first + step, ...), the aggregates of those of its
/// tiles that are below `tile`. All lanes get the result; a group without such tiles has none. Lane
/// l reads tile l of each group.
template <int Window, bool AllAgain = false, bool ByLane = false, class T, class Status,
          class Operator>
LOOKBACK_DEVICE void reduce_aggregates(const Status &tile_aggregates, unsigned first, unsigned step,
                                       unsigned tile, uninitialized_array<T, Window> &aggregates,
                                       Operator &op, lane_exchange<T> &exchange) {
  const auto watched = [=](int u) {
    return (first + u * step) * simt::warp_threads + simt::lane_index();
  };
  wait_for_aggregates<AllAgain, ByLane>(tile_aggregates, watched, tile, aggregates);
  const auto valid = [=](int u) {
    const int tiles =
        static_cast<int>(tile) - static_cast<int>(first + u * step) * simt::warp_threads;
    return tiles < 0 ? 0 : tiles > simt::warp_threads ? simt::warp_threads : tiles;
  };
  warp_reduce<Window>(aggregates, valid, op, exchange);
}

/// G(group), by a walk over the groups before it. Called by a full warp; lane l polls group
/// group - 1 - l, so a window is 1024 tiles.
///
/// As soon as one prefix in the window is ready, and every aggregate between it and this group, the
/// prefix is extended serially. G(j + 1) . aggregate(j + 1) . ... is the fold of the tree for any
/// j, so the bits do not depend on which prefix is found. If no prefix in the window is ready yet,
/// the oldest group in it can still finish without this one, so waiting ends.
template <class T, class State, class Operator>
LOOKBACK_DEVICE T look_back_over_groups(const State &state, unsigned group, Operator &op,
                                        lane_exchange<T> &exchange) {
  const int lane = simt::lane_index();
  const bool watches = static_cast<unsigned>(lane) < group;
  const std::size_t watched = watches ? group - 1 - lane : 0;
  for (simt::spin_bound bound;;
       bound.count("prefix or the aggregate of group", watched), simt::back_off()) {
    decltype(state.group_prefixes.read(0)) prefix, aggregate;
    if (watches) {
      prefix = state.group_prefixes.read(watched);
      aggregate = state.group_aggregates.read(watched);
    }
    const unsigned prefixes = simt::ballot(watches && prefix.ready());
    const unsigned aggregates = simt::ballot(watches && aggregate.ready());
    if (prefixes == 0) continue; // mutant: prefix-found
    const int nearest = simt::lowest_bit(prefixes);
    const unsigned between = (1u << nearest) - 1;
    if ((aggregates & between) != between) continue; // mutant: between-ready
    uninitialized_array<T, 1> mine; // the nearest prefix in its lane, aggregates between
    if (lane == nearest) construct(mine[0], prefix.value());
    if (lane < nearest) construct(mine[0], aggregate.value());
    maybe<T> folded;
    for (int l = nearest; l >= 0; --l)
      folded.append(op, exchange.from(mine[0], l, lane <= nearest));
    return folded.value();
  }
}

/// Publishes the aggregate of tile `tile` and returns its prefix, or nothing for tile 0 of a scan
/// without an initial value. Called by a full warp. `aggregate` is the same in all lanes, and is
/// not read for the last tile of the scan.
///
///   lane l < j, j = tile % 32    aggregate of tile l of the group
///   lane j                       aggregate of this tile
///   after the network            T(j - 1) in lane j - 1; in lane 31 of a group's last tile, the
///                                aggregate of the group
///
/// Only a group's last tile walks over the groups; the others wait for the prefix that the previous
/// group's last tile publishes. Hundreds of tiles that poll the same few cache lines would slow the
/// scan (measured: 720 against 686 us for 2^28 i32 on an H200).
template <class Problem, class State, class T, class Operator>
LOOKBACK_DEVICE maybe<T> look_back(const Problem &problem, const State &state, unsigned tile,
                                   bool is_last, const maybe<T> &aggregate, Operator &op,
                                   lane_exchange<T> &exchange) {
  constexpr unsigned group_tiles = Problem::shape::group_tiles;
  const int lane = simt::lane_index();
  const unsigned group = tile / group_tiles;
  const int mine = static_cast<int>(tile % group_tiles);
  const bool completes_group = mine + 1 == static_cast<int>(group_tiles) && !is_last;
  const int valid = mine + (is_last ? 0 : 1);

  uninitialized_array<T, 1> aggregates; // of the group's tiles, one a lane
  if (lane == mine && !is_last) {
    state.tile_aggregates.publish(tile, aggregate.value());
    construct(aggregates[0], aggregate.value());
  }
  bool have = lane >= mine; // mutant: nearest-aggregate
  simt::spin_bound bound;
  while (!simt::all_of_warp(have)) {
    if (!have) {
      const auto seen = state.tile_aggregates.read(group * group_tiles + lane);
      have = seen.ready();
      if (have) construct(aggregates[0], seen.value());
      if (!have) bound.count("aggregate of tile", group * group_tiles + lane);
    }
  }
  warp_inclusive_scan<1>(
      aggregates, [=](int) { return valid; }, op, exchange);
  if (completes_group && lane == mine) state.group_aggregates.publish(group, aggregates[0]);

  maybe<T> prefix; // G(group)
  if (group > 0)
    prefix.set(completes_group ? look_back_over_groups(state, group, op, exchange)
                               : wait_for<T>(state.group_prefixes, group - 1));
  else if constexpr (Problem::initial_type::exists)
    prefix.set(static_cast<T>(problem.initial.value));

  if (completes_group && lane == mine) {
    maybe<T> through = prefix;
    through.append(op, aggregates[0]); // mutant: group-aggregate
    state.group_prefixes.publish(group, through.value());
  }
  if (mine > 0) prefix.append(op, exchange.from(aggregates[0], mine - 1, lane < valid));
  return prefix;
}

namespace carry {

/// A tile whose dynamic id is drawn by its block, so that it waits only for tiles of running
/// blocks. The first warp looks back for the whole block. An initial value that must be read early
/// has been saved by the previous kernel. State<T> holds the status words, like scan_state.
template <template <class> class State>
struct look_back_in {
  static constexpr bool is_alone = false, draws_tile = true;
  static constexpr int waiting_warps = 0;

  template <class Problem, int Warps>
  class of_tile {
    using T = typename Problem::accumulator;

  public:
    struct storage {
      uninitialized_array<T, 1> prefix; // for the other warps
    };

    LOOKBACK_DEVICE of_tile(const Problem &problem, const State<T> &state, unsigned tile,
                            bool is_last, storage &shared)
        : problem_(problem), state_(state), tile_(tile), is_last_(is_last), shared_(shared) {}

    LOOKBACK_DEVICE void read_initial() const {}
    template <bool>
    LOOKBACK_DEVICE void arrive() const {}
    template <class Operator>
    LOOKBACK_DEVICE maybe<T> prefix(const maybe<T> &aggregate, Operator &op,
                                    lane_exchange<T> &exchange) const {
      const int warp = simt::warp_index();
      maybe<T> prefix;
      if (warp == 0)
        prefix = detail::look_back(problem_, state_, tile_, is_last_, aggregate, op, exchange);
      if (simt::thread_index() == 0 && prefix.exists())
        construct(shared_.prefix[0], prefix.value());
      simt::synchronize_warps<Warps>(); // mutant: prefix-barrier
      if (warp > 0 && (Problem::initial_type::exists || tile_ > 0)) prefix.set(shared_.prefix[0]);
      return prefix;
    }

  private:
    const Problem &problem_;
    const State<T> &state_;
    const unsigned tile_;
    const bool is_last_;
    storage &shared_;
  };
};

template <class T>
using look_back_state_on_device = look_back_state<T>;
using look_back = look_back_in<look_back_state_on_device>;

} // namespace carry
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
