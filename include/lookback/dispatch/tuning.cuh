// SPDX-License-Identifier: MIT
// Tuning as rows of data, one for each architecture: what was measured, and where. It never changes
// a result, only the time. The host and the kernels read the same row, that for the architecture of
// the code that runs.
//
// A new row: a struct like `tuned_on_h200`, and its line in `row_for` and in
// measured_tuning::name().
#pragma once

#include <lookback/carry/prepare_state.cuh>
#include <lookback/strategy/pipeline.cuh>
#include <lookback/strategy/tree_tiles.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether lanes exchange their values through shared memory: then every warp needs room for 32 of
/// them.
template <class T>
inline constexpr bool exchanges_by_copy = !std::is_trivially_copyable<T>::value;

/// Measured on an H200, sm_90, for multiprocessors with `SharedKib` KiB of shared memory for
/// blocks, and code that can start bulk copies or, without `Bulk`, cannot.
template <int SharedKib, bool Bulk>
struct tuned_on_h200 {
  static constexpr int multiprocessors = 132;
  /// Groups of 32 tiles that one round of tiles, one a block, can span.
  static constexpr int groups_a_round = (multiprocessors + 31) / 32 + 1;
  static constexpr int shared_bytes =
      SharedKib * 1024; // of a multiprocessor, and the most that one block may have
  static constexpr int shared_bytes_of_launch = 1024; // reserved by CUDA in every block
  /// Whether any problem takes the pipeline.
  static constexpr bool has_pipelines = SharedKib >= 99;

  /// Blocks of the kernel that fit into the shared memory of a multiprocessor, at most `wanted`.
  /// Registers need not be limited for more blocks than that.
  template <class Problem, int Warps, class Carry, unsigned PrefetchDistance = 0>
  static constexpr int fit_in_shared(int wanted) {
    using storage = typename tile_scan<Problem, Warps, Carry, PrefetchDistance>::storage;
    constexpr int fit = shared_bytes / (sizeof(storage) + shared_bytes_of_launch);
    return fit < 1 ? 1 : fit < wanted ? fit : wanted;
  }

  /// One tile. Inclusive sum, us, by warps:
  ///         2^10 i8   2^12 i8   2^10 i32   2^10 + 1   2^12 i32   2^10 f64
  ///    8      4.2       4.7       4.2        4.4        4.4        4.5
  ///   16      4.0       4.2       4.0        4.2        4.2        4.2
  ///   32      4.0       4.2       4.0        4.0        4.3        4.2
  template <class Problem>
  struct one_tile {
    static constexpr int rows = Problem::shape::tile_rows;
    /// At most `wanted` warps, and at most one a row. warps() halves the number by key, and for
    /// values that lanes exchange through shared memory, until the block fits into
    /// default_shared_bytes.
    static constexpr int warps_of(int wanted) { return rows < wanted ? rows : wanted; }
    template <int Warps>
    static constexpr int that_fit() {
      constexpr bool fit =
          sizeof(typename tile_scan<Problem, Warps, carry::none>::storage) <= default_shared_bytes;
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
    static constexpr tile_tuning value{warps(), 1};
  };

  /// The tiles of one wave, and of a cluster. H200, us, by warps x blocks (by key half the blocks):
  ///                  2^16 i32   2^18 i32   2^20 i32   2^20 i8   2^18 f64   2^20 f64   2^22 i32
  ///    8 x 4           5.1        6.3        8.0        6.9       7.0       10.6
  ///   16 x 2           5.0        6.0        7.7        6.4       7.1
  ///    4 x 8                      6.9        8.3                  7.6                  16.4
  ///   the pipeline                                                         12.3       16.4
  template <class Problem, int Warps, class Carry>
  struct wave_tiles {
    static constexpr int rows = Problem::shape::tile_rows, warps = rows < Warps ? rows : Warps;
    static constexpr int blocks = (boundary_of<typename Problem::input_type>::exists ? 16 : 32) /
                                  Warps; // more would spill registers
    static constexpr tile_tuning value{warps, fit_in_shared<Problem, warps, Carry>(blocks)};
  };
  template <class Problem>
  using small_wave = wave_tiles<
      Problem,
      exchanges_by_copy<typename Problem::accumulator> || has_short_kernels<Problem> ? 8 : 16,
      carry::cluster_or_wave>;
  /// For structs of more than 24 bytes, no more blocks than small_wave: registers would spill,
  /// and the pipeline is faster (H200, share of a copy's speed, by blocks a multiprocessor):
  ///              2^18 of 32 bytes   2^17 of 40   2^17 of 48   2^17 of 64
  ///   4                 .50             .36          .31          .21
  ///   2                 .60             .49          .50          .55
  template <class Problem>
  using large_wave =
      wave_tiles<Problem,
                 (blocks_structs<Problem>::value && sizeof(typename Problem::accumulator) > 24 ? 16
                                                                                               : 8),
                 carry::wave>;

