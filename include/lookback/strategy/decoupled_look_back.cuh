// SPDX-License-Identifier: MIT
// Decoupled look-back as it was published: a block publishes its aggregate at once, walks to the
// left over its predecessors' aggregates until it meets a prefix, and publishes its own prefix. The
// length of the walk depends on the schedule. (The default's own look-back,
// carry/look_back_carry.cuh, adds in an order that does not.)
//
// D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA
// NVR-2016-002.
//
//   memory      2 n: read n, write n
//   additions   the network's, n, and one for every aggregate that a walk meets
//   chain       none; a walk is about as long as the number of running blocks
#pragma once

#include <lookback/strategy/vector_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Look-back by one thread, over one predecessor after the other.
/// @ingroup strategies
struct walk_by_thread {};
/// Look-back by one warp, over 32 predecessors at once.
/// @ingroup strategies
struct walk_by_warp {};

/// Dynamic tile ids: a block draws the next id when it starts, so every predecessor has started.
/// @ingroup strategies
struct dynamic_ids {};
/// Static tile ids: the block's index. Unsafe, for comparison only.
///
/// CUDA does not promise that blocks start in the order of their indices. If waiting blocks fill
/// the device before a predecessor has started, the scan never ends.
/// @ingroup strategies
struct static_ids {};

namespace detail {

/// op with its operands exchanged: a scan over it adds to the left.
template <class Operator>
struct reversed_operator {
  Operator &op;
  template <class T>
  LOOKBACK_DEVICE T operator()(const T &near, const T &far) {
    return static_cast<T>(op(far, near));
  }
};

/// Everything left of tile `tile` >= 1, for thread 0. Called by the first warp.
template <class T, class Operator>
LOOKBACK_DEVICE maybe<T> walk(walk_by_thread, const textbook_state<T> &state, unsigned tile,
                              Operator &op, lane_exchange<T> &) {
  maybe<T> sum;
  if (simt::thread_index() != 0) return sum;
  const auto add = [&](const T &left) {
    sum.set(sum.exists() ? static_cast<T>(op(left, sum.value())) : left);
  };
  simt::spin_bound bound;
  for (unsigned i = tile - 1;; bound.count("aggregate of tile", i)) {
    const auto prefix = state.prefixes.read(i);
    if (prefix.ready()) {
      add(prefix.value());
      return sum;
    }
    const auto aggregate = state.aggregates.read(i);
    if (aggregate.ready()) {
      add(aggregate.value());
      --i; // tile 0 publishes a prefix only, so that the walk ends there
    }
  }
}

/// The same; lane l looks at the l-th tile to the left.
template <class T, class Operator>
LOOKBACK_DEVICE maybe<T> walk(walk_by_warp, const textbook_state<T> &state, unsigned tile,
                              Operator &op, lane_exchange<T> &exchange) {
  const int lane = simt::lane_index();
  reversed_operator<Operator> to_the_left{op};
  maybe<T> sum;
  simt::spin_bound bound;
  for (unsigned end = tile;; bound.count("aggregates of the 32 tiles before",
                                         end)) { // tiles from `end` on are in `sum`
    const bool watches = static_cast<unsigned>(lane) < end;
    typename textbook_state<T>::status_words::reading prefix, aggregate;
    if (watches) prefix = state.prefixes.read(end - 1 - lane);
    if (watches) aggregate = state.aggregates.read(end - 1 - lane);
    const unsigned prefixes = simt::ballot(prefix.ready());
    const unsigned known = simt::ballot(prefix.ready() || aggregate.ready());
    // Up to and including the nearest prefix, or the whole window.
    const int count = prefixes != 0 ? simt::lowest_bit(prefixes) + 1 : simt::warp_threads;
    const unsigned wanted = count == simt::warp_threads ? ~0u : (1u << count) - 1;
    if ((known & wanted) != wanted) continue; // mutant: walk-known
    uninitialized_array<T, 1> sums;
    if (lane < count) construct(sums[0], prefix.ready() ? prefix.value() : aggregate.value());
    warp_inclusive_scan<1>(
        sums, [=](int) { return count; }, to_the_left, exchange);
    const T &window = exchange.from(sums[0], count - 1, lane < count);
    sum.set(sum.exists() ? static_cast<T>(op(window, sum.value())) : window);
    if (prefixes != 0) return sum;
    end -= simt::warp_threads;
  }
}

template <class Tile>
struct decoupled_walk_storage {
  typename Tile::storage tile;
  typename lane_exchange<typename Tile::T>::storage exchange;
};

template <class Tile, class Walk, class Ids>
LOOKBACK_KERNEL(Tile::threads, simt::resident_blocks(Tile::threads, Tile::resident))
decoupled_walk_kernel(LOOKBACK_KERNEL_PARAMETER typename Tile::problem_type problem,
                      typename Tile::global_room *rooms,
                      const textbook_state<typename Tile::T> state) {
  using T = typename Tile::T;
  auto &shared = simt::shared_memory<decoupled_walk_storage<Tile>>();
  unsigned id = simt::block_index();
  if constexpr (std::is_same<Ids, dynamic_ids>::value) id = state.draw_id(shared.tile);
  Tile tile(problem, id, shared.tile, rooms);
  tile.prefetch_ahead();
  tile.scan();
  maybe<T> prefix;
  if (simt::warp_index() == 0) {
    auto op = problem.op;
    const bool is_last = id + 1 == simt::block_count(), // no tile reads its aggregate
        publishes = simt::thread_index() == 0 && !is_last;
    maybe<T> aggregate;
    if (!is_last) aggregate.set(tile.aggregate());
    if (publishes && id > 0) state.aggregates.publish(id, aggregate.value());
    simt::synchronize_warp();
    lane_exchange<T> exchange(shared.exchange);
    if (id > 0)
      prefix = walk(Walk{}, state, id, op, exchange);
    else if constexpr (Tile::problem_type::initial_type::exists)
      prefix.set(static_cast<T>(problem.initial.value));
    if (publishes) {
      maybe<T> through = prefix;
      through.append(op, aggregate.value());
      state.prefixes.publish(id, through.value());
    }
  }
  tile.store(tile.share(prefix));
}

} // namespace detail

