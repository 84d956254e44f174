// SPDX-License-Identifier: MIT
// One launch of each kernel, and what the device must be asked before it: once for each kernel and device, not for each call.
#pragma once

#include <lookback/core/standard.cuh>
#include <lookback/device/decoupled_look_back.cuh>
#include <lookback/device/look_ahead.cuh>
#include <lookback/dispatch/device.cuh>
#include <lookback/dispatch/tuning.cuh>
#include <lookback/dispatch/workspace.cuh>

#include <cuda_runtime_api.h>

namespace lookback::detail {

// Every translation unit has kernels of its own, built for its own architectures, so what is said of a kernel below has internal
// linkage.
#if defined(__CUDA_ARCH_LIST__)
constexpr int built_architectures[] = {__CUDA_ARCH_LIST__}; // sorted
#else
constexpr int built_architectures[] = {0};
#endif
namespace {
struct this_translation_unit;
}

/// Whether every architecture in this binary waits for its predecessor inside the kernel, so that the scan's launch may
/// overlap the state's initialisation. A binary that could fall back to older code must not.
constexpr bool launches_may_overlap = built_architectures[0] >= 900;

/// Whether the code of `kernel` that the device runs is for sm_90: older code of these kernels is empty.
template <class Kernel>
cudaError_t ask_for_sm_90_code(Kernel kernel, bool &has) {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel);
  has = status == cudaSuccess && attributes.ptxVersion >= 90;
  return status;
}

/// What a launch asks for beside its grid. A kernel that follows the one that prepares its state may start beside it.
struct launch_attributes {
  cudaLaunchAttribute all[2];
  unsigned count = 0;

  void cluster(unsigned blocks) {
    cudaLaunchAttribute &one = all[count++];
    one.id = cudaLaunchAttributeClusterDimension;
    one.val.clusterDim.x = blocks;
    one.val.clusterDim.y = one.val.clusterDim.z = 1;
  }
  void cooperative() {
    cudaLaunchAttribute &one = all[count++];
    one.id = cudaLaunchAttributeCooperative;
    one.val.cooperative = 1;
  }
  void overlaps_previous() {
    if (!launches_may_overlap) return;
    cudaLaunchAttribute &one = all[count++];
    one.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    one.val.programmaticStreamSerializationAllowed = 1;
  }
};

inline cudaLaunchConfig_t launch_of(unsigned blocks, int warps, std::size_t shared_bytes, launch_attributes &attributes,
                                    cudaStream_t stream) {
  cudaLaunchConfig_t launch{};
  launch.stream = stream;
  launch.gridDim = dim3(blocks);
  launch.blockDim = dim3(warps * simt::warp_threads);
  launch.dynamicSmemBytes = shared_bytes;
  launch.attrs = attributes.all;
  launch.numAttrs = attributes.count;
  return launch;
}

/// The ways to the same bits.
enum class path { fastest, cluster, wave, look_back, look_ahead };

/// Empties the cells and saves `saved`, in a kernel of its own before the scan.
template <class Problem, class Saved>
LOOKBACK_HOST_INLINE cudaError_t launch_prepare(const workspace<Problem> &layout, char *base, const Saved &saved,
                                                unsigned tiles, cudaStream_t stream) {
  const std::size_t words = layout.zeroed_bytes() / sizeof(std::uint64_t);
  auto *const zeroed = reinterpret_cast<std::uint64_t *>(base);
  const auto blocks = std::min(static_cast<unsigned>((words - 1) / prepare_threads + 1), prepare_blocks_at_most);
  launch_attributes none;
  const cudaLaunchConfig_t launch = launch_of(blocks, prepare_threads / simt::warp_threads, 0, none, stream);
  return cudaLaunchKernelEx(&launch, prepare_kernel<Saved>, saved, tiles, zeroed, words);
}

/// One tile, tiles that are one cluster or one wave, or the look-back: the kernel says which, and `by` what its blocks are.
template <class Problem, class Tuning>
LOOKBACK_HOST_INLINE cudaError_t launch_tiles(const Problem &problem,
                                              const tile_state<typename Problem::accumulator> &state, std::uint64_t n,
                                              path by, cudaStream_t stream) {
  constexpr look_back_tuning tuning = Tuning::value;
  using storage = tile_storage<Problem, Tuning>;
  static_assert(fits<Problem, Tuning>, "this strategy does not support the problem");
  const auto tiles = static_cast<unsigned>(Problem::shape::tiles(n));
  launch_attributes attributes;
  const bool is_cluster = by == path::cluster && tuning.where == look::around;
  if (is_cluster) attributes.cluster(tiles);
  if (tuning.is_together() && !is_cluster) attributes.cooperative();
  if (tuning.where == look::back) attributes.overlaps_previous();
  const int warps = is_cluster ? tuning.warps : tuning.block_warps();
  const cudaLaunchConfig_t launch = launch_of(tiles, warps, sizeof(storage), attributes, stream);
  return cudaLaunchKernelEx(&launch, decoupled_look_back_kernel<Problem, Tuning>, problem, state, n);
}

/// A scan of large elements, with its state prepared if there is more than one tile.
template <class Problem>
LOOKBACK_HOST_INLINE cudaError_t launch_large(const Problem &problem,
                                              const tile_state<typename Problem::accumulator> &state, std::uint64_t n,
                                              cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>(Problem::shape::tiles(n));
  launch_attributes attributes;
  if (tiles > 1) attributes.overlaps_previous();
  const cudaLaunchConfig_t launch =
      launch_of(tiles, 1, sizeof(typename large_scan<Problem>::storage), attributes, stream);
  return cudaLaunchKernelEx(&launch, large_scan_kernel<Problem>, problem, state, n);
}

