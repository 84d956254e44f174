// SPDX-License-Identifier: MIT
// A tile of vectors of 16 bytes, which waits in shared memory between its loads and its stores:
// every lane copies vectors, and reads only those. It folds them, the lanes of a warp scan what
// they folded through shuffles, and once the prefix of the tile is known, each lane scans its
// vectors and stores the results. A lane's registers hold one value a vector meanwhile, so that
// shared memory alone limits how many tiles a multiprocessor has room for.
//
//   lane l of warp w, row r of its `rows`    elements ((w rows + r) 32 + l) E + k, k < E
#pragma once

#include <lookback/block/lane_scan.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/strategy/textbook_tile.cuh>
#include <lookback/tile/vector_loads.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// The default `Network` of lookback::decoupled_look_back, and only of it: lanes fold vectors of 16
/// bytes, warps scan rows of 32 of them through shuffles, and lanes scan their vectors again.
///
/// - *Additions*: about 2 n, and 6 a vector.
/// - *Steps*: two serial scans of a vector, 5 shuffles for all rows of a warp and 2 a row, and 5
///   shuffles over the warps.
/// - *Memory*: 3 n accesses to shared memory in units of 16 bytes, 1 barrier.
/// - *Items*: `Items` is rounded down to whole vectors, of which a thread has at least one; with 0,
///   it has up to 16, in at most 32 KB a block.
/// @ingroup strategies
struct warp_vectors {};