  /// The look-back. H200, i32 inclusive sum, warps x blocks, us:   2^28
  ///   8 x 1                                                        813
  ///   4 x 10                                                       621
  /// By prefetch distance (a tile that is prefetched too early is evicted before its use):
  ///   none 688     264 tiles 621     528 627     1056 784
  /// Sums of 1 GiB of structs by a user's operator, staged as bytes. A lane holds the vectors of
  /// all rows of its warp: wide ones need registers, and fewer blocks have more.
  ///   memcpy 507    12 bytes   24 bytes   32 bytes   64 bytes
  ///   4 x  8           802       1035       1059       2737
  ///   4 x  6           809       1154       1043       1573
  ///   2 x 12           735        911       1333       2992
  ///   2 x  8                                 938       1297
  ///   1 x 16                      863        925
  ///   1 x  8                                            1320
  /// With status words instead of flags and values: share of a copy's speed, H100, for 8 MB, 64 MB
  /// and 1 GiB:
  ///            20 bytes      24 bytes      32 bytes      48 bytes, 2 x 8   48 bytes, 1 x 12
  ///   flags   .65 .63 .70   .54 .58 .66    -  .52 .66     .63 .59 .58
  ///   words   .68 .74 .81   .54 .65 .74    -  .54 .73     .71 .68 .67        .47 .61 .71
  /// Tiles that were prefetched 132 instead of 264 tiles ahead took 1 % longer.
  /// Sums of 2^24 structs that lanes fetch, and of a transformed zip of two i32:
  ///             24 bytes   32 bytes   64 bytes   zip
  ///   4 x 10       552        955       3703      84
  ///   4 x  8       519        691       2363      80
  ///   4 x  6       510        709       2125      92
  /// Since exchanges publish the status words (arch/device_memory.cuh), sums of numbers, us, by
  /// blocks as they run where there is a pipeline: with twice the warps of the row, and half its
  /// blocks (look_back_tuning):
  ///             2^24: i32    i8    i64     2^28: i32    i8    2^27 i64
  ///  16 x  2         57.1   22.7    118          739    228        872
  ///   8 x  5         50.1   20.4     94          622    177        670
  ///   8 x  6         49.7   20.5     90          619    167        637
  ///   4 x  6         48.8   18.1     86          563    151        567
  ///   2 x  6         47.7   18.4     84          565    155        574
  ///   4 x  6, nothing prefetched
  ///                  49.0   18.2     86          563    151        568
  /// (4 x 6 is not in: 38 % more instructions, and a sum took 7 % longer to compile.)
  template <class Problem>
  struct tree_look_back {
    using T = typename Problem::accumulator;
    static constexpr bool vectors =
        lane_vector<typename Problem::stored, Problem::shape::vector_elements>::packed;
    static constexpr int rows = Problem::shape::tile_rows;
    // By key, a tile of values has more rows than one of accumulators would have.
    static constexpr bool measured =
        can_stage<Problem> && !boundary_of<typename Problem::input_type>::exists;
    static constexpr bool wide = measured && sizeof(T) > 16 && rows <= 16,
                          odd = measured && !Problem::sink_type::scatters && sizeof(T) <= 16 &&
                                !vectors;
    static constexpr int wanted = wide && sizeof(T) <= 32 ? 1 : wide || odd ? 2 : 4;
    static constexpr int warps = rows < wanted ? rows : wanted;
    static constexpr int blocks = wide              ? sizeof(T) <= 32   ? 16
                                                      : sizeof(T) <= 64 ? 8
                                                                        : 4
                                  : odd             ? 12
                                  : sizeof(T) <= 16 ? 10
                                                    : 8;
    static constexpr unsigned distance = 2 * multiprocessors;
    static constexpr tile_tuning value{
        warps, fit_in_shared<Problem, warps, carry::look_back, distance>(blocks), distance};
  };

  /// The reduction of tiles without a scan. Blocks have two tiles in shared memory. Not measured.
  template <class Problem>
  struct tile_reduction {
    static constexpr int rows = Problem::shape::tile_rows;
    static constexpr tile_tuning value{rows < 4 ? rows : 4,
                                       sizeof(typename Problem::accumulator) <= 16 ? 6 : 4};
  };

  /// Bytes of the array of a tile that may have a ring of its own.
  template <class Problem, bool MaySplit>
  static constexpr int apart_of() {
    if constexpr (MaySplit)
      return staged_tile<Problem, 8, true, array_apart<Problem>>::apart_bytes;
    else
      return 0;
  }

