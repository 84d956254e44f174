// SPDX-License-Identifier: MIT
// One pass with a division of labour, lookback's own variation of the chained scan: one block folds
// the aggregates of all tiles into prefixes, as many at a time as are published; the other blocks
// publish an aggregate and wait for their prefix. The chain consists of that block's round trips.
//
//   memory      2 n: read n, write n
//   additions   the network's, n, and the network's over the n / S aggregates
//   chain       n / (S w) rounds; w <= Threads: the aggregates published when the block polls
//
// Two blocks must be resident together: beside a kernel that leaves room for one block, the scan
// waits for the end of that kernel.
#pragma once

#include <lookback/block/three_phase.cuh>
#include <lookback/carry/look_back_carry.cuh>
#include <lookback/strategy/textbook_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The auxiliary block: publishes the prefix of every tile but the last.
template <class T, int Threads>
class prefix_folder {
  using network = typename warp_shuffle::template block<T, Threads, 1>;

public:
  struct storage {
    typename network::storage room;
    uninitialized_array<T, Threads> sums;
    uninitialized_array<T, 1> carry;
    unsigned ready[Threads / simt::warp_threads];
  };

  template <class Operator>
  LOOKBACK_DEVICE static void run(const textbook_state<T> &state, unsigned tiles,
                                  const maybe<T> &initial, Operator &op, storage &shared) {
    const int thread = simt::thread_index();
    maybe<T> carry = initial; // everything before tile `done`
    simt::spin_bound bound;
    for (unsigned done = 0; done + 1 < tiles; bound.count("aggregate of tile", done)) {
      typename textbook_state<T>::status_words::reading seen;
      if (done + thread + 1 < tiles) seen = state.aggregates.read(done + thread);
      const unsigned ready = simt::ballot(seen.ready());
      if (seen.ready()) construct(shared.sums[thread], seen.value());
      if (simt::lane_index() == 0) shared.ready[simt::warp_index()] = ready;
      simt::synchronize_block();
      int count = 0; // sums that are there without a gap
      for (int warp = 0; count == warp * simt::warp_threads && warp < Threads / simt::warp_threads;
           ++warp)
        count +=
            shared.ready[warp] == ~0u ? simt::warp_threads : simt::lowest_bit(~shared.ready[warp]);
      if (count > 0) {
        network sums(shared.room);
        sums.template scan<true>(
            count, [&](int i) { return shared.sums[i]; }, op);
        if (thread < count) {
          maybe<T> prefix = carry;
          prefix.append(op, sums.template result<true>(thread));
          state.prefixes.publish(done + thread, prefix.value());
          if (thread == count - 1) construct(shared.carry[0], prefix.value());
        }
        simt::synchronize_block();
        carry.set(shared.carry[0]);
        done += count;
      }
      simt::synchronize_block(); // everybody has read what the next round writes
    }
  }
};

template <class Tile>
struct auxiliary_block_storage {
  typename Tile::storage tile;
  typename prefix_folder<typename Tile::T, Tile::threads>::storage folder;
};

/// One block more than there are tiles. The first block to start is the auxiliary block, so no
/// block waits for an auxiliary block that has not started.
template <class Tile>
LOOKBACK_KERNEL(Tile::threads, simt::resident_blocks(Tile::threads, Tile::resident))
auxiliary_block_kernel(LOOKBACK_KERNEL_PARAMETER typename Tile::problem_type problem,
                       typename Tile::global_room *rooms,
                       const textbook_state<typename Tile::T> state) {
  using T = typename Tile::T;
  auto &shared = simt::shared_memory<auxiliary_block_storage<Tile>>();
  auto op = problem.op;
  const unsigned id = state.draw_id(shared.tile), tiles = simt::block_count() - 1;
  maybe<T> prefix; // of the first tile
  if constexpr (Tile::problem_type::initial_type::exists)
    prefix.set(static_cast<T>(problem.initial.value));
  if (id == 0) {
    prefix_folder<T, Tile::threads>::run(state, tiles, prefix, op, shared.folder);
    return;
  }
  const unsigned mine = id - 1;
  Tile tile(problem, mine, shared.tile, rooms);
  tile.scan();
  if (simt::warp_index() == 0) {
    if (simt::thread_index() == 0 && mine + 1 < tiles)
      state.aggregates.publish(mine, tile.aggregate());
    simt::synchronize_warp();
    if (mine > 0) prefix.set(wait_for<T>(state.prefixes, mine - 1));
  }
  tile.store(tile.share(prefix));
}

} // namespace detail

/// Auxiliary block: one pass, in which one block turns the aggregates of all tiles into prefixes,
/// as many at a time as are published, and the other blocks scan.
///
/// - *Temporary memory*: two tile statuses a tile.
/// - *Determinism*: none for floating point; how many aggregates are combined at once depends on
///   the schedule.
/// - *Complexity*: 2 n elements of traffic; the additions of `Network`, n, and those of
///   lookback::warp_shuffle over the aggregates; a chain of at least tiles / `Threads` rounds.
/// - *Forward progress*: two blocks must be resident together, so beside a kernel that leaves room
///   for one block the scan waits for that kernel.
/// - *Source*: lookback's own variation of the chained scan.
///
/// Parameters, types and errors: see @ref strategies.
/// @ingroup strategies
template <class Network = three_phase<>, int Threads = 128, int Items = 0>
struct auxiliary_block
    : detail::textbook<auxiliary_block<Network, Threads, Items>, Network, Threads, Items> {
  /// @private
  static constexpr const char *name = "auxiliary_block";
  /// @private Enqueues the scan: see strategy/strategy.cuh for what a strategy has.
  template <class Problem, class Launch>
  static void run(const Problem &given, detail::temporary_memory &memory, Launch &launch) {
    auto problem = auxiliary_block::in_tiles(given, memory, launch);
    using tile = typename auxiliary_block::template tile<decltype(problem)>;
    const std::uint64_t tiles = tile::count(problem);
    const auto state = detail::prepare_state(problem, static_cast<unsigned>(tiles), memory, launch);
    auto *const rooms = tile::take_rooms(memory, problem);
    launch(detail::auxiliary_block_kernel<tile>,
           detail::block_shape{Threads, sizeof(detail::auxiliary_block_storage<tile>)},
           detail::launch_grid{tiles + 1}, problem, rooms, state);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
