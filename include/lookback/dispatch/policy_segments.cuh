// SPDX-License-Identifier: MIT
// Scans of segments and of rows on a Thrust CUDA policy.
#pragma once

#include <lookback/core/checked_axis.cuh>
#include <lookback/dispatch/scan_call.cuh>
#include <lookback/dispatch/segmented_call.cuh>

#include <thrust/iterator/reverse_iterator.h>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Offsets first, first + step, ...
struct stepped_offsets {
  using value_type = std::int64_t;
  using difference_type = std::ptrdiff_t;
  std::int64_t first, step;
  LOOKBACK_HOST_DEVICE std::int64_t operator[](std::int64_t i) const { return first + i * step; }
};

inline namespace LOOKBACK_DEFAULT_STREAM {

/// Scans `segments` by `problem` on the policy's stream, as run_by() scans one sequence.
template <class Derived, class Problem, class Segments>
void run_by_units(const thrust::cuda_cub::execution_policy<Derived> &exec, const Problem &problem,
                  const Segments &segments) {
  run_in_two_phases(
      exec,
      [&](void *storage, std::size_t &bytes, const launcher &launch) {
        return segmented_scans::scan(storage, bytes, problem, segments, launch);
      },
      "lookback: too many segments",
      [](cudaError_t) { return std::string("lookback: launching the scan of segments"); });
}

template <bool Inclusive, class T, class Derived, class Input, class Begins, class Ends,
          class Output, class Operator, class Initial>
void run_segments(const thrust::cuda_cub::execution_policy<Derived> &exec, Input first,
                  Begins begins, Ends ends, std::int64_t segments, Output result, Operator op,
                  Initial initial) {
  if (segments <= 0) return;
  const auto from = plain_memory(unwrap(begins));
  const auto to = plain_memory(unwrap(ends));
  run_by_units(exec, make_problem<Inclusive, T>(unwrap(first), unwrap(result), op, initial),
               offset_segments<std::decay_t<decltype(from)>, std::decay_t<decltype(to)>>(
                   from, to, {}, segments));
}

/// Rows are segments whose offsets are computed. In reverse, they are rows of the reversed array,
/// the last row first.
template <bool Inclusive, class T, class Derived, class Input, class Output, class Operator,
          class Initial>
void run_axis(const thrust::cuda_cub::execution_policy<Derived> &exec, Input first,
              const axis &lines, Output result, Operator op, Initial initial) {
  if (lines.outer <= 0 || lines.length <= 0 || lines.inner <= 0) return;
  const axis own = checked_axis(lines);
  if (own.inner != 1 || own.input.length != 1 || own.output.length != 1)
    refuse_axis("lookback: on a GPU, axes are scanned along rows: inner and the pitches along the "
                "axis must be 1. lookback::host scans columns, too");
  // `first_row`: where row 0 begins, `length` in the input and `outer` in the output.
  const auto scan = [&](auto from, auto to, const axis::pitch &first_row, std::int64_t direction) {
    const stepped_offsets begins{first_row.length, direction * own.input.outer},
        ends{first_row.length + own.length, begins.step},
        results{first_row.outer, direction * own.output.outer};
    run_by_units(exec, make_problem<Inclusive, T>(from, to, op, initial),
                 offset_segments<stepped_offsets, stepped_offsets, stepped_offsets>(
                     begins, ends, results, own.outer));
  };
  const auto from = plain_memory(unwrap(first));
  const auto to = plain_memory(unwrap(result));
  if (!own.reverse) return scan(from, to, {0, 0}, 1);
  const std::int64_t in = (own.outer - 1) * own.input.outer,
                     out = (own.outer - 1) * own.output.outer;
  scan(thrust::make_reverse_iterator(from + (in + own.length)),
       thrust::make_reverse_iterator(to + (out + own.length)), {out, in}, -1);
}

/// Ignores the policy's strategy, which is for single sequences.
template <bool Inclusive, class T, class Policy, class Algorithm, class... Arguments>
void run_segments(const algorithm_policy<Policy, Algorithm> &exec, const Arguments &...arguments) {
  run_segments<Inclusive, T>(exec.policy(), arguments...);
}
template <bool Inclusive, class T, class Policy, class Algorithm, class... Arguments>
void run_axis(const algorithm_policy<Policy, Algorithm> &exec, const Arguments &...arguments) {
  run_axis<Inclusive, T>(exec.policy(), arguments...);
}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
