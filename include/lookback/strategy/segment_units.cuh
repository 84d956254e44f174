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

#include <lookback/carry/prepare_state.cuh>
#include <lookback/carry/ring_state.cuh>
#include <lookback/core/offset_segments.cuh>
#include <lookback/strategy/tree_tiles.cuh>
#include <lookback/strategy/workspace.cuh>
#include <lookback/tile/packed_segments.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Batches of 32 consecutive segments, and the number of slots before each batch.
struct segment_batches {
  const std::uint64_t *first_slots; // (batches + 1): the last is the number of all slots
  std::int64_t count;

  static constexpr int segments = simt::warp_threads;
  LOOKBACK_HOST_DEVICE static constexpr std::int64_t of(std::int64_t all) {
    return all / segments + (all % segments != 0);
  }
  /// The batch of slot `slot`, which exists. Called by a full warp. Looks first at the batch
  /// `guess` and at distances of 1, 2, 4, ... around it, with one round trip to memory: if the
  /// guess is right, that is enough.
  LOOKBACK_DEVICE std::int64_t find(std::uint64_t slot, std::int64_t guess) const {
    const int lane = simt::lane_index(), middle = simt::warp_threads / 2,
              exponent = lane < middle ? middle - 1 - lane : lane - middle - 1;
    const std::int64_t distance = exponent < 0 ? 0 : std::int64_t{1} << exponent,
                       wanted = lane < middle ? guess - distance : guess + distance,
                       watched = wanted < 0       ? 0
                                 : wanted < count ? wanted
                                                  : count - 1;
    const int known =
        static_cast<int>(simt::count_bits(simt::ballot(first_slots[watched] <= slot)));
    const std::int64_t below = simt::broadcast(watched, known > 0 ? known - 1 : 0),
                       above = simt::broadcast(watched, known % simt::warp_threads);
    std::int64_t first = known > 0 ? below : 0,
                 left = (known < simt::warp_threads ? above : count) - first;
    while (left > 1) {
      const std::int64_t step = (left - 1) / simt::warp_threads + 1,
                         mine = simt::lane_index() * step;
      const unsigned before = simt::ballot(mine < left && first_slots[first + mine] <= slot);
      const std::int64_t skipped = simt::highest_bit(before) * step;
      first += skipped;
      left = left - skipped < step ? left - skipped : step;
    }
    return first;
  }
};

LOOKBACK_DEVICE std::uint64_t sum_of_lanes(std::uint64_t sum) {
  LOOKBACK_UNROLL
  for (int distance = 1; distance < simt::warp_threads; distance *= 2)
    sum += simt::rotate_up(sum, distance);
  return sum;
}

/// Writes the number of slots of every batch of segments, and a zero after the last. Clears the
/// `words` words at `zeroed`. All blocks call.
template <int E, class Segments>
LOOKBACK_DEVICE void measure_batches(const Segments &segments, std::int64_t batches,
                                     std::uint64_t *batch_slots, std::uint64_t *zeroed,
                                     std::size_t words) {
  const int lane = simt::lane_index();
  const std::int64_t threads = std::int64_t{simt::block_count()} * simt::block_threads(),
                     thread = std::int64_t{simt::block_index()} * simt::block_threads() +
                              simt::thread_index();
  for (std::size_t i = static_cast<std::size_t>(thread); i < words; i += threads) zeroed[i] = 0;
  constexpr int at_once = 4; // batches whose loads overlap
  for (std::int64_t batch = thread / simt::warp_threads * at_once; batch <= batches;
       batch += threads / simt::warp_threads * at_once) {
    std::uint64_t slots[at_once];
    LOOKBACK_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::int64_t s = (batch + i) * segment_batches::segments + lane;
      slots[i] = 0;
      if (s < segments.count()) slots[i] = slots_of<E>(segments.items(s));
    }
    LOOKBACK_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const bool small = simt::all_of_warp(slots[i] < 1u << 26); // so is the sum
      const std::uint64_t sum =
          small ? simt::add_lanes(static_cast<std::uint32_t>(slots[i])) : sum_of_lanes(slots[i]);
      if (lane == 0 && batch + i <= batches) batch_slots[batch + i] = sum;
    }
  }
}

