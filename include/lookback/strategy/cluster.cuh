// SPDX-License-Identifier: MIT
// Up to 16 tiles: one cluster, whose blocks send each other their aggregates
// (carry/cluster_carry.cuh).
#pragma once

#include <lookback/strategy/wave.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The block of the small wave's kernel, without the warp that waits for the grid.
template <class Problem, class Rows>
struct cluster_block {
  using rows = Rows;
  template <class Row>
  using of =
      tile_block<Problem, carry::cluster_or_wave, typename Row::template small_wave<Problem>>;
};

template <class Rows>
struct cluster : tree_strategy<Rows> {
  static constexpr const char *name = "cluster";
  static constexpr bool needs_residency = true;
  template <class Problem>
  static constexpr bool supports =
      wave<Rows>::template supports<Problem> &&can_send<typename Problem::accumulator>;

  template <class Problem>
  static std::size_t storage(const Problem &) {
    return 0;
  }
  template <class Problem, class Launch>
  static const char *fits(const Problem &problem, Launch &launch) {
    const std::uint64_t tiles = problem.tiles();
    if (tiles > cluster_tiles_at_most) return "more than 16 tiles";
    return tiles <= launch.template cluster_blocks<cluster_block<Problem, Rows>>(
                        cluster_or_wave_kernel<Problem, Rows>)
               ? nullptr
               : "more tiles than a cluster of this device has blocks";
  }
  template <class Problem, class Launch>
  static void run(const Problem &problem, temporary_memory &, Launch &launch) {
    const auto kernel = cluster_or_wave_kernel<Problem, Rows>;
    launch(kernel, launch.template shape<cluster_block<Problem, Rows>>(kernel),
           launch_grid{problem.tiles(), residency::cluster}, problem,
           scan_state<typename Problem::accumulator>{});
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
