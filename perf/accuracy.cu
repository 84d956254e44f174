// SPDX-License-Identifier: MIT
// The errors of f32 prefix sums of uniform values, and how many of them differ when computed again,
// as CSV. It measures no time.
#include "comparison.hpp"

#include <cub/device/device_scan.cuh>
#include <lookback/device_scan.cuh>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t n = std::size_t{1} << 28;
constexpr int repetitions = 20;

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

__global__ void count_differing(const unsigned *a, const unsigned *b, unsigned long long *count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    if (a[i] != b[i]) atomicAdd(count, 1ull);
}

/// Sums are positive, so relative errors are defined. `differing`: the largest number of elements
/// in which a repetition differs from the first run; empty without repetitions.
void print_row(const char *contender, const std::vector<float> &sums,
               const std::vector<double> &exact, const char *differing) {
  double relative = 0, absolute = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double error = std::abs(sums[i] - exact[i]);
    absolute = std::max(absolute, error);
    relative = std::max(relative, error / exact[i]);
  }
  std::printf("%s,%.2e,%.4g,%s\n", contender, relative, absolute, differing);
}

/// `scan(temporary, bytes, in, out)` is either phase of a call over n elements.
template <class Scan>
void measure(const char *contender, const float *in, const std::vector<double> &exact, Scan scan) {
  float *first = nullptr, *again = nullptr;
  void *temporary = nullptr;
  unsigned long long *count = nullptr;
  std::size_t bytes = 0;
  check(scan(nullptr, bytes, in, first));
  check(cudaMalloc(&temporary, bytes));
  check(cudaMalloc(&first, n * sizeof(float)));
  check(cudaMalloc(&again, n * sizeof(float)));
  check(cudaMalloc(&count, sizeof *count));
  check(scan(temporary, bytes, in, first));
  unsigned long long most = 0;
  for (int run = 0; run < repetitions; ++run) {
    check(cudaMemset(again, 0x5a, n * sizeof(float)));
    check(cudaMemset(count, 0, sizeof *count));
    check(scan(temporary, bytes, in, again));
    count_differing<<<1024, 256>>>(reinterpret_cast<const unsigned *>(first),
                                   reinterpret_cast<const unsigned *>(again), count);
    unsigned long long differing = 0;
    check(cudaMemcpy(&differing, count, sizeof differing, cudaMemcpyDeviceToHost));
    most = std::max(most, differing);
  }
  std::vector<float> sums(n);
  check(cudaMemcpy(sums.data(), first, n * sizeof(float), cudaMemcpyDeviceToHost));
  print_row(contender, sums, exact, std::to_string(most).c_str());
  for (void *memory : {temporary, static_cast<void *>(first), static_cast<void *>(again),
                       static_cast<void *>(count)})
    check(cudaFree(memory));
}

void compare() {
  std::mt19937_64 random(perf::seed());
  std::vector<float> in(n), serial(n);
  std::vector<double> exact(n);
  // 24 bits of a number in (0, 1], so that the first sum is not 0.
  for (float &x : in) x = static_cast<float>((random() >> 40) + 1) * 0x1p-24f;
  // Multiples of 2^-24 below 2^29: sums of up to 53 bits, so f64 makes no error at all.
  double sum = 0;
  float running = 0;
  for (std::size_t i = 0; i < n; ++i) {
    exact[i] = sum += in[i];
    serial[i] = running += in[i];
  }
  float *device = nullptr;
  check(cudaMalloc(&device, n * sizeof(float)));
  check(cudaMemcpy(device, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  std::puts("contender,relative_error,absolute_error,differing");
  measure("lookback (GPU and CPU)", device, exact,
          [](void *temporary, std::size_t &bytes, auto from, auto to) {
            return lookback::DeviceScan::InclusiveSum(temporary, bytes, from, to, n);
          });
  measure("CUB", device, exact, [](void *temporary, std::size_t &bytes, auto from, auto to) {
    return cub::DeviceScan::InclusiveSum(temporary, bytes, from, to, n);
  });
  print_row("serial", serial, exact, "");
  check(cudaFree(device));
}

} // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fputs("accuracy: no CUDA device; lookback_accuracy needs one\n", stderr);
    return perf::no_device;
  }
  try {
    compare();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "accuracy: %s, LOOKBACK_PERF_SEED=%llu\n", error.what(),
                 static_cast<unsigned long long>(perf::seed()));
    return 1;
  }
}
