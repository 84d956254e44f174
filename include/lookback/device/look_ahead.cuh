// SPDX-License-Identifier: MIT
// The fast path of sm_90: a persistent pipeline that reads, reduces and scans different tiles at once, so that no tile's
// wait for its prefix ever stops the memory. Decoupled look-back turned around: nobody looks back from a tile that waits;
// a warp looks ahead, and the prefix is there before the tile is scanned.
// n elements read once, n written once; about 2 n + n / E applications of the operator (E elements a vector).
// Block b of G scans tiles b, b + G, b + 2 G, ... Who does what, tile i of the block in stage i % stages:
//
//   copying warp        bulk copies, as many stages ahead as are free, a few of them in flight at once
//   scanning warps      reduce tile i, and scan tile i - depth, whose prefix has long arrived
//   publishing warp     row totals of tile i -> its row prefixes, and its total for everyone
//   look-ahead warps    totals of all tiles since the block's previous one -> the tile's prefix; they take turns
//
// A tile's prefix is built from totals alone, so no block waits for another's prefix, only for its reading. Every block must
// be resident for that to end: the launch is cooperative, which guarantees it, and its barrier says that all totals are cleared.
// Only the warps that publish or read totals wait for that; tiles are copied and reduced meanwhile.
#pragma once

#include <lookback/block/lane_scan.cuh>
#include <lookback/core/simt_grid.cuh>
#include <lookback/device/look_ahead_prefix.cuh>
#include <lookback/device/tile_runs.cuh>

namespace lookback::detail {
#if LOOKBACK_TARGETS_SM_90
template <class Problem, class Tuning>
class look_ahead_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using stored = typename Problem::stored;
  using storage = look_ahead_storage<Problem, Tuning>;
  static constexpr look_ahead_tuning tuning = Tuning::value;
  static constexpr int E = shape::vector_elements, stages = tuning.stages;
  static constexpr int rows = shape::tile_rows / tuning.scanning_warps; // rows a scanning warp
  static constexpr int warps = tuning.warps(), first_scanning_warp = warps - tuning.scanning_warps;
  // 16-byte integers are added up by runs: a total a warp and one a lane, not one a row.
  static constexpr bool in_runs = adds_runs<Problem>;
  static constexpr int kept = in_runs ? 1 : rows, sections = in_runs ? tuning.scanning_warps : shape::tile_rows;
  static_assert(tuning.depth < stages, "the ring must have more stages than the pipeline is deep");

public:
  LOOKBACK_DEVICE look_ahead_scan(const Problem &problem, const tile_state<T> &state, std::uint64_t n, storage &shared)
      : problem_(problem), state_(state), shared_(shared), op_(problem.op), source_(problem, n),
        n_(n), column_{simt::block_index(), simt::block_count(), static_cast<unsigned>(shape::tiles(n))} {}

  LOOKBACK_DEVICE void run() {
    const int warp = simt::warp_index();
    copying<stages> next{simt::cache_policy_of(!column_is_short())};
    if (warp == 0) { // the first copies need nothing but their own barriers: they go before all else
      if (simt::lane_index() == 0) shared_.initialize_first_copies();
      copy(next, storage::first_copies);
      if (simt::lane_index() == 0) shared_.initialize_later_copies();
    } else if (simt::lane_index() == 0) {
      shared_.initialize_others(warp - 1, warps - 1);
    }
    uninitialized_array<T, 1> initial; // for the warp that looks ahead of the first tile
    if (reads_initial<Problem> && warp == 2) read_initial(problem_, initial[0]);
    clear_totals(state_.tile_totals, column_);
    simt::synchronize_block();
    if (warp == 0) {
      copy(next, column_.count());
    } else if (warp == 1) {
      if (simt::lane_index() == 0) {
        simt::wait_for_grid(simt::arrive_at_grid());
        simt::arrive(shared_.cleared);
      }
      simt::synchronize_warp(); // the shuffles to come would bring the lanes together, but order no memory
      publish();
    } else if (warp < first_scanning_warp) {
      simt::wait(shared_.cleared, 0);
      const int working = column_is_short() ? tuning.look_ahead_warps : tuning.long_column_warps;
      if (warp - 2 < working) look_ahead(problem_, initial[0], state_, column_, warp - 2, working, op_, shared_);
    } else {
      reduce_and_scan();
    }
  }

private:
  LOOKBACK_DEVICE static std::ptrdiff_t first_of(unsigned tile) {
    return static_cast<std::ptrdiff_t>(tile) * shape::tile_elements;
  }
  LOOKBACK_DEVICE bool column_is_short() const { return column_.count() <= tuning.short_column; }
  LOOKBACK_DEVICE static int scanning_warp() { return simt::warp_index() - first_scanning_warp; }
  /// Elements of the tile that exist: all, but perhaps in the last.
  LOOKBACK_DEVICE int elements_of(unsigned tile) const {
    return tile + 1 < column_.tiles ? shape::tile_elements : static_cast<int>(n_ - first_of(tile));
  }

