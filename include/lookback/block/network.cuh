// SPDX-License-Identifier: MIT
// What the block networks of the catalogue have in common. A network is a type N, a room of its own
// in block/, with
//
//   N::default_items                       elements a thread, if nobody says otherwise
//   N::in_global_memory                    whether its storage is in global memory, or in shared
//                                          memory
//   N::block<T, Threads, Items>            the network for one block of Threads threads and up to
//                                          Threads * Items elements:
//     ::storage                            the room it works in; any content will do
//     block(storage &)
//     scan<Inclusive>(count, x, op)        called by all threads; x(i) is element i,
//                                          0 <= i < count, and is called once
//     result<Inclusive>(i)                 after scan: x(0) . ... . x(i), or x(0) . ... . x(i - 1),
//                                          which for i = 0 does not exist. Any thread may call it,
//                                          until the storage is used again
//
// No network assumes that the operator commutes, that it has an identity, or that count is a power
// of two; op is applied to elements that exist, in order. Counts of additions are applications of
// op.
#pragma once

#include <lookback/arch/simt.cuh>
#include <lookback/core/monoid.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Smallest power of two that is at least `n`.
LOOKBACK_HOST_DEVICE constexpr int power_of_two_from(int n) {
  int power = 1;
  while (power < n) power *= 2;
  return power;
}

template <class T>
LOOKBACK_DEVICE void exchange_places(T *&a, T *&b) {
  T *const other = a;
  a = b;
  b = other;
}

/// Calls f(k, i) for the elements i = k * Threads + thread, k < Items, of this thread that are in
/// [first, last).
template <int Threads, int Items, class Function>
LOOKBACK_DEVICE void for_each_strided(int first, int last, Function f) {
  LOOKBACK_UNROLL
  for (int k = 0; k < Items; ++k) {
    const int i = k * Threads + simt::thread_index();
    if (i >= first && i < last) f(k, i);
  }
}

/// How arrays in shared memory are aligned that vectors of 16 bytes are copied to.
template <class T>
inline constexpr std::size_t vector_alignment = alignof(T) > 16 ? alignof(T) : 16;

/// Elements that lie in memory as they are wanted can be copied past the registers: `x.can_copy()`
/// says so, and `x.copy(to, count)` does it for the whole block.
template <class Source, class = void>
inline constexpr bool may_copy = false;
template <class Source>
inline constexpr bool may_copy<Source, std::void_t<decltype(std::declval<Source &>().can_copy())>> =
    Source::may_copy;

/// Asks for x(i), i < count, and puts them to to[i]; they are there for everybody after a barrier.
/// All loads of a thread are on their way before the first is waited for.
template <int Threads, int Items, class T, class Source>
LOOKBACK_DEVICE void load_strided(int count, Source &x, T *to) {
  if constexpr (may_copy<Source>) {
    if (x.can_copy()) return x.copy(to, count);
  }
  uninitialized_array<T, Items> loaded; // (items)
  for_each_strided<Threads, Items>(0, count, [&](int k, int i) { construct(loaded[k], x(i)); });
  for_each_strided<Threads, Items>(0, count, [&](int k, int i) { construct(to[i], loaded[k]); });
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
