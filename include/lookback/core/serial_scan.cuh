// SPDX-License-Identifier: MIT
// A serial scan by one thread: the implementation of a call in device code.
#pragma once

#include <lookback/core/known_operators.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Element i of an iterator, as an accumulator.
LOOKBACK_NO_EXECUTION_CHECK
template <class T, class Input>
LOOKBACK_HOST_DEVICE T serial_element(const Input &first, std::ptrdiff_t i) {
  return static_cast<T>(static_cast<value_t<Input>>(first[i]));
}

LOOKBACK_NO_EXECUTION_CHECK
template <class T, class Output>
LOOKBACK_HOST_DEVICE void serial_store(const Output &result, std::ptrdiff_t i, const T &value) {
  using place = decltype(result[i]);
  if constexpr (std::is_assignable<place, const T &>::value)
    result[i] = value;
  else
    result[i] = static_cast<std::decay_t<place>>(value);
}

/// y(i) = init . x(0) . x(1) ... x(i), or without the last factor when exclusive, over accumulators
/// T, for n elements. An inclusive scan starts from x(0) if `init` is null.
LOOKBACK_NO_EXECUTION_CHECK
template <bool Inclusive, class T, class Output, class Input, class Operator>
LOOKBACK_HOST_DEVICE void serial_scan(std::ptrdiff_t n, const Output &result, const Input &first,
                                      Operator operation, const T *init) {
  if (n <= 0) return;
  auto op = to_own_operator<T>(operation);
  maybe<T> scanned;
  std::ptrdiff_t i = 0;
  if (init != nullptr) {
    scanned.set(*init);
  } else {
    scanned.set(serial_element<T>(first, 0));
    serial_store(result, i++, scanned.value());
  }
  for (; i < n; ++i) {
    const T item = serial_element<T>(first, i); // read before the result may overwrite it
    if constexpr (!Inclusive) serial_store(result, i, scanned.value());
    scanned.set(static_cast<T>(op(scanned.value(), item)));
    if constexpr (Inclusive) serial_store(result, i, scanned.value());
  }
}

/// The same from the start of each segment of equal consecutive keys; `init` is null if and only if
/// the scan is inclusive.
LOOKBACK_NO_EXECUTION_CHECK
template <bool Inclusive, class T, class Output, class Keys, class Values, class Equal,
          class Operator>
LOOKBACK_HOST_DEVICE void serial_scan_by_key(std::ptrdiff_t n, const Output &result,
                                             const Keys &keys, const Values &values,
                                             Equal comparison, Operator operation, const T *init) {
  auto equal = to_own_operator<value_t<Keys>>(comparison);
  auto op = to_own_operator<T>(operation);
  maybe<T> scanned;
  maybe<value_t<Keys>> key;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const value_t<Keys> own = keys[i]; // read before the result may overwrite it
    const T item = serial_element<T>(values, i);
    const bool head = i == 0 || !equal(key.value(), own);
    key.set(own);
    if constexpr (Inclusive) {
      scanned.set(head ? item : static_cast<T>(op(scanned.value(), item)));
      serial_store(result, i, scanned.value());
    } else {
      if (head) scanned.set(*init);
      serial_store(result, i, scanned.value());
      scanned.set(static_cast<T>(op(scanned.value(), item)));
    }
  }
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
