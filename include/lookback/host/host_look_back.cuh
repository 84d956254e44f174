// SPDX-License-Identifier: MIT
// The single-pass scan on CPU threads: threads draw batches of tiles dynamically, and look back
// through the tile status of core/tile_status.cuh. D. Merrill, M. Garland, "Single-pass Parallel
// Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002.
#pragma once

#include <lookback/host/crew.cuh>
#include <lookback/host/growing_tree.cuh>
#include <lookback/host/integer_sum.cuh>
#include <lookback/host/shared_state.cuh>

#include <atomic>
#include <memory>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// One scan of more than one tile, and the state that its threads share. `Through`: the scan is of
/// whole groups, and its prefixes are extended by the last group, too.
template <class Problem, bool Through = false>
class threaded_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using tile_scan =
      std::conditional_t<is_integer_sum<Problem>, sum_tile<Problem>, tree_tile<Problem>>;
  static constexpr std::size_t group_tiles = shape::group_tiles;
  /// Tiles of a batch. A batch communicates with the other threads once, since this disturbs their
  /// caches. Two batches fit a core's second-level cache. If accumulators are much larger than
  /// elements, a batch is one tile, which may then take many megabytes.
  static constexpr std::size_t batch_tiles = shape::tile_elements * sizeof(T) <= (1 << 20) ? 16 : 1;
  using batch = std::unique_ptr<tile_scan>[batch_tiles];

public:
  /// `streams`: results are stored past the caches, if the CPU can.
  threaded_scan(const Problem &problem, bool streams)
      : problem_(problem), n_(static_cast<std::int64_t>(problem.extent.items)), streams_(streams),
        tiles_(problem_.tiles()), boundary_(problem_.input, tiles_), tile_aggregates_(tiles_),
        group_aggregates_(tiles_ / group_tiles), group_prefixes_(tiles_ / group_tiles) {}

  explicit threaded_scan(const Problem &problem)
      : threaded_scan(problem, problem.extent.items >= streamed_from) {}

  /// Scans with at most `threads` threads, including the caller. If an operator throws on any
  /// thread, the first exception is rethrown when all threads have ended; the output is then
  /// written in part.
  void run(std::size_t threads) {
    crew_.run(threads, [this] { work(); });
  }
  /// G of the group after the last one. Requires `Through`, after run().
  T next_group_prefix() const { return group_prefixes_.read(tiles_ / group_tiles - 1).value(); }

