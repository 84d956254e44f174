// SPDX-License-Identifier: MIT
// What the dispatch has to know about the current device, asked once a device.
#pragma once

#include <lookback/core/config.cuh>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

struct device_facts {
  static constexpr int remembered = 64; // devices that we keep facts of
  int ordinal = 0;
  int multiprocessors = 0;
  int shared_bytes = 0;    // a block may have, having asked for it
  bool cooperates = false; // runs kernels whose blocks are all resident
  bool pipelines = false;  // runs sm_80 code, of kernels that are built for it
};

/// Facts of the current device. Racing first calls fill in the same values.
inline cudaError_t current_device(device_facts &facts) {
  constexpr int remembered = device_facts::remembered;
  // multiprocessors | shared bytes << 16 | cooperates << 61 | pipelines << 62 | 1 << 63
  static std::atomic<std::uint64_t> known[remembered];
  cudaError_t status = cudaGetDevice(&facts.ordinal);
  if (status != cudaSuccess) return status;
  std::uint64_t packed =
      facts.ordinal < remembered ? known[facts.ordinal].load(std::memory_order_relaxed) : 0;
  if (packed == 0) {
    int major = 0, cooperative = 0;
    const struct {
      int *value;
      cudaDeviceAttr name;
    } wanted[] = {{&facts.multiprocessors, cudaDevAttrMultiProcessorCount},
                  {&facts.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin},
                  {&major, cudaDevAttrComputeCapabilityMajor},
                  {&cooperative, cudaDevAttrCooperativeLaunch}};
    for (const auto &one : wanted) {
      status = cudaDeviceGetAttribute(one.value, one.name, facts.ordinal);
      if (status != cudaSuccess) return status;
    }
    const bool pipelines = major >= 8;
    packed = static_cast<std::uint64_t>(facts.multiprocessors) |
             static_cast<std::uint64_t>(facts.shared_bytes) << 16 |
             std::uint64_t{cooperative != 0} << 61 | std::uint64_t{pipelines} << 62 |
             std::uint64_t{1} << 63;
    if (facts.ordinal < remembered) known[facts.ordinal].store(packed, std::memory_order_relaxed);
  }
  facts.multiprocessors = static_cast<int>(packed & 0xffff);
  facts.shared_bytes = static_cast<int>(packed >> 16 & 0x1fffffff);
  facts.cooperates = (packed >> 61 & 1) != 0;
  facts.pipelines = (packed >> 62 & 1) != 0;
  return cudaSuccess;
}

/// Whether `stream` is being captured and has a part of the device alone, a green context's.
/// Launches are then taken down whatever room they need, and the graph could not be made of them.
inline bool captures_for_a_part(cudaStream_t stream) {
#if CUDART_VERSION >= 12050
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  void *entry = nullptr, *part = nullptr;
  cudaDriverEntryPointQueryResult found;
  const bool may = cudaStreamIsCapturing(stream, &capturing) == cudaSuccess &&
                   (capturing == cudaStreamCaptureStatusNone ||
                    cudaGetDriverEntryPointByVersion("cuStreamGetGreenCtx", &entry, 12040,
                                                     cudaEnableDefault, &found) == cudaSuccess);
  if (!may) cudaGetLastError(); // what follows is refused for what it is, if it is
  using function = int (*)(cudaStream_t, void **);
  return entry != nullptr && reinterpret_cast<function>(entry)(stream, &part) == 0 &&
         part != nullptr;
#else
  static_cast<void>(stream);
  return false;
#endif
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
