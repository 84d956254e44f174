// SPDX-License-Identifier: MIT
// The CUB interface: `lookback::DeviceSegmentedScan` in place of `cub::DeviceSegmentedScan`.
// Includes neither Thrust nor CUB.
#pragma once

#include <lookback/dispatch/dispatch.cuh>
#include <lookback/dispatch/segmented_call.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Scans of many segments of device memory in one call, with the names and parameters of
/// `cub::DeviceSegmentedScan` (CUB 3.6).
///
/// @code
/// std::size_t bytes = 0;
/// lookback::DeviceSegmentedScan::InclusiveSegmentedSum(nullptr, bytes, input, output, offsets,
///                                                      offsets + 1, segments, stream);
/// lookback::DeviceSegmentedScan::InclusiveSegmentedSum(temporary, bytes, input, output, offsets,
///                                                      offsets + 1, segments, stream);
/// @endcode
///
/// Notation: `a . b` is `scan_op(a, b)`; x(0), x(1), ... are the elements of a segment: those of
/// `d_in` from `d_in_begin_offsets[s]` to `d_in_end_offsets[s] - 1`. y(i) is the result of x(i). It
/// goes to the index of x(i) in `d_out`, or, with `d_out_begin_offsets`, to
/// `d_out[d_out_begin_offsets[s] + i]`.
///
/// **Common to all calls**
///
/// - *Two phases*: with `d_temp_storage` null, a call writes the required bytes to
///   `temp_storage_bytes` and does nothing else. With storage, of any alignment and content, it
///   enqueues the scan.
/// - *Iterators*: random access, readable or writable on the device. The output may equal the input
///   if the results of a segment have the indices of its elements; any other overlap is undefined,
///   and so are segments that have results in common.
/// - *Offsets*: integers of any type, less than 2^63. Segments may be in any order, with gaps
///   between them; a segment whose end is not greater than its begin is empty. Elements of the
///   output outside of the segments are not written. The offsets are read several times and must
///   not change during the scan. If `d_in_end_offsets` is the pointer `d_in_begin_offsets + 1`,
///   the segments are adjacent, and the offsets must not descend: if they do, the results of the
///   segments are undefined.
/// - *Operator*: associative. It need not be commutative, no identity is assumed, and it is applied
///   to elements of one segment only, in order.
/// - *Element types*: the accumulator is trivially copyable and has fewer than 512 bytes. One of up
///   to 16 bytes, or of up to the size of an element, fits into the shared memory of a block (48
///   KB); a larger one may not. A call whose accumulator does not fit does not compile;
///   lookback::host has no such limits.
/// - *Initial value*: a value that the host knows, no lookback::FutureValue. Every segment starts
///   from it.
/// - `num_segments`: an integer; 0 launches nothing. Or a lookback::device_count, if only the
///   device knows the number: the offsets beyond it are not read, and for an invalid one no output
///   is written.
/// - *Stream behaviour*: the scan is enqueued on `stream`, as up to five kernels. Nothing is
///   allocated, nothing synchronises, and the stream may be captured.
/// - *Errors*: `cudaErrorInvalidValue` if `num_segments` is negative, or if the storage is too
///   small. Otherwise the status of the launches.
/// - *Determinism*: the results of a segment are bit-identical to those of scanning it alone by
///   lookback::DeviceScan. They depend neither on the other segments nor on where the segment is
///   (lookback::tree_shape).
/// - *Temporary storage*: depends on `num_segments`, or its bound, and the types only. About 8
///   bytes for every 32 segments, and about 70,000 status words: of 8 bytes for accumulators of up
///   to 4 bytes, of 16 bytes for up to 8, and of 32 bytes for up to 16; 133 KB more for those of 4
///   to 8 bytes.
/// - *Complexity*: one pass over memory, about 2 n applications of the operator for n elements in
///   all. Work is shared by elements, whatever the lengths of the segments: a long one may be
///   beside millions of short ones. An empty segment costs as much as one of 16 bytes. Sums of
///   4-byte integers in adjacent segments are the fastest: one sum by key, whose head flags are
///   derived from the offsets. Of these, one warp reads the offsets of a tile of 4096 elements, so
///   tens of thousands of empty segments there cost more.
///
/// @ingroup cub_scans
struct DeviceSegmentedScan {
private:
  using problem = detail::device_problem;
  template <class Begins, class Ends, class Results, class Count>
  static auto segments(Begins begins, Ends ends, Results results, const Count &count) {
    using offsets = detail::offset_segments<Begins, Ends, Results>;
    if constexpr (detail::is_device_count<Count>)
      return detail::count_segments(offsets(begins, ends, results, count.at_most), count);
    else
      return offsets(begins, ends, results, static_cast<std::int64_t>(count));
  }
  template <class Begins, class Ends, class Count>
  static auto segments(Begins begins, Ends ends, const Count &count) {
    return segments(begins, ends, detail::same_offsets{}, count);
  }
  template <class Problem, class Segments>
  static cudaError_t scan(void *storage, std::size_t &bytes, const Problem &scanned,
                          const Segments &segments, cudaStream_t stream) {
    return detail::segmented_scans::scan(storage, bytes, scanned, segments,
                                         detail::launcher(stream));
  }

public:
  /// y(i) = x(0) + x(1) + ... + x(i - 1), y(0) = 0 of the input's value type.
  template <class Input, class Output, class Begins, class Ends, class Count,
            detail::if_segment_number<Count> = 0>
  static cudaError_t ExclusiveSegmentedSum(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                           Input d_in, Output d_out, Begins d_in_begin_offsets,
                                           Ends d_in_end_offsets, Count num_segments,
                                           cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes, problem::exclusive_sum(d_in, d_out),
                segments(d_in_begin_offsets, d_in_end_offsets, num_segments), stream);
  }

  /// The same with offsets of the results.
  template <class Input, class Output, class Begins, class Ends, class ResultBegins, class Count,
            detail::if_sequence<ResultBegins> = 0, detail::if_segment_number<Count> = 0>
  static cudaError_t ExclusiveSegmentedSum(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                           Input d_in, Output d_out, Begins d_in_begin_offsets,
                                           Ends d_in_end_offsets, ResultBegins d_out_begin_offsets,
                                           Count num_segments, cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes, problem::exclusive_sum(d_in, d_out),
                segments(d_in_begin_offsets, d_in_end_offsets, d_out_begin_offsets, num_segments),
                stream);
  }

  /// y(i) = x(0) + x(1) + ... + x(i)
  template <class Input, class Output, class Begins, class Ends, class Count,
            detail::if_segment_number<Count> = 0>
  static cudaError_t InclusiveSegmentedSum(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                           Input d_in, Output d_out, Begins d_in_begin_offsets,
                                           Ends d_in_end_offsets, Count num_segments,
                                           cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes, problem::inclusive_scan(d_in, d_out, plus{}),
                segments(d_in_begin_offsets, d_in_end_offsets, num_segments), stream);
  }

  /// The same with offsets of the results.
  template <class Input, class Output, class Begins, class Ends, class ResultBegins, class Count,
            detail::if_sequence<ResultBegins> = 0, detail::if_segment_number<Count> = 0>
  static cudaError_t InclusiveSegmentedSum(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                           Input d_in, Output d_out, Begins d_in_begin_offsets,
                                           Ends d_in_end_offsets, ResultBegins d_out_begin_offsets,
                                           Count num_segments, cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes, problem::inclusive_scan(d_in, d_out, plus{}),
                segments(d_in_begin_offsets, d_in_end_offsets, d_out_begin_offsets, num_segments),
                stream);
  }

  /// y(i) = init . x(0) . x(1) ... x(i - 1), y(0) = init. Accumulates in the type of scan_op(init,
  /// x).
  template <class Input, class Output, class Begins, class Ends, class Count, class ScanOp,
            class Init, detail::if_segment_number<Count> = 0>
  static cudaError_t ExclusiveSegmentedScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                            Input d_in, Output d_out, Begins d_in_begin_offsets,
                                            Ends d_in_end_offsets, Count num_segments,
                                            ScanOp scan_op, Init init_value,
                                            cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<false>(d_in, d_out, scan_op, init_value),
                segments(d_in_begin_offsets, d_in_end_offsets, num_segments), stream);
  }

  /// The same with offsets of the results.
  template <class Input, class Output, class Begins, class Ends, class ResultBegins, class Count,
            class ScanOp, class Init, detail::if_sequence<ResultBegins> = 0,
            detail::if_segment_number<Count> = 0>
  static cudaError_t ExclusiveSegmentedScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                            Input d_in, Output d_out, Begins d_in_begin_offsets,
                                            Ends d_in_end_offsets, ResultBegins d_out_begin_offsets,
                                            Count num_segments, ScanOp scan_op, Init init_value,
                                            cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<false>(d_in, d_out, scan_op, init_value),
                segments(d_in_begin_offsets, d_in_end_offsets, d_out_begin_offsets, num_segments),
                stream);
  }

  /// y(i) = x(0) . x(1) ... x(i)
  template <class Input, class Output, class Begins, class Ends, class Count, class ScanOp,
            detail::if_segment_number<Count> = 0>
  static cudaError_t InclusiveSegmentedScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                            Input d_in, Output d_out, Begins d_in_begin_offsets,
                                            Ends d_in_end_offsets, Count num_segments,
                                            ScanOp scan_op, cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes, problem::inclusive_scan(d_in, d_out, scan_op),
                segments(d_in_begin_offsets, d_in_end_offsets, num_segments), stream);
  }

  /// The same with offsets of the results.
  template <class Input, class Output, class Begins, class Ends, class ResultBegins, class Count,
            class ScanOp, detail::if_sequence<ResultBegins> = 0,
            detail::if_segment_number<Count> = 0>
  static cudaError_t InclusiveSegmentedScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                            Input d_in, Output d_out, Begins d_in_begin_offsets,
                                            Ends d_in_end_offsets, ResultBegins d_out_begin_offsets,
                                            Count num_segments, ScanOp scan_op,
                                            cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes, problem::inclusive_scan(d_in, d_out, scan_op),
                segments(d_in_begin_offsets, d_in_end_offsets, d_out_begin_offsets, num_segments),
                stream);
  }

  /// y(i) = init . x(0) . x(1) ... x(i). Accumulates in the type of scan_op(init, x).
  template <class Input, class Output, class Begins, class Ends, class Count, class ScanOp,
            class Init, detail::if_segment_number<Count> = 0>
  static cudaError_t
  InclusiveSegmentedScanInit(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                             Output d_out, Begins d_in_begin_offsets, Ends d_in_end_offsets,
                             Count num_segments, ScanOp scan_op, Init init_value,
                             cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<true>(d_in, d_out, scan_op, init_value),
                segments(d_in_begin_offsets, d_in_end_offsets, num_segments), stream);
  }

  /// The same with offsets of the results.
  template <class Input, class Output, class Begins, class Ends, class ResultBegins, class Count,
            class ScanOp, class Init, detail::if_sequence<ResultBegins> = 0,
            detail::if_segment_number<Count> = 0>
  static cudaError_t
  InclusiveSegmentedScanInit(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                             Output d_out, Begins d_in_begin_offsets, Ends d_in_end_offsets,
                             ResultBegins d_out_begin_offsets, Count num_segments, ScanOp scan_op,
                             Init init_value, cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<true>(d_in, d_out, scan_op, init_value),
                segments(d_in_begin_offsets, d_in_end_offsets, d_out_begin_offsets, num_segments),
                stream);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
