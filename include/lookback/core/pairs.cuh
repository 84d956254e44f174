// SPDX-License-Identifier: MIT
// Keys and their values as items: two inputs or two outputs, side by side.
#pragma once

#include <lookback/core/monoid.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class Key, class Value>
struct key_and_value {
  Key key;
  Value value;
};

/// Pairs that are read from two iterators.
template <class Keys, class Values>
struct pairs_input {
  using value_type = key_and_value<value_t<Keys>, value_t<Values>>;
  using difference_type = std::ptrdiff_t;
  Keys keys;
  Values values;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE pairs_input operator+(difference_type distance) const {
    return {keys + distance, values + distance};
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE value_type operator[](difference_type i) const {
    return {static_cast<value_t<Keys>>(keys[i]), static_cast<value_t<Values>>(values[i])};
  }
};

/// Pairs that are written to two iterators.
template <class Keys, class Values>
struct pairs_output {
  using value_type = void;
  using difference_type = std::ptrdiff_t;
  struct element {
    Keys keys;
    Values values;
    difference_type i;
    LOOKBACK_NO_EXECUTION_CHECK
    template <class Key, class Value>
    LOOKBACK_HOST_DEVICE void operator=(const key_and_value<Key, Value> &pair) const {
      keys[i] = pair.key;
      values[i] = pair.value;
    }
  };
  Keys keys;
  Values values;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE element operator[](difference_type i) const { return {keys, values, i}; }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
