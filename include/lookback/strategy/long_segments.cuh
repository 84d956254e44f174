// SPDX-License-Identifier: MIT
// Scans of long segments. The tiles of all of them have dynamic ids, in the order of the segments,
// and are scanned as those of the look-back (strategy/tree_look_back.cuh), with status words in a
// ring (carry/ring_state.cuh), since the host does not know how many there are.
#pragma once

#include <lookback/carry/ring_state.cuh>
#include <lookback/strategy/segment_batches.cuh>
#include <lookback/strategy/tree_tiles.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A block that scans tiles.
///
/// Tried: two tiles a block, and a warp that looks back for one while the others reduce the next.
/// Six blocks fit a multiprocessor then instead of eight. Shares of a copy's speed (H100, 2^27
/// elements in segments of 2^20) without and with it: i32 0.87 and 0.85, f32 0.84 and 0.87, f64,
/// whose registers spill, 0.87 and 0.66; short segments were slower, too.
template <class Problem, class Segments, int Warps, unsigned Section, unsigned PrefetchDistance>
class long_segments {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using parts = parts_of<shape>;
  using tiles = slots_and_tiles::tiles;
  using scan_of_tile = tile_scan<Problem, Warps, carry::look_back_in<segment_state>>;

public:
  using state_type = ring_state<T, Section>;
  /// The tile comes first, so that lines of memory are copied to lines of shared memory (H100, one
  /// segment of 2^27 i32: 0.85 of a copy's speed, and 0.80 at an offset of 80 bytes).
  struct storage {
    typename scan_of_tile::storage tile;
    unsigned id;             // of the tile
    drawn_progress progress; // of the first thread
    batch_search search;     // of the first warp
    found_segment segment;   // of the tile
    std::int64_t last_end;   // of the last segment's items
  };

  LOOKBACK_DEVICE long_segments(const Problem &problem, const Segments &segments,
                                const segment_batches &batches, const state_type &state,
                                storage &shared)
      : problem_(problem), segments_(segments), batches_(batches), state_(state), shared_(shared) {}

  /// Called by all threads of the block.
  LOOKBACK_DEVICE void scan() {
    const auto all = static_cast<unsigned>(batches_.template before_batch<tiles>(batches_.count));
    if (all == 0) return;
    if (simt::thread_index() == 0) begin(all);
    units drawn(state_, shared_.progress);
    for (;;) {
      // Other warps may still store results of the tile before. They have read where it is.
      if (simt::warp_index() == 0) find(drawn, all);
      simt::synchronize_block(); // mutant: tile-found
      if (shared_.id >= all) return;
      scan_tile(drawn);
    }
  }

private:
  using units = drawn_units<state_type, drawn_progress &>;

  LOOKBACK_DEVICE void begin(unsigned all) {
    shared_.progress = {};
    shared_.search.begin(batches_, all);
    shared_.segment = {};
    shared_.last_end = end_of_items(segments_.count() - 1);
  }

  /// The next tile and its segment. Called by the first warp.
  LOOKBACK_DEVICE void find(units &drawn, unsigned all) {
    if (simt::thread_index() == 0) shared_.id = drawn.next(all);
    simt::synchronize_warp(); // mutant: tile-drawn
    if (shared_.id < all && shared_.id >= shared_.segment.end_tile)
      find_segment<parts>(segments_, batches_, shared_.search, shared_.id, shared_.segment);
  }
  /// Draws the id of the next tile when the results of this one are about to be stored: earlier,
  /// other blocks might wait for a tile that has not begun.
  LOOKBACK_DEVICE void scan_tile(units &drawn) {
    const found_segment segment = shared_.segment;
    const unsigned first = segment.first_tile, tile = shared_.id - first;
    const Problem own =
        problem_of_segment(problem_, segment.begin, segment.result_begin, segment.items);
    const tile_extent extent = own.extent.tile(tile, shape::tile_elements);
    const typename scan_of_tile::source input(own);
    const bool is_fast = input.aligned() && extent.valid == shape::tile_elements &&
                         (!scan_of_tile::vectors || scan_of_tile::as_vectors(own));
    if constexpr (PrefetchDistance > 0) prefetch_ahead(input, segment, tile);
    const bool draws = simt::thread_index() == 0;
    unsigned next = 0;
    scan_of_tile::template run<code_for::both>(own, state_.of_segment(first), input, tile,
                                               extent.is_last, extent.valid, is_fast, shared_.tile,
                                               [&] {
                                                 if (draws) next = drawn.ask();
                                               });
    if (draws) drawn.keep(next);
  }

  /// Prefetches the tile that lies PrefetchDistance tiles further on in memory, of this segment or
  /// of a later one. Usually, another block scans it soon.
  LOOKBACK_DEVICE void prefetch_ahead(const typename scan_of_tile::source &input,
                                      const found_segment &segment, unsigned tile) const {
    const unsigned ahead = tile + PrefetchDistance;
    const std::int64_t end = segment.begin + (std::int64_t{ahead} + 1) * shape::tile_elements;
    if (end <= shared_.last_end || end <= segment.begin + segment.items) input.prefetch(ahead);
  }
  LOOKBACK_DEVICE std::int64_t end_of_items(std::int64_t s) const {
    return segments_.begin(s) + static_cast<std::int64_t>(segments_.items(s));
  }

  const Problem &problem_;
  const Segments &segments_;
  const segment_batches &batches_;
  const state_type &state_;
  storage &shared_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
