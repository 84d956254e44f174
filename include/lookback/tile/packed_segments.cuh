// SPDX-License-Identifier: MIT
// Many short segments in one block. A segment has one slot for every vector; its slots are
// consecutive, and those of the next segment follow them. Every segment has its own tree
// (core/tree.cuh): a row is 32 consecutive slots, counted from the first slot of the segment,
// whichever lanes have them. A warp scans whole segments, in steps of at most 32 slots that cut no
// row. So it knows the rows before the one that it scans, and every item is read once.
#pragma once

#include <lookback/block/lane_scan.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/tile/vector_loads.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Writes zeros that no lane uses. A variable left unset would keep its value from the previous
/// iteration of a loop, and the compiler would spend a register on that.
template <class Value>
LOOKBACK_DEVICE void forget(Value &value) {
  std::memset(static_cast<void *>(&value), 0, sizeof(value));
}

/// A block's slots. If a segment begins in slot i, heads[i] is one more than its index, counted
/// from segment `first`; otherwise 0. None begins in a slot from `Slots` on, but the last one may
/// have slots there, and a warp may look at 32 slots from there on.
template <int Slots>
struct slots_of_block {
  static constexpr int watched = Slots + Slots / 2 + simt::warp_threads;
  std::int64_t first; // segment
  int end;            // of all slots
  alignas(16) std::uint16_t heads[watched];

  /// Clears the heads. Called by `threads` threads.
  LOOKBACK_DEVICE void clear(int thread, int threads) {
    constexpr int vector = 16 / sizeof(heads[0]);
    static_assert(watched % vector == 0, "the heads must be whole vectors");
    for (int i = thread; i < watched / vector; i += threads)
      simt::store_shared<16>(heads + i * vector, simt::vector_words<16>{});
  }
};

/// Scans the segments of slots_of_block.
template <class Problem, class Segments, int Warps, int Slots>
class packed_segments {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  static constexpr int E = shape::vector_elements, row_slots = shape::row_vectors,
                       last_lane = simt::warp_threads - 1;

  using vector = lane_vector<item, E>;
  /// Up to 32 consecutive slots that begin and end where rows do: a full row, or shorter ones. A
  /// lane has one of them: the vector `vector` of the segment that begins in slot `head`, of which
  /// the first `count` items are valid, and none if there are none to scan here. has_next_row, of
  /// the warp: the segment has a row behind this full one. In one word, since it waits in shared
  /// memory; bit fields would cost four times the instructions.
  struct step {
    std::uint32_t word;
    LOOKBACK_DEVICE static step of(int head, int vector, int count, bool has_next_row) {
      return {static_cast<std::uint32_t>(vector | head << 11 | count << 22) |
              (has_next_row ? 1u << 31 : 0u)};
    }
    LOOKBACK_DEVICE int vector() const { return word & 0x7ff; }
    LOOKBACK_DEVICE int head() const { return word >> 11 & 0x7ff; }
    LOOKBACK_DEVICE int count() const { return word >> 22 & 0x1f; }
    LOOKBACK_DEVICE bool has_next_row() const { return word >> 31 != 0; }
    LOOKBACK_DEVICE int row() const { return vector() / row_slots; }
    LOOKBACK_DEVICE int position() const { return word % row_slots; }
    LOOKBACK_DEVICE bool holds() const { return count() == E; }
  };
  static_assert(Slots + Slots / 2 <= 1 << 11 && E < 1 << 5, "the parts of a step must fit");
  /// Items of whole vectors wait in shared memory, the steps of a warp in a ring: the loads of all
  /// of them are in flight at once. Others are loaded when they are needed. (H100, 2^27 elements in
  /// segments of 64, f32 and f64: 445 and 837 us with 4 steps, 436 and 862 us with 6. In registers,
  /// 2 steps took 517 and 1044 us, and more took longer.)
  static constexpr bool is_staged = vector::packed;
  static constexpr int ring = is_staged ? 4 : 1;
  static constexpr int vector_bytes = static_cast<int>(sizeof(vector));

public:
  using slots = slots_of_block<Slots>;
  /// Of the segment that begins in slot i, begins[i] is the index of its first item, and items[i]
  /// the number of items to be scanned here: 0 if the whole block scans them. A segment that begins
  /// in one of the last slots may have up to Slots / 2 vectors behind them.
  struct storage {
    std::int64_t begins[Slots];
    alignas(
        16) unsigned char vectors[Warps][ring][is_staged ? simt::warp_threads * vector_bytes : 1];
    step steps[Warps][ring][simt::warp_threads];
    std::uint16_t items[Slots];
  };

  LOOKBACK_DEVICE packed_segments(const Problem &problem, const Segments &segments,
                                  const slots &of_block, storage &shared)
      : problem_(problem), segments_(segments), slots_(of_block), shared_(shared), op_(problem.op) {
  }

