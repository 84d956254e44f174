// SPDX-License-Identifier: MIT
// The one-phase calls of lookback::DeviceScan: an environment stands where two-phase calls take
// storage and a stream.
#pragma once

#include <lookback/dispatch/device_problem.cuh>
#include <lookback/dispatch/environment.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Device-wide scans in one call, which lookback::DeviceScan (lookback/device_scan.cuh) inherits;
/// its docstring describes them. They return the bits and errors of the two-phase calls.
struct one_phase_scan {
  /// y(i) = x(0) + ... + x(i - 1), y(0) = 0 of the input's type. Accumulates in the type of x + x.
  template <class Input, class Output, class Count, class Env = default_environment,
            if_sequence<Output> = 0, if_count<Count> = 0>
  [[nodiscard]] static cudaError_t ExclusiveSum(Input d_in, Output d_out, Count num_items,
                                                const Env &env = {}) {
    return scan_in(env, device_problem::exclusive_sum(d_in, d_out), length_of(num_items));
  }
  /// In place.
  template <class Data, class Count, class Env = default_environment, if_sequence<Data> = 0,
            if_count<Count, Env> = 0>
  [[nodiscard]] static cudaError_t ExclusiveSum(Data d_data, Count num_items, const Env &env = {}) {
    return scan_in(env, device_problem::exclusive_sum(d_data, d_data), length_of(num_items));
  }

  /// y(i) = init . x(0) . x(1) ... x(i - 1), y(0) = init. Accumulates in the type of scan_op(init,
  /// x).
  template <class Input, class Output, class ScanOp, class Init, class Count,
            class Env = default_environment, if_sequence<Output> = 0, if_count<Count> = 0,
            if_known<Init> = 0>
  [[nodiscard]] static cudaError_t ExclusiveScan(Input d_in, Output d_out, ScanOp scan_op,
                                                 Init init_value, Count num_items,
                                                 const Env &env = {}) {
    return scan_in(env, device_problem::scan_from<false>(d_in, d_out, scan_op, init_value),
                   length_of(num_items));
  }
  /// The same, from a FutureValue, a cub::FutureValue or a cuda::args::deferred.
  template <class Input, class Output, class ScanOp, class T = void, class I = void, class Count,
            class Env = default_environment, template <class, class> class Future, class A, class B,
            if_sequence<Output> = 0, if_count<Count> = 0, if_deferred<Future<A, B>, T> = 0>
  [[nodiscard]] static cudaError_t ExclusiveScan(Input d_in, Output d_out, ScanOp scan_op,
                                                 Future<A, B> init_value, Count num_items,
                                                 const Env &env = {}) {
    return scan_in(env, device_problem::scan_from<false>(d_in, d_out, scan_op, init_value),
                   length_of(num_items));
  }
  /// In place.
  template <class Data, class ScanOp, class Init, class Count, class Env = default_environment,
            if_sequence<Data> = 0, if_count<Count, Env> = 0, if_known<Init> = 0>
  [[nodiscard]] static cudaError_t ExclusiveScan(Data d_data, ScanOp scan_op, Init init_value,
                                                 Count num_items, const Env &env = {}) {
    return scan_in(env, device_problem::scan_from<false>(d_data, d_data, scan_op, init_value),
                   length_of(num_items));
  }
  /// In place, from a FutureValue, a cub::FutureValue or a cuda::args::deferred.
  template <class Data, class ScanOp, class T = void, class I = void, class Count,
            class Env = default_environment, template <class, class> class Future, class A, class B,
            if_sequence<Data> = 0, if_count<Count, Env> = 0, if_deferred<Future<A, B>, T> = 0>
  [[nodiscard]] static cudaError_t ExclusiveScan(Data d_data, ScanOp scan_op,
                                                 Future<A, B> init_value, Count num_items,
                                                 const Env &env = {}) {
    return scan_in(env, device_problem::scan_from<false>(d_data, d_data, scan_op, init_value),
                   length_of(num_items));
  }

