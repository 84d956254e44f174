// SPDX-License-Identifier: MIT
// Many short segments in one block. A segment has one slot for every vector; its slots are
// consecutive, and those of the next segment follow them. A lane scans one slot at a time. Every
// segment has its own tree (core/tree.cuh): a row is 32 consecutive slots, counted from the first
// slot of the segment, whichever lanes have them.
#pragma once

#include <lookback/block/lane_scan.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/tile/left_side.cuh>
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

/// Kogge-Stone over the rows of consecutive slots. A warp takes 32 slots at a time, and a row may
/// begin in the 32 before. The values that its first lanes need from there are kept in the upper
/// lanes: `above_`, one for each step of the network.
template <class T>
class slot_network {
public:
  LOOKBACK_DEVICE slot_network() { forget(above_); }

  /// `value`, the aggregate of the lane's vector, becomes V of the vector: the aggregate of the row
  /// up to it. `position` is the vector's index in its row. `holds`: the vector is full. A vector
  /// that is not full has no value, and is the last of its row.
  template <class Operator>
  LOOKBACK_DEVICE void scan(uninitialized_array<T, 1> &value, int position, bool holds,
                            Operator &op) {
    bool ends = false; // no lane has as many slots of its row before it
    LOOKBACK_UNROLL
    for (int step = 0; step < network::steps; ++step) {
      const int distance = 1 << step;
      ends = ends || simt::ballot(position >= distance) == 0;
      if (!ends) {
        const T left = before(step, value[0], distance);
        construct(above_[step], value[0]);
        if (holds && position >= distance) // mutant: slot-position
          construct(value[0], static_cast<T>(op(left, value[0])));
      } else {
        construct(above_[step], value[0]);
      }
    }
  }
  /// V of the slot before, after the network.
  LOOKBACK_DEVICE T beside(const uninitialized_array<T, 1> &value) {
    const T left = before(network::steps, value[0], 1);
    construct(above_[network::steps], value[0]);
    return left;
  }

private:
  LOOKBACK_DEVICE T before(int step, const T &value, int distance) const {
    const bool is_above = simt::lane_index() >= simt::warp_threads - distance;
    return simt::rotate_up(is_above ? above_[step] : value, distance); // mutant: slots-above
  }
  uninitialized_array<T, network::steps + 1> above_; // before each step, and after the last
};

/// A block's slots. If a segment begins in slot i, heads[i] is one more than its index, counted
/// from segment `first`; otherwise 0. If a segment of more than one row begins in one of the slots
/// 32 i to 32 i + 31, long_heads[i] is one more than that slot; otherwise 0.
template <int Slots>
struct slots_of_block {
  std::int64_t first; // segment
  int end;            // of all slots
  std::uint16_t heads[Slots];
  std::uint16_t long_heads[Slots / simt::warp_threads];
};

/// Scans the segments of slots_of_block.
template <class Problem, class Segments, int Warps, int Slots>
class packed_segments {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  static constexpr int E = shape::vector_elements, row_slots = shape::row_vectors;

public:
  using slots = slots_of_block<Slots>;
  /// Of the segment that begins in slot i, begins[i] is the index of its first item, and items[i]
  /// the number of items to be scanned here: 0 if the whole block scans them. A segment that begins
  /// in one of the last slots may have up to Slots / 2 vectors behind them.
  struct storage {
    std::int64_t begins[Slots];
    std::int32_t items[Slots];
    uninitialized_array<T, Slots + Slots / 2> vectors; // V; then, in a row's last slot, R
    typename lane_exchange<T>::storage exchange;
  };

  LOOKBACK_DEVICE packed_segments(const Problem &problem, const Segments &segments,
                                  const slots &of_block, storage &shared)
      : problem_(problem), segments_(segments), slots_(of_block), shared_(shared), op_(problem.op) {
  }

