// SPDX-License-Identifier: MIT
// The shared memory of a block of the pipeline (strategy/pipeline.cuh): the ring of stages, and the
// barriers that say how far each tile in it has come.
#pragma once

#include <lookback/carry/look_ahead_carry.cuh>
#include <lookback/carry/participants.cuh>
#include <lookback/strategy/marking_warps.cuh>
#include <lookback/tile/run_sums.cuh>
#include <lookback/tile/struct_tile.cuh>
#include <lookback/tile/tile_source.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A tile in a stage: as bytes, which bulk copies fetch or a team of `Warps` warps copies, or as
/// items, which a team of warps loads.
template <class Problem, int Warps, bool Splits, bool KeepsLines = false>
using ahead_source = std::conditional_t<
    blocks_structs<Problem>::value, struct_tile<Problem, Warps>,
    std::conditional_t<
        can_stage<Problem>,
        staged_tile<Problem, Warps, true, Splits ? array_apart<Problem> : no_array, KeepsLines>,
        item_tile<Problem, Warps>>>;
template <class Problem, class Tuning>
using look_ahead_source = ahead_source<Problem, Tuning::value.loading_team_warps(),
                                       (Tuning::value.apart_stages > 0), Tuning::value.keeps_lines>;

/// The ring of stages, and that of the arrays apart, if there are any.
template <class Source, int Stages, int ApartStages>
struct stage_rings {
  alignas(128) unsigned char tiles[Stages][Source::bytes];
  alignas(128) unsigned char apart[ApartStages][Source::apart_bytes];
};
template <class Source, int Stages>
struct stage_rings<Source, Stages, 0> {
  alignas(128) unsigned char tiles[Stages][Source::bytes];
};

/// For each stage of bytes, the barrier that completes when its tile is in registers.
template <int ByteStages, bool Holds>
struct held_barriers {
  simt::barrier held[ByteStages];
};
template <int ByteStages>
struct held_barriers<ByteStages, false> {};

/// The shared memory of a block: the ring of stages. Each barrier completes a phase when its step
/// is done for the tile in its stage.
template <class Problem, class Tuning>
struct look_ahead_storage
    : stage_rings<look_ahead_source<Problem, Tuning>, Tuning::value.stages_of_bytes(),
                  Tuning::value.apart_stages>,
      std::conditional_t<marks_heads<Problem>, with_found_heads, without_heads> {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  static constexpr int stages = Tuning::value.stages;
  static constexpr int scanning_warps = Tuning::value.scanning_team_warps();
  static constexpr bool holds = Tuning::value.holds();

  // The aggregates of a tile's rows, which the publishing warp replaces by R, inclusive; of
  // structs, only R. For 16-byte integers: one a scanning warp, that of its blocked items.
  uninitialized_array<T, shape::tile_rows> rows[stages];
  typename carry::look_ahead<Problem, Tuning>::storage carry;
  // (Structs do not use `reduced`: the warp that reduces a tile computes R.)
  simt::barrier copied[stages], reduced[stages], rows_ready[stages], scanned[stages];
  participants here;                 // the blocks of the launch that take part
  uninitialized_array<T, 1> initial; // read early
  held_barriers<Tuning::value.stages_of_bytes(), holds> in_registers;

#if LOOKBACK_TARGETS_SM_80
  /// Tiles whose copies start before the first barrier of the block: at most as many as may be in
  /// flight at once, each in its own stage.
  static constexpr int first_copies =
      Tuning::value.short_in_flight < stages ? Tuning::value.short_in_flight : stages;
  /// Arrivals that complete a tile: of the copying thread, and of the warp that marks its heads if
  /// there is one; or of every lane of a loading team.
  static constexpr int loading_lanes =
      Tuning::value.loading_team_warps() * simt::warp_threads; // mutant: load-arrivals
  static constexpr int copied_arrivals =
      Tuning::value.in_bulk() ? 1 + (marks_heads<Problem> ? 1 : 0) : loading_lanes;
  /// Called by one thread, before any of these copies.
  LOOKBACK_DEVICE void initialize_first_copies() {
    for (int s = 0; s < first_copies; ++s) simt::initialize(copied[s], copied_arrivals);
    simt::publish_barriers(); // mutant: publish-first
  }
  /// Called by the same thread after them. Initializes the barriers of later copies.
  LOOKBACK_DEVICE void initialize_later_copies() {
    for (int s = first_copies; s < stages; ++s) simt::initialize(copied[s], copied_arrivals);
    simt::publish_barriers(); // mutant: publish-later
  }
  /// Waits for the first `copies` copies, whose tiles are not the block's, as not all blocks take
  /// part; and initializes their barriers again. Called by the same thread.
  LOOKBACK_DEVICE void initialize_again(int copies) {
    for (int s = 0; s < copies; ++s) {
      if (marks_heads<Problem>) simt::arrive(copied[s]); // no warp has marked the tile
      simt::wait(copied[s], 0);                          // mutant: in-vain
      simt::invalidate(copied[s]);
      simt::initialize(copied[s], copied_arrivals);
    }
#if LOOKBACK_TARGETS_SM_90
    simt::fence_before_bulk_copy(); // of these stages, where threads have written bytes as well
#endif
    simt::publish_barriers(); // mutant: publish-again
  }
  /// Initializes the other barriers. The work is shared out, since it takes time: called by one
  /// thread of each of `turns` warps, with a `turn` of its own.
  LOOKBACK_DEVICE void initialize_others(int turn, int turns) {
    for (int s = turn; s < stages; s += turns) {
      simt::initialize(reduced[s], scanning_warps);        // mutant: reduced-init
      simt::initialize(rows_ready[s], simt::warp_threads); // mutant: rows-init
      carry.initialize(s);
      simt::initialize(scanned[s], scanning_warps * simt::warp_threads); // mutant: scanned-init
    }
    if constexpr (holds)
      for (int s = turn; s < Tuning::value.byte_stages; s += turns)
        simt::initialize(in_registers.held[s], scanning_warps); // mutant: held-init
    if constexpr (marks_heads<Problem>)
      if (turn == 0) this->heads.initialize();
    simt::publish_barriers(); // mutant: publish-others
  }
#endif
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