template <int E, class Segments>
LOOKBACK_KERNEL(prepare_threads_at_most, 1)
measure_batches_kernel(LOOKBACK_KERNEL_PARAMETER Segments segments, const std::int64_t batches,
                       std::uint64_t *const batch_slots, std::uint64_t *const zeroed,
                       const std::size_t words) {
  measure_batches<E>(segments, batches, batch_slots, zeroed, words);
}

/// The same for a number of segments that only the device knows. Reports an invalid one, for which
/// there are none. `*entries` becomes the number of entries of `batch_slots`.
template <int E, class Segments, class Int>
LOOKBACK_KERNEL(prepare_threads_at_most, 1)
measure_actual_batches_kernel(LOOKBACK_KERNEL_PARAMETER counted_segments<Segments, Int> counted,
                              std::int64_t *const entries, std::uint64_t *const batch_slots,
                              std::uint64_t *const zeroed, const std::size_t words) {
  auto number = counted.number;
  if (!number.read()) report_count(number); // mutant: segments-report
  const Segments segments = counted.all.first(static_cast<std::int64_t>(number.items));
  const std::int64_t batches = segment_batches::of(segments.count());
  if (simt::block_index() == 0 && simt::thread_index() == 0)
    *entries = batches + 1; // mutant: segments-entries
  measure_batches<E>(segments, batches, batch_slots, zeroed, words);
}

/// A block that scans units.
template <class Problem, class Segments, int Warps, unsigned Section, unsigned PrefetchDistance>
class segment_units {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using scan_of_tile = tile_scan<Problem, Warps, carry::look_back_in<segment_state>>;
  static constexpr int U = shape::tile_rows * shape::row_vectors;
  using scan_of_packed = packed_segments<Problem, Segments, Warps, U>;
  using slots = slots_of_block<U>;

  /// A tile that the whole block scans.
  struct whole_tile {
    std::int64_t segment; // -1: none
    unsigned tile;
  };

  /// A segment that goes on behind `unit`, a unit of this block, and where its slots begin and end,
  /// counted from the unit's first slot. Empty at first.
  struct covering_segment {
    std::int64_t segment, begin, end;
    unsigned unit;
  };

  /// The batch in which a unit of this block began, and the batches a slot from the one before to
  /// it: where the next one may be.
  struct known_batch {
    std::uint64_t slot;
    std::int64_t batch;
    float a_slot;

    LOOKBACK_DEVICE std::int64_t guess(std::uint64_t next) const {
      return batch + static_cast<std::int64_t>(static_cast<float>(next - slot) * a_slot);
    }
    LOOKBACK_DEVICE void note(std::uint64_t next, std::int64_t found) {
      if (next == slot) return;
      a_slot = static_cast<float>(found - batch) / static_cast<float>(next - slot);
      slot = next, batch = found;
    }
  };

public:
  using state_type = ring_state<T, Section>;
  struct storage {
    unsigned unit;
    drawn_progress progress; // of the first thread
    covering_segment covering;
    std::int64_t first_batch;
    known_batch known;     // of the first thread
    std::int64_t last_end; // of the last segment's items
    /// Two tiles that begin segments, the later one first, since it may be waited for; then the one
    /// that continues a segment.
    whole_tile whole[3];
    slots of_unit;
    union {
      typename scan_of_tile::storage tile;
      typename scan_of_packed::storage packed;
    };
  };

  LOOKBACK_DEVICE segment_units(const Problem &problem, const Segments &segments,
                                const segment_batches &batches, const state_type &state)
      : problem_(problem), segments_(segments), batches_(batches), state_(state),
        shared_(simt::shared_memory<storage>()) {}

