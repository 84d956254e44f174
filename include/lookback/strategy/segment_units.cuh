// SPDX-License-Identifier: MIT
// Scans of segments in one pass, by units of work that have about the same number of vectors each,
// whatever the segments' lengths.
//
// Every vector of a segment has a slot, an empty segment has one, too, and the slots of all
// segments follow one another. The pieces of a segment are the tiles of its tree. Unit u has the
// pieces that begin in slots u U to (u + 1) U - 1, where U is the number of vectors of a tile: tile
// k of a segment whose first tile is in unit u is in unit u + k. A unit has at most one tile that
// continues a segment, its first piece, and at most one that is continued, its last.
//
// Tiles of long segments are scanned as those of the look-back (strategy/tree_look_back.cuh), with
// status words in a ring (carry/ring_state.cuh), since the host does not know how many there are.
// The other segments of a unit are scanned together (tile/packed_segments.cuh).
#pragma once
#ifndef SEG_OF
#define SEG_OF 2
#define SEG_PACKED 1
#endif

#include <lookback/carry/prepare_state.cuh>
#include <lookback/carry/ring_state.cuh>
#include <lookback/core/offset_segments.cuh>
#include <lookback/strategy/tree_tiles.cuh>
#include <lookback/strategy/workspace.cuh>
#include <lookback/tile/packed_segments.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// How the items of segments are divided into work, by the sizes of their tree: E elements a vector,
/// and TileElements a tile. A segment is long if it has more vectors than half a tile.
template <int E, int TileElements>
struct segment_parts {
  template <class Number>
  LOOKBACK_DEVICE static bool is_long(Number items) {
    return items > TileElements / 2;
  }
  /// Slots of a segment of `items` items. One of a long segment: it bounds the number of segments
  /// that a unit has to look at, as one of an empty segment does.
  template <class Number>
  LOOKBACK_DEVICE static unsigned slots(Number items) {
    return items == 0 || is_long(items) ? 1 : static_cast<unsigned>(items - 1) / E + 1;
  }
  /// Tiles of a segment of `items` items: none of one that is not long.
  template <class Number>
  LOOKBACK_DEVICE static unsigned tiles(Number items) {
    return is_long(items) ? static_cast<unsigned>((items - 1) / TileElements) + 1 : 0;
  }
};

template <class Shape>
using parts_of = segment_parts<Shape::vector_elements, Shape::tile_elements>;

/// Numbers of slots and of tiles in one word, so that one scan sums both: less than 2^38 slots and
/// 2^26 tiles, which are more than the memory of a GPU holds.
struct slots_and_tiles {
  static constexpr int slot_bits = 38;
  LOOKBACK_DEVICE static std::uint64_t word(unsigned slots, unsigned tiles) {
    return slots | std::uint64_t{tiles} << slot_bits;
  }
  struct slots {
    LOOKBACK_DEVICE static std::uint64_t of(std::uint64_t word) {
      return word & ((std::uint64_t{1} << slot_bits) - 1);
    }
  };
  struct tiles {
    LOOKBACK_DEVICE static std::uint64_t of(std::uint64_t word) { return word >> slot_bits; }
  };
};

/// Batches of 32 consecutive segments, and the slots and tiles before each batch.
struct segment_batches {
  const std::uint64_t *before; // (batches + 1) slots_and_tiles: the last of all
  std::int64_t count;

  static constexpr int segments = simt::warp_threads;
  LOOKBACK_HOST_DEVICE static constexpr std::int64_t of(std::int64_t all) {
    return all / segments + (all % segments != 0);
  }
  /// `Part`: slots or tiles.
  template <class Part>
  LOOKBACK_DEVICE std::uint64_t before_batch(std::int64_t batch) const {
    return Part::of(before[batch]);
  }

