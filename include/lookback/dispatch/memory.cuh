// SPDX-License-Identifier: MIT
// Temporary storage for the Thrust doors: a pool a device, which keeps what it once got, so that a call allocates nothing
// anew after the first of its size. The pool is CUDA's own: stream-ordered, thread-safe, and inside a stream capture an
// allocation becomes a node of the graph.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>

namespace lookback {
namespace detail {

/// Making a pool is no stream operation, so it is right in the middle of somebody's capture too.
class capture_is_unharmed {
public:
  capture_is_unharmed() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~capture_is_unharmed() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  capture_is_unharmed(const capture_is_unharmed &) = delete;
  capture_is_unharmed &operator=(const capture_is_unharmed &) = delete;

private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// lookback's pool on the current device, made at the first call; cudaErrorNotSupported where devices have no pools, as some virtual
/// GPUs: a policy with an allocator needs none. Never destroyed: at exit the driver may be gone first.
inline cudaError_t memory_pool(cudaMemPool_t &pool) {
  static std::mutex guard;
  static auto &pools = *new std::map<int, cudaMemPool_t>;
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  const std::lock_guard<std::mutex> lock(guard);
  const auto found = pools.find(device);
  if (found != pools.end()) {
    pool = found->second;
    return cudaSuccess;
  }
  const capture_is_unharmed relaxed;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  status = cudaMemPoolCreate(&pool, &properties);
  if (status != cudaSuccess) return status;
  std::uint64_t keep_everything = std::numeric_limits<std::uint64_t>::max();
  status = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_everything);
  if (status != cudaSuccess) {
    cudaMemPoolDestroy(pool);
    return status;
  }
  pools[device] = pool;
  return cudaSuccess;
}

/// Storage that a stream's work may use until this object is gone from the host's point of view: freed in stream order.
class pooled_storage {
public:
  explicit pooled_storage(cudaStream_t stream) : stream_(stream) {}
  pooled_storage(const pooled_storage &) = delete;
  pooled_storage &operator=(const pooled_storage &) = delete;
  ~pooled_storage() {
    if (address_ != nullptr) cudaFreeAsync(address_, stream_);
  }
  cudaError_t allocate(std::size_t bytes) {
    cudaMemPool_t pool{};
    const cudaError_t status = memory_pool(pool);
    return status != cudaSuccess ? status : cudaMallocFromPoolAsync(&address_, bytes, pool, stream_);
  }
  void *address() const { return address_; }

private:
  cudaStream_t stream_;
  void *address_ = nullptr;
};

} // namespace detail

/// Gives the memory that the Thrust doors keep on the current device back to the driver, save what work in flight uses. Returns the
/// status of CUDA.
inline cudaError_t release_workspace() {
  cudaMemPool_t pool{};
  const cudaError_t status = detail::memory_pool(pool);
  return status != cudaSuccess ? status : cudaMemPoolTrimTo(pool, 0);
}

} // namespace lookback
