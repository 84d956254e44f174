// SPDX-License-Identifier: MIT
// Scans of segments in one pass, by work of about the same size, whatever the segments' lengths.
//
// Long segments are scanned by tiles (strategy/long_segments.cuh), unless an earlier kernel has
// scanned them (strategy/segment_pipeline.cuh). The others are scanned by units of U slots
// (strategy/segment_batches.cuh), where U is the number of vectors of a tile. Unit u has the short
// segments that begin in slots u U to (u + 1) U - 1, and scans them together
// (tile/packed_segments.cuh). Every block scans tiles and units, but not in turn: so no tile that
// others wait for waits for a unit itself.
#pragma once

#include <lookback/strategy/long_segments.cuh>
#include <lookback/strategy/segment_batches.cuh>
#include <lookback/strategy/segment_pipeline.cuh>
#include <lookback/strategy/workspace.cuh>
#include <lookback/tile/packed_segments.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A block that scans units of short segments.
template <class Problem, class Segments, int Warps>
class short_segments {
  using shape = typename Problem::shape;
  static constexpr int U = shape::tile_rows * shape::row_vectors;
  using scan_of_packed = packed_segments<Problem, Segments, Warps, U>;
  using parts = parts_of<shape>;
  using slots = slots_and_tiles::slots;

public:
  struct storage {
    unsigned unit;
    batch_search search; // of the first warp
    std::int64_t first_batch;
    slots_of_block<U> of_unit;
    typename scan_of_packed::storage packed;
  };

  LOOKBACK_DEVICE short_segments(const Problem &problem, const Segments &segments,
                                 const segment_batches &batches, unsigned *next_unit,
                                 storage &shared)
      : problem_(problem), segments_(segments), batches_(batches), next_unit_(next_unit),
        shared_(shared) {}

  /// Called by all threads of the block. A unit waits for nothing, so the next one is drawn early.
  LOOKBACK_DEVICE void scan() {
    const std::uint64_t all_slots = batches_.template before_batch<slots>(batches_.count);
    const auto all = static_cast<unsigned>((all_slots + (U - 1)) / U);
    unsigned drawn = 0; // of the first thread
    if (simt::thread_index() == 0) {
      shared_.search.begin(batches_, all_slots);
      drawn = simt::fetch_increment(next_unit_);
    }
    for (;;) {
      if (simt::thread_index() == 0) shared_.unit = drawn;
      simt::synchronize_block(); // mutant: packed-reuse
      const unsigned unit = shared_.unit;
      if (unit >= all) return;
      const std::uint64_t first = std::uint64_t{unit} * U;
      find_batch(first);
      simt::synchronize_block(); // mutant: batch-barrier
      find_segments(first);
      simt::synchronize_block(); // mutant: pieces-barrier
      if (simt::thread_index() == 0) drawn = simt::fetch_increment(next_unit_);
      scan_of_packed(problem_, segments_, shared_.of_unit, shared_.packed).scan();
    }
  }

private:
  /// The first batch with segments of the unit from slot `first` on; clears what find_segments()
  /// writes.
  LOOKBACK_DEVICE void find_batch(std::uint64_t first) {
    slots_of_block<U> &own = shared_.of_unit;
    own.clear(simt::thread_index(), Warps * simt::warp_threads);
    if (simt::warp_index() > 0) return;
    const std::int64_t batch = shared_.search.template find<slots>(batches_, first);
    if (simt::thread_index() == 0) {
      shared_.first_batch = batch;
      shared_.packed.begins[0] = 0;
      own.first = batch * segment_batches::segments;
      own.end = 0;
    }
  }

  /// A lane's segment, and the slots before its batch, less those before the unit.
  struct lane_segment {
    std::int64_t begin;
    std::int64_t at; // index of the first item
    typename Segments::number items;
  };

