// SPDX-License-Identifier: MIT
// A wait for what never comes, in code built with LOOKBACK_DEBUG: CTest looks for the message, the
// test for the error.
#define LOOKBACK_DEBUG 1
#include <lookback/carry/look_back_carry.cuh>

#include <support/buffers.cuh>

namespace {

namespace core = lookback::detail;

__global__ void wait_for_nothing(const core::tile_status<int> empty) {
  core::wait_for<int>(empty, 3);
}

} // namespace

TEST_CASE("a wait that goes on for too long says what it waits for, and ends the kernel") {
  const test::guarded_buffer<std::uint64_t> cells(std::vector<std::uint64_t>(4, 0));
  wait_for_nothing<<<1, 32>>>(core::tile_status<int>(cells.data(), nullptr));
  REQUIRE_CUDA(cudaGetLastError());
  CHECK_NE(cudaDeviceSynchronize(), cudaSuccess);
}
