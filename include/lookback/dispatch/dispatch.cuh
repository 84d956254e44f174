// SPDX-License-Identifier: MIT
// From a problem to a launch: check the storage, pick the path, launch.
#pragma once

#include <lookback/dispatch/launch.cuh>

#include <limits>

namespace lookback::detail {

/// Whether results go where keys are: then the key before a tile may be gone when the tile is read.
template <class Problem>
bool writes_over_keys(const Problem &problem, std::uint64_t n) {
  if constexpr (boundary_of<typename Problem::input_type>::exists) {
    const auto keys = reinterpret_cast<std::uintptr_t>(problem.input.keys());
    const auto output = reinterpret_cast<std::uintptr_t>(problem.output);
    return keys < output + n * sizeof(*problem.output) && output < keys + n * sizeof(*problem.input.keys());
  } else {
    return false;
  }
}

/// The path that a call takes, or cudaErrorNotSupported if `by` was asked for and cannot take it.
template <class Problem>
LOOKBACK_HOST_INLINE cudaError_t choose_path(const Problem &problem, std::uint64_t n, unsigned tiles, path &by,
                                             device_facts &device) {
  const path wanted = by;
  by = path::look_back;
  if (tiles <= 1 || wanted == path::look_back) return cudaSuccess;
  const cudaError_t status = current_device(device);
  if (status != cudaSuccess) return status;
  const auto may_be = [&](path one) { return by == path::look_back && (wanted == path::fastest || wanted == one); };
  if constexpr (has_waves<Problem>) {
    if (can_send<typename Problem::accumulator>)
      if (may_be(path::cluster) && tiles <= cluster_tiles_at_most &&
          tiles <= largest_cluster<Problem, small_wave<Problem>>::of(device))
        by = path::cluster;
    if (may_be(path::wave) && tiles <= largest_wave<Problem, large_wave<Problem>>::of(device)) by = path::wave;
  }
  if constexpr (can_look_ahead<Problem>::value)
    if (may_be(path::look_ahead) && !writes_over_keys(problem, n) &&
        can_launch_look_ahead<Problem, look_ahead_row<Problem>>::of(device) != 0)
      by = path::look_ahead;
  return wanted == path::fastest || wanted == by ? cudaSuccess : cudaErrorNotSupported;
}

/// What a launch is refused with whose blocks must be resident together: the device lends its caller fewer multiprocessors than
/// it has.
inline bool is_too_large(cudaError_t status) {
  return status == cudaErrorCooperativeLaunchTooLarge || status == cudaErrorLaunchOutOfResources ||
         status == cudaErrorInvalidClusterSize || status == cudaErrorInvalidConfiguration;
}

/// Launches the scan of one tile, or by a path that takes one kernel, with its state in `state`.
template <class Problem>
cudaError_t launch_alone(const Problem &problem, const tile_state<typename Problem::accumulator> &state, std::uint64_t n,
                        path by, const device_facts &device, cudaStream_t stream) {
  const std::uint64_t tiles = Problem::shape::tiles(n);
  if constexpr (is_large<Problem>) {
    return launch_large(problem, state, n, stream);
  } else {
    if (tiles == 1) return launch_tiles<Problem, one_tile<Problem>>(problem, state, n, by, stream);
    if constexpr (can_look_ahead<Problem>::value)
      if (by == path::look_ahead)
        return launch_look_ahead<Problem, look_ahead_row<Problem>>(problem, state, n, device, stream);
    if constexpr (has_waves<Problem>) {
      if (by == path::cluster || tiles <= largest_wave<Problem, small_wave<Problem>>::of(device))
        return launch_tiles<Problem, small_wave<Problem>>(problem, state, n, by, stream);
      return launch_tiles<Problem, large_wave<Problem>>(problem, state, n, by, stream);
    }
    return cudaErrorNotSupported; // no path but the look-back
  }
}

/// Runs `problem` over n elements on `stream`, in the two phases of CUB: with `storage` null, only writes to `bytes` how
/// much storage is needed.
///
/// Nothing is allocated and nothing synchronises; a stream that is being captured records at most two kernel nodes.
/// Returns cudaErrorInvalidValue for n < 0 and for storage that is too small; any alignment of it will do. A `by` other
/// than `fastest` that cannot take the call is cudaErrorNotSupported. One tile is one tile by any path.
template <class Problem>
cudaError_t scan(void *storage, std::size_t &bytes, const Problem &problem, std::int64_t n, cudaStream_t stream,
                 path by = path::fastest) {
  using shape = typename Problem::shape;
  static_assert(sizeof(typename shaped_by<typename Problem::accumulator>::type) <= large_bytes_at_most &&
                    sizeof(typename Problem::shaping) <= large_bytes_at_most,
                "lookback: elements and accumulators must not be larger than 4096 bytes");
  if (n < 0) return cudaErrorInvalidValue;
  const auto elements = static_cast<std::uint64_t>(n);
  const std::uint64_t all_tiles = shape::tiles(elements);
  if (all_tiles > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) return cudaErrorInvalidValue;
  const auto tiles = static_cast<unsigned>(all_tiles);
  const workspace<Problem> layout(tiles);
  if (storage == nullptr) {
    bytes = layout.bytes();
    return cudaSuccess;
  }
  if (bytes < layout.bytes()) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;

  device_facts device;
  cudaError_t status = choose_path(problem, elements, tiles, by, device);
  if (status != cudaSuccess) return status;
  char *const base = layout.align(storage);
  if (tiles > 1 && by != path::look_back && captures_for_a_part(stream)) by = path::look_back;
  if (tiles == 1 || by != path::look_back) {
    status = launch_alone(problem, tiles > 1 ? layout.state(base) : tile_state<typename Problem::accumulator>{}, elements,
                          by, device, stream);
    if (tiles == 1 || !is_too_large(status)) return status;
    cudaGetLastError(); // the look-back then crawls on with what there is
  }
  return launch_look_back(problem, layout, base, elements, stream);
}

} // namespace lookback::detail