  /// The batch of slot or tile `wanted`, which exists. Called by a full warp. Looks first at the
  /// batch `guess` and at distances of 1, 2, 4, ... around it, with one round trip to memory: if the
  /// guess is right, that is enough.
  template <class Part>
  LOOKBACK_DEVICE std::int64_t find(std::uint64_t wanted, std::int64_t guess) const {
    const int lane = simt::lane_index(), middle = simt::warp_threads / 2,
              exponent = lane < middle ? middle - 1 - lane : lane - middle - 1;
    const std::int64_t distance = exponent < 0 ? 0 : std::int64_t{1} << exponent,
                       near = lane < middle ? guess - distance : guess + distance,
                       watched = near < 0       ? 0
                                 : near < count ? near
                                                : count - 1;
    const int known = static_cast<int>(
        simt::count_bits(simt::ballot(before_batch<Part>(watched) <= wanted)));
    const std::int64_t below = simt::broadcast(watched, known > 0 ? known - 1 : 0),
                       above = simt::broadcast(watched, known % simt::warp_threads);
    std::int64_t first = known > 0 ? below : 0,
                 left = (known < simt::warp_threads ? above : count) - first;
    while (left > 1) {
      const std::int64_t step = (left - 1) / simt::warp_threads + 1,
                         mine = simt::lane_index() * step;
      const unsigned smaller = simt::ballot(mine < left && before_batch<Part>(first + mine) <= wanted);
      const std::int64_t skipped = simt::highest_bit(smaller) * step;
      first += skipped;
      left = left - skipped < step ? left - skipped : step;
    }
    return first;
  }
};

/// Writes the numbers of slots and tiles of every batch of segments, and a zero after the last.
/// Clears the `words` words at `zeroed`. All blocks call.
template <class Parts, class Segments>
LOOKBACK_DEVICE void measure_batches(const Segments &segments, std::int64_t batches,
                                     std::uint64_t *of_batches, std::uint64_t *zeroed,
                                     std::size_t words) {
  const int lane = simt::lane_index();
  const std::int64_t threads = std::int64_t{simt::block_count()} * simt::block_threads(),
                     thread = std::int64_t{simt::block_index()} * simt::block_threads() +
                              simt::thread_index();
  for (std::size_t i = static_cast<std::size_t>(thread); i < words; i += threads) zeroed[i] = 0;
  constexpr int at_once = 4; // batches whose loads overlap
  for (std::int64_t batch = thread / simt::warp_threads * at_once; batch <= batches;
       batch += threads / simt::warp_threads * at_once) {
    unsigned slots[at_once], tiles[at_once];
    LOOKBACK_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::int64_t s = (batch + i) * segment_batches::segments + lane;
      slots[i] = tiles[i] = 0;
      if (s >= segments.count()) continue;
      const auto items = segments.items(s);
      slots[i] = Parts::slots(items), tiles[i] = Parts::tiles(items);
    }
    LOOKBACK_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::uint64_t all =
          slots_and_tiles::word(simt::add_lanes(slots[i]), simt::add_lanes(tiles[i]));
      if (lane == 0 && batch + i <= batches) of_batches[batch + i] = all;
    }
  }
}

template <class Parts, class Segments>
LOOKBACK_KERNEL(prepare_threads_at_most, 1)
measure_batches_kernel(LOOKBACK_KERNEL_PARAMETER Segments segments, const std::int64_t batches,
                       std::uint64_t *const of_batches, std::uint64_t *const zeroed,
                       const std::size_t words) {
  measure_batches<Parts>(segments, batches, of_batches, zeroed, words);
}

/// The same for a number of segments that only the device knows. Reports an invalid one, for which
/// there are none. `*entries` becomes the number of entries of `of_batches`.
template <class Parts, class Segments, class Int>
LOOKBACK_KERNEL(prepare_threads_at_most, 1)
measure_actual_batches_kernel(LOOKBACK_KERNEL_PARAMETER counted_segments<Segments, Int> counted,
                              std::int64_t *const entries, std::uint64_t *const of_batches,
                              std::uint64_t *const zeroed, const std::size_t words) {
  auto number = counted.number;
  if (!number.read()) report_count(number); // mutant: segments-report
  const Segments segments = counted.all.first(static_cast<std::int64_t>(number.items));
  const std::int64_t batches = segment_batches::of(segments.count());
  if (simt::block_index() == 0 && simt::thread_index() == 0)
    *entries = batches + 1; // mutant: segments-entries
  measure_batches<Parts>(segments, batches, of_batches, zeroed, words);
}

/// A block that scans tiles of long segments and units of the others.
template <class Problem, class Segments, int Warps, unsigned Section, unsigned PrefetchDistance>
class segment_units {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using scan_of_tile = tile_scan<Problem, Warps, carry::look_back_in<segment_state>>;
  static constexpr int U = shape::tile_rows * shape::row_vectors;
  using scan_of_packed = packed_segments<Problem, Segments, Warps, U>;
  using unit_slots = slots_of_block<U>;
  using parts = parts_of<shape>;
  using slots = slots_and_tiles::slots;
  using tiles = slots_and_tiles::tiles;

