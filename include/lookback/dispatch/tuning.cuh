// SPDX-License-Identifier: MIT
// Tuning as rows of data: what was measured, and where. Nothing here changes a result, only its time.
#pragma once

#include <lookback/device/decoupled_look_back.cuh>
#include <lookback/device/look_ahead.cuh>

#include <cstdint>

namespace lookback::detail {

/// One tile. H200, inclusive sum, us, by warps:   2^10 i8   2^12 i8   2^10 i32   2^12 i32   2^10 f64
///    8                                              4.9       6.0       4.5        4.6        4.7
///   16                                              4.8       5.0       4.2        4.5        4.4
///   32                                              4.3       4.5       4.2        4.9        4.5
template <class Problem>
struct one_tile {
  static constexpr int rows = Problem::shape::tile_rows, wanted = Problem::shape::element_bytes <= 2 ? 32 : 16;
  static constexpr look_back_tuning value{rows < wanted ? rows : wanted, 1, look::nowhere};
};

/// The tiles of a cluster.
template <class Problem>
struct cluster_tiles {
  static constexpr int rows = Problem::shape::tile_rows;
  static constexpr look_back_tuning value{rows < 8 ? rows : 8, 1, look::in_cluster};
};

/// Blocks of this kernel that the 227 KB of shared memory of a multiprocessor have room for: it needs no fewer registers than
/// they leave.
template <class Problem, int Warps, look Where>
constexpr int fit_in_shared(int wanted) {
  constexpr int fit = 227 * 1024 / (sizeof(typename tile_scan<Problem, Warps, Where>::storage) + 1024);
  return fit < 1 ? 1 : fit < wanted ? fit : wanted;
}

/// The tiles of one wave.
template <class Problem>
struct wave_tiles {
  static constexpr int rows = Problem::shape::tile_rows, warps = rows < 8 ? rows : 8;
  static constexpr look_back_tuning value{warps, fit_in_shared<Problem, warps, look::over_wave>(4), look::over_wave};
};
/// The look-back. H200, i32 inclusive sum, warps x blocks, us:   2^28
///   8 x 1                                                        813
///   4 x 10                                                       621
template <class Problem>
struct look_back_tiles {
  static constexpr int rows = Problem::shape::tile_rows, warps = rows < 4 ? rows : 4;
  static constexpr look_back_tuning value{warps, fit_in_shared<Problem, warps, look::back>(10), look::back};
};

/// The pipeline. H200, us, by stages, depth, scanning warps, look-ahead warps:
///                    2^28 i32   2^28 f32   2^27 i64   2^28 i8
///   12, 6, 16, 2        551        545        534       148
///   12, 6, 16, 3        597        596        565       168    more look-ahead warps poll more
///   12, 6, 16, 1        718        674        783       165    one cannot keep up
///   12, 5, 16, 2        544        577        543       156
///   12, 6,  8, 3        612        623        595       174
struct look_ahead_row {
  static constexpr look_ahead_tuning value{12, 3, 6, 16, 2};
};
/// From how many bytes of input on the pipeline is faster than the look-back: 2^22 i32 20.7 against 18.0 us, 2^24 i32
/// 48.4 against 50.1.
constexpr std::uint64_t look_ahead_from_bytes = std::uint64_t{1} << 24;

/// Threads that zero the state: a few waves at most.
constexpr int prepare_threads = 256;
constexpr unsigned prepare_blocks_at_most = 256;

} // namespace lookback::detail
