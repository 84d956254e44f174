// SPDX-License-Identifier: MIT
// The CUB interface: `lookback::DeviceScan` in place of `cub::DeviceScan`. Includes neither Thrust
// nor CUB.
#pragma once

#include <lookback/dispatch/dispatch.cuh>
#include <lookback/dispatch/one_phase_scan.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Scans of device memory with the names and parameters of `cub::DeviceScan`, and
/// OffsetsFromCounts().
///
/// @code
/// std::size_t bytes = 0;
/// lookback::DeviceScan::InclusiveSum(nullptr, bytes, input, output, n, stream); // the size only
/// lookback::DeviceScan::InclusiveSum(temporary, bytes, input, output, n, stream);
/// @endcode
///
/// Notation: `a . b` is `scan_op(a, b)`; x(0) to x(num_items - 1) are the elements of `d_in`, by
/// key those of `d_values_in`; y(i) are the results; s is the first index of the segment that holds
/// i. A segment is a longest sequence of consecutive keys, each equal to the next by `equality_op`.
///
/// **Common to all calls**
///
/// - *Two phases*: with `d_temp_storage` null, a call writes the required bytes to
///   `temp_storage_bytes` and does nothing else. With storage, of any alignment and content, it
///   enqueues the scan.
/// - *Iterators*: random access, readable or writable on the device. The output may equal the input
///   (by key: the keys or the values); any other overlap is undefined.
/// - *Operator*: associative. It need not be commutative, no identity is assumed, and it is applied
///   to valid elements only, in order. The host must know the type that it returns (no extended
///   `__device__` lambda). A result is assigned to its element of the output.
/// - *Element types*: a copy constructor is all they need. Elements and accumulators have at most
///   4096 bytes. From 512 bytes on they are scanned more slowly, by kernels that keep about 12 of
///   them in the local memory of every thread, which the driver reserves at the first launch.
/// - *Initial value*: a value; or, except by key, a lookback::FutureValue, a `cub::FutureValue` or
///   a `cuda::args::deferred`, which is read on the device in stream order.
/// - `num_items`: elements, not bytes; of any integer type, of 128 bits as well. 0 launches
///   nothing, except where a total is wanted and in OffsetsFromCounts(). Or a
///   lookback::device_count, if only the device knows the number: not in OffsetsFromCounts().
/// - *Total*: in calls without keys, an output made by lookback::with_total() also gets the total.
/// - `algorithm`: one of the @ref strategies; without it, lookback::fastest. lookback::reverse may
///   precede it or stand alone; it scans from the last element to the first.
/// - *Stream behaviour*: the scan is enqueued on `stream`. Nothing is allocated, nothing
///   synchronises, and the stream may be captured.
/// - *Errors*: `cudaErrorInvalidValue` if `num_items` is negative or needs more than 2^31 - 1 tiles
///   of 16 KB, or if the storage is too small. With a strategy, `cudaErrorNotSupported` if it does
///   not support the call, and `cudaErrorInvalidConfiguration` if its blocks need more shared
///   memory than the device has. Otherwise the status of the launch.
/// - *Determinism*: with lookback::fastest the bits depend on the values, their number, the types
///   and the operator only (lookback::tree_shape); with another strategy, see that strategy.
/// - *Complexity*: one pass over memory, about 2 n applications of the operator; with another
///   strategy, see that strategy.
///
/// **One phase**
///
/// Every call also exists without `d_temp_storage` and `temp_storage_bytes`, with an optional
/// environment `env` in the place of `stream` and `algorithm`:
///
/// @code
/// cudaError_t status = lookback::DeviceScan::InclusiveSum(input, output, n, env);
/// @endcode
///
/// - `env`: a stream, a memory resource, an object with `stream()`, `get_stream()` or
///   `get_memory_resource()`, or an environment of `cuda::std::execution` that answers the query
///   `cuda::get_stream` (CCCL 3.2 and newer) or `cuda::mr::get_memory_resource` (3.5 and newer).
///   Without a stream, the default stream is used. It may also be lookback::reverse or
///   `lookback::reverse.in(env)`.
/// - *Requirements and tunings*: `cuda::execution::require(...)` is always met,
///   `determinism::gpu_to_gpu` for every type and operator, and by key.
///   `cuda::execution::tune(...)` is ignored.
/// - *Temporary storage*: allocated and freed in stream order, by the memory resource or from a
///   pool of lookback's, which keeps its memory until lookback::release_workspace() of
///   `<lookback/scan.cuh>`. In a capture, the pool adds allocation and free nodes to the graph.
///   One tile of 16 KB needs no storage.
/// - *Errors*: also `cudaErrorMemoryAllocation`, if a memory resource throws or returns null.
/// - The call returns when the scan is enqueued.
/// - *Log*: with `LOOKBACK_LOG=1` in the environment, every call prints a line on stderr: its
///   strategy, tuning and grid, and why each strategy before it did not run.
///
/// @ingroup cub_scans
struct DeviceScan : detail::one_phase_scan {
private:
  using problem = detail::device_problem;
  template <class... Algorithm>
  using strategies = detail::strategies<Algorithm...>;

public:
  // The one-phase calls.
  using one_phase_scan::ExclusiveScan;
  using one_phase_scan::ExclusiveScanByKey;
  using one_phase_scan::ExclusiveSum;
  using one_phase_scan::ExclusiveSumByKey;
  using one_phase_scan::InclusiveScan;
  using one_phase_scan::InclusiveScanByKey;
  using one_phase_scan::InclusiveScanInit;
  using one_phase_scan::InclusiveSum;
  using one_phase_scan::InclusiveSumByKey;
  using one_phase_scan::OffsetsFromCounts;