namespace detail {

/// Scans one block's tile of the problem: `Rows` vectors a thread. The last tile may be partial.
template <class Problem, int Threads, int Rows>
class vector_tile
    : public tile_of_block<Problem, Threads, Threads * Rows * Problem::shape::vector_elements> {
  static constexpr int E = Problem::shape::vector_elements, row_elements = simt::warp_threads * E,
                       warp_elements = Rows * row_elements, warps = Threads / simt::warp_threads;
  using base = tile_of_block<Problem, Threads, Threads * Rows * E>;
  using base::count_;
  using base::first_;
  using base::op_;
  using base::problem_;
  using item = typename Problem::item;
  using vector = lane_vector<item, E>;
  static constexpr bool loads_vectors =
      vector::packed && can_move_as_vectors<item, typename Problem::input_type>;

public:
  using T = typename base::T;
  using stored = typename base::stored;
  using base::elements;

private:
  /// Whether results are stored past the input that waits in the L2 cache. H100, 2^28 i32: 738 us
  /// instead of 748.
  static constexpr bool streams = std::is_pointer<typename Problem::output_type>::value &&
                                  lane_vector<stored, E>::packed && sizeof(stored) * E == 16;

public:
  struct storage { // the items first, at a multiple of 128 bytes: behind 16 others, 1 to 5 % slower
    alignas(vector_alignment<item>) uninitialized_array<item, elements> items;
    uninitialized_array<T, warps> aggregates;
    typename lane_exchange<T>::storage exchange[warps];
    uninitialized_array<T, 1> prefix; // of the tile
    unsigned tile_id;
  };
  struct global_room {};
  static global_room *take_rooms(temporary_memory &, const Problem &) { return nullptr; }

  /// Blocks that a multiprocessor must have room for: as many as its shared memory and registers
  /// allow. While some tiles wait, others read, which hides the latency.
  static constexpr int registers = 28 + static_cast<int>((Rows + E) * sizeof(T) + 3) / 4;
  static constexpr int fit_registers = 65536 / (Threads * registers);
  static constexpr int fit_shared = static_cast<int>(227 * 1024 / (sizeof(storage) + 1024));
  static constexpr int fit = fit_registers < fit_shared ? fit_registers : fit_shared;
  static constexpr int resident = fit < 1 ? 1 : fit < 16 ? fit : 16; // a limit of every device

  LOOKBACK_DEVICE vector_tile(const Problem &problem, unsigned tile, storage &shared, global_room *)
      : base(problem, tile, shared.prefix), shared_(shared), exchange_(shared.exchange[warp()]),
        fast_(count_ == elements && (!loads_vectors || moves_as_vectors<item, E>(problem.input))) {}

  /// Loads the tile and folds it. Its input is not read again afterwards.
  LOOKBACK_DEVICE void scan() {
    maybe<T> sum; // of the warp
    if (LOOKBACK_LIKELY(fast_))
      load<true>(), fold_rows<true>(sum);
    else
      load<false>(), fold_rows<false>(sum);
    const int lane = simt::lane_index(), full = count_ / warp_elements; // warps
    if (lane == 0 && warp() < full) construct(shared_.aggregates[warp()], sum.value());
    simt::synchronize_block(); // mutant: vectors-aggregates
    if (lane < full) construct(through_[0], shared_.aggregates[lane]);
    warp_inclusive_scan<1>(
        through_, [=](int) { return full; }, op_, exchange_);
  }

  /// Aggregate of a full tile, in every lane. Called by a full warp.
  LOOKBACK_DEVICE T aggregate() {
    return exchange_.from(through_[0], warps - 1, simt::lane_index() < warps);
  }

  /// Scans the tile from its prefix and writes the results.
  LOOKBACK_DEVICE void store(const maybe<T> &prefix) {
    const int last = warp() > 0 ? warp() - 1 : 0;
    const T &beside =
        exchange_.from(through_[0], last, simt::lane_index() < count_ / warp_elements);
    maybe<T> left = prefix;
    if (warp() > 0 && first_element() < count_) left.append(op_, beside);
    if (LOOKBACK_LIKELY(fast_))
      store_rows<true>(left);
    else
      store_rows<false>(left);
  }

private:
  LOOKBACK_DEVICE static int warp() { return simt::warp_index(); }
  /// The warp's first element, counted from the tile's.
  LOOKBACK_DEVICE static int first_element() { return warp() * warp_elements; }
  /// Valid elements of the warp's row r, and of the lane's vector in it.
  template <bool Full>
  LOOKBACK_DEVICE int row_items(int r) const {
    const int left = count_ - first_element() - r * row_elements;
    return Full || left > row_elements ? row_elements : left < 0 ? 0 : left;
  }
  template <bool Full>
  LOOKBACK_DEVICE int lane_items(int r) const {
    const int left = row_items<Full>(r) - simt::lane_index() * E;
    return Full || left > E ? E : left < 0 ? 0 : left;
  }
  /// The warp's row r in shared memory.
  LOOKBACK_DEVICE item *row(int r) const {
    return &shared_.items[first_element() + r * row_elements];
  }

  template <bool Full>
  LOOKBACK_DEVICE void load() {
    const int lane_element = simt::lane_index() * E;
    const auto input =
        problem_.input + static_cast<std::ptrdiff_t>(first_ + first_element() + lane_element);
    if constexpr (Full && loads_vectors && sizeof(item) * E == 16 &&
                  std::is_pointer<typename Problem::input_type>::value) {
      LOOKBACK_UNROLL
      for (int r = 0; r < Rows; ++r)
        simt::copy_vector_async(row(r) + lane_element, input + r * row_elements);
      simt::wait_for_copies(); // mutant: vectors-wait
    } else {
      vector loaded[Rows];
      LOOKBACK_UNROLL
      for (int r = 0; r < Rows; ++r)
        load_lane(input + r * row_elements, Full, lane_items<Full>(r), loaded[r]);
      LOOKBACK_UNROLL
      for (int r = 0; r < Rows; ++r) {
        LOOKBACK_UNROLL
        for (int k = 0; k < E; ++k)
          if (k < lane_items<Full>(r)) construct(row(r)[lane_element + k], loaded[r].get(k));
      }
    }
  }

  /// sums_[r] <- the warp's elements up to the end of the lane's vector of row r, in lanes whose
  /// vector is full; `left` <- those of all full rows.
  template <bool Full>
  LOOKBACK_DEVICE void fold_rows(maybe<T> &left) {
    const int lane = simt::lane_index();
    const auto vectors = [&](int r) { return row_items<Full>(r) / E; }; // full ones
    LOOKBACK_UNROLL
    for (int r = 0; r < Rows; ++r) {
      if (lane >= vectors(r)) continue;
      vector own;
      read_vector<E>(row(r), E, own);
      construct(sums_[r], fold_lane<Problem>(own, op_));
    }
    warp_inclusive_scan<Rows>(sums_, vectors, op_, exchange_);
    LOOKBACK_UNROLL
    for (int r = 0; r < Rows; ++r) {
      if (lane < vectors(r) && left.exists())
        construct(sums_[r], static_cast<T>(op_(left.value(), sums_[r])));
      const T &through = exchange_.from(sums_[r], simt::warp_threads - 1, lane < vectors(r));
      if (vectors(r) == simt::warp_threads) left.set(through);
    }
  }

  template <bool Full>
  LOOKBACK_DEVICE void store_rows(const maybe<T> &left) {
    const int lane = simt::lane_index();
    const auto output =
        problem_.sink.output + static_cast<std::ptrdiff_t>(first_ + first_element());
    const bool as_vectors = moves_as_vectors<stored, E>(problem_.sink.output);
    LOOKBACK_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const int items = lane_items<Full>(r), full = row_items<Full>(r) / E;
      maybe<T> in_warp; // to the left of the lane's vector
      const T &above = exchange_.from(sums_[r > 0 ? r - 1 : 0], simt::warp_threads - 1,
                                      lane < row_items<Full>(r > 0 ? r - 1 : 0) / E);
      if (r > 0 && lane == 0 && items > 0) in_warp.set(above);
      const T &beside = exchange_.up(sums_[r], 1, lane < full);
      if (lane > 0 && items > 0) in_warp.set(beside);
      maybe<T> before = left;
      if (in_warp.exists()) before.append(op_, in_warp.value());
      vector own;
      read_vector<E>(row(r), items, own);
      lane_vector<stored, E> results;
      scan_lane(problem_, before, items, own, op_, results);
      if constexpr (Full && streams) {
        if (as_vectors) {
          simt::stream_vector(output + r * row_elements + lane * E, results.words);
          continue;
        }
      }
      store_row<E, false, false>(output + r * row_elements, row_items<Full>(r), as_vectors, nullptr,
                                 results);
    }
  }

  storage &shared_;
  lane_exchange<T> exchange_;
  const bool fast_; // full, and loaded as vectors where its type allows that
  uninitialized_array<T, Rows> sums_;
  uninitialized_array<T, 1> through_; // the full warps of the tile up to the lane's
};

/// Vectors of a thread: those of `Items` items, or, if that is 0, up to 16 in up to 32 KB a block,
/// which every device has.
template <class Problem, int Threads, int Items>
constexpr int thread_vectors() {
  constexpr int E = Problem::shape::vector_elements,
                items = E * static_cast<int>(sizeof(typename Problem::item)),
                accumulator = static_cast<int>(sizeof(typename Problem::accumulator)),
                bytes = items > accumulator ? items : accumulator,
                fit = 32 * 1024 / Threads / bytes,
                vectors = Items > 0  ? Items / E
                          : fit < 16 ? fit
                                     : 16;
  return vectors < 1 ? 1 : vectors;
}

/// The tile of a strategy whose `Network` is lookback::warp_vectors.
template <class Problem, int Threads, int Items>
struct tile_for<Problem, warp_vectors, Threads, Items> {
  using type = vector_tile<Problem, Threads, thread_vectors<Problem, Threads, Items>()>;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