  /// The pipeline. H200, us, by stages, tiles in flight, depth, scanning warps, look-ahead warps;
  /// reads with the default L2 policy:
  ///                     2^24 i32   2^28 i32   2^30 i8   2^27 f64   2^28 by key   2^28 i8 to i32
  ///   12, 3, 6, 16, 2     40.4       525        538       525         818            360
  ///   12, 2, 6, 16, 2     41.3       559        559       559
  ///   12, 4, 6, 16, 2     40.8       526        530       527
  ///   12, 6, 6, 16, 2     41.4       527        531       526
  ///   12, 3, 4, 16, 2     41.6       571        587       589
  ///   12, 3, 6, 16, 3                                                1230            342
  ///   12, 3, 6,  8, 2                                                 921
  /// By depth, with reads that stay longer in the L2 cache (in brackets: default policy; measured
  /// with another program, in another run):
  ///                     2^28 i32     2^30 i8      2^27 i64     2^28 by key   2^28 i8 to i32
  ///   memcpy            509          509          510          761           321
  ///   depth 5           521          526          530          1118          357
  ///   depth 6           509 (529)    510 (528)    524 (534)    851 (880)     356 (380)
  ///   depth 7           507 (530)    508 (528)    522 (535)    842 (848)     368 (364)
  ///   depth 8           508          509          523          843           375
  /// 16-byte integers, whose look-ahead takes the longest, by the layout of a lane's items (rows or
  /// blocked), look-ahead warps and depth:
  ///                     2^20   2^22   2^24   2^26
  ///   memcpy            12.6   35.7   129    507
  ///   rows, 2, 6        18.4   46.8   153    578
  ///   blocked, 3, 7     16.9   40.5   135    518
  ///   blocked, 3, 8     16.7   40.3   134    510
  ///
  /// Short tile sequences, of up to 20 tiles, and one long one (2^28 by key, where a third warp has
  /// nothing to do), by look-ahead warps:
  ///      2^22 i32   2^24 i16   2^24 i8   2^22 by key   2^28 by key
  ///   2    15.6       25.7       18.0       23.2           810
  ///   3    15.1       24.0       17.5       22.3           825
  /// By copies in flight:
  ///      2^22 i64   2^20 i128   2^23 i32
  ///   3    27.0       20.3        23.7
  ///   2    25.5       19.1        26.4
  /// By when lines of the input leave the L2 cache (in brackets: tiles of a sequence; each run
  /// reads another input, since lines that leave last survive a memset):
  ///                      first     default     last
  ///   2^22 i32 (8)       14.6        14.9       14.4
  ///   2^24 i8 (8)        14.9        15.0       14.7
  ///   2^22 by key (8)    21.5        22.5       24.5
  ///   2^24 i16 (16)      22.0        22.7       22.6
  ///   2^22 i64 (16)      24.1        24.4       24.2
  ///   2^24 i32 (31)      41.3        39.3       38.3
  ///   2^26 i32 (124)    143.7       137.6      131.7
  /// Items that warps load: a counting iterator's function that reads memory, a transformed zip of
  /// two i32, and a permutation by ascending indices, by depth, scanning warps, loading warps in
  /// teams, and items that a lane loads at once; two look-ahead warps, 12 stages:
  ///                      counting              zip                   permutation
  ///                      2^22   2^24   2^28    2^22   2^24   2^28    2^22   2^24   2^28
  ///   memcpy             12.6   35.8   507     16.7   51.0   760     16.7   51.0   760
  ///   7, 16,  8 / 2, 16  17.3   44.4   592     26.0   67.8           23.9   64.0
  ///   6,  8,  8 / 2, 32  17.2   43.1   582     24.4   64.5   870     23.4   62.4   847
  ///   5,  8,  8 / 4, 32  18.0   43.8   578     24.0   63.8   841     23.3   62.4   831
  ///   6,  8, 12 / 3, 32  17.3   44.1   581     28.9   75.1   993     25.2   64.3   856
  ///   6,  8, 16 / 2, 16  16.8   42.6   572     23.8   65.2   857     23.6   62.2   831
  ///   5,  8, 16 / 2, 16  16.5   44.0   573     23.3   63.2   854     24.0   62.2   836
  /// A third look-ahead warp and a depth of 9 made all of them slower: what they read competes with
  /// the loads. With fewer stages, the L1 cache has room for more loads in flight, and a greater
  /// depth gives the look-ahead more time. A later version, 2^28 items by stages and depth; 8
  /// scanning warps, 16 loading warps in 2 teams, 16 loads at once:
  ///                      12, 5    9, 4    9, 5    9, 6    9, 7   10, 6   10, 7
  ///   counting             576     626     560     536     555     531     534
  ///   zip                  886     793     775     778     790     774     778
  ///   permutation          838     790     776     780     790     774     779
  /// Code for compute_80 with 163 KiB, 9 stages, which warps copy by 16 bytes, by depth, scanning,
  /// look-ahead and copying warps:
  ///                    2^24 i32   2^28 i32   2^28 i8   2^24 f64   2^27 f64
  ///   memcpy             37.0       507        130       67.4       507
  ///   7, 16, 3, 4        43.1       545        147       79.3       565
  ///   6,  8, 3, 2        42.8       530        141       76.4       537
  ///   6, 16, 2, 2        44.2       533        144       79.2       549
  ///   6, 16, 2, 8        44.0       535        144       82.9       581
  ///   the look-back      53.5       625        162       88.4       617
  /// The same later, depth 6. Each line keeps what those before it have. Lines 1 to 3 are from one
  /// run, and so are lines 5 to 7:
  ///                             2^24: i8    i16    i32    f64     2^28: i8    i16   i32   2^27 f64
  ///   8, 3, 2                       19.2   28.7   43.5   78.6          145   275    537     558
  ///   first tiles copied early      18.2   25.8   41.4   77.1          142   272    535     553
  ///   few in flight, if short       16.4   24.8   41.2   76.8          141   272    535     555
  ///   always, lines leave last      16.3   24.9   39.9   75.7          142   269    530     548
  ///     the same                    16.2   24.5   39.7   75.4          141   267    527     542
  ///   waiting warps pause           15.2   24.7   39.9   72.3          142   272    538     522
  ///   16, 3, 2                      15.0   24.5   38.1   71.0          137   264    519     512
  ///   16, 2, 1                      14.4   22.8                        138   265
  /// Code for compute_86 with 99 KiB: tiles that wait in shared memory and in registers, 16
  /// scanning warps, 2 that look ahead and 1 that copies (f64: one less in shared memory, and in
  /// the third line one less in registers). Registers spill in the last line.
  ///                             2^24: i8    i16    i32    f64     2^28: i8    i16   i32   2^27 f64
  ///   the look-back                 19.0   29.8   51.4   99.0          165   317    658
  ///   5 and 0 (3 look ahead, 2 copy)  16.4 27.1   47.2   92.3          167   324    634     677
  ///   0 and 5                       16.6   26.8   44.9   88.7          166   321    586     658
  ///   3 and 3                       16.1   25.2   40.9   78.8          150   277    540     586
  ///   3 and 4                       16.5   24.6   39.7   79.9          145   266    515     580
  ///   2 and 5                       22.0   24.5   41.0                 157   271    525
  /// The same, 3 and 4, in a later program. Each line keeps what those before it have:
  ///                                                                                    2^28 f64
  ///   3 and 4                       16.8   24.9   39.8   81.4          144   265    512    1162
  ///   bytes added in words, tiles move once a step
  ///                                 15.7   23.5   38.9   79.7          136   261    511    1137
  ///   four tiles move at once       14.9   22.8   38.3   85.7          141   258    508    1228
  ///   one kind of store, f64 one tile at once
  ///                                 14.6   22.7   37.2   78.5          132   257    507    1110
  ///   f64: steps without conditions                      76.9                             1078
  ///     the same, depth 5 instead of 6                   75.2                             1077
  /// Selections of 2^28 items, us, by depth, scanning warps, teams of them, and look-ahead warps.
  /// (The teams' steps overlap.)
  ///                  i32: none   half   all   partition   i16 half   i8 half   unique, runs of 7
  ///   memcpy             260      381   510     510          194        99       294
  ///   7, 16, 1, 2        370      455   526     606          288       217       469
  ///   8, 16, 2, 2        335      428   539     534          240       189       402
  ///   8, 16, 2, 3        284      399   515     539          245       199       358
  ///   8, 16, 4, 2        311      404   517     514          233       188       379
  ///   9, 12, 3, 3        270      396   516     976          239       211       343
  ///   8,  8, 2, 3        268      400   519     580          266       231       386
  /// Then look-ahead warps scanned the aggregates of a group. They now add them by one instruction,
  /// and two of these warps are enough (another run):
  ///   8, 16, 2, 2        258      391   511     518          212       148       327
  /// Runs, all of whose values pass a segmented network: reductions by key (depth 4 with two teams,
  /// 5 with one) and lengths. Instructions limit them:
  ///                  reduce, of 7   of 1000   lengths, of 7   of 1000
  ///   memcpy              579          508         328            259
  ///   8, 16, 2, 2        1043          976        1204           1099
  ///   8, 16, 1, 3        1136          979        1368           1117
  ///   8,  8, 2, 2        2055         1992        1651           1616
  /// As differences of prefix sums (tile/run_sums.cuh; another run):
  ///   8, 16, 2, 2         784          696         474            452
  /// With one aggregate for the rows of a warp, and fewer steps (another run, other runs of 7):
  ///   memcpy              633          507         382            259
  ///   before              835          695         491            453
  ///   8, 16, 2, 2         821          648         447            372
  ///   8, 16, 4, 2         930          717         428            369
  /// When the look-ahead issues all of its loads at once:
  ///   8, 16, 2, 2         805          651         401            324
  ///   8, 16, 4, 2         940          714         400            325
  /// and selections of 2^28:  i32: half   partition   i8 half   partition   unique, of 7   of 1000
  ///   8, 16, 2, 2              391         517         150        222          334          279
  ///   8, 16, 4, 2              390         529         142        223          330          268
  /// The same on an H100, whose memory is slower:
  ///                    i16: all   clustered   partition   i8: half   partition   i32: partition
  ///   memcpy               361         270         360        137         181            713
  ///   8, 16, 2, 2          365         274         367        151         221            718
  ///   8, 16, 4, 2          380         282         373        161         228            724
  /// Placing both parts of a partition in the room in one pass, the second of them shifted into
  /// place when it is stored, took 253 us for i8 there with two teams, and 321 with four.
  /// Sums of runs (H100), by when their beginnings are gathered, of which only the second leaves
  /// the second pass with nothing to read but results:
  ///                  reduce, of 7   of 1000
  ///   memcpy              811          715
  ///   second pass         899          765
  ///   first pass          875          728
  /// Sums of runs whose values have a ring of their own, and with it a greater depth; shares of a
  /// copy's speed (H200, 2^28 i32, runs of one length):
  ///                             1     2     3     7     1000
  ///   one ring, depth 4        .78   .78   .79   .80   .88
  ///   two rings, depth 6       .68   .62   .99   .99   1.02
  ///   two rings, depth 8       .66   .60   .94   .94   .97
  /// (There is no room for the beginnings of runs of 1 and 2: their values are read twice.)
  /// The same of 2^27 elements in runs of 1, 7 and 1000:
  ///               i64, keys i64    i64, keys i32    i16, keys i16    i8, keys i8   i32, keys i8
  ///   one ring      .48 .38 .35      .34 .32 .33      .28 .39 .37    .08 .08 .09   .31 .48 .76
  ///   two rings     .61 .62 .60      .53 .59 .58      .33 .57 .58    .11 .10 .28   .27 .23 .65
  /// Keys of 1 byte have room for the beginnings of runs of 8: i32 values with these keep one ring.
  /// Sums of integers by key (tile/keyed_sums.cuh), 2^28, share of a copy's speed (H200):
  ///                                                  runs of 7   of 1000
  ///   pairs of a segmented network                       .92        .92
  ///   differences; depth 8, two teams                   1.02       1.02
  ///   keys stay in the stages of the values              .93        .93
  ///   one team                                           .92        .92
  /// Sums of 2^27 i32 in adjacent segments (strategy/adjacent_segments.cuh), shares of a copy's
  /// speed (H200), by depth and stages; 16 scanning warps in two teams:
  ///                                                     16    1024   65536   power law
  ///   every warp that marks searches; 8, 10            .75     .82    .83      .78
  ///   one warp searches; 8, 10                         .78     .85    .85      .82
  ///   with samples of the offsets                      .84     .84    .84      .85
  ///   heads of rows in one word, so nothing spills     .88     .87    .87      .88
  ///     the same; 6, 10                                .73     .71    .72      .73
  ///   bits for bytes as marks; 10, 12                  .88     .92    .86      .92
  ///     the same; 8, 12                                .88     .92    .89      .92
  ///   scanning warps find the first tiles; 8, 12       .89     .93    .93      .94
  /// Structs (tile/blocked_rows.cuh), 1 GiB, share of a copy's speed (H200), by the warps of a
  /// team, teams, look-ahead warps, and whose aggregates these read:
  ///                                           12 bytes   24 bytes   32 bytes   64 bytes
  ///   the look-back                             .72        .66        .59        .44
  ///   V stays in registers between the passes, so that depth is at most 8; 1 warp and 8 teams, or
  ///   2 warps (from 32 bytes on) and 6 or 4 teams; 2 look-ahead warps, of tiles:
  ///                                             .82        .46        .58        .33
  ///   V computed in both passes, depth 8 to 12:
  ///     2, 4, 3, of groups                      .82        .80        .69        .48
  ///   The first pass computes the aggregates of rows only:
  ///     2, 4, 3, of groups                      .83        .80        .73        .58
  ///     4, 2, 3, of groups                                 .70        .79        .71
  ///     4, 2, 2, of groups                                            .81        .62
  ///     4, 3, 2, of groups                                            .68        .52
  ///     1, 6, 3, of groups                      .84        .80
  ///     1, 6, 3, of tiles                       .88        .61
  /// The same later, in another program (12 bytes: 805 MB, 24: 403 MB, 32: 537 MB):
  ///                                             .92        .74        .81        .70
  ///     granules permuted, not padded           .94        .78        .88        .73
  ///     and one warp reduces a tile             .94        .78        .88        .79
  ///     2, 5, 3; depth 15                                  .79
  /// (24 bytes depend on where the arrays are: in a program that scans only these, which may put
  /// them elsewhere, the last two figures are .84 and .85.)
  /// Copied in bulk, a piece for each lane, they were slower (.41, .37, .30, .30).
  /// The same later (12 and 24 bytes: 805 MB, 32 and 64: 1 GiB):
  ///                                             .96        .89        .92        .79
  ///     one or two reducing warps compute R       .98        .91        .92        .84
  /// With one more look-ahead warp where tile sequences are short: 2^21 of 12 bytes .71 (before
  /// .66), 2^20 of 24 bytes .69 (.68), 2^20 of 32 bytes .71 (.66).
  template <class Problem>
  struct pipeline {
    using T = typename Problem::accumulator;
    static constexpr bool structs = blocks_structs<Problem>::value;
    static constexpr bool loads = !can_stage<Problem>;
    static constexpr int tile = Problem::shape::tile_elements;
    // Bytes of a stage beside its tile: what publishing and look-ahead warps write, and barriers.
    static constexpr int state = (Problem::shape::tile_rows + 2) * static_cast<int>(sizeof(T)) + 48;
    // In 99 KiB a ring has 5 or 6 stages of 16 KB, too few to hide the latency of the carry, so
    // tiles of plain numbers also wait in registers. They are copied by warps, with sm_120 too,
    // where nothing has been measured. Problems that cannot be held take the look-back.
    static constexpr bool tight = SharedKib <= 99,
                          in_registers = has_pipelines && tight && can_hold<Problem>::value &&
                                         8 * ahead_source<Problem, 8, false>::bytes > shared_bytes;
    static constexpr bool in_bulk = Bulk && !loads && !structs && !in_registers,
                          by_warps = !in_bulk && !loads && !structs;
    // Plain numbers that warps copy.
    static constexpr bool numbers = by_warps && can_hold<Problem>::value;
    // Only the first pass reads the keys of sums by key, and, where beginnings have room, the
    // values of runs: these arrays have a shorter ring.
    static constexpr bool may_split =
        in_bulk && array_apart<Problem> != no_array && (subtracts_sums<Problem> || sizeof(T) <= 8);
    static constexpr int apart = apart_of<Problem, may_split>(), apart_stages = 4,
                         apart_ring = apart_stages * apart;
    static constexpr bool splits = apart_ring > 0 && apart_ring <= shared_bytes / 3;
    static constexpr int stage = ahead_source<Problem, 8, splits>::bytes;
    // Bytes that a tile reads and writes, relative to a tile of 4-byte elements. Numbers of tiles
    // were measured for those; tiles_for() scales them so that they stand for the same time.
    using stored = typename Problem::stored;
    using written =
        std::conditional_t<Problem::sink_type::scatters,
                           typename output_value<typename Problem::output_type, stored>::type,
                           stored>;
    static constexpr double traffic =
        (stage + (splits ? apart : 0) + tile * sizeof(written)) / 32768.0;
    static constexpr int tiles_for(double tiles) { return static_cast<int>(tiles / traffic + 0.5); }
    static constexpr bool swift = traffic < 0.8; // two look-ahead warps would fall behind
    static constexpr bool blocked = adds_blocked<Problem>;
    static constexpr bool placing = in_bulk && places_runs<Problem>;
    // (With a stencil, a tile takes twice the time: one team and two look-ahead warps are faster.)
    static constexpr bool selecting = in_bulk && selects<Problem> && staged_arrays<Problem> == 1;
    static constexpr double wanted_depth = loads     ? 6
                                           : placing ? sizeof(lane_state<Problem>) <= 8 ? 8 : 4
                                           : blocked || selecting               ? 8
                                           : !in_bulk || swift || sizeof(T) > 8 ? 6
                                                                                : 7;
    static constexpr bool marking = marks_heads<Problem>;
    static constexpr int in_flight = tiles_for(sizeof(T) <= 2 ? 4 : 3),
                         short_in_flight = sizeof(T) > 4 && in_flight > 2 ? 2
                                           : in_flight > 3 && numbers     ? 3
                                                                          : in_flight;
    // 1 KB is left for what there is only once, and for alignment.
    static constexpr int heads = marking ? int{sizeof(found_heads)} : 0,
                         fit = (shared_bytes - 1024 - (splits ? apart_ring : 0) - heads) /
                               (stage + state);
    // Where warps load, fewer stages, so that the L1 cache has room for loads in flight.
    static constexpr int wanted_stages = tiles_for(loads ? 10 : splits ? 14 : 12);
    // A tile in registers has no stage of bytes. With one more there, registers spill. (A stage of
    // bytes has one more barrier. 128 bytes are enough for what there is only once, and for a flag
    // a stage.)
    static constexpr int held = in_registers ? 4 : 0,
                         byte_stages = in_registers ? (shared_bytes - 128 - held * state) /
                                                          (stage + state + 8)
                                                    : 0;
    static constexpr int stages = in_registers                     ? byte_stages + held
                                  : structs || fit < wanted_stages ? fit
                                                                   : wanted_stages;
    static constexpr bool fits =
        in_registers ||
        (has_pipelines && (!tight || can_hold<Problem>::value) && (Bulk || stages >= tiles_for(8)));
    // A block of 20 warps has 96 registers a thread, one of 21 has 80: too few for two passes that
    // place results, and two look-ahead warps keep up with them.
    static constexpr bool few = loads || placing || selects<Problem>;
    static constexpr int team_of_structs = blocks_structs<Problem>::warps,
                         struct_warps = team_of_structs == 1 ? 6 : 8,
                         reducing_warps = !structs               ? 0
                                          : team_of_structs == 1 ? 1
                                                                 : 2;
    static constexpr bool third = structs ? team_of_structs < 4 : !few && (swift || blocked);
    static constexpr int long_column_warps = structs && sizeof(T) > 32 ? 4 : third ? 3 : 2;
    static constexpr int look_ahead_warps = structs ? sizeof(T) > 32 ? 4 : long_column_warps + 1
                                            : third || (!few && !numbers && sizeof(T) <= 4) ? 3
                                                                                            : 2;
    // For few structs of 12 bytes, the look-back is faster (H200, share of a copy's speed):
    //               2^20   2^22   2^24   2^26
    //   look-back    .62    .64    .70    .72
    //   pipeline     .56    .69    .85    .91
    static constexpr std::uint64_t least_tiles = structs && sizeof(T) <= 12 ? 2048 : 2;
    // Groups of which a look-ahead warp has room for all aggregates at once.
    static constexpr int window = sizeof(T) <= 32 ? groups_a_round : sizeof(T) <= 48 ? 3 : 2;
    static constexpr int scanning_warps =
        structs ? struct_warps
        : (sizeof(T) <= 8 || placing) && (in_bulk || numbers) && Problem::shape::tile_rows >= 16
            ? 16
            : 8;
    static constexpr int spare = in_bulk || stages < 4 ? 1 : 2; // stages that are being filled
    // A selection reads the items of a tile twice, with little to compute or to write in between,
    // so the latency of its steps counts; and the more rows a warp has, the less the work that is
    // the same for any number of rows. (Two words a lane and row leave no registers for this.)
    static constexpr bool in_teams = selecting || placing || splits || marking;
    static constexpr int item_bytes = sizeof(typename Problem::item);
    // Lengths of runs: only keys are staged. All aggregates are read again: reduce_aggregates().
    static constexpr bool lengths = placing && staged_arrays<Problem> == 1;
    // Measured: four teams are slower for small items and for partitions.
    static constexpr bool two_teams = sizeof(lane_state<Problem>) > 4 ||
                                      sizeof(stored) <= 2 || Problem::sink_type::places_rejected;
    static constexpr int scanning_teams = structs     ? struct_warps / team_of_structs
                                          : !in_teams ? 1
                                          : two_teams ? 2
                                                      : 4;
    static constexpr int depth_at_most = stages - spare;
    // (Three stages of bytes are being filled or reduced; of 8-byte values, for whose depth there
    // are too few registers, four.)
    static constexpr int wanted = in_registers ? held + byte_stages - (sizeof(T) <= 4 ? 3 : 4)
                                  : splits || marking      ? placing ? 6 : 8
                                  : loads && sizeof(T) > 4 ? 5
                                                           : tiles_for(wanted_depth);
    static constexpr int depth =
        (wanted < depth_at_most ? wanted : depth_at_most) / scanning_teams * scanning_teams;
    static constexpr int loads_at_once = item_bytes <= 4 ? 16 : item_bytes <= 8 ? 8 : 4;
    static constexpr look_ahead_tuning value{stages,
                                             in_flight,
                                             short_in_flight,
                                             depth,
                                             scanning_warps,
                                             look_ahead_warps,
                                             long_column_warps,
                                             20,
                                             window,
                                             in_bulk              ? 0
                                             : loads              ? 16
                                             : structs || numbers ? 1
                                                                  : 2,
                                             loads ? 2 : 1,
                                             loads_at_once,
                                             scanning_teams,
                                             has_short_kernels<Problem>,
                                             lengths,
                                             splits ? apart_stages : 0,
                                             reads_groups<Problem> ? 1 : 0,
                                             marking ? 4 : 0,
                                             reducing_warps,
                                             false,
                                             held,
                                             byte_stages,
                                             in_registers && sizeof(T) <= 4 ? 4 : 1};
  };

