// SPDX-License-Identifier: MIT
// Block scans for a program's own kernels.
#pragma once

#include <lookback/block/blelloch.cuh>
#include <lookback/block/brent_kung.cuh>
#include <lookback/block/hillis_steele.cuh>
#include <lookback/block/kogge_stone.cuh>
#include <lookback/block/sequential.cuh>
#include <lookback/block/three_phase.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/core/known_operators.cuh>

/// @addtogroup block_scans
/// lookback::block_scan for a program's own kernels, and the block scans of the textbook, which are
/// the parameter `Network` of lookback::block_scan and of the @ref strategies.
///
/// None assumes that the operator commutes, that it has an identity, or that the number of items is
/// a power of two.
///
/// | type | additions for n items | steps |
/// |---|---|---|
/// | lookback::sequential | n - 1 | n - 1 |
/// | lookback::hillis_steele | n s - 2^s + 1 | s |
/// | lookback::kogge_stone | n s - 2^s + 1 | s |
/// | lookback::brent_kung | 2 n - 2 - s | 2 s - 1 |
/// | lookback::blelloch | 2 (n - 1) - s | 2 s |
/// | lookback::warp_shuffle | about 6 n | 10 + items of a thread |
/// | lookback::three_phase | about 2 n | 2 items of a thread, and those of its `Network` |
///
/// s = ceil(log2 n). In one step, all threads work at once. The table is for an n that is a power
/// of two; each type's page has the exact counts.

namespace lookback {
inline namespace LOOKBACK_ABI {

/// A scan of the items that the threads of one block hold, in blocked order: thread t has items
/// `t * Items` to `t * Items + Items - 1`.
///
///     __global__ void kernel(const int *x, int *y) { // one block of 256 threads
///       using scan = lookback::block_scan<int, 256, lookback::brent_kung>;
///       __shared__ scan::storage storage;
///       y[threadIdx.x] = scan(storage).inclusive(x[threadIdx.x], lookback::plus{});
///     }
///
/// Notation: `a . b` is `op(a, b)`, `x(i)` item i of the block, `y(i)` its result.
///
/// **Common to all calls**
///
/// - *Threads*: all threads of the block call, with the same `count`. The block is one-dimensional.
/// - `count`: items from `count` on are neither read nor written.
/// - *Operator*: associative. It need not be commutative, no identity is assumed, and it is applied
///   to valid items only, in order.
/// - *Repeated use*: call `__syncthreads()` between two scans with the same storage.
/// - *Determinism*: the same bits for the same block scan, threads, items and `count`.
/// - *Complexity*: see the block scan.
///
/// @tparam T        accumulator; needs a copy constructor, and assignment for the calls with arrays
/// @tparam Threads  threads of the block: a multiple of 32, at most 1024
/// @tparam Network  one of the @ref block_scans
/// @tparam Items    items of a thread
/// @ingroup block_scans
template <class T, int Threads, class Network = warp_shuffle, int Items = 1>
class block_scan {
  static_assert(Threads >= 32 && Threads <= 1024 && Threads % 32 == 0,
                "lookback::block_scan: Threads must be a multiple of 32, from 32 to 1024");
  using network = typename Network::template block<T, Threads, Items>;

public:
  /// Items of the block.
  static constexpr int elements = Threads * Items;

private:
  struct working_storage {
    typename network::storage of_network;
    detail::uninitialized_array<T, elements> items;
  };

public:
  /// The scan's memory, of any content: in shared memory, or, for a `Network` with
  /// `in_global_memory`, in global memory, one per block.
  struct storage {
    /// Raw, so that `__shared__` variables can have this type.
    alignas(working_storage) unsigned char bytes[sizeof(working_storage)];
  };
  /// Uses `memory` until the last result is read.
  LOOKBACK_DEVICE explicit block_scan(storage &memory)
      : block_scan(reinterpret_cast<working_storage &>(memory)) {}

  /// y(i) = x(0) . x(1) ... x(i)
  ///
  /// `x` and `y` may be the same array.
  template <class Operator>
  LOOKBACK_DEVICE void inclusive(const T (&x)[Items], T (&y)[Items], Operator op,
                                 int count = elements) {
    scan<true>(&x[0], count, detail::to_own_operator<T>(op));
    for_own_items(count, [&](int k, int i) { y[k] = network_.template result<true>(i); });
  }
  /// y(i) = initial . x(0) . x(1) ... x(i - 1), y(0) = initial
  ///
  /// `x` and `y` may be the same array.
  template <class Operator>
  LOOKBACK_DEVICE void exclusive(const T (&x)[Items], T (&y)[Items], const T &initial, Operator op,
                                 int count = elements) {
    auto &&own = detail::to_own_operator<T>(op);
    scan<false>(&x[0], count, own);
    for_own_items(count, [&](int k, int i) {
      y[k] = i == 0 ? initial : static_cast<T>(own(initial, network_.template result<false>(i)));
    });
  }

  /// y(i) = x(0) . x(1) ... x(i), one item a thread
  ///
  /// Threads from `count` on return their `x`.
  template <class Operator>
  LOOKBACK_DEVICE T inclusive(const T &x, Operator op, int count = elements) {
    static_assert(Items == 1, "lookback::block_scan: with several items per thread, pass arrays");
    scan<true>(&x, count, detail::to_own_operator<T>(op));
    return simt::thread_index() < count ? network_.template result<true>(simt::thread_index()) : x;
  }
  /// y(i) = initial . x(0) . x(1) ... x(i - 1), y(0) = initial, one item a thread
  ///
  /// Threads from `count` on return their `x`.
  template <class Operator>
  LOOKBACK_DEVICE T exclusive(const T &x, const T &initial, Operator op, int count = elements) {
    static_assert(Items == 1, "lookback::block_scan: with several items per thread, pass arrays");
    auto &&own = detail::to_own_operator<T>(op);
    scan<false>(&x, count, own);
    const int i = simt::thread_index();
    if (i >= count) return x;
    return i == 0 ? initial : static_cast<T>(own(initial, network_.template result<false>(i)));
  }

private:
  LOOKBACK_DEVICE explicit block_scan(working_storage &memory)
      : elements_(memory.items), network_(memory.of_network) {}
  template <class Function>
  LOOKBACK_DEVICE static void for_own_items(int count, Function f) {
    LOOKBACK_UNROLL
    for (int k = 0; k < Items; ++k) {
      const int i = simt::thread_index() * Items + k;
      if (i < count) f(k, i);
    }
  }
  /// A network may read any item from any thread, so all items are stored first.
  template <bool Inclusive, class Operator>
  LOOKBACK_DEVICE void scan(const T *x, int count, Operator &&op) {
    if (count <= 0) return;
    for_own_items(count, [&](int k, int i) { detail::construct(elements_[i], x[k]); });
    simt::synchronize_block();
    network_.template scan<Inclusive>(
        count, [&](int i) -> const T & { return elements_[i]; }, op);
  }
  detail::uninitialized_array<T, elements> &elements_;
  network network_;
};

} // namespace LOOKBACK_ABI
} // namespace lookback