  /// Called by all threads of the block. Every warp has a share of the slots, which begins and ends
  /// where segments do.
  LOOKBACK_DEVICE void scan() {
    const int first = segment_start(0), share = (slots_.end - first + Warps - 1) / Warps,
              from = first + simt::warp_index() * share, end = segment_start(from + share);
    prefetch(first);
    place next{segment_start(from), 0};
    unsigned loaded = 0; // steps
    for (int i = 0; i < ring; ++i) fetch(loaded, next, end);
    row_prefixes rows;
    forget(rows);
    LOOKBACK_ROLLED
    for (unsigned i = 0; i < loaded; ++i) {
      simt::wait_for_copy_groups<ring - 1>(); // mutant: step-copies
      scan_step(i % ring, rows);
      fetch(loaded, next, end);
    }
  }

private:
  /// Prefetches the items of all segments in the unit, on the assumption that they are contiguous
  /// in memory, beginning with the segment in slot `first`. The ring holds only half of them.
  /// (Shares of a copy's speed, H200, 2^27 elements in segments of 64, without and with this: f32
  /// 0.77 and 0.80, f64 0.78 and 0.79.)
  LOOKBACK_DEVICE void prefetch(int first) const {
    using iterator = std::decay_t<decltype(problem_.input)>;
    if constexpr (can_move_as_vectors<item, iterator> && !counts_from_end<iterator>) {
      constexpr int line = 128;
      const int at = simt::thread_index() * line;
      if (at >= (slots_.end - first) * vector_bytes) return;
      const auto input = problem_.input + static_cast<std::ptrdiff_t>(shared_.begins[first]);
      simt::prefetch(reinterpret_cast<const unsigned char *>(address_of(input)) + at);
    }
  }

  /// A slot, and that of the last segment that begins there or before.
  struct place {
    int slot, head;
  };
  /// The first slot from `slot` on in which a segment begins.
  LOOKBACK_DEVICE int segment_start(int slot) const {
    for (; slot < slots_.end && slot < Slots; slot += simt::warp_threads) {
      const unsigned heads = simt::ballot(slots_.heads[slot + simt::lane_index()] != 0);
      if (heads != 0) return slot + simt::lowest_bit(heads);
    }
    return slots_.end;
  }

  /// Of the segment that a warp scans: the aggregate of row l in lane l, and R of the last row.
  struct row_prefixes {
    uninitialized_array<T, 1> aggregates, last;
  };
  LOOKBACK_DEVICE void scan_rows(int count, row_prefixes &rows) {
    typename lane_exchange<T>::storage nothing;
    lane_exchange<T> exchange(nothing);
    rows.last[0] = rows.aggregates[0];
    warp_inclusive_scan<1>(
        rows.last, [=](int) { return count; }, op_, exchange);
    construct(rows.last[0], T(exchange.from(rows.last[0], count - 1, true)));
  }

  /// Starts to load step `i` of the warp at `next`, if there is one, and moves `next` behind it.
  LOOKBACK_DEVICE void fetch(unsigned &i, place &next, int end) const {
    if (next.slot < end) {
      fetch_step(i % ring, next, end);
      ++i;
    }
    simt::end_copy_group();
  }
  LOOKBACK_DEVICE void fetch_step(unsigned i, place &next, int end) const {
    const int lane = simt::lane_index(), slot = next.slot + lane;
    const unsigned heads = simt::ballot(slots_.heads[slot] != 0);
    const unsigned below = heads & ((2u << lane) - 1);
    const int head = below != 0 ? next.slot + simt::highest_bit(below) : next.head;
    const int vector = slot - head, position = vector & (row_slots - 1);
    const int left = slot < end ? shared_.items[head] - vector * E : 0;
    // A row that goes on behind the last lane is left to the next step.
    const bool goes_on = left > E, is_full = position == row_slots - 1;
    const int cut = goes_on && !is_full ? position + 1 : 0; // lanes // mutant: row-cut
    const int of_last = simt::broadcast(goes_on && is_full ? -1 : cut, last_lane);
    const int slots = of_last < 0 ? simt::warp_threads : simt::warp_threads - of_last;
    const int count = lane >= slots || left < 0 ? 0 : left > E ? E : left;
    shared_.steps[simt::warp_index()][i][lane] = step::of(head, vector, count, of_last < 0);
    if constexpr (is_staged) load(shared_.begins[head] + vector * E, count, place_of(i));
    if (heads != 0) next.head = next.slot + simt::highest_bit(heads);
    next.slot += slots;
  }
  /// The lane's vector of step `i` of the ring.
  LOOKBACK_DEVICE unsigned char *place_of(unsigned i) const {
    return shared_.vectors[simt::warp_index()][i] + simt::lane_index() * vector_bytes;
  }
  /// Starts to copy `count` items from index `at` on to `to`.
  LOOKBACK_DEVICE void load(std::int64_t at, int count, unsigned char *to) const {
    const auto input = problem_.input + static_cast<std::ptrdiff_t>(at);
    using iterator = std::decay_t<decltype(input)>;
    constexpr int bytes = static_cast<int>(sizeof(item));
    if constexpr (can_move_as_vectors<item, iterator> && !counts_from_end<iterator>) {
      if (vector_bytes == 16 && count == E && moves_as_vectors<item, E>(input))
        return simt::copy_vector_async<16>(to, address_of(input));
      if constexpr (bytes == 4 || bytes == 8) {
        LOOKBACK_UNROLL
        for (int k = 0; k < E; ++k)
          if (k < count) simt::copy_vector_async<bytes>(to + k * bytes, address_of(input) + k);
        return;
      }
    }
    vector items;
    forget(items);
    load_lane(input, moves_as_vectors<item, E>(input), count, items);
    if (count > 0) simt::store_shared<vector_bytes>(to, items.words);
  }