  /// A long segment: its index, its first tile and the one behind its last, of all.
  struct long_segment {
    std::int64_t index;
    unsigned begin, end;
  };

  /// The batch in which the last search of this block ended, and the batches a slot (or tile) from
  /// the one before to it: where the next one may be.
  struct known_batch {
    std::uint64_t at;
    std::int64_t batch;
    float step;

    LOOKBACK_DEVICE std::int64_t guess(std::uint64_t next) const {
      return batch + static_cast<std::int64_t>(static_cast<float>(next - at) * step);
    }
    LOOKBACK_DEVICE void note(std::uint64_t next, std::int64_t found) {
      if (next == at) return;
      step = static_cast<float>(found - batch) / static_cast<float>(next - at);
      at = next, batch = found;
    }
  };

public:
  using state_type = ring_state<T, Section>;
  struct storage {
    unsigned drawn;          // the tile or the unit
    drawn_progress progress; // of the first thread
    known_batch known;       // of the first thread
    long_segment segment;
    std::int64_t last_end; // of the last segment's items
    std::int64_t first_batch;
    unit_slots of_unit;
    union {
      typename scan_of_tile::storage tile;
      typename scan_of_packed::storage packed;
    };
  };

  LOOKBACK_DEVICE segment_units(const Problem &problem, const Segments &segments,
                                const segment_batches &batches, const state_type &state,
                                unsigned *next_unit)
      : problem_(problem), segments_(segments), batches_(batches), state_(state),
        next_unit_(next_unit), shared_(simt::shared_memory<storage>()) {}

  /// No unit waits for anything, so the order of the two is free. Some blocks begin with the units:
  /// these run while tiles wait for their prefixes.
  LOOKBACK_DEVICE void run() {
    const bool tiles_first =
        simt::block_index() % SEG_OF >= SEG_PACKED;
    LOOKBACK_ROLLED
    for (int i = 0; i < 2; ++i) {
      if (i > 0) simt::synchronize_block(); // mutant: kinds-barrier
      if ((i == 0) == tiles_first)
        scan_long_segments();
      else
        scan_short_segments();
    }
  }

private:
  /// Tiles have dynamic ids, in the order of the segments.
  LOOKBACK_DEVICE void scan_long_segments() {
    const auto all = static_cast<unsigned>(batches_.template before_batch<tiles>(batches_.count));
    if (all == 0) return;
    if (simt::thread_index() == 0) {
      shared_.segment = {};
      shared_.progress = {};
      shared_.last_end = end_of_items(segments_.count() - 1);
      expect_even(all);
    }
    drawn_units<state_type, drawn_progress &> drawn(state_, shared_.progress);
    for (;;) {
      if (simt::warp_index() == 0) {
        if (simt::thread_index() == 0) shared_.drawn = drawn.next(all);
        simt::synchronize_warp();
        const unsigned tile = shared_.drawn;
        if (tile < all && tile >= shared_.segment.end) find_segment(tile);
      }
      simt::synchronize_block(); // mutant: tile-found
      const unsigned tile = shared_.drawn;
      if (tile >= all) return;
      scan_tile(tile, drawn);
      simt::synchronize_block(); // mutant: tile-reuse
    }
  }

  /// Units are U slots. Each has the short segments that begin there.
  LOOKBACK_DEVICE void scan_short_segments() {
    const auto all = static_cast<unsigned>(
        (batches_.template before_batch<slots>(batches_.count) + (U - 1)) / U);
    unsigned drawn = 0; // of the first thread
    if (simt::thread_index() == 0) {
      expect_even(batches_.template before_batch<slots>(batches_.count));
      drawn = simt::fetch_increment(next_unit_);
    }
    for (;;) {
      if (simt::thread_index() == 0) shared_.drawn = drawn;
      simt::synchronize_block(); // mutant: packed-reuse
      const unsigned unit = shared_.drawn;
      if (unit >= all) return;
      const std::uint64_t first = std::uint64_t{unit} * U;
      find_batch(first);
      simt::synchronize_block();
      find_pieces(first);
      simt::synchronize_block(); // mutant: pieces-barrier
      if (simt::thread_index() == 0) drawn = simt::fetch_increment(next_unit_);
      scan_of_packed(problem_, segments_, shared_.of_unit, shared_.packed).scan();
    }
  }

