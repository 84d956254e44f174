// SPDX-License-Identifier: MIT
// Every `stride`-th element of an iterator: a line that is not contiguous, or that is scanned from
// its end.
#pragma once

#include <lookback/core/sink.cuh>
#include <lookback/host/separate_results.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Element i is first[i * stride]. A negative stride goes backwards from `first`.
template <class Iterator>
class strided {
public:
  using value_type = value_t<Iterator>;
  using difference_type = std::ptrdiff_t;

  strided(Iterator first, difference_type stride) : first_(first), stride_(stride) {}
  decltype(auto) operator[](difference_type i) const { return first_[i * stride_]; }
  strided operator+(difference_type distance) const {
    return {first_ + distance * stride_, stride_};
  }

private:
  Iterator first_;
  difference_type stride_;
};

template <class Iterator>
struct separate_results<strided<Iterator>> : separate_results<Iterator> {};
/// As through the pointer itself.
template <class Value, class Fallback>
struct stored_value<strided<Value *>, Fallback> {
  using type = Value;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