  /// Called by all threads of the block.
  LOOKBACK_DEVICE void scan() {
    const int warp = simt::warp_index(), lane = simt::lane_index();
    const int share = (slots_.end + Warps - 1) / Warps;
    const place from = row_start(warp * share), to = row_start((warp + 1) * share);
    const bool rows = simt::ballot(lane < Slots / row_slots &&
                                   slots_.long_heads[lane % (Slots / row_slots)] != 0) != 0;
    if (!rows) {
      scan_slots(from, to.slot,
                 [&](const lane_slot &own, const vector &items, slot_network<T> &net) {
                   store(own, items, beside_of(own, items, net), static_cast<const T *>(nullptr));
                 });
      return;
    }
    scan_slots(from, to.slot, [&](const lane_slot &own, const vector &items, slot_network<T> &net) {
      uninitialized_array<T, 1> value;
      reduce(own, items, net, value);
      net.beside(value);
      if (own.holds()) construct(shared_.vectors[own.slot], value[0]);
    });
    simt::synchronize_block(); // mutant: packed-vectors
    scan_row_aggregates();
    simt::synchronize_block();
    scan_slots(from, to.slot, [&](const lane_slot &own, const vector &items, slot_network<T> &) {
      const int row = own.vector() / row_slots;
      store(own, items, shared_.vectors[own.slot > 0 ? own.slot - 1 : 0],
            row > 0 ? &shared_.vectors[own.head + row * row_slots - 1] : nullptr);
    });
  }

private:
  using vector = lane_vector<item, E>;
  struct place {
    int slot, head; // of the segment at or before the slot, or -1
  };
  /// A lane's vector, its index in its segment, and how many valid items it has: 0 if there are
  /// none to scan here. `at` is the index of the first.
  struct lane_slot {
    std::int64_t at;
    int slot, head, count;
    LOOKBACK_DEVICE int vector() const { return slot - head; }
    LOOKBACK_DEVICE int position() const { return count > 0 ? vector() % row_slots : 0; }
    LOOKBACK_DEVICE bool holds() const { return count == E; }
  };

  /// The first slot from `slot` on that does not continue a row, so that no two warps share a row.
  LOOKBACK_DEVICE place row_start(int slot) const {
    if (slot >= slots_.end) slot = slots_.end;
    int head = -1;
    for (int last = slot < Slots ? slot : Slots - 1; last >= 0 && head < 0;
         last -= simt::warp_threads) {
      const int watched = last - simt::lane_index();
      const unsigned heads = simt::ballot(watched >= 0 && slots_.heads[watched > 0 ? watched : 0]);
      if (heads != 0) head = last - simt::lowest_bit(heads);
    }
    if (head < 0) return {slot, head};
    const int vectors = (shared_.items[head] + E - 1) / E,
              row = (slot - head + row_slots - 1) / row_slots * row_slots;
    const int behind = head + vectors;
    return {slot >= behind ? slot : head + row < behind ? head + row : behind, head};
  }

  /// Steps of 32 slots whose loads are in flight at once. More steps take more registers, so that
  /// fewer blocks are resident. (H200, 2^27 f32 in segments of 64: 502 us with 2 steps and 8 blocks
  /// a multiprocessor, 574 with 4 steps and 6 blocks, 627 with 4 steps and 5 blocks.)
  static constexpr int at_once = vector::packed ? 2 : 1;

