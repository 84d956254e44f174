// SPDX-License-Identifier: MIT
// Three phases: every thread adds up its blocked items serially, a network scans the threads'
// aggregates, and every thread scans its items from its prefix. Work of two serial scans, span of a
// network over the threads.
// D. B. Kirk, W. W. Hwu, "Programming Massively Parallel Processors", 3rd edition, section 8.5,
// where the first phase scans and the third adds: about as many additions, and a second write of
// every element.
//
//   additions   n - p, then the network's over p = ceil(n / Items) ends, then n - 1
//   steps       2 Items, and the network's
//   memory      4 n accesses to shared memory, 3 barriers, and the network's
#pragma once

#include <lookback/block/warp_shuffle.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Three phases: every thread reduces its blocked items serially, `Network` scans the threads'
/// aggregates, and every thread scans its items from its prefix.
///
/// - *Additions*: n - p, those of `Network` over the p = ceil(n / Items) aggregates, and n - 1.
/// - *Steps*: 2 Items, and those of `Network`.
/// - *Memory*: 4 n accesses to shared memory, 3 barriers, and those of `Network`.
/// - *Source*: D. B. Kirk, W. W. Hwu, "Programming Massively Parallel Processors", 3rd edition,
///   section 8.5, where the first phase scans and the third adds.
/// @ingroup block_scans
template <class Network = warp_shuffle>
struct three_phase {
  static_assert(
      !Network::in_global_memory,
      "lookback::three_phase: the inner block scan must use shared memory, not global memory");
  // Odd: then threads that walk through their items touch different banks. H200, 2^28 i32,
  // decoupled look-back by a warp, 256 threads, us, by items:   7 987    15 724    31 659    39 620
  static constexpr int default_items = 39;        ///< Items of a thread if the caller names none.
  static constexpr bool in_global_memory = false; ///< The storage is in shared memory.

  /// @private The scan of one block: block/network.cuh says what it has.
  template <class T, int Threads, int Items>
  class block {
    using ends_network = typename Network::template block<T, Threads, 1>;

  public:
    struct storage {
      alignas(detail::vector_alignment<T>) detail::uninitialized_array<T, Threads * Items> values;
      detail::uninitialized_array<T, Threads> ends;
      typename ends_network::storage network;
    };
    LOOKBACK_DEVICE explicit block(storage &room) : room_(room), network_(room.network) {}

    template <bool Inclusive, class Source, class Operator>
    LOOKBACK_DEVICE void scan(int count, Source x, Operator &op) {
      detail::load_strided<Threads, Items>(count, x, &room_.values[0]);
      simt::synchronize_block();
      const int thread = simt::thread_index(), first = thread * Items;
      const int last = first + Items < count ? first + Items : count;
      if (first < count) {
        detail::maybe<T> sum;
        LOOKBACK_UNROLL
        for (int k = 0; k < Items; ++k)
          if (first + k < last) sum.append(op, room_.values[first + k]);
        detail::construct(room_.ends[thread], sum.value());
      }
      simt::synchronize_block();
      network_.template scan<false>((count - 1) / Items + 1, [&](int i) { return room_.ends[i]; },
                                    op);
      if (first < count) {
        detail::maybe<T> sum;
        if (thread > 0) sum.set(network_.template result<false>(thread));
        LOOKBACK_UNROLL
        for (int k = 0; k < Items; ++k) {
          if (first + k >= last) continue;
          sum.append(op, room_.values[first + k]);
          detail::construct(room_.values[first + k], sum.value());
        }
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

} // namespace LOOKBACK_ABI
} // namespace lookback
