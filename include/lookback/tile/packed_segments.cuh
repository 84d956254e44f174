// SPDX-License-Identifier: MIT
// Many short segments in one block. A segment has one slot for every vector; its slots are
// consecutive, and those of the next segment follow them. Every segment has its own tree
// (core/tree.cuh): a row is 32 consecutive slots, counted from the first slot of the segment,
// whichever lanes have them. Every item is read once.
//
// - Segments of several rows: their rows, one after the other, are dealt to all warps. A warp has a
//   row of 32 lanes, and learns the aggregates of the rows before it through shared memory.
// - Segments of one row or less: a warp scans whole segments, as many as 32 lanes hold.
//
// Either way, a warp has several rows in registers at once: their loads are in flight together.
//
// If segments follow one another in memory, but are not aligned, lanes would load and store item by
// item, and a store would write 4 or 8 bytes of every sector. Then the items and results of the
// unit pass through shared memory (tile/staged_items.cuh).
#pragma once

#include <lookback/block/lane_scan.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/tile/staged_items.cuh>
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

/// Slots of a segment of `items` items, by E of them.
template <int E, class Number>
LOOKBACK_DEVICE Number slots_of(Number items) {
  return items == 0 ? 1 : (items - 1) / E + 1;
}

/// A block's slots. If a segment begins in slot i, heads[i] is one more than its index, counted
/// from segment `first`; otherwise 0. None begins in a slot from `Slots` on, but the last one may
/// have slots there, and a warp may look at 32 slots from there on.
template <int Slots>
struct slots_of_block {
  static constexpr int watched = 2 * Slots + simt::warp_threads;
  static constexpr int ranges = Slots / simt::warp_threads; // of 32 slots
  std::int64_t first;                                       // segment
  int end;                                                  // of all slots
  /// Of the segment of several rows that begins in range i of 32 slots: its first slot and, times
  /// 2^16, the number of its slots. 0: there is none. There is at most one.
  std::uint32_t several_rows[ranges];
  alignas(16) std::uint16_t heads[watched];

  /// Clears the heads. Called by `threads` threads.
  LOOKBACK_DEVICE void clear(int thread, int threads) {
    constexpr int vector = 16 / sizeof(heads[0]);
    static_assert(watched % vector == 0, "the heads must be whole vectors");
    for (int i = thread; i < watched / vector; i += threads)
      simt::store_shared<16>(heads + i * vector, simt::vector_words<16>{});
    if (thread < ranges) several_rows[thread] = 0;
  }
};

/// What segments of a unit are like.
struct unit_layout {
  bool is_scattered;  // not all of them are short and follow one another in memory
  bool is_misaligned; // some begin at an address that is no multiple of a vector's size
};

/// Scans the segments of slots_of_block.
template <class Problem, class Segments, int Warps, int Slots>
class packed_segments {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  static constexpr int E = shape::vector_elements, row_slots = shape::row_vectors,
                       row_items = row_slots * E, last_lane = simt::warp_threads - 1;
  using vector = lane_vector<item, E>;
  static constexpr int vector_bytes = static_cast<int>(sizeof(vector));
  /// Rows that a warp has in registers at once. One loop over them serves all segments: where
  /// lengths vary, less code was faster, probably for the instruction cache. (Shares of a copy's
  /// speed, H100, 2^27 f64, lengths from a power law and segments of 1024: 0.57 and 0.97; with two
  /// rows at once, 0.61 and 0.91; with loops of their own for each kind of segment and for what is
  /// left of it, 0.52 and 0.97.)
  static constexpr int at_once = !vector::packed || sizeof(T) > 16 ? 1 : sizeof(T) > 8 ? 2 : 4;
  /// Rows of all segments of several rows, at most: if each has 33 slots and two rows.
  static constexpr int most_rows = 4 * Slots / (row_slots + 1) + 1;
  static_assert(Slots <= 1 << 10 && most_rows <= 1 << 7, "the parts of long_segment must fit");

