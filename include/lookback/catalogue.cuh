// SPDX-License-Identifier: MIT
// The textbook's scans of a device, as strategies of the same calls.
#pragma once

#include <lookback/block_scan.cuh>
#include <lookback/dispatch/algorithm.cuh>
#include <lookback/strategy/auxiliary_block.cuh>
#include <lookback/strategy/chained.cuh>
#include <lookback/strategy/decoupled_look_back.cuh>
#include <lookback/strategy/reduce_then_scan.cuh>
#include <lookback/strategy/scan_then_add.cuh>

/// @addtogroup strategies
/// How a scan is organised over the device. lookback::fastest is the default. The others, for
/// learning, comparison and research, are lookback's pipeline, lookback::look_ahead, and the
/// strategies of the textbook.
///
///     thrust::inclusive_scan(lookback::par.with(lookback::scan_then_add<lookback::brent_kung>{}),
///                            first, last, result);
///     lookback::DeviceScan::InclusiveSum(storage, bytes, input, output, n, stream,
///                                        lookback::chained<>{});
///
/// | strategy | memory traffic | kernels | same bits on every run |
/// |---|---|---|---|
/// | lookback::fastest | 2 n | 1 or 2 | yes, the tree's |
/// | lookback::look_ahead | 2 n | 1, captured 2 | yes, the tree's |
/// | lookback::scan_then_add | 4 n | 2 levels - 1 | yes |
/// | lookback::reduce_then_scan | 3 n | 2 levels - 1 | yes |
/// | lookback::chained | 2 n | 2 | yes |
/// | lookback::auxiliary_block | 2 n | 2 | no |
/// | lookback::decoupled_look_back | 2 n | 2 | no |
///
/// Traffic is in elements read and written. A tile is the S = Threads * Items items that a block
/// scans at once. Levels: ceil(log_S n).
///
/// **Common to the textbook's strategies**
///
/// - `Network`: the scan within a block, one of the @ref block_scans; for
///   lookback::decoupled_look_back also, and by default, lookback::warp_vectors.
/// - `Threads`: threads of a block, a multiple of 32, at most 1024.
/// - `Items`: items of a thread. With 0, `Network` chooses: a block scan up to 160 bytes a
///   thread.
/// - *Types, iterators and streams*: the same as the default's.
/// - *Errors*: `cudaErrorInvalidConfiguration` if a block needs more shared memory than the device
///   has; the Thrust calls throw it with the numbers of both.
/// - *Determinism*: each combines operands in an order of its own, not in lookback::tree_shape's.
