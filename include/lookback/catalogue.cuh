// SPDX-License-Identifier: MIT
// The catalogue: every textbook scan behind the same call.
#pragma once

#include <lookback/block_scan.cuh>
#include <lookback/device/auxiliary_block.cuh>
#include <lookback/device/chained.cuh>
#include <lookback/device/decoupled_walk.cuh>
#include <lookback/device/reduce_then_scan.cuh>
#include <lookback/device/scan_then_add.cuh>
#include <lookback/dispatch/catalogue.cuh>

/// @addtogroup strategies
/// How a scan is organised over the device. lookback::fastest is the default; the others are the
/// textbook's and lookback's pipeline, for learning, comparison and research.
///
///     thrust::inclusive_scan(lookback::par.with(lookback::scan_then_add<lookback::brent_kung>{}),
///                            first, last, result);
///     lookback::DeviceScan::InclusiveSum(storage, bytes, input, output, n, stream,
///                                        lookback::chained<>{});
///
/// | strategy | memory traffic | kernels | same bits on every run |
/// |---|---|---|---|
/// | lookback::fastest | 2 n | 1 or 2 | yes, the tree's |
/// | lookback::look_ahead | 2 n | 1 | yes, the tree's |
/// | lookback::scan_then_add | 4 n | 2 levels - 1 | yes |
/// | lookback::reduce_then_scan | 3 n | 2 levels - 1 | yes |
/// | lookback::chained | 2 n | 2 | yes |
/// | lookback::auxiliary_block | 2 n | 2 | no |
/// | lookback::decoupled_look_back | 2 n | 2 | no |
///
/// Traffic is in elements read and written. A tile is what one block scans: S = Threads * Items
/// items. Levels: ceil(log_S n).
///
/// **Common to the textbook's strategies**
///
/// - `Network`: the scan within a block, one of the @ref block_scans.
/// - `Threads`: threads of a block, a multiple of 32, at most 1024.
/// - `Items`: items of a thread. 0 is the block scan's own choice, within 160 bytes a thread.
/// - *Types, iterators and streams*: the same as the default's.
/// - *Errors*: `cudaErrorInvalidConfiguration` if a block needs more shared memory than the device
///   has; the Thrust calls throw it with the numbers of both.
/// - *Determinism*: each combines operands in an order of its own, not in lookback::tree_shape's.
