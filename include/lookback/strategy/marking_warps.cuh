// SPDX-License-Identifier: MIT
// The warps of the pipeline (strategy/pipeline.cuh) that mark the heads of segments in the stages,
// while the tiles are copied. One warp finds the first segment of each tile, for many tiles at
// once, far ahead of the others. The others mark the heads.
#pragma once

#include <lookback/carry/look_ahead_carry.cuh>
#include <lookback/strategy/segment_marker.cuh>
#include <lookback/tile/staged_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The first segments of the tiles to be marked, in batches of tiles. A barrier completes a phase
/// when a batch has been found, when all of it has been read, or when the tile in a stage has been
/// marked.
template <int Stages>
struct found_heads {
  static constexpr int batches = 4, batch = heads_at_once, tiles = batches * batch;
  std::int64_t first[tiles], samples[head_samples];
  unsigned step; // of the tile sequence for which marking_warps::begin() found the first batch
  simt::barrier found[batches], read[batches], marked[Stages];

#if LOOKBACK_TARGETS_SM_80
  LOOKBACK_DEVICE void initialize() {
    for (int b = 0; b < batches; ++b) {
      simt::initialize(found[b], 1);
      simt::initialize(read[b], batch);
    }
    for (auto &barrier : marked) simt::initialize(barrier, 1);
  }
#endif
};
template <int Stages>
struct with_found_heads {
  found_heads<Stages> heads;
};
struct without_heads {};

#if LOOKBACK_TARGETS_SM_80
/// `Storage`: look_ahead_storage.
template <class Problem, class Tuning, class Storage>
class marking_warps {
  using shape = typename Problem::shape;
  using source = staged_tile<Problem, 1, true>;
  using heads_type = std::decay_t<decltype(std::declval<const Problem &>().input.keys())>;
  using marker = segment_marker<heads_type, shape::tile_elements>;
  static constexpr look_ahead_tuning tuning = Tuning::value;
  static constexpr int stages = tuning.stages, batch = heads_at_once,
                       first_warp = tuning.first_marking_warp(),
                       first_scanning_warp = tuning.first_scanning_warp(),
                       markers = tuning.marking_warps - 1;

  static_assert(markers <= stages, "every warp that marks needs a stage of its own");
  // Consecutive tiles of a warp are less than 2 `markers` tiles apart. So it waits for every batch,
  // and a parity is never two phases behind.
  static_assert(2 * markers <= batch, "a warp that marks needs a tile in every batch");

public:
  LOOKBACK_DEVICE marking_warps(const Problem &problem, const tile_sequence &sequence,
                                Storage &shared)
      : problem_(problem), heads_(problem.input.keys()), sequence_(sequence), shared_(shared) {}

  /// Finds the first segments of the first batch of tiles, before a barrier of the block: by the
  /// scanning warps, which have nothing else to do yet, a tile each. The first marking warp loads
  /// samples of the offsets.
  LOOKBACK_DEVICE void begin() {
    const int warp = simt::warp_index();
    auto &found = shared_.heads;
    const marker own(heads_);
    if (warp == first_warp) {
      own.sample(found.samples);
      if (simt::lane_index() == 0) found.step = sequence_.step;
    }
    if (warp < first_scanning_warp || warp >= first_warp) return;
    for (int i = warp - first_scanning_warp; i < batch && i < sequence_.count();
         i += tuning.scanning_warps) {
      const std::int64_t segment = own.find_alone(sequence_.tile(i));
      if (simt::lane_index() == 0) found.first[i] = segment;
    }
  }
  LOOKBACK_DEVICE void run() {
    const int turn = simt::warp_index() - first_warp;
    if (turn == 0)
      find();
    else
      mark(turn - 1);
  }

private:
  /// Finds the first segments of the other tiles; of all tiles if not all blocks take part, so that
  /// begin() has found those of other tiles.
  LOOKBACK_DEVICE void find() {
    constexpr int lanes = simt::warp_threads / batch;
    auto &all = shared_.heads;
    const marker own(heads_);
    const int count = sequence_.count(), lane = simt::lane_index();
    const bool knows_first = all.step == sequence_.step; // mutant: heads-known
    ring_position<found_heads<stages>::batches> at;
    for (int begin = 0; begin < count; begin += batch, ++at) {
      if (begin > 0 || !knows_first) {
        const int mine = begin + lane / lanes;
        const std::int64_t segment =
            own.find(sequence_.tile(mine < count ? mine : count - 1), all.samples);
        if (begin >= all.tiles) simt::wait(all.read[at.stage], at.phase ^ 1); // mutant: heads-read
        if (lane % lanes == 0) all.first[at.stage * batch + lane / lanes] = segment;
        simt::synchronize_warp(); // mutant: heads-written
      }
      if (lane == 0) simt::arrive(all.found[at.stage]);
    }
  }
  /// The first segment of tile i of the sequence, once it is found; none if there is no such tile.
  LOOKBACK_DEVICE std::int64_t first_segment(int i) const {
    if (i >= sequence_.count()) return heads_.segments;
    auto &all = shared_.heads;
    const int at = i / batch % all.batches;
    const auto phase = static_cast<unsigned>(i / all.tiles) % 2;
    simt::wait(all.found[at], phase); // mutant: heads-found
    const std::int64_t segment = all.first[i % all.tiles];
    simt::synchronize_warp(); // mutant: heads-taken
    if (simt::lane_index() == 0) simt::arrive(all.read[at]);
    return segment;
  }
  /// Marks the heads of the tiles in the stages turn, turn + markers, ... of every round of the
  /// ring. So one warp marks all tiles of a stage: its wait for a stage tests a parity, which must
  /// not be two rounds behind.
  LOOKBACK_DEVICE void mark(int turn) {
    marker own(heads_);
    int i = turn, stage = turn, round = 0;
    own.load(first_segment(i));
    while (i < sequence_.count()) {
      const int mine = stage, before = round - 1;
      const unsigned tile = sequence_.tile(i);
      stage += markers;
      if (stage >= stages) stage = turn, ++round;
      i = round * stages + stage;
      const auto wait = [&] {
        if (before >= 0) simt::wait(shared_.scanned[mine], before % 2); // mutant: marks-free
      };
      own.mark(tile, problem_.extent.tile(tile, shape::tile_elements).valid,
               source::bits_in(shared_.tiles[mine]), wait, [&] { return first_segment(i); });
      if (simt::lane_index() == 0) simt::arrive(shared_.heads.marked[mine]);
    }
  }

  const Problem &problem_;
  const heads_type &heads_;
  const tile_sequence &sequence_;
  Storage &shared_;
};
#endif

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
