// SPDX-License-Identifier: MIT
// Tuning as rows of data: what was measured, and where. Nothing here changes a result, only its time.
#pragma once

namespace lookback::detail {

/// Warps of a block that scans one tile of `rows` rows. Four rows a warp keep 64 bytes of input in flight a thread at 16
/// KB a block.
constexpr int look_back_warps(int rows) { return rows < 8 ? rows : 8; }

/// Threads that zero the state: a few waves at most.
constexpr int prepare_threads = 256;
constexpr unsigned prepare_blocks_at_most = 256;

} // namespace lookback::detail
