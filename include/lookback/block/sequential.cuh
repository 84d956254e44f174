// SPDX-License-Identifier: MIT
// The scan that everything else is held against: one thread, from left to right.
//
//   additions   n - 1 (exclusive n - 2)        steps   n - 1        memory   n reads, n writes
#pragma once

#include <lookback/block/network.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Sequential scan by one thread, from left to right: the reference.
///
/// - *Additions*: n - 1; exclusive n - 2.
/// - *Steps*: n - 1.
/// - *Memory*: n reads and n writes of shared memory.
/// @ingroup block_scans
struct sequential {
  static constexpr int default_items = 1;         ///< Items of a thread if the caller names none.
  static constexpr bool in_global_memory = false; ///< The storage is in shared memory.

  /// @private The scan of one block: block/network.cuh says what it has.
  template <class T, int Threads, int Items>
  class block {
  public:
    struct storage {
      detail::uninitialized_array<T, Threads * Items> values;
    };
    LOOKBACK_DEVICE explicit block(storage &room) : values_(room.values) {}

    template <bool Inclusive, class Source, class Operator>
    LOOKBACK_DEVICE void scan(int count, Source x, Operator &op) {
      if (simt::thread_index() == 0) {
        detail::maybe<T> sum;
        for (int i = 0; i < count; ++i) {
          if (!Inclusive && i > 0) detail::construct(values_[i], sum.value());
          const T element = x(i);
          if (Inclusive || i + 1 < count) sum.append(op, element);
          if (Inclusive) detail::construct(values_[i], sum.value());
        }
      }
      simt::synchronize_block();
    }
    template <bool>
    LOOKBACK_DEVICE const T &result(int i) const {
      return values_[i];
    }

  private:
    detail::uninitialized_array<T, Threads * Items> &values_;
  };
};

} // namespace LOOKBACK_ABI
} // namespace lookback
