// SPDX-License-Identifier: MIT
// The state that the threads of one scan share, and its memory.
#pragma once

#include <lookback/core/segments.cuh>
#include <lookback/core/tile_status.cuh>
#include <lookback/host/host_storage.cuh>

#include <cuda/atomic>

#include <memory>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The protocol's memory operations between threads. No word pairs: few CPUs guarantee that an
/// access of 16 bytes is atomic.
struct host_memory {
  static constexpr bool has_word_pairs = false;
  template <class Word>
  using shared = cuda::atomic_ref<Word, cuda::thread_scope_system>;

  template <class Word>
  static Word load_relaxed(const Word *address) {
    return shared<Word>(*const_cast<Word *>(address)).load(cuda::memory_order_relaxed);
  }
  template <class Word>
  static void store_relaxed(Word *address, Word value) {
    shared<Word>(*address).store(value, cuda::memory_order_relaxed);
  }
  static std::uint32_t load_acquire(const std::uint32_t *address) {
    return shared<std::uint32_t>(*const_cast<std::uint32_t *>(address))
        .load(cuda::memory_order_acquire);
  }
  static void store_release(std::uint32_t *address, std::uint32_t value) {
    shared<std::uint32_t>(*address).store(value, cuda::memory_order_release);
  }
};

/// An array of tile status entries with its memory, empty at first. The destructor destroys the
/// published values.
template <class T>
class owned_tile_status : public tile_status<T, host_memory> {
  using base = tile_status<T, host_memory>;

public:
  explicit owned_tile_status(std::size_t count) : owned_tile_status(count, base::bytes(count)) {}
  ~owned_tile_status() {
    if constexpr (!std::is_trivially_destructible<T>::value)
      for (std::size_t i = 0; i < count_; ++i)
        if (const auto seen = this->read(i); seen.ready()) const_cast<T &>(seen.value()).~T();
  }

private:
  owned_tile_status(std::size_t count, status_bytes bytes)
      : count_(count), zeroed_(new std::uint64_t[bytes.zeroed / sizeof(std::uint64_t) + 1]()),
        payload_(bytes.payload / sizeof(T)) {
    static_cast<base &>(*this) = base(zeroed_.get(), payload_.address());
  }

  std::size_t count_;
  std::unique_ptr<std::uint64_t[]> zeroed_;
  heap_storage<T> payload_;
};

/// Values of the input that are saved before tiles begin to overwrite it: none, without keys.
template <class Input, bool = boundary_of<Input>::exists>
struct saved_boundary {
  saved_boundary(Input &, std::size_t) {}
};
/// With keys, the key before each tile.
template <class Input>
class saved_boundary<Input, true> {
  using key = typename boundary_of<Input>::type;

public:
  saved_boundary(Input &input, std::size_t tiles) : keys_(tiles) {
    input.bind_boundary(keys_.address());
    // The copy of a key may throw, and then the destructor of this object does not run.
    struct unless_complete {
      saved_boundary *keys;
      ~unless_complete() {
        if (keys != nullptr) keys->clear();
      }
    } guard{this};
    for (; end_ < tiles; ++end_) input.save_boundary(end_);
    guard.keys = nullptr;
  }
  ~saved_boundary() { clear(); }

private:
  void clear() {
    while (end_ > 1) keys_.address()[--end_].~key();
  }
  heap_storage<key> keys_;
  std::size_t end_ = 1; // keys 1 to end_ - 1 are constructed
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
