// SPDX-License-Identifier: MIT
// The aggregates of whole tiles and groups of the tree, without a scan: n elements are read once.
//
//   kernel 1    a block reduces a few consecutive tiles; while it reduces one, it fetches the next
//   kernel 2    a warp combines the 32 tiles of a group
//
// The tree folds groups from the left, so a scan that starts with a group needs only the group's
// prefix from the elements before it.
#pragma once

#include <lookback/core/tree_parts.cuh>
#include <lookback/strategy/tree_tiles.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The reduction of consecutive full tiles by one block of `Warps` warps.
template <class Problem, int Warps>
class tile_reduction {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  static constexpr int rows = shape::tile_rows / Warps; // of a warp
  static_assert(shape::tile_rows % Warps == 0, "all warps must have the same number of rows");

public:
  using source = std::conditional_t<can_stage<Problem>, staged_tile<Problem, Warps, true>,
                                    item_tile<Problem, Warps>>;
  /// A tile is fetched while the one before it is reduced, unless two are more than the shared
  /// memory of a block (by key): then it has one.
  static constexpr int stages = source::bytes <= default_shared_bytes / 2 - 1024 ? 2 : 1;
  static constexpr int tiles_at_most = sizeof(T) <= 16 && stages > 1 ? 8 : 1; // of a block

  struct storage {
    alignas(128) unsigned char tiles[stages][(source::bytes + 127) / 128 * 128];
    typename lane_exchange<T>::storage exchange[Warps];
    uninitialized_array<T, shape::tile_rows> row_aggregates[tiles_at_most];
  };

  /// aggregates[t] <- aggregate of tile t, for the `count` tiles from `first` on.
  LOOKBACK_DEVICE static void run(const Problem &problem, unsigned first, int count, T *aggregates,
                                  storage &shared) {
    const source input(problem);
    auto op = problem.op;
    const int lane = simt::lane_index(), warp = simt::warp_index();
    lane_exchange<T> exchange(shared.exchange[warp]);
    if (input.aligned())
      reduce<true>(problem, input, first, count, op, exchange, shared);
    else
      reduce<false>(problem, input, first, count, op, exchange, shared);
    simt::synchronize_block(); // mutant: reduction-rows
    for (int i = warp; i < count; i += Warps) {
      uninitialized_array<T, 1> row_prefix; // R(lane), inclusive
      scan_row_aggregates(shared.row_aggregates[i], shape::tile_rows, row_prefix, op, exchange);
      if (lane == shape::tile_rows - 1)
        construct(aggregates[first + static_cast<unsigned>(i)], row_prefix[0]);
    }
  }

private:
  template <bool Aligned, class Operator>
  LOOKBACK_DEVICE static void reduce(const Problem &problem, const source &input, unsigned first,
                                     int count, Operator &op, lane_exchange<T> &exchange,
                                     storage &shared) {
    const int lane = simt::lane_index(), first_row = simt::warp_index() * rows;
    input.template fetch<Aligned>(shared.tiles[0], first, shape::tile_elements);
    for (int i = 0; i < count; ++i) {
      const unsigned tile = first + static_cast<unsigned>(i);
      // finish() has a barrier if warps share rows: after it, all of them have reduced tile i - 1.
      input.finish();
      if (i + 1 < count) {
        auto &next = shared.tiles[(i + 1) % stages]; // mutant: reduction-next
        input.template fetch<Aligned>(next, tile + 1, shape::tile_elements);
      }
      constexpr bool is_last = false; // asked for by selections and runs only
      const warp_rows<Problem, source, rows, true, Aligned> own(
          problem, input, shared.tiles[i % stages], tile, is_last, lane, first_row,
          shape::tile_elements, problem.sink.output);
      uninitialized_array<T, rows> vectors;
      reduce_rows(own, vectors, shared.row_aggregates[i], op, exchange);
    }
  }
};

template <class Problem, class Rows>
struct tile_reduction_block {
  using rows = Rows;
  template <class Row>
  struct of {
    static constexpr tile_tuning tuning = Row::template tile_reduction<Problem>::value;
    using reduction = tile_reduction<Problem, tuning.warps>;
    using storage = typename reduction::storage;
    static constexpr int threads = tuning.warps * simt::warp_threads;
    static constexpr int resident = simt::resident_blocks(threads, tuning.blocks);
    static constexpr block_shape shape() { return {threads, sizeof(storage)}; }
  };
  using here = of<compiled_row<Rows>>;
};

/// Block b reduces the tiles of its share: `share` tiles from b * share on.
template <class Problem, class Rows>
LOOKBACK_KERNEL((tile_reduction_block<Problem, Rows>::here::threads),
                (tile_reduction_block<Problem, Rows>::here::resident))
