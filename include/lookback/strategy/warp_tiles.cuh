// SPDX-License-Identifier: MIT
// Elements or accumulators that are too large to keep a tile of them in shared memory: one warp a
// tile, with the lanes' values in local memory. The tree, the look-back and the bits are those of
// strategy/tree_tiles.cuh, but it is slower.
//
// n elements read once (twice where a lane has more than one element of a tile), n written once.
#pragma once

#include <lookback/block/transfer.cuh>
#include <lookback/carry/look_back_carry.cuh>
#include <lookback/strategy/tree_look_back.cuh>
#include <lookback/tile/left_side.cuh>
#include <lookback/tile/reduce_tile.cuh>
#include <lookback/tile/scan_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Largest size of an element or an accumulator, in bytes. A thread keeps about a dozen values in
/// local memory, which is limited to 512 KB, and a kernel by key has three of them among its
/// parameters, which are limited to 32 KB.
inline constexpr std::size_t large_bytes_at_most = 4096;

/// Refuses larger ones, before they are compiled into kernels.
template <class Problem>
constexpr bool has_supported_size() {
  static_assert(sizeof(typename shaped_by<typename Problem::accumulator>::type) <=
                        large_bytes_at_most &&
                    sizeof(typename Problem::shaping) <= large_bytes_at_most,
                "lookback: elements and accumulators must not be larger than 4096 bytes");
  return true;
}

/// One tile, by one warp.
template <class Problem>
class large_scan {
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using shape = typename Problem::shape;
  using source = element_source<typename Problem::input_type>;
  static constexpr int E = shape::vector_elements, rows = shape::tile_rows;
  static constexpr bool keeps_element = E * rows == 1; // a lane's only element, read once
  static_assert(keeps_element || !boundary_of<typename Problem::input_type>::exists,
                "keys that results may overwrite must be read only once");

public:
  struct storage {
    typename lane_exchange<T>::storage exchange;
    typename carry::none::of_tile<Problem, 1>::storage alone;
    unsigned tile_id;
  };

  /// Tile `tile` of the problem.
  LOOKBACK_DEVICE large_scan(const Problem &problem, unsigned tile, storage &shared)
      : problem_(problem), op_(problem.op), exchange_(shared.exchange), shared_(shared),
        tile_(tile), own_(problem.extent.tile(tile, shape::tile_elements)),
        first_(static_cast<std::ptrdiff_t>(own_.first)),
        input_(problem.input + first_), valid_{own_.valid} {}

  LOOKBACK_DEVICE void run(const scan_state<T> &state) {
    const bool is_last = own_.is_last, is_only = is_last && own_.is_first;
    const typename carry::none::of_tile<Problem, 1> alone(problem_, state, tile_, is_last,
                                                          shared_.alone);
    if (is_only) alone.read_initial();
    uninitialized_array<T, 1> vectors;    // V(lane) of the last row that was reduced, inclusive
    uninitialized_array<T, 1> row_prefix; // R(lane), inclusive
    reduce(vectors, row_prefix);
    maybe<T> aggregate, prefix;
    if (is_only) {
      simt::synchronize_warp(); // the initial value has been read
      prefix = alone.prefix(aggregate, op_, exchange_);
    } else {
      if (!is_last) aggregate.set(tile_aggregate<Problem>(row_prefix, valid_.rows(), exchange_));
      prefix = look_back(problem_, state, tile_, is_last, aggregate, op_, exchange_);
    }
    scan(prefix, vectors, row_prefix);
  }

private:
  LOOKBACK_DEVICE void reduce(uninitialized_array<T, 1> &vectors,
                              uninitialized_array<T, 1> &row_prefix) {
    const int lane = simt::lane_index(), full_rows = valid_.rows();
    LOOKBACK_ROLLED
    for (int r = 0; r < (rows == 1 ? 1 : full_rows); ++r) {
      reduce_row(r, vectors);
      const T &aggregate =
          exchange_.from(vectors[0], shape::row_vectors - 1, lane < valid_.vectors(r));
      if (lane == r && r < full_rows) construct(row_prefix[0], aggregate);
    }
    if constexpr (rows > 1)
      warp_inclusive_scan<1>(
          row_prefix, [=](int) { return full_rows; }, op_, exchange_);
  }
  LOOKBACK_DEVICE void scan(const maybe<T> &prefix, uninitialized_array<T, 1> &vectors,
                            uninitialized_array<T, 1> &row_prefix) {
    const int lane = simt::lane_index();
    LOOKBACK_ROLLED
    for (int r = 0; r < rows && valid_.of_row(r) > 0; ++r) {
      if constexpr (rows > 1) reduce_row(r, vectors);
      const int place = r * shape::row_elements + lane * E, count = valid_.of_row(r) - lane * E;
      const auto prefix_of_row = [&]() -> decltype(auto) {
        if constexpr (rows > 1)
          return exchange_.from(row_prefix[0], r > 0 ? r - 1 : 0, lane < valid_.rows());
        else
          return static_cast<const T &>(row_prefix[0]);
      };
      maybe<T> left = prefix;
      append_left_side(
          left, r, prefix_of_row, count > 0 ? lane : 0,
          [&]() -> decltype(auto) { return exchange_.up(vectors[0], 1, lane < valid_.vectors(r)); },
          op_);
      const auto output = output_at(problem_, tile_, 0);
      scan_vector<Problem::inclusive, E, Problem::sink_type::wants_total>(
          left, count, [&](int k) -> decltype(auto) { return element(place + k); }, op_,
          [&](int k, const T &scanned, const item &own) {
            if constexpr (selects<Problem>)
              problem_.sink.put(own_.first + static_cast<unsigned>(place + k), scanned.items,
                                own.kept, own.item);
            else
              output[place + k] =
                  static_cast<typename Problem::stored>(problem_.sink.project(scanned, own));
          });
      set_total(problem_, tile_, place, left);
    }
  }

