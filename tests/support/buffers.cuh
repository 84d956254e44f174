// SPDX-License-Identifier: MIT
// Device memory that notices: poisoned before use, with canaries on both sides.
#pragma once

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#define REQUIRE_CUDA(...)                                                                          \
  REQUIRE_EQ(doctest::String(cudaGetErrorString(__VA_ARGS__)), doctest::String("no error"))
#define CHECK_CUDA(...)                                                                            \
  CHECK_EQ(doctest::String(cudaGetErrorString(__VA_ARGS__)), doctest::String("no error"))

namespace test {

/// Elements on the host that need no default constructor, as bytes to copy from and to the device.
template <class T>
std::vector<T> elements_of(const std::vector<unsigned char> &bytes) {
  std::vector<T> values;
  values.reserve(bytes.size() / sizeof(T));
  // Objects of the device are read as its bytes left them: a broken one must stay visible as such.
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    alignas(T) unsigned char place[sizeof(T)];
    std::memcpy(place, bytes.data() + at, sizeof(T));
    values.push_back(*std::launder(reinterpret_cast<T *>(place)));
  }
  return values;
}

/// `n` elements on the device. `shift` moves the first one that many elements off a 256-byte
/// boundary.
template <class T>
class guarded_buffer {
public:
  explicit guarded_buffer(std::size_t n, std::size_t shift = 0)
      : size_(n), front_(guard + shift * sizeof(T)) {
    REQUIRE_CUDA(cudaMalloc(&memory_, bytes()));
    poison();
  }
  explicit guarded_buffer(const std::vector<T> &values, std::size_t shift = 0)
      : guarded_buffer(values.size(), shift) {
    upload(values);
  }
  guarded_buffer(const guarded_buffer &) = delete;
  guarded_buffer &operator=(const guarded_buffer &) = delete;
  ~guarded_buffer() { cudaFree(memory_); }

  T *data() const { return reinterpret_cast<T *>(memory_ + front_); }
  std::size_t size() const { return size_; }

  /// Contents and canaries as new. Reading a poisoned element gives a value that no test expects.
  void poison() {
    REQUIRE_CUDA(cudaMemset(memory_, canary, bytes()));
    REQUIRE_CUDA(cudaMemset(memory_ + front_, 0xa5, size_ * sizeof(T)));
    REQUIRE_CUDA(cudaDeviceSynchronize());
  }
  void upload(const std::vector<T> &values) {
    REQUIRE_EQ(values.size(), size_);
    REQUIRE_CUDA(
        cudaMemcpy(memory_ + front_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    // The copy may return while its last part is on the way, and other streams do not wait for it.
    REQUIRE_CUDA(cudaDeviceSynchronize());
  }
  /// Waits for the device, so that it sees what any stream has written.
  std::vector<T> download() const {
    std::vector<unsigned char> raw(size_ * sizeof(T));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE_CUDA(cudaMemcpy(raw.data(), memory_ + front_, raw.size(), cudaMemcpyDeviceToHost));
    return elements_of<T>(raw);
  }
  /// Nothing outside the elements was written.
  bool guards_intact() const {
    const std::size_t back = front_ + size_ * sizeof(T);
    std::vector<unsigned char> raw(front_ + guard);
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE_CUDA(cudaMemcpy(raw.data(), memory_, front_, cudaMemcpyDeviceToHost));
    REQUIRE_CUDA(cudaMemcpy(raw.data() + front_, memory_ + back, guard, cudaMemcpyDeviceToHost));
    for (unsigned char byte : raw)
      if (byte != canary) return false;
    return true;
  }

private:
  static constexpr std::size_t guard = 1024; // bytes
  static constexpr unsigned char canary = 0xc3;
  std::size_t bytes() const { return front_ + size_ * sizeof(T) + guard; }

  std::size_t size_, front_; // elements, bytes
  unsigned char *memory_ = nullptr;
};

class stream {
public:
  stream() { REQUIRE_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  stream(const stream &) = delete;
  stream &operator=(const stream &) = delete;
  ~stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

private:
  cudaStream_t stream_ = nullptr;
};

} // namespace test
