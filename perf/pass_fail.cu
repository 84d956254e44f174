// SPDX-License-Identifier: MIT
// lookback_pass_fail [STRATEGY [SIZES]]: inclusive sums of random ints at SIZES sizes (100), every
// 2^i for i = 1 to 25 and random ones between them, on the host's threads and on the GPU: correct
// or not, time, and speed-up.
#include "algorithms.hpp"
#include "device.cuh"
#include "progress.hpp"

#include <lookback/execution_policy.cuh>
#include <thrust/scan.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <stdexcept>

namespace {

constexpr int largest_exponent = 25, runs = 5;

/// Every power of two, then random sizes, uniform in their logarithm; a short table has the
/// smallest powers of two alone.
std::vector<long long> sizes(int count, std::mt19937_64 &random) {
  std::vector<long long> all;
  for (int i = 1; i <= largest_exponent; ++i) all.push_back(1LL << i);
  std::uniform_real_distribution<double> exponent(5, largest_exponent);
  while (static_cast<int>(all.size()) < count)
    all.push_back(static_cast<long long>(std::exp2(exponent(random))));
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

struct outcome {
  bool passed;
  double microseconds; // the median
};

/// `scan` once into a poisoned `out`, compared, then timed.
template <class Scan, class Fetch>
outcome run(const std::vector<int> &expected, Scan scan, Fetch fetch) {
  scan();
  const bool passed = fetch() == expected;
  std::vector<double> times(runs);
  for (double &time : times) time = scan();
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return {passed, times[runs / 2]};
}

outcome run_on_host(const std::vector<int> &in, const std::vector<int> &expected) {
  std::vector<int> out(in.size(), ~0);
  const auto scan = [&] {
    const auto start = std::chrono::steady_clock::now();
    thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin());
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
        .count();
  };
  return run(expected, scan, [&] { return out; });
}

outcome run_on_device(const perf::algorithm &algorithm, const std::vector<int> &in,
                      const std::vector<int> &expected) {
  const long long n = static_cast<long long>(in.size());
  const std::size_t bytes = n * sizeof(int);
  auto *const source = static_cast<int *>(perf::memory().source.reserve(bytes));
  auto *const target = static_cast<int *>(perf::memory().target.reserve(bytes));
  perf::check(cudaMemcpy(source, in.data(), bytes, cudaMemcpyHostToDevice));
  perf::check(cudaMemset(target, 0xff, bytes));
  std::size_t size = 0;
  perf::check(algorithm.inclusive_sum(nullptr, size, source, target, n));
  void *const temporary = perf::memory().temporary.reserve(size);
  const auto scan = [&] {
    return perf::event_microseconds(
        [&] { perf::check(algorithm.inclusive_sum(temporary, size, source, target, n)); });
  };
  const auto fetch = [&] {
    std::vector<int> out(in.size());
    perf::check(cudaMemcpy(out.data(), target, bytes, cudaMemcpyDeviceToHost));
    return out;
  };
  return run(expected, scan, fetch);
}

const char *verdict(const outcome &o) { return o.passed ? "pass" : "FAIL"; }

/// Prints the table and returns the number of failures; without `device`, only the host's columns.
int print_table(const perf::algorithm *device, int count) {
  std::mt19937_64 random(perf::seed());
  std::uniform_int_distribution<int> value(-50, 50); // the sum of 2^25 of them is an int
  int failures = 0;
  std::printf("%10s  %9s  %12s  %8s  %12s  %8s\n", "elements", "host test", "host time/us",
              "GPU test", "GPU time/us", "speed-up");
  const std::vector<long long> all = sizes(count, random);
  perf::progress bar(all.size());
  for (const long long n : all) {
    std::vector<int> in(n), expected(n);
    std::generate(in.begin(), in.end(), [&] { return value(random); });
    std::partial_sum(in.begin(), in.end(), expected.begin());
    const outcome host = run_on_host(in, expected);
    failures += !host.passed;
    bar.clear();
    std::printf("%10lld  %9s  %12.1f", n, verdict(host), host.microseconds);
    if (device) {
      const outcome gpu = run_on_device(*device, in, expected);
      failures += !gpu.passed;
      std::printf("  %8s  %12.1f  %8.2f", verdict(gpu), gpu.microseconds,
                  host.microseconds / gpu.microseconds);
    }
    std::printf("\n");
    bar.step();
  }
  bar.clear();
  return failures;
}

} // namespace

int main(int argc, char **argv) try {
  const std::string name = argc > 1 ? argv[1] : "lookback";
  const int count = argc > 2 ? std::atoi(argv[2]) : 100;
  std::vector<perf::algorithm> all = perf::catalogue();
  const auto chosen =
      std::find_if(all.begin(), all.end(), [&](const auto &a) { return a.name == name; });
  const bool host_alone = name == "host";
  if ((chosen == all.end() && !host_alone) || count < 1) {
    if (count < 1)
      std::printf("lookback_pass_fail: SIZES must be a positive number, not '%s'\n", argv[2]);
    else
      std::printf("lookback_pass_fail: no strategy is called '%s'\n", name.c_str());
    std::printf(
        "usage: lookback_pass_fail [STRATEGY [SIZES]], STRATEGY one of\n  host (no GPU columns)\n");
    for (const perf::algorithm &a : all) std::printf("  %s\n", a.name.c_str());
    return 1;
  }
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  const bool has_device = error == cudaSuccess && devices > 0;
  const int failures = print_table(has_device && !host_alone ? &*chosen : nullptr, count);
  if (failures > 0)
    std::printf("%d FAILED; LOOKBACK_PERF_SEED=%llu repeats the input\n", failures,
                (unsigned long long)perf::seed());
  if (!has_device && !host_alone)
    std::printf("no GPU columns: no CUDA device (%s)\n", cudaGetErrorString(error));
  return failures > 0 ? 1 : has_device || host_alone ? 0 : perf::no_device;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "lookback_pass_fail: %s\n", failure.what());
  return 1;
}
