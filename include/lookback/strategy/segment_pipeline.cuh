// SPDX-License-Identifier: MIT
// The look-ahead pipeline (strategy/pipeline.cuh) over the tiles of all long segments, numbered in
// the order of the segments. Consecutive tiles of a block are far apart, often in different
// segments, and a search for a segment takes longer than a tile. So two more warps find the
// segments before the copies need them. Each segment has a tree of its own, so a prefix is built
// from aggregates of its own segment only.
//
// The host does not know how many tiles there are, so their status words are in a ring
// (carry/ring_of_rounds.cuh).
#pragma once

#include <lookback/carry/ring_of_rounds.cuh>
#include <lookback/strategy/pipeline.cuh>
#include <lookback/strategy/segment_batches.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Warps of a block that find the segments of tiles. (One search takes longer than a tile.)
inline constexpr int finding_warps = 2;

/// A tile: where its items and results are, and how many items it has. Scanning warps read this
/// twice a tile, for two rows each time, so the finding warp has computed what they need.
struct found_tile {
  std::int64_t begin, result_begin;
  int valid;

  template <class Shape>
  LOOKBACK_DEVICE static found_tile of(const found_segment &segment, unsigned tile) {
    const std::int64_t before =
        std::int64_t{tile - segment.first_tile} * Shape::tile_elements; // mutant: tile-place
    const std::int64_t left = segment.items - before;
    return {segment.begin + before, segment.result_begin + before,
            left < Shape::tile_elements ? static_cast<int>(left) : Shape::tile_elements};
  }
};

/// Tiles and their segments, in a ring twice as long as that of the stages: the place of tile i is
/// used again for tile i + 2 stages, after tile i + stages has been copied, and so after tile i has
/// been scanned.
template <int Stages>
struct found_segments {
  static constexpr int slots = 2 * Stages;
  found_segment of_tile[slots], latest[finding_warps];
  found_tile tiles[slots];
  simt::barrier found[slots];
  batch_search search[finding_warps];

#if LOOKBACK_TARGETS_SM_80
  LOOKBACK_DEVICE void initialize() {
    for (auto &barrier : found) simt::initialize(barrier, 1);
    simt::publish_barriers(); // mutant: publish-found
  }
  /// Waits until the segment of tile i of the sequence is found, and returns it.
  LOOKBACK_DEVICE const found_segment &wait_for(int i) {
    simt::wait(found[i % slots], static_cast<unsigned>(i / slots) % 2); // mutant: segment-known
    return of(i);
  }
#endif
  /// The segment of tile i, and the tile. A barrier must have made them visible to this thread.
  LOOKBACK_DEVICE found_segment &of(int i) { return of_tile[i % slots]; }
  LOOKBACK_DEVICE found_tile &tile(int i) { return tiles[i % slots]; }
};

template <class Problem, class Tuning>
struct segment_pipeline_storage {
  look_ahead_storage<Problem, Tuning> ring;
  found_segments<Tuning::value.stages> segments;
};

#if LOOKBACK_TARGETS_SM_90
/// The tiles of a block's sequence, for the warps that look ahead.
template <class Problem, class Tuning, unsigned Size>
class tiles_of_segments {
  using T = typename Problem::accumulator;
  using storage = segment_pipeline_storage<Problem, Tuning>;
  using words = ring_of_rounds<T, Size>;

public:
  static constexpr bool one_tree = false;
  LOOKBACK_DEVICE tiles_of_segments(const words &all_words, const tile_sequence &sequence,
                                    storage &shared)
      : words_(all_words), sequence_(sequence), shared_(shared) {}
  LOOKBACK_DEVICE int count() const { return sequence_.count(); }
  /// Tile i. Waits for other blocks (ring_of_rounds::check()), and until its segment is found.
  LOOKBACK_DEVICE ahead_tile<words> operator()(int i) const {
    words_.check(i, sequence_.step); // mutant: ring-check
    // Only the lane that gives the prefix to the scanning warps reads: once the tile is scanned,
    // its place may be overwritten, and another lane could still be about to read.
    unsigned first_tile = 0;
    if (simt::lane_index() == 0) first_tile = shared_.segments.wait_for(i).first_tile;
    return ahead_tile<words>::of(sequence_, i, simt::broadcast(first_tile, 0), words_);
  }

private:
  const words &words_;
  const tile_sequence sequence_;
  storage &shared_;
};

