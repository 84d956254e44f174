// SPDX-License-Identifier: MIT
// What the threads of one scan share, and who owns it.
#pragma once

#include <lookback/core/by_key.cuh>
#include <lookback/device/tile_state.cuh>
#include <lookback/host/room.cuh>

#include <cuda/atomic>

#include <memory>

namespace lookback::detail {

/// The protocol's memory operations between threads. No word pairs: few CPUs promise that 16 bytes move in one piece.
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
    return shared<std::uint32_t>(*const_cast<std::uint32_t *>(address)).load(cuda::memory_order_acquire);
  }
  static void store_release(std::uint32_t *address, std::uint32_t value) {
    shared<std::uint32_t>(*address).store(value, cuda::memory_order_release);
  }
};

/// An array of empty cells, and the memory under it. Values that were published end with it.
template <class T>
class owned_cells : public cells<T, host_memory> {
  using base = cells<T, host_memory>;

public:
  explicit owned_cells(std::size_t count) : owned_cells(count, base::bytes(count)) {}
  ~owned_cells() {
    if constexpr (!std::is_trivially_destructible<T>::value)
      for (std::size_t i = 0; i < count_; ++i)
        if (const auto seen = this->read(i); seen.ready()) const_cast<T &>(seen.value()).~T();
  }

private:
  owned_cells(std::size_t count, cell_bytes bytes)
      : count_(count), zeroed_(new std::uint64_t[bytes.zeroed / sizeof(std::uint64_t) + 1]()),
        payload_(bytes.payload / sizeof(T)) {
    static_cast<base &>(*this) = base(zeroed_.get(), payload_.address());
  }

  std::size_t count_;
  std::unique_ptr<std::uint64_t[]> zeroed_;
  raw_room<T> payload_;
};

/// What an input needs saved before tiles begin to overwrite it: nothing.
template <class Input, bool = boundary_of<Input>::exists>
struct saved_boundary {
  saved_boundary(Input &, std::size_t) {}
};
/// The key before each tile.
template <class Input>
class saved_boundary<Input, true> {
  using key = typename boundary_of<Input>::type;

public:
  saved_boundary(Input &input, std::size_t tiles) : keys_(tiles) {
    input.bind_boundary(keys_.address());
    struct unless_complete { // a key's copy may throw, and then this object's destructor does not run
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
  raw_room<key> keys_;
  std::size_t end_ = 1; // keys 1 to end_ - 1 are there
};

} // namespace lookback::detail
