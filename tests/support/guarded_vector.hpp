// SPDX-License-Identifier: MIT
// Host memory with guard bytes on both sides of the elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace test {

/// `n` elements that start as `filler`, and more of it on both sides.
template <class T>
class guarded_vector {
public:
  guarded_vector(std::size_t n, const T &filler)
      : filler_(filler), memory_(n + 2 * guard, filler) {}

  T *data() { return memory_.data() + guard; }
  void refill() { std::fill(memory_.begin(), memory_.end(), filler_); }
  std::vector<T> values() const { return {memory_.begin() + guard, memory_.end() - guard}; }
  bool guards_intact() const {
    const auto is_filler = [&](const T &value) { return value == filler_; };
    return std::all_of(memory_.begin(), memory_.begin() + guard, is_filler) &&
           std::all_of(memory_.end() - guard, memory_.end(), is_filler);
  }

private:
  static constexpr std::size_t guard = 512; // elements
  T filler_;
  std::vector<T> memory_;
};

} // namespace test
