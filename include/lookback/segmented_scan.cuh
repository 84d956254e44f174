// SPDX-License-Identifier: MIT
// Scans of segments that are given by offsets, as free functions.
#pragma once

#include <lookback/host/host_lines.cuh>
#include <lookback/scan.cuh>
#if defined(__CUDACC__)
#include <lookback/dispatch/policy_segments.cuh>
#endif

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <bool Inclusive, class T, class Derived, class Input, class Begins, class Ends,
          class Output, class Operator, class Initial>
void run_segments(const host_execution_policy<Derived> &, Input first, Begins begins, Ends ends,
                  std::int64_t segments, Output result, Operator op, Initial initial) {
  scan_segments<Inclusive, T>(unwrap(first), begins, ends, segments, unwrap(result), op, initial);
}

} // namespace detail

inline namespace LOOKBACK_DEFAULT_STREAM {

/// @addtogroup segmented_scans
/// Scans of many segments in one call. Segment s has the elements x(begins[s]) to x(ends[s] - 1),
/// and its results are written to the same indices of the output.
///
/// @code
/// lookback::inclusive_segmented_scan(lookback::par, x, offsets, offsets + 1, segments, y, op);
/// @endcode
///
/// Notation: `a . b` is `op(a, b)`; x(0), x(1), ... are the elements from `first` on, y(i) the
/// results from `result` on; b = begins[s], where segment s contains i.
///
/// **Common to all calls**
///
/// - `policy`: one of lookback's @ref policies, lookback::host, or `thrust::cuda::par` and the
///   policies made from it. A strategy chosen by `.with()` has no effect. Not in device code.
/// - `begins`, `ends`: iterators with random access over integers, `segments` of them each.
///   Segments may be in any order, with gaps between them. A segment whose end is not greater than
///   its begin is empty; if `segments` is zero or negative, there are none. On a GPU, the offsets
///   of adjacent segments, whose `ends` is the pointer `begins + 1`, must not descend; see
///   lookback::DeviceSegmentedScan.
/// - *Iterators*: random access, readable or writable where the policy runs. `result` may equal
///   `first`; any other overlap of input and output is undefined, and so are segments that have
///   elements in common. Elements outside the segments are not written.
/// - *Operator*, *errors*: as for @ref thrust_scans.
/// - *Element types*: on the CPU, as for @ref thrust_scans; on a GPU, as for
///   lookback::DeviceSegmentedScan.
/// - *Stream behaviour*: as for @ref thrust_scans.
/// - *Determinism*: the results of a segment are bit-identical to those of scanning it alone, by
///   lookback::inclusive_scan() or lookback::exclusive_scan(). They depend neither on the other
///   segments nor on where the segment is (lookback::tree_shape).
/// - *Threads*: on the CPU as for @ref host, by the bytes of all segments together. Threads draw
///   batches of segments with about equal numbers of elements. A segment that is longer than a
///   thread's share is scanned by all threads, after the others.
/// - *Complexity*: about 2 n applications of the operator for n elements in all; the offsets are
///   read several times. On a GPU, blocks have about equal numbers of elements, too, and many
///   blocks share a long segment: lookback::DeviceSegmentedScan.
///
/// @{

/// y(i) = x(b) . x(b + 1) ... x(i)
template <class Policy, class Input, class Begins, class Ends, class Output, class Operator = plus,
          detail::if_policy<Policy> = 0>
void inclusive_segmented_scan(const Policy &policy, Input first, Begins begins, Ends ends,
                              std::int64_t segments, Output result, Operator op = {}) {
  detail::run_segments<true, detail::value_t<Input>>(policy, first, begins, ends, segments, result,
                                                     op, detail::no_initial{});
}
/// y(i) = init . x(b) ... x(i)
template <class Policy, class Input, class Begins, class Ends, class Output, class Init,
          class Operator, detail::if_policy<Policy> = 0>
void inclusive_segmented_scan(const Policy &policy, Input first, Begins begins, Ends ends,
                              std::int64_t segments, Output result, Init init, Operator op) {
  using T = detail::accumulator_t<Operator, detail::value_t<Input>, Init>;
  detail::run_segments<true, T>(policy, first, begins, ends, segments, result, op,
                                detail::initial_value<Init>{init});
}
/// y(i) = init . x(b) ... x(i - 1), y(b) = init
template <class Policy, class Input, class Begins, class Ends, class Output, class Init,
          class Operator = plus, detail::if_policy<Policy> = 0>
void exclusive_segmented_scan(const Policy &policy, Input first, Begins begins, Ends ends,
                              std::int64_t segments, Output result, Init init, Operator op = {}) {
  detail::run_segments<false, Init>(policy, first, begins, ends, segments, result, op,
                                    detail::initial_value<Init>{init});
}

/// @}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace LOOKBACK_ABI
} // namespace lookback
