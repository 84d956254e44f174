// SPDX-License-Identifier: MIT
// Inputs and outputs that say or take as little as the doors ask for.
#pragma once

#include <support/host_device.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace test {

/// Takes a number by assignment alone, and keeps its label then. A constructor that would take one
/// leaves a mark.
struct assigned_number {
  static constexpr std::int32_t mark = -7;
  std::int32_t value;
  std::int32_t label;
  assigned_number() = default;
  TEST_HOST_DEVICE explicit assigned_number(std::int64_t) : value(mark), label(mark) {}
  TEST_HOST_DEVICE assigned_number &operator=(std::int32_t number) {
    value = number;
    return *this;
  }
};
inline bool operator==(assigned_number a, assigned_number b) {
  return a.value == b.value && a.label == b.label;
}

/// An iterator without a nested type: its value type stands in std::iterator_traits alone.
template <class T>
struct untyped_iterator {
  T *memory;
  TEST_HOST_DEVICE T &operator*() const { return *memory; }
  TEST_HOST_DEVICE T &operator[](std::ptrdiff_t i) const { return memory[i]; }
  TEST_HOST_DEVICE untyped_iterator operator+(std::ptrdiff_t distance) const {
    return {memory + distance};
  }
  TEST_HOST_DEVICE std::ptrdiff_t operator-(untyped_iterator other) const {
    return memory - other.memory;
  }
  TEST_HOST_DEVICE bool operator==(untyped_iterator other) const { return memory == other.memory; }
};

} // namespace test

template <class T>
struct std::iterator_traits<test::untyped_iterator<T>> {
  using value_type = std::remove_const_t<T>;
  using reference = T &;
  using pointer = T *;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;
};
