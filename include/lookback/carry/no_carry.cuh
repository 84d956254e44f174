// SPDX-License-Identifier: MIT
// A carry defines how a tile publishes its aggregate and learns its prefix. It has:
//
//   is_alone                      whether the tile is the only one
//   draws_tile                    whether a block draws the id of its tile
//   waiting_warps                 warps of a block that scan no rows
//   of_tile<Problem, Warps>       the carry of one tile, which `Warps` warps scan
//     storage                     its part of the block's shared memory
//     of_tile(problem, state, tile, is_last, storage)
//     read_initial()              reads an initial value that may lie in the output
//     arrive<Ordered>()           announces the tile to other blocks while its items are fetched;
//                                 with `Ordered`, after the reads of items that other blocks may
//                                 overwrite
//     prefix(aggregate, op, exchange)
//                                 publishes the aggregate, which the first warp passes unless the
//                                 tile is the last, and returns the prefix, if there is one
//
// Every thread of the `Warps` warps calls these functions, once each and in this order. The
// pipeline's carry (carry/look_ahead_carry.cuh) has another interface, because its tiles do not
// wait for prefixes.
#pragma once

#include <lookback/arch/device_memory.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/core/tile_status.cuh>
#include <lookback/tile/early_initial.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail::carry {

/// One tile alone: its prefix is the initial value.
struct none {
  static constexpr bool is_alone = true, draws_tile = false;
  static constexpr int waiting_warps = 0;

  template <class Problem, int Warps>
  class of_tile {
    using T = typename Problem::accumulator;

  public:
    struct storage {
      uninitialized_array<T, 1> initial; // read early
    };

    LOOKBACK_DEVICE of_tile(const Problem &problem, const scan_state<T> &, unsigned, bool,
                            storage &shared)
        : problem_(problem), shared_(shared) {}

    LOOKBACK_DEVICE void read_initial() const {
      if (simt::thread_index() == 0) detail::read_initial(problem_, shared_.initial[0]);
    }
    template <bool>
    LOOKBACK_DEVICE void arrive() const {}
    template <class Operator>
    LOOKBACK_DEVICE maybe<T> prefix(const maybe<T> &, Operator &, lane_exchange<T> &) const {
      maybe<T> prefix;
      if constexpr (Problem::initial_type::exists)
        prefix.set(initial_of(problem_, shared_.initial[0]));
      return prefix;
    }

  private:
    const Problem &problem_;
    storage &shared_;
  };
};

} // namespace detail::carry
} // namespace LOOKBACK_ABI
} // namespace lookback
