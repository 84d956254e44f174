// SPDX-License-Identifier: MIT
// As many tiles as are resident at once: a cooperative launch with one block a tile
// (carry/wave_carry.cuh). A small wave has more warps a tile. A large wave has fewer, so that more
// tiles are resident: it takes 265 to 528 tiles on an H200. With has_short_kernels, all waves have
// one kernel, with the warps of a large one.
#pragma once

#include <lookback/carry/look_ahead_carry.cuh>
#include <lookback/strategy/tree_tiles.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// One warp of each block waits for the grid.
template <class Problem, class Rows>
struct small_wave_block {
  using rows = Rows;
  template <class Row>
  using of =
      tile_block<Problem, carry::cluster_or_wave, typename Row::template small_wave<Problem>, 1>;
  using here = of<compiled_row<Rows>>;
};
template <class Problem, class Rows>
struct large_wave_block {
  using rows = Rows;
  template <class Row>
  using of = tile_block<Problem, carry::wave, typename Row::template large_wave<Problem>, 1>;
  using here = of<compiled_row<Rows>>;
};

/// The kernel of a small wave and of a cluster, and with has_short_kernels of every wave. Launched
/// as a cluster, its blocks have no warp that waits for the grid.
template <class Problem, class Rows>
LOOKBACK_KERNEL((small_wave_block<Problem, Rows>::here::threads),
                (small_wave_block<Problem, Rows>::here::resident))
cluster_or_wave_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                       const scan_state<typename Problem::accumulator> state) {
  scan_tiles<typename small_wave_block<Problem, Rows>::here, carry::cluster_or_wave,
             has_short_kernels<Problem> ? code_for::both : code_for::fast>(problem, state);
}
template <class Problem, class Rows>
LOOKBACK_KERNEL((large_wave_block<Problem, Rows>::here::threads),
                (large_wave_block<Problem, Rows>::here::resident))
wave_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
            const scan_state<typename Problem::accumulator> state) {
  scan_tiles<typename large_wave_block<Problem, Rows>::here, carry::wave, code_for::both>(problem,
                                                                                          state);
}

/// The block and the kernel of the largest wave.
template <class Problem, class Rows>
using largest_wave_block =
    std::conditional_t<has_short_kernels<Problem>, small_wave_block<Problem, Rows>,
                       large_wave_block<Problem, Rows>>;
template <class Problem, class Rows>
auto largest_wave_kernel() {
  if constexpr (has_short_kernels<Problem>)
    return cluster_or_wave_kernel<Problem, Rows>;
  else
    return wave_kernel<Problem, Rows>;
}

template <class Rows>
struct wave : tree_strategy<Rows> {
  static constexpr const char *name = "wave";
  static constexpr bool needs_residency = true;
  template <class Problem, class Row = typename Rows::template at<0>>
  static constexpr bool supports =
      !is_large<Problem, Rows> && small_wave_block<Problem, Rows>::template of<Row>::fits &&
      large_wave_block<Problem, Rows>::template of<Row>::fits;

  template <class Problem, class Launch>
  static const char *fits(const Problem &problem, Launch &launch) {
    return holds<largest_wave_block<Problem, Rows>>(largest_wave_kernel<Problem, Rows>(),
                                                    problem.tiles(), launch)
               ? nullptr
               : "more tiles than are resident at once";
  }
  template <class Problem, class Launch>
  static void run(const Problem &problem, temporary_memory &memory, Launch &launch) {
    const std::uint64_t tiles = problem.tiles();
    const workspace<Problem> in(memory, static_cast<unsigned>(tiles));
    const launch_grid grid{tiles, residency::grid}; // mutant: cooperative
    const auto small = cluster_or_wave_kernel<Problem, Rows>;
    if constexpr (!has_short_kernels<Problem>) {
      const auto large = wave_kernel<Problem, Rows>;
      if (!holds<small_wave_block<Problem, Rows>>(small, tiles, launch))
        return launch(large, launch.template shape<large_wave_block<Problem, Rows>>(large), grid,
                      problem, in.state);
    }
    launch(small, launch.template shape<small_wave_block<Problem, Rows>>(small), grid, problem,
           in.state);
  }

private:
  template <class Block, class Problem, class State, class Launch>
  static bool holds(void (*kernel)(Problem, State), std::uint64_t tiles, Launch &launch) {
    return tiles <= wave_groups_at_most * Problem::shape::group_tiles &&
           tiles <= launch.template resident_blocks<Block>(kernel);
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
