// SPDX-License-Identifier: MIT
// The tree's Kogge-Stone network on a CPU: the 32 lanes stand side by side in an array, and a step is one loop over
// them, which compilers vectorise.
#pragma once

#include <lookback/core/standard.cuh>
#include <lookback/core/tree.cuh>
#include <lookback/host/room.cuh>

namespace lookback::detail {

inline constexpr int lane_count = 32;

/// One value a lane: (32)
template <class T>
using lanes = ordered_room<T, lane_count>;

/// Lanes 0 .. count - 1 of a row: `to` becomes what `from` is after one step.
template <int Distance, class T, class Operator>
void network_step(const lanes<T> &from, lanes<T> &to, int count, Operator &op) {
  to.clear();
  for (int l = 0; l < std::min(Distance, count); ++l) to.set(l, from[l]);
  for (int l = Distance; l < count; ++l) to.set(l, static_cast<T>(op(from[l - Distance], from[l])));
}

/// The network over lanes 0 .. count - 1 of `totals`, which it uses up. At most 129 applications.
template <class T, class Operator>
void kogge_stone(lanes<T> &totals, lanes<T> &scanned, int count, Operator &op) {
  network_step<1>(totals, scanned, count, op);
  network_step<2>(scanned, totals, count, op);
  network_step<4>(totals, scanned, count, op);
  network_step<8>(scanned, totals, count, op);
  network_step<16>(totals, scanned, count, op);
}

/// The same in place, over `count` plain values. For rows that are not whole: as much work as there are lanes.
template <class T, class Operator>
void kogge_stone(T *values, int count, Operator &op) {
  for (int distance = 1; distance < count; distance *= 2)
    for (int l = count - 1; l >= distance; --l)
      construct(values[l], static_cast<T>(op(values[l - distance], values[l])));
}

/// One step for all 32 lanes of many rows of plain values. The loop that does most of the work starts where vectors of
/// four lanes do, so that nothing is left over for the compiler to worry about.
template <int Distance, class T, class Operator>
void network_step(const T *__restrict from, T *__restrict to, int rows, Operator op) {
  constexpr int aligned = std::max(Distance, 4);
  for (int r = 0; r < rows; ++r, from += lane_count, to += lane_count) {
    for (int l = 0; l < Distance; ++l) construct(to[l], from[l]);
    for (int l = Distance; l < aligned; ++l) construct(to[l], static_cast<T>(op(from[l - Distance], from[l])));
    for (int l = aligned; l < lane_count; ++l) construct(to[l], static_cast<T>(op(from[l - Distance], from[l])));
  }
}

/// The network over each of `rows` rows. The first two steps read at other alignments than they wrote, which a core's
/// store buffer cannot forward; all rows take each of them together, so that the stores have long left the buffer.
template <class T, class Operator>
void kogge_stone_of_rows(T *totals, T *scanned, int rows, Operator &op) {
  network_step<1>(totals, scanned, rows, op);
  network_step<2>(scanned, totals, rows, op);
  for (int r = 0; r < rows; ++r, totals += lane_count, scanned += lane_count) {
    uninitialized_array<T, lane_count> fourth, eighth;
    network_step<4>(totals, &fourth[0], 1, op);
    network_step<8>(&fourth[0], &eighth[0], 1, op);
    network_step<16>(&eighth[0], scanned, 1, op);
  }
}

/// The network for values that come one after the other.
template <class T>
class growing_network {
public:
  /// What the network makes of all values so far, of which `value` is the last.
  template <class Operator>
  T push(const T &value, Operator &op) {
    ordered_room<T, steps + 1> scanned; // as it is before each step, and after the last
    scanned.set(0, value);
    for (int step = 0; step < steps; ++step) {
      const int distance = 1 << step;
      before_[step].set(count_, scanned[step]);
      if (count_ >= distance)
        scanned.set(step + 1, static_cast<T>(op(before_[step][count_ - distance], scanned[step])));
      else
        scanned.set(step + 1, scanned[step]);
    }
    ++count_;
    return scanned[steps];
  }
  void clear() {
    for (auto &lanes_before : before_) lanes_before.clear();
    count_ = 0;
  }

private:
  static constexpr int steps = 5;
  lanes<T> before_[steps]; // the lanes as they are before each step
  int count_ = 0;
};

} // namespace lookback::detail
