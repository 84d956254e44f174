// SPDX-License-Identifier: MIT
// The output of a scan that begins before its output: with the group of its first element.
#pragma once

#include <lookback/core/monoid.cuh>

#include <cstddef>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Output whose first results are not written: they belong to earlier shards, or to earlier
/// chunks.
template <class Output, class Stored>
class output_after {
public:
  using value_type = value_t<Output>;
  using difference_type = std::ptrdiff_t;
  class place {
  public:
    LOOKBACK_DEVICE place(const Output &output, difference_type i) : output_(output), i_(i) {}
    LOOKBACK_NO_EXECUTION_CHECK
    template <class T>
    LOOKBACK_DEVICE const place &operator=(const T &result) const {
      if (i_ >= 0) output_[i_] = static_cast<Stored>(result); // mutant: head-output
      return *this;
    }

  private:
    const Output &output_;
    difference_type i_;
  };
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE output_after(Output output, difference_type position)
      : output_(output), position_(position) {}
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE output_after operator+(difference_type distance) const {
    return {output_, position_ + distance};
  }
  LOOKBACK_DEVICE place operator[](difference_type i) const { return {output_, position_ + i}; }

private:
  Output output_;
  difference_type position_; // of element 0; negative before the output
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
