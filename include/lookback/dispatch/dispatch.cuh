// SPDX-License-Identifier: MIT
// From a problem to a launch: check the storage, pick the path, launch.
#pragma once

#include <lookback/device/decoupled_look_back.cuh>
#include <lookback/device/look_ahead.cuh>
#include <lookback/dispatch/device.cuh>
#include <lookback/dispatch/tuning.cuh>
#include <lookback/dispatch/workspace.cuh>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>

namespace lookback::detail {

/// A cluster has no kernel before it that could save the keys at the boundaries.
template <class Problem>
inline constexpr bool can_cluster = !boundary_of<typename Problem::input_type>::exists;

/// The ways to the same bits.
enum class path { fastest, cluster, look_back_few, look_back_many, look_ahead };

/// Empties the cells and saves the boundary keys, in a kernel of its own before the scan.
template <class Problem>
LOOKBACK_HOST_INLINE cudaError_t launch_prepare(Problem &problem, const workspace<Problem> &layout, char *base,
                                                unsigned tiles, cudaStream_t stream) {
  const std::size_t words = layout.zeroed_bytes() / sizeof(std::uint64_t);
  auto *const zeroed = reinterpret_cast<std::uint64_t *>(base);
  cudaLaunchConfig_t launch{};
  launch.stream = stream;
  launch.blockDim = dim3(prepare_threads);
  launch.gridDim = dim3(std::min(static_cast<unsigned>((words - 1) / prepare_threads + 1), prepare_blocks_at_most));
  if constexpr (boundary_of<typename Problem::input_type>::exists) {
    problem.input.bind_boundary(layout.boundary(base));
    return cudaLaunchKernelEx(&launch, prepare_kernel<typename Problem::input_type>, problem.input, tiles, zeroed,
                              words);
  } else {
    return cudaLaunchKernelEx(&launch, prepare_kernel<no_initial>, no_initial{}, tiles, zeroed, words);
  }
}

/// One tile, tiles that are one cluster, or the look-back: the kernel says which.
template <class Problem, class Tuning>
LOOKBACK_HOST_INLINE cudaError_t launch_look_back(const Problem &problem,
                                                  const tile_state<typename Problem::accumulator> &state,
                                                  std::uint64_t n, cudaStream_t stream) {
  constexpr look_back_tuning tuning = Tuning::value;
  using storage = typename tile_scan<Problem, tuning.warps>::storage;
  static_assert(sizeof(storage) <= 48 * 1024,
                "lookback: elements and accumulator are too large for a block's shared memory");
  cudaLaunchConfig_t launch{};
  launch.stream = stream;
  launch.gridDim = dim3(static_cast<unsigned>(Problem::shape::tiles(n)));
  launch.blockDim = dim3(tuning.warps * simt::warp_threads);
  launch.dynamicSmemBytes = sizeof(storage);
  cudaLaunchAttribute attribute{};
  launch.attrs = &attribute;
  if (tuning.where == look::in_cluster) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = launch.gridDim.x;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    launch.numAttrs = 1;
  } else {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    launch.numAttrs = launches_may_overlap && tuning.where == look::back ? 1 : 0;
  }
  return cudaLaunchKernelEx(&launch, decoupled_look_back_kernel<Problem, Tuning>, problem, state, n);
}

/// Tiles that one cluster of this kernel can have on this device: asked once for each, and the same when asked twice.
template <class Problem, class Tuning>
unsigned largest_cluster(const device_facts &device) {
  static std::atomic<unsigned char> known[device_facts::remembered];
  if (!device.pipelines || device.ordinal >= device_facts::remembered) return 1;
  unsigned char found = known[device.ordinal].load(std::memory_order_relaxed);
  if (found == 0) {
    const auto kernel = decoupled_look_back_kernel<Problem, Tuning>;
    cudaLaunchConfig_t launch{};
    launch.gridDim = dim3(cluster_tiles_at_most);
    launch.blockDim = dim3(Tuning::value.warps * simt::warp_threads);
    launch.dynamicSmemBytes = sizeof(typename tile_scan<Problem, Tuning::value.warps>::storage);
    int size = 1;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (cudaOccupancyMaxPotentialClusterSize(&size, kernel, &launch) != cudaSuccess) size = 1;
    cudaGetLastError(); // a device without clusters is no error of the caller's
    found = static_cast<unsigned char>(std::min(std::max(size, 1), static_cast<int>(cluster_tiles_at_most)));
    known[device.ordinal].store(found, std::memory_order_relaxed);
  }
  return found;
}