  /// The first guess: the same number of slots (or tiles) in all batches.
  LOOKBACK_DEVICE void expect_even(std::uint64_t all) {
    shared_.known = {0, 0, static_cast<float>(batches_.count) / static_cast<float>(all)};
  }
  /// The batch of a slot or a tile. Called by the first warp.
  template <class Part>
  LOOKBACK_DEVICE std::int64_t batch_of(std::uint64_t wanted) {
    std::int64_t guess = 0;
    if (simt::thread_index() == 0) guess = shared_.known.guess(wanted);
    const std::int64_t batch = batches_.template find<Part>(wanted, simt::broadcast(guess, 0));
    if (simt::thread_index() == 0) shared_.known.note(wanted, batch);
    return batch;
  }

  /// The segment of a tile. Called by the first warp.
  LOOKBACK_DEVICE void find_segment(unsigned tile) {
    const std::int64_t batch = batch_of<tiles>(tile), s = segment_in(batch);
    const auto before = static_cast<unsigned>(batches_.template before_batch<tiles>(batch));
    unsigned own = 0;
    if (s < segments_.count()) own = parts::tiles(segments_.items(s));
    const unsigned end = before + through_lane(own);
    if (tile < end && tile >= end - own) shared_.segment = {s, end - own, end};
    simt::synchronize_warp();
  }

  /// The first batch with segments of the unit from slot `first` on; clears what find_pieces()
  /// writes.
  LOOKBACK_DEVICE void find_batch(std::uint64_t first) {
    unit_slots &own = shared_.of_unit;
    own.clear(simt::thread_index(), Warps * simt::warp_threads);
    if (simt::warp_index() > 0) return;
    const std::int64_t batch = batch_of<slots>(first);
    if (simt::thread_index() == 0) {
      shared_.first_batch = batch;
      own.first = batch * segment_batches::segments;
      own.end = 0;
    }
  }

  /// A lane's segment, and the slots before its batch, less those before the unit.
  struct found_segment {
    std::int64_t begin;
    std::int64_t at; // index of the first item
    typename Segments::number items;
  };

