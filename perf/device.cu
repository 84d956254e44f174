// SPDX-License-Identifier: MIT
#include "device.cuh"

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace perf {
namespace {

constexpr std::size_t margin = 256; // bytes after every buffer that a contender must not write
constexpr unsigned char expected_poison = 0xa5;
constexpr unsigned char target_poison = 0x5a;

std::size_t total_memory() {
  std::size_t available = 0, total = 0;
  check(cudaMemGetInfo(&available, &total));
  return total;
}

/// Four times the size of the L2 cache.
std::size_t beyond_cache() {
  static const std::size_t bytes = [] {
    int size = 0;
    check(cudaDeviceGetAttribute(&size, cudaDevAttrL2CacheSize, 0));
    return 4 * static_cast<std::size_t>(size);
  }();
  return bytes;
}

/// Evicts the operands from the L2 cache, except lines with an evict-last policy, for which see
/// `places`. The memset also keeps the device busy until the host has queued the timed work, so
/// that the events do not measure the host.
void flush_cache() {
  static device_buffer buffer;
  check(cudaMemsetAsync(buffer.reserve(beyond_cache()), 0, beyond_cache()));
}

__global__ void find_difference(const unsigned char *expected, const unsigned char *actual,
                                std::size_t first, std::size_t last,
                                unsigned long long *difference) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
       i < last + margin; i += stride)
    if (actual[i] != (i >= first && i < last ? expected[i] : target_poison))
      atomicMin(difference, static_cast<unsigned long long>(i));
}

} // namespace

void check(cudaError_t error) {
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
}

void *device_buffer::reserve(std::size_t bytes) {
  if (bytes > bytes_) {
    check(cudaFree(data_));
    data_ = nullptr;
    bytes_ = 0;
    check(cudaMalloc(&data_, bytes + margin));
    bytes_ = bytes;
  }
  return data_;
}

/// A single place for inputs that no kernel keeps in the cache: every run then uses the same pages,
/// as a memcpy's runs do.
places::places(long long bytes)
    : each_((static_cast<std::size_t>(bytes) + 255) / 256 * 256), count_(1) {
  constexpr std::size_t kept_from = std::size_t{8} << 20;
  if (each_ >= kept_from) count_ = static_cast<int>((beyond_cache() + each_ - 1) / each_);
}

device_memory &memory() {
  static device_memory all;
  return all;
}

double event_microseconds(const std::function<void()> &work) {
  static const auto make_event = [] {
    cudaEvent_t event;
    check(cudaEventCreate(&event));
    return event;
  };
  static const cudaEvent_t start = make_event(), stop = make_event();
  flush_cache();
  check(cudaEventRecord(start));
  work();
  check(cudaEventRecord(stop));
  check(cudaEventSynchronize(stop));
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, stop));
  return milliseconds * 1e3;
}

double wall_microseconds(const std::function<void()> &work) {
  flush_cache();
  check(cudaDeviceSynchronize());
  const auto start = std::chrono::steady_clock::now();
  work();
  check(cudaStreamSynchronize(nullptr));
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

void check_output(std::size_t first, std::size_t last, const std::function<void()> &reference,
                  const std::function<void()> &contender) {
  const auto expected = static_cast<unsigned char *>(memory().expected.reserve(last));
  const auto target = static_cast<unsigned char *>(memory().target.reserve(last));
  check(cudaMemset(expected, expected_poison, last + margin));
  check(cudaMemset(target, target_poison, last + margin));
  reference();
  contender();

  static device_buffer result;
  constexpr unsigned long long none = ~0ull;
  unsigned long long difference = none;
  const auto found = static_cast<unsigned long long *>(result.reserve(sizeof difference));
  check(cudaMemcpy(found, &difference, sizeof difference, cudaMemcpyHostToDevice));
  find_difference<<<1024, 256>>>(expected, target, first, last, found);
  check(cudaGetLastError());
  check(cudaMemcpy(&difference, found, sizeof difference, cudaMemcpyDeviceToHost));
  if (difference != none)
    throw std::runtime_error(
        "wrong output at byte " + std::to_string(difference) + ", expected in [" +
        std::to_string(first) + ", " + std::to_string(last) +
        "); LOOKBACK_PERF_SEED=" + std::to_string(seed()) + " repeats the input");
}

bool fits(long long bytes) {
  static const std::size_t total = total_memory();
  return 3 * static_cast<std::size_t>(bytes) <= total;
}

} // namespace perf

int perf::compare_on_device(void (*add_cells)(std::vector<cell> &), int argc, char **argv) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "no CUDA device: %s\n", cudaGetErrorString(error));
    return no_device;
  }
#if defined(PERF_NOT_TO_BE_MEASURED)
  std::fprintf(stderr, "the kernels of this build are not optimised, since CMake found no GPU: "
                       "configure again on this "
                       "machine, or with -D CMAKE_CUDA_ARCHITECTURES=90 (an H200's)\n");
  return 1;
#endif
  try {
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    std::vector<cell> cells;
    add_cells(cells);
    std::string name = device.name;
#if defined(PERF_CODE)
    name += " (code for " PERF_CODE ")";
#endif
    return compare(std::move(cells), name, argc, argv);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
