// SPDX-License-Identifier: MIT
// Scans along an axis of an array, as free functions: along rows, columns, planes and batches of
// them, on a GPU or on the threads of the CPU.
#pragma once

#include <lookback/host/host_lines.cuh>
#include <lookback/scan.cuh>
#if defined(__CUDACC__)
#include <lookback/dispatch/policy_segments.cuh>
#endif

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <bool Inclusive, class T, class Derived, class Input, class Output, class Operator,
          class Initial>
void run_axis(const host_execution_policy<Derived> &, Input first, const axis &lines, Output result,
              Operator op, Initial initial) {
  scan_axis<Inclusive, T>(unwrap(first), lines, unwrap(result), op, initial);
}

} // namespace detail

inline namespace LOOKBACK_DEFAULT_STREAM {

/// @addtogroup axes
/// Scans of all lines along one axis of an array: its rows, its columns, or those of a batch.
///
/// @code
/// const lookback::axis columns{1, rows, width}; // of a row-major matrix
/// lookback::inclusive_axis_scan(lookback::host, x, columns, y);
/// @endcode
///
/// Notation: `a . b` is `op(a, b)`; x(0) to x(length - 1) are the elements of a line in the order
/// of the scan, and y(i) is the result of x(i). With axis::reverse, x(0) is the line's last
/// element.
///
/// **Common to all calls**
///
/// - `policy`: one of lookback's @ref policies, `thrust::cuda::par` or a policy made from it,
///   lookback::host, or a policy derived from lookback::host_execution_policy. A strategy chosen by
///   `.with()` has no effect. Not in device code.
/// - `lines`: the lines (lookback::axis). If outer, length or inner is zero or negative, there are
///   none.
/// - *Iterators*: random access, to the array's first element. `result` may equal `first` if input
///   and output pitches are equal; any other overlap is undefined. Elements between the lines are
///   not written.
/// - *On a GPU*: element types, temporary storage and complexity are those of
///   lookback::DeviceAxisScan; *stream behaviour* as for @ref thrust_scans.
/// - *Operator*, *element types* on the CPU: as for @ref thrust_scans.
/// - *Errors*: `std::invalid_argument` for negative pitches, for output pitches that do not nest
///   (that along the axis must be at least inner, and the outer one at least the span of a line, or
///   the same with both exchanged), and for lines that span more than 2^63 - 1 elements; otherwise
///   as for @ref thrust_scans.
/// - *Determinism*: the results of a line are bit-identical to those of scanning it alone, forward
///   or reverse, by lookback::inclusive_scan() or lookback::exclusive_scan(). They depend neither
///   on the other lines nor on the pitches (lookback::tree_shape).
/// - *Threads*: on the CPU as for @ref host, by the bytes of all lines together. A thread scans
///   adjacent lines (columns) together, in the order of memory, if there are at least 8 of them and
///   the accumulator is trivially copyable and small; other lines are scanned one by one. A line
///   that is longer than a thread's share is scanned by all threads, unless it is scanned together
///   with others.
/// - *Complexity*: about 2 n applications of the operator for n elements in all.
///
/// @{

/// y(i) = x(0) . x(1) ... x(i)
template <class Policy, class Input, class Output, class Operator = plus,
          detail::if_policy<Policy> = 0>
void inclusive_axis_scan(const Policy &policy, Input first, const axis &lines, Output result,
                         Operator op = {}) {
  detail::run_axis<true, detail::value_t<Input>>(policy, first, lines, result, op,
                                                 detail::no_initial{});
}
/// y(i) = init . x(0) ... x(i)
template <class Policy, class Input, class Output, class Init, class Operator,
          detail::if_policy<Policy> = 0>
void inclusive_axis_scan(const Policy &policy, Input first, const axis &lines, Output result,
                         Init init, Operator op) {
  using T = detail::accumulator_t<Operator, detail::value_t<Input>, Init>;
  detail::run_axis<true, T>(policy, first, lines, result, op, detail::initial_value<Init>{init});
}
/// y(i) = init . x(0) ... x(i - 1), y(0) = init
template <class Policy, class Input, class Output, class Init, class Operator = plus,
          detail::if_policy<Policy> = 0>
void exclusive_axis_scan(const Policy &policy, Input first, const axis &lines, Output result,
                         Init init, Operator op = {}) {
  detail::run_axis<false, Init>(policy, first, lines, result, op,
                                detail::initial_value<Init>{init});
}

/// @}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace LOOKBACK_ABI
} // namespace lookback
