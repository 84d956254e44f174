// SPDX-License-Identifier: MIT
// From a problem to a launch: pick the path, check the storage, launch.
#pragma once

#include <lookback/device/decoupled_look_back.cuh>
#include <lookback/dispatch/tuning.cuh>
#include <lookback/dispatch/workspace.cuh>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>

namespace lookback::detail {

/// Whether every architecture in this build waits for its predecessor inside the kernel, so that the scan's launch may
/// overlap the state's initialisation. A binary that could fall back to older code must not.
#if defined(__CUDA_ARCH_LIST__)
inline constexpr int built_architectures[] = {__CUDA_ARCH_LIST__};
inline constexpr bool launches_may_overlap = built_architectures[0] >= 900; // the list is sorted
#else
inline constexpr bool launches_may_overlap = false;
#endif

/// Runs `problem` over n elements on `stream`, in the two phases of CUB: with `storage` null, only writes to `bytes` how
/// much storage is needed.
///
/// Nothing is allocated and nothing synchronises; a stream that is being captured records two kernel nodes.
/// Returns cudaErrorInvalidValue for n < 0 and for storage that is too small; any alignment of it will do.
template <class Problem>
cudaError_t scan(void *storage, std::size_t &bytes, Problem problem, std::int64_t n, cudaStream_t stream) {
  using shape = typename Problem::shape;
  constexpr look_back_tuning few = few_tiles(shape::tile_rows), many = many_tiles(shape::tile_rows);
  using few_block = tile_scan<Problem, few.warps>;
  using many_block = tile_scan<Problem, many.warps>;
  static_assert(sizeof(typename few_block::storage) <= 48 * 1024,
                "lookback: elements and accumulator are too large for a block's shared memory");
  if (n < 0) return cudaErrorInvalidValue;
  const std::uint64_t all_tiles = shape::tiles(static_cast<std::uint64_t>(n));
  if (all_tiles > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) return cudaErrorInvalidValue;
  const auto tiles = static_cast<unsigned>(all_tiles);
  const workspace<Problem> layout(tiles);
  if (storage == nullptr) {
    bytes = layout.bytes();
    return cudaSuccess;
  }
  if (bytes < layout.bytes()) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;

  cudaLaunchConfig_t launch{};
  launch.stream = stream;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  tile_state<typename Problem::accumulator> state;
  if (tiles > 1) {
    char *const base = layout.align(storage);
    state = layout.state(base);
    std::size_t words = layout.zeroed_bytes() / sizeof(std::uint64_t);
    launch.blockDim = dim3(prepare_threads);
    launch.gridDim = dim3(std::min(static_cast<unsigned>((words - 1) / prepare_threads + 1), prepare_blocks_at_most));
    auto *const zeroed = reinterpret_cast<std::uint64_t *>(base);
    cudaError_t status;
    if constexpr (boundary_of<typename Problem::input_type>::exists) {
      problem.input.bind_boundary(layout.boundary(base));
      status = cudaLaunchKernelEx(&launch, prepare_kernel<typename Problem::input_type>, problem.input, tiles, zeroed, words);
    } else {
      status = cudaLaunchKernelEx(&launch, prepare_kernel<no_initial>, no_initial{}, tiles, zeroed, words);
    }
    if (status != cudaSuccess) return status;
    launch.attrs = &overlap;
    launch.numAttrs = launches_may_overlap ? 1 : 0;
  }
  launch.gridDim = dim3(tiles);
  const auto elements = static_cast<std::uint64_t>(n);
  if (tiles >= many_tiles_from) {
    launch.blockDim = dim3(many.warps * simt::warp_threads);
    launch.dynamicSmemBytes = sizeof(typename many_block::storage);
    return cudaLaunchKernelEx(&launch, decoupled_look_back_kernel<Problem, many.warps, many.blocks>, problem, state, elements);
  }
  launch.blockDim = dim3(few.warps * simt::warp_threads);
  launch.dynamicSmemBytes = sizeof(typename few_block::storage);
  return cudaLaunchKernelEx(&launch, decoupled_look_back_kernel<Problem, few.warps, few.blocks>, problem, state, elements);
}

} // namespace lookback::detail