  /// The pipeline of long segments. Shares of a copy's speed (H200, 2^27 elements: in segments of
  /// one length, half of them in one segment, lengths by a power law), by the look-back and by the
  /// scanning warps of the pipeline. In brackets: blocks poll each other's status words instead of
  /// counters.
  ///                      4096   65536    2^20    2^27   half in one   power law
  ///   i32   look-back     .93     .84     .77     .75           .78         .55
  ///         16          (.83)     .86     .88     .90         (.81)       (.53)
  ///                             (.90)   (.94)   (.94)
  ///   f32   look-back     .91     .83     .76     .75           .77         .53
  ///         16          (.83)     .89     .90     .91         (.79)       (.52)
  ///                             (.86)   (.88)   (.88)
  ///   f64   look-back     .86     .83     .76     .75           .79         .56
  ///         8                     .86     .87     .88
  /// The same later, where the finding warps compute where a tile is, once, and full tiles that are
  /// not aligned have code of their own. (Before, 16 warps had too few registers for f64.)
  ///                     20000   65536   65537           half in one   power law
  ///   f32   16, before    .80     .88     .62
  ///         16            .84     .88     .73                     .80         .59
  ///   f64   8, before     .69     .85     .48
  ///         8             .68     .81     .57                     .80         .51
  ///         16            .83     .87     .64                     .84         .62
  ///         16, depth 4   .75     .76     .68                     .75         .59
  /// So it scans the long segments if there are segment_tiles_ahead tiles or more a segment, on
  /// average over all segments, or segment_tiles_in_all tiles that are mostly full and not the only
  /// ones of their segments: segments_go_ahead(). By the look-back, segments of 4096 f32 have .91
  /// (.84 by the pipeline), of 4097 .54 (.34), of 5000 f64 .79 (.64). Only the device knows all
  /// that, and a kernel that finds nothing to scan takes 4 us; so it is launched for few segments,
  /// or for so many that this time hardly counts. Narrower elements were slower (bf16, 16 rows of
  /// 4194304: .75 by the look-back, .59 where blocks poll status words).
  template <class Problem>
  struct segment_pipeline : pipeline<Problem> {
    static constexpr look_ahead_tuning value = pipeline<Problem>::value.keeping_lines();
  };
  template <class Problem>
  static constexpr bool segments_ahead = Bulk &&SharedKib > 99 &&
                                         sizeof(typename Problem::item) >= 4 &&
                                         sizeof(typename Problem::accumulator) >= 4 &&
                                         sizeof(typename Problem::accumulator) <= 8;
  static constexpr unsigned segment_tiles_ahead = 8, segment_tiles_in_all = 2048;
  /// Whether the pipeline is launched for that many segments.
  static constexpr bool may_go_ahead(std::int64_t segments) {
    return segments <= 1 << 16 || segments >= 1 << 20;
  }
};

using h200 = tuned_on_h200<227, true>;
/// The row for code of an architecture, 900 for sm_90. Row 0 stands for all architectures: it
/// decides which kernels a problem has.
template <int Architecture>
using row_before_sm90 =
    std::conditional_t<Architecture == 800 || Architecture == 870, tuned_on_h200<163, false>,
                       tuned_on_h200<(Architecture < 800 ? 64 : 99), false>>;
template <int Architecture>
using row_for =
    std::conditional_t<Architecture == 0 || (Architecture >= 900 && Architecture < 1200), h200,
                       std::conditional_t<(Architecture >= 1200), tuned_on_h200<99, true>,
                                          row_before_sm90<Architecture>>>;

/// The tuning of the default strategies.
struct measured_tuning {
  template <int Architecture>
  using at = row_for<Architecture>;
  static const char *name(unsigned architecture) {
    return architecture == 900 ? "the H200 (measured)"
                               : "the H200 (not measured on this architecture)";
  }
  /// The block and the largest grid of the kernel that clears the state: at most a few waves.
  static constexpr int prepare_threads = prepare_threads_at_most;
  static constexpr unsigned prepare_blocks_at_most = 256;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
