// SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <support/skip.hpp>

#include <cuda_runtime_api.h>

#include <cstdio>

namespace {
constexpr int skipped = 77; // SKIP_RETURN_CODE of cmake/lookback_test.cmake
}

int main(int argc, char **argv) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  // Any other error means a GPU that does not answer: a failure, not a reason to skip.
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
      (error == cudaSuccess && devices == 0)) {
    std::puts("skipped: no CUDA device");
    return skipped;
  }
  if (error != cudaSuccess) {
    std::printf("cudaGetDeviceCount: %s\n", cudaGetErrorString(error));
    return 1;
  }
  const int status = doctest::Context(argc, argv).run();
  return status == 0 && test::skipped_a_case ? skipped : status;
}
