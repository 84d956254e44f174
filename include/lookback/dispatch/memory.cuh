// SPDX-License-Identifier: MIT
// Temporary storage for the Thrust doors. Inside a stream capture it belongs to the graph. Outside,
// a call that waits for its own work has a block of memory to itself until then, which calls use
// one after the other. For all others, and for much storage, it comes from a pool for each device:
// CUDA's own, stream-ordered and thread-safe, which keeps its memory, so that a later call of the
// same size allocates nothing.
#pragma once

#include <lookback/core/standard.cuh>
#include <lookback/dispatch/memory_pool.cuh>

#include <memory>
#include <mutex>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Device memory that a graph or a call owns, or that none owns any more.
struct kept_block {
  void *address = nullptr;
  std::size_t bytes = 0;
  int device = 0;
  std::unique_ptr<kept_block> next;
};

/// Blocks that none owns, for graphs or calls to come.
class idle_blocks {
public:
  /// Those of graphs that are gone. They are not freed at once: CUDA reports the end of a graph on
  /// a thread of its own, where no function of CUDA may be called. (Never destroyed: at exit the
  /// driver may be gone first.)
  static idle_blocks &of_graphs() {
    static auto &blocks = *new idle_blocks;
    return blocks;
  }
  /// Those of calls that have ended, apart: a graph would keep one that is far too large for it.
  static idle_blocks &of_calls() {
    static auto &blocks = *new idle_blocks;
    return blocks;
  }
  void put(std::unique_ptr<kept_block> block) {
    const std::lock_guard<std::mutex> lock(guard_);
    block->next = std::move(first_);
    first_ = std::move(block);
  }
  /// The smallest block of `device` that has at least so many bytes; null where there is none.
  std::unique_ptr<kept_block> take(int device, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(guard_);
    std::unique_ptr<kept_block> *best = nullptr;
    for (auto *link = &first_; *link != nullptr; link = &(*link)->next) {
      if ((*link)->device != device || (*link)->bytes < bytes) continue;
      if (best == nullptr || (*link)->bytes < (*best)->bytes) best = link;
    }
    if (best == nullptr) return nullptr;
    auto taken = std::move(*best);
    *best = std::move(taken->next);
    return taken;
  }
  /// Gives the blocks of `device` back to the driver.
  cudaError_t free(int device) {
    cudaError_t status = cudaSuccess;
    while (const auto block = take(device, 0)) {
      const capture_is_unharmed relaxed;
      const cudaError_t freed = cudaFree(block->address);
      if (status == cudaSuccess) status = freed;
    }
    return status;
  }

private:
  std::mutex guard_;
  std::unique_ptr<kept_block> first_;
};

/// The graph that the stream is being captured into; null where it is not being captured.
/// cudaErrorStreamCaptureInvalidated: the capture has failed before. The legacy default stream
/// cannot be captured, and not asking saves 0.08 of 14 us.
inline cudaError_t graph_of(cudaStream_t stream, cudaGraph_t &graph) {
  graph = nullptr;
  if (stream == cudaStreamLegacy) return cudaSuccess;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
#if CUDART_VERSION >= 13000
  const cudaError_t status = cudaStreamGetCaptureInfo(stream, &capture, nullptr, &graph);
#else
  const cudaError_t status = cudaStreamGetCaptureInfo_v2(stream, &capture, nullptr, &graph);
#endif
  if (status == cudaSuccess && capture == cudaStreamCaptureStatusInvalidated)
    return cudaErrorStreamCaptureInvalidated;
  return status;
}

