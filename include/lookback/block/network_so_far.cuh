// SPDX-License-Identifier: MIT
// The network of the tree by one thread, one lane after the other.
#pragma once

#include <lookback/core/tree.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The first `Steps` steps of the network, for `Lanes` lanes in their order. Lanes are constants
/// after inlining, so that exactly the values that later lanes need are in registers: 2^Steps - 1.
template <class T, int Lanes, int Steps>
class network_so_far {
public:
  /// The next lane, whose aggregate is `value`.
  template <class Operator>
  LOOKBACK_DEVICE void append(int lane, const T &value, Operator &op) {
    construct(values_[0][lane], value);
    LOOKBACK_UNROLL
    for (int s = 0; s < Steps; ++s)
      construct(values_[s + 1][lane],
                network::value<T>(values_[s], lane, 1 << s, op)); // mutant: short-network
  }
  /// The value of a lane after these steps.
  LOOKBACK_DEVICE const T &through(int lane) const { return values_[Steps][lane]; }

private:
  uninitialized_array<T, Lanes> values_[Steps + 1]; // before each step, and after all
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
