// SPDX-License-Identifier: MIT
// The operands of a call, and their places in memory from run to run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perf {

/// Copies of an input at consecutive places, together larger than the L2 cache, of which each run
/// reads the next one. So no run finds its input in the cache, not even where an earlier run has
/// read it with an evict-last policy, as lookback's pipeline does from 10 MB on; the memset between
/// runs does not evict such lines.
class places {
public:
  explicit places(long long bytes);
  std::size_t bytes() const { return each_ * static_cast<std::size_t>(count_); }
  int count() const { return count_; }
  /// The counterpart of `first` at the place for `run`; after the last place comes the first.
  template <class T>
  T *of_run(T *first, unsigned run) const {
    const auto turn = static_cast<std::size_t>(run % static_cast<unsigned>(count_));
    return reinterpret_cast<T *>(reinterpret_cast<std::uintptr_t>(first) + turn * each_);
  }

private:
  std::size_t each_;
  int count_;
};

template <class In, class Out, class Second = int>
struct operands {
  const Second
      *second; // keys, indices, addends, flags, offsets; null unless the call reads a second array
  const In *in;
  Out *out;
  int *second_out;  // keys or lengths; null unless the call writes a second array
  long long *count; // null unless the call writes the number of results
  long long n;
  places inputs, seconds;
  long long segments = 0; // 0 unless the call scans segments

  /// The same values at the place for `run`.
  operands of_run(unsigned run) const {
    operands turned = *this;
    turned.in = inputs.of_run(in, run);
    turned.second = seconds.of_run(second, run);
    return turned;
  }
};

} // namespace perf
