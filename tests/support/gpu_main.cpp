// SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cuda_runtime_api.h>

#include <cstdio>

int main(int argc, char **argv) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  // Any other error means a GPU that does not answer: a failure, not a reason to skip.
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
      (error == cudaSuccess && devices == 0)) {
    std::puts("skipped: no CUDA device");
    return 77; // SKIP_RETURN_CODE of cmake/lookback_test.cmake
  }
  if (error != cudaSuccess) {
    std::printf("cudaGetDeviceCount: %s\n", cudaGetErrorString(error));
    return 1;
  }
  return doctest::Context(argc, argv).run();
}
