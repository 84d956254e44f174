// SPDX-License-Identifier: MIT
// Every block reduces its tile; the aggregates are scanned in the same way; then every block reads
// its tile again and scans it, starting from the tile's prefix.
//
// Y. Dotsenko, N. K. Govindaraju, P.-P. Sloan, C. Boyd, J. Manferdelli, "Fast Scan Algorithms on
// Graphics Processors", ICS 2008; D. Merrill, A. Grimshaw, "Parallel Scan for Stream
// Architectures", University of Virginia CS2009-14, 2009.
//
//   memory      3 n: read n, read n, write n; n / S of each for every level above, S items a tile
//   additions   n to reduce, then the network's, and n
//   kernels     2 levels - 1, levels = ceil(log_S n)
#pragma once

#include <lookback/block/three_phase.cuh>
#include <lookback/strategy/textbook_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// aggregates[b] = aggregate of tile b: every thread folds its own elements serially, then a tree
/// over the threads.
template <class Problem, int Threads, int Items>
LOOKBACK_KERNEL(Threads, simt::resident_blocks(Threads, Threads <= 512 ? 1024 / Threads : 1))
reduce_tiles_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                    typename Problem::accumulator *aggregates) {
  using T = typename Problem::accumulator;
  auto &values = simt::shared_memory<uninitialized_array<T, Threads * Items>>();
  auto op = problem.op;
  const tile_extent own = problem.extent.tile(simt::block_index(), Threads * Items);
  const int count = own.valid;
  const block_elements<Problem, Threads> x(problem, own.first);
  load_strided<Threads, Items>(count, x, &values[0]);
  simt::synchronize_block();
  const int first = simt::thread_index() * Items;
  if (first < count) {
    maybe<T> sum;
    for (int k = 0; k < Items && first + k < count; ++k) sum.append(op, values[first + k]);
    construct(values[first], sum.value());
  }
  for (int width = Items; width < count;
       width *= 2) { // sums of `width` elements lie where their first element was
    simt::synchronize_block();
    const int left = simt::thread_index() * 2 * width;
    if (left + width < count)
      construct(values[left], static_cast<T>(op(values[left], values[left + width])));
  }
  if (simt::thread_index() == 0) construct(aggregates[simt::block_index()], values[0]);
}

/// Scans every tile from its prefix; `aggregates` holds their inclusive scan.
template <class Tile>
LOOKBACK_KERNEL(Tile::threads, simt::resident_blocks(Tile::threads, Tile::resident))
scan_from_aggregates_kernel(LOOKBACK_KERNEL_PARAMETER typename Tile::problem_type problem,
                            typename Tile::global_room *rooms, const typename Tile::T *aggregates) {
  using T = typename Tile::T;
  Tile tile(problem, simt::block_index(), simt::shared_memory<typename Tile::storage>(), rooms);
  tile.scan();
  auto op = problem.op;
  maybe<T> left;
  if constexpr (Tile::problem_type::initial_type::exists)
    left.set(static_cast<T>(problem.initial.value));
  if (simt::block_index() > 0) left.append(op, aggregates[simt::block_index() - 1]);
  tile.store(left);
}

} // namespace detail

/// Reduce, then scan: blocks reduce their tiles, the aggregates are scanned in the same way, and
/// every block reads its tile again and scans it from its prefix.
///
/// - *Temporary memory*: one accumulator a tile.
/// - *Determinism*: the same bits for the same `Network`, `Threads`, `Items` and n.
/// - *Complexity*: 3 n elements of traffic; n additions to reduce, those of `Network`, and n;
///   2 levels - 1 kernels.
/// - *Source*: Y. Dotsenko, N. K. Govindaraju, P.-P. Sloan, C. Boyd, J. Manferdelli, "Fast Scan
///   Algorithms on Graphics Processors", ICS 2008; D. Merrill, A. Grimshaw, "Parallel Scan for
///   Stream Architectures", University of Virginia CS2009-14, 2009.
///
/// Parameters, types and errors: see @ref strategies.
/// @ingroup strategies
template <class Network = three_phase<>, int Threads = 256, int Items = 0>
struct reduce_then_scan
    : detail::textbook<reduce_then_scan<Network, Threads, Items>, Network, Threads, Items> {
  /// @private
  static constexpr const char *name = "reduce_then_scan";
  /// @private Enqueues the scan: see strategy/strategy.cuh for what a strategy has.
  template <class Problem, class Launch>
  static void run(const Problem &given, detail::temporary_memory &memory, Launch &launch) {
    using T = typename Problem::accumulator;
    auto problem = reduce_then_scan::in_tiles(given, memory, launch);
    using tile = typename reduce_then_scan::template tile<decltype(problem)>;
    const std::uint64_t tiles = tile::count(problem);
    T *aggregates = nullptr;
    detail::prepare(problem, static_cast<unsigned>(tiles), nullptr, 0, memory, launch);
    if (tiles > 1) {
      aggregates = memory.take<T>(tiles);
      launch(detail::reduce_tiles_kernel<decltype(problem), Threads, tile::elements / Threads>,
             detail::block_shape{Threads, tile::elements * sizeof(T)}, detail::launch_grid{tiles},
             problem, aggregates);
      run(detail::make_problem<true, T>(aggregates, aggregates, problem.op, detail::no_initial{})
              .over({tiles}),
          memory, launch);
    }
    auto *const rooms = tile::take_rooms(memory, problem);
    launch(detail::scan_from_aggregates_kernel<tile>,
           detail::block_shape{Threads, sizeof(typename tile::storage)}, detail::launch_grid{tiles},
           problem, rooms, aggregates);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
