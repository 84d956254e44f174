// SPDX-License-Identifier: MIT
// Sinks: where the results of a scan go.
//
//   output                    the iterator that results are written to
//   project(scanned, item)    the result of an item, from its scanned value
//   needs_item                whether it also reads the item
//   stored<T, Item>           the type of results in memory, of a scan of Items over accumulators T
//   compacts                  whether kept items alone have results, at consecutive places
//                             (core/candidates.cuh)
//   places_rejected           whether rejected items have results, too
//   scatters                  whether `output[i] = result` may write elsewhere, or nothing
//                             (core/runs.cuh)
//   wants_total               whether the sink also takes the total, init . x(0) ... x(n - 1), by
//                             set_total(), or by set_nothing() if there is neither an item nor an
//                             initial value; not on the CPU, nor by textbook strategies
//
// A group_prefix_sink also receives a prefix, from the strategies that store rows of results
// (tile/scan_tile.cuh).
#pragma once

#include <lookback/core/monoid.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The default projection: an element's result is its scanned value. `needs_item`: whether a
/// projection also reads the element.
struct scanned_itself {
  static constexpr bool needs_item = false;
  template <class T, class Item>
  LOOKBACK_HOST_DEVICE const T &operator()(const T &scanned, const Item &) const {
    return scanned;
  }
};

/// The type that a store converts a result to. Only a pointer determines it: an assignment through
/// any other iterator may do more than a store.
template <class Iterator, class Fallback>
struct stored_value {
  using type = Fallback;
};
template <class Value, class Fallback>
struct stored_value<Value *, Fallback> {
  using type = Value;
};

/// Every result goes to its own place: output[i] = project(y(i), x(i)).
template <class Output, class Project = scanned_itself>
struct dense {
  using output_type = Output;
  static constexpr bool wants_total = false, compacts = false, scatters = false,
                        places_rejected = false;
  static constexpr bool needs_item = Project::needs_item;
  template <class T, class Item>
  using result = std::decay_t<decltype(std::declval<const Project &>()(
      std::declval<const T &>(), std::declval<const Item &>()))>;
  template <class T, class Item>
  using stored = typename stored_value<Output, result<T, Item>>::type;

  Output output;
  Project project;
};

/// Output of a scan that also has a place for its total.
template <class Output, class Total>
struct output_with_total {
  Output output;
  Total total;
};

template <class Output>
inline constexpr bool has_total = false;
template <class Output, class Total>
inline constexpr bool has_total<output_with_total<Output, Total>> = true;

/// A `Sink` that also writes the total of the scan to `*total`.
template <class Sink, class Total>
struct total_sink : Sink {
  static constexpr bool wants_total = true;
  Total total;

  LOOKBACK_NO_EXECUTION_CHECK
  template <class T>
  LOOKBACK_HOST_DEVICE void set_total(const T &value) const {
    *total = static_cast<typename stored_value<Total, T>::type>(value); // mutant: total-place
  }
  /// Writes nothing: the operator has no known identity.
  LOOKBACK_HOST_DEVICE void set_nothing() const {}
};

/// A `Sink` that also receives the prefix of the scan's last group (core/tree.cuh). The scan has an
/// initial value, so that every group has a prefix.
template <class Sink, class T>
struct group_prefix_sink : Sink {
  T *group_prefix;
};
template <class Sink>
inline constexpr bool wants_group_prefix = false;
template <class Sink, class T>
inline constexpr bool wants_group_prefix<group_prefix_sink<Sink, T>> = true;

} // namespace detail

/// The output of a scan that also writes its total, init . x(0) . x(1) ... x(num_items - 1).
///
/// lookback::DeviceScan accepts it as `d_out`, in calls without keys:
///
/// @code
/// lookback::DeviceScan::InclusiveSum(temporary, bytes, in, lookback::with_total(out, total), n);
/// @endcode
///
/// The kernel that writes the results also writes the total. Its bits are those of the last result
/// of the inclusive scan, or of y(num_items - 1) . x(num_items - 1) of the exclusive one, as an
/// accumulator. Without items, it is init; if there is no initial value either, nothing is written.
/// With a textbook strategy (`<lookback/catalogue.cuh>`), the call returns `cudaErrorNotSupported`.
///
/// @param output  where the results go
/// @param total   where the total goes, an iterator of one element: in device memory, or in pinned
///                host memory. The element must be no part of the input or the output.
/// @ingroup cub_scans
template <class Output, class Total>
detail::output_with_total<Output, Total> with_total(Output output, Total total) {
  return {output, total};
}

} // namespace LOOKBACK_ABI
} // namespace lookback
