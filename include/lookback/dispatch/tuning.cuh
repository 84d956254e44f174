// SPDX-License-Identifier: MIT
// Tuning as rows of data: what was measured, and where. Nothing here changes a result, only its time.
#pragma once

#include <lookback/device/decoupled_look_back.cuh>
#include <lookback/device/large_scan.cuh>
#include <lookback/device/look_ahead.cuh>

#include <cstdint>

namespace lookback::detail {

/// Whether lanes exchange their values through shared memory: then every warp needs room for 32 of them.
template <class T>
inline constexpr bool exchanges_by_copy = !std::is_trivially_copyable<T>::value;

/// One tile. H200, inclusive sum, us, by warps:   2^10 i8   2^12 i8   2^10 i32   2^10 + 1   2^12 i32   2^10 f64
///    8                                              4.2       4.7       4.2        4.4        4.4        4.5
///   16                                              4.0       4.2       4.0        4.2        4.2        4.2
///   32                                              4.0       4.2       4.0        4.0        4.3        4.2
template <class Problem>
struct one_tile {
  static constexpr int rows = Problem::shape::tile_rows;
  /// At most `wanted` warps; by key, and of values that are copied, half as many until a block has
  /// the shared memory without asking for it.
  static constexpr int warps_of(int wanted) { return rows < wanted ? rows : wanted; }
  template <int Warps>
  static constexpr int that_fit() {
    constexpr bool fit = sizeof(typename tile_scan<Problem, Warps, look::nowhere>::storage) <= 48 * 1024;
    if constexpr (fit || Warps <= 4)
      return Warps;
    else
      return that_fit<Warps / 2>();
  }
  static constexpr int warps() {
    if constexpr (boundary_of<typename Problem::input_type>::exists ||
                  exchanges_by_copy<typename Problem::accumulator>)
      return that_fit<warps_of(16)>();
    else
      return warps_of(32);
  }
  static constexpr look_back_tuning value{warps(), 1, look::nowhere};
};

/// Blocks of this kernel that the 227 KB of shared memory of a multiprocessor have room for: it needs no fewer registers than
/// they leave.
template <class Problem, int Warps, look Where>
constexpr int fit_in_shared(int wanted) {
  constexpr int fit = 227 * 1024 / (sizeof(typename tile_scan<Problem, Warps, Where>::storage) + 1024);
  return fit < 1 ? 1 : fit < wanted ? fit : wanted;
}

/// The tiles of one wave, and of a cluster. H200, us, by warps x blocks (by key half the blocks):
///                  2^16 i32   2^18 i32   2^20 i32   2^20 i8   2^18 f64   2^20 f64   2^22 i32
///    8 x 4           5.1        6.3        8.0        6.9       7.0       10.6
///   16 x 2           5.0        6.0        7.7        6.4       7.1                              the pipeline takes 12.3 there,
///    4 x 8                      6.9        8.3                  7.6                  16.4        and 16.4 here
/// A large wave is one that needs the room of fewer warps: 265 to 528 tiles on an H200.
template <class Problem, int Warps, look Where>
struct wave_tiles {
  static constexpr int rows = Problem::shape::tile_rows, warps = rows < Warps ? rows : Warps;
  static constexpr int blocks =
      (boundary_of<typename Problem::input_type>::exists ? 16 : 32) / Warps; // more would spill registers
  static constexpr look_back_tuning value{warps, fit_in_shared<Problem, warps, Where>(blocks), Where};
};
template <class Problem>
using small_wave = wave_tiles<Problem, exchanges_by_copy<typename Problem::accumulator> ? 8 : 16, look::around>;
template <class Problem>
using large_wave = wave_tiles<Problem, 8, look::over_wave>;

/// The look-back. H200, i32 inclusive sum, warps x blocks, us:   2^28
///   8 x 1                                                        813
///   4 x 10                                                       621
template <class Problem>
struct look_back_tiles {
  static constexpr int rows = Problem::shape::tile_rows, warps = rows < 4 ? rows : 4;
  static constexpr look_back_tuning value{warps, fit_in_shared<Problem, warps, look::back>(10), look::back};
};

/// Whether a block has the shared memory, without asking for it.
template <class Problem, class Tuning>
using tile_storage = typename tile_scan<Problem, Tuning::value.warps, Tuning::value.where>::storage;
template <class Problem, class Tuning>
inline constexpr bool fits = sizeof(tile_storage<Problem, Tuning>) <= 48 * 1024;

/// Which kernels a problem has. One that is large has device/large_scan.cuh's alone.
template <class Problem>
inline constexpr bool is_large = exchange_of<typename Problem::accumulator> == exchange_by::rounds ||
                                 !fits<Problem, one_tile<Problem>> || !fits<Problem, look_back_tiles<Problem>>;
template <class Problem>
inline constexpr bool has_waves =
    !is_large<Problem> && fits<Problem, small_wave<Problem>> && fits<Problem, large_wave<Problem>>;

/// The pipeline. H200, us, by stages, tiles in flight, depth, scanning warps, look-ahead warps, when reads were cached as all else:
///                     2^24 i32   2^28 i32   2^30 i8   2^27 f64   2^28 by key   2^28 i8 to i32
///   12, 3, 6, 16, 2     40.4       525        538       525         818            360
///   12, 2, 6, 16, 2     41.3       559        559       559
///   12, 4, 6, 16, 2     40.8       526        530       527
///   12, 6, 6, 16, 2     41.4       527        531       526
///   12, 3, 4, 16, 2     41.6       571        587       589
///   12, 3, 6, 16, 3                                                1230            342
///   12, 3, 6,  8, 2                                                 921
/// By depth, reads cached for longer (in brackets as before; another program and run; memcpy: 509, 509, 510, 761, 321):
///                     2^28 i32     2^30 i8      2^27 i64     2^28 by key   2^28 i8 to i32
///   depth 5           521          526          530          1118          357
///   depth 6           509 (529)    510 (528)    524 (534)    851 (880)     356 (380)
///   depth 7           507 (530)    508 (528)    522 (535)    842 (848)     368 (364)
///   depth 8           508          509          523          843           375
/// 16-byte integers, whose look-ahead takes the longest; by what a lane has of a tile, look-ahead warps, depth:
///                     2^20   2^22   2^24   2^26
///   rows, 2, 6        18.4   46.8   153    578      memcpy 12.6, 35.7, 129, 507
///   a run, 3, 7       16.9   40.5   135    518
///   a run, 3, 8       16.7   40.3   134    510
///
/// Columns of up to 20 tiles: 3 look-ahead warps instead of 2 take 15.1 for 15.6 at 2^22 i32, 24.0 for 25.7 at 2^24 i16, 17.5 for 18.0
/// at 2^24 i8, and 22.3 for 23.2 at 2^22 by key, but 825 for 810 at 2^28 there, where one has nothing to do; 2 copies in flight instead
/// of 3 take 25.5 for 27.0 at 2^22 i64 and 19.1 for 20.3 at 2^20 i128, but 26.4 for 23.7 at 2^23 i32. By when what is read leaves the L2 cache (in brackets: tiles a column; another input each run,
/// since what leaves last outlives a memset):
///             2^22 i32 (8)   2^24 i8 (8)   2^22 by key (8)   2^24 i16 (16)   2^22 i64 (16)   2^24 i32 (31)   2^26 i32 (124)
///   first         14.6           14.9           21.5              22.0             24.1            41.3            143.7
///   as all else   14.9           15.0           22.5              22.7             24.4            39.3            137.6
///   last          14.4           14.7           24.5              22.6             24.2            38.3            131.7
template <class Problem>
struct look_ahead_row {
  using T = typename Problem::accumulator;
  static constexpr int stage = staged_tile<Problem, 8, true>::bytes, tile = Problem::shape::tile_elements;
  // A tile's reads and writes, against those of 4-byte elements: what is counted in tiles there is a time.
  static constexpr double traffic = (stage + tile * sizeof(typename Problem::stored)) / 32768.0;
  static constexpr int tiles_for(double tiles) { return static_cast<int>(tiles / traffic + 0.5); }
  static constexpr bool swift = traffic < 0.8; // two look-ahead warps would fall behind
  static constexpr bool runs = adds_runs<Problem>;
  static constexpr int depth = tiles_for(runs ? 8 : swift || sizeof(T) > 8 ? 6 : 7);
  static constexpr int in_flight = tiles_for(sizeof(T) <= 2 ? 4 : 3);
  static constexpr int fit =
      224 * 1024 / (stage + 2 * (Problem::shape::tile_rows + 1) * static_cast<int>(sizeof(T)) + 48);
  static constexpr int stages = fit < tiles_for(12) ? fit : tiles_for(12);
  static constexpr int look_ahead_warps = swift || runs || sizeof(T) <= 4 ? 3 : 2;
  static constexpr int long_column_warps = swift || runs ? 3 : 2;
  static constexpr look_ahead_tuning value{stages,
                                           in_flight,
                                           sizeof(T) > 4 && in_flight > 2 ? 2 : in_flight,
                                           depth < stages ? depth : stages - 1,
                                           sizeof(T) <= 8 ? 16 : 8,
                                           look_ahead_warps,
                                           long_column_warps,
                                           20};
};

/// Threads that zero the state: a few waves at most.
constexpr int prepare_threads = 256;
constexpr unsigned prepare_blocks_at_most = 256;

} // namespace lookback::detail
