// SPDX-License-Identifier: MIT
// The oracle: every scan as a loop from left to right. The 16 Thrust calls and the CUB-shaped ones
// are these four with the operator, the initial value and the accumulator type `T` of the call; a
// transform is applied to the input first.
#pragma once

#include <support/host_device.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

namespace test {

/// Each element converted to `T`, as the scan does before it combines.
template <class T, class In>
std::vector<T> converted(const std::vector<In> &values) {
  std::vector<T> result;
  result.reserve(values.size());
  for (const In &value : values) result.push_back(static_cast<T>(value));
  return result;
}

template <class T, class In, class Transform>
std::vector<T> transformed(const std::vector<In> &values, Transform transform) {
  std::vector<T> result;
  result.reserve(values.size());
  for (const In &value : values) result.push_back(static_cast<T>(transform(value)));
  return result;
}

template <class T, class Operator>
std::vector<T> serial_inclusive(const std::vector<T> &in, Operator op, std::optional<T> init = {}) {
  std::vector<T> out;
  out.reserve(in.size());
  for (const T &value : in) {
    if (!out.empty())
      out.push_back(static_cast<T>(op(T(out.back()), value)));
    else
      out.push_back(init ? static_cast<T>(op(*init, value)) : value);
  }
  return out;
}

template <class T, class Operator>
std::vector<T> serial_exclusive(const std::vector<T> &in, Operator op, T init) {
  std::vector<T> out;
  out.reserve(in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    out.push_back(i == 0 ? init : static_cast<T>(op(T(out.back()), in[i - 1])));
  return out;
}

template <class T, class Key, class Equal, class Operator>
std::vector<T> serial_inclusive_by_key(const std::vector<Key> &keys, const std::vector<T> &in,
                                       Equal equal, Operator op) {
  std::vector<T> out;
  out.reserve(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool head = i == 0 || !equal(keys[i - 1], keys[i]);
    out.push_back(head ? in[i] : static_cast<T>(op(out.back(), in[i])));
  }
  return out;
}

template <class T, class Key, class Equal, class Operator>
std::vector<T> serial_exclusive_by_key(const std::vector<Key> &keys, const std::vector<T> &in,
                                       Equal equal, Operator op, T init) {
  std::vector<T> out;
  out.reserve(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool head = i == 0 || !equal(keys[i - 1], keys[i]);
    out.push_back(head ? init : static_cast<T>(op(out.back(), in[i - 1])));
  }
  return out;
}

inline constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// Index of the first difference, floating-point numbers by their bits; `nowhere` when there is
/// none.
template <class T>
std::size_t first_difference(const std::vector<T> &actual, const std::vector<T> &expected) {
  if (actual.size() != expected.size())
    return actual.size() < expected.size() ? actual.size() : expected.size();
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if constexpr (std::is_floating_point<T>::value) {
      if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0) return i;
    } else {
      if (!(actual[i] == expected[i])) return i;
    }
  }
  return nowhere;
}

} // namespace test
