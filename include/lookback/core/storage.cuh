// SPDX-License-Identifier: MIT
// Room for values that need not exist yet.
#pragma once

#include <lookback/core/config.cuh>

#include <new>
#include <utility>

namespace lookback::detail {

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
    T items_[Count];
  };
};

/// First value of a place in uninitialized room.
LOOKBACK_NO_EXECUTION_CHECK
template <class T, class Value>
LOOKBACK_HOST_DEVICE void construct(T &place, Value &&value) {
  ::new (static_cast<void *>(&place)) T(std::forward<Value>(value));
}

} // namespace lookback::detail
