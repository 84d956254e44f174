// SPDX-License-Identifier: MIT
// Results that go to consecutive places in memory, but not one for each item: a warp gathers them
// in shared memory, and stores them from there in whole units.
#pragma once

#include <lookback/block/transfer.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The share of a warp in the results, on its way through the shared memory of its own rows, which
/// it has read: `room`, at a multiple of 16 bytes. There the results have the place modulo 16 that
/// they have in memory, and are stored from there in units of 16 bytes. What would not fit behind
/// them then, less than a unit, goes to the bytes before them if the room `Wraps`.
template <class Stored, unsigned RoomBytes, bool Wraps>
class results_in_room {
  static constexpr unsigned unit = 16, size = sizeof(Stored);
  static_assert(RoomBytes % unit == 0 && unit % size == 0, "results must not straddle units");

public:
  /// `skip`: bytes before the first result. `end`: bytes up to the end of the last one. `memory`:
  /// where byte 0 goes, a multiple of 16.
  LOOKBACK_DEVICE results_in_room(unsigned char *room, unsigned char *memory, unsigned skip,
                                  unsigned end)
      : room_(room), memory_(memory), skip_(skip), end_(end) {}

  /// Puts the results of a vector that are chosen by `which`, a bit each, to consecutive places,
  /// the first of which is `rank`; `Reversed`: to descending ones.
  template <bool Reversed, int E>
  LOOKBACK_DEVICE void put(const lane_vector<Stored, E> &results, unsigned which,
                           unsigned rank) const {
    unsigned at = skip_ + rank * size;
    // Small items that are all chosen: one store for E of them. (H200, all of 2^14 to 2^20 i8
    // selected: 14 to 18 % less time.)
    if constexpr (!Reversed && lane_vector<Stored, E>::packed && E * size == unit && size <= 2) {
      const bool fit = at % unit == 0;         // mutant: room-vectors
      const bool all = which == (1u << E) - 1; // mutant: room-all
      if (fit && all) return simt::store_shared<unit>(place(at), results.words);
    }
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k)
      if ((which >> k & 1) != 0) {
        construct(*place(at), results.get(k));
        at = Reversed ? at - size : at + size; // mutant: next-place
      }
  }
  /// Stores all of them. Called by the whole warp, after a barrier that follows put().
  LOOKBACK_DEVICE void store() const {
    const unsigned lane = static_cast<unsigned>(simt::lane_index()), first = skip_ > 0 ? unit : 0,
                   last = end_ / unit * unit;
    constexpr unsigned step = simt::warp_threads * unit;
    LOOKBACK_UNROLL
    for (unsigned from = 0; from < RoomBytes + unit; from += step) {
      const unsigned at = first + from + lane * unit;
      if (at < last) simt::store_vector<unit>(memory_ + at, simt::load_vector<unit>(place(at)));
    }
    // The results before and behind the whole units.
    constexpr unsigned half = simt::warp_threads / 2;
    const unsigned begin = lane < half    ? skip_
                           : last < first ? end_
                                          : last,
                   end = lane >= half || end_ < first ? end_ : first,
                   at = begin + lane % half * size;
    if (at < end) *reinterpret_cast<Stored *>(memory_ + at) = *place(at);
  }

private:
  LOOKBACK_DEVICE Stored *place(unsigned at) const {
    const unsigned inside = !Wraps                               ? at
                            : (RoomBytes & (RoomBytes - 1)) == 0 ? at & (RoomBytes - 1)
                            : at < RoomBytes                     ? at
                                                                 : at - RoomBytes;
    return reinterpret_cast<Stored *>(room_ + inside);
  }

  unsigned char *const room_, *const memory_;
  const unsigned skip_, end_;
};

/// Stores `size` results, the first of which goes to `first`, through `room`, which has
/// `RoomBytes` bytes. `put(share)` puts the lane's own to their places in a results_in_room. Called
/// by the whole warp.
template <unsigned RoomBytes, class Stored, class Put>
LOOKBACK_DEVICE void store_through_room(unsigned char *room, Stored *first, unsigned size,
                                        Put put) {
  auto *const memory = reinterpret_cast<unsigned char *>(first);
  const auto skip = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(memory) % 16);
  const unsigned end = skip + size * static_cast<unsigned>(sizeof(Stored));
  const auto store = [&](const auto &share) {
    simt::synchronize_warp(); // every lane has read what is there // mutant: room-reuse
    put(share);
    simt::synchronize_warp(); // mutant: room-results
    share.store();
  };
  if (LOOKBACK_LIKELY(end <= RoomBytes)) // mutant: room-wraps
    store(results_in_room<Stored, RoomBytes, false>(room, memory - skip, skip, end));
  else
    store(results_in_room<Stored, RoomBytes, true>(room, memory - skip, skip, end));
}

/// Whether the address is a multiple of the size of what is there.
template <class Stored>
LOOKBACK_DEVICE bool is_multiple(const Stored *results) {
  return reinterpret_cast<std::uintptr_t>(results) % sizeof(Stored) == 0;
}

/// Whether results for an output can pass through the place of elements of type Staged.
template <class Output, class Staged>
inline constexpr bool fits_room = false;
template <class Stored, class Staged>
inline constexpr bool fits_room<Stored *, Staged> = std::is_trivially_copyable<Stored>::value &&
                                                    16 % sizeof(Stored) == 0 &&
                                                    sizeof(Stored) <= sizeof(Staged);

/// The chosen items of a lane's vector, a bit each, and the rank of the first of them among those
/// of the warp's share.
struct chosen_items {
  unsigned bits, rank;
};
/// Stores the chosen results of a warp's rows, `size` in all, by way of the place of array A in the
/// rows; `choose(i)` returns the chosen_items of row i. `Reversed`: those of a vector to descending
/// places. Called by the whole warp, which has read its rows of the array.
template <int A, bool Reversed, class Rows, class Stored, int E, int Count, class Choose>
LOOKBACK_DEVICE void store_chosen(const Rows &rows, const lane_vector<Stored, E> (&results)[Count],
                                  Stored *first, unsigned size, Choose choose) {
  constexpr unsigned room_bytes = Count * Rows::shape::row_elements * sizeof(Stored);
  auto *const room = reinterpret_cast<unsigned char *>(
      rows.source.template row_of<Rows::aligned, A>(rows.stage, rows.first_row));
  store_through_room<room_bytes>(room, first, size, [&](const auto &share) {
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const chosen_items own = choose(i);
      share.template put<Reversed>(results[i], own.bits, own.rank);
    }
  });
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
