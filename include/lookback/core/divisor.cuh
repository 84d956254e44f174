// SPDX-License-Identifier: MIT
// Division by a number that is known before a kernel starts.
#pragma once

#include <lookback/core/config.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Divides numbers n < 2^31 by the same number d >= 1, by a multiplication and a shift: fewer
/// instructions than a division, where no other work hides their latency.
///
/// With 2^(b - 1) < d <= 2^b, the multiplier is m = ceil(2^(31 + b) / d) < 2^32, and m d exceeds
/// 2^(31 + b) by e < d <= 2^b. So n m / 2^(31 + b) exceeds n / d by n e / (d 2^(31 + b)) < 1 / d,
/// too little to reach the next integer. For d >= 2^31, every quotient is 0.
class divisor {
public:
  divisor() = default;
  explicit divisor(std::int64_t d) {
    if (d >= std::int64_t{1} << 31) {
      multiplier_ = 0; // every quotient is 0
      return;
    }
    int bits = 0;
    while (std::int64_t{1} << bits < d) ++bits;
    shift_ = 31 + bits;
    multiplier_ = static_cast<std::uint32_t>(
        ((std::uint64_t{1} << shift_) - 1) / static_cast<std::uint64_t>(d) + 1);
  }
  LOOKBACK_HOST_DEVICE unsigned quotient(unsigned n) const {
    return static_cast<unsigned>(std::uint64_t{n} * multiplier_ >> shift_);
  }

private:
  std::uint32_t multiplier_ = std::uint32_t{1} << 31; // d = 1
  int shift_ = 31;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
