// SPDX-License-Identifier: MIT
// One block a tile: what strategy/{one_tile,cluster,wave,tree_look_back}.cuh have in common.
//
// n elements read once, n written once; about 2 n + n / E applications of the operator (E elements
// a vector).
#pragma once

#include <lookback/carry/cluster_or_wave_carry.cuh>
#include <lookback/strategy/workspace.cuh>
#include <lookback/tile/actual_count.cuh>
#include <lookback/tile/keyed_sums.cuh>
#include <lookback/tile/reduce_tile.cuh>
#include <lookback/tile/run_sums.cuh>
#include <lookback/tile/scan_tile.cuh>
#include <lookback/tile/select_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Which tiles a body of code is for. A body each is faster, a common one compiles sooner.
enum class code_for { fast, others, both };

/// The block has no next tile to begin.
struct nothing_next {
  LOOKBACK_DEVICE void operator()() const {}
};

/// A tile in the shared memory of a block, between its reduction and its scan. It waits for its
/// prefix there instead of in registers: tiles in flight hide the latency of the carry, and shared
/// memory has room for more of them.
template <class Problem, int Warps, class Carry, unsigned PrefetchDistance = 0>
class tile_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using tile_carry = typename Carry::template of_tile<Problem, Warps>;
  using keys = boundary_of<typename Problem::input_type>;
  static constexpr int rows = shape::tile_rows / Warps; // of a warp
  static_assert(shape::tile_rows % Warps == 0, "all warps must have the same number of rows");

