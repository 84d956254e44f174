// SPDX-License-Identifier: MIT
// Where the operands of a call are, run after run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perf {

/// Runs of long inputs read from one place after the other, together more than the cache keeps even of what is to leave it last, so that
/// no run finds there what one before it has read: a memset does not drive that out. The pipeline keeps what it reads from 10 MB on.
class places {
public:
  explicit places(long long bytes);
  std::size_t bytes() const { return each_ * static_cast<std::size_t>(count_); }
  int count() const { return count_; }
  /// What is at `first`, `run` places further, around them all.
  template <class T>
  T *of_run(T *first, unsigned run) const {
    const auto turn = static_cast<std::size_t>(run % static_cast<unsigned>(count_));
    return reinterpret_cast<T *>(reinterpret_cast<std::uintptr_t>(first) + turn * each_);
  }

private:
  std::size_t each_;
  int count_;
};

template <class In, class Out>
struct operands {
  const int *keys; // null unless the call has segments
  const In *in;
  Out *out;
  long long n;
  places inputs, all_keys;

  /// The same values, elsewhere.
  operands of_run(unsigned run) const {
    operands turned = *this;
    turned.in = inputs.of_run(in, run);
    turned.keys = all_keys.of_run(keys, run);
    return turned;
  }
};

} // namespace perf
