// SPDX-License-Identifier: MIT
// How segments are divided into work: the tiles of long segments, and the slots of the others.
// Every vector of a short segment has a slot, an empty or a long segment has one, too, and the
// slots of all segments follow one another. So do the tiles of the trees of the long segments.
#pragma once

#include <lookback/carry/prepare_state.cuh>
#include <lookback/core/offset_segments.cuh>
#include <lookback/tile/packed_segments.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// How the items of segments are divided into work, by the sizes of their tree: E elements a
/// vector, and TileElements a tile. A segment is long if it has more than a tile, less two rows: a
/// warp that has several rows in registers at once finds the prefixes of all of them in its 32
/// lanes then (tile/packed_segments.cuh).
template <int E, int TileElements>
struct segment_parts {
  template <class Number>
  LOOKBACK_DEVICE static bool is_long(Number items) {
    constexpr int half = TileElements / 2, most = TileElements - 2 * simt::warp_threads * E;
    return items > (most > half ? most : half);
  }
  /// Slots of a segment of `items` items. One of a long segment: it bounds the number of segments
  /// that a unit has to look at, as one of an empty segment does.
  template <class Number>
  LOOKBACK_DEVICE static unsigned slots(Number items) {
    return is_long(items) ? 1 : slots_of<E>(static_cast<unsigned>(items));
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
  /// The segment of this lane in a batch.
  LOOKBACK_DEVICE static std::int64_t of_lane(std::int64_t batch) {
    return batch * segments + simt::lane_index();
  }
  /// `Part`: slots or tiles.
  template <class Part>
  LOOKBACK_DEVICE std::uint64_t before_batch(std::int64_t batch) const {
    return Part::of(before[batch]);
  }

  /// The batch of slot or tile `wanted`, which exists. Called by a full warp. Looks first at the
  /// batch `guess` and at distances of 1, 2, 4, ... around it, with one round trip to memory: if
  /// the guess is right, that is enough.
  template <class Part>
  LOOKBACK_DEVICE std::int64_t find(std::uint64_t wanted, std::int64_t guess) const {
    const int lane = simt::lane_index(), middle = simt::warp_threads / 2,
              exponent = lane < middle ? middle - 1 - lane : lane - middle - 1;
    const std::int64_t distance = exponent < 0 ? 0 : std::int64_t{1} << exponent,
                       near = lane < middle ? guess - distance : guess + distance,
                       watched = near < 0       ? 0
                                 : near < count ? near
                                                : count - 1;
    const int known =
        static_cast<int>(simt::count_bits(simt::ballot(before_batch<Part>(watched) <= wanted)));
    const std::int64_t below = simt::broadcast(watched, known > 0 ? known - 1 : 0),
                       above = simt::broadcast(watched, known % simt::warp_threads);
    std::int64_t first = known > 0 ? below : 0,
                 left = (known < simt::warp_threads ? above : count) - first;
    while (left > 1) {
      const std::int64_t step = (left - 1) / simt::warp_threads + 1,
                         mine = simt::lane_index() * step;
      const unsigned smaller =
          simt::ballot(mine < left && before_batch<Part>(first + mine) <= wanted);
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
      const std::int64_t s = segment_batches::of_lane(batch + i);
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

/// Calls act(segments, batches). Reads the number of segments first if only the device knows it.
template <class Segments, class Act>
LOOKBACK_DEVICE void with_actual_segments(const Segments &segments, const segment_batches &batches,
                                          Act act) {
  if constexpr (known_segments<Segments>::on_device) {
    auto number = segments.number;
    number.read(); // an invalid one has been reported
    const auto actual =
        segments.all.first(static_cast<std::int64_t>(number.items)); // mutant: segments-read
    act(actual, segment_batches{batches.before, segment_batches::of(actual.count())});
  } else {
    act(segments, batches);
  }
}

/// The searches of a warp for slots (or for tiles). A search starts at a guess: the batch that the
/// previous search found, plus the distance in slots times the batches per slot between the
/// previous two.
class batch_search {
public:
  /// At first, the same number of the `all` slots (or tiles) is expected in all batches. Called by
  /// one thread.
  LOOKBACK_DEVICE void begin(const segment_batches &batches, std::uint64_t all) {
    at_ = 0, batch_ = 0;
    step_ = static_cast<float>(batches.count) / static_cast<float>(all);
  }
  /// The batch of slot or tile `wanted`. Called by a full warp, the same one each time, whose first
  /// lane has called begin(). `Part`: slots or tiles.
  template <class Part>
  LOOKBACK_DEVICE std::int64_t find(const segment_batches &batches, std::uint64_t wanted) {
    const bool is_first = simt::lane_index() == 0;
    std::int64_t guess = 0;
    if (is_first)
      guess = batch_ + static_cast<std::int64_t>(static_cast<float>(wanted - at_) * step_);
    const std::int64_t found = batches.template find<Part>(wanted, simt::broadcast(guess, 0));
    if (is_first && wanted != at_) {
      step_ = static_cast<float>(found - batch_) / static_cast<float>(wanted - at_);
      at_ = wanted, batch_ = found;
    }
    return found;
  }

private:
  std::uint64_t at_;
  std::int64_t batch_;
  float step_;
};

/// A long segment: where its items and results are, its first tile and the one after its last.
struct found_segment {
  std::int64_t begin, result_begin, items;
  unsigned first_tile, end_tile;
};
/// Finds the segment of tile `id`, which exists: each lane tests one segment of the tile's batch.
/// Called by a full warp, the same one each time. `found` is in shared memory.
template <class Parts, class Segments>
LOOKBACK_DEVICE void find_segment(const Segments &segments, const segment_batches &batches,
                                  batch_search &search, unsigned id, found_segment &found) {
  using tiles = slots_and_tiles::tiles;
  const std::int64_t batch = search.template find<tiles>(batches, id),
                     s = segment_batches::of_lane(batch);
  const auto before = static_cast<unsigned>(batches.template before_batch<tiles>(batch));
  const bool exists = s < segments.count();
  const auto items = exists ? segments.items(s) : 0;
  const unsigned own = Parts::tiles(items), end = before + sum_through_lane(own);
  simt::synchronize_warp(); // mutant: segment-compared
  if (id < end && id >= end - own)
    found = {segments.begin(s), segments.result_begin(s), static_cast<std::int64_t>(items),
             end - own, end};
}

/// Items of a segment as a problem of its own.
template <class Problem>
LOOKBACK_DEVICE Problem problem_of_segment(const Problem &all, std::int64_t begin,
                                           std::int64_t result_begin, std::int64_t items) {
  return Problem(all.input + static_cast<std::ptrdiff_t>(begin), all.op, all.initial,
                 {all.sink.output + static_cast<std::ptrdiff_t>(result_begin), all.sink.project},
                 {static_cast<std::uint64_t>(items)});
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