  LOOKBACK_DEVICE void run() {
    const auto all =
        static_cast<unsigned>((batches_.first_slots[batches_.count] + (U - 1)) / U); // units
    if (simt::thread_index() == 0) {
      shared_.covering = {};
      shared_.progress = {};
      shared_.last_end = segments_.count() > 0 ? end_of_items(segments_.count() - 1) : 0;
      shared_.known = {0, 0,
                       static_cast<float>(batches_.count) /
                           static_cast<float>(batches_.first_slots[batches_.count])};
    }
    drawn_units<state_type, drawn_progress &> units(state_, shared_.progress);
    for (;;) {
      if (simt::thread_index() == 0) shared_.unit = units.next(all);
      simt::synchronize_block();
      const unsigned unit = shared_.unit;
      const std::uint64_t first = std::uint64_t{unit} * U;
      if (unit >= all) return;
      const covering_segment around = shared_.covering;
      const std::int64_t moved = std::int64_t{unit - around.unit} * U; // slots since then
      const bool is_inside = moved + U <= around.end;
      if (!is_inside) {
        find_batch(first);
        simt::synchronize_block();
        find_pieces(first);
        simt::synchronize_block(); // mutant: pieces-barrier
        if (simt::thread_index() == 0 && last_whole_tile() < 0) units.draw();
        scan_of_packed(problem_, segments_, shared_.of_unit, shared_.packed).scan();
        simt::synchronize_block(); // mutant: packed-reuse
      }
      const int last = is_inside ? 2 : last_whole_tile();
      LOOKBACK_ROLLED
      for (int i = is_inside ? 2 : 0; i <= last; ++i) {
        const whole_tile own = is_inside
                                   ? whole_tile{around.segment, tile_after(moved - around.begin)}
                                   : shared_.whole[i];
        if (own.segment < 0) continue;
        scan_tile(own, unit, i == last, units);
        simt::synchronize_block(); // mutant: tile-reuse
      }
    }
  }

private:
  /// The first batch with pieces of the unit from slot `first` on; clears what find_pieces()
  /// writes.
  LOOKBACK_DEVICE void find_batch(std::uint64_t first) {
    slots &own = shared_.of_unit;
    const int thread = simt::thread_index();
    own.clear(thread, Warps * simt::warp_threads);
    if (thread < 3) shared_.whole[thread].segment = -1;
    if (simt::warp_index() > 0) return;
    std::int64_t guess = 0;
    if (thread == 0) guess = shared_.known.guess(first);
    const std::int64_t batch = batches_.find(first, simt::broadcast(guess, 0));
    if (thread == 0) {
      shared_.known.note(first, batch);
      shared_.first_batch = batch;
      shared_.packed.begins[0] = 0;
      own.first = batch * segment_batches::segments;
      own.end = 0;
    }
  }