  /// y(i) = x(0) + x(1) + ... + x(i - 1), y(0) = 0
  ///
  /// The zero has the input's value type; the accumulator is the type of `x + x`.
  template <class Input, class Output, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0>
  static cudaError_t ExclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                                  Output d_out, Count num_items, cudaStream_t stream = nullptr,
                                  Algorithm...) {
    return strategies<Algorithm...>::scan(d_temp_storage, temp_storage_bytes,
                                          problem::exclusive_sum(d_in, d_out),
                                          detail::length_of(num_items), detail::launcher(stream));
  }
  /// The same in place: `d_data` is the input and the output.
  template <class Data, class Count, class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t ExclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                  Data d_data, Count num_items, cudaStream_t stream = nullptr,
                                  Algorithm...) {
    return strategies<Algorithm...>::scan(d_temp_storage, temp_storage_bytes,
                                          problem::exclusive_sum(d_data, d_data),
                                          detail::length_of(num_items), detail::launcher(stream));
  }

  /// y(i) = init . x(0) . x(1) ... x(i - 1), y(0) = init
  ///
  /// The accumulator is the type of `scan_op(init, x)`.
  template <class Input, class Output, class ScanOp, class Init, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0, detail::if_known<Init> = 0>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Input d_in, Output d_out, ScanOp scan_op, Init init_value,
                                   Count num_items, cudaStream_t stream = nullptr, Algorithm...) {
    return strategies<Algorithm...>::scan(
        d_temp_storage, temp_storage_bytes,
        problem::scan_from<false>(d_in, d_out, scan_op, init_value), detail::length_of(num_items),
        detail::launcher(stream));
  }
  /// The same, from a FutureValue, a cub::FutureValue or a cuda::args::deferred.
  template <class Input, class Output, class ScanOp, class T = void, class I = void, class Count,
            class... Algorithm, template <class, class> class Future, class A, class B,
            detail::if_no_stream<Count> = 0, detail::if_deferred<Future<A, B>, T> = 0>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Input d_in, Output d_out, ScanOp scan_op,
                                   Future<A, B> init_value, Count num_items,
                                   cudaStream_t stream = nullptr, Algorithm...) {
    return strategies<Algorithm...>::scan(
        d_temp_storage, temp_storage_bytes,
        problem::scan_from<false>(d_in, d_out, scan_op, init_value), detail::length_of(num_items),
        detail::launcher(stream));
  }
  /// The same in place: `d_data` is the input and the output.
  template <class Data, class ScanOp, class Init, class Count, class... Algorithm,
            detail::if_count<Count> = 0, detail::if_known<Init> = 0>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Data d_data, ScanOp scan_op, Init init_value, Count num_items,
                                   cudaStream_t stream = nullptr, Algorithm...) {
    return strategies<Algorithm...>::scan(
        d_temp_storage, temp_storage_bytes,
        problem::scan_from<false>(d_data, d_data, scan_op, init_value),
        detail::length_of(num_items), detail::launcher(stream));
  }
  /// The same in place, from a FutureValue, a cub::FutureValue or a cuda::args::deferred.
  template <class Data, class ScanOp, class T = void, class I = void, class Count,
            class... Algorithm, template <class, class> class Future, class A, class B,
            detail::if_count<Count> = 0, detail::if_deferred<Future<A, B>, T> = 0>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Data d_data, ScanOp scan_op, Future<A, B> init_value,
                                   Count num_items, cudaStream_t stream = nullptr, Algorithm...) {
    return strategies<Algorithm...>::scan(
        d_temp_storage, temp_storage_bytes,
        problem::scan_from<false>(d_data, d_data, scan_op, init_value),
        detail::length_of(num_items), detail::launcher(stream));
  }

  /// y(i) = x(0) + x(1) + ... + x(i)
  ///
  /// The accumulator is the type of `x + x`.
  template <class Input, class Output, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0>
  static cudaError_t InclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                                  Output d_out, Count num_items, cudaStream_t stream = nullptr,
                                  Algorithm...) {
    return strategies<Algorithm...>::scan(d_temp_storage, temp_storage_bytes,
                                          problem::inclusive_scan(d_in, d_out, plus{}),
                                          detail::length_of(num_items), detail::launcher(stream));
  }
  /// The same in place: `d_data` is the input and the output.
  template <class Data, class Count, class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t InclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                  Data d_data, Count num_items, cudaStream_t stream = nullptr,
                                  Algorithm...) {
    return strategies<Algorithm...>::scan(d_temp_storage, temp_storage_bytes,
                                          problem::inclusive_scan(d_data, d_data, plus{}),
                                          detail::length_of(num_items), detail::launcher(stream));
  }

  /// y(i) = x(0) . x(1) ... x(i)
  ///
  /// The accumulator is the type of `scan_op(x, x)`.
  template <class Input, class Output, class ScanOp, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0>
  static cudaError_t InclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Input d_in, Output d_out, ScanOp scan_op, Count num_items,
                                   cudaStream_t stream = nullptr, Algorithm...) {
    return strategies<Algorithm...>::scan(d_temp_storage, temp_storage_bytes,
                                          problem::inclusive_scan(d_in, d_out, scan_op),
                                          detail::length_of(num_items), detail::launcher(stream));
  }
  /// The same in place: `d_data` is the input and the output.
  template <class Data, class ScanOp, class Count, class... Algorithm, detail::if_count<Count> = 0>
  static cudaError_t InclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Data d_data, ScanOp scan_op, Count num_items,
                                   cudaStream_t stream = nullptr, Algorithm...) {
    return strategies<Algorithm...>::scan(d_temp_storage, temp_storage_bytes,
                                          problem::inclusive_scan(d_data, d_data, scan_op),
                                          detail::length_of(num_items), detail::launcher(stream));
  }

  /// y(i) = init . x(0) . x(1) ... x(i)
  ///
  /// The accumulator is the type of `scan_op(init, x)`.
  template <class Input, class Output, class ScanOp, class Init, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0, detail::if_known<Init> = 0>
  static cudaError_t InclusiveScanInit(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Input d_in, Output d_out, ScanOp scan_op, Init init_value,
                                       Count num_items, cudaStream_t stream = nullptr,
                                       Algorithm...) {
    return strategies<Algorithm...>::scan(
        d_temp_storage, temp_storage_bytes,
        problem::scan_from<true>(d_in, d_out, scan_op, init_value), detail::length_of(num_items),
        detail::launcher(stream));
  }
  /// The same, from a FutureValue, a cub::FutureValue or a cuda::args::deferred.
  template <class Input, class Output, class ScanOp, class T = void, class I = void, class Count,
            class... Algorithm, template <class, class> class Future, class A, class B,
            detail::if_no_stream<Count> = 0, detail::if_deferred<Future<A, B>, T> = 0>
  static cudaError_t InclusiveScanInit(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Input d_in, Output d_out, ScanOp scan_op,
                                       Future<A, B> init_value, Count num_items,
                                       cudaStream_t stream = nullptr, Algorithm...) {
    return strategies<Algorithm...>::scan(
        d_temp_storage, temp_storage_bytes,
        problem::scan_from<true>(d_in, d_out, scan_op, init_value), detail::length_of(num_items),
        detail::launcher(stream));
  }

  /// y(0) = 0, y(i) = x(0) + x(1) + ... + x(i - 1) for i <= num_counts: part i, of x(i) elements,
  /// begins at y(i) and ends before y(i + 1). Not a call of CUB.
  ///
  /// @code
  /// lookback::DeviceScan::OffsetsFromCounts(temporary, bytes, degrees, row_offsets, rows, stream);
  /// @endcode
  ///
  /// Counts are added up in the value type of `d_offsets`, an integer type; if it is void, in the
  /// type of `x + x`. The same kernel writes all num_counts + 1 offsets; without counts, it writes
  /// one. The offsets must not overlap the counts. With a textbook strategy
  /// (`<lookback/catalogue.cuh>`), the call returns `cudaErrorNotSupported`.
  template <class Counts, class Offsets, class Count, class... Algorithm,
            detail::if_no_stream<Count> = 0>
  static cudaError_t OffsetsFromCounts(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Counts d_counts, Offsets d_offsets, Count num_counts,
                                       cudaStream_t stream = nullptr, Algorithm...) {
    static_assert(!(std::is_same<Algorithm, reverse_t>::value || ...),
                  "lookback::DeviceScan::OffsetsFromCounts: offsets have no reverse");
    const std::int64_t n = detail::item_count(num_counts);
    return strategies<Algorithm...>::scan(d_temp_storage, temp_storage_bytes,
                                          problem::offsets(d_counts, d_offsets, n), n,
                                          detail::launcher(stream));
  }

  /// y(i) = x(s) + ... + x(i - 1), y(s) = 0
  ///
  /// The zero has the values' type; the accumulator is the type of `x + x`.
  template <class Keys, class Values, class Output, class Equal = equal_to,
            class Count = std::uint32_t, class... Algorithm>
  static cudaError_t ExclusiveSumByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Keys d_keys_in, Values d_values_in, Output d_values_out,
                                       Count num_items, Equal equality_op = Equal(),
                                       cudaStream_t stream = nullptr, Algorithm...) {
    return strategies<Algorithm...>::scan(
        d_temp_storage, temp_storage_bytes,
        problem::exclusive_sum_by_key(d_keys_in, d_values_in, d_values_out, equality_op),
        detail::length_of(num_items), detail::launcher(stream));
  }

  /// y(i) = init . x(s) ... x(i - 1), y(s) = init
  ///
  /// The accumulator is the type of `scan_op(init, x)`.
  template <class Keys, class Values, class Output, class ScanOp, class Init,
            class Equal = equal_to, class Count = std::uint32_t, class... Algorithm,
            detail::if_known<Init> = 0>
  static cudaError_t ExclusiveScanByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                        Keys d_keys_in, Values d_values_in, Output d_values_out,
                                        ScanOp scan_op, Init init_value, Count num_items,
                                        Equal equality_op = Equal(), cudaStream_t stream = nullptr,
                                        Algorithm...) {
    return strategies<Algorithm...>::scan(d_temp_storage, temp_storage_bytes,
                                          problem::exclusive_by_key(d_keys_in, d_values_in,
                                                                    d_values_out, equality_op,
                                                                    scan_op, init_value),
                                          detail::length_of(num_items), detail::launcher(stream));
  }

  /// @private Refused at compile time: by key, the host must know the initial value.
  template <class Keys, class Values, class Output, class ScanOp, class T = void, class I = void,
            class Equal = equal_to, class Count = std::uint32_t, class... Algorithm,
            template <class, class> class Future, class A, class B,
            detail::if_deferred<Future<A, B>, T> = 0>
  static cudaError_t ExclusiveScanByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                        Keys d_keys_in, Values d_values_in, Output d_values_out,
                                        ScanOp scan_op, Future<A, B> init_value, Count num_items,
                                        Equal equality_op = Equal(), cudaStream_t stream = nullptr,
                                        Algorithm...) {
    return strategies<Algorithm...>::scan(d_temp_storage, temp_storage_bytes,
                                          problem::exclusive_by_key(d_keys_in, d_values_in,
                                                                    d_values_out, equality_op,
                                                                    scan_op, init_value),
                                          detail::length_of(num_items), detail::launcher(stream));
  }

  /// y(i) = x(s) + ... + x(i)
  ///
  /// The accumulator is the type of `x + x`.
  template <class Keys, class Values, class Output, class Equal = equal_to,
            class Count = std::uint32_t, class... Algorithm>
  static cudaError_t InclusiveSumByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Keys d_keys_in, Values d_values_in, Output d_values_out,
                                       Count num_items, Equal equality_op = Equal(),
                                       cudaStream_t stream = nullptr, Algorithm...) {
    return strategies<Algorithm...>::scan(
        d_temp_storage, temp_storage_bytes,
        problem::inclusive_by_key(d_keys_in, d_values_in, d_values_out, equality_op, plus{}),
        detail::length_of(num_items), detail::launcher(stream));
  }

  /// y(i) = x(s) . x(s + 1) ... x(i)
  ///
  /// The accumulator is the type of `scan_op(x, x)`.
  template <class Keys, class Values, class Output, class ScanOp, class Equal = equal_to,
            class Count = std::uint32_t, class... Algorithm>
  static cudaError_t
  InclusiveScanByKey(void *d_temp_storage, std::size_t &temp_storage_bytes, Keys d_keys_in,
                     Values d_values_in, Output d_values_out, ScanOp scan_op, Count num_items,
                     Equal equality_op = Equal(), cudaStream_t stream = nullptr, Algorithm...) {
    return strategies<Algorithm...>::scan(
        d_temp_storage, temp_storage_bytes,
        problem::inclusive_by_key(d_keys_in, d_values_in, d_values_out, equality_op, scan_op),
        detail::length_of(num_items), detail::launcher(stream));
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
