// SPDX-License-Identifier: MIT
// The CUB interface: `lookback::DeviceRunLengthEncode` in place of `cub::DeviceRunLengthEncode`.
// Includes neither Thrust nor CUB.
#pragma once

#include <lookback/core/runs.cuh>
#include <lookback/dispatch/device_problem.cuh>
#include <lookback/dispatch/select_call.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Runs of equal elements, by `==`, with the names and parameters of `cub::DeviceRunLengthEncode`.
///
/// Common to both calls:
///
/// - *Two phases*, *one phase*, *stream behaviour*, `num_items`, *errors*: as for
///   lookback::DeviceSelect.
/// - `algorithm`: lookback::fastest. lookback::look_ahead supports one tile or, if `d_in` is a
///   pointer to trivially copyable elements and lengths have at most 8 bytes, any number.
/// - *Iterators*: random access. No output may overlap the input. Nothing is written beyond the
///   results of the last run.
/// - *Comparison*: `==` is called once or twice for every two neighbours.
/// - *Determinism*: the same results on every run and every GPU.
/// - *Complexity*: one pass over memory: every element is read once, every result written once.
///
/// @ingroup cub_selections
struct DeviceRunLengthEncode {
  /// For every run: its first element goes to `d_unique_out[r]`, and its length to
  /// `d_counts_out[r]`. The number of runs goes to `*d_num_runs_out`. Lengths are counted in the
  /// element type of `d_counts_out`, or in 64 bits if that has none.
  template <class Input, class Output, class Lengths, class Counter, class Count,
            class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t Encode(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                            Output d_unique_out, Lengths d_counts_out, Counter d_num_runs_out,
                            Count num_items, cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        encoding(d_in, d_unique_out, d_counts_out, d_num_runs_out), num_items);
  }
  /// In one phase.
  template <class Input, class Output, class Lengths, class Counter, class Count,
            class Env = detail::default_environment, detail::if_sequence<Output> = 0,
            detail::if_count<Count> = 0>
  [[nodiscard]] static cudaError_t Encode(Input d_in, Output d_unique_out, Lengths d_counts_out,
                                          Counter d_num_runs_out, Count num_items,
                                          const Env &env = {}) {
    return detail::select_in(env, encoding(d_in, d_unique_out, d_counts_out, d_num_runs_out),
                             num_items);
  }

  /// For every run of at least two elements: the index of its first element goes to
  /// `d_offsets_out[r]`, and its length to `d_lengths_out[r]`. The number of such runs goes to
  /// `*d_num_runs_out`.
  template <class Input, class Offsets, class Lengths, class Counter, class Count,
            class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t NonTrivialRuns(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                    Input d_in, Offsets d_offsets_out, Lengths d_lengths_out,
                                    Counter d_num_runs_out, Count num_items,
                                    cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        detail::make_long_runs(d_in, d_offsets_out, d_lengths_out, equal_to{}, d_num_runs_out),
        num_items);
  }
  /// In one phase.
  template <class Input, class Offsets, class Lengths, class Counter, class Count,
            class Env = detail::default_environment, detail::if_sequence<Offsets> = 0,
            detail::if_count<Count> = 0>
  [[nodiscard]] static cudaError_t NonTrivialRuns(Input d_in, Offsets d_offsets_out,
                                                  Lengths d_lengths_out, Counter d_num_runs_out,
                                                  Count num_items, const Env &env = {}) {
    return detail::select_in(
        env, detail::make_long_runs(d_in, d_offsets_out, d_lengths_out, equal_to{}, d_num_runs_out),
        num_items);
  }

private:
  template <class Input, class Output, class Lengths, class Counter>
  static auto encoding(Input input, Output output, Lengths lengths, Counter counter) {
    using length = typename detail::output_value<Lengths, std::int64_t>::type;
    return detail::make_reduction_by_key<length>(input, detail::ones<length>{}, output, lengths,
                                                 equal_to{}, plus{}, counter);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