  /// Fills free stages up to tile `end`, `in_flight` of them at once: more would only queue, and what the other warps ask of
  /// memory would wait behind them. In the first round every stage is free, and `scanned` may not be initialized yet.
  LOOKBACK_DEVICE void copy(copying<stages> &next, int end) {
    if (simt::lane_index() != 0) return;
    for (; next.i < end && next.i < column_.count(); ++next.i, ++next.at) {
      const int stage = next.at.stage;
      const unsigned tile = column_.tile(next.i);
      const auto bulk = source_.plan_of(tile, elements_of(tile));
      if (next.i >= (column_is_short() ? tuning.short_in_flight : tuning.in_flight)) {
        simt::wait(shared_.copied[next.arriving.stage], next.arriving.phase);
        ++next.arriving;
      }
      if (next.i >= stages) simt::wait(shared_.scanned[stage], next.at.phase ^ 1);
      source_.fill(shared_.tiles[stage], tile, elements_of(tile), bulk, shared_.copied[stage], next.policy);
    }
  }

  /// Totals of rows, or runs, -> their prefixes for the block, and the tile's total for everyone. The last tile's total nobody needs.
  LOOKBACK_DEVICE void publish() {
    const int lane = simt::lane_index();
    lane_exchange<T> exchange(nothing_);
    ring_position<stages> at;
    for (int i = 0; i < column_.count(); ++i, ++at) {
      const int whole_rows = in_runs ? sections : elements_of(column_.tile(i)) / shape::row_elements;
      simt::wait(shared_.reduced[at.stage], at.phase);
      uninitialized_array<T, 1> row;
      if (lane < whole_rows) construct(row[0], shared_.row_totals[at.stage][lane]);
      warp_inclusive_scan<1>(
          row, [=](int) { return whole_rows; }, op_, exchange);
      if (lane == sections - 1 && column_.tile(i) + 1 < column_.tiles)
        state_.tile_totals.publish(column_.tile(i), row[0]);
      if (lane < whole_rows) construct(shared_.row_prefixes[at.stage][lane], row[0]);
      simt::arrive(shared_.rows_ready[at.stage]); // every lane for its own row
    }
  }

  /// Tile i is reduced when its bytes are there, and scanned `depth` tiles later; between, its lanes' totals wait in registers.
  /// Only the very last tile can be partial: it follows when the others are done.
  LOOKBACK_DEVICE void reduce_and_scan() {
    const int full = column_.count() - (elements_of(column_.tile(column_.count() - 1)) < shape::tile_elements ? 1 : 0);
    ring_position<stages> reducing, scanning;
    source_.aligned() ? reduce_and_scan<true>(full, reducing, scanning)
                      : reduce_and_scan<false>(full, reducing, scanning);
    if (full < column_.count()) {
      uninitialized_array<T, kept> totals;
      reduce<false, false>(full, reducing, totals);
      scan<false, false>(full, scanning, totals);
    }
  }
  template <bool Aligned>
  LOOKBACK_DEVICE void reduce_and_scan(int full, ring_position<stages> &reducing, ring_position<stages> &scanning) {
    constexpr int depth = tuning.depth;
    uninitialized_array<T, kept> waiting[depth]; // V(lane), inclusive, of this warp's rows; the oldest first
    for (int i = 0; i < full + depth; ++i) {
      if (i >= depth) {
        scan<true, Aligned>(i - depth, scanning, waiting[0]);
        ++scanning;
      }
      LOOKBACK_UNROLL
      for (int d = 1; d < depth; ++d) waiting[d - 1] = waiting[d];
      if (i < full) {
        reduce<true, Aligned>(i, reducing, waiting[depth - 1]);
        ++reducing;
      }
    }
  }

  template <bool Full>
  LOOKBACK_DEVICE auto runs_of(unsigned tile, int stage) {
    return tile_runs<Problem, look_ahead_source<Problem, Tuning>, tuning.scanning_warps, Full>(
        problem_, source_, shared_.tiles[stage], tile, elements_of(tile), scanning_warp());
  }
  /// Elements that exist of row `r` of this warp.
  template <bool Full>
  LOOKBACK_DEVICE int elements_of_row(int tile, int r) const {
    if (Full) return shape::row_elements;
    const int left = elements_of(tile) - (scanning_warp() * rows + r) * shape::row_elements;
    return left > shape::row_elements ? shape::row_elements : left < 0 ? 0 : left;
  }