/// A block of the pipeline: the roles of strategy/pipeline.cuh, and warps that find segments. The
/// ring of stages has tiles of different segments.
template <class Problem, class Segments, class Tuning, unsigned Size>
class segment_pipeline {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using storage = segment_pipeline_storage<Problem, Tuning>;
  using source = look_ahead_source<Problem, Tuning>;
  using tiles = tiles_of_segments<Problem, Tuning, Size>;
  static constexpr look_ahead_tuning tuning = Tuning::value;
  static constexpr int stages = tuning.stages, depth = tuning.depth,
                       rows = shape::tile_rows / tuning.scanning_warps; // of a scanning warp
  // A finding warp's wait for the copy of tile j tests a parity, so the copy of tile j - stages
  // must have arrived before. It has: the warp has waited for the copy of tile j - finding_warps,
  // which began after that of tile j - finding_warps - in_flight had arrived. Copies are waited for
  // in order.
  static_assert(stages >= finding_warps + tuning.in_flight, "a barrier could be a phase behind");
  static_assert(tuning.in_bulk() && tuning.scanning_teams == 1,
                "long segments need bulk copies and one scanning team");
  static_assert(depth < stages && tuning.look_ahead_warps <= stages &&
                    shape::tile_rows % tuning.scanning_warps == 0,
                "long segments need depth < stages, at most `stages` look-ahead warps, and "
                "scanning warps that divide the rows of a tile");
  static_assert(ring_of_rounds<T, Size>::keeps_counts_apart(depth),
                "a counter would count for two checks at once");

public:
  static constexpr int first_scanning_warp = tuning.first_scanning_warp(),
                       first_finding_warp = tuning.warps(),
                       warps = first_finding_warp + finding_warps;

  LOOKBACK_DEVICE segment_pipeline(const Problem &problem, const Segments &segments,
                                   const segment_batches &batches,
                                   const ring_of_rounds<T, Size> &words,
                                   const tile_sequence &sequence, storage &shared)
      : problem_(problem), segments_(segments), batches_(batches), words_(words),
        sequence_(sequence), shared_(shared), op_(problem.op) {}

  /// Called by all threads of the block, before a barrier.
  LOOKBACK_DEVICE static void begin(const segment_batches &batches, unsigned all, storage &shared) {
    const int warp = simt::warp_index();
    if (simt::lane_index() != 0) return;
    if (warp >= first_finding_warp) {
      shared.segments.search[warp - first_finding_warp].begin(batches, all);
      shared.segments.latest[warp - first_finding_warp] = {};
    } else if (warp > 0) {
      shared.ring.initialize_others(warp - 1, first_finding_warp - 1);
    } else {
      shared.ring.initialize_first_copies();
      shared.ring.initialize_later_copies();
      shared.segments.initialize();
    }
  }
  LOOKBACK_DEVICE void run() {
    const int warp = simt::warp_index();
    if (warp == 0) return copy();
    if (warp == 1) return publish();
    if (warp >= first_finding_warp) return find(warp - first_finding_warp);
    if (warp >= first_scanning_warp) return reduce_and_scan();
    const int working = sequence_.count() <= tuning.short_column ? tuning.look_ahead_warps
                                                                 : tuning.long_column_warps;
    const tiles ahead(words_, sequence_, shared_);
    const uninitialized_array<T, 1> no_initial{};
    if (warp - 2 < working)
      carry::look_ahead<Problem, Tuning, tiles>(problem_, ahead, shared_.ring.carry)
          .run(warp - 2, working, no_initial[0], shared_.ring.scanned, op_);
  }

private:
  /// Finds the segments of tiles turn, turn + finding_warps, ... of the sequence.
  LOOKBACK_DEVICE void find(int turn) {
    auto &all = shared_.segments;
    const bool is_first = simt::lane_index() == 0;
    for (int i = turn; i < sequence_.count(); i += finding_warps) {
      const unsigned tile = sequence_.tile(i);
      if (tile >= all.latest[turn].end_tile)
        find_segment<parts_of<shape>>(segments_, batches_, all.search[turn], tile,
                                      all.latest[turn]);
      simt::synchronize_warp(); // mutant: segment-latest
      if (!is_first) continue;
      const unsigned phase = static_cast<unsigned>(i / stages + 1) % 2;    // of tile i - stages
      if (i >= stages) simt::wait(shared_.ring.copied[i % stages], phase); // mutant: segment-slot
      all.of(i) = all.latest[turn];
      all.tile(i) = found_tile::template of<shape>(all.latest[turn], tile);
      simt::arrive(all.found[i % all.slots]);
    }
  }

