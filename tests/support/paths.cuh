// SPDX-License-Identifier: MIT
// The default strategies, one by one, also where they would not be chosen.
#pragma once

#include <lookback/dispatch/dispatch.cuh>

#include <algorithm>

namespace test {

enum class path { fastest, cluster, wave, look_back, look_ahead };

inline const char *name_of(path by) {
  switch (by) {
  case path::cluster:
    return "cluster";
  case path::wave:
    return "wave";
  case path::look_back:
    return "look-back";
  case path::look_ahead:
    return "look-ahead";
  default:
    return "the fastest";
  }
}

/// Runs a problem over n elements, a number or a device_count, in the two phases of CUB;
/// cudaErrorNotSupported if `by` cannot take it. One tile is one tile by any path.
template <class Problem, class Count>
cudaError_t scan_by(path by, void *storage, std::size_t &bytes, const Problem &problem,
                    const Count &n, lookback::detail::launcher launch) {
  namespace core = lookback::detail;
  using rows = core::measured_tuning;
  switch (by) {
  case path::cluster:
    return core::forced<core::cluster, rows>::scan(storage, bytes, problem, n, launch);
  case path::wave:
    return core::forced<core::wave, rows>::scan(storage, bytes, problem, n, launch);
  case path::look_back:
    return core::first_of<core::one_tile<rows>, core::tree_look_back<rows>,
                          core::warp_tiles<rows>>::scan(storage, bytes, problem, n, launch);
  case path::look_ahead:
    return core::strategies<lookback::look_ahead>::scan(storage, bytes, problem, n, launch);
  default:
    return core::strategies<>::scan(storage, bytes, problem, n, launch);
  }
}

/// Tiles that one wave can have on the current device; 0 if there are no waves of the problem.
template <class Problem>
unsigned largest_wave(const Problem &) {
  namespace core = lookback::detail;
  using rows = core::measured_tuning;
  constexpr unsigned at_most = core::wave_groups_at_most * Problem::shape::group_tiles;
  core::launcher launch(nullptr);
  if constexpr (core::wave<rows>::supports<Problem>)
    return std::min(at_most, launch.resident_blocks<core::largest_wave_block<Problem, rows>>(
                                 core::largest_wave_kernel<Problem, rows>()));
  else
    return 0;
}
/// And those of a wave with more warps a tile, if there is another.
template <class Problem>
unsigned largest_small_wave(const Problem &) {
  namespace core = lookback::detail;
  using rows = core::measured_tuning;
  core::launcher launch(nullptr);
  if constexpr (core::wave<rows>::supports<Problem>)
    return launch.resident_blocks<core::small_wave_block<Problem, rows>>(
        core::cluster_or_wave_kernel<Problem, rows>);
  else
    return 0;
}

} // namespace test
