// SPDX-License-Identifier: MIT
// The tree's Kogge-Stone network on a CPU: the 32 lanes are adjacent in an array, and a step is one
// loop over them, which compilers vectorise.
#pragma once

#include <lookback/core/standard.cuh>
#include <lookback/core/tree.cuh>
#include <lookback/host/host_storage.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

inline constexpr int lane_count = network::lanes;

/// One value per lane: (32)
template <class T>
using lanes = ordered_storage<T, lane_count>;

/// The network over lanes 0 .. count - 1 of `aggregates`, which it overwrites. At most 129 operator
/// calls.
template <class T, class Operator>
void kogge_stone(lanes<T> &aggregates, lanes<T> &scanned, int count, Operator &op) {
  static_assert(network::steps % 2 == 1, "the last step must write to `scanned`");
  lanes<T> *from = &aggregates, *to = &scanned;
  for (int distance = 1; distance < network::lanes; distance *= 2, std::swap(from, to)) {
    to->clear();
    for (int l = 0; l < count; ++l) to->set(l, network::value<T>(*from, l, distance, op));
  }
}

/// The same in place, over `count` plain values: for partial rows, with work for the given lanes
/// only.
template <class T, class Operator>
void kogge_stone(T *values, int count, Operator &op) {
  for (int distance = 1; distance < count; distance *= 2)
    for (int l = count - 1; l >= distance; --l)
      construct(values[l], network::combined<T>(values, l, distance, op));
}

/// One step for all 32 lanes of many rows of plain values. Most of the work is in a loop that
/// starts at a multiple of four lanes, and so has no remainder when it is vectorised. Lanes that
/// keep their values have a separate loop: g++ then copies values as a whole, not member by member.
template <int Distance, class T, class Operator>
void network_step(const T *__restrict from, T *__restrict to, int rows, Operator op) {
  constexpr int aligned = std::max(Distance, 4);
  for (int r = 0; r < rows; ++r, from += lane_count, to += lane_count) {
    for (int l = 0; l < Distance; ++l) construct(to[l], from[l]);
    for (int l = Distance; l < aligned; ++l)
      construct(to[l], network::combined<T>(from, l, Distance, op));
    for (int l = aligned; l < lane_count; ++l)
      construct(to[l], network::combined<T>(from, l, Distance, op));
  }
}

/// The network over each of `rows` rows. The first two steps read at other alignments than the step
/// before wrote, which a core's store buffer cannot forward. Each of them is therefore done for all
/// rows before the next step, so that the stores have long left the buffer.
template <class T, class Operator>
void kogge_stone_of_rows(T *aggregates, T *scanned, int rows, Operator &op) {
  network_step<1>(aggregates, scanned, rows, op);
  network_step<2>(scanned, aggregates, rows, op);
  for (int r = 0; r < rows; ++r, aggregates += lane_count, scanned += lane_count) {
    uninitialized_array<T, lane_count> fourth, eighth;
    network_step<4>(aggregates, &fourth[0], 1, op);
    network_step<8>(&fourth[0], &eighth[0], 1, op);
    network_step<16>(&eighth[0], scanned, 1, op);
  }
}

/// The network for values that arrive one after another.
template <class T>
class growing_network {
public:
  /// Adds `value` as the next lane, and returns the inclusive scan at that lane.
  template <class Operator>
  T push(const T &value, Operator &op) {
    constexpr int last = network::steps - 1;
    before_[0].set(count_, value);
    for (int step = 0; step < last; ++step)
      before_[step + 1].set(count_, network::value<T>(before_[step], count_, 1 << step, op));
    return network::value<T>(before_[last], count_++, 1 << last, op);
  }
  void clear() {
    for (auto &step_lanes : before_) step_lanes.clear();
    count_ = 0;
  }

private:
  lanes<T> before_[network::steps]; // the lanes before each step
  int count_ = 0;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
