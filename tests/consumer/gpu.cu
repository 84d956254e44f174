// SPDX-License-Identifier: MIT
#include <lookback/lookback.cuh>

#include <thrust/scan.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::puts(cudaGetErrorString(error));
    std::exit(1);
  }
}

} // namespace

int main() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
  check(error);

  std::vector<std::int64_t> values(1 << 20), expected(values.size());
  std::iota(values.begin(), values.end(), -1000);
  std::partial_sum(values.begin(), values.end(), expected.begin());
  const std::size_t bytes = values.size() * sizeof(std::int64_t);

  std::int64_t *input = nullptr, *output = nullptr;
  check(cudaMalloc(&input, bytes));
  check(cudaMalloc(&output, bytes));
  check(cudaMemcpy(input, values.data(), bytes, cudaMemcpyHostToDevice));

  const auto equals_expected = [&](const char *door) {
    std::vector<std::int64_t> sums(values.size());
    check(cudaMemcpy(sums.data(), output, bytes, cudaMemcpyDeviceToHost));
    std::printf("%s: %s\n", door, sums == expected ? "equal" : "different");
    return sums == expected;
  };

  thrust::inclusive_scan(lookback::par, input, input + values.size(), output);
  const bool thrust_door = equals_expected("lookback::par");

  check(cudaMemset(output, 0, bytes));
  std::size_t temporary_bytes = 0;
  void *temporary = nullptr;
  check(lookback::DeviceScan::InclusiveSum(nullptr, temporary_bytes, input, output, values.size()));
  check(cudaMalloc(&temporary, temporary_bytes));
  check(
      lookback::DeviceScan::InclusiveSum(temporary, temporary_bytes, input, output, values.size()));
  const bool cub_door = equals_expected("lookback::DeviceScan");

  check(cudaFree(temporary));
  check(cudaFree(output));
  check(cudaFree(input));
  return thrust_door && cub_door ? 0 : 1;
}
