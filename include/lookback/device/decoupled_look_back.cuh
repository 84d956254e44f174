// SPDX-License-Identifier: MIT
// The general path: one block a tile, single pass, decoupled look-back with dynamic block ids.
// D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002; dynamic ids
// after S. Yan, G. Long, Y. Zhang, "StreamScan", PPoPP 2013.
//
// n elements read once, n written once; about 2 n + n / E applications of the operator (E elements a vector).
#pragma once

#include <lookback/block/lane_scan.cuh>
#include <lookback/device/cluster.cuh>
#include <lookback/device/one_wave.cuh>
#include <lookback/device/prepare.cuh>
#include <lookback/device/tile_source.cuh>

namespace lookback::detail {

/// Where a tile looks for what is to its left: nowhere, since it is the only one; around, at tiles that all run at once, be they a
/// cluster or a wave; over a wave too large for the warps of those; or back.
enum class look { nowhere, around, over_wave, back };

/// A tile in the shared memory of a block. It waits there, not in registers, for what is to its left: tiles in flight hide the
/// latency of the walk, and shared memory has room for more of them.
template <class Problem, int Warps, look Where>
class tile_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  static constexpr int E = shape::vector_elements;
  static constexpr int rows = shape::tile_rows / Warps; // rows a warp
  static_assert(shape::tile_rows % Warps == 0, "all warps must have the same number of rows");

  using stored = typename Problem::stored;

  static constexpr bool may_be_cluster = Where == look::around && can_send<T>;
  // A look-back is given an initial value that is saved.
  static constexpr bool reads_early = reads_initial<Problem> && Where != look::back;

  struct nothing {};

public:
  using source = tile_source<Problem, Warps>;
  static constexpr bool is_together = Where == look::around || Where == look::over_wave;

  /// How far ahead of itself a block asks for a tile, and brings it to the L2 cache for whoever will scan it: then tiles
  /// that wait for their prefix do not hold up the reading. H200, 2^28 i32, us, by distance in tiles:
  ///   none 688     264 621     528 627     1056 784 (it is evicted before it is used)
  static constexpr unsigned prefetch_distance = 264;

  struct storage {
    alignas(source::alignment) unsigned char tile[source::bytes];
    typename lane_exchange<T>::storage exchange[Warps];
    uninitialized_array<T, shape::tile_rows> row_totals;
    uninitialized_array<T, 1> prefix; // everything left of the tile; until that is known, an initial value read early
    std::conditional_t<is_together, wave_totals<T>, nothing> wave;
    std::conditional_t<may_be_cluster, cluster_totals<T>, nothing> cluster;
    unsigned ticket;
  };

  /// Whether results can leave as vectors at all, and whether these do. Tiles and rows are whole vectors.
  static constexpr bool vectors = std::is_pointer<decltype(Problem::output)>::value && lane_vector<stored, E>::packed;
  LOOKBACK_DEVICE static bool as_vectors(const Problem &problem) { return moves_as_vectors<stored, E>(problem.output); }