  template <bool Full, bool Aligned>
  LOOKBACK_DEVICE void reduce(int i, ring_position<stages> at, uninitialized_array<T, kept> &totals) {
    const int lane = simt::lane_index();
    lane_exchange<T> exchange(nothing_);
    const auto whole_vectors = [&](int r) { return elements_of_row<Full>(column_.tile(i), r) / E; };
    simt::wait(shared_.copied[at.stage], at.phase);
    if constexpr (in_runs) {
      construct(totals[0], runs_of<Full>(column_.tile(i), at.stage).reduce(op_));
      if (lane != shape::row_vectors - 1) return;
      construct(shared_.row_totals[at.stage][scanning_warp()], totals[0]);
      simt::arrive(shared_.reduced[at.stage]);
    } else {
      LOOKBACK_UNROLL
      for (int r = 0; r < rows; ++r) {
        const auto vector = source_.template read<Aligned>(shared_.tiles[at.stage], column_.tile(i),
                                                           scanning_warp() * rows + r, lane < whole_vectors(r) ? E : 0);
        if (lane < whole_vectors(r)) construct(totals[r], fold_lane<Problem>(vector, op_));
      }
      warp_inclusive_scan<rows>(totals, whole_vectors, op_, exchange);
      if (lane == shape::row_vectors - 1) {
        LOOKBACK_UNROLL
        for (int r = 0; r < rows; ++r)
          if (lane < whole_vectors(r)) construct(shared_.row_totals[at.stage][scanning_warp() * rows + r], totals[r]);
        simt::arrive(shared_.reduced[at.stage]);
      }
    }
  }

  template <bool Full, bool Aligned>
  LOOKBACK_DEVICE void scan(int i, ring_position<stages> at, uninitialized_array<T, kept> &totals) {
    const int lane = simt::lane_index();
    lane_exchange<T> exchange(nothing_);
    const unsigned tile = column_.tile(i);
    stored *const output = problem_.output + first_of(tile);
    const bool vector_stores = moves_as_vectors<stored, E>(output);
    simt::wait(shared_.rows_ready[at.stage], at.phase);
    simt::wait(shared_.prefix_ready[at.stage], at.phase);
    maybe<T> prefix;
    if (Problem::initial_type::exists || tile > 0) prefix.set(shared_.prefix[at.stage][0]);
    if constexpr (in_runs) {
      if (scanning_warp() > 0) prefix.append(op_, shared_.row_prefixes[at.stage][scanning_warp() - 1]);
      runs_of<Full>(tile, at.stage).scan(prefix.exists() ? prefix.value() : T{}, totals[0]);
    } else {
      LOOKBACK_UNROLL
      for (int r = 0; r < rows; ++r) {
        const int row = scanning_warp() * rows + r, elements = elements_of_row<Full>(tile, r);
        if (elements == 0) break;
        maybe<T> base = prefix;
        if (row > 0) base.append(op_, shared_.row_prefixes[at.stage][row - 1]);
        const int count = Full ? E : elements - lane * E;
        // Exchanged before the elements are read: 0.2 to 0.7 % of by key and 8-byte sums on an H200, in programs apart.
        const T beside = exchange.up(totals[r], 1, true);
        if (lane > 0 && count > 0) base.append(op_, beside);
        const auto vector = source_.template read<Aligned>(shared_.tiles[at.stage], tile, row, count);
        lane_vector<stored, E> results;
        scan_lane(problem_, base, count, vector, op_, results);
        store_row<E, false, true>(output + row * shape::row_elements, elements, vector_stores, nullptr, results);
      }
    }
    simt::arrive(shared_.scanned[at.stage]); // every lane for what it has read
  }

  const Problem &problem_;
  const tile_state<T> &state_;
  storage &shared_;
  decltype(Problem::op) op_;
  const look_ahead_source<Problem, Tuning> source_;
  const std::uint64_t n_;
  const tile_column column_;
  typename lane_exchange<T>::storage nothing_;
};
#endif
/// Grid: one block a multiprocessor, launched cooperatively, at most as many as there are tiles.
template <class Problem, class Tuning>
LOOKBACK_KERNEL(Tuning::value.warps() * simt::warp_threads, 1)
look_ahead_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem, const tile_state<typename Problem::accumulator> state,
                  const std::uint64_t n) {
#if LOOKBACK_TARGETS_SM_90
  look_ahead_scan<Problem, Tuning>(problem, state, n, simt::shared_memory<look_ahead_storage<Problem, Tuning>>()).run();
#endif
}

} // namespace lookback::detail
