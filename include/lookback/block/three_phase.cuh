// SPDX-License-Identifier: MIT
// Three phases: every thread scans a section of its own serially, a network scans the sections' ends, and every section but
// the first adds what ends before it. Work of a serial scan and a half, span of a network over the threads.
// D. B. Kirk, W. W. Hwu, "Programming Massively Parallel Processors", 3rd edition, section 8.5 (thread coarsening).
//
//   additions   n - p, then the network's over p = ceil(n / Items) ends, then n - Items: exclusive the same
//   steps       2 Items, and the network's        memory   4 n accesses to shared memory, 2 barriers, and the network's
#pragma once

#include <lookback/block/warp_shuffle.cuh>

namespace lookback {

template <class Network = warp_shuffle>
struct three_phase {
  static_assert(!Network::in_global_memory, "three_phase: the network over the ends works in shared memory");
  static constexpr int default_items = 15; // odd: then threads that walk through their sections touch different banks
  static constexpr bool in_global_memory = false;

  template <class T, int Threads, int Items>
  class block {
    using ends_network = typename Network::template block<T, Threads, 1>;

  public:
    struct storage {
      detail::uninitialized_array<T, Threads * Items> values;
      detail::uninitialized_array<T, Threads> ends;
      typename ends_network::storage network;
    };
    LOOKBACK_DEVICE explicit block(storage &room) : room_(room), network_(room.network) {}

    template <bool Inclusive, class Source, class Operator>
    LOOKBACK_DEVICE void scan(int count, Source x, Operator &op) {
      detail::load_strided<Threads, Items>(count, count, x, &room_.values[0]);
      simt::synchronize_block();
      const int thread = simt::thread_index(), first = thread * Items;
      detail::uninitialized_array<T, Items> sums; // (items) of this thread's section
      LOOKBACK_UNROLL
      for (int k = 0; k < Items; ++k) {
        if (first + k >= count) continue;
        if (k == 0)
          detail::construct(sums[0], room_.values[first]);
        else
          detail::construct(sums[k], static_cast<T>(op(sums[k - 1], room_.values[first + k])));
        if (k == Items - 1 || first + k == count - 1) detail::construct(room_.ends[thread], sums[k]);
      }
      simt::synchronize_block();
      network_.template scan<false>((count - 1) / Items + 1, [&](int i) { return room_.ends[i]; }, op);
      LOOKBACK_UNROLL
      for (int k = 0; k < Items; ++k) {
        if (first + k >= count) continue;
        if (thread == 0)
          detail::construct(room_.values[k], sums[k]);
        else
          detail::construct(room_.values[first + k],
                            static_cast<T>(op(network_.template result<false>(thread), sums[k])));
      }
      simt::synchronize_block();
    }
    template <bool Inclusive>
    LOOKBACK_DEVICE const T &result(int i) const {
      return room_.values[Inclusive ? i : i - 1];
    }

  private:
    storage &room_;
    ends_network network_;
  };
};

} // namespace lookback
