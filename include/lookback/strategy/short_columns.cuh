// SPDX-License-Identifier: MIT
// Scans of columns of a few vectors of the tree. Each thread has a column, whose elements go from
// memory to its registers and back. Adjacent threads have adjacent columns, so accesses coalesce
// without shared memory.
#pragma once

#include <lookback/block/network_so_far.cuh>
#include <lookback/core/axis.cuh>
#include <lookback/core/problem.cuh>

#include <climits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Scans `lines`, columns of at most `length_at_most` elements: each thread one.
template <class Problem>
class short_columns {
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  static constexpr int E = Problem::shape::vector_elements;

public:
  static constexpr int threads = 128;
  /// Vectors of a column: 32 elements or 8 vectors at most. 0: elements need too many registers.
  static constexpr int vectors = sizeof(T) > 16 || sizeof(item) > 16 || sizeof(stored) > 16 ? 0
                                 : E > 4                                                    ? 32 / E
                                                                                            : 8;
  static constexpr std::int64_t length_at_most = vectors * E;

  LOOKBACK_DEVICE short_columns(const Problem &problem, const axis &lines)
      : problem_(problem), lines_(lines), length_(static_cast<int>(lines.length)) {}

  LOOKBACK_DEVICE void run() const {
    const std::int64_t line = std::int64_t{simt::block_index()} * threads + simt::thread_index();
    if (line >= lines_.outer * lines_.inner) return;
    // A division of 32 bits takes a fraction of the time of one of 64.
    const std::int64_t outer = lines_.outer * lines_.inner <= INT_MAX
                                   ? static_cast<int>(line) / static_cast<int>(lines_.inner)
                                   : line / lines_.inner,
                       column = line - outer * lines_.inner;
    const auto first = [&](const axis::pitch &pitch) {
      return static_cast<std::ptrdiff_t>(outer * pitch.outer + column +
                                         (lines_.reverse ? (length_ - 1) * pitch.length : 0));
    };
    const auto step = [&](const axis::pitch &pitch) {
      return static_cast<std::ptrdiff_t>(lines_.reverse ? -pitch.length : pitch.length);
    };
    scan(problem_.input + first(lines_.input), step(lines_.input),
         problem_.sink.output + first(lines_.output), step(lines_.output));
  }

private:
  /// Vectors that are loaded together: 16 elements; 4, if a vector has only one.
  static constexpr int at_once = E == 1 ? 4 : E < 16 ? 16 / E : 1;

  template <class Input, class Output>
  LOOKBACK_DEVICE void scan(Input from, std::ptrdiff_t step, Output to,
                            std::ptrdiff_t output_step) const {
    auto op = problem_.op;
    // Further steps of the network change later lanes only.
    network_so_far<T, vectors, 3> before;
    static_assert(vectors <= 8, "the vectors of a column need at most 3 of the network's steps");
    LOOKBACK_UNROLL
    for (int first = 0; first < vectors; first += at_once) {
      if (first * E >= length_) break;
      uninitialized_array<item, at_once * E> own;
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once * E; ++i)
        if (first * E + i < length_)
          construct(own[i], static_cast<item>(from[(first * E + i) * step]));
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int v = first + i, left = length_ - v * E;
        if (left <= 0) continue;
        const auto element = [&](int k) -> const item & { return own[i * E + k]; };
        maybe<T> prefix;
        if constexpr (Problem::initial_type::exists)
          prefix.set(static_cast<T>(problem_.initial.value));
        if (v > 0) prefix.append(op, before.through(v - 1)); // mutant: short-left
        scan_vector<Problem::inclusive, E, false>(
            prefix, left < E ? left : E, element, op, [&](int k, const T &scanned, const item &x) {
              to[(v * E + k) * output_step] =
                  static_cast<stored>(problem_.sink.project(scanned, x));
            });
        if (left > E) before.append(v, fold_vector<E, T>(element, op), op);
      }
    }
  }

  const Problem &problem_;
  const axis &lines_;
  const int length_;
};

template <class Problem>
LOOKBACK_KERNEL((short_columns<Problem>::threads), 6)
short_columns_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                     LOOKBACK_KERNEL_PARAMETER axis lines) {
  short_columns<Problem>(problem, lines).run();
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
