// SPDX-License-Identifier: MIT
// Numbers of items that only the device knows.
#pragma once

#include <lookback/core/numbers.cuh>
#include <lookback/core/problem.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// A number of items in device memory, with an upper bound that the host knows.
///
/// The calls of lookback::DeviceScan, lookback::DeviceSelect, lookback::DevicePartition,
/// lookback::DeviceReduce and lookback::DeviceRunLengthEncode accept it as `num_items`, those of
/// lookback::DeviceSegmentedScan as `num_segments`:
///
/// @code
/// const lookback::device_count n{count, at_most}; // `count` points to device memory
/// lookback::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n, stream); // storage for at_most
/// lookback::DeviceScan::InclusiveSum(temporary, bytes, in, out, n, stream);
/// @endcode
///
/// The result has the bits of the call with `*count` items. Nothing is read or written beyond
/// them, so the input and the output need not be larger. (Of segments, items are the segments.)
///
/// - *Stream behaviour*: kernels read `*count` in stream order; the host never does. A captured
///   call can be replayed with another count, up to `at_most`.
/// - *Requirements*: the storage is that of `at_most` items. `*count` must not change while the
///   call runs, and must be no part of the output.
/// - *Errors*: `cudaErrorInvalidValue` as for `at_most` items. If `*count` is negative or greater
///   than `at_most`, no output is written, and `*error` becomes `cudaErrorInvalidValue`; a valid
///   count leaves `*error` as it is. If `error` is null, the kernel prints a line and traps, as a
///   failed assertion does: the context is lost.
/// - *Complexity*: that of `*count` items. `at_most` determines the storage, the strategy and the
///   grid. Kernels read the count first, and blocks without a tile end at once.
/// - Refused at compile time by OffsetsFromCounts() and with lookback::reverse. With a textbook
///   strategy (`<lookback/catalogue.cuh>`), a call returns `cudaErrorNotSupported`.
///
/// @tparam Int  an integer type
/// @ingroup cub_scans
template <class Int>
struct device_count {
  static_assert(detail::is_count<Int>, "lookback::device_count: the count must be an integer");

  /// @param number   points to the number of items, in memory that the device can read
  /// @param most     the greatest possible count, of any integer type
  /// @param failure  null, or points to an int in device or pinned memory
  template <class Bound>
  device_count(const Int *number, Bound most, int *failure = nullptr)
      : count(number), at_most(detail::item_count(most)), error(failure) {}

  const Int *count;     ///< points to the number of items
  std::int64_t at_most; ///< the greatest possible count
  int *error;           ///< the place for the error, or null
};

namespace detail {

template <class Int>
inline constexpr bool is_count<device_count<Int>> = true;
template <class Count>
inline constexpr bool is_device_count = false;
template <class Int>
inline constexpr bool is_device_count<device_count<Int>> = true;

/// One sequence whose length is in device memory. `items` is the upper bound, until a kernel has
/// read the length.
template <class Int>
struct linear_on_device : linear {
  static constexpr int invalid_value = 1; // cudaErrorInvalidValue
  const Int *count = nullptr;
  int *error = nullptr;

  /// At least one: a kernel must read the length, even if it can only be 0.
  LOOKBACK_HOST_DEVICE constexpr std::uint64_t tiles(int tile_items) const {
    return items == 0 ? 1 : linear::tiles(tile_items);
  }
  /// Reads the length, which replaces the bound. Returns whether it is valid; if not, it is 0.
  LOOKBACK_HOST_DEVICE_INLINE bool read() {
    const auto found = static_cast<widest_for<Int>>(*count);
    const bool is_valid = found <= items; // a negative number is greater // mutant: count-bound
    items = is_valid ? static_cast<std::uint64_t>(found) : 0; // mutant: count-read
    return is_valid;
  }
};

/// Whether only the device knows the number of items of a problem.
template <class Problem>
inline constexpr bool counts_on_device = false;
template <bool Inclusive, class T, class Input, class Operator, class Initial, class Sink,
          class Int>
inline constexpr bool counts_on_device<
    scan_problem<Inclusive, T, Input, Operator, Initial, Sink, linear_on_device<Int>>> = true;

/// For calls that need the number of items on the host.
template <class Int>
constexpr std::int64_t item_count(const device_count<Int> &) {
  static_assert(!is_count<Int>,
                "lookback::device_count: this call needs a number of items that the "
                "host knows");
  return -1;
}
/// The number of items as the dispatch takes it: a 64-bit integer or a device_count.
template <class Count>
constexpr std::int64_t length_of(Count num_items) {
  return item_count(num_items);
}
template <class Int>
device_count<Int> length_of(const device_count<Int> &num_items) {
  return num_items;
}

/// The number of items of a call as far as the host knows it: the number, or its bound.
inline std::int64_t bound_of(std::int64_t n) { return n; }
template <class Int>
std::int64_t bound_of(const device_count<Int> &n) {
  return n.at_most;
}
template <class Int>
linear_on_device<Int> extent_of(const device_count<Int> &n) {
  linear_on_device<Int> extent;
  extent.items = static_cast<std::uint64_t>(n.at_most);
  extent.count = n.count;
  extent.error = n.error;
  return extent;
}
/// The problem over `n` items.
template <class Problem>
Problem over_items(const Problem &problem, std::int64_t n) {
  return problem.over({static_cast<std::uint64_t>(n)});
}
template <bool Inclusive, class T, class Input, class Operator, class Initial, class Sink,
          class Int>
auto over_items(const scan_problem<Inclusive, T, Input, Operator, Initial, Sink> &problem,
                const device_count<Int> &n) {
  return scan_problem<Inclusive, T, Input, Operator, Initial, Sink, linear_on_device<Int>>(
      problem.input, problem.op, problem.initial, problem.sink, extent_of(n));
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