private:
  /// From this number of elements on, results exceed most caches: stored through a cache, they
  /// would evict everything else, and one another.
  static constexpr std::uint64_t streamed_from = (std::uint64_t{1} << 25) / shape::element_bytes;

  /// Draws batches until there are none left. The tiles of the next batch are reduced between the
  /// scans of the current batch's tiles, so that reads, computation and writes overlap. Batches are
  /// drawn in order, and no thread waits between drawing a batch and publishing its aggregates, so
  /// every wait ends.
  void work() {
    struct at_the_end {
      ~at_the_end() { simt::order_streams(); }
    } const order_streams{};
    batch batches[2];
    for (auto &one : batches)
      for (auto &tile : one) tile = std::make_unique<tile_scan>(problem_, streams_);
    std::size_t begin = draw_batch();
    simt::line_prefetcher none;
    for (std::size_t id = begin; id < end_of(begin); ++id)
      reduce(*batches[0][id - begin], id, none);
    for (int current = 0; begin < tiles_ && !crew_.has_failed(); current ^= 1)
      begin = scan_batch(begin, batches[current], batches[current ^ 1]);
  }

  /// Scans the batch `tiles`, which begins with tile `begin`, and reduces the next batch to
  /// `next_tiles`. Returns the first tile of the next batch.
  std::size_t scan_batch(std::size_t begin, const batch &tiles, const batch &next_tiles) {
    auto op = problem_.op;
    lanes<T> within; // T, inclusive, of the group's tiles up to the end of this batch
    const maybe<T> group_prefix = look_back(begin, tiles, within);
    const std::size_t next = draw_batch();
    const auto place = [this](std::size_t id) {
      return std::min<std::ptrdiff_t>(first_of(id), n_);
    };
    auto prefetcher = prefetcher_of(problem_, place(next), place(end_of(next)));
    // Half a tile; the scan of this batch's first tile prefetches the other half.
    prefetcher.prefetch(shape::tile_elements * sizeof(typename Problem::item));
    for (std::size_t b = 0; b < batch_tiles; ++b) {
      if (begin + b < tiles_) {
        maybe<T> prefix = group_prefix;
        if (const std::size_t mine = (begin + b) % group_tiles; mine > 0)
          prefix.append(op, within[mine - 1]);
        tiles[b]->scan(prefix.get(), prefetcher);
      }
      if (next + b < tiles_) reduce(*next_tiles[b], next + b, prefetcher);
    }
    return next;
  }

  /// The first tile of the next batch, or tiles_.
  std::size_t draw_batch() {
    return std::min(next_batch_.fetch_add(1, std::memory_order_relaxed) * batch_tiles, tiles_);
  }
  std::size_t end_of(std::size_t begin) const { return std::min(begin + batch_tiles, tiles_); }
  static std::ptrdiff_t first_of(std::size_t id) {
    return static_cast<std::ptrdiff_t>(id) * shape::tile_elements;
  }
  void reduce(tile_scan &tile, std::size_t id, simt::line_prefetcher &prefetcher) const {
    const auto first = first_of(id);
    tile.reduce(first, static_cast<int>(std::min<std::int64_t>(n_ - first, shape::tile_elements)),
                prefetcher);
  }

  /// G(group), the prefix of `group` >= 1. The nearest published prefix is extended serially. This
  /// is the tree's own fold, so the bits do not depend on which prefix it was.
  maybe<T> prefix_of_group(std::size_t group, decltype(Problem::op) &op) {
    typename tile_status<T, host_memory>::reading prefix, aggregate;
    std::size_t nearest = group - 1;
    for (;;) {
      crew_.wait_until([&] {
        prefix = group_prefixes_.read(nearest);
        if (prefix.ready() || nearest == 0) return prefix.ready();
        aggregate = group_aggregates_.read(nearest);
        return aggregate.ready();
      });
      if (prefix.ready()) break;
      --nearest;
    }
    maybe<T> folded;
    folded.set(prefix.value());
    while (++nearest < group) folded.append(op, group_aggregates_.read(nearest).value());
    return folded;
  }

  /// Publishes the aggregates of the batch that begins with tile `begin`, and returns G of its
  /// group. Lane l of `within` becomes T of tile l of the group, up to the batch's last tile.
  maybe<T> look_back(std::size_t begin, const batch &tiles, lanes<T> &within) {
    auto op = problem_.op;
    const std::size_t group = begin / group_tiles, first = group * group_tiles;
    // No tile needs the last tile's aggregate.
    const std::size_t end = std::min(end_of(begin), Through ? tiles_ : tiles_ - 1);
    for (std::size_t id = begin; id < end; ++id)
      tile_aggregates_.publish(id, tiles[id - begin]->aggregate());

    lanes<T> aggregates;
    for (std::size_t id = first; id < begin; ++id) {
      typename tile_status<T, host_memory>::reading seen;
      crew_.wait_until([&] { return (seen = tile_aggregates_.read(id)).ready(); });
      aggregates.set(static_cast<int>(id - first), seen.value());
    }
    for (std::size_t id = begin; id < end; ++id)
      aggregates.set(static_cast<int>(id - first), tiles[id - begin]->aggregate());
    kogge_stone(aggregates, within, static_cast<int>(end - first), op);
    const bool completes_group = end == first + group_tiles;
    if (completes_group) group_aggregates_.publish(group, within[lane_count - 1]);

    const maybe<T> prefix =
        group > 0 ? prefix_of_group(group, op) : initial_of<T>(problem_.initial);
    if (completes_group) {
      maybe<T> through = prefix;
      through.append(op, within[lane_count - 1]);
      group_prefixes_.publish(group, through.value());
    }
    return prefix;
  }

  Problem problem_;
  const std::int64_t n_;
  const bool streams_;
  const std::size_t tiles_;
  saved_boundary<typename Problem::input_type> boundary_;
  owned_tile_status<T> tile_aggregates_, group_aggregates_, group_prefixes_;
  std::atomic<std::size_t> next_batch_{0};
  crew crew_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