  LOOKBACK_DEVICE void copy() {
    if (simt::lane_index() != 0) return;
    auto &ring = shared_.ring;
    ring_position<stages> at, arriving;
    const auto policy = simt::cache_policy_of(sequence_.count() > tuning.short_column);
    bool has_written = false; // whether this thread has stored bytes of a tile itself
    for (int i = 0; i < sequence_.count(); ++i, ++at) {
      if (i >= tuning.in_flight) {
        simt::wait(ring.copied[arriving.stage], arriving.phase);
        ++arriving;
      }
      if (i >= stages) simt::wait(ring.scanned[at.stage], at.phase ^ 1); // mutant: segment-ring
      const found_segment &segment = shared_.segments.wait_for(i);
      const Problem own =
          problem_of_segment(problem_, segment.begin, segment.result_begin, segment.items);
      const source from(own);
      const unsigned tile = sequence_.tile(i) - segment.first_tile;
      const int valid = shared_.segments.tile(i).valid;
      if (has_written) simt::fence_before_bulk_copy(); // this stage may hold such bytes
      has_written = has_written || !from.aligned() || valid != shape::tile_elements;
      from.fill(ring.tiles[at.stage], tile, valid, from.plan_of(tile, valid), ring.copied[at.stage],
                policy);
    }
  }

  /// As look_ahead_scan::publish(), but publishes every full tile: another of its segment may
  /// follow.
  LOOKBACK_DEVICE void publish() {
    const int lane = simt::lane_index();
    lane_exchange<T> exchange(nothing_);
    ring_position<stages> at;
    for (int i = 0; i < sequence_.count(); ++i, ++at) {
      auto &ring = shared_.ring;
      simt::wait(ring.reduced[at.stage], at.phase); // mutant: segment-reduced
      const int full_rows =
          aggregates_of<Problem>(valid_items<shape>{shared_.segments.tile(i).valid});
      uninitialized_array<T, 1> row_prefix; // R(lane), inclusive
      scan_row_aggregates(ring.rows[at.stage], full_rows, row_prefix, op_, exchange);
      const bool publishes = lane == shape::tile_rows - 1;
      if (publishes && full_rows == shape::tile_rows)
        words_.publish(sequence_.tile(i), row_prefix[0]);
      if (lane < full_rows) construct(ring.rows[at.stage][lane], row_prefix[0]);
      simt::arrive(ring.rows_ready[at.stage]);
      if (publishes) words_.count(i); // last: its release waits for the thread's earlier writes
    }
  }