  /// Calls `scan(slot, items, network)` for every slot from `from` to `end`, 32 of them at a time.
  template <class Scan>
  LOOKBACK_DEVICE void scan_slots(place from, int end, Scan scan) const {
    slot_network<T> network;
    int head = from.head; // of the slot before
    for (int first = from.slot; first < end; first += at_once * simt::warp_threads) {
      lane_slot own[at_once];
      vector items[at_once];
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i)
        own[i] = fetch(first + i * simt::warp_threads, end, head, items[i]);
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i)
        if (first + i * simt::warp_threads < end) scan(own[i], items[i], network);
    }
  }

  /// This lane's slot of the 32 from `first` on, and its items.
  LOOKBACK_DEVICE lane_slot fetch(int first, int end, int &head, vector &items) const {
    const int lane = simt::lane_index();
    lane_slot own{0, first + lane, head, 0};
    if constexpr (vector::packed) forget(items);
    const bool exists = own.slot < end;
    const unsigned heads = simt::ballot(exists && own.slot < Slots &&
                                        slots_.heads[own.slot < Slots ? own.slot : 0] != 0);
    const unsigned below = heads & ((2u << lane) - 1);
    if (below != 0) own.head = first + simt::highest_bit(below);
    if (heads != 0) head = first + simt::highest_bit(heads);
    if (exists && own.head >= 0) {
      const int left = shared_.items[own.head] - own.vector() * E;
      own.count = left > E ? E : left < 0 ? 0 : left;
      own.at = shared_.begins[own.head] + own.vector() * E;
      load(own.at, own.count, items);
    }
    return own;
  }

  LOOKBACK_DEVICE void load(std::int64_t at, int count, vector &items) const {
    const auto input = problem_.input + static_cast<std::ptrdiff_t>(at);
    load_lane(input, moves_as_vectors<item, E>(input), count, items);
  }

  LOOKBACK_DEVICE void reduce(const lane_slot &own, const vector &items, slot_network<T> &net,
                              uninitialized_array<T, 1> &value) {
    forget(value);
    if (own.holds()) construct(value[0], fold_lane<Problem>(items, op_));
    net.scan(value, own.position(), own.holds(), op_);
  }
  LOOKBACK_DEVICE T beside_of(const lane_slot &own, const vector &items, slot_network<T> &net) {
    uninitialized_array<T, 1> value;
    reduce(own, items, net, value);
    return net.beside(value);
  }

  /// R of every segment of more than one row, in the last slots of its rows.
  LOOKBACK_DEVICE void scan_row_aggregates() {
    lane_exchange<T> exchange(shared_.exchange);
    for (int i = simt::warp_index(); i < Slots / row_slots; i += Warps) {
      const int head = slots_.long_heads[i] - 1;
      if (head < 0) continue;
      const int rows = shared_.items[head] / shape::row_elements; // full ones
      const int last = head + (simt::lane_index() + 1) * row_slots - 1;
      uninitialized_array<T, 1> aggregates;
      if (simt::lane_index() < rows) construct(aggregates[0], shared_.vectors[last]);
      warp_inclusive_scan<1>(
          aggregates, [=](int) { return rows; }, op_, exchange);
      if (simt::lane_index() < rows) construct(shared_.vectors[last], aggregates[0]);
    }
  }

  /// Scans a vector from (init . row_prefix) . beside, and stores its results. Called by a full
  /// warp, whose vectors are usually full.
  LOOKBACK_DEVICE void store(const lane_slot &own, const vector &items, const T &beside,
                             const T *row_prefix) {
    if (LOOKBACK_LIKELY(simt::all_of_warp(own.holds())))
      store_items<true>(own, items, beside, row_prefix);
    else if (own.count > 0)
      store_items<false>(own, items, beside, row_prefix);
  }
  template <bool Full>
  LOOKBACK_DEVICE void store_items(const lane_slot &own, const vector &items, const T &beside,
                                   const T *row_prefix) {
    const int count = Full ? E : own.count;
    maybe<T> left;
    if constexpr (Problem::initial_type::exists) left.set(static_cast<T>(problem_.initial.value));
    if (row_prefix != nullptr) left.append(op_, *row_prefix);
    if (own.vector() % row_slots > 0) left.append(op_, beside);
    lane_vector<stored, E> results;
    if constexpr (lane_vector<stored, E>::packed) forget(results);
    scan_lane(problem_, left, count, items, op_, results);
    std::int64_t at = own.at;
    if (Segments::moves_results)
      at = segments_.result_begin(slots_.first + slots_.heads[own.head] - 1) + own.vector() * E;
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
