// SPDX-License-Identifier: MIT
// The hierarchical scan of the textbooks: every block scans its tile and stores the aggregate; the
// aggregates are scanned in the same way; then every block adds its tile's prefix to the results.
//
// M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3, chapter
// 39.2.4, 2007.
//
//   memory      4 n: read and write n, twice; n / S of each for every level above, S items a tile
//   additions   the network's, and n on the way down
//   kernels     2 levels - 1, levels = ceil(log_S n)
#pragma once

#include <lookback/block/three_phase.cuh>
#include <lookback/strategy/textbook_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Where the results of the first pass wait for the second: in the output, where that is as good as
/// memory of our own.
template <class Problem>
inline constexpr bool partials_in_output =
    std::is_same<typename Problem::output_type, typename Problem::accumulator *>::value
        &&std::is_same<decltype(Problem::sink_type::project), scanned_itself>::value;

template <class Tile>
LOOKBACK_KERNEL(Tile::threads, simt::resident_blocks(Tile::threads, Tile::resident))
scan_tiles_kernel(LOOKBACK_KERNEL_PARAMETER typename Tile::problem_type problem,
                  typename Tile::global_room *rooms, typename Tile::T *scanned,
                  typename Tile::T *items, typename Tile::T *aggregates) {
  using initial = typename Tile::problem_type::initial_type;
  auto &shared = simt::shared_memory<typename Tile::storage>();
  Tile tile(problem, simt::block_index(), shared, rooms);
  tile.scan();
  if (simt::block_count() == 1) { // only the initial value is left to add
    maybe<typename Tile::T> before;
    if constexpr (initial::exists) before.set(static_cast<typename Tile::T>(problem.initial.value));
    tile.store(tile.share(before));
    return;
  }
  tile.store_partials(scanned, items);
  if (simt::thread_index() == 0) construct(aggregates[simt::block_index()], tile.aggregate());
}

/// y(i) = (prefix of the tile) . scanned(i)
template <class Tile>
LOOKBACK_KERNEL(Tile::threads, simt::resident_blocks(Tile::threads, Tile::resident))
add_kernel(LOOKBACK_KERNEL_PARAMETER typename Tile::problem_type problem,
           const typename Tile::T *scanned, const typename Tile::T *items,
           const typename Tile::T *aggregates) {
  using Problem = typename Tile::problem_type;
  using T = typename Tile::T;
  auto op = problem.op;
  const tile_extent own = problem.extent.tile(simt::block_index(), Tile::elements);
  const std::uint64_t first = own.first;
  maybe<T> left;
  if constexpr (Problem::initial_type::exists) left.set(static_cast<T>(problem.initial.value));
  if (simt::block_index() > 0) left.append(op, aggregates[simt::block_index() - 1]);
  if (partials_in_output<Problem> && !left.exists()) return;
  constexpr int items_a_thread = Tile::elements / Tile::threads;
  constexpr bool needs_item = Problem::sink_type::needs_item;
  uninitialized_array<T, items_a_thread> partials; // all loads are issued before the first is used
  for_each_strided<Tile::threads, items_a_thread>(
      Problem::inclusive ? 0 : 1, own.valid,
      [&](int k, int i) { construct(partials[k], scanned[first + i]); });
  for_each_strided<Tile::threads, items_a_thread>(0, own.valid, [&](int k, int i) {
    maybe<T> y = left;
    if (Problem::inclusive || i > 0) y.append(op, partials[k]);
    problem.sink.output[static_cast<std::ptrdiff_t>(first + i)] =
        static_cast<typename Tile::stored>(
            problem.sink.project(y.value(), needs_item ? items[first + i] : y.value()));
  });
}

} // namespace detail

/// Scan, then add: blocks scan their tiles, the tiles' aggregates are scanned in the same way, and
/// every block adds the prefix of its tile.
///
/// - *Temporary memory*: one accumulator a tile; and n accumulators, unless the output is a pointer
///   to accumulators.
/// - *Determinism*: the same bits for the same `Network`, `Threads`, `Items` and n.
/// - *Complexity*: 4 n elements of traffic; the additions of `Network`, and n; 2 levels - 1
///   kernels.
/// - *Source*: M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU
///   Gems 3, section 39.2.4, 2007.
///
/// Parameters, types and errors: see @ref strategies.
/// @ingroup strategies
template <class Network = three_phase<>, int Threads = 256, int Items = 0>
struct scan_then_add
    : detail::textbook<scan_then_add<Network, Threads, Items>, Network, Threads, Items> {
  /// @private
  static constexpr const char *name = "scan_then_add";
  /// @private Enqueues the scan: see strategy/strategy.cuh for what a strategy has.
  template <class Problem, class Launch>
  static void run(const Problem &given, detail::temporary_memory &memory, Launch &launch) {
    using T = typename Problem::accumulator;
    auto problem = scan_then_add::in_tiles(given, memory, launch);
    using tile = typename scan_then_add::template tile<decltype(problem)>;
    const std::uint64_t tiles = tile::count(problem);
    T *scanned = nullptr, *items = nullptr, *aggregates = nullptr;
    if (tiles > 1) {
      if constexpr (detail::partials_in_output<Problem>)
        scanned = problem.sink.output;
      else
        scanned = memory.take<T>(problem.extent.items);
      if constexpr (Problem::sink_type::needs_item) items = memory.take<T>(problem.extent.items);
      aggregates = memory.take<T>(tiles);
    }
    detail::prepare(problem, static_cast<unsigned>(tiles), nullptr, 0, memory, launch);
    auto *const rooms = tile::take_rooms(memory, problem);
    launch(detail::scan_tiles_kernel<tile>,
           detail::block_shape{Threads, sizeof(typename tile::storage)}, detail::launch_grid{tiles},
           problem, rooms, scanned, items, aggregates);
    if (tiles == 1) return;
    run(detail::make_problem<true, T>(aggregates, aggregates, problem.op, detail::no_initial{})
            .over({tiles}),
        memory, launch);
    launch(detail::add_kernel<tile>, detail::block_shape{Threads, 0}, detail::launch_grid{tiles},
           problem, scanned, items, aggregates);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
