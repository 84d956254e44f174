// SPDX-License-Identifier: MIT
// Storage for the values of a tile: in place if it is small, on the heap if it is large. Scans run
// on threads whose stacks may be small, and accumulators may be much larger than the elements: a
// tile of 16,384 elements of one byte has as many accumulators.
#pragma once

#include <lookback/core/storage.cuh>

#include <cstddef>
#include <memory>
#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether dozens of values may be on the stack at once, as in a recursion over a vector, or for
/// the lanes of a row.
template <class T>
inline constexpr bool is_small = sizeof(T) <= 256;

/// Whether T is small and trivially copyable: a value can then be overwritten without a call of its
/// destructor.
template <class T>
inline constexpr bool is_plain = std::is_trivially_copyable<T>::value &&is_small<T>;

/// Largest storage in place, in bytes. A scan has about ten such objects at a time: they fit a
/// stack of 256 KB.
inline constexpr std::size_t max_bytes_in_place = std::size_t{16} << 10;

/// Uninitialized memory on the heap for `count` values.
template <class T>
class heap_storage {
public:
  explicit heap_storage(std::size_t count)
      : count_(count), address_(std::allocator<T>().allocate(count)) {}
  heap_storage(const heap_storage &) = delete;
  heap_storage &operator=(const heap_storage &) = delete;
  ~heap_storage() { std::allocator<T>().deallocate(address_, count_); }
  T *address() const { return address_; }

private:
  std::size_t count_;
  T *address_;
};

/// Uninitialized storage for `Capacity` values, in place if they have at most `MaxBytesInPlace`
/// bytes.
template <class T, int Capacity, std::size_t MaxBytesInPlace,
          bool = (Capacity * sizeof(T) <= MaxBytesInPlace)>
class in_place_or_heap {
public:
  T *address() { return &items_[0]; }
  const T *address() const { return &items_[0]; }

private:
  using array = uninitialized_array<T, Capacity>;
  // Aligned to a cache line, so that no load or store of a CPU vector crosses one.
  alignas(array) alignas(is_plain<T> ? 64 : 1) array items_;
};
template <class T, int Capacity, std::size_t MaxBytesInPlace>
class in_place_or_heap<T, Capacity, MaxBytesInPlace, false> : public heap_storage<T> {
public:
  in_place_or_heap() : heap_storage<T>(Capacity) {}
};

/// Storage for at most `Capacity` values that are constructed in order, from index 0. The
/// destructor destroys them.
template <class T, int Capacity, std::size_t MaxBytesInPlace = max_bytes_in_place>
class ordered_storage {
public:
  ordered_storage() {}
  ordered_storage(const ordered_storage &) = delete;
  ordered_storage &operator=(const ordered_storage &) = delete;
  ~ordered_storage() { clear(); }

  const T &operator[](int i) const { return address()[i]; }
  T *address() { return items_.address(); }
  const T *address() const { return items_.address(); }
  template <class Value>
  void set(int i, Value &&value) {
    construct(address()[i], std::forward<Value>(value));
    if constexpr (!is_plain<T>) size_ = i + 1;
  }
  void clear() {
    if constexpr (!is_plain<T>)
      while (size_ > 0) address()[--size_].~T();
  }

private:
  in_place_or_heap<T, Capacity, MaxBytesInPlace> items_;
  int size_ = 0; // counted only if values must be destroyed
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
