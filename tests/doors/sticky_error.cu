// SPDX-License-Identifier: MIT
// A kernel that failed earlier leaves an error that no call can clear: a program of its own, since
// nothing works after it.
#include <lookback/lookback.cuh>

#include <support/buffers.cuh>

#include <thrust/scan.h>
#include <thrust/system_error.h>

#include <cstdint>

namespace {

__global__ void fail() { __trap(); }

} // namespace

TEST_CASE("an earlier kernel's sticky error is reported by every door") {
  constexpr int n = 1 << 20;
  std::uint32_t *data = nullptr;
  void *temporary = nullptr;
  std::size_t bytes = 0;
  REQUIRE_CUDA(cudaMalloc(&data, n * sizeof(std::uint32_t)));
  REQUIRE_CUDA(lookback::DeviceScan::InclusiveSum(nullptr, bytes, data, data, n));
  REQUIRE_CUDA(cudaMalloc(&temporary, bytes));

  fail<<<1, 1>>>();
  REQUIRE_CUDA(cudaPeekAtLastError());
  REQUIRE_NE(cudaDeviceSynchronize(), cudaSuccess);

  CHECK_NE(lookback::DeviceScan::InclusiveSum(temporary, bytes, data, data, n), cudaSuccess);
  CHECK_THROWS_AS(thrust::inclusive_scan(lookback::par, data, data + n, data),
                  thrust::system_error);
  CHECK_THROWS_AS(thrust::inclusive_scan(lookback::par_nosync, data, data + n, data),
                  thrust::system_error);
}