  /// A lane's vector: the vector `vector` of the segment that begins in slot `head`, of which the
  /// first `count` items are to be scanned here. has_next_row: the segment has another row behind
  /// this one. In one word, to save registers; bit fields would cost four times the instructions.
  struct place {
    std::uint32_t word;
    LOOKBACK_DEVICE static place of(int head, int vector, int count, bool has_next_row) {
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
  static_assert(Slots <= 1 << 11 && E < 1 << 5, "the parts of a place must fit");
  using output_type = std::decay_t<decltype(Problem::sink.output)>;
  static constexpr bool stores_vectors =
      can_move_as_vectors<stored, output_type> && lane_vector<stored, E>::packed;
  /// A unit has the items of `Slots` slots, and of further ones that its last segment has. Most
  /// units fit into this room; more of it would leave room for fewer blocks.
  using staged = staged_items<sizeof(item) == 8 ? 8 : 4, Slots + Slots / 4>;
  struct no_room {};

public:
  /// Whether items can pass through shared memory.
  static constexpr bool may_stage =
      std::is_pointer<std::decay_t<decltype(Problem::input)>>::value &&
      std::is_pointer<output_type>::value && vector::packed && stores_vectors &&
      (sizeof(item) == 4 || sizeof(item) == 8) && sizeof(stored) == sizeof(item) &&
      E * sizeof(item) == 16 && !Segments::moves_results;
  LOOKBACK_DEVICE static bool is_misaligned(const Problem &problem, std::int64_t at) {
    return staged::offset_in_vector(problem.input + static_cast<std::ptrdiff_t>(at)) != 0;
  }

  using slots = slots_of_block<Slots>;
  /// Of the segment that begins in slot i, begins[i] is the index of its first item, and items[i]
  /// the number of its items, or those of a tile if it is longer than that. begins[0] is
  /// always set.
  struct storage {
    std::int64_t begins[Slots];
    /// Of row q of all segments of several rows: its aggregate, and one more than its index in its
    /// segment, if another row follows there; otherwise 0.
    uninitialized_array<T, most_rows> aggregates;
    std::uint16_t positions[most_rows];
    std::uint16_t items[Slots];
    /// Index behind the last item of the unit's segments, and what each warp has found.
    std::int64_t end;
    unit_layout layouts[Warps];
    std::conditional_t<may_stage, typename staged::storage, no_room> room;
  };

  LOOKBACK_DEVICE packed_segments(const Problem &problem, const Segments &segments,
                                  const slots &of_block, storage &shared)
      : problem_(problem), segments_(segments), slots_(of_block), shared_(shared), op_(problem.op) {
  }

  /// Called by all threads of the block.
  LOOKBACK_DEVICE void scan() {
    const int first = segment_start(0);
    if constexpr (may_stage) {
      if (passes_through_room(first)) {
        const auto from = problem_.input + static_cast<std::ptrdiff_t>(shared_.begins[first]);
        const auto to = problem_.sink.output + static_cast<std::ptrdiff_t>(shared_.begins[first]);
        const int thread = simt::thread_index(), threads = Warps * simt::warp_threads;
        const in_room items{
            {shared_.room, from, static_cast<int>(shared_.end - shared_.begins[first])},
            shared_.begins[first]};
        items.room.load(from, thread, threads);
        const rows_of_unit rows = find_rows();
        simt::wait_for_copies();
        simt::synchronize_block(); // mutant: staged-loaded
        scan_all(first, rows, items);
        simt::synchronize_block(); // mutant: staged-results
        return items.room.store(to, thread, threads);
      }
    }
    prefetch(first);
    scan_all(first, find_rows(), in_memory{});
  }

private:
  /// Where the loops below find items and put results.
  struct in_memory {};
  struct in_room {
    staged room;
    std::int64_t begin; // index of its first item
    LOOKBACK_DEVICE int index(const storage &shared, const place &own) const {
      return static_cast<int>(shared.begins[own.head()] - begin) + own.vector() * E;
    }
  };
  LOOKBACK_DEVICE bool passes_through_room(int first) const {
    const int lane = simt::lane_index();
    const unit_layout layout = lane < Warps ? shared_.layouts[lane] : unit_layout{};
    const unsigned scattered = simt::ballot(layout.is_scattered),
                   misaligned = simt::ballot(layout.is_misaligned);
    const int of_items = staged::offset_in_vector(problem_.input),
              of_results = staged::offset_in_vector(problem_.sink.output);
    const bool alike = of_items == of_results && of_items % static_cast<int>(sizeof(item)) == 0;
    if (scattered != 0 || misaligned == 0 || !alike) return false; // mutant: staged-alike
    return staged::fits(shared_.end - shared_.begins[first]);      // mutant: staged-fits
  }

  struct rows_of_unit;
  template <class Items>
  LOOKBACK_DEVICE void scan_all(int first, const rows_of_unit &rows, const Items &all) {
    int next = slots_.end, end = next;
    if (rows.slots < slots_.end - first) {
      // Every warp has a share of the slots, which begins and ends where segments do.
      const int share = (slots_.end - first + Warps - 1) / Warps, from = first + warp() * share;
      next = segment_start(from);
      end = segment_start(from + share);
    }
    LOOKBACK_ROLLED
    for (int row = 0; row < rows.count || next < end; row += Warps * at_once)
      scan_batch(rows, row, next, end, all);
  }

  /// Prefetches the items of all segments in the unit, on the assumption that they are contiguous
  /// in memory, beginning with the segment in slot `first`. (Shares of a copy's speed, H200, 2^27
  /// elements in segments of 64, without and with this, when steps waited in shared memory: f32
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

  /// The index of the warp. The compiler knows that a broadcast value is the same in all lanes, and
  /// that branches which depend on it do not diverge. Otherwise, every shuffle behind them would
  /// have a second version for lanes that have diverged, and 64-bit values would be moved around it
  /// (f64: 165 instead of 130 instructions a row).
  LOOKBACK_DEVICE static int warp() { return simt::broadcast(simt::warp_index(), 0); }

  /// The first slot from `slot` on in which a segment begins.
  LOOKBACK_DEVICE int segment_start(int slot) const {
    LOOKBACK_ROLLED
    for (; slot < slots_.end && slot < Slots; slot += simt::warp_threads) {
      const unsigned heads = simt::ballot(slots_.heads[slot + simt::lane_index()] != 0);
      if (heads != 0) return slot + simt::lowest_bit(heads);
    }
    return slots_.end;
  }

  LOOKBACK_DEVICE static int lane_items(int left) { return left < 0 ? 0 : left > E ? E : left; }

  /// The network of `Count` rows over lanes first(i) to the own one. Where these are one lane, it
  /// may have no value.
  template <int Count, class First>
  LOOKBACK_DEVICE void scan_lanes(uninitialized_array<T, Count> &values, First first) {
    LOOKBACK_UNROLL
    for (int distance = 1; distance < network::lanes; distance *= 2) {
      LOOKBACK_UNROLL
      for (int i = 0; i < Count; ++i) {
        bool exists = false;
        const T left = simt::shuffle_up_from(values[i], distance, first(i), exists);
        if (exists) { // mutant: slot-position
          simt::keep_branch();
          construct(values[i], static_cast<T>(op_(left, values[i])));
        }
      }
    }
  }

  // ---- segments of several rows ----

  /// A segment of several rows: its first slot, its number of slots, and the number of its first
  /// row among those of all such segments. In one word, so that one shuffle moves it.
  struct long_segment {
    std::uint32_t word;
    LOOKBACK_DEVICE static long_segment of(int head, int slots, int first_row) {
      return {static_cast<std::uint32_t>(head | slots << 10 | first_row << 21)};
    }
    LOOKBACK_DEVICE int head() const { return word & 0x3ff; }
    LOOKBACK_DEVICE int slots() const { return word >> 10 & 0x7ff; }
    LOOKBACK_DEVICE int first_row() const { return static_cast<int>(word >> 21); }
  };
  /// The lane's vector of row q of all segments of several rows, which the lanes have.
  LOOKBACK_DEVICE place find_row(long_segment of_lane, int q) const {
    const unsigned before = simt::ballot(of_lane.slots() > 0 && of_lane.first_row() <= q);
    const long_segment own{simt::broadcast(of_lane.word, simt::highest_bit(before))};
    const int row = q - own.first_row(), left = shared_.items[own.head()] - row * row_items,
              lane = simt::lane_index();
    return place::of(own.head(), row * row_slots + lane, lane_items(left - lane * E),
                     left > row_items);
  }

  struct rows_of_unit {
    long_segment of_lane;
    int count, slots; // of all
  };
  LOOKBACK_DEVICE rows_of_unit find_rows() const {
    const int lane = simt::lane_index();
    const std::uint32_t found = lane < slots::ranges ? slots_.several_rows[lane] : 0;
    if (simt::ballot(found != 0) == 0) return {};
    const int own_slots = static_cast<int>(found >> 16),
              own = (own_slots + row_slots - 1) / row_slots, through = sum_through_lane(own);
    return {long_segment::of(found & 0xffff, own_slots, through - own),
            simt::broadcast(through, last_lane),
            static_cast<int>(simt::add_lanes(static_cast<unsigned>(own_slots)))};
  }

  /// Lane l has R of row `before` + l. Row `before` is the first of the segment of the warp's first
  /// row. That segment has at most tile_rows - 2 rows (strategy/segment_batches.cuh).
  struct row_prefixes {
    uninitialized_array<T, 1> values;
    int before;
  };
  static_assert(shape::tile_rows - 2 + at_once - 2 <= simt::warp_threads,
                "the lanes must have R of all rows of a warp that begin no segment");
  /// Exchanges the aggregates of the rows of all warps. The warp's are first .. first + count - 1.
  LOOKBACK_DEVICE void exchange_rows(int first, int count, const place (&own)[at_once],
                                     const uninitialized_array<T, at_once> &values,
                                     row_prefixes &prefixes) {
    const int lane = simt::lane_index();
    if (lane == last_lane) {
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (i >= count) continue;
        shared_.positions[first + i] =
            static_cast<std::uint16_t>(own[i].has_next_row() ? own[i].row() + 1 : 0);
        if (own[i].has_next_row()) construct(shared_.aggregates[first + i], values[i]);
      }
    }
    simt::synchronize_block();              // mutant: rows-barrier
    prefixes.before = first - own[0].row(); // mutant: rows-before
    const int q = prefixes.before + lane,
              position = q < first + count - 1 ? shared_.positions[q] : 0; // mutant: rows-until
    if (position > 0) construct(prefixes.values[0], shared_.aggregates[q]);
    scan_lanes(prefixes.values, [=](int) {
      return position > 0 ? lane - position + 1 : lane; // mutant: rows-from
    });
  }

