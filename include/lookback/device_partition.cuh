// SPDX-License-Identifier: MIT
// The CUB interface: `lookback::DevicePartition` in place of `cub::DevicePartition`. Includes
// neither Thrust nor CUB.
#pragma once

#include <lookback/core/three_parts.cuh>
#include <lookback/dispatch/device_problem.cuh>
#include <lookback/dispatch/select_call.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Partitions of device memory with the names and parameters of `cub::DevicePartition`.
///
/// Notation, requirements, stream behaviour, errors, determinism and complexity are those of
/// lookback::DeviceSelect; here both parts are written. Every call also exists in one phase. With
/// one output, the selected elements go to its beginning in their order, and the others to the end
/// of the `num_items` results, in reverse order. With three outputs, all parts are in their order.
/// No output may overlap the input or another output.
///
/// @ingroup cub_selections
struct DevicePartition {
private:
  template <class Items, class Which, class Output, class Counter>
  static auto partition(Items items, Which which, Output output, Counter counter) {
    const auto to = detail::output_of<detail::value_t<Items>>(output);
    using rejected = detail::rejected_from_end<std::decay_t<decltype(to)>>;
    return detail::make_selection(detail::plain_memory(items), which, to, rejected{to}, counter);
  }
  template <class Input, class First, class Second, class Rest, class Counters, class InFirst,
            class InSecond>
  static auto three_parts(Input input, First first, Second second, Rest rest, Counters counters,
                          InFirst in_first, InSecond in_second) {
    using item = detail::value_t<Input>;
    return detail::make_three_parts(detail::plain_memory(input), in_first, in_second,
                                    detail::output_of<item>(first), detail::output_of<item>(second),
                                    detail::output_of<item>(rest), counters);
  }

public:
  /// Selects every x(i) whose flag `d_flags[i]` is true.
  template <class Input, class Flags, class Output, class Counter, class Count, class... Algorithm,
            detail::if_count<Count> = 0>
  static cudaError_t Flagged(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                             Flags d_flags, Output d_out, Counter d_num_selected_out,
                             Count num_items, cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        partition(d_in, detail::flagged(d_flags, detail::is_set{}), d_out, d_num_selected_out),
        num_items);
  }
  /// In one phase.
  template <class Input, class Flags, class Output, class Counter, class Count,
            class Env = detail::default_environment, detail::if_sequence<Flags> = 0,
            detail::if_count<Count> = 0>
  [[nodiscard]] static cudaError_t Flagged(Input d_in, Flags d_flags, Output d_out,
                                           Counter d_num_selected_out, Count num_items,
                                           const Env &env = {}) {
    return detail::select_in(
        env, partition(d_in, detail::flagged(d_flags, detail::is_set{}), d_out, d_num_selected_out),
        num_items);
  }

  /// Selects every x(i) with `select_op(x(i))`.
  template <class Input, class Output, class Counter, class Count, class SelectOp,
            class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t If(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                        Output d_out, Counter d_num_selected_out, Count num_items,
                        SelectOp select_op, cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        partition(d_in, detail::satisfying(select_op), d_out, d_num_selected_out), num_items);
  }
  /// In one phase.
  template <class Input, class Output, class Counter, class Count, class SelectOp,
            class Env = detail::default_environment, detail::if_sequence<Output> = 0,
            detail::if_count<Count> = 0>
  [[nodiscard]] static cudaError_t If(Input d_in, Output d_out, Counter d_num_selected_out,
                                      Count num_items, SelectOp select_op, const Env &env = {}) {
    return detail::select_in(
        env, partition(d_in, detail::satisfying(select_op), d_out, d_num_selected_out), num_items);
  }

  /// Three parts, each in its order: every x(i) with `select_first_part_op(x(i))` goes to
  /// `d_first_part_out`, every other one with `select_second_part_op(x(i))` to
  /// `d_second_part_out`, and the rest to `d_unselected_out`. Writes the numbers of the first two
  /// parts to `d_num_selected_out[0]` and `d_num_selected_out[1]`. lookback::look_ahead takes one
  /// tile only.
  template <class Input, class First, class Second, class Rest, class Counters, class Count,
            class SelectFirst, class SelectSecond, class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t If(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                        First d_first_part_out, Second d_second_part_out, Rest d_unselected_out,
                        Counters d_num_selected_out, Count num_items,
                        SelectFirst select_first_part_op, SelectSecond select_second_part_op,
                        cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(stream, d_temp_storage, temp_storage_bytes,
                                           three_parts(d_in, d_first_part_out, d_second_part_out,
                                                       d_unselected_out, d_num_selected_out,
                                                       select_first_part_op, select_second_part_op),
                                           num_items);
  }
  /// In one phase.
  template <class Input, class First, class Second, class Rest, class Counters, class Count,
            class SelectFirst, class SelectSecond, class Env = detail::default_environment,
            detail::if_sequence<First> = 0, detail::if_count<Count> = 0>
  [[nodiscard]] static cudaError_t If(Input d_in, First d_first_part_out, Second d_second_part_out,
                                      Rest d_unselected_out, Counters d_num_selected_out,
                                      Count num_items, SelectFirst select_first_part_op,
                                      SelectSecond select_second_part_op, const Env &env = {}) {
    return detail::select_in(env,
                             three_parts(d_in, d_first_part_out, d_second_part_out,
                                         d_unselected_out, d_num_selected_out, select_first_part_op,
                                         select_second_part_op),
                             num_items);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