  LOOKBACK_DEVICE void reduce_and_scan() {
    uninitialized_array<T, rows> waiting[depth]; // V(lane), inclusive; the oldest tile first
    ring_position<stages> reducing, scanning;
    const int count = sequence_.count();
    for (int i = 0; i < count + depth; ++i) {
      if (i >= depth) {
        scan(i - depth, scanning, waiting[0]);
        ++scanning;
      }
      LOOKBACK_UNROLL
      for (int d = 1; d < depth; ++d) waiting[d - 1] = waiting[d];
      if (i < count) {
        reduce(i, reducing, waiting[depth - 1]);
        ++reducing;
      }
    }
  }
  /// Calls act(rows) with the warp's rows of tile i, which is a sequence of its own here. Full
  /// tiles have code of their own, aligned or not.
  template <class Act>
  LOOKBACK_DEVICE void with_rows(int i, ring_position<stages> at, Act act) const {
    const found_tile &tile = shared_.segments.tile(i);
    const int valid = tile.valid;
    const Problem own = problem_of_segment(problem_, tile.begin, tile.result_begin, valid);
    const source from(own);
    const bool is_full = valid == shape::tile_elements;
    if (from.aligned() && is_full)
      act(rows_of<true, true>(own, from, at.stage, valid));
    else if (is_full)
      act(rows_of<true, false>(own, from, at.stage, valid));
    else
      act(rows_of<false, false>(own, from, at.stage, valid));
  }
  template <bool Full, bool Aligned>
  LOOKBACK_DEVICE auto rows_of(const Problem &own, const source &from, int stage, int valid) const {
    constexpr unsigned tile = 0;
    constexpr bool is_last = false;
    const int first_row = (simt::warp_index() - first_scanning_warp) * rows;
    return warp_rows<Problem, source, rows, Full, Aligned>(
        own, from, shared_.ring.tiles[stage], tile, is_last, simt::lane_index(), first_row, valid,
        output_at(own, tile, first_row * shape::row_elements));
  }
  LOOKBACK_DEVICE void reduce(int i, ring_position<stages> at,
                              uninitialized_array<T, rows> &vectors) {
    lane_exchange<T> exchange(nothing_);
    simt::wait(shared_.ring.copied[at.stage], at.phase); // mutant: segment-copied
    with_rows(i, at, [&](const auto &own) {
      reduce_rows(own, vectors, shared_.ring.rows[at.stage], op_, exchange);
    });
    if (simt::lane_index() == shape::row_vectors - 1) simt::arrive(shared_.ring.reduced[at.stage]);
  }
  LOOKBACK_DEVICE void scan(int i, ring_position<stages> at,
                            uninitialized_array<T, rows> &vectors) {
    lane_exchange<T> exchange(nothing_);
    auto &ring = shared_.ring;
    simt::wait(ring.rows_ready[at.stage], at.phase);         // mutant: segment-rows
    simt::wait(ring.carry.prefix_ready[at.stage], at.phase); // mutant: segment-prefix
    maybe<T> prefix;
    if (Problem::initial_type::exists || !ring.carry.begins_tree[at.stage])
      prefix.set(ring.carry.prefix[at.stage][0]);
    const auto row_prefix = [&](int row) -> const T & {
      return ring.rows[at.stage][row > 0 ? row - 1 : 0];
    };
    with_rows(i, at, [&](const auto &own) {
      scan_rows<false>(own, prefix, row_prefix, vectors, as_vectors(own.problem), op_, exchange);
    });
    // Every lane arrives: it no longer reads the stage.
    simt::arrive(ring.scanned[at.stage]); // mutant: segment-scanned
  }

  const Problem &problem_;
  const Segments &segments_;
  const segment_batches &batches_;
  const ring_of_rounds<T, Size> &words_;
  const tile_sequence sequence_;
  storage &shared_;
  decltype(Problem::op) op_;
  typename lane_exchange<T>::storage nothing_;
};

/// Scans the tiles of long segments by the blocks that take part.
template <class Problem, class Segments, class Tuning, unsigned Size>
LOOKBACK_DEVICE void scan_segments_ahead(
    const Problem &problem, const Segments &segments, const segment_batches &batches,
    const ring_of_rounds<typename Problem::accumulator, Size> &words, const roll_call<> &roll) {
  using scan = segment_pipeline<Problem, Segments, Tuning, Size>;
  using tiles = slots_and_tiles::tiles;
  auto &shared = simt::shared_memory<segment_pipeline_storage<Problem, Tuning>>();
  const auto all = static_cast<unsigned>(batches.template before_batch<tiles>(batches.count));
  const unsigned blocks = all < simt::block_count() ? all : simt::block_count();
  if (simt::block_index() >= blocks) return;
  if (simt::warp_index() == 1 && simt::lane_index() == 0)
    roll.answer(simt::block_index(), presence::present);
  scan::begin(batches, all, shared);
  settle(roll, blocks, patience_of(all), shared.ring.here);
  simt::synchronize_block(); // mutant: segment-start
  const participant here = shared.ring.here.place_of(simt::block_index(), blocks);
  if (here.mine == participant::nowhere) return;
  const tile_sequence sequence{here.mine, here.all, all};
  scan(problem, segments, batches, words, sequence, shared).run();
}
#endif

/// Temporary storage of a pipeline whose status words are in a ring. The counters must be zero
/// before the first use; the rest may have any content, unless a captured graph repeats the launch
/// with the same tag.
template <class T, unsigned Size>
struct rounds_workspace {
  using ring = ring_of_rounds<T, Size>;

  rounds_workspace() = default;
  explicit rounds_workspace(temporary_memory &memory) {
    counters = memory.take<std::uint32_t>(ring::counters);
    answers = memory.take<std::uint64_t>(participants_at_most);
    words = memory.take<char>(ring::bytes());
  }
  ring words_of(std::uint64_t tag) const { return {words, tag, ended_steps<>(counters)}; }