reduce_shares_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem, unsigned tiles, int share,
                     typename Problem::accumulator *tile_aggregates) {
  using block = typename tile_reduction_block<Problem, Rows>::here;
  const unsigned first = simt::block_index() * static_cast<unsigned>(share), left = tiles - first;
  const int count = left < static_cast<unsigned>(share) ? static_cast<int>(left) : share;
  block::reduction::run(problem, first, count, tile_aggregates,
                        simt::shared_memory<typename block::storage>());
}

inline constexpr int combining_warps = 4; // of a block

/// aggregates[i] <- aggregate of part i of the `tiles` tiles from tile `first` of the tree on.
template <class T, class Operator>
LOOKBACK_KERNEL(combining_warps *simt::warp_threads, 1)
combine_tiles_kernel(LOOKBACK_KERNEL_PARAMETER Operator given, std::uint64_t first, unsigned tiles,
                     int group_tiles, const T *tile_aggregates, T *aggregates) {
  struct storage {
    typename lane_exchange<T>::storage exchange[combining_warps];
  };
  auto &shared = simt::shared_memory<storage>();
  const int lane = simt::lane_index(), warp = simt::warp_index();
  const tree_parts parts(first, first + tiles, static_cast<std::uint64_t>(group_tiles));
  const std::uint64_t i =
      std::uint64_t{simt::block_index()} * combining_warps + static_cast<unsigned>(warp);
  if (i >= parts.count()) return;
  const tree_parts::part own = parts[i];
  const int count = static_cast<int>(own.tiles);
  const T *const tile = tile_aggregates + (own.first - first);
  auto op = given;
  lane_exchange<T> exchange(shared.exchange[warp]);
  uninitialized_array<T, 1> prefix; // T(lane), inclusive
  if (lane < count) construct(prefix[0], tile[lane]);
  warp_inclusive_scan<1>(
      prefix, [=](int) { return count; }, op, exchange);
  if (lane == count - 1) construct(aggregates[i], prefix[0]); // mutant: combined-tiles
}

/// The aggregates of the parts of the tree that a sequence of whole tiles consists of.
///
/// Tile 0 of the problem is tile `first_tile` of the tree; elements behind the last whole tile are
/// ignored. The problem's initial value and the values of its output are not used.
template <class Rows>
struct group_aggregates {
  template <class Problem>
  static constexpr bool supports = !is_large<Problem, Rows>;

  /// Whole tiles of the problem.
  template <class Problem>
  static std::uint64_t tiles(const Problem &problem) {
    return problem.extent.items / static_cast<unsigned>(Problem::shape::tile_elements);
  }
  template <class Problem>
  static tree_parts parts(const Problem &problem, std::uint64_t first_tile) {
    return {first_tile, first_tile + tiles(problem), Problem::shape::group_tiles};
  }
  /// Bytes of temporary memory: one accumulator a tile.
  template <class Problem>
  static std::size_t storage(const Problem &problem) {
    temporary_memory needed;
    needed.take<typename Problem::accumulator>(tiles(problem));
    return needed.bytes();
  }
  /// Enqueues: aggregates[i] <- aggregate of parts(problem, first_tile)[i]. At most 2^31 - 1 tiles.
  template <class Problem, class Launch>
  static void run(const Problem &problem, std::uint64_t first_tile,
                  typename Problem::accumulator *aggregates, temporary_memory &memory,
                  Launch &launch) {
    using T = typename Problem::accumulator;
    using block = tile_reduction_block<Problem, Rows>;
    const auto whole = static_cast<unsigned>(tiles(problem));
    if (whole == 0) return;
    T *const tile_aggregates = memory.take<T>(whole);
    const auto kernel = reduce_shares_kernel<Problem, Rows>;
    // Long shares hide the fetch of the next tile; short ones give every multiprocessor work.
    constexpr unsigned at_most = block::here::reduction::tiles_at_most, blocks_each = 32;
    const unsigned wanted = whole / (launch.multiprocessors() * blocks_each);
    const unsigned share = wanted < 1 ? 1 : wanted < at_most ? wanted : at_most;
    launch(kernel, launch.template shape<block>(kernel), launch_grid{(whole - 1) / share + 1},
           problem, whole, static_cast<int>(share), tile_aggregates);
    const std::uint64_t count = parts(problem, first_tile).count();
    launch(combine_tiles_kernel<T, std::decay_t<decltype(problem.op)>>,
           block_shape{combining_warps * simt::warp_threads,
                       combining_warps * sizeof(typename lane_exchange<T>::storage)},
           launch_grid{(count - 1) / combining_warps + 1}, problem.op, first_tile, whole,
           int{Problem::shape::group_tiles}, tile_aggregates, aggregates);
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
