// SPDX-License-Identifier: MIT
// As many tiles as are resident at once: every tile reads the aggregates of all tiles before it,
// and waits for no prefix. The tile of a block is known from the start, without a dynamic tile id,
// and the block clears the tile's status word itself. It fetches and reduces the tile while other
// blocks still clear theirs: an additional warp waits for the grid, because the arrival at the grid
// barrier takes as long as the fetch of a tile (H200: 0.5 us). This wait ends only if every block
// is resident, which the cooperative launch guarantees.
#pragma once

#include <lookback/arch/simt_grid.cuh>
#include <lookback/carry/look_back_carry.cuh>
#include <lookback/carry/participants.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

inline constexpr int wave_groups_at_most = 64; // 2048 tiles: more than any device holds at once

/// Waits until every status word of the grid is clear. Called by the waiting warp of each block.
template <int Warps>
LOOKBACK_DEVICE void attend_wave() {
  // Until the block has cleared its own status word.
  simt::be_told<simt::news::ready, Warps + 1>(); // mutant: wave-told-ready
  if (simt::lane_index() == 0) simt::wait_for_grid(simt::arrive_at_grid()); // mutant: wave-grid
  simt::synchronize_warp();
  simt::tell<simt::news::complete, Warps + 1>(); // mutant: wave-tell
}

namespace carry {

/// A tile of a wave that has one block a tile. With `SettlingWarps`, as many warps of each block
/// settle meanwhile which blocks take part (carry/participants.cuh); then status words need not be
/// clear, and no barrier of the grid is needed. If some blocks take no part, no tile is scanned
/// yet: the others scan several tiles one after the other, once they have settled.
template <int SettlingWarps>
struct wave_of_blocks {
  static constexpr bool is_alone = false, draws_tile = false, settles = SettlingWarps > 0;
  static constexpr int waiting_warps = settles ? 0 : 1;

  /// Called by every thread of a block without a tile, before it ends: the grid waits for it.
  static LOOKBACK_DEVICE void leave() {
    if (simt::thread_index() == 0) simt::arrive_at_grid(); // mutant: leave-wave
  }

  template <class Problem, int Warps>
  class of_tile {
    using T = typename Problem::accumulator;
    using state_type = std::conditional_t<settles, tagged_state<T>, scan_state<T>>;
    static constexpr int group_tiles = Problem::shape::group_tiles;

    struct nothing {};

  public:
    struct settlement {
      participants here;
      bool is_known; // or settling warps will tell
    };
    struct storage : std::conditional_t<settles, settlement, nothing> {
      uninitialized_array<T, 1> initial;                  // read early
      uninitialized_array<T, wave_groups_at_most> groups; // aggregates of earlier groups
      uninitialized_array<T, 1> within; // T of the tile's own group, up to the tile before it
    };

    LOOKBACK_DEVICE of_tile(const Problem &problem, const state_type &state, unsigned tile, bool,
                            storage &shared)
        : problem_(problem), state_(state), tile_(tile), shared_(shared) {}

    LOOKBACK_DEVICE void read_initial() const {
      if constexpr (!settles)
        if (simt::thread_index() == 0) detail::read_initial(problem_, shared_.initial[0]);
    }
    /// Signals the waiting warp, which arrives at the grid barrier for the whole block.
    template <bool>
    LOOKBACK_DEVICE void arrive() const {
      if constexpr (!settles) {
        if (simt::thread_index() == 0) state_.tile_aggregates.clear(tile_); // mutant: wave-clear
        simt::tell<simt::news::ready, Warps + 1>();                         // mutant: wave-ready
      }
    }
    /// The groups before the tile are shared out among the warps.
    template <class Operator>
    LOOKBACK_DEVICE maybe<T> prefix(const maybe<T> &aggregate, Operator &op,
                                    lane_exchange<T> &exchange) const {
      constexpr int window = 2; // groups that a warp reads at once: 512 tiles for 8 warps
      const int lane = simt::lane_index(), warp = simt::warp_index();
      const unsigned group = tile_ / group_tiles;
      const int mine = static_cast<int>(tile_ % group_tiles);
      if constexpr (settles) {
        if (!shared_.is_known)
          simt::be_told<simt::news::complete, Warps + SettlingWarps>(); // mutant: settled-told
        if (is_dropped()) return {};
      }
      if (simt::thread_index() == 0 && aggregate.exists())
        state_.tile_aggregates.publish(tile_, aggregate.value());
      if constexpr (!settles)
        simt::be_told<simt::news::complete, Warps + 1>(); // words are clear // mutant: wave-told
      for (unsigned first = warp; first <= group; first += Warps * window) {
        uninitialized_array<T, window> aggregates; // (groups)
        reduce_aggregates(state_.tile_aggregates, first, Warps, tile_, aggregates, op, exchange);
        LOOKBACK_UNROLL
        for (int u = 0; u < window; ++u) {
          const unsigned seen = first + u * Warps;
          if (seen < group && lane == 0) construct(shared_.groups[seen], aggregates[u]);
          if (seen == group && mine > 0 && lane == 0) construct(shared_.within[0], aggregates[u]);
        }
      }
      simt::synchronize_warps<Warps>(); // mutant: wave-groups

      maybe<T> prefix; // computed by every thread, to save a barrier
      if constexpr (Problem::initial_type::exists)
        prefix.set(initial_of(problem_, shared_.initial[0]));
      if (group > 0) prefix.append(op, shared_.groups[0]); // not in the loop: now a prefix exists
      for (unsigned g = 1; g < group; ++g) prefix.append(op, shared_.groups[g]);
      if (mine > 0) prefix.append(op, shared_.within[0]);
      return prefix;
    }

    /// Whether the tile is not to be scanned now, since not all blocks take part: it may be another
    /// block's, and this one may have read results instead of items. Called after prefix().
    LOOKBACK_DEVICE bool is_dropped() const {
      if constexpr (settles) {
        const unsigned all = tiles_of_grid(problem_);
        return !shared_.is_known &&
               shared_.here.place_of(tile_, all).all != all; // mutant: settled-all
      } else {
        return false;
      }
    }

  private:
    const Problem &problem_;
    const state_type &state_;
    const unsigned tile_;
    storage &shared_;
  };
};
using wave = wave_of_blocks<0>;
template <int SettlingWarps>
using settling_wave = wave_of_blocks<SettlingWarps>;

/// Whether a carry may drop a tile that has been reduced.
template <class Carry>
inline constexpr bool may_drop = false;
template <int SettlingWarps>
inline constexpr bool may_drop<wave_of_blocks<SettlingWarps>> = SettlingWarps > 0;

} // namespace carry
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
