// SPDX-License-Identifier: MIT
// Uninitialized storage for values.
#pragma once

#include <lookback/core/config.cuh>

#include <cstddef>
#include <new>
#include <utility>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Alignment of storage for values of type T: as large as their size allows, so that a vector
/// access to shared memory touches one value only. (With a smaller alignment, compilers read bytes
/// of a neighbouring value along with a value, which races with the thread that writes the
/// neighbour.)
template <class T>
inline constexpr std::size_t storage_alignment = sizeof(T) % 16 == 0  ? 16
                                                 : sizeof(T) % 8 == 0 ? 8
                                                 : sizeof(T) % 4 == 0 ? 4
                                                                      : 1;

/// Storage for `Count` values that are constructed later, with construct(). T needs no default
/// constructor. The destructor destroys no values: the copies in a kernel end with the kernel.
template <class T, int Count>
class uninitialized_array {
public:
  LOOKBACK_HOST_DEVICE uninitialized_array() {}
  LOOKBACK_HOST_DEVICE ~uninitialized_array() {}
  LOOKBACK_HOST_DEVICE T &operator[](int i) { return items_[i]; }
  LOOKBACK_HOST_DEVICE const T &operator[](int i) const { return items_[i]; }

private:
  union {
    alignas(T) alignas(storage_alignment<T>) T items_[Count];
  };
};

/// Constructs a value in uninitialized storage.
LOOKBACK_NO_EXECUTION_CHECK
template <class T, class Value>
LOOKBACK_HOST_DEVICE void construct(T &place, Value &&value) {
  ::new (static_cast<void *>(&place)) T(std::forward<Value>(value));
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