/// One of `idle` on the current device, or a new one, of at least so many bytes.
inline cudaError_t take_block(idle_blocks &idle, std::size_t bytes,
                              std::unique_ptr<kept_block> &block) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  block = idle.take(device, bytes);
  if (block != nullptr) return cudaSuccess;
  const capture_is_unharmed relaxed;
  auto made = std::make_unique<kept_block>();
  made->bytes = bytes;
  made->device = device;
  status = cudaMalloc(&made->address, bytes);
  if (status == cudaSuccess) block = std::move(made);
  return status;
}
/// Memory for the kernels of a graph that is being captured. It is the graph's until the graph, its
/// copies and what was instantiated from them are destroyed and have run. A node that allocated
/// would make CUDA refuse the graph as a child of another one and as a second executable.
inline cudaError_t allocate_for(cudaGraph_t graph, std::size_t bytes, void *&address) {
  std::unique_ptr<kept_block> block;
  cudaError_t status = take_block(idle_blocks::of_graphs(), bytes, block);
  if (status != cudaSuccess) return status;
  address = block->address;
  cudaUserObject_t owner{};
  const auto graph_is_gone = [](void *gone) {
    idle_blocks::of_graphs().put(std::unique_ptr<kept_block>(static_cast<kept_block *>(gone)));
  };
  status =
      cudaUserObjectCreate(&owner, block.get(), graph_is_gone, 1, cudaUserObjectNoDestructorSync);
  if (status != cudaSuccess) {
    idle_blocks::of_graphs().put(std::move(block));
    return status;
  }
  block.release(); // to `owner`
  status = cudaGraphRetainUserObject(graph, owner, 1, cudaGraphUserObjectMove);
  if (status != cudaSuccess) cudaUserObjectRelease(owner, 1);
  return status;
}

/// Storage that a stream's work may use: until this object is gone from the host's point of view,
/// and then freed in stream order, or, if it is a block, kept for the next call; or, for a stream
/// that is being captured into `graph`, as long as the graph exists.
class pooled_storage {
public:
  /// Bytes of the block of a call that waits: enough for scans of 2^27 4-byte elements.
  static constexpr std::size_t block_bytes = std::size_t{1} << 20;

  explicit pooled_storage(cudaStream_t stream) : stream_(stream) {}
  pooled_storage(const pooled_storage &) = delete;
  pooled_storage &operator=(const pooled_storage &) = delete;
  ~pooled_storage() {
    if (frees_) cudaFreeAsync(address_, stream_);
    if (block_ == nullptr) return;
    // After an exception, work may be under way that uses the block.
    if (ended_ || cudaStreamSynchronize(stream_) == cudaSuccess) {
      idle_blocks::of_calls().put(std::move(block_));
    } else {
      const capture_is_unharmed relaxed;
      cudaFree(block_->address);
    }
  }
  /// `waits`: the caller waits for the work and then calls end().
  cudaError_t allocate(std::size_t bytes, cudaGraph_t graph, bool waits) {
    if (graph != nullptr) return allocate_for(graph, bytes, address_);
    if (waits && bytes <= block_bytes) {
      const cudaError_t status = take_block(idle_blocks::of_calls(), block_bytes, block_);
      if (status == cudaSuccess) address_ = block_->address;
      if (status != cudaErrorMemoryAllocation) return status;
      cudaGetLastError(); // the pool may have room
    }
    cudaMemPool_t pool{};
    cudaError_t status = memory_pool(pool);
    if (status == cudaSuccess) status = cudaMallocFromPoolAsync(&address_, bytes, pool, stream_);
    frees_ = status == cudaSuccess;
    return status;
  }
  void *address() const { return address_; }
  /// The stream's work has ended.
  void end() { ended_ = true; }

private:
  cudaStream_t stream_;
  void *address_ = nullptr;
  std::unique_ptr<kept_block> block_;
  bool frees_ = false, ended_ = false;
};

} // namespace detail

/// Returns the temporary memory that lookback keeps on the current device to the driver, except
/// what unfinished work and graphs use. Another version of lookback in the same process, or code
/// for other architectures, keeps memory of its own.
///
/// It may wait for all work of the device, as cudaFree does. cudaDeviceReset invalidates what is
/// kept: call this function before.
///
/// Returns the status of CUDA; thread-safe.
/// @ingroup policies
inline cudaError_t release_workspace() {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = detail::idle_blocks::of_graphs().free(device);
  if (status == cudaSuccess) status = detail::idle_blocks::of_calls().free(device);
  cudaMemPool_t pool{};
  if (status == cudaSuccess) status = detail::memory_pool(pool);
  return status == cudaSuccess ? cudaMemPoolTrimTo(pool, 0) : status;
}

} // namespace LOOKBACK_ABI
} // namespace lookback