  LOOKBACK_DEVICE item read(int i) const {
    return static_cast<item>(source::finish(input_, source::fetch(input_, i), i));
  }
  /// Element `i` of the tile, which belongs to this lane.
  LOOKBACK_DEVICE decltype(auto) element(int i) const {
    if constexpr (keeps_element) // mutant: kept-element
      return static_cast<const item &>(kept_[0]);
    else
      return read(i);
  }
  /// V(lane) of the full vectors of row `r`.
  LOOKBACK_DEVICE void reduce_row(int r, uninitialized_array<T, 1> &vectors) {
    const int lane = simt::lane_index(), full = valid_.vectors(r),
              place = r * shape::row_elements + lane * E;
    if (lane < full) {
      if constexpr (keeps_element) construct(kept_[0], read(place));
      construct(vectors[0], fold_vector<E, T>(
                                [&](int k) -> decltype(auto) { return element(place + k); }, op_));
    }
    warp_inclusive_scan<1>(
        vectors, [=](int) { return full; }, op_, exchange_);
  }

  const Problem &problem_;
  decltype(Problem::op) op_;
  lane_exchange<T> exchange_;
  storage &shared_;
  const unsigned tile_;
  const tile_extent own_;
  const std::ptrdiff_t first_;
  const typename Problem::input_type input_;
  const valid_items<shape> valid_;
  uninitialized_array<item, 1> kept_;
};

/// Tiles of a number of items that only the device knows: each block draws tiles until there are no
/// more. Where there is at most one, it has no state.
template <class Problem, class Storage>
LOOKBACK_DEVICE void scan_actual_large(const Problem &problem,
                                       const scan_state<typename Problem::accumulator> &state,
                                       Storage &shared) {
  const bool draws = state.next_tile_id != nullptr;
  if (draws) simt::wait_for_previous_kernel(); // mutant: counted-large
  const auto extent = actual_extent(problem);
  if (extent.items == 0) return;
  const Problem actual = problem.over(extent);
  if (!draws) return large_scan<Problem>(actual, 0, shared).run(state);
  for (unsigned tile; (tile = draw_tile(state, shared)) < tiles_of_grid(actual);) {
    large_scan<Problem>(actual, tile, shared).run(state);
    simt::synchronize_block(); // the storage is used again // mutant: next-large
  }
}

/// One tile alone, or tiles by dynamic ids as in strategy/tree_look_back.cuh.
template <class Problem>
LOOKBACK_KERNEL(simt::warp_threads, 1)
warp_tiles_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                  const scan_state<typename Problem::accumulator> state) {
  auto &shared = simt::shared_memory<typename large_scan<Problem>::storage>();
  if constexpr (counts_on_device<Problem>) return scan_actual_large(problem, state, shared);
  unsigned tile = 0;
  if (simt::block_count() > 1) {
    // Until the previous kernel has cleared the state and saved what the scan may overwrite.
    simt::wait_for_previous_kernel(); // mutant: large-kernel
    if (simt::thread_index() == 0) shared.tile_id = simt::fetch_increment(state.next_tile_id);
    simt::synchronize_block(); // mutant: large-tile-id
    tile = shared.tile_id;
  }
  large_scan<Problem>(problem, tile, shared).run(state);
}

/// Any number of tiles, of large problems only.
template <class Rows>
struct warp_tiles : tree_strategy<Rows> {
  static constexpr const char *name = "warp_tiles";
  static constexpr bool needs_residency = false;
  template <class Problem>
  static constexpr bool supports = is_large<Problem, Rows> &&has_supported_size<Problem>();

  template <class Problem, class Launch>
  static const char *fits(const Problem &, Launch &) {
    return nullptr;
  }
  template <class Problem, class Launch>
  static void run(const Problem &problem, temporary_memory &memory, Launch &launch) {
    using T = typename Problem::accumulator;
    const std::uint64_t tiles = problem.tiles();
    const auto enqueue = [&](const auto &scanned, const scan_state<T> &state) {
      using scanned_type = std::decay_t<decltype(scanned)>;
      const block_shape block{simt::warp_threads,
                              sizeof(typename large_scan<scanned_type>::storage)};
      std::uint64_t blocks = tiles;
      if constexpr (counts_on_device<Problem>)
        blocks = std::min(blocks, std::uint64_t{16} * launch.multiprocessors());
      launch(warp_tiles_kernel<scanned_type>, block,
             launch_grid{blocks, residency::none, tiles > 1}, scanned, state);
    };
    if (tiles == 1) return enqueue(problem, scan_state<T>{});
    const workspace<Problem> in(memory, static_cast<unsigned>(tiles));
    enqueue(prepare_tiles<Rows>(problem, in, launch), in.state);
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