public:
  using source = tile_source<Problem, Warps>;
  using fast_rows = warp_rows<Problem, source, rows, !Carry::is_alone, true>;
  using any_rows = warp_rows<Problem, source, rows, false, false>;

  /// A block prefetches to the L2 cache the tile that comes this many tiles after its own, so that
  /// input is read even while tiles wait for their prefixes. 0: no prefetch.
  static constexpr unsigned prefetch_distance = PrefetchDistance;

  struct storage {
    alignas(source::alignment) unsigned char tile[source::bytes];
    typename lane_exchange<T>::storage exchange[Warps];
    uninitialized_array<T, shape::tile_rows> row_aggregates;
    typename tile_carry::storage carry;
    unsigned tile_id;
  };

  static constexpr bool vectors = has_vectors<Problem>;
  LOOKBACK_DEVICE static bool as_vectors(const Problem &problem) {
    return detail::as_vectors(problem);
  }

  /// Scans tile `tile`, which has `items` valid items. Called by the first `Warps` warps. `fast`:
  /// the input is aligned and, unless the tile is alone, the tile is full and its results are
  /// stored as vectors if their type allows it. The code is for fast tiles, for others, or for
  /// both. For both, what runs between the reduction and the scan of the rows is compiled once.
  /// `IsFetched`: the tile is on its way to shared memory already.
  /// `begin_next()` is called when the aggregate has been published and the prefix is known.
  template <code_for For, bool IsFetched = false, class State, class BeginNext = nothing_next>
  LOOKBACK_DEVICE static void run(const Problem &problem, const State &state, const source &input,
                                  unsigned tile, bool is_last, int items, bool fast,
                                  storage &shared, BeginNext begin_next = {}) {
    constexpr bool some_fast = For != code_for::others, some_other = For != code_for::fast;
    if (!some_fast || !some_other) fast = some_fast;
    auto op = problem.op;
    const int lane = simt::lane_index(), warp = simt::warp_index(), row = warp * rows;
    lane_exchange<T> exchange(shared.exchange[warp]);
    const auto output = output_at(problem, tile, row * shape::row_elements);
    const fast_rows own_fast(problem, input, shared.tile, tile, is_last, lane, row, items, output);
    const any_rows own(problem, input, shared.tile, tile, is_last, lane, row, items, output);
    const valid_items<shape, !some_other && fast_rows::full> valid{items};
    const tile_carry carry(problem, state, tile, is_last, shared.carry);

    // ---- fetch ----
    if constexpr (!IsFetched) fetch<For>(problem, input, tile, items, fast, shared);
    carry.read_initial(); // mutant: initial-read
    // As soon as all blocks have arrived, the previous tile's keys may be overwritten. This tile
    // reads the last of them, so its copies must have completed before.
    constexpr bool reads_keys = keys::exists; // mutant: reads-keys
    if constexpr (reads_keys) input.finish();
    carry.template arrive<reads_keys>();
    if constexpr (!reads_keys) input.finish(); // mutant: wave-finish

    // ---- reduce ----
    uninitialized_array<lane_state<Problem>, rows> vector_prefixes; // V(lane) of each row
    const bool idle = idles && row >= working_rows(items);          // mutant: idle-warp
    if (!idle)
      with_rows<For>(fast, own_fast, own, [&](const auto &rows_here) {
        reduce_rows(rows_here, vector_prefixes, shared.row_aggregates, op, exchange);
      });
    simt::synchronize_warps<Warps>();       // mutant: row-aggregates-barrier
    uninitialized_array<T, 1> row_prefixes; // R(lane), inclusive; in every warp, to save a barrier
    int full_rows = aggregates_of<Problem>(valid);
    if (idles && full_rows > working_rows(items))
      full_rows = working_rows(items); // the others have no aggregates
    scan_row_aggregates(shared.row_aggregates, full_rows, row_prefixes, op, exchange);

    // ---- publish the aggregate, and learn the prefix ----
    maybe<T> aggregate; // not set for the last tile: no tile reads it
    if (warp == 0 && !is_last)
      aggregate.set(tile_aggregate<Problem>(row_prefixes, full_rows, exchange));
    const maybe<T> prefix = carry.prefix(aggregate, op, exchange);
    begin_next();
    if (idle) return;

    // ---- scan ----
    const auto row_prefix = [&](int row) -> decltype(auto) { // R(row - 1)
      return exchange.from(row_prefixes[0], row > 0 ? row - 1 : 0, lane < full_rows);
    };
    with_rows<For>(fast, own_fast, own, [&](const auto &rows_here) {
      constexpr bool full = std::decay_t<decltype(rows_here)>::full;
      gather_results(rows_here, vector_prefixes);
      scan_rows<Carry::is_alone>(rows_here, prefix, row_prefix, vector_prefixes,
                                 full ? vectors : as_vectors(problem), op, exchange);
    });
  }

private:
  /// A tile that is alone is usually partial. Its warps without items do nothing, so that the
  /// others run faster. (H200, 2^10 i32: sums of runs of 7 in 4.7 us, 5.0 if all warps work; 2^10
  /// i8 partitioned 4.2, 4.5.) Not for sums by key: with those of u8, ptxas (CUDA 13.0) fails.
  static constexpr bool idles = Carry::is_alone && !adds_by_key<Problem>;
  /// Rows of the warps that have items.
  LOOKBACK_DEVICE static int working_rows(int items) {
    return ((items - 1) / (rows * shape::row_elements) + 1) * rows;
  }
  /// Calls act() with the rows of a tile that is fast or not.
  template <code_for For, class Act>
  LOOKBACK_DEVICE static void with_rows(bool fast, const fast_rows &own_fast, const any_rows &own,
                                        const Act &act) {
    if (LOOKBACK_LIKELY(fast)) {
      if constexpr (For != code_for::others) act(own_fast);
    } else {
      if constexpr (For != code_for::fast) act(own);
    }
  }
  template <code_for For>
  LOOKBACK_DEVICE static void fetch([[maybe_unused]] const Problem &problem, const source &input,
                                    unsigned tile, int items, bool fast, storage &shared) {
    if (LOOKBACK_LIKELY(fast)) {
      if constexpr (For != code_for::others) input.template fetch<true>(shared.tile, tile, items);
      if constexpr (prefetch_distance > 0)
        if (tiles_of_grid(problem) - tile > prefetch_distance + 1)
          input.prefetch(tile + prefetch_distance);
    } else {
      if constexpr (For != code_for::fast) input.template fetch<false>(shared.tile, tile, items);
    }
  }
};