/// The pipeline, where look_ahead_applies().
template <class Problem>
LOOKBACK_HOST_INLINE cudaError_t launch_look_ahead(const Problem &problem,
                                                   const tile_state<typename Problem::accumulator> &state,
                                                   std::uint64_t n, const device_facts &device, cudaStream_t stream) {
  using tuning = look_ahead_row;
  using storage = look_ahead_storage<Problem, tuning>;
  constexpr int bytes = sizeof(storage);
  const auto kernel = look_ahead_kernel<Problem, tuning>;
  // The limit on shared memory belongs to the kernel and the device: raised once for each, and twice by a race is no harm.
  static std::atomic<std::uint64_t> raised{0};
  const std::uint64_t mine = device.ordinal < 64 ? std::uint64_t{1} << device.ordinal : 0;
  if (mine == 0 || (raised.load(std::memory_order_relaxed) & mine) == 0) {
    const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess) return status;
    raised.fetch_or(mine, std::memory_order_relaxed);
  }
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t launch{};
  launch.stream = stream;
  launch.gridDim =
      dim3(std::min(static_cast<unsigned>(Problem::shape::tiles(n)), static_cast<unsigned>(device.multiprocessors)));
  launch.blockDim = dim3(tuning::value.warps() * simt::warp_threads);
  launch.dynamicSmemBytes = bytes;
  launch.attrs = &cooperative;
  launch.numAttrs = 1;
  return cudaLaunchKernelEx(&launch, kernel, problem, state, n);
}

/// Whether the pipeline can take this call: sm_90 code on a device that has the shared memory, and aligned input.
template <class Problem>
bool look_ahead_applies(const Problem &problem, const device_facts &device) {
  using storage = look_ahead_storage<Problem, look_ahead_row>;
  return device.pipelines && device.shared_bytes >= static_cast<int>(sizeof(storage)) &&
         reinterpret_cast<std::uintptr_t>(problem.input) % 16 == 0;
}

/// The path that a call takes, or cudaErrorNotSupported if `by` was asked for and cannot take it.
template <class Problem>
LOOKBACK_HOST_INLINE cudaError_t choose_path(const Problem &problem, std::uint64_t n, unsigned tiles, path &by,
                                             device_facts &device) {
  const bool may_cluster =
      can_cluster<Problem> && tiles <= cluster_tiles_at_most && (by == path::cluster || by == path::fastest);
  const bool may_look_ahead =
      can_look_ahead<Problem>::value &&
      (by == path::look_ahead || (by == path::fastest && n * sizeof(typename Problem::item) >= look_ahead_from_bytes));
  const path wanted = by;
  by = by == path::look_back_few || by == path::look_back_many ? by
       : tiles >= many_tiles_from                              ? path::look_back_many
                                                               : path::look_back_few;
  if (tiles > 1 && (may_cluster || may_look_ahead)) {
    const cudaError_t status = current_device(device);
    if (status != cudaSuccess) return status;
    if constexpr (can_cluster<Problem>)
      if (may_cluster && tiles <= largest_cluster<Problem, cluster_tiles<Problem>>(device)) by = path::cluster;
    if constexpr (can_look_ahead<Problem>::value)
      if (may_look_ahead && look_ahead_applies(problem, device)) by = path::look_ahead;
  }
  return wanted == path::fastest || wanted == by || tiles <= 1 ? cudaSuccess : cudaErrorNotSupported;
}

/// Runs `problem` over n elements on `stream`, in the two phases of CUB: with `storage` null, only writes to `bytes` how
/// much storage is needed.
///
/// Nothing is allocated and nothing synchronises; a stream that is being captured records at most two kernel nodes.
/// Returns cudaErrorInvalidValue for n < 0 and for storage that is too small; any alignment of it will do. A `by` other
/// than `fastest` that cannot take the call is cudaErrorNotSupported. One tile is one tile by any path.
template <class Problem>
cudaError_t scan(void *storage, std::size_t &bytes, Problem problem, std::int64_t n, cudaStream_t stream,
                 path by = path::fastest) {
  using shape = typename Problem::shape;
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
  tile_state<typename Problem::accumulator> state;
  if (tiles > 1 && by != path::cluster) {
    char *const base = layout.align(storage);
    state = layout.state(base);
    status = launch_prepare(problem, layout, base, tiles, stream);
    if (status != cudaSuccess) return status;
  }
  if constexpr (can_look_ahead<Problem>::value)
    if (by == path::look_ahead) return launch_look_ahead(problem, state, elements, device, stream);
  if (tiles == 1) return launch_look_back<Problem, one_tile<Problem>>(problem, state, elements, stream);
  if constexpr (can_cluster<Problem>)
    if (by == path::cluster) return launch_look_back<Problem, cluster_tiles<Problem>>(problem, state, elements, stream);
  if (by == path::look_back_many)
    return launch_look_back<Problem, many_tiles<Problem>>(problem, state, elements, stream);
  return launch_look_back<Problem, few_tiles<Problem>>(problem, state, elements, stream);
}

} // namespace lookback::detail