  // ---- segments of one row or less ----

  /// The lane's vector of the next segments from slot `next` on, in which one begins: of as many as
  /// 32 lanes hold. Moves `next` behind them, and behind a segment of several rows.
  LOOKBACK_DEVICE place next_slots(int &next, int end) const {
    const int lane = simt::lane_index();
    const unsigned heads = simt::ballot(slots_.heads[next + lane] != 0);
    const int in_step = simt::highest_bit(heads & ((2u << lane) - 1)), head = next + in_step,
              items = shared_.items[head], position = lane - in_step;
    // The last lane's segment may go on behind it.
    const int last = simt::highest_bit(heads), of_last = simt::broadcast(items, last_lane),
              last_end = last + static_cast<int>(slots_of<E>(static_cast<unsigned>(of_last))),
              here = last_end > simt::warp_threads ? last : last_end, // mutant: row-cut
        until = end - next < here ? end - next : here;
    next += of_last > row_items ? last_end : here;
    return place::of(head, position, lane < until ? lane_items(items - position * E) : 0, false);
  }

  // ---- both ----

  /// Scans the rows from `row` on, if there are any: every warp at most `at_once` of them.
  /// Otherwise, the warp's next short segments.
  template <class Items>
  LOOKBACK_DEVICE void scan_batch(const rows_of_unit &rows, int row, int &next, int end,
                                  const Items &all) {
    const bool has_rows = row < rows.count; // in all warps
    const int left = rows.count - row,
              share = left < Warps * at_once ? (left + Warps - 1) / Warps : at_once,
              first = row + warp() * share,
              count = first + share < rows.count ? share : rows.count - first;
    place own[at_once];
    vector items[at_once];
    LOOKBACK_UNROLL
    for (int i = 0; i < at_once; ++i) {
      own[i] = {};
      if (has_rows) {
        if (i < count) own[i] = find_row(rows.of_lane, first + i);
      } else if (next < end) {
        own[i] = next_slots(next, end);
      }
      load(all, own[i], items[i]);
    }
    uninitialized_array<T, at_once> values; // V
    reduce(own, items, values);
    row_prefixes prefixes;
    forget(prefixes.values);
    prefixes.before = first;
    if (has_rows) exchange_rows(first, count, own, values, prefixes);
    LOOKBACK_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const int left_row =
          own[i].row() > 0 ? first + i - 1 - prefixes.before : 0; // mutant: row-of-segment
      store(all, own[i], items[i], simt::shuffle_up(values[i], 1),
            simt::broadcast(prefixes.values[0], left_row));
    }
  }

