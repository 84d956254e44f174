// SPDX-License-Identifier: MIT
// Up to 16 tiles: the blocks of one cluster send each other their aggregates, from shared memory to
// shared memory. There is no state in global memory, nothing to prepare, and only one launch. The
// blocks of a cluster are scheduled together, so waiting always ends.
#pragma once

#include <lookback/arch/simt_sm90.cuh>
#include <lookback/carry/no_carry.cuh>
#include <lookback/tile/actual_count.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

inline constexpr unsigned cluster_tiles_at_most = 16; // half a group: only one level of the tree

/// Whether aggregates of type T can be sent: small trivially copyable types.
template <class T>
inline constexpr bool can_send = std::is_trivially_copyable<T>::value && sizeof(T) <= 64;

namespace carry {

/// A tile of a cluster that has one block a tile. Before sm_90, the code is empty and never
/// launched.
struct cluster {
  static constexpr bool is_alone = false, draws_tile = false;
  static constexpr int waiting_warps = 0;

  /// Called by every thread of a block without a tile, before it ends: the cluster waits for it.
  static LOOKBACK_DEVICE void leave() {
#if LOOKBACK_TARGETS_SM_90
    simt::arrive_at_cluster<false>(); // mutant: leave-cluster
#endif
  }

  template <class Problem, int Warps>
  class of_tile {
    using T = typename Problem::accumulator;
    static constexpr int words = (sizeof(T) + 3) / 4;
    static constexpr bool reads_early = reads_initial<Problem>;

  public:
    struct storage {
      uninitialized_array<T, 1> initial;                      // read early
      std::uint32_t aggregates[cluster_tiles_at_most][words]; // of the tiles before this one
      simt::barrier received;
    };

    LOOKBACK_DEVICE of_tile(const Problem &problem, const scan_state<T> &, unsigned tile, bool,
                            storage &shared)
        : problem_(problem), tile_(tile), shared_(shared) {}

    LOOKBACK_DEVICE void read_initial() const {
      if (simt::thread_index() == 0) detail::read_initial(problem_, shared_.initial[0]);
    }
    /// Announces how many bytes this block will receive; nothing may be sent to it before. With
    /// `Ordered` or an initial value that is read early, all earlier reads complete before any
    /// block that has passed wait_for_cluster() writes.
    template <bool Ordered>
    LOOKBACK_DEVICE void arrive() const {
      expect<Ordered || reads_early>(); // mutant: cluster-ordered
    }
    /// Sends the aggregate to the blocks of all later tiles, and returns the prefix:
    /// init . T(tile - 1). Every warp computes it for itself, to save a barrier. A block may end
    /// when it has received everything: the aggregate that it has sent lies in the receivers'
    /// shared memory.
    template <class Operator>
    LOOKBACK_DEVICE maybe<T> prefix([[maybe_unused]] const maybe<T> &aggregate,
                                    [[maybe_unused]] Operator &op,
                                    [[maybe_unused]] lane_exchange<T> &exchange) const {
      maybe<T> prefix;
#if LOOKBACK_TARGETS_SM_90
      const int lane = simt::lane_index(), tiles = static_cast<int>(tile_); // before this one
      simt::wait_for_cluster(); // every block expects bytes // mutant: cluster-wait
      if (simt::warp_index() == 0 && aggregate.exists()) send(aggregate.value());
      simt::synchronize_warp();
      simt::wait_for_sent(shared_.received, 0); // mutant: cluster-received
      uninitialized_array<T, 1> aggregates;     // T(lane)
      if (lane < tiles)
        std::memcpy(static_cast<void *>(&aggregates[0]), shared_.aggregates[lane], sizeof(T));
      warp_inclusive_scan<1>(
          aggregates, [=](int) { return tiles; }, op, exchange);
      if constexpr (Problem::initial_type::exists)
        prefix.set(initial_of(problem_, shared_.initial[0]));
      const T &before = exchange.from(aggregates[0], tiles > 0 ? tiles - 1 : 0, lane < tiles);
      if (tiles > 0) prefix.append(op, before);
#endif
      return prefix;
    }

  private:
    template <bool Ordered>
    LOOKBACK_DEVICE void expect() const {
#if LOOKBACK_TARGETS_SM_90
      if (simt::warp_index() == 0) {
        // The warp barrier keeps this a branch: compute-sanitizer's racecheck mistakes a predicated
        // initialization for one by every warp.
        if (simt::lane_index() == 0) {
          simt::initialize(shared_.received, 1);
          simt::publish_barriers(); // mutant: cluster-publish
        }
        simt::synchronize_warp();
        const auto bytes = tile_ * sizeof(shared_.aggregates[0]); // mutant: cluster-bytes
        if (simt::lane_index() == 0) simt::arrive_and_expect(shared_.received, bytes);
      }
      simt::synchronize_warp();
      simt::arrive_at_cluster<Ordered>(); // mutant: cluster-arrive
#endif
    }
#if LOOKBACK_TARGETS_SM_90
    /// Sends to the block of tile `lane`, in each lane whose tile comes after this one.
    LOOKBACK_DEVICE void send(const T &aggregate) const {
      const int lane = simt::lane_index();
      if (lane <= static_cast<int>(tile_) || lane >= static_cast<int>(tiles_of_grid(problem_)))
        return;
      std::uint32_t raw[words] = {};
      std::memcpy(raw, static_cast<const void *>(&aggregate), sizeof(T));
      LOOKBACK_UNROLL
      for (int w = 0; w < words; ++w)
        simt::send(shared_.aggregates[tile_][w], lane, raw[w], shared_.received);
    }
#endif

    const Problem &problem_;
    const unsigned tile_;
    storage &shared_;
  };
};

} // namespace carry
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
