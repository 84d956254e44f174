// SPDX-License-Identifier: MIT
// Temporary storage for the Thrust doors: a pool a device, which keeps what it once got, so that a call allocates nothing
// anew after the first of its size. The pool is CUDA's own: stream-ordered, thread-safe, and inside a stream capture an
// allocation becomes a node of the graph.
#pragma once

#include <lookback/dispatch/memory_pool.cuh>

namespace lookback {
namespace detail {

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
