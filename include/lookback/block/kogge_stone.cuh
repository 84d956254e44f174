// SPDX-License-Identifier: MIT
// The scan of least span: as Hillis and Steele's, with every thread holding on to its own elements'
// sums.
// P. M. Kogge, H. S. Stone, "A Parallel Algorithm for the Efficient Solution of a General Class of
// Recurrence Equations", IEEE Transactions on Computers C-22(8), 1973. Where the sums lie is a
// parameter:
//
//   memory_of::global            in place in global memory, two barriers a step
//   memory_of::shared            in place in shared memory, two barriers a step
//   memory_of::double_buffered   from one half of shared memory to the other, one barrier a step
//
//   additions   n s - 2^s + 1, s = ceil(log2 n) steps        memory   2 n s accesses
// An exclusive scan either loads one place to the right, which is a scan of the first n - 1
// elements, or reads an inclusive scan one place to the left.
#pragma once

#include <lookback/block/network.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Where the intermediate sums of lookback::kogge_stone are.
/// @ingroup block_scans
enum class memory_of {
  global,         ///< In place in global memory.
  shared,         ///< In place in shared memory.
  double_buffered ///< From one half of shared memory to the other.
};
/// How an exclusive lookback::kogge_stone omits an item's own value.
/// @ingroup block_scans
enum class exclusive_by {
  shifted_load, ///< Scan the first n - 1 items, loaded one place to the right.
  inclusive     ///< Scan all items, and read results one place to the left.
};

/// Kogge and Stone's scan: Hillis and Steele's, with every thread's own sums in registers.
///
/// - `Memory`: where the sums that other threads read are.
/// - `Exclusive`: how an exclusive scan omits an item's own value.
/// - *Additions*: n s - 2^s + 1, s = ceil(log2 n).
/// - *Steps*: s, with one barrier if double-buffered, otherwise two.
/// - *Memory*: 2 n s accesses.
/// - *Source*: P. M. Kogge, H. S. Stone, "A Parallel Algorithm for the Efficient Solution of a
///   General Class of Recurrence Equations", IEEE Transactions on Computers C-22(8), 1973.
/// @ingroup block_scans
template <memory_of Memory = memory_of::double_buffered,
          exclusive_by Exclusive = exclusive_by::shifted_load>
struct kogge_stone {
  /// Items of a thread if the caller names none.
  static constexpr int default_items = 1;
  /// Whether the storage is in global memory, not in shared memory.
  static constexpr bool in_global_memory = Memory == memory_of::global;

  /// @private The scan of one block: block/network.cuh says what it has.
  template <class T, int Threads, int Items>
  class block {
    static constexpr int halves = Memory == memory_of::double_buffered ? 2 : 1;
    using buffer = detail::uninitialized_array<T, Threads * Items>;
    using own = detail::uninitialized_array<T, Items>;

  public:
    struct storage {
      buffer buffers[halves];
    };
    LOOKBACK_DEVICE explicit block(storage &room)
        : sums_(&room.buffers[0]), other_(&room.buffers[halves - 1]) {}

    template <bool Inclusive, class Source, class Operator>
    LOOKBACK_DEVICE void scan(int count, Source x, Operator &op) {
      const int n = Inclusive || Exclusive == exclusive_by::inclusive ? count : count - 1;
      own mine; // (items): the sums of this thread's elements
      detail::for_each_strided<Threads, Items>(
          0, count, [&](int k, int i) { detail::construct(mine[k], x(i)); });
      store(n, 0, mine);
      simt::synchronize_block();
      for (int offset = 1; offset < n; offset *= 2) {
        detail::for_each_strided<Threads, Items>(offset, n, [&](int k, int i) {
          detail::construct(mine[k], static_cast<T>(op((*sums_)[i - offset], mine[k])));
        });
        if constexpr (halves == 2) {
          detail::exchange_places(sums_, other_);
          store(n, 0, mine);
        } else {
          simt::synchronize_block(); // everybody has read
          store(n, offset, mine);
        }
        simt::synchronize_block();
      }
    }
    template <bool Inclusive>
    LOOKBACK_DEVICE const T &result(int i) const {
      return (*sums_)[Inclusive ? i : i - 1];
    }

  private:
    LOOKBACK_DEVICE void store(int n, int first, const own &mine) {
      detail::for_each_strided<Threads, Items>(
          first, n, [&](int k, int i) { detail::construct((*sums_)[i], mine[k]); });
    }
    buffer *sums_, *other_;
  };
};

} // namespace LOOKBACK_ABI
} // namespace lookback