  /// y(i) = x(0) + ... + x(i - 1), y(0) = 0, for i <= num_counts. Accumulates in the offsets' type.
  template <class Counts, class Offsets, class Count, class Env = default_environment,
            if_sequence<Offsets> = 0, if_count<Count> = 0>
  [[nodiscard]] static cudaError_t OffsetsFromCounts(Counts d_counts, Offsets d_offsets,
                                                     Count num_counts, const Env &env = {}) {
    static_assert(!is_reverse<Env>,
                  "lookback::DeviceScan::OffsetsFromCounts: offsets have no reverse");
    const std::int64_t n = item_count(num_counts);
    return scan_in(env, device_problem::offsets(d_counts, d_offsets, n), n);
  }

  /// y(i) = x(0) + x(1) + ... + x(i). Accumulates in the type of x + x.
  template <class Input, class Output, class Count, class Env = default_environment,
            if_sequence<Output> = 0, if_count<Count> = 0>
  [[nodiscard]] static cudaError_t InclusiveSum(Input d_in, Output d_out, Count num_items,
                                                const Env &env = {}) {
    return scan_in(env, device_problem::inclusive_scan(d_in, d_out, plus{}), length_of(num_items));
  }
  /// In place.
  template <class Data, class Count, class Env = default_environment, if_sequence<Data> = 0,
            if_count<Count, Env> = 0>
  [[nodiscard]] static cudaError_t InclusiveSum(Data d_data, Count num_items, const Env &env = {}) {
    return scan_in(env, device_problem::inclusive_scan(d_data, d_data, plus{}),
                   length_of(num_items));
  }

  /// y(i) = x(0) . x(1) ... x(i). Accumulates in the type of scan_op(x, x).
  template <class Input, class Output, class ScanOp, class Count, class Env = default_environment,
            if_sequence<Output> = 0, if_count<Count> = 0>
  [[nodiscard]] static cudaError_t InclusiveScan(Input d_in, Output d_out, ScanOp scan_op,
                                                 Count num_items, const Env &env = {}) {
    return scan_in(env, device_problem::inclusive_scan(d_in, d_out, scan_op), length_of(num_items));
  }
  /// In place.
  template <class Data, class ScanOp, class Count, class Env = default_environment,
            if_sequence<Data> = 0, if_count<Count, Env> = 0>
  [[nodiscard]] static cudaError_t InclusiveScan(Data d_data, ScanOp scan_op, Count num_items,
                                                 const Env &env = {}) {
    return scan_in(env, device_problem::inclusive_scan(d_data, d_data, scan_op),
                   length_of(num_items));
  }

  /// y(i) = init . x(0) . x(1) ... x(i). Accumulates in the type of scan_op(init, x).
  template <class Input, class Output, class ScanOp, class Init, class Count,
            class Env = default_environment, if_sequence<Output> = 0, if_count<Count> = 0,
            if_known<Init> = 0>
  [[nodiscard]] static cudaError_t InclusiveScanInit(Input d_in, Output d_out, ScanOp scan_op,
                                                     Init init_value, Count num_items,
                                                     const Env &env = {}) {
    return scan_in(env, device_problem::scan_from<true>(d_in, d_out, scan_op, init_value),
                   length_of(num_items));
  }
  /// The same, from a FutureValue, a cub::FutureValue or a cuda::args::deferred.
  template <class Input, class Output, class ScanOp, class T = void, class I = void, class Count,
            class Env = default_environment, template <class, class> class Future, class A, class B,
            if_sequence<Output> = 0, if_count<Count> = 0, if_deferred<Future<A, B>, T> = 0>
  [[nodiscard]] static cudaError_t InclusiveScanInit(Input d_in, Output d_out, ScanOp scan_op,
                                                     Future<A, B> init_value, Count num_items,
                                                     const Env &env = {}) {
    return scan_in(env, device_problem::scan_from<true>(d_in, d_out, scan_op, init_value),
                   length_of(num_items));
  }

