// SPDX-License-Identifier: MIT
// Room for values that need not exist yet.
#pragma once

#include <lookback/core/config.cuh>

#include <cstddef>
#include <new>
#include <utility>

namespace lookback::detail {

/// What room for values of type T is aligned to: as much as their size allows, so that a vector of theirs in shared memory is of one
/// value alone. (Of a value between two such boundaries compilers read bytes of its neighbour along, which races with who writes it.)
template <class T>
inline constexpr std::size_t room_alignment = sizeof(T) % 16 == 0  ? 16
                                              : sizeof(T) % 8 == 0 ? 8
                                              : sizeof(T) % 4 == 0 ? 4
                                                                   : 1;

/// Fixed room for `Count` values that are constructed when they are first known. Holds no default values, so that a type
/// without a default constructor fits; ends no lifetimes, since kernels' copies die with the kernel.
template <class T, int Count>
class uninitialized_array {
public:
  LOOKBACK_HOST_DEVICE uninitialized_array() {}
  LOOKBACK_HOST_DEVICE ~uninitialized_array() {}
  LOOKBACK_HOST_DEVICE T &operator[](int i) { return items_[i]; }
  LOOKBACK_HOST_DEVICE const T &operator[](int i) const { return items_[i]; }

private:
  union {
    alignas(T) alignas(room_alignment<T>) T items_[Count];
  };
};

/// First value of a place in uninitialized room.
LOOKBACK_NO_EXECUTION_CHECK
template <class T, class Value>
LOOKBACK_HOST_DEVICE void construct(T &place, Value &&value) {
  ::new (static_cast<void *>(&place)) T(std::forward<Value>(value));
}

} // namespace lookback::detail
