// SPDX-License-Identifier: MIT
// Scans of segments and along an axis on a Thrust CUDA policy.
#pragma once

#include <lookback/dispatch/axis_call.cuh>
#include <lookback/dispatch/scan_call.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

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

/// Scans lines on the policy's stream.
template <bool Inclusive, class T, class Derived, class Input, class Output, class Operator,
          class Initial>
void run_axis(const thrust::cuda_cub::execution_policy<Derived> &exec, Input first,
              const axis &lines, Output result, Operator op, Initial initial) {
  if (lines.outer <= 0 || lines.length <= 0 || lines.inner <= 0) return;
  const auto problem = make_problem<Inclusive, T>(unwrap(first), unwrap(result), op, initial);
  run_in_two_phases(
      exec,
      [&](void *storage, std::size_t &bytes, const launcher &launch) {
        return axis_scans::scan(storage, bytes, problem, lines, launch);
      },
      "lookback: too many lines along the axis",
      [](cudaError_t) { return std::string("lookback: launching the scan along an axis"); });
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
