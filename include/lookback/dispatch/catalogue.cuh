// SPDX-License-Identifier: MIT
// Runs a strategy of the catalogue: sizes its memory, checks it against the device's limits, launches its kernels.
#pragma once

#include <lookback/device/section.cuh>
#include <lookback/dispatch/algorithm.cuh>

#include <string>

namespace lookback::detail {

/// Launches kernels one after the other on a stream, until one cannot be launched.
class kernel_launcher {
public:
  kernel_launcher(cudaStream_t stream, int shared_bytes_at_most) : stream_(stream), limit_(shared_bytes_at_most) {}

  template <class... Parameters, class... Arguments>
  void operator()(void (*kernel)(Parameters...), std::uint64_t blocks, int threads, std::size_t shared_bytes,
                  Arguments... arguments) {
    if (status_ != cudaSuccess) return;
    constexpr std::size_t without_asking = 48 * 1024;
    if (blocks > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
      status_ = cudaErrorInvalidValue;
    else if (shared_bytes > static_cast<std::size_t>(limit_))
      status_ = cudaErrorInvalidConfiguration;
    else if (shared_bytes > without_asking)
      status_ =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
    if (status_ != cudaSuccess) return;
    cudaLaunchConfig_t launch{};
    launch.stream = stream_;
    launch.gridDim = dim3(static_cast<unsigned>(blocks));
    launch.blockDim = dim3(threads);
    launch.dynamicSmemBytes = shared_bytes;
    status_ = cudaLaunchKernelEx(&launch, kernel, static_cast<Parameters>(arguments)...);
  }
  cudaError_t status() const { return status_; }

private:
  cudaStream_t stream_;
  int limit_;
  cudaError_t status_ = cudaSuccess;
};

/// Launches nothing, and remembers the largest demands.
class launch_demands {
public:
  template <class... Parameters, class... Arguments>
  void operator()(void (*)(Parameters...), std::uint64_t, int threads, std::size_t shared, Arguments...) {
    if (threads > block_threads) block_threads = threads;
    if (shared > shared_bytes) shared_bytes = shared;
  }
  int block_threads = 0;
  std::size_t shared_bytes = 0;
};

template <class Strategy, class Problem>
auto sectioned(const Problem &problem) {
  return retiled<Strategy::template section<Problem>::elements>(problem);
}
/// What the strategy would launch for n >= 1 elements; `memory` adds up what it takes.
template <class Strategy, class Problem>
launch_demands demands_of(const Problem &problem, std::uint64_t n, temporary_memory &memory) {
  launch_demands demands;
  run_strategy<Strategy>(sectioned<Strategy>(problem), n, memory, demands);
  return demands;
}

/// As detail::scan, in the two phases of CUB. cudaErrorInvalidConfiguration: the device has not the shared memory that the
/// strategy's threads and items need; cudaErrorInvalidValue: the sections are more than a grid has blocks.
template <class Strategy, class Problem>
cudaError_t scan_by(Strategy, void *storage, std::size_t &bytes, const Problem &problem, std::int64_t n,
                    cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  const auto elements = static_cast<std::uint64_t>(n);
  temporary_memory needed;
  if (n > 0) demands_of<Strategy>(problem, elements, needed);
  const std::size_t wanted = needed.bytes() == 0 ? 1 : needed.bytes() + temporary_memory::alignment - 1;
  if (storage == nullptr) {
    bytes = wanted;
    return cudaSuccess;
  }
  if (bytes < wanted) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  device_facts device;
  const cudaError_t status = current_device(device);
  if (status != cudaSuccess) return status;
  kernel_launcher launch(stream, device.shared_bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(storage);
  constexpr std::size_t alignment = temporary_memory::alignment;
  temporary_memory memory(static_cast<char *>(storage) + (alignment - address % alignment) % alignment);
  run_strategy<Strategy>(sectioned<Strategy>(problem), elements, memory, launch);
  return launch.status();
}

/// What to tell the user when scan_by() returned `status`.
template <class Strategy, class Problem>
std::string why_not(Strategy, cudaError_t status, const Problem &problem, std::int64_t n) {
  device_facts device;
  if (status != cudaErrorInvalidConfiguration || current_device(device) != cudaSuccess)
    return "lookback: launching the scan";
  temporary_memory memory;
  const launch_demands demands = demands_of<Strategy>(problem, static_cast<std::uint64_t>(n), memory);
  return "lookback: the strategy's block of " + std::to_string(demands.block_threads) + " threads needs " +
         std::to_string(demands.shared_bytes) + " bytes of shared memory, and a block of this device has at most " +
         std::to_string(device.shared_bytes) + ": choose fewer threads or fewer items per thread";
}

} // namespace lookback::detail