/// Warps that scan a tile, blocks that a multiprocessor must have room for, and how many tiles
/// ahead a block prefetches.
///
/// Each strategy has its own kernel, because a short kernel is fetched sooner: this saves 0.4 of
/// 4.9 us for one tile on an H200.
struct tile_tuning {
  int warps, blocks;
  unsigned prefetch_distance = 0; // tiles
};

/// The block of a kernel that scans a tile by Tuning::value, with `Extra` warps in addition to
/// those that scan.
template <class Problem, class Carry, class Tuning, int Extra = 0>
struct tile_block {
  static constexpr tile_tuning tuning = Tuning::value;
  using scan = tile_scan<Problem, tuning.warps, Carry, tuning.prefetch_distance>;
  static constexpr int scanning_warps = tuning.warps;
  static constexpr int threads = (tuning.warps + Extra) * simt::warp_threads;
  /// Blocks that a multiprocessor must have room for.
  static constexpr int resident = simt::resident_blocks(threads, tuning.blocks);
  static constexpr std::size_t shared_bytes = sizeof(typename scan::storage);
  static constexpr bool fits = shared_bytes <= default_shared_bytes;
  static constexpr block_shape shape() {
    static_assert(fits, "lookback: a row of the tuning needs more shared memory than a block has");
    return {threads, shared_bytes};
  }
};

/// Whether a problem is too large for the strategies that keep tiles in shared memory. Only
/// strategy/warp_tiles.cuh supports such a problem. The row for architecture 0 decides, so that the
/// same kernels exist on all architectures.
template <class Problem, class Rows, class Row = typename Rows::template at<0>>
inline constexpr bool is_large =
    exchange_of<typename Problem::accumulator> == exchange_by::rounds ||
    !tile_block<Problem, carry::none, typename Row::template one_tile<Problem>>::fits ||
    !tile_block<Problem, carry::look_back, typename Row::template tree_look_back<Problem>>::fits;

/// Starts to fetch tile `tile`, for scan_one_tile() with `IsFetched`, however its results will be
/// stored. Called by the scanning warps.
template <class Block, class Problem>
LOOKBACK_DEVICE void fetch_one_tile(const Problem &problem, unsigned tile,
                                    typename Block::scan::storage &shared) {
  const typename Block::scan::source items(problem);
  const valid_items<typename Problem::shape> valid{
      problem.extent.tile(tile, Problem::shape::tile_elements).valid};
  if (LOOKBACK_LIKELY(items.aligned() && valid.fill_tile()))
    items.template fetch<true>(shared.tile, tile, valid.of_tile);
  else
    items.template fetch<false>(shared.tile, tile, valid.of_tile);
}

/// Scans tile `tile`. Called by the scanning warps of a block.
///
/// `For`: with `fast`, fast tiles and others have a body each. With `both` or `others`, one body
/// serves all tiles, which compiles sooner; soonest with `others`. On an H200, `both` makes small
/// waves and clusters 3 % slower, and large waves not measurably.
template <class Block, class Carry, code_for For, bool IsFetched = false, class Problem,
          class State>
