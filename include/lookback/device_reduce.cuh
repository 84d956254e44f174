// SPDX-License-Identifier: MIT
// The CUB interface: `lookback::DeviceReduce::ReduceByKey` in place of `cub::DeviceReduce`'s.
// Includes neither Thrust nor CUB.
#pragma once

#include <lookback/core/runs.cuh>
#include <lookback/dispatch/device_problem.cuh>
#include <lookback/dispatch/select_call.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Reductions of device memory with the names and parameters of `cub::DeviceReduce`: the one that
/// is a scan.
///
/// @code
/// std::size_t bytes = 0;
/// lookback::DeviceReduce::ReduceByKey(nullptr, bytes, keys, unique_keys, values, sums, num_runs,
///                                     lookback::plus{}, n, stream); // the size only
/// lookback::DeviceReduce::ReduceByKey(temporary, bytes, keys, unique_keys, values, sums, num_runs,
///                                     lookback::plus{}, n, stream);
/// @endcode
///
/// @ingroup cub_selections
struct DeviceReduce {
  /// For every run of equal keys, by `==`: its first key, and the reduction of its values,
  ///
  /// v(s) . v(s + 1) ... v(e)        `a . b` is `reduction_op(a, b)`
  ///
  /// of a run from element s to element e; v(i) is element i of `d_values_in`.
  /// The results of run r go to `d_unique_out[r]` and `d_aggregates_out[r]`, and the number of runs
  /// to `*d_num_runs_out`.
  ///
  /// - *Two phases*, *one phase*, *stream behaviour*, `num_items`, *errors*: as for
  ///   lookback::DeviceSelect.
  /// - `algorithm`: lookback::fastest. lookback::look_ahead supports one tile or, if keys and
  ///   values are pointers to trivially copyable elements and the accumulator has at most 8 bytes,
  ///   any number.
  /// - *Iterators*: random access. No output may overlap an input. Nothing is written beyond the
  ///   results of the last run.
  /// - *Accumulator*: the type of `reduction_op(v, v)`; at most 4080 bytes.
  /// - *Comparison*: `==` is called once or twice for every two neighbours.
  /// - *Determinism*: the results have the bits of the last element of their run in
  ///   lookback::DeviceScan::InclusiveScanByKey, so they are the same on every run and every GPU,
  ///   for floating-point sums as well.
  /// - *Complexity*: one pass over memory: keys are read once, results written once. Values are
  ///   read once; of sums of integers on a GPU, twice where runs are short or not aligned.
  template <class Keys, class KeysOut, class Values, class ValuesOut, class Counter, class Operator,
            class Count, class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t ReduceByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                 Keys d_keys_in, KeysOut d_unique_out, Values d_values_in,
                                 ValuesOut d_aggregates_out, Counter d_num_runs_out,
                                 Operator reduction_op, Count num_items,
                                 cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(stream, d_temp_storage, temp_storage_bytes,
                                           problem(d_keys_in, d_unique_out, d_values_in,
                                                   d_aggregates_out, d_num_runs_out, reduction_op),
                                           num_items);
  }
  /// In one phase.
  template <class Keys, class KeysOut, class Values, class ValuesOut, class Counter, class Operator,
            class Count, class Env = detail::default_environment, detail::if_sequence<KeysOut> = 0,
            detail::if_count<Count> = 0>
  [[nodiscard]] static cudaError_t
  ReduceByKey(Keys d_keys_in, KeysOut d_unique_out, Values d_values_in, ValuesOut d_aggregates_out,
              Counter d_num_runs_out, Operator reduction_op, Count num_items, const Env &env = {}) {
    return detail::select_in(env,
                             problem(d_keys_in, d_unique_out, d_values_in, d_aggregates_out,
                                     d_num_runs_out, reduction_op),
                             num_items);
  }

private:
  template <class Keys, class KeysOut, class Values, class ValuesOut, class Counter, class Operator>
  static auto problem(Keys keys, KeysOut keys_output, Values values, ValuesOut values_output,
                      Counter counter, Operator op) {
    using T = detail::accumulator_t<Operator, detail::value_t<Values>>;
    return detail::make_reduction_by_key<T>(keys, values, keys_output, values_output, equal_to{},
                                            op, counter);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
