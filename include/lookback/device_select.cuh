// SPDX-License-Identifier: MIT
// The CUB interface: `lookback::DeviceSelect` in place of `cub::DeviceSelect`. Includes neither
// Thrust nor CUB.
#pragma once

#include <lookback/dispatch/device_problem.cuh>
#include <lookback/dispatch/select_call.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Selections from device memory with the names and parameters of `cub::DeviceSelect`.
///
/// @code
/// std::size_t bytes = 0;
/// lookback::DeviceSelect::If(nullptr, bytes, input, output, num_selected, n, predicate, stream);
/// lookback::DeviceSelect::If(temporary, bytes, input, output, num_selected, n, predicate, stream);
/// @endcode
///
/// Notation: x(0) to x(num_items - 1) are the elements of `d_in`. Those that are selected go to
/// `d_out[0]`, `d_out[1]`, ... in their order, and their number to `*d_num_selected_out`.
///
/// **Common to all calls**
///
/// - *Two phases*: with `d_temp_storage` null, a call writes the required bytes to
///   `temp_storage_bytes` and does nothing else. With storage, of any alignment and content, it
///   enqueues the selection.
/// - *Iterators*: random access, readable or writable on the device. The output may equal the
///   input; any other overlap is undefined. Nothing is written beyond the last selected element.
/// - *Predicate, flags, comparison*: a predicate is called once for every element or flag, in any
///   order, by a copy of it; a comparison once for every two neighbours.
/// - *Element types*: a copy constructor, and what the assignment to the output needs; at most 4096
///   bytes.
/// - `num_items`: elements, not bytes; of any integer type, of 128 bits as well. 0 writes the
///   number 0. Or a lookback::device_count, if only the device knows the number.
/// - `algorithm`: lookback::fastest or lookback::look_ahead; without it, lookback::fastest.
/// - *Stream behaviour*: the selection is enqueued on `stream`. Nothing is allocated, nothing
///   synchronises, and the stream may be captured.
/// - *Errors*: as for lookback::DeviceScan.
/// - *Determinism*: the same results on every run and every GPU; selected elements keep their
///   order.
/// - *Complexity*: one pass over memory: every element is read once, every selected one written
///   once.
///
/// **One phase**
///
/// Every call also exists without `d_temp_storage` and `temp_storage_bytes`, with an optional
/// environment `env` in the place of `stream` and `algorithm`, as those of lookback::DeviceScan,
/// but without lookback::reverse:
///
/// @code
/// status = lookback::DeviceSelect::If(input, output, num_selected, n, predicate, env);
/// @endcode
///
/// @ingroup cub_selections
struct DeviceSelect {
private:
  template <class Keys, class Equal>
  static auto by_run(Keys keys, Equal equal) {
    return detail::heads_of_runs<true>(detail::plain_memory(keys), equal);
  }
  template <class Items, class Which, class Output, class Counter>
  static auto selection(Items items, Which which, Output output, Counter counter) {
    return detail::make_selection(detail::plain_memory(items), which,
                                  detail::output_of<detail::value_t<Items>>(output),
                                  detail::dropped{}, counter);
  }

public:
  /// Selects every x(i) whose flag `d_flags[i]` is true.
  template <class Input, class Flags, class Output, class Counter, class Count, class... Algorithm,
            detail::if_count<Count, Counter> = 0>
  static cudaError_t Flagged(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                             Flags d_flags, Output d_out, Counter d_num_selected_out,
                             Count num_items, cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        selection(d_in, detail::flagged(d_flags, detail::is_set{}), d_out, d_num_selected_out),
        num_items);
  }
  /// In one phase.
  template <class Input, class Flags, class Output, class Counter, class Count,
            class Env = detail::default_environment, detail::if_sequence<Flags> = 0,
            detail::if_count<Count, Counter> = 0>
  [[nodiscard]] static cudaError_t Flagged(Input d_in, Flags d_flags, Output d_out,
                                           Counter d_num_selected_out, Count num_items,
                                           const Env &env = {}) {
    return detail::select_in(
        env, selection(d_in, detail::flagged(d_flags, detail::is_set{}), d_out, d_num_selected_out),
        num_items);
  }

  /// The same in place: `d_data` is the input and the output.
  template <class Data, class Flags, class Counter, class Count, class... Algorithm,
            detail::if_count<Count> = 0>
  static cudaError_t Flagged(void *d_temp_storage, std::size_t &temp_storage_bytes, Data d_data,
                             Flags d_flags, Counter d_num_selected_out, Count num_items,
                             cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        selection(d_data, detail::flagged(d_flags, detail::is_set{}), d_data, d_num_selected_out),
        num_items);
  }
  /// In one phase.
  template <class Data, class Flags, class Counter, class Count,
            class Env = detail::default_environment, detail::if_sequence<Flags> = 0,
            detail::if_count<Count, Env> = 0>
  [[nodiscard]] static cudaError_t Flagged(Data d_data, Flags d_flags, Counter d_num_selected_out,
                                           Count num_items, const Env &env = {}) {
    return detail::select_in(
        env,
        selection(d_data, detail::flagged(d_flags, detail::is_set{}), d_data, d_num_selected_out),
        num_items);
  }

  /// Selects every x(i) with `select_op(d_flags[i])`.
  template <class Input, class Flags, class Output, class Counter, class Count, class SelectOp,
            class... Algorithm, detail::if_count<Count, Counter> = 0>
  static cudaError_t FlaggedIf(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                               Flags d_flags, Output d_out, Counter d_num_selected_out,
                               Count num_items, SelectOp select_op, cudaStream_t stream = nullptr,
                               Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        selection(d_in, detail::flagged(d_flags, select_op), d_out, d_num_selected_out), num_items);
  }
  /// In one phase.
  template <class Input, class Flags, class Output, class Counter, class Count, class SelectOp,
            class Env = detail::default_environment, detail::if_sequence<Flags> = 0,
            detail::if_count<Count, Counter> = 0>
  [[nodiscard]] static cudaError_t FlaggedIf(Input d_in, Flags d_flags, Output d_out,
                                             Counter d_num_selected_out, Count num_items,
                                             SelectOp select_op, const Env &env = {}) {
    return detail::select_in(
        env, selection(d_in, detail::flagged(d_flags, select_op), d_out, d_num_selected_out),
        num_items);
  }

  /// The same in place: `d_data` is the input and the output.
  template <class Data, class Flags, class Counter, class Count, class SelectOp, class... Algorithm,
            detail::if_count<Count> = 0>
  static cudaError_t FlaggedIf(void *d_temp_storage, std::size_t &temp_storage_bytes, Data d_data,
                               Flags d_flags, Counter d_num_selected_out, Count num_items,
                               SelectOp select_op, cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        selection(d_data, detail::flagged(d_flags, select_op), d_data, d_num_selected_out),
        num_items);
  }
  /// In one phase.
  template <class Data, class Flags, class Counter, class Count, class SelectOp,
            class Env = detail::default_environment, detail::if_sequence<Flags> = 0,
            detail::if_count<Count, Env> = 0>
  [[nodiscard]] static cudaError_t FlaggedIf(Data d_data, Flags d_flags, Counter d_num_selected_out,
                                             Count num_items, SelectOp select_op,
                                             const Env &env = {}) {
    return detail::select_in(
        env, selection(d_data, detail::flagged(d_flags, select_op), d_data, d_num_selected_out),
        num_items);
  }

  /// Selects every x(i) with `select_op(x(i))`.
  template <class Input, class Output, class Counter, class Count, class SelectOp,
            class... Algorithm, detail::if_count<Count, Counter> = 0>
  static cudaError_t If(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                        Output d_out, Counter d_num_selected_out, Count num_items,
                        SelectOp select_op, cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        selection(d_in, detail::satisfying(select_op), d_out, d_num_selected_out), num_items);
  }
  /// In one phase.
  template <class Input, class Output, class Counter, class Count, class SelectOp,
            class Env = detail::default_environment, detail::if_sequence<Output> = 0,
            detail::if_count<Count, Counter> = 0>
  [[nodiscard]] static cudaError_t If(Input d_in, Output d_out, Counter d_num_selected_out,
                                      Count num_items, SelectOp select_op, const Env &env = {}) {
    return detail::select_in(
        env, selection(d_in, detail::satisfying(select_op), d_out, d_num_selected_out), num_items);
  }

  /// The same in place: `d_data` is the input and the output.
  template <class Data, class Counter, class Count, class SelectOp, class... Algorithm,
            detail::if_count<Count> = 0>
  static cudaError_t If(void *d_temp_storage, std::size_t &temp_storage_bytes, Data d_data,
                        Counter d_num_selected_out, Count num_items, SelectOp select_op,
                        cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        selection(d_data, detail::satisfying(select_op), d_data, d_num_selected_out), num_items);
  }
  /// In one phase.
  template <class Data, class Counter, class Count, class SelectOp,
            class Env = detail::default_environment, detail::if_sequence<Counter> = 0,
            detail::if_count<Count, Env> = 0>
  [[nodiscard]] static cudaError_t If(Data d_data, Counter d_num_selected_out, Count num_items,
                                      SelectOp select_op, const Env &env = {}) {
    return detail::select_in(
        env, selection(d_data, detail::satisfying(select_op), d_data, d_num_selected_out),
        num_items);
  }

  /// Selects x(0), and every x(i) without `equality_op(x(i - 1), x(i))`: the first of each run.
  template <class Input, class Output, class Counter, class Count, class Equal, class... Algorithm,
            detail::if_count<Count, Counter> = 0, detail::if_compares<Equal, Input> = 0>
  static cudaError_t Unique(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                            Output d_out, Counter d_num_selected_out, Count num_items,
                            Equal equality_op, cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        selection(d_in, by_run(d_in, equality_op), d_out, d_num_selected_out), num_items);
  }
  /// In one phase.
  template <class Input, class Output, class Counter, class Count, class Equal,
            class Env = detail::default_environment, detail::if_sequence<Output> = 0,
            detail::if_count<Count, Counter> = 0, detail::if_compares<Equal, Input> = 0>
  [[nodiscard]] static cudaError_t Unique(Input d_in, Output d_out, Counter d_num_selected_out,
                                          Count num_items, Equal equality_op, const Env &env = {}) {
    return detail::select_in(
        env, selection(d_in, by_run(d_in, equality_op), d_out, d_num_selected_out), num_items);
  }

  /// The same with lookback::equal_to.
  template <class Input, class Output, class Counter, class Count, class... Algorithm,
            detail::if_count<Count, Counter> = 0>
  static cudaError_t Unique(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                            Output d_out, Counter d_num_selected_out, Count num_items,
                            cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        selection(d_in, by_run(d_in, equal_to{}), d_out, d_num_selected_out), num_items);
  }
  /// In one phase.
  template <class Input, class Output, class Counter, class Count,
            class Env = detail::default_environment, detail::if_sequence<Output> = 0,
            detail::if_count<Count, Counter> = 0, detail::if_environment<Env, Input> = 0>
  [[nodiscard]] static cudaError_t Unique(Input d_in, Output d_out, Counter d_num_selected_out,
                                          Count num_items, const Env &env = {}) {
    return detail::select_in(
        env, selection(d_in, by_run(d_in, equal_to{}), d_out, d_num_selected_out), num_items);
  }

  /// In place, `d_data` is the input and the output.
  template <class Data, class Counter, class Count, class Equal, class... Algorithm,
            detail::if_count<Count> = 0, detail::if_compares<Equal, Data> = 0>
  static cudaError_t Unique(void *d_temp_storage, std::size_t &temp_storage_bytes, Data d_data,
                            Counter d_num_selected_out, Count num_items, Equal equality_op,
                            cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        selection(d_data, by_run(d_data, equality_op), d_data, d_num_selected_out), num_items);
  }
  /// In one phase.
  template <class Data, class Counter, class Count, class Equal,
            class Env = detail::default_environment, detail::if_sequence<Counter> = 0,
            detail::if_count<Count> = 0, detail::if_compares<Equal, Data> = 0>
  [[nodiscard]] static cudaError_t Unique(Data d_data, Counter d_num_selected_out, Count num_items,
                                          Equal equality_op, const Env &env = {}) {
    return detail::select_in(
        env, selection(d_data, by_run(d_data, equality_op), d_data, d_num_selected_out), num_items);
  }

  /// In place, with lookback::equal_to.
  template <class Data, class Counter, class Count, class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t Unique(void *d_temp_storage, std::size_t &temp_storage_bytes, Data d_data,
                            Counter d_num_selected_out, Count num_items,
                            cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        selection(d_data, by_run(d_data, equal_to{}), d_data, d_num_selected_out), num_items);
  }
  /// In one phase.
  template <class Data, class Counter, class Count, class Env = detail::default_environment,
            detail::if_sequence<Counter> = 0, detail::if_count<Count, Env> = 0,
            detail::if_environment<Env, Data> = 0>
  [[nodiscard]] static cudaError_t Unique(Data d_data, Counter d_num_selected_out, Count num_items,
                                          const Env &env = {}) {
    return detail::select_in(
        env, selection(d_data, by_run(d_data, equal_to{}), d_data, d_num_selected_out), num_items);
  }

  /// Selects the first key of each run, as Unique() does, and its value: both go to the same place
  /// in their outputs.
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Counter, class Count,
            class Equal, class... Algorithm, detail::if_count<Count, Counter> = 0,
            detail::if_compares<Equal, Keys> = 0>
  static cudaError_t UniqueByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                 Keys d_keys_in, Values d_values_in, KeysOut d_keys_out,
                                 ValuesOut d_values_out, Counter d_num_selected_out,
                                 Count num_items, Equal equality_op, cudaStream_t stream = nullptr,
                                 Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        detail::make_unique_by_key(d_keys_in, d_values_in, d_keys_out, d_values_out, equality_op,
                                   d_num_selected_out),
        num_items);
  }
  /// In one phase.
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Counter, class Count,
            class Equal, class Env = detail::default_environment, detail::if_sequence<Values> = 0,
            detail::if_count<Count, Counter> = 0, detail::if_compares<Equal, Keys> = 0>
  [[nodiscard]] static cudaError_t
  UniqueByKey(Keys d_keys_in, Values d_values_in, KeysOut d_keys_out, ValuesOut d_values_out,
              Counter d_num_selected_out, Count num_items, Equal equality_op, const Env &env = {}) {
    return detail::select_in(env,
                             detail::make_unique_by_key(d_keys_in, d_values_in, d_keys_out,
                                                        d_values_out, equality_op,
                                                        d_num_selected_out),
                             num_items);
  }

  /// The same with lookback::equal_to.
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Counter, class Count,
            class... Algorithm, detail::if_count<Count, Counter> = 0>
  static cudaError_t UniqueByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                 Keys d_keys_in, Values d_values_in, KeysOut d_keys_out,
                                 ValuesOut d_values_out, Counter d_num_selected_out,
                                 Count num_items, cudaStream_t stream = nullptr, Algorithm...) {
    return detail::select_on<Algorithm...>(
        stream, d_temp_storage, temp_storage_bytes,
        detail::make_unique_by_key(d_keys_in, d_values_in, d_keys_out, d_values_out, equal_to{},
                                   d_num_selected_out),
        num_items);
  }
  /// In one phase.
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Counter, class Count,
            class Env = detail::default_environment, detail::if_sequence<Values> = 0,
            detail::if_count<Count, Counter> = 0, detail::if_environment<Env, Keys> = 0>
  [[nodiscard]] static cudaError_t
  UniqueByKey(Keys d_keys_in, Values d_values_in, KeysOut d_keys_out, ValuesOut d_values_out,
              Counter d_num_selected_out, Count num_items, const Env &env = {}) {
    return detail::select_in(env,
                             detail::make_unique_by_key(d_keys_in, d_values_in, d_keys_out,
                                                        d_values_out, equal_to{},
                                                        d_num_selected_out),
                             num_items);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
