// SPDX-License-Identifier: MIT
// The CUB door: `lookback::DeviceScan` in place of `cub::DeviceScan`. Includes no Thrust, no CUB.
#pragma once

#include <lookback/dispatch/algorithm.cuh>
#include <lookback/dispatch/one_phase_scan.cuh>

namespace lookback {

/// Device-wide scans with cub::DeviceScan's parameters, in two phases here and in one in
/// dispatch/one_phase_scan.cuh. `a . b` is scan_op(a, b); s is the start of i's run of equal keys.
///
/// Common to all of them:
///   - Two phases: with `d_temp_storage` null, the bytes needed are written to `temp_storage_bytes`
///     and nothing else happens; with storage, the scan is enqueued on `stream`. Storage may have
///     any alignment and content. Nothing is allocated or waited for; a call can be captured.
///   - `d_in`, `d_keys_in`, `d_values_in`: random-access iterators readable on the device; `d_out`:
///     one that is writable there. Output may be the input (or the keys, or the values), element
///     for element; other overlap is not allowed. A result is assigned to its element.
///   - Operators are associative; they need not commute. They are applied to elements in order and
///     never to anything else, and return a type that the host knows (no extended `__device__`
///     lambda). Types need a copy constructor and nothing more.
///   - `num_items`: any integer type, of 128 bits too; 0 launches nothing.
///   - `algorithm`: none, which is `fastest`, or one that lookback/catalogue.cuh names.
///   - Returns cudaErrorInvalidValue for a negative `num_items`, for more than 2^31 - 1 tiles of
///     16 KB and for too little storage; of a named algorithm also cudaErrorNotSupported, where it
///     cannot take the call, and cudaErrorInvalidConfiguration, where the device has not the shared
///     memory for its blocks; otherwise the status of the launch.
///   - `fastest` gives the same bits for the same values, types, operator and `num_items`, on every
///     run and every GPU (core/tree.cuh), in one pass over memory and about 2 n applications of the
///     operator. The files of the others say what they give.
struct DeviceScan : detail::one_phase_scan {
private:
  using problem = detail::device_problem;
  template <class Problem, class Count, class Algorithm = fastest>
  LOOKBACK_HOST_INLINE static cudaError_t scan(void *storage, std::size_t &bytes,
                                               const Problem &problem, Count num_items,
                                               cudaStream_t stream, Algorithm algorithm = {}) {
    return detail::scan_by(algorithm, storage, bytes, problem, detail::item_count(num_items),
                           stream);
  }

public:
  using one_phase_scan::ExclusiveScan;
  using one_phase_scan::ExclusiveScanByKey;
  using one_phase_scan::ExclusiveSum;
  using one_phase_scan::ExclusiveSumByKey;
  using one_phase_scan::InclusiveScan;
  using one_phase_scan::InclusiveScanByKey;
  using one_phase_scan::InclusiveScanInit;
  using one_phase_scan::InclusiveSum;
  using one_phase_scan::InclusiveSumByKey;

