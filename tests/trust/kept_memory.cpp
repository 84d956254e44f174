// SPDX-License-Identifier: MIT
// Which memory the calls of the Thrust interface use, keep and give back: every way, with functions
// of this file in the place of CUDA's, which record what is called.
#include <lookback/dispatch/memory.cuh>

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <string>

namespace {

std::string called; // a word each
std::set<void *> blocks;
bool device_is_full = false, context_is_lost = false;
cudaError_t last_error = cudaSuccess;
void *graph_resource = nullptr;
cudaHostFn_t graph_is_gone = nullptr;

/// What has been called since the last time.
std::string calls() {
  std::string result;
  result.swap(called);
  return result;
}

} // namespace

extern "C" {

cudaError_t cudaMalloc(void **address, std::size_t bytes) {
  called += "malloc ";
  if (device_is_full) return last_error = cudaErrorMemoryAllocation;
  *address = std::malloc(bytes);
  blocks.insert(*address);
  return cudaSuccess;
}
cudaError_t cudaFree(void *address) {
  called += "free ";
  CHECK_EQ(blocks.erase(address), 1u);
  std::free(address);
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void **address, std::size_t bytes, cudaMemPool_t,
                                    cudaStream_t) {
  called += "pool-malloc ";
  *address = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void *address, cudaStream_t) {
  called += "pool-free ";
  std::free(address);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  called += "wait ";
  return context_is_lost ? cudaErrorIllegalAddress : cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {
  called += "trim ";
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *) { return cudaSuccess; }
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *) {
  *pool = reinterpret_cast<cudaMemPool_t>(1);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *, int) { return cudaErrorNotSupported; }
cudaError_t cudaUserObjectCreate(cudaUserObject_t *, void *resource, cudaHostFn_t gone, unsigned,
                                 unsigned) {
  graph_resource = resource;
  graph_is_gone = gone;
  return cudaSuccess;
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t, cudaUserObject_t, unsigned, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t, unsigned) { return cudaSuccess; }

} // extern "C"

using lookback::detail::pooled_storage;

TEST_CASE("calls that wait use one block after the other, and graphs blocks of their own") {
  constexpr bool waits = true;
  const auto graph = reinterpret_cast<cudaGraph_t>(1);
  void *first = nullptr;
  {
    pooled_storage storage(nullptr);
    REQUIRE_EQ(storage.allocate(1000, nullptr, waits), cudaSuccess);
    first = storage.address();
    storage.end();
  }
  CHECK_EQ(calls(), "malloc ");
  {
    pooled_storage one(nullptr), other(nullptr);
    REQUIRE_EQ(one.allocate(2000, nullptr, waits), cudaSuccess);
    REQUIRE_EQ(other.allocate(2000, nullptr, waits), cudaSuccess);
    CHECK_EQ(one.address(), first);
    CHECK_NE(other.address(), first);
    one.end();
    other.end();
  }
  CHECK_EQ(calls(), "malloc ");
  for (int turn = 0; turn < 2; ++turn) {
    pooled_storage storage(nullptr);
    REQUIRE_EQ(storage.allocate(500, graph, false), cudaSuccess);
    CHECK_EQ(calls(), turn == 0 ? "malloc " : ""); // the second graph has the block of the first
    graph_is_gone(graph_resource);
  }
  CHECK_EQ(lookback::release_workspace(), cudaSuccess);
  CHECK_EQ(calls(), "free free free trim ");
  CHECK(blocks.empty());
}

TEST_CASE("a block of a call that ends by an exception") {
  const auto call = [] {
    pooled_storage storage(nullptr);
    REQUIRE_EQ(storage.allocate(1000, nullptr, true), cudaSuccess);
  };
  call();
  CHECK_EQ(calls(), "malloc wait ");
  context_is_lost = true;
  call();
  context_is_lost = false;
  CHECK_EQ(calls(), "wait free ");
  CHECK(blocks.empty());
}

TEST_CASE("the pool: for calls that do not wait, for much storage, and where no block can be had") {
  const auto call = [](std::size_t bytes, bool waits) {
    pooled_storage storage(nullptr);
    REQUIRE_EQ(storage.allocate(bytes, nullptr, waits), cudaSuccess);
    storage.end();
  };
  call(1000, false);
  CHECK_EQ(calls(), "pool-malloc pool-free ");
  call(pooled_storage::block_bytes + 1, true);
  CHECK_EQ(calls(), "pool-malloc pool-free ");
  device_is_full = true;
  call(pooled_storage::block_bytes, true);
  device_is_full = false;
  CHECK_EQ(calls(), "malloc pool-malloc pool-free ");
  CHECK_EQ(last_error, cudaSuccess);
  CHECK(blocks.empty());
}