  /// y(i) = x(s) + ... + x(i - 1), y(s) = 0; s is the start of i's run of equal consecutive keys.
  template <class Keys, class Values, class Output, class Equal = equal_to,
            class Count = std::uint32_t, class Env = default_environment, if_sequence<Values> = 0,
            if_count<Count> = 0>
  [[nodiscard]] static cudaError_t
  ExclusiveSumByKey(Keys d_keys_in, Values d_values_in, Output d_values_out, Count num_items,
                    Equal equality_op = Equal(), const Env &env = {}) {
    return scan_in(
        env,
        device_problem::exclusive_sum_by_key(d_keys_in, d_values_in, d_values_out, equality_op),
        length_of(num_items));
  }

  /// y(i) = init_value . x(s) ... x(i - 1), y(s) = init_value
  template <class Keys, class Values, class Output, class ScanOp, class Init,
            class Equal = equal_to, class Count = std::uint32_t, class Env = default_environment,
            if_sequence<Values> = 0, if_count<Count> = 0, if_known<Init> = 0>
  [[nodiscard]] static cudaError_t
  ExclusiveScanByKey(Keys d_keys_in, Values d_values_in, Output d_values_out, ScanOp scan_op,
                     Init init_value, Count num_items, Equal equality_op = Equal(),
                     const Env &env = {}) {
    return scan_in(env,
                   device_problem::exclusive_by_key(d_keys_in, d_values_in, d_values_out,
                                                    equality_op, scan_op, init_value),
                   length_of(num_items));
  }

  /// Refused at compile time: by key, the host must know the initial value.
  template <class Keys, class Values, class Output, class ScanOp, class T = void, class I = void,
            class Equal = equal_to, class Count = std::uint32_t, class Env = default_environment,
            template <class, class> class Future, class A, class B, if_sequence<Values> = 0,
            if_count<Count> = 0, if_deferred<Future<A, B>, T> = 0>
  [[nodiscard]] static cudaError_t
  ExclusiveScanByKey(Keys d_keys_in, Values d_values_in, Output d_values_out, ScanOp scan_op,
                     Future<A, B> init_value, Count num_items, Equal equality_op = Equal(),
                     const Env &env = {}) {
    return scan_in(env,
                   device_problem::exclusive_by_key(d_keys_in, d_values_in, d_values_out,
                                                    equality_op, scan_op, init_value),
                   length_of(num_items));
  }

  /// y(i) = x(s) + ... + x(i)
  template <class Keys, class Values, class Output, class Equal = equal_to,
            class Count = std::uint32_t, class Env = default_environment, if_sequence<Values> = 0,
            if_count<Count> = 0>
  [[nodiscard]] static cudaError_t
  InclusiveSumByKey(Keys d_keys_in, Values d_values_in, Output d_values_out, Count num_items,
                    Equal equality_op = Equal(), const Env &env = {}) {
    return scan_in(
        env,
        device_problem::inclusive_by_key(d_keys_in, d_values_in, d_values_out, equality_op, plus{}),
        length_of(num_items));
  }

  /// y(i) = x(s) ... x(i)
  template <class Keys, class Values, class Output, class ScanOp, class Equal = equal_to,
            class Count = std::uint32_t, class Env = default_environment, if_sequence<Values> = 0,
            if_count<Count> = 0>
  [[nodiscard]] static cudaError_t
  InclusiveScanByKey(Keys d_keys_in, Values d_values_in, Output d_values_out, ScanOp scan_op,
                     Count num_items, Equal equality_op = Equal(), const Env &env = {}) {
    return scan_in(env,
                   device_problem::inclusive_by_key(d_keys_in, d_values_in, d_values_out,
                                                    equality_op, scan_op),
                   length_of(num_items));
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
