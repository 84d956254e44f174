// SPDX-License-Identifier: MIT
// Every `stride`-th element of an iterator: a line that is not contiguous, or that is read from its
// end.
#pragma once

#include <lookback/core/monoid.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Element i is first[i * stride]. A negative stride goes backwards from `first`.
template <class Iterator>
class strided {
public:
  using value_type = value_t<Iterator>;
  using difference_type = std::ptrdiff_t;

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE strided(Iterator first, difference_type stride)
      : first_(first), stride_(stride) {}
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE decltype(auto) operator*() const { return *first_; }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE decltype(auto) operator[](difference_type i) const {
    return first_[i * stride_];
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE strided operator+(difference_type distance) const {
    return {first_ + distance * stride_, stride_};
  }

private:
  Iterator first_;
  difference_type stride_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
