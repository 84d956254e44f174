// SPDX-License-Identifier: MIT
// Scans of segments that are given by offsets, as free functions, on the threads of the CPU.
#pragma once

#include <lookback/host/host_lines.cuh>
#include <lookback/scan.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
/// @addtogroup segmented_scans
/// Scans of many segments in one call. Segment s has the elements x(begins[s]) to x(ends[s] - 1),
/// and its results are written to the same indices of the output.
///
/// @code
/// lookback::inclusive_segmented_scan(lookback::host, x, offsets, offsets + 1, segments, y, op);
/// @endcode
///
/// Notation: `a . b` is `op(a, b)`; x(0), x(1), ... are the elements from `first` on, y(i) the
/// results from `result` on; b = begins[s], where segment s contains i.
///
/// **Common to all calls**
///
/// - `policy`: lookback::host, or a policy derived from lookback::host_execution_policy.
/// - `begins`, `ends`: iterators with random access over integers, `segments` of them each.
///   Segments may be in any order, with gaps between them. A segment whose end is not greater than
///   its begin is empty; if `segments` is zero or negative, there are none.
/// - *Iterators*: random access. `result` may equal `first`; any other overlap of input and output
///   is undefined, and so are segments that have elements in common. Elements outside the segments
///   are not written.
/// - *Operator*, *element types*, *errors*: as for @ref thrust_scans.
/// - *Determinism*: the results of a segment are bit-identical to those of scanning it alone, by
///   lookback::inclusive_scan() or lookback::exclusive_scan(). They depend neither on the other
///   segments nor on where the segment is (lookback::tree_shape).
/// - *Threads*: as for @ref host, by the bytes of all segments together. Threads draw batches of
///   segments with about equal numbers of elements. A segment that is longer than a thread's share
///   is scanned by all threads, after the others.
/// - *Complexity*: about 2 n applications of the operator for n elements in all; the offsets are
///   read several times.
///
/// @{

/// y(i) = x(b) . x(b + 1) ... x(i)
template <class Policy, class Input, class Begins, class Ends, class Output, class Operator = plus,
          detail::if_on_host<Policy> = 0>
void inclusive_segmented_scan(const Policy &, Input first, Begins begins, Ends ends,
                              std::int64_t segments, Output result, Operator op = {}) {
  detail::scan_segments<true, detail::value_t<Input>>(detail::unwrap(first), begins, ends, segments,
                                                      detail::unwrap(result), op,
                                                      detail::no_initial{});
}
/// y(i) = init . x(b) ... x(i)
template <class Policy, class Input, class Begins, class Ends, class Output, class Init,
          class Operator, detail::if_on_host<Policy> = 0>
void inclusive_segmented_scan(const Policy &, Input first, Begins begins, Ends ends,
                              std::int64_t segments, Output result, Init init, Operator op) {
  using T = detail::accumulator_t<Operator, detail::value_t<Input>, Init>;
  detail::scan_segments<true, T>(detail::unwrap(first), begins, ends, segments,
                                 detail::unwrap(result), op, detail::initial_value<Init>{init});
}
/// y(i) = init . x(b) ... x(i - 1), y(b) = init
template <class Policy, class Input, class Begins, class Ends, class Output, class Init,
          class Operator = plus, detail::if_on_host<Policy> = 0>
void exclusive_segmented_scan(const Policy &, Input first, Begins begins, Ends ends,
                              std::int64_t segments, Output result, Init init, Operator op = {}) {
  detail::scan_segments<false, Init>(detail::unwrap(first), begins, ends, segments,
                                     detail::unwrap(result), op, detail::initial_value<Init>{init});
}

/// @}

} // namespace LOOKBACK_ABI
} // namespace lookback
