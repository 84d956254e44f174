// SPDX-License-Identifier: MIT
// A pool of device memory for each device, from which calls take temporary storage. Apart from
// memory.cuh, whose standard headers would be a tenth of the CUB door's time to compile.
#pragma once

#include <lookback/dispatch/device.cuh>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Allows this thread to make a pool or to allocate while streams are being captured. Neither is a
/// stream operation, so no capture misses anything.
class capture_is_unharmed {
public:
  capture_is_unharmed() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~capture_is_unharmed() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  capture_is_unharmed(const capture_is_unharmed &) = delete;
  capture_is_unharmed &operator=(const capture_is_unharmed &) = delete;

private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Makes a pool of the device `ordinal`, which keeps everything that it once got.
inline cudaError_t make_pool(int ordinal, cudaMemPool_t &pool) {
  const capture_is_unharmed relaxed;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  cudaError_t status = cudaMemPoolCreate(&pool, &properties);
  if (status != cudaSuccess) return status;
  std::uint64_t keep_everything = std::numeric_limits<std::uint64_t>::max();
  status = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_everything);
  if (status != cudaSuccess) cudaMemPoolDestroy(pool);
  return status;
}

/// lookback's pool on the current device, made at the first call; cudaErrorNotSupported where
/// devices have no pools, as some virtual GPUs: a policy with an allocator needs none. Never
/// destroyed: at exit the driver may be gone first. Of racing first calls one makes the pool that
/// all of them use.
inline cudaError_t memory_pool(cudaMemPool_t &pool) {
  constexpr int remembered = device_facts::remembered;
  static std::atomic<cudaMemPool_t> pools[remembered];
  int ordinal = 0;
  cudaError_t status = cudaGetDevice(&ordinal);
  if (status != cudaSuccess) return status;
  if (ordinal >= remembered) return cudaDeviceGetMemPool(&pool, ordinal);
  pool = pools[ordinal].load(std::memory_order_acquire);
  if (pool != nullptr) return cudaSuccess;
  cudaMemPool_t made{};
  status = make_pool(ordinal, made);
  if (status != cudaSuccess) return status;
  if (pools[ordinal].compare_exchange_strong(pool, made, std::memory_order_acq_rel))
    pool = made;
  else
    status = cudaMemPoolDestroy(made);
  return status;
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
