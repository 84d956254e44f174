// SPDX-License-Identifier: MIT
// The catalogue: every textbook scan behind the same call.
//
//   thrust::inclusive_scan(lookback::par.with(lookback::scan_then_add<lookback::brent_kung>{}), first, last, result);
//   lookback::DeviceScan::InclusiveSum(storage, bytes, input, output, n, stream, lookback::chained<>{});
//
// Strategies, each with a network for its blocks, the threads of a block and the items of a thread:
//
//   scan_then_add<Network, Threads, Items>         reduce_then_scan<Network, Threads, Items>
//   chained<Network, Threads, Items>               auxiliary_block<Network, Threads, Items>
//   decoupled_look_back<walk_by_thread | walk_by_warp, dynamic_ids | static_ids, Network, Threads, Items>
//   look_ahead                                     fastest
//
// A block has `Threads` threads, whole warps of 32 and 1024 at most, and scans Threads * Items elements by `Network`; 0 items are
// the network's own choice. Types, iterators, streams and errors are the default's (lookback/scan.cuh, lookback/device_scan.cuh);
// cudaErrorInvalidConfiguration where a block has not the shared memory.
//
// Networks: sequential, hillis_steele, kogge_stone<memory_of, exclusive_by>, brent_kung, blelloch<bank_padding, load_pairs>,
// three_phase<Network>, warp_shuffle.
//
// They are for learning, comparing and research, and they are real: the same types, iterators, streams and errors as the
// default. What they do not promise is its bits: each adds in its textbook's order (`look_ahead` and `fastest` in the tree's).
#pragma once

#include <lookback/block_scan.cuh>
#include <lookback/device/auxiliary_block.cuh>
#include <lookback/device/chained.cuh>
#include <lookback/device/decoupled_walk.cuh>
#include <lookback/device/reduce_then_scan.cuh>
#include <lookback/device/scan_then_add.cuh>
#include <lookback/dispatch/catalogue.cuh>