  /// Each warp takes every Warps-th batch, four of them at a time, so that their loads overlap.
  LOOKBACK_DEVICE void find_segments(std::uint64_t first) {
    constexpr int at_once = 4;
    for (std::int64_t batch = shared_.first_batch + simt::warp_index(); batch < batches_.count;
         batch += at_once * Warps) {
      lane_segment found[at_once];
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        found[i] = {U, 0, 0};
        if (batch + i * Warps < batches_.count)
          found[i].begin = static_cast<std::int64_t>(
              batches_.template before_batch<slots>(batch + i * Warps) - first);
      }
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const std::int64_t s = segment_batches::of_lane(batch + i * Warps);
        if (found[i].begin >= U || s >= segments_.count()) continue;
        found[i].at = segments_.begin(s);
        found[i].items = segments_.items(s);
      }
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (found[i].begin >= U) return;
        note(segment_batches::of_lane(batch + i * Warps), static_cast<int>(found[i].begin),
             found[i]);
      }
    }
  }

  /// Notes segment s, one of a batch from slot `batch` of the unit on, if it begins in the unit.
  /// Called by a full warp, with a segment a lane.
  LOOKBACK_DEVICE void note(std::int64_t s, int batch, const lane_segment &found) {
    const bool exists = s < segments_.count();
    const int own = exists ? static_cast<int>(parts::slots(found.items)) : 0,
              head = batch + sum_through_lane(own) - own;
    if (!exists || head < 0 || head >= U) return;
    shared_.of_unit.heads[head] = static_cast<std::uint16_t>(s - shared_.of_unit.first + 1);
    shared_.packed.begins[head] = found.at;
    shared_.packed.items[head] =
        static_cast<std::uint16_t>(parts::is_long(found.items) ? 0 : found.items);
    if (own > simt::warp_threads)
      shared_.of_unit.several_rows[head / simt::warp_threads] =
          static_cast<std::uint32_t>(head) | static_cast<std::uint32_t>(own) << 16;
    // The unit's last segment.
    if (head + own >= U || s + 1 == segments_.count()) shared_.of_unit.end = head + own;
  }

  const Problem &problem_;
  const Segments &segments_;
  const segment_batches &batches_;
  unsigned *const next_unit_; // zero before the first use
  storage &shared_;
};

/// A block that scans tiles of long segments and units of short ones.
template <class Problem, class Segments, int Warps, unsigned Section, unsigned PrefetchDistance>
struct segment_units {
  using of_long = long_segments<Problem, Segments, Warps, Section, PrefetchDistance>;
  using of_short = short_segments<Problem, Segments, Warps>;
  union storage {
    typename of_long::storage tiles;
    typename of_short::storage units;
  };

  /// No unit waits for anything, so the order of the two is free. Half of the blocks begin with the
  /// units: these run while tiles wait for their prefixes.
  LOOKBACK_DEVICE static void run(const Problem &problem, const Segments &segments,
                                  const segment_batches &batches,
                                  const typename of_long::state_type &state, unsigned *next_unit,
                                  bool scans_tiles) {
    auto &shared = simt::shared_memory<storage>();
    const bool tiles_first = simt::block_index() >= simt::block_count() / 2;
    LOOKBACK_ROLLED
    for (int i = 0; i < 2; ++i) {
      if (i > 0) simt::synchronize_block(); // shared memory is used for the other kind
      if ((i == 0) != tiles_first)
        of_short(problem, segments, batches, next_unit, shared.units).scan();
      else if (scans_tiles)
        of_long(problem, segments, batches, state, shared.tiles).scan();
    }
  }
};

