// SPDX-License-Identifier: MIT
// The naive data-parallel scan: in step d every element takes in the sum that ends 2^d places to
// its left.
// W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", Communications of the ACM 29(12), 1986;
// double-buffered in shared memory as in M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum
// (Scan) with CUDA", GPU Gems 3, chapter 39, 2007.
//
//   additions   n s - 2^s + 1, s = ceil(log2 n) steps (exclusive: of the first n - 1 elements)
//   memory      3 n s accesses to shared memory, one barrier a step
#pragma once

#include <lookback/block/network.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Hillis and Steele's scan: in step d every item adds the sum that ends 2^d places to its left.
///
/// - *Additions*: n s - 2^s + 1, s = ceil(log2 n); exclusive the same for n - 1 items.
/// - *Steps*: s, one barrier each.
/// - *Memory*: 3 n s accesses to shared memory, double-buffered.
/// - *Source*: W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", Communications of the ACM
///   29(12), 1986; M. Harris, S. Sengupta, J. D. Owens, GPU Gems 3, chapter 39, 2007.
/// @ingroup block_scans
struct hillis_steele {
  static constexpr int default_items = 1;         ///< Items of a thread if the caller names none.
  static constexpr bool in_global_memory = false; ///< The storage is in shared memory.

  /// @private The scan of one block: block/network.cuh says what it has.
  template <class T, int Threads, int Items>
  class block {
    using buffer = detail::uninitialized_array<T, Threads * Items>;

  public:
    struct storage {
      alignas(detail::vector_alignment<T>) buffer buffers[2];
    };
    LOOKBACK_DEVICE explicit block(storage &room)
        : from_(&room.buffers[0]), to_(&room.buffers[1]) {}

    template <bool Inclusive, class Source, class Operator>
    LOOKBACK_DEVICE void scan(int count, Source x, Operator &op) {
      const int n = Inclusive ? count : count - 1;
      detail::load_strided<Threads, Items>(count, x, &(*to_)[0]);
      simt::synchronize_block();
      for (int offset = 1; offset < n; offset *= 2) {
        detail::exchange_places(from_, to_);
        detail::for_each_strided<Threads, Items>(0, n, [&](int, int i) {
          if (i >= offset)
            detail::construct((*to_)[i], static_cast<T>(op((*from_)[i - offset], (*from_)[i])));
          else
            detail::construct((*to_)[i], (*from_)[i]);
        });
        simt::synchronize_block();
      }
    }
    template <bool Inclusive>
    LOOKBACK_DEVICE const T &result(int i) const {
      return (*to_)[Inclusive ? i : i - 1];
    }

  private:
    buffer *from_, *to_;
  };
};

} // namespace LOOKBACK_ABI
} // namespace lookback