  std::uint32_t *counters = nullptr; // first: all of the memory can be cleared from here
  std::uint64_t *answers = nullptr;  // of the blocks
  char *words = nullptr;
};

/// Whether there is a pipeline for long segments.
template <class Problem, class Row>
inline constexpr bool has_segment_pipeline =
    Row::template segments_ahead<Problem> &&can_look_ahead<Problem>::value &&can_stage<Problem>;
/// Whether the pipeline scans the long segments: if there are at least Row::segment_tiles_ahead
/// tiles a segment, on average over all segments; or at least Row::segment_tiles_in_all tiles that
/// are seven eighths full, and either two a segment or sixteen times as many segments. (Otherwise
/// there may be many long segments of one tile, for which the look-back is faster.) Only the device
/// knows. How many items are in long segments is estimated: if segments are adjacent, at least
/// those that the slots of all have no room for.
template <class Problem, class Row, class Segments>
LOOKBACK_DEVICE bool segments_go_ahead(const segment_batches &batches, const Segments &segments) {
  using shape = typename Problem::shape;
  const auto count = static_cast<std::uint64_t>(segments.count());
  const std::uint64_t all = batches.before[batches.count], tiles = slots_and_tiles::tiles::of(all);
  if (tiles >= Row::segment_tiles_ahead * count) return true;
  if (tiles < Row::segment_tiles_in_all || (tiles < 2 * count && count < 16 * tiles)) return false;
  // Modulo 2^64: offsets may be anything.
  const std::int64_t last = segments.count() - 1;
  const std::uint64_t items = static_cast<std::uint64_t>(segments.begin(last)) +
                              static_cast<std::uint64_t>(segments.items(last)) -
                              static_cast<std::uint64_t>(segments.begin(0)),
                      in_slots = slots_and_tiles::slots::of(all) * shape::vector_elements,
                      wanted = tiles * (shape::tile_elements / 8 * 7);
  return items >= in_slots && items - in_slots >= wanted;
}

/// The kernel's block. The launcher caches what it asks the driver by this type, so each kernel
/// needs a type of its own.
template <class Problem, class Segments, class Rows, unsigned Size>
struct segment_pipeline_block {
  using rows = Rows;
  template <class Row>
  struct of {
    using tuning = typename Row::template segment_pipeline<Problem>;
    static constexpr bool exists = has_segment_pipeline<Problem, Row>;
    static constexpr int block_threads() {
      if constexpr (exists)
        return (tuning::value.warps() + finding_warps) * simt::warp_threads;
      else
        return simt::warp_threads;
    }
    static constexpr int threads = block_threads();
    static constexpr std::size_t bytes() {
      if constexpr (exists)
        return sizeof(segment_pipeline_storage<Problem, tuning>);
      else
        return more_shared_bytes_than_any; // so the launcher refuses the kernel
    }
    static constexpr block_shape shape() { return {threads, bytes(), true}; }
  };
  using here = of<compiled_row<Rows>>;
};

/// Grid: one block a multiprocessor, at most `participants_at_most`, and at most
/// ring_of_rounds::blocks_at_most().
template <class Problem, class Segments, class Rows, unsigned Size>
LOOKBACK_KERNEL((segment_pipeline_block<Problem, Segments, Rows, Size>::here::threads), 1)
segment_pipeline_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                        LOOKBACK_KERNEL_PARAMETER Segments segments,
                        LOOKBACK_KERNEL_PARAMETER segment_batches batches,
                        const ring_of_rounds<typename Problem::accumulator, Size> words,
                        const roll_call<> roll) {
#if LOOKBACK_TARGETS_SM_90
  if constexpr (has_segment_pipeline<Problem, compiled_row<Rows>>) {
    using tuning = typename segment_pipeline_block<Problem, Segments, Rows, Size>::here::tuning;
    simt::wait_for_previous_kernel(); // mutant: pipeline-previous
    with_actual_segments(segments, batches, [&](const auto &actual, const segment_batches &of) {
      if (!segments_go_ahead<Problem, compiled_row<Rows>>(of, actual)) return;
      scan_segments_ahead<Problem, std::decay_t<decltype(actual)>, tuning, Size>(problem, actual,
                                                                                 of, words, roll);
    });
  }
#endif
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