  /// Reads the lane's vector.
  LOOKBACK_DEVICE void load(const in_room &all, const place &own, vector &items) const {
    items.words = all.room.get(all.index(shared_, own), own.count());
  }
  LOOKBACK_DEVICE void load(const in_memory &, const place &own, vector &items) const {
    if constexpr (vector::packed) forget(items);
    const auto input =
        problem_.input + static_cast<std::ptrdiff_t>(shared_.begins[own.head()] + own.vector() * E);
    load_lane(input, moves_as_vectors<item, E>(input), own.count(), items);
  }
  /// V of the lane's vector of every row.
  LOOKBACK_DEVICE void reduce(const place (&own)[at_once], const vector (&items)[at_once],
                              uninitialized_array<T, at_once> &values) {
    LOOKBACK_UNROLL
    for (int i = 0; i < at_once; ++i) {
      forget(values[i]);
      if (own[i].holds()) construct(values[i], fold_lane<Problem>(items[i], op_));
    }
    const int lane = simt::lane_index();
    scan_lanes(values, [&](int i) { return own[i].holds() ? lane - own[i].position() : lane; });
  }

  /// What stands before a vector: (init . row_prefix) . beside.
  LOOKBACK_DEVICE maybe<T> left_of(const place &own, const T &beside, const T &row_prefix) {
    maybe<T> left;
    if constexpr (Problem::initial_type::exists) left.set(static_cast<T>(problem_.initial.value));
    if (own.row() > 0 && own.count() > 0) left.append(op_, row_prefix);
    if (own.position() > 0 && own.count() > 0) left.append(op_, beside);
    return left;
  }
  /// Scans a vector, and stores its results. Called by a full warp, whose vectors are usually full.
  LOOKBACK_DEVICE void store(const in_room &all, const place &own, const vector &items,
                             const T &beside, const T &row_prefix) {
    const int count = own.count();
    maybe<T> left = left_of(own, beside, row_prefix);
    lane_vector<stored, E> results;
    forget(results);
    if (LOOKBACK_LIKELY(simt::all_of_warp(count == E || count == 0))) {
      if (count > 0) results = scan_from(left, E, items);
    } else if (count > 0) {
      results = scan_from(left, count, items);
    }
    all.room.put(all.index(shared_, own), count, results.words);
  }
  LOOKBACK_DEVICE void store(const in_memory &, const place &own, const vector &items,
                             const T &beside, const T &row_prefix) {
    const int count = own.count();
    maybe<T> left = left_of(own, beside, row_prefix);
    std::int64_t at = shared_.begins[own.head()] + own.vector() * E;
    if (Segments::moves_results && count > 0)
      at = segments_.result_begin(slots_.first + slots_.heads[own.head()] - 1) + own.vector() * E;
    const auto output = problem_.sink.output + static_cast<std::ptrdiff_t>(at);
    bool is_vector = false;
    if constexpr (stores_vectors) {
      is_vector = count == E && moves_as_vectors<stored, E>(output);
      if (LOOKBACK_LIKELY(simt::all_of_warp(is_vector || count == 0))) {
        if (is_vector) store_vector(output, scan_from(left, E, items));
        return;
      }
    }
    if (count == 0) return;
    const auto results = scan_from(left, count, items);
    if constexpr (stores_vectors)
      if (is_vector) return store_vector(output, results);
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k)
      if (k < count) output[k] = results.get(k);
  }
  LOOKBACK_DEVICE lane_vector<stored, E> scan_from(maybe<T> &left, int count, const vector &items) {
    lane_vector<stored, E> results;
    if constexpr (lane_vector<stored, E>::packed) forget(results);
    scan_lane(problem_, left, count, items, op_, results);
    return results;
  }
  template <class Output>
  LOOKBACK_DEVICE static void store_vector(const Output &output,
                                           const lane_vector<stored, E> &results) {
    constexpr int bytes = lane_vector<stored, E>::bytes;
    if constexpr (counts_from_end<Output>)
      simt::store_vector<bytes>(address_of(output) - E, mirrored(results).words);
    else
      simt::store_vector<bytes>(output, results.words);
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