  /// Each warp takes every Warps-th batch, four of them at a time, so that their loads overlap.
  LOOKBACK_DEVICE void find_pieces(std::uint64_t first) {
    constexpr int at_once = 4;
    for (std::int64_t batch = shared_.first_batch + simt::warp_index(); batch < batches_.count;
         batch += at_once * Warps) {
      found_segment found[at_once];
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        found[i] = {U, 0, 0};
        if (batch + i * Warps < batches_.count)
          found[i].begin = static_cast<std::int64_t>(
              batches_.template before_batch<slots>(batch + i * Warps) - first);
      }
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const std::int64_t s = segment_in(batch + i * Warps);
        if (found[i].begin >= U || s >= segments_.count()) continue;
        found[i].at = segments_.begin(s);
        found[i].items = segments_.items(s);
      }
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (found[i].begin >= U) return;
        note(segment_in(batch + i * Warps), static_cast<int>(found[i].begin), found[i]);
      }
    }
  }
  LOOKBACK_DEVICE static std::int64_t segment_in(std::int64_t batch) {
    return batch * segment_batches::segments + simt::lane_index();
  }
  /// The sum of the lanes up to this one.
  LOOKBACK_DEVICE static unsigned through_lane(unsigned value) {
    LOOKBACK_UNROLL
    for (int distance = 1; distance < simt::warp_threads; distance *= 2) {
      const unsigned left = simt::shuffle_up(value, distance);
      if (simt::lane_index() >= distance) value += left;
    }
    return value;
  }

  /// Notes segment s, one of a batch from slot `batch` of the unit on, if it begins in the unit.
  /// Called by a full warp, with a segment a lane.
  LOOKBACK_DEVICE void note(std::int64_t s, int batch, const found_segment &found) {
    const bool exists = s < segments_.count();
    const int own = exists ? static_cast<int>(parts::slots(found.items)) : 0,
              head = batch + static_cast<int>(through_lane(own)) - own;
    if (!exists || head < 0 || head >= U) return;
    shared_.of_unit.heads[head] = static_cast<std::uint16_t>(s - shared_.of_unit.first + 1);
    shared_.packed.begins[head] = found.at;
    shared_.packed.items[head] =
        static_cast<std::uint16_t>(parts::is_long(found.items) ? 0 : found.items);
    // The unit's last segment.
    if (head + own >= U || s + 1 == segments_.count()) shared_.of_unit.end = head + own;
  }

  /// Scans a tile of the segment that has been found. Draws the id of the next tile when the
  /// results of this one are about to be stored: earlier, other blocks might wait for a tile that
  /// has not begun.
  template <class Drawn>
  LOOKBACK_DEVICE void scan_tile(unsigned id, Drawn &drawn) {
    const long_segment segment = shared_.segment;
    const unsigned tile = id - segment.begin;
    const Problem own =
        problem_at(segments_.begin(segment.index), segments_.result_begin(segment.index),
                   static_cast<std::int64_t>(segments_.items(segment.index)));
    const tile_extent extent = own.extent.tile(tile, shape::tile_elements);
    const typename scan_of_tile::source input(own);
    const bool is_fast = input.aligned() && extent.valid == shape::tile_elements &&
                         (!scan_of_tile::vectors || scan_of_tile::as_vectors(own));
    if constexpr (PrefetchDistance > 0) prefetch_ahead(input, segment.index, tile);
    const bool draws = simt::thread_index() == 0;
    unsigned next = 0;
    scan_of_tile::template run<code_for::both>(own, state_.of_segment(segment.begin), input, tile,
                                               extent.is_last, extent.valid, is_fast, shared_.tile,
                                               [&] {
                                                 if (draws) next = drawn.ask();
                                               });
    if (draws) drawn.keep(next);
  }

  /// Prefetches the tile that lies PrefetchDistance tiles further on in memory, of this segment or
  /// of a later one. Usually, another block scans it soon.
  LOOKBACK_DEVICE void prefetch_ahead(const typename scan_of_tile::source &input, std::int64_t s,
                                      unsigned tile) const {
    const std::int64_t ahead = std::int64_t{tile} + PrefetchDistance + 1,
                       ahead_end = segments_.begin(s) + ahead * shape::tile_elements;
    if (ahead_end <= shared_.last_end || ahead_end <= end_of_items(s))
      input.prefetch(tile + PrefetchDistance);
  }

  /// Items of a segment as a problem of its own.
  LOOKBACK_DEVICE Problem problem_at(std::int64_t begin, std::int64_t result_begin,
                                     std::int64_t items) const {
    return Problem(
        problem_.input + static_cast<std::ptrdiff_t>(begin), problem_.op, problem_.initial,
        {problem_.sink.output + static_cast<std::ptrdiff_t>(result_begin), problem_.sink.project},
        {static_cast<std::uint64_t>(items)});
  }
  LOOKBACK_DEVICE std::int64_t end_of_items(std::int64_t s) const {
    return segments_.begin(s) + static_cast<std::int64_t>(segments_.items(s));
  }

  const Problem &problem_;
  const Segments &segments_;
  const segment_batches &batches_;
  const state_type &state_;
  unsigned *const next_unit_; // zero before the first use
  storage &shared_;
};

/// The block of the kernel: the warps of the look-back.
///
/// A tile prefetches one that is as many tiles away as the GPU has multiprocessors: half of the
/// look-back's distance. Shares of a copy's
/// speed (H200, 2^27 f32 in segments of 65536 and of 2^20, cold L2): 0.72 and 0.64 without a
/// prefetch beyond the segment's end; 0.76 and 0.68 with a distance of 33 tiles, 0.77 and 0.70 with
/// 132. On an H100, 264 tiles were slower (segments of 4096: 0.87 instead of 0.91).
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
    unsigned *const next_unit) {
  using units = typename segment_units_block<Problem, Segments, Rows, Section>::here::units;
  if constexpr (known_segments<Segments>::on_device) {
    auto number = segments.number;
    number.read(); // an invalid one has been reported
    const auto actual =
        segments.all.first(static_cast<std::int64_t>(number.items)); // mutant: segments-read
    const segment_batches of_actual{batches.before, segment_batches::of(actual.count())};
    units(problem, actual, of_actual, state, next_unit).run();
  } else {
    units(problem, segments, batches, state, next_unit).run();
  }
}

/// The storage of the units.
template <class T, unsigned Section>
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
    const std::size_t end = take_status<status_words>(
        memory, {of_tiles, of_groups, of_groups},
        {&state.tile_aggregates, &state.group_aggregates, &state.group_prefixes});
    zeroed_words = (end - before) / sizeof(std::uint64_t);
  }

  state_type state; // of tiles
  unsigned *next_unit;
  std::uint64_t *zeroed;
  std::size_t zeroed_words;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