  /// Scans tile `tile` of a scan of n elements, of which `existing` elements exist. `Whole`: all of them, and results
  /// leave as vectors if any do; `Aligned`: the input is. By the first `Warps` warps.
  template <bool Whole, bool Aligned, class State>
  LOOKBACK_DEVICE static void run(const Problem &problem, const State &state, const source &items, unsigned tile,
                                  bool is_last, int existing, storage &shared) {
    auto op = problem.op;
    const int lane = simt::lane_index();
    const int warp = simt::warp_index();
    lane_exchange<T> exchange(shared.exchange[warp]);
    const auto first = static_cast<std::ptrdiff_t>(tile) * shape::tile_elements + warp * rows * shape::row_elements;
    const auto output = problem.output + first; // (rows, row_elements) of this warp
    const bool vector_stores = Whole || as_vectors(problem);

    // What exists of row i of this warp: elements, and vectors that are whole.
    const auto elements = [=](int i) {
      const int left = existing - (warp * rows + i) * shape::row_elements;
      return Whole || left > shape::row_elements ? shape::row_elements : left < 0 ? 0 : left;
    };
    const auto whole_vectors = [=](int i) { return Whole ? shape::row_vectors : elements(i) / E; };
    const int whole_rows = Whole ? shape::tile_rows : existing / shape::row_elements;

    // ---- read, and reduce: vectors, then rows ---------------------------------------------------------------------
    items.template fetch<Aligned>(shared.tile, tile, existing);
    if (Whole && Where == look::back && simt::block_count() - tile > prefetch_distance + 1)
      items.prefetch(tile + prefetch_distance);
    if (reads_early && simt::thread_index() == 0) read_initial(problem, shared.prefix[0]);
    constexpr bool reads_neighbours =
        boundary_of<typename Problem::input_type>::exists; // who may write once all have arrived
    if constexpr (reads_neighbours) items.finish();
    const bool is_cluster = may_be_cluster && simt::cluster_blocks() > 1;
    if constexpr (may_be_cluster)
      if (is_cluster) expect_totals<reads_neighbours || reads_early>(shared.cluster, tile);
    if constexpr (is_together) {
      if (!is_cluster) {
        if (simt::thread_index() == 0) state.tile_totals.clear(tile);
        simt::tell<simt::news::ready, Warps + 1>(); // the warp that waits for the grid arrives for all of us
      }
    }
    if constexpr (!reads_neighbours) items.finish();
    uninitialized_array<T, rows> totals; // V(lane), inclusive
    LOOKBACK_UNROLL
    for (int i = 0; i < rows; ++i) {
      const auto vector =
          items.template read<Aligned>(shared.tile, tile, warp * rows + i, lane < whole_vectors(i) ? E : 0);
      if (lane < whole_vectors(i)) construct(totals[i], fold_lane<Problem>(vector, op));
    }
    warp_inclusive_scan<rows>(totals, whole_vectors, op, exchange);
    LOOKBACK_UNROLL
    for (int i = 0; i < rows; ++i)
      if (lane == shape::row_vectors - 1 && lane < whole_vectors(i))
        construct(shared.row_totals[warp * rows + i], totals[i]);
    simt::synchronize_warps<Warps>();

    // ---- rows of the tile, and what is left of it ----------------------------------------------------------------
    uninitialized_array<T, 1> row_prefix; // R(lane), inclusive; every warp for itself, to save a barrier
    if (lane < whole_rows) construct(row_prefix[0], shared.row_totals[lane]);
    warp_inclusive_scan<1>(
        row_prefix, [=](int) { return whole_rows; }, op, exchange);
    maybe<T> total, prefix;
    if (warp == 0 && !is_last) total.set(exchange.from(row_prefix[0], shape::tile_rows - 1, lane < whole_rows));
    if constexpr (Where == look::nowhere) {
      if constexpr (Problem::initial_type::exists) prefix.set(initial_of(problem, shared.prefix[0]));
    } else if constexpr (is_together) {
      if constexpr (may_be_cluster)
        if (is_cluster)
          prefix = look_in_cluster(problem, shared.prefix[0], shared.cluster, tile, total, op, exchange);
      if (!is_cluster)
        prefix = look_over_wave<Warps>(problem, shared.prefix[0], state, tile, total, op, exchange, shared.wave);
    } else {
      if (warp == 0) prefix = look_back(problem, state, tile, is_last, total, op, exchange);
      if (simt::thread_index() == 0 && prefix.exists()) construct(shared.prefix[0], prefix.value());
      simt::synchronize_warps<Warps>();
      if (warp > 0 && (Problem::initial_type::exists || tile > 0)) prefix.set(shared.prefix[0]);
    }

    // ---- scan and write -------------------------------------------------------------------------------------------
    // Results may take the place of their own row on the way out, where they fit, and where no other warp reads of it.
    using room = typename source::first_type;
    constexpr bool in_place = Aligned && sizeof(stored) <= sizeof(room) && alignof(stored) <= alignof(room);
    const auto scan_row = [&](int i, auto is_whole) { // and so, with vectors, is what is left
      constexpr bool whole = decltype(is_whole)::value;
      const int row = warp * rows + i, exist = whole ? shape::row_elements : elements(i);
      maybe<T> base = prefix;
      const T &above = exchange.from(row_prefix[0], row > 0 ? row - 1 : 0, lane < whole_rows);
      if (row > 0) base.append(op, above);
      const int count = whole ? E : exist - lane * E;
      const T &left = exchange.up(totals[i], 1, lane < (whole ? shape::row_vectors : exist / E)); // V(lane - 1)
      if (lane > 0 && count > 0) base.append(op, left);
      const auto vector = items.template read<Aligned>(shared.tile, tile, row, count);
      lane_vector<stored, E> results;
      scan_lane(problem, base, count, vector, op, results);
      void *const place = items.template row_of<Aligned>(shared.tile, row);
      store_row<E, in_place, false>(output + i * shape::row_elements, exist, vectors && (whole || vector_stores), place,
                                    results);
    };
    // Where lanes combine 8 or 16 elements a row by a user's operator, the case that is not the fast one is compiled
    // once, not once a row: a third less time for the compiler's optimiser.
    if constexpr (!Whole && Where != look::nowhere && E >= 8 && !adds_parts<Problem, typename source::elements>) {
      LOOKBACK_ROLLED
      for (int i = 0; i < rows; ++i)
        if (elements(i) > 0) scan_row(i, std::false_type{});
    } else {
      LOOKBACK_UNROLL
      for (int i = 0; i < rows; ++i) {
        if (Whole ||
            (Where == look::nowhere && vectors && LOOKBACK_LIKELY(vector_stores && elements(i) == shape::row_elements)))
          scan_row(i, std::true_type{});
        else if (elements(i) > 0)
          scan_row(i, std::false_type{});
      }
    }
  }
};

