// SPDX-License-Identifier: MIT
// The single-pass scan on CPU threads: tiles by ticket, decoupled look-back through the cells of device/tile_state.cuh.
// D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002.
#pragma once

#include <lookback/host/integer_sum.cuh>
#include <lookback/host/shared_state.cuh>

#include <atomic>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>

namespace lookback::detail {

/// One scan of more than one tile, and everything that its threads share.
template <class Problem>
class threaded_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using tile_scan = std::conditional_t<is_integer_sum<Problem>, sum_tile<Problem>, tree_tile<Problem>>;
  static constexpr std::size_t group_tiles = shape::group_tiles;

public:
  threaded_scan(const Problem &problem, std::int64_t n)
      : problem_(problem), n_(n), tiles_(shape::tiles(static_cast<std::uint64_t>(n))),
        boundary_(problem_.input, tiles_), tile_totals_(tiles_), group_totals_(tiles_ / group_tiles),
        group_prefixes_(tiles_ / group_tiles) {}

  /// Scans with at most `threads` threads, of which the caller is one. Throws what an operator threw first, on
  /// whichever thread, when all threads have ended; the output is then written in part.
  void run(std::size_t threads) {
    threads_ = threads;
    {
      crew helpers{std::make_unique<std::thread[]>(threads)};
      try {
        for (; helpers.started + 1 < threads; ++helpers.started)
          helpers.threads[helpers.started] = std::thread([this] { work(); });
      } catch (const std::system_error &) {
        // Fewer threads then: whoever is here takes all tiles there are.
      }
      work();
    }
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

private:
  /// Joined whatever happens.
  struct crew {
    std::unique_ptr<std::thread[]> threads;
    std::size_t started = 0;
    ~crew() {
      while (started > 0) threads[--started].join();
    }
  };
  /// Thrown by a wait that would never end, since another thread has failed.
  struct abandoned {};

  /// Takes tiles until there are none. Tickets are taken in order, so every tile that this one will wait for belongs to
  /// a thread that is already working on it, and waiting always ends.
  void work() noexcept {
    try {
      const auto tile = std::make_unique<tile_scan>(problem_);
      for (;;) {
        const std::size_t id = next_tile_.fetch_add(1, std::memory_order_relaxed);
        if (id >= tiles_ || failed_.load(std::memory_order_relaxed)) return;
        const auto first = static_cast<std::ptrdiff_t>(id) * shape::tile_elements;
        tile->reduce(first, static_cast<int>(std::min<std::int64_t>(n_ - first, shape::tile_elements)));
        const maybe<T> prefix = look_back(id, *tile);
        // With tiles of equal cost, threads take them in turn.
        const bool known = id + threads_ + 1 < tiles_;
        tile->scan(prefix.exists() ? &prefix.value() : nullptr,
                   known ? first + static_cast<std::ptrdiff_t>(threads_) * shape::tile_elements : -1);
      }
    } catch (const abandoned &) {
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  template <class Ready>
  void wait_until(Ready ready) {
    for (int polls = 0; !ready(); ++polls) {
      if (failed_.load(std::memory_order_relaxed)) throw abandoned{};
      // The thread that we wait for may need the core that we are on.
      if (polls > 100) std::this_thread::yield();
    }
  }

  /// G(group): everything before the first tile of `group` >= 1. From the nearest prefix that is there it is extended
  /// serially: the tree's own fold, whichever prefix it was.
  maybe<T> before_group(std::size_t group, decltype(Problem::op) &op) {
    typename cells<T, host_memory>::reading prefix, total;
    std::size_t nearest = group - 1;
    for (;;) {
      wait_until([&] {
        prefix = group_prefixes_.read(nearest);
        if (prefix.ready() || nearest == 0) return prefix.ready();
        total = group_totals_.read(nearest);
        return total.ready();
      });
      if (prefix.ready()) break;
      --nearest;
    }
    maybe<T> folded;
    folded.set(prefix.value());
    while (++nearest < group) folded.append(op, group_totals_.read(nearest).value());
    return folded;
  }

  /// Publishes tile `id`'s total and returns everything to its left: G, then T, as on the device. Lane l of the network
  /// holds tile l of the group.
  maybe<T> look_back(std::size_t id, const tile_scan &tile) {
    auto op = problem_.op;
    const bool is_last = id + 1 == tiles_;
    const std::size_t group = id / group_tiles;
    const int mine = static_cast<int>(id % group_tiles);
    const bool completes_group = mine + 1 == lane_count && !is_last;
    if (!is_last) tile_totals_.publish(id, tile.total());

    lanes<T> totals, scanned;
    for (int l = 0; l < mine; ++l) {
      typename cells<T, host_memory>::reading seen;
      wait_until([&] { return (seen = tile_totals_.read(group * group_tiles + l)).ready(); });
      totals.set(l, seen.value());
    }
    if (completes_group) totals.set(mine, tile.total());
    kogge_stone(totals, scanned, completes_group ? lane_count : mine, op);
    if (completes_group) group_totals_.publish(group, scanned[mine]);

    maybe<T> prefix;
    if (group > 0)
      prefix = before_group(group, op);
    else if constexpr (Problem::initial_type::exists)
      prefix.set(static_cast<T>(problem_.initial.value));
    if (completes_group) {
      maybe<T> through = prefix;
      through.append(op, scanned[mine]);
      group_prefixes_.publish(group, through.value());
    }
    if (mine > 0) prefix.append(op, scanned[mine - 1]);
    return prefix;
  }

  Problem problem_;
  const std::int64_t n_;
  const std::size_t tiles_;
  std::size_t threads_ = 1;
  saved_boundary<typename Problem::input_type> boundary_;
  owned_cells<T> tile_totals_, group_totals_, group_prefixes_;
  std::atomic<std::size_t> next_tile_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_; // written by the thread that failed first, read when all have ended
};

} // namespace lookback::detail
