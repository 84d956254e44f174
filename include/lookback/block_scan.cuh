// SPDX-License-Identifier: MIT
// The block door: the networks of the catalogue in a kernel of your own.
//
//   __global__ void kernel(const int *x, int *y) {
//     using scan = lookback::block_scan<int, 256, lookback::brent_kung>;
//     __shared__ scan::storage storage;
//     y[threadIdx.x] = scan(storage).inclusive(x[threadIdx.x], lookback::plus{});
//   }
#pragma once

#include <lookback/block/blelloch.cuh>
#include <lookback/block/brent_kung.cuh>
#include <lookback/block/hillis_steele.cuh>
#include <lookback/block/kogge_stone.cuh>
#include <lookback/block/sequential.cuh>
#include <lookback/block/three_phase.cuh>
#include <lookback/block/warp_shuffle.cuh>

namespace lookback {

/// A scan over the elements that the threads of one block hold: thread t has elements t * Items, ..., t * Items + Items - 1.
///
///   T         needs a copy constructor (and, for the calls with arrays, assignment)
///   Threads   of the block: one-dimensional, all of its threads, a multiple of 32
///   Network   sequential, hillis_steele, kogge_stone<...>, brent_kung, blelloch<...>, three_phase<...> or warp_shuffle
///   storage   in shared memory; for a network with `in_global_memory`, in global memory, one for every block. Any content
///             will do. Between two scans with the same storage, synchronise the block.
///
/// All threads call, with the same `count`: elements from `count` on are neither read nor written. op is associative; it need
/// not commute, and it is applied to elements in order and to nothing else. Work and steps: see the network's file.
template <class T, int Threads, class Network = warp_shuffle, int Items = 1>
class block_scan {
  static_assert(Threads >= 32 && Threads <= 1024 && Threads % 32 == 0,
                "lookback::block_scan: Threads must be a multiple of 32, from 32 to 1024");
  using network = typename Network::template block<T, Threads, Items>;

public:
  /// Of a block.
  static constexpr int elements = Threads * Items;

private:
  struct room {
    typename network::storage working;
    detail::uninitialized_array<T, elements> laid_out;
  };

public:
  /// Bytes, so that a __shared__ variable can be of this type.
  struct storage {
    alignas(room) unsigned char bytes[sizeof(room)];
  };
  LOOKBACK_DEVICE explicit block_scan(storage &memory) : block_scan(reinterpret_cast<room &>(memory)) {}

  /// y(i) = x(0) . x(1) ... x(i)
  template <class Operator>
  LOOKBACK_DEVICE void inclusive(const T (&x)[Items], T (&y)[Items], Operator op, int count = elements) {
    scan<true>(&x[0], count, op);
    for_mine(count, [&](int k, int i) { y[k] = network_.template result<true>(i); });
  }
  /// y(i) = initial . x(0) . x(1) ... x(i - 1), y(0) = initial
  template <class Operator>
  LOOKBACK_DEVICE void exclusive(const T (&x)[Items], T (&y)[Items], const T &initial, Operator op,
                                 int count = elements) {
    scan<false>(&x[0], count, op);
    for_mine(count, [&](int k, int i) {
      y[k] = i == 0 ? initial : static_cast<T>(op(initial, network_.template result<false>(i)));
    });
  }

  /// The same with one element a thread. A thread from `count` on gets its own element back.
  template <class Operator>
  LOOKBACK_DEVICE T inclusive(const T &x, Operator op, int count = elements) {
    static_assert(Items == 1, "lookback::block_scan: with several items per thread, pass arrays");
    scan<true>(&x, count, op);
    return simt::thread_index() < count ? network_.template result<true>(simt::thread_index()) : x;
  }
  /// The same, exclusive.
  template <class Operator>
  LOOKBACK_DEVICE T exclusive(const T &x, const T &initial, Operator op, int count = elements) {
    static_assert(Items == 1, "lookback::block_scan: with several items per thread, pass arrays");
    scan<false>(&x, count, op);
    const int i = simt::thread_index();
    if (i >= count) return x;
    return i == 0 ? initial : static_cast<T>(op(initial, network_.template result<false>(i)));
  }

private:
  LOOKBACK_DEVICE explicit block_scan(room &memory) : elements_(memory.laid_out), network_(memory.working) {}
  template <class Function>
  LOOKBACK_DEVICE static void for_mine(int count, Function f) {
    LOOKBACK_UNROLL
    for (int k = 0; k < Items; ++k) {
      const int i = simt::thread_index() * Items + k;
      if (i < count) f(k, i);
    }
  }
  /// A network asks for elements wherever it likes, so they are laid out for all threads first.
  template <bool Inclusive, class Operator>
  LOOKBACK_DEVICE void scan(const T *x, int count, Operator &op) {
    if (count <= 0) return;
    for_mine(count, [&](int k, int i) { detail::construct(elements_[i], x[k]); });
    simt::synchronize_block();
    network_.template scan<Inclusive>(
        count, [&](int i) -> const T & { return elements_[i]; }, op);
  }
  detail::uninitialized_array<T, elements> &elements_;
  network network_;
};

} // namespace lookback
