// SPDX-License-Identifier: MIT
// Memory for the values of a tile: in place where it is small, on the heap where it is large. Scans
// run on threads whose stacks may be small, and accumulators may be much larger than the elements:
// a tile of 16,384 bytes has as many accumulators.
#pragma once

#include <lookback/core/storage.cuh>

#include <cstddef>
#include <memory>
#include <type_traits>

namespace lookback::detail {

/// Whether dozens of values may be on the stack at a time: the steps of a recursion over a vector,
/// or the lanes of a row.
template <class T>
inline constexpr bool is_small = sizeof(T) <= 256;

/// A value that is nothing but bytes, and few of them: it can be written over without being ended
/// first.
template <class T>
inline constexpr bool is_plain = std::is_trivially_copyable<T>::value &&is_small<T>;

/// Bytes that a room has in place. A scan has some ten rooms at a time: they fit a stack of 256 KB.
inline constexpr std::size_t most_in_place = std::size_t{16} << 10;

/// Uninitialised memory on the heap for `count` objects.
template <class T>
class raw_room {
public:
  explicit raw_room(std::size_t count)
      : count_(count), address_(std::allocator<T>().allocate(count)) {}
  raw_room(const raw_room &) = delete;
  raw_room &operator=(const raw_room &) = delete;
  ~raw_room() { std::allocator<T>().deallocate(address_, count_); }
  T *address() const { return address_; }

private:
  std::size_t count_;
  T *address_;
};

/// Uninitialised memory for `Capacity` values, in place if they have at most `MostInPlace` bytes.
template <class T, int Capacity, std::size_t MostInPlace,
          bool = (Capacity * sizeof(T) <= MostInPlace)>
class room {
public:
  T *address() { return &items_[0]; }
  const T *address() const { return &items_[0]; }

private:
  using array = uninitialized_array<T, Capacity>;
  // Loads and stores of the CPU's vectors then lie within a cache line.
  alignas(array) alignas(is_plain<T> ? 64 : 1) array items_;
};
template <class T, int Capacity, std::size_t MostInPlace>
class room<T, Capacity, MostInPlace, false> : public raw_room<T> {
public:
  room() : raw_room<T>(Capacity) {}
};

/// Room for at most `Capacity` values, filled in order from place 0. What is there is ended with
/// the room.
template <class T, int Capacity, std::size_t MostInPlace = most_in_place>
class ordered_room {
public:
  ordered_room() {}
  ordered_room(const ordered_room &) = delete;
  ordered_room &operator=(const ordered_room &) = delete;
  ~ordered_room() { clear(); }

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
  room<T, Capacity, MostInPlace> items_;
  int size_ = 0; // counted only where it matters
};

} // namespace lookback::detail