LOOKBACK_DEVICE void scan_one_tile(const Problem &problem, const State &state, unsigned tile,
                                   typename Block::scan::storage &shared) {
  using scan = typename Block::scan;
  using shape = typename Problem::shape;
  const tile_extent own = problem.extent.tile(tile, shape::tile_elements);
  // One block a tile: this is own.is_last, compared in 32 bits, which saves a small wave 0.1 us.
  const bool is_last = Carry::is_alone || tile + 1 == tiles_of_grid(problem);
  const typename scan::source items(problem);
  const valid_items<shape> valid{own.valid};
  // The fast case has no branches for special cases. A tile that is the only one is usually
  // partial.
  const bool is_fast =
      items.aligned() &&
      (Carry::is_alone || (valid.fill_tile() && (!scan::vectors || scan::as_vectors(problem))));
  if constexpr (For != code_for::fast)
    scan::template run<For, IsFetched>(problem, state, items, tile, is_last, valid.of_tile, is_fast,
                                       shared);
  else if (LOOKBACK_LIKELY(is_fast))
    scan::template run<code_for::fast, IsFetched>(problem, state, items, tile, is_last,
                                                  valid.of_tile, true, shared);
  else
    scan::template run<code_for::others, IsFetched>(problem, state, items, tile, is_last,
                                                    valid.of_tile, false, shared);
}

/// Draws the dynamic tile id of a block. Every thread calls.
template <class State, class Storage>
LOOKBACK_DEVICE unsigned draw_tile(const State &state, Storage &shared) {
  if (simt::thread_index() == 0)
    shared.tile_id = simt::fetch_increment(state.next_tile_id); // mutant: tile-id
  simt::synchronize_block();                                    // mutant: tile-id-barrier
  return shared.tile_id;
}

/// The body of the kernels of these strategies. A block of the look-back draws a dynamic tile id,
/// the number of blocks that started before it. Every tile that it will wait for then belongs to a
/// block that is already running, so waiting always ends. A cluster and a wave need no such order.
/// (One function for all: with a function in each strategy, nvcc orders the registers of a wave
/// differently.)
template <class Block, class Carry, code_for For, class Problem, class State>
LOOKBACK_DEVICE void scan_tile_of_block(const Problem &problem, const State &state) {
  auto &shared = simt::shared_memory<typename Block::scan::storage>();
  if constexpr (Carry::waiting_warps > 0) {
    if (simt::warp_index() == Block::scanning_warps) return attend_wave<Block::scanning_warps>();
  }
  unsigned tile = Carry::is_alone ? 0 : simt::block_index();
  if constexpr (Carry::draws_tile) {
    // Until the previous kernel has cleared the state and saved what the scan may overwrite.
    simt::wait_for_previous_kernel(); // mutant: previous-kernel
    tile = draw_tile(state, shared);
  }
  scan_one_tile<Block, Carry, For>(problem, state, tile, shared);
}

/// The body of their kernels for a number of items that only the device knows. The grid has a block
/// for every tile that there can be, and those without a tile end. With the look-back, it has as
/// many blocks as are resident: each draws tiles until there are no more.
template <class Block, class Carry, code_for For, class Problem, class State>
LOOKBACK_DEVICE void scan_actual_tiles(const Problem &problem, const State &state) {
  if constexpr (Carry::draws_tile) simt::wait_for_previous_kernel(); // mutant: counted-previous
  const auto extent = actual_extent(problem);
  if (extent.items == 0) return;
  const Problem actual = problem.over(extent);
  if constexpr (Carry::draws_tile) {
    // The barrier of a draw comes after all reads of the tile before, and one within the tile after
    // all reads of its id: the storage can be used again.
    auto &shared = simt::shared_memory<typename Block::scan::storage>();
    for (unsigned tile; (tile = draw_tile(state, shared)) < tiles_of_grid(actual);)
      scan_one_tile<Block, Carry, For>(actual, state, tile, shared);
  } else {
    if constexpr (!Carry::is_alone)
      if (simt::block_index() >= tiles_of_grid(actual)) return Carry::leave(); // mutant: no-tile
    scan_tile_of_block<Block, Carry, For>(actual, state);
  }
}
/// The one of the two for the problem.
template <class Block, class Carry, code_for For, class Problem, class State>
LOOKBACK_DEVICE void scan_tiles(const Problem &problem, const State &state) {
  if constexpr (counts_on_device<Problem>)
    scan_actual_tiles<Block, Carry, For>(problem, state);
  else
    scan_tile_of_block<Block, Carry, For>(problem, state);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
