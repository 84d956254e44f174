// SPDX-License-Identifier: MIT
// Memory and kernels of the comparisons on the device.
#pragma once

#include <bits/kinds.hpp>

#include <support/buffers.cuh>

#include <cstdint>
#include <type_traits>

namespace bits {

/// Bytes on the device, of no content.
class device_room {
public:
  explicit device_room(std::size_t bytes) { REQUIRE_CUDA(cudaMalloc(&memory_, bytes)); }
  device_room(const device_room &) = delete;
  device_room &operator=(const device_room &) = delete;
  ~device_room() { cudaFree(memory_); }
  template <class T>
  T *as(std::size_t bytes_off = 0) const {
    return reinterpret_cast<T *>(static_cast<char *>(memory_) + bytes_off);
  }

private:
  void *memory_ = nullptr;
};

/// Elements on the host that the device copies from and to at full speed.
template <class T>
class pinned_elements {
public:
  explicit pinned_elements(std::size_t n) { REQUIRE_CUDA(cudaMallocHost(&memory_, n * sizeof(T))); }
  pinned_elements(const pinned_elements &) = delete;
  pinned_elements &operator=(const pinned_elements &) = delete;
  ~pinned_elements() { cudaFreeHost(memory_); }
  T *data() const { return static_cast<T *>(memory_); }

private:
  void *memory_ = nullptr;
};

template <class Kind>
__global__ void fill(typename Kind::type *out, std::uint64_t n, std::uint64_t seed) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    out[i] = Kind::element(noise(seed, i));
}

/// Elements of `Words` words each.
template <int Words, class Word>
__global__ void count_differing(const Word *a, const Word *b, std::uint64_t n,
                                unsigned long long *count) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    bool same = true;
    for (int w = 0; w < Words; ++w) same = same && a[i * Words + w] == b[i * Words + w];
    if (!same) atomicAdd(count, 1ull);
  }
}

/// Keeps a part of the GPU occupied until the host sets `*stop`, or for some seconds: nothing may
/// hang on it.
__global__ void keep_busy(const volatile unsigned *stop) {
  const long long start = clock64();
  while (*stop == 0 && clock64() - start < 4'000'000'000) __nanosleep(200);
}

template <std::size_t Bytes>
using word_of =
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t,
                                          std::conditional_t<Bytes == 8, std::uint64_t, void>>>;

} // namespace bits
