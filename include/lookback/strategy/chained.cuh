// SPDX-License-Identifier: MIT
// One pass, the simplest: every block waits for the prefix that its left neighbour publishes, adds
// its aggregate and publishes the result for the next block. The chain of waits is the time: one
// round trip through the L2 cache a tile.
//
// S. Yan, G. Long, Y. Zhang, "StreamScan: Fast Scan Algorithms for GPUs without Global Barrier
// Synchronization", PPoPP 2013.
//
//   memory      2 n: read n, write n
//   additions   the network's, n, and one a tile
//   chain       n / S round trips, S items a tile: larger tiles, shorter chain
#pragma once

#include <lookback/block/three_phase.cuh>
#include <lookback/carry/look_back_carry.cuh>
#include <lookback/strategy/textbook_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class Tile>
LOOKBACK_KERNEL(Tile::threads, simt::resident_blocks(Tile::threads, Tile::resident))
chained_kernel(LOOKBACK_KERNEL_PARAMETER typename Tile::problem_type problem,
               typename Tile::global_room *rooms,
               const textbook_state<typename Tile::T, device_memory> state) {
  using T = typename Tile::T;
  auto &shared = simt::shared_memory<typename Tile::storage>();
  const unsigned id = state.draw_id(shared);
  Tile tile(problem, id, shared, rooms);
  tile.scan();
  maybe<T> prefix;
  if (simt::warp_index() == 0) {
    if (id > 0)
      prefix.set(wait_for<T>(state.prefixes, id - 1));
    else if constexpr (Tile::problem_type::initial_type::exists)
      prefix.set(static_cast<T>(problem.initial.value));
    if (simt::thread_index() == 0 && id + 1 < simt::block_count()) {
      auto op = problem.op;
      maybe<T> through = prefix;
      through.append(op, tile.aggregate());
      state.prefixes.publish(id, through.value());
    }
  }
  tile.store(tile.share(prefix));
}

} // namespace detail

/// Chained scan: one pass, in which every block waits for the prefix of its left neighbour, adds
/// its aggregate and publishes the sum.
///
/// - *Temporary memory*: two tile statuses a tile.
/// - *Determinism*: the same bits for the same `Network`, `Threads`, `Items` and n.
/// - *Complexity*: 2 n elements of traffic; the additions of `Network`, n, and one a tile; a chain
///   of as many round trips through the L2 cache as there are tiles.
/// - *Source*: S. Yan, G. Long, Y. Zhang, "StreamScan: Fast Scan Algorithms for GPUs without Global
///   Barrier Synchronization", PPoPP 2013.
///
/// Parameters, types and errors: see @ref strategies.
/// @ingroup strategies
template <class Network = three_phase<>, int Threads = 256, int Items = 0>
struct chained : detail::textbook<chained<Network, Threads, Items>, Network, Threads, Items> {
  /// @private
  static constexpr const char *name = "chained";
  /// @private Enqueues the scan: see strategy/strategy.cuh for what a strategy has.
  template <class Problem, class Launch>
  static void run(const Problem &given, detail::temporary_memory &memory, Launch &launch) {
    auto problem = chained::in_tiles(given, memory, launch);
    using tile = typename chained::template tile<decltype(problem)>;
    const std::uint64_t tiles = tile::count(problem);
    const auto state = detail::prepare_state<detail::device_memory>(
        problem, static_cast<unsigned>(tiles), memory, launch);
    auto *const rooms = tile::take_rooms(memory, problem);
    launch(detail::chained_kernel<tile>,
           detail::block_shape{Threads, sizeof(typename tile::storage)}, detail::launch_grid{tiles},
           problem, rooms, state);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
