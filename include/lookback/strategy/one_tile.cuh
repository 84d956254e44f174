// SPDX-License-Identifier: MIT
// One tile: one block, no state.
#pragma once

#include <lookback/strategy/tree_tiles.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class Problem, class Rows>
struct one_tile_block {
  using rows = Rows;
  template <class Row>
  using of = tile_block<Problem, carry::none, typename Row::template one_tile<Problem>>;
  using here = of<compiled_row<Rows>>;
};

template <class Problem, class Rows>
LOOKBACK_KERNEL((one_tile_block<Problem, Rows>::here::threads),
                (one_tile_block<Problem, Rows>::here::resident))
one_tile_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                const scan_state<typename Problem::accumulator> state) {
  scan_tiles<typename one_tile_block<Problem, Rows>::here, carry::none, code_for::fast>(problem,
                                                                                        state);
}

template <class Rows>
struct one_tile : tree_strategy<Rows> {
  static constexpr const char *name = "one_tile";
  static constexpr bool needs_residency = false;
  template <class Problem>
  static constexpr bool supports = !is_large<Problem, Rows>;

  template <class Problem>
  static std::size_t storage(const Problem &) {
    return 0;
  }
  template <class Problem, class Launch>
  static const char *fits(const Problem &problem, Launch &) {
    return problem.tiles() == 1 ? nullptr : "more than one tile";
  }
  template <class Problem, class Launch>
  static void run(const Problem &problem, temporary_memory &, Launch &launch) {
    const auto kernel = one_tile_kernel<Problem, Rows>;
    launch(kernel, launch.template shape<one_tile_block<Problem, Rows>>(kernel), launch_grid{1},
           problem, scan_state<typename Problem::accumulator>{});
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