  /// y(i) = x(0) + ... + x(i - 1), y(0) = 0 of the input's type. Accumulates in the type of x + x.
  template <class Input, class Output, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0>
  static cudaError_t ExclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                                  Output d_out, Count num_items, cudaStream_t stream = nullptr,
                                  Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes, problem::exclusive_sum(d_in, d_out), num_items,
                stream, algorithm...);
  }
  /// In place.
  template <class Data, class Count, class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t ExclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                  Data d_data, Count num_items, cudaStream_t stream = nullptr,
                                  Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes, problem::exclusive_sum(d_data, d_data),
                num_items, stream, algorithm...);
  }

  /// y(i) = init . x(0) . x(1) ... x(i - 1), y(0) = init. Accumulates in the type of scan_op(init,
  /// x).
  template <class Input, class Output, class ScanOp, class Init, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0, detail::if_known<Init> = 0>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Input d_in, Output d_out, ScanOp scan_op, Init init_value,
                                   Count num_items, cudaStream_t stream = nullptr,
                                   Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<false>(d_in, d_out, scan_op, init_value), num_items, stream,
                algorithm...);
  }
  /// The same, from a FutureValue, a cub::FutureValue or a cuda::args::deferred.
  template <class Input, class Output, class ScanOp, class T = void, class I = void, class Count,
            class... Algorithm, template <class, class> class Future, class A, class B,
            detail::if_no_stream<Count> = 0, detail::if_deferred<Future<A, B>, T> = 0>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Input d_in, Output d_out, ScanOp scan_op,
                                   Future<A, B> init_value, Count num_items,
                                   cudaStream_t stream = nullptr, Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<false>(d_in, d_out, scan_op, init_value), num_items, stream,
                algorithm...);
  }
  /// In place.
  template <class Data, class ScanOp, class Init, class Count, class... Algorithm,
            detail::if_count<Count> = 0, detail::if_known<Init> = 0>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Data d_data, ScanOp scan_op, Init init_value, Count num_items,
                                   cudaStream_t stream = nullptr, Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<false>(d_data, d_data, scan_op, init_value), num_items, stream,
                algorithm...);
  }
  /// In place, from a FutureValue, a cub::FutureValue or a cuda::args::deferred.
  template <class Data, class ScanOp, class T = void, class I = void, class Count,
            class... Algorithm, template <class, class> class Future, class A, class B,
            detail::if_count<Count> = 0, detail::if_deferred<Future<A, B>, T> = 0>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Data d_data, ScanOp scan_op, Future<A, B> init_value,
                                   Count num_items, cudaStream_t stream = nullptr,
                                   Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<false>(d_data, d_data, scan_op, init_value), num_items, stream,
                algorithm...);
  }

  /// y(i) = x(0) + x(1) + ... + x(i). Accumulates in the type of x + x.
  template <class Input, class Output, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0>
  static cudaError_t InclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                                  Output d_out, Count num_items, cudaStream_t stream = nullptr,
                                  Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes, problem::inclusive_scan(d_in, d_out, plus{}),
                num_items, stream, algorithm...);
  }
  /// In place.
  template <class Data, class Count, class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t InclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                  Data d_data, Count num_items, cudaStream_t stream = nullptr,
                                  Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes, problem::inclusive_scan(d_data, d_data, plus{}),
                num_items, stream, algorithm...);
  }

  /// y(i) = x(0) . x(1) ... x(i). Accumulates in the type of scan_op(x, x).
  template <class Input, class Output, class ScanOp, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0>
  static cudaError_t InclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Input d_in, Output d_out, ScanOp scan_op, Count num_items,
                                   cudaStream_t stream = nullptr, Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes, problem::inclusive_scan(d_in, d_out, scan_op),
                num_items, stream, algorithm...);
  }
  /// In place.
  template <class Data, class ScanOp, class Count, class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t InclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Data d_data, ScanOp scan_op, Count num_items,
                                   cudaStream_t stream = nullptr, Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::inclusive_scan(d_data, d_data, scan_op), num_items, stream, algorithm...);
  }

  /// y(i) = init . x(0) . x(1) ... x(i). Accumulates in the type of scan_op(init, x).
  template <class Input, class Output, class ScanOp, class Init, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0, detail::if_known<Init> = 0>
  static cudaError_t InclusiveScanInit(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Input d_in, Output d_out, ScanOp scan_op, Init init_value,
                                       Count num_items, cudaStream_t stream = nullptr,
                                       Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<true>(d_in, d_out, scan_op, init_value), num_items, stream,
                algorithm...);
  }
  /// The same, from a FutureValue, a cub::FutureValue or a cuda::args::deferred.
  template <class Input, class Output, class ScanOp, class T = void, class I = void, class Count,
            class... Algorithm, template <class, class> class Future, class A, class B,
            detail::if_no_stream<Count> = 0, detail::if_deferred<Future<A, B>, T> = 0>
  static cudaError_t InclusiveScanInit(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Input d_in, Output d_out, ScanOp scan_op,
                                       Future<A, B> init_value, Count num_items,
                                       cudaStream_t stream = nullptr, Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<true>(d_in, d_out, scan_op, init_value), num_items, stream,
                algorithm...);
  }

  /// y(i) = x(s) + ... + x(i - 1), y(s) = 0; s is the start of i's run of equal consecutive keys.
  template <class Keys, class Values, class Output, class Equal = equal_to,
            class Count = std::uint32_t, class... Algorithm>
  static cudaError_t ExclusiveSumByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Keys d_keys_in, Values d_values_in, Output d_values_out,
                                       Count num_items, Equal equality_op = Equal(),
                                       cudaStream_t stream = nullptr, Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::exclusive_sum_by_key(d_keys_in, d_values_in, d_values_out, equality_op),
                num_items, stream, algorithm...);
  }

  /// y(i) = init_value . x(s) ... x(i - 1), y(s) = init_value
  template <class Keys, class Values, class Output, class ScanOp, class Init,
            class Equal = equal_to, class Count = std::uint32_t, class... Algorithm,
            detail::if_known<Init> = 0>
  static cudaError_t ExclusiveScanByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                        Keys d_keys_in, Values d_values_in, Output d_values_out,
                                        ScanOp scan_op, Init init_value, Count num_items,
                                        Equal equality_op = Equal(), cudaStream_t stream = nullptr,
                                        Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::exclusive_by_key(d_keys_in, d_values_in, d_values_out, equality_op,
                                          scan_op, init_value),
                num_items, stream, algorithm...);
  }

  /// Refused at compile time: by key, the host must know the initial value.
  template <class Keys, class Values, class Output, class ScanOp, class T = void, class I = void,
            class Equal = equal_to, class Count = std::uint32_t, class... Algorithm,
            template <class, class> class Future, class A, class B,
            detail::if_deferred<Future<A, B>, T> = 0>
  static cudaError_t ExclusiveScanByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                        Keys d_keys_in, Values d_values_in, Output d_values_out,
                                        ScanOp scan_op, Future<A, B> init_value, Count num_items,
                                        Equal equality_op = Equal(), cudaStream_t stream = nullptr,
                                        Algorithm... algorithm) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::exclusive_by_key(d_keys_in, d_values_in, d_values_out, equality_op,
                                          scan_op, init_value),
                num_items, stream, algorithm...);
  }

  /// y(i) = x(s) + ... + x(i)
  template <class Keys, class Values, class Output, class Equal = equal_to,
            class Count = std::uint32_t, class... Algorithm>
  static cudaError_t InclusiveSumByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Keys d_keys_in, Values d_values_in, Output d_values_out,
                                       Count num_items, Equal equality_op = Equal(),
                                       cudaStream_t stream = nullptr, Algorithm... algorithm) {
    return scan(
        d_temp_storage, temp_storage_bytes,
        problem::inclusive_by_key(d_keys_in, d_values_in, d_values_out, equality_op, plus{}),
        num_items, stream, algorithm...);
  }

  /// y(i) = x(s) ... x(i)
  template <class Keys, class Values, class Output, class ScanOp, class Equal = equal_to,
            class Count = std::uint32_t, class... Algorithm>
  static cudaError_t InclusiveScanByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                        Keys d_keys_in, Values d_values_in, Output d_values_out,
                                        ScanOp scan_op, Count num_items,
                                        Equal equality_op = Equal(), cudaStream_t stream = nullptr,
                                        Algorithm... algorithm) {
    return scan(
        d_temp_storage, temp_storage_bytes,
        problem::inclusive_by_key(d_keys_in, d_values_in, d_values_out, equality_op, scan_op),
        num_items, stream, algorithm...);
  }
};

} // namespace lookback