  /// A lane's segment, and the slots of its batch.
  struct found_segment {
    std::uint64_t begin, end; // of the batch
    std::int64_t at;          // index of the first item
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
        found[i] = {first + U, 0, 0, 0};
        if (batch + i * Warps < batches_.count) {
          found[i].begin = batches_.first_slots[batch + i * Warps];
          found[i].end = batches_.first_slots[batch + i * Warps + 1];
        }
      }
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const std::int64_t s = segment_in(batch + i * Warps);
        if (found[i].begin >= first + U || s >= segments_.count()) continue;
        found[i].at = segments_.begin(s);
        found[i].items = segments_.items(s);
      }
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (found[i].begin >= first + U) return;
        if (found[i].end - found[i].begin < 1u << 30)
          find_in_batch<std::int32_t>(segment_in(batch + i * Warps), found[i], first);
        else
          find_in_batch<std::int64_t>(segment_in(batch + i * Warps), found[i], first);
      }
    }
  }
  LOOKBACK_DEVICE static std::int64_t segment_in(std::int64_t batch) {
    return batch * segment_batches::segments + simt::lane_index();
  }

  /// Finds the pieces in the unit of 32 segments, one a lane. Int must hold all distances between
  /// slots of the batch and slots of the unit.
  template <class Int>
  LOOKBACK_DEVICE void find_in_batch(std::int64_t s, const found_segment &found,
                                     std::uint64_t first) {
    Int own = 0;
    if (s < segments_.count())
      own = static_cast<Int>(slots_of<shape::vector_elements>(found.items));
    const Int through = add_through_lane(own);
    if (own != 0) note(s, static_cast<Int>(found.begin - first) + through - own, own, found);
  }

  /// The index of the unit's last whole tile, or -1.
  LOOKBACK_DEVICE int last_whole_tile() const {
    int last = 2;
    while (last >= 0 && shared_.whole[last].segment < 0) --last;
    return last;
  }

  /// The first tile from the unit's first slot on, of a segment that begins `before` slots before.
  template <class Int>
  LOOKBACK_DEVICE static unsigned tile_after(Int before) {
    return static_cast<unsigned>((before + (U - 1)) / U);
  }

  /// Segment s has `own` slots, from slot `begin` of the unit on.
  template <class Int>
  LOOKBACK_DEVICE void note(std::int64_t s, Int begin, Int own, const found_segment &found) {
    const Int end = begin + own;
    if (end <= 0 || begin >= U) return;
    if (end > U) shared_.covering = {s, begin, end, shared_.unit};
    if (begin < 0) {
      const unsigned tile = tile_after(-begin);
      if (static_cast<Int>(tile) * U < own) shared_.whole[2] = {s, tile};
      return;
    }
    const int head = static_cast<int>(begin);
    const bool is_whole = own > U / 2;
    shared_.of_unit.heads[head] = static_cast<std::uint16_t>(s - shared_.of_unit.first + 1);
    shared_.packed.begins[head] = found.at;
    shared_.packed.items[head] = static_cast<std::uint16_t>(
        own > U ? Int{shape::tile_elements} : static_cast<Int>(found.items));
    if (!is_whole && own > simt::warp_threads)
      shared_.of_unit.several_rows[head / simt::warp_threads] =
          static_cast<std::uint32_t>(head) | static_cast<std::uint32_t>(own) << 16;
    if (is_whole) shared_.whole[head < U / 2 ? 1 : 0] = {s, 0};
    // The unit's last segment.
    if (end >= U || s + 1 == segments_.count())
      shared_.of_unit.end = is_whole ? head : head + static_cast<int>(own);
  }

  /// If the tile is the unit's last, draws the id of the next unit when the results of this one are
  /// about to be stored: earlier, other blocks might wait for a unit that has not begun.
  template <class Units>
  LOOKBACK_DEVICE void scan_tile(const whole_tile &piece, unsigned unit, bool is_last,
                                 Units &units) {
    const Problem own =
        problem_at(segments_.begin(piece.segment), segments_.result_begin(piece.segment),
                   static_cast<std::int64_t>(segments_.items(piece.segment)));
    const tile_extent extent = own.extent.tile(piece.tile, shape::tile_elements);
    const typename scan_of_tile::source input(own);
    const bool is_fast = input.aligned() && extent.valid == shape::tile_elements &&
                         (!scan_of_tile::vectors || scan_of_tile::as_vectors(own));
    if constexpr (PrefetchDistance > 0) prefetch_ahead(input, piece);
    const bool draws = is_last && simt::thread_index() == 0;
    unsigned drawn = 0;
    scan_of_tile::template run<code_for::both>(own, state_.of_segment(unit - piece.tile), input,
                                               piece.tile, extent.is_last, extent.valid, is_fast,
                                               shared_.tile, [&] {
                                                 if (draws) drawn = units.ask();
                                               });
    if (draws) units.keep(drawn);
  }

  /// Prefetches the tile that lies PrefetchDistance tiles further on in memory, of this segment or
  /// of a later one. Usually, another block scans it soon.
  LOOKBACK_DEVICE void prefetch_ahead(const typename scan_of_tile::source &input,
                                      const whole_tile &piece) const {
    const std::int64_t tiles = std::int64_t{piece.tile} + PrefetchDistance + 1,
                       ahead_end = segments_.begin(piece.segment) + tiles * shape::tile_elements;
    if (ahead_end <= shared_.last_end || ahead_end <= end_of_items(piece.segment))
      input.prefetch(piece.tile + PrefetchDistance);
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
    LOOKBACK_KERNEL_PARAMETER ring_state<typename Problem::accumulator, Section> state) {
  using units = typename segment_units_block<Problem, Segments, Rows, Section>::here::units;
  if constexpr (known_segments<Segments>::on_device) {
    auto number = segments.number;
    number.read(); // an invalid one has been reported
    const auto actual =
        segments.all.first(static_cast<std::int64_t>(number.items)); // mutant: segments-read
    const segment_batches of_actual{batches.first_slots, segment_batches::of(actual.count())};
    units(problem, actual, of_actual, state).run();
  } else {
    units(problem, segments, batches, state).run();
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
    state.next_unit = memory.take<unsigned>(1);
    zeroed = reinterpret_cast<std::uint64_t *>(state.next_unit);
    state.completed = ended_steps<>(memory.take<std::uint32_t>(state_type::sections));
    const std::size_t end = take_status<status_words>(
        memory, {of_tiles, of_groups, of_groups},
        {&state.tile_aggregates, &state.group_aggregates, &state.group_prefixes});
    zeroed_words = (end - before) / sizeof(std::uint64_t);
  }

  state_type state;
  std::uint64_t *zeroed;
  std::size_t zeroed_words;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
