// SPDX-License-Identifier: MIT
// The Kogge-Stone network over the 32 lanes of a warp, through shuffles: the tree's network for rows, tiles and groups.
// P. M. Kogge, H. S. Stone, "A Parallel Algorithm for the Efficient Solution of a General Class of Recurrence
// Equations", IEEE Transactions on Computers C-22(8), 1973.
#pragma once

#include <lookback/core/monoid.cuh>
#include <lookback/core/simt.cuh>

namespace lookback::detail {

/// How lanes see each other's values: by shuffle when bytes are all there is to a value.
template <class T, bool = std::is_trivially_copyable<T>::value>
class lane_exchange {
public:
  struct storage {};
  LOOKBACK_DEVICE explicit lane_exchange(storage &) {}

  /// The value of the lane `distance` below; meaningful where that lane exists and `holds`.
  LOOKBACK_DEVICE T up(const T &value, int distance, bool) { return simt::shuffle_up(value, distance); }
  /// The value of lane `lane`, which `holds`.
  LOOKBACK_DEVICE T from(const T &value, int lane, bool) { return simt::broadcast(value, lane); }
};

/// By copy construction through shared memory when it is not. Only lanes that hold a value are copied from.
template <class T>
class lane_exchange<T, false> {
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
    simt::synchronize_warp(); // everyone is done with the references of the exchange before
    if (holds) construct(slots_[simt::lane_index()], value);
    simt::synchronize_warp();
  }
  uninitialized_array<T, simt::warp_threads> &slots_;
};

/// Inclusive scan over lanes 0 .. existing(i) - 1 of each of `Count` independent values a lane, all in the same five steps
/// so that their latencies overlap. Lanes from existing(i) on hold nothing and are not read. 5 steps; at most 129
/// applications of the operator a row.
template <int Count, class T, class Operator, class Existing>
LOOKBACK_DEVICE void warp_inclusive_scan(uninitialized_array<T, Count> &values, Existing existing, Operator &op,
                                         lane_exchange<T> &exchange) {
  const int lane = simt::lane_index();
  LOOKBACK_UNROLL
  for (int distance = 1; distance < simt::warp_threads; distance *= 2) {
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const bool holds = lane < existing(i);
      const T &left = exchange.up(values[i], distance, holds);
      if (holds && lane >= distance) construct(values[i], static_cast<T>(op(left, values[i])));
    }
  }
}

} // namespace lookback::detail