/// Decoupled look-back: one pass, in which a block publishes its aggregate at once and walks to the
/// left over its predecessors' aggregates until it meets a prefix.
///
/// - `Walk`: lookback::walk_by_thread or lookback::walk_by_warp.
/// - `Ids`: lookback::dynamic_ids or lookback::static_ids.
/// - `Network`: lookback::warp_vectors or one of the @ref block_scans.
/// - *Temporary memory*: two tile statuses a tile.
/// - *Determinism*: none for floating point; how far a walk goes depends on the schedule.
/// - *Complexity*: 2 n elements of traffic; the additions of `Network`, n, and one for every
///   aggregate that a walk reads.
/// - *Source*: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
///   NVIDIA NVR-2016-002.
///
/// Parameters, types and errors: see @ref strategies.
/// @ingroup strategies
template <class Walk = walk_by_warp, class Ids = dynamic_ids, class Network = warp_vectors,
          int Threads = 256, int Items = 0>
struct decoupled_look_back
    : detail::textbook<decoupled_look_back<Walk, Ids, Network, Threads, Items>, Network, Threads,
                       Items> {
  /// @private
  static constexpr const char *name = "decoupled_look_back";
  /// @private Enqueues the scan: see strategy/strategy.cuh for what a strategy has.
  template <class Problem, class Launch>
  static void run(const Problem &given, detail::temporary_memory &memory, Launch &launch) {
    auto problem = decoupled_look_back::in_tiles(given, memory, launch);
    using tile = typename decoupled_look_back::template tile<decltype(problem)>;
    const std::uint64_t tiles = tile::count(problem);
    const auto state = detail::prepare_state(problem, static_cast<unsigned>(tiles), memory, launch);
    auto *const rooms = tile::take_rooms(memory, problem);
    launch(detail::decoupled_walk_kernel<tile, Walk, Ids>,
           detail::block_shape{Threads, sizeof(detail::decoupled_walk_storage<tile>)},
           detail::launch_grid{tiles}, problem, rooms, state);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
