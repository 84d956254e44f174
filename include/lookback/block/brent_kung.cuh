// SPDX-License-Identifier: MIT
// A reduction tree, then the same tree in reverse that hands the sums on: twice the span, a
// fraction of the additions.
// R. P. Brent, H. T. Kung, "A Regular Layout for Parallel Adders", IEEE Transactions on Computers
// C-31(3), 1982.
//
//   additions   2 n - 2 - log2 n for a power of two; in general sum over s = 1, 2, 4, ... < n of
//               floor(n / 2 s)  and  floor((n - s) / 2 s)
//   steps       2 ceil(log2 n) - 1
//   memory      3 accesses to shared memory an addition, one barrier a step
// Exclusive: of the first n - 1 elements, read one place to the left.
#pragma once

#include <lookback/block/network.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Brent and Kung's scan: a reduction tree, then the same tree in reverse.
///
/// - *Additions*: 2 n - 2 - log2 n for a power of two; in general the sum over s = 1, 2, 4, ... < n
///   of floor(n / 2 s) and floor((n - s) / 2 s).
/// - *Steps*: 2 ceil(log2 n) - 1, one barrier each.
/// - *Memory*: 3 accesses to shared memory an addition.
/// - *Source*: R. P. Brent, H. T. Kung, "A Regular Layout for Parallel Adders", IEEE Transactions
///   on Computers C-31(3), 1982.
/// @ingroup block_scans
struct brent_kung {
  static constexpr int default_items = 2;         ///< Items of a thread if the caller names none.
  static constexpr bool in_global_memory = false; ///< The storage is in shared memory.

  /// @private The scan of one block: block/network.cuh says what it has.
  template <class T, int Threads, int Items>
  class block {
  public:
    struct storage {
      alignas(detail::vector_alignment<T>) detail::uninitialized_array<T, Threads * Items> values;
    };
    LOOKBACK_DEVICE explicit block(storage &room) : values_(room.values) {}

    template <bool Inclusive, class Source, class Operator>
    LOOKBACK_DEVICE void scan(int count, Source x, Operator &op) {
      const int n = Inclusive ? count : count - 1;
      detail::load_strided<Threads, Items>(count, x, &values_[0]);
      simt::synchronize_block();
      int stride = 1;
      for (; stride < n; stride *= 2) { // values(i) <- sum of the 2 stride elements that end with i
        for (int i = (simt::thread_index() + 1) * 2 * stride - 1; i < n; i += Threads * 2 * stride)
          add(op, i - stride, i);
        simt::synchronize_block();
      }
      for (stride /= 2; stride > 0;
           stride /= 2) { // a whole prefix ends at every i; its right neighbour's at i + stride
        for (int i = (simt::thread_index() + 1) * 2 * stride - 1; i + stride < n;
             i += Threads * 2 * stride)
          add(op, i, i + stride);
        simt::synchronize_block();
      }
    }
    template <bool Inclusive>
    LOOKBACK_DEVICE const T &result(int i) const {
      return values_[Inclusive ? i : i - 1];
    }

  private:
    template <class Operator>
    LOOKBACK_DEVICE void add(Operator &op, int left, int right) {
      detail::construct(values_[right], static_cast<T>(op(values_[left], values_[right])));
    }
    detail::uninitialized_array<T, Threads * Items> &values_;
  };
};

} // namespace LOOKBACK_ABI
} // namespace lookback