  /// Scans step `i` of the ring.
  LOOKBACK_DEVICE void scan_step(unsigned i, row_prefixes &rows) {
    const int lane = simt::lane_index();
    const step own = shared_.steps[simt::warp_index()][i][lane];
    const std::int64_t at = shared_.begins[own.head()] + own.vector() * E;
    vector items;
    if constexpr (is_staged) {
      items.words = simt::load_vector<vector_bytes>(place_of(i));
    } else {
      const auto input = problem_.input + static_cast<std::ptrdiff_t>(at);
      load_lane(input, moves_as_vectors<item, E>(input), own.count(), items);
    }
    typename lane_exchange<T>::storage nothing;
    lane_exchange<T> exchange(nothing);
    uninitialized_array<T, 1> value; // V
    forget(value);
    if (own.holds()) construct(value[0], fold_lane<Problem>(items, op_));
    LOOKBACK_UNROLL
    for (int distance = 1; distance < network::lanes; distance *= 2) {
      const T left = exchange.up(value[0], distance, true);
      if (own.holds() && own.position() >= distance) // mutant: slot-position
        construct(value[0], static_cast<T>(op_(left, value[0])));
    }
    store(own, at, items, exchange.up(value[0], 1, true), rows.last[0]);
    if (!own.has_next_row()) return;
    const T aggregate = exchange.from(value[0], last_lane, true);
    if (lane == own.row()) construct(rows.aggregates[0], aggregate); // mutant: row-of-segment
    scan_rows(own.row() + 1, rows);
  }

  /// Scans a vector from (init . row_prefix) . beside, and stores its results. Called by a full
  /// warp, whose vectors are usually full.
  LOOKBACK_DEVICE void store(const step &own, std::int64_t at, const vector &items, const T &beside,
                             const T &row_prefix) {
    if (LOOKBACK_LIKELY(simt::all_of_warp(own.holds())))
      store_items<true>(own, at, items, beside, row_prefix);
    else if (own.count() > 0)
      store_items<false>(own, at, items, beside, row_prefix);
  }
  template <bool Full>
  LOOKBACK_DEVICE void store_items(const step &own, std::int64_t at, const vector &items,
                                   const T &beside, const T &row_prefix) {
    const int count = Full ? E : own.count();
    maybe<T> left;
    if constexpr (Problem::initial_type::exists) left.set(static_cast<T>(problem_.initial.value));
    if (own.row() > 0) left.append(op_, row_prefix);
    if (own.position() > 0) left.append(op_, beside);
    lane_vector<stored, E> results;
    if constexpr (lane_vector<stored, E>::packed) forget(results);
    scan_lane(problem_, left, count, items, op_, results);
    if (Segments::moves_results)
      at = segments_.result_begin(slots_.first + slots_.heads[own.head()] - 1) + own.vector() * E;
    const auto output = problem_.sink.output + static_cast<std::ptrdiff_t>(at);
    if constexpr (can_move_as_vectors<stored, std::decay_t<decltype(output)>> &&
                  lane_vector<stored, E>::packed) {
      if (count == E && moves_as_vectors<stored, E>(output)) {
        constexpr int bytes = lane_vector<stored, E>::bytes;
        if constexpr (counts_from_end<std::decay_t<decltype(output)>>)
          simt::store_vector<bytes>(address_of(output) - E, mirrored(results).words);
        else
          simt::store_vector<bytes>(output, results.words);
        return;
      }
    }
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k)
      if (k < count) output[k] = results.get(k);
  }

  const Problem &problem_;
  const Segments &segments_;
  const slots &slots_;
  storage &shared_;
  std::decay_t<decltype(Problem::op)> op_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