/// How many warps scan a tile, how many blocks a multiprocessor must have room for, and where tiles look. A kernel for each,
/// because a short kernel is fetched sooner: 0.4 of 4.9 us for one tile on an H200.
struct look_back_tuning {
  int warps, blocks;
  look where;
  constexpr bool is_together() const { return where == look::around || where == look::over_wave; }
  /// Warps of a block, at most: those of a wave have one more, which waits for the grid.
  constexpr int block_warps() const { return warps + (is_together() ? 1 : 0); }
};

/// Dynamic ids: a block's tile is the number of blocks that started before it, so every tile that it will wait for belongs
/// to a block that is already running, and waiting always ends. A cluster and a wave need no such order.
template <class Problem, class Tuning>
LOOKBACK_KERNEL(Tuning::value.block_warps() * simt::warp_threads,
                simt::resident_blocks(Tuning::value.block_warps() * simt::warp_threads, Tuning::value.blocks))
decoupled_look_back_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                           const tile_state<typename Problem::accumulator> state, const std::uint64_t n) {
  using scan = tile_scan<Problem, Tuning::value.warps, Tuning::value.where>;
  using shape = typename Problem::shape;
  constexpr look where = Tuning::value.where;
  auto &shared = simt::shared_memory<typename scan::storage>();

  if constexpr (scan::is_together) {
    if (simt::warp_index() == Tuning::value.warps) return attend_wave<Tuning::value.warps>();
  }

  unsigned tile = where == look::nowhere ? 0 : simt::block_index();
  if constexpr (where == look::back) {
    simt::wait_for_previous_kernel(); // the state is ready, and the keys at the boundaries are saved
    if (simt::thread_index() == 0) shared.ticket = simt::fetch_increment(state.next_tile);
    simt::synchronize_block();
    tile = shared.ticket;
  }
  const bool is_last = where == look::nowhere || tile + 1 == simt::block_count();
  const std::uint64_t left = n - static_cast<std::uint64_t>(tile) * shape::tile_elements;
  const typename scan::source items(problem, n);
  const int existing = static_cast<int>(left < shape::tile_elements ? left : shape::tile_elements);
  // The case that is fast is not asked what exists, and where. One tile alone is a part of one more often than not.
  const bool is_fast =
      items.aligned() &&
      (where == look::nowhere || (existing == shape::tile_elements && (!scan::vectors || scan::as_vectors(problem))));
  if (LOOKBACK_LIKELY(is_fast))
    scan::template run<where != look::nowhere, true>(problem, state, items, tile, is_last, existing, shared);
  else
    scan::template run<false, false>(problem, state, items, tile, is_last, existing, shared);
}

} // namespace lookback::detail
