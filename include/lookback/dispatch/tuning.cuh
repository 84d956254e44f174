// SPDX-License-Identifier: MIT
// Tuning as rows of data: what was measured, and where. Nothing here changes a result, only its time.
#pragma once

namespace lookback::detail {

/// How many warps scan a tile of the general path, and how many blocks a multiprocessor must have room for.
struct look_back_tuning {
  int warps, blocks;
};

/// H200, i32 inclusive sum, warps x blocks, us:        2^10    2^16    2^28
///   8 x 1   for a few tiles, where latency counts      5.0     6.9     813
///   4 x 10  for many, where tiles in flight count      6.2     8.1     621
constexpr look_back_tuning few_tiles(int rows) { return {rows < 8 ? rows : 8, 1}; }
constexpr look_back_tuning many_tiles(int rows) { return {rows < 4 ? rows : 4, 10}; }
constexpr unsigned many_tiles_from = 256;

/// Threads that zero the state: a few waves at most.
constexpr int prepare_threads = 256;
constexpr unsigned prepare_blocks_at_most = 256;

} // namespace lookback::detail