/// The block of the kernel: the warps of the look-back.
///
/// A tile prefetches one that is as many tiles away as the GPU has multiprocessors: half of the
/// look-back's distance. Shares of a copy's speed (H200, 2^27 f32 in segments of 65536 and of 2^20,
/// cold L2): 0.72 and 0.64 without a prefetch beyond the segment's end; 0.76 and 0.68 with a
/// distance of 33 tiles, 0.77 and 0.70 with 132. On an H100, 264 tiles were slower (segments of
/// 4096: 0.87 instead of 0.91).
template <class Problem, class Segments, class Rows, unsigned Section>
struct segment_units_block {
  using rows = Rows;
  template <class Row>
  struct of {
    static constexpr tile_tuning tuning = Row::template tree_look_back<Problem>::value;
    using units = segment_units<Problem, typename known_segments<Segments>::type, tuning.warps,
                                Section, tuning.prefetch_distance / 2>;
    static constexpr int threads = tuning.warps * simt::warp_threads;
    static constexpr int wanted =
        32 / tuning.warps < tuning.blocks ? 32 / tuning.warps : tuning.blocks;
    static constexpr int resident = simt::resident_blocks(threads, wanted);
    static constexpr block_shape shape() {
      static_assert(sizeof(typename units::storage) <= default_shared_bytes,
                    "lookback: accumulators of segmented scans on a GPU are too large for the "
                    "number of elements of a tile");
      return {threads, sizeof(typename units::storage)};
    }
  };
  using here = of<compiled_row<Rows>>;
};

template <class Problem, class Segments, class Rows, unsigned Section>
LOOKBACK_KERNEL((segment_units_block<Problem, Segments, Rows, Section>::here::threads),
                (segment_units_block<Problem, Segments, Rows, Section>::here::resident))
segment_units_kernel(
    LOOKBACK_KERNEL_PARAMETER Problem problem, LOOKBACK_KERNEL_PARAMETER Segments segments,
    LOOKBACK_KERNEL_PARAMETER segment_batches batches,
    LOOKBACK_KERNEL_PARAMETER ring_state<typename Problem::accumulator, Section> state,
    unsigned *const next_unit, const bool pipeline_launched) {
  using units = typename segment_units_block<Problem, Segments, Rows, Section>::here::units;
  simt::wait_for_previous_kernel(); // mutant: units-previous
  with_actual_segments(segments, batches, [&](const auto &actual, const segment_batches &of) {
    using row = compiled_row<Rows>;
    // As in segment_pipeline_kernel(): one of the two kernels scans the tiles.
    const bool goes_ahead = has_segment_pipeline<Problem, row> && pipeline_launched &&
                            segments_go_ahead<Problem, row>(of, actual);
    units::run(problem, actual, of, state, next_unit, !goes_ahead); // mutant: goes-ahead
  });
}

/// The storage of the units and, if `Ring` > 0, that of the pipeline, whose ring has `Ring` words.
/// It is cleared first, tagged words too: every launch of a captured graph has the same tag.
template <class T, unsigned Section, unsigned Ring>
struct ring_workspace {
  using state_type = ring_state<T, Section>;

  explicit ring_workspace(temporary_memory &memory) {
    using status_words = tile_status<T>;
    constexpr status_bytes of_tiles = status_words::bytes(state_type::words),
                           of_groups = status_words::bytes(state_type::groups);
    const std::size_t before = memory.bytes();
    state.next_unit = memory.take<unsigned>(2);
    next_unit = state.next_unit + 1;
    zeroed = reinterpret_cast<std::uint64_t *>(state.next_unit);
    state.completed = ended_steps<>(memory.take<std::uint32_t>(state_type::sections));
    if constexpr (Ring > 0) rounds = rounds_workspace<T, Ring>(memory);
    const std::size_t end = take_status<status_words>(
        memory, {of_tiles, of_groups, of_groups},
        {&state.tile_aggregates, &state.group_aggregates, &state.group_prefixes});
    zeroed_words = (end - before) / sizeof(std::uint64_t);
  }

  state_type state; // of tiles
  unsigned *next_unit;
  rounds_workspace<T, Ring> rounds{}; // of the pipeline
  std::uint64_t *zeroed;
  std::size_t zeroed_words;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
