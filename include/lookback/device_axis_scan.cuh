// SPDX-License-Identifier: MIT
// Scans along an axis of an array in CUB's two phases (CUB has no such class). Includes neither
// Thrust nor CUB.
#pragma once

#include <lookback/dispatch/axis_call.cuh>
#include <lookback/dispatch/dispatch.cuh>

#include <stdexcept>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Scans of all lines along one axis of an array in device memory (lookback::axis): of its rows,
/// its columns, or those of a batch, with the conventions of lookback::DeviceScan.
///
/// @code
/// const lookback::axis columns{1, rows, width}; // of a row-major matrix
/// std::size_t bytes = 0;
/// lookback::DeviceAxisScan::InclusiveSum(nullptr, bytes, input, output, columns, stream);
/// lookback::DeviceAxisScan::InclusiveSum(temporary, bytes, input, output, columns, stream);
/// @endcode
///
/// Notation: `a . b` is `scan_op(a, b)`; x(0) to x(length - 1) are the elements of a line in the
/// order of the scan, and y(i) is the result of x(i). With axis::reverse, x(0) is the line's last
/// element.
///
/// **Common to all calls**
///
/// - *Two phases*: with `d_temp_storage` null, a call writes the required bytes to
///   `temp_storage_bytes` and does nothing else. With storage, of any alignment and content, it
///   enqueues the scan.
/// - `lines`: the lines. If outer, length or inner is zero or negative, there are none, and nothing
///   is launched.
/// - *Iterators*: random access, readable or writable on the device, to the array's first element.
///   The output may equal the input if input and output pitches are equal; any other overlap is
///   undefined. Elements between the lines are not written.
/// - *Operator*: associative. It need not be commutative, no identity is assumed, and it is applied
///   to elements of one line only, in order.
/// - *Element types*: the accumulator is trivially copyable and has fewer than 512 bytes. One of up
///   to 16 bytes, or of up to the size of an element, fits into the shared memory of a block (64
///   KB); a larger one may not. A call whose accumulator does not fit does not compile;
///   lookback::host has no such limits.
/// - *Initial value*: a value that the host knows, no lookback::FutureValue. Every line starts from
///   it.
/// - *Stream behaviour*: the scan is enqueued on `stream`, as up to two kernels. Rows of at most
///   two rows of the tree (tree_shape::row_elements), and longer rows unless their elements are
///   trivially copyable, of 1, 2, 4, 8 or 16 bytes, and their results have at most 16 bytes, are
///   scanned as by lookback::DeviceSegmentedScan, with up to five kernels. Of these, rows of at
///   most one row of the tree take one kernel if they are contiguous, aligned to 16 bytes, and of a
///   size that is a multiple or a divisor of 16 bytes. Two columns (inner 2, outer 1, no gaps, not
///   reversed) of more than a tile (tree_shape::tile_elements) are scanned as by
///   lookback::DeviceScan if input and output are pointers, and elements, accumulators and results
///   have the same type, of up to 8 bytes. If all tiles of the two columns fit on the device at
///   once, the kernel starts only when there is room for all of its blocks. Nothing is allocated,
///   nothing synchronises, and the stream may be captured.
/// - *Errors*: `cudaErrorInvalidValue` for negative pitches, for output pitches that do not nest
///   (that along the axis must be at least inner, and the outer one at least the span of a line, or
///   the same with both exchanged), for lines that span more than 2^63 - 1 elements, and for
///   storage that is too small. Otherwise the status of the launches.
/// - *Determinism*: the results of a line are bit-identical to those of scanning it alone, by
///   lookback::DeviceScan or lookback::host. They depend neither on the other lines nor on the
///   pitches (lookback::tree_shape).
/// - *Temporary storage*: for rows that are scanned as by lookback::DeviceSegmentedScan, the same.
///   None for other rows of at most a tile, nor for other lines of at most one row of the tree. For
///   longer lines, status words: of 8 bytes for accumulators of up to 4 bytes, of 16 bytes for up
///   to 8, and of 32 bytes for up to 16. For rows: one for every tile, and two for every group of
///   32 tiles. (For a single row, and for rows of full tiles without gaps, those of tiles have at
///   least 16 bytes if there are many tiles in all.) For other lines: the same, and one for every
///   row of the tree, of these at most about 600,000. For many columns of 4-byte elements, or pairs
///   of columns of 2-byte elements: 34 for every tile, even a partial one (about 1/60 of the bytes
///   of the input for long columns, up to 1/4 for short ones), for pairs at least as many as for
///   other lines. For two columns that are scanned as by lookback::DeviceScan: one for every tile
///   and two for every group of 32 tiles, sized for accumulators twice as large.
/// - *Complexity*: one pass over memory, about 2 n applications of the operator for n elements in
///   all. Lines whose neighbours are not adjacent in memory, in either direction, cost an access to
///   memory for every element.
///
/// @ingroup cub_scans
struct DeviceAxisScan {
private:
  using problem = detail::device_problem;
  template <class Problem>
  static cudaError_t scan(void *storage, std::size_t &bytes, const Problem &scanned,
                          const axis &lines, cudaStream_t stream) {
    try {
      return detail::axis_scans::scan(storage, bytes, scanned, lines, detail::launcher(stream));
    } catch (const std::invalid_argument &) { // of checked_axis()
      return cudaErrorInvalidValue;
    }
  }

public:
  /// y(i) = x(0) + x(1) + ... + x(i - 1), y(0) = 0 of the input's value type.
  template <class Input, class Output>
  static cudaError_t ExclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                                  Output d_out, const axis &lines, cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes, problem::exclusive_sum(d_in, d_out), lines,
                stream);
  }

  /// y(i) = x(0) + x(1) + ... + x(i)
  template <class Input, class Output>
  static cudaError_t InclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                                  Output d_out, const axis &lines, cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes, problem::inclusive_scan(d_in, d_out, plus{}),
                lines, stream);
  }

  /// y(i) = init . x(0) . x(1) ... x(i - 1), y(0) = init. Accumulates in the type of scan_op(init,
  /// x).
  template <class Input, class Output, class ScanOp, class Init>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Input d_in, Output d_out, ScanOp scan_op, Init init_value,
                                   const axis &lines, cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<false>(d_in, d_out, scan_op, init_value), lines, stream);
  }

  /// y(i) = x(0) . x(1) ... x(i)
  template <class Input, class Output, class ScanOp>
  static cudaError_t InclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Input d_in, Output d_out, ScanOp scan_op, const axis &lines,
                                   cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes, problem::inclusive_scan(d_in, d_out, scan_op),
                lines, stream);
  }

  /// y(i) = init . x(0) . x(1) ... x(i). Accumulates in the type of scan_op(init, x).
  template <class Input, class Output, class ScanOp, class Init>
  static cudaError_t InclusiveScanInit(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Input d_in, Output d_out, ScanOp scan_op, Init init_value,
                                       const axis &lines, cudaStream_t stream = nullptr) {
    return scan(d_temp_storage, temp_storage_bytes,
                problem::scan_from<true>(d_in, d_out, scan_op, init_value), lines, stream);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