/// The look-back, behind the kernel that prepares its state in `base`.
template <class Problem>
cudaError_t launch_look_back(Problem problem, const workspace<Problem> &layout, char *base, std::uint64_t n,
                             cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>(Problem::shape::tiles(n));
  const auto launch = [&](const auto &saved, const auto &scanned) {
    using scanned_type = std::decay_t<decltype(scanned)>;
    const cudaError_t status = launch_prepare(layout, base, saved, tiles, stream);
    if (status != cudaSuccess) return status;
    if constexpr (is_large<scanned_type>)
      return launch_large(scanned, layout.state(base), n, stream);
    else
      return launch_tiles<scanned_type, look_back_tiles<scanned_type>>(scanned, layout.state(base), n, path::look_back,
                                                                       stream);
  };
  static_assert(!reads_initial<Problem> || !boundary_of<typename Problem::input_type>::exists,
                "a scan by key must not read its initial value on the device");
  if constexpr (reads_initial<Problem>) {
    auto *const place = layout.initial(base);
    return launch(initial_to_save_at(place, problem), with_initial_at(place, problem));
  } else if constexpr (boundary_of<typename Problem::input_type>::exists) {
    problem.input.bind_boundary(layout.boundary(base));
    return launch(problem.input, problem);
  } else {
    return launch(no_initial{}, problem);
  }
}

/// `ask()` once for each device; the same when racing first calls ask twice. What could not be answered is asked again, and `Worst`
/// until then.
template <class Ask, unsigned Worst, class = this_translation_unit>
class asked_once {
public:
  static unsigned of(const device_facts &device) {
    static std::atomic<unsigned> known[device_facts::remembered]; // the answer + 1
    const bool remembers = device.ordinal < device_facts::remembered;
    const unsigned found = remembers ? known[device.ordinal].load(std::memory_order_relaxed) : 0;
    if (found != 0) return found - 1;
    unsigned answer = Worst;
    if (Ask::ask(device, answer) != cudaSuccess) {
      cudaGetLastError(); // a device that cannot is no error of the caller's
      return Worst;
    }
    if (remembers) known[device.ordinal].store(answer + 1, std::memory_order_relaxed);
    return answer;
  }
};

/// Tiles that one cluster of this kernel can have on this device.
template <class Problem, class Tuning>
struct largest_cluster : asked_once<largest_cluster<Problem, Tuning>, 1> {
  static cudaError_t ask(const device_facts &device, unsigned &tiles) {
    const auto kernel = decoupled_look_back_kernel<Problem, Tuning>;
    if (!device.pipelines) return cudaSuccess;
    bool has_code = false;
    cudaError_t status = ask_for_sm_90_code(kernel, has_code);
    if (!has_code) return status;
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (status != cudaSuccess) return status;
    launch_attributes none;
    const cudaLaunchConfig_t launch =
        launch_of(cluster_tiles_at_most, Tuning::value.warps, sizeof(tile_storage<Problem, Tuning>), none, nullptr);
    int size = 1;
    status = cudaOccupancyMaxPotentialClusterSize(&size, kernel, &launch);
    if (status == cudaSuccess) tiles = std::min(static_cast<unsigned>(std::max(size, 1)), cluster_tiles_at_most);
    return status;
  }
};

/// Tiles that this device can hold at once.
template <class Problem, class Tuning>
struct largest_wave : asked_once<largest_wave<Problem, Tuning>, 0> {
  static cudaError_t ask(const device_facts &device, unsigned &tiles) {
    if (!device.cooperates) return cudaSuccess;
    int blocks = 0;
    const cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, decoupled_look_back_kernel<Problem, Tuning>, Tuning::value.block_warps() * simt::warp_threads,
        sizeof(tile_storage<Problem, Tuning>));
    constexpr unsigned at_most = wave_groups_at_most * Problem::shape::group_tiles;
    tiles = std::min(static_cast<unsigned>(blocks * device.multiprocessors), at_most);
    return status;
  }
};

/// Blocks of the pipeline that a multiprocessor of this device can hold: one or none. Its shared memory must be asked for.
template <class Problem, class Tuning>
struct can_launch_look_ahead : asked_once<can_launch_look_ahead<Problem, Tuning>, 0> {
  static cudaError_t ask(const device_facts &device, unsigned &blocks) {
    constexpr int bytes = sizeof(look_ahead_storage<Problem, Tuning>);
    const auto kernel = look_ahead_kernel<Problem, Tuning>;
    if (!device.pipelines || device.shared_bytes < bytes) return cudaSuccess;
    bool has_code = false;
    const cudaError_t status = ask_for_sm_90_code(kernel, has_code);
    if (!has_code) return status;
    blocks = 1;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  }
};

/// The pipeline: as many blocks as the device has multiprocessors.
template <class Problem, class Tuning>
LOOKBACK_HOST_INLINE cudaError_t launch_look_ahead(const Problem &problem,
                                                   const tile_state<typename Problem::accumulator> &state,
                                                   std::uint64_t n, const device_facts &device, cudaStream_t stream) {
  launch_attributes attributes;
  attributes.cooperative();
  const auto blocks =
      std::min(static_cast<unsigned>(Problem::shape::tiles(n)), static_cast<unsigned>(device.multiprocessors));
  const cudaLaunchConfig_t launch =
      launch_of(blocks, Tuning::value.warps(), sizeof(look_ahead_storage<Problem, Tuning>), attributes, stream);
  return cudaLaunchKernelEx(&launch, look_ahead_kernel<Problem, Tuning>, problem, state, n);
}

} // namespace lookback::detail
