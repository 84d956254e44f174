// SPDX-License-Identifier: MIT
// Scans of lines of at most one row of the tree that lie one behind the other in memory. A line
// consists of whole vectors, and a warp has as many lines as fit its lanes; or a vector consists of
// whole lines, and a lane scans these. Elements go from memory to registers and back.
#pragma once

#include <lookback/block/lane_scan.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/tile/scan_tile.cuh>
#include <lookback/tile/vector_loads.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Scans such lines. Blocks share nothing. Each warp has four rows of up to 32 vectors, one a lane,
/// and a row has as many whole lines as fit.
template <class Problem>
class short_rows {
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  static constexpr int E = Problem::shape::vector_elements, lanes = simt::warp_threads;
  static constexpr int rows = 4; // of a warp, all of which it loads at once

public:
  static constexpr int threads = 128;
  /// Vectors can be loaded and stored whole, and the eight accumulators of a lane (two for each
  /// row) take few registers.
  static constexpr bool possible = exchange_of<T> == exchange_by::shuffle && sizeof(T) <= 16 &&
                                   can_move_as_vectors<item, typename Problem::input_type> &&
                                   has_vectors<Problem> && lane_vector<item, E>::packed &&
                                   lane_vector<stored, E>::packed;

  /// Whether lines have such a length, and the arrays are aligned to vectors.
  static bool fits(const Problem &problem, std::int64_t length) {
    return length <= Problem::shape::row_elements && (length % E == 0 || E % length == 0) &&
           moves_as_vectors<item, E>(problem.input) &&       // mutant: short-input
           moves_as_vectors<stored, E>(problem.sink.output); // mutant: short-aligned
  }
  /// Blocks for `items` elements.
  static std::int64_t blocks(std::int64_t items, std::int64_t length) {
    return (items - 1) / (std::int64_t{threads / lanes * rows} * warp_items(length)) + 1;
  }

  /// `items`: of all lines together, of `length` each.
  LOOKBACK_DEVICE short_rows(const Problem &problem, std::int64_t items, int length)
      : problem_(problem), op_(problem.op), length_(length),
        line_vectors_(length > E ? length / E : 1), vector_(simt::lane_index() % line_vectors_) {
    const std::int64_t warp =
        std::int64_t{simt::block_index()} * (threads / lanes) + simt::warp_index();
    const int own = warp_items(length);
    first_ = warp * rows * own;
    LOOKBACK_UNROLL
    for (int i = 0; i < rows; ++i) {
      const std::int64_t left = items - first_ - i * own;
      items_[i] = left < 0 ? 0 : left < own ? static_cast<int>(left) : own;
    }
  }

  LOOKBACK_DEVICE void run() {
    const int lane = simt::lane_index(), own = warp_items(length_);
    lane_vector<item, E> loaded[rows];
    LOOKBACK_UNROLL
    for (int i = 0; i < rows; ++i)
      load_lane(problem_.input + static_cast<std::ptrdiff_t>(first_ + i * own + lane * E), true,
                items_[i] - lane * E, loaded[i]);
    uninitialized_array<T, rows> before; // the aggregate of the line's vectors before this one
    if (line_vectors_ > 1) combine(loaded, before);
    LOOKBACK_UNROLL
    for (int i = 0; i < rows; ++i) {
      const int count = items_[i] - lane * E;
      maybe<T> prefix = initial();
      if (vector_ > 0 && count > 0) prefix.append(op_, before[i]); // mutant: short-before
      lane_vector<stored, E> results;
      if (length_ < E)
        scan_lines(count, loaded[i], results);
      else
        scan_lane(problem_, prefix, count, loaded[i], op_, results);
      store_row<E, false, false>(problem_.sink.output +
                                     static_cast<std::ptrdiff_t>(first_ + i * own),
                                 items_[i], true, nullptr, results);
    }
  }

private:
  /// Elements of a row of a warp: as many whole lines as its lanes have.
  LOOKBACK_HOST_DEVICE static int warp_items(std::int64_t length) {
    const int line = length > E ? static_cast<int>(length) : E;
    return lanes * E / line * line;
  }
  LOOKBACK_DEVICE maybe<T> initial() const {
    maybe<T> prefix;
    if constexpr (Problem::initial_type::exists) prefix.set(static_cast<T>(problem_.initial.value));
    return prefix;
  }
  /// The Kogge-Stone network over the vectors of each line: the first steps of the tree's network
  /// for a row.
  LOOKBACK_DEVICE void combine(const lane_vector<item, E> (&loaded)[rows],
                               uninitialized_array<T, rows> &before) {
    typename lane_exchange<T>::storage nothing;
    lane_exchange<T> exchange(nothing);
    uninitialized_array<T, rows> x; // V of the lane's vector
    const auto exists = [&](int i) { return (simt::lane_index() + 1) * E <= items_[i]; };
    LOOKBACK_UNROLL
    for (int i = 0; i < rows; ++i)
      if (exists(i)) construct(x[i], fold_lane<Problem>(loaded[i], op_));
    LOOKBACK_UNROLL
    for (int distance = 1; distance < network::lanes; distance *= 2) {
      if (distance >= line_vectors_) break;
      LOOKBACK_UNROLL
      for (int i = 0; i < rows; ++i) {
        const T &left = exchange.up(x[i], distance, exists(i));
        if (exists(i) && vector_ >= distance) // mutant: short-line
          construct(x[i], static_cast<T>(op_(left, x[i])));
      }
    }
    LOOKBACK_UNROLL
    for (int i = 0; i < rows; ++i) construct(before[i], exchange.up(x[i], 1, exists(i)));
  }
  /// Scans the lines of a vector, of which `count` elements exist.
  LOOKBACK_DEVICE void scan_lines(int count, const lane_vector<item, E> &vector,
                                  lane_vector<stored, E> &results) {
    maybe<T> prefix;
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      if (k >= count) continue;
      const int at = k & (length_ - 1); // lengths that divide E are powers of two
      if (at == 0) prefix = initial();  // mutant: short-begin
      const auto element = [&](int) -> decltype(auto) { return vector.get(k); };
      const auto emit = [&](int, const T &scanned, const item &x) {
        results.set(k, static_cast<stored>(problem_.sink.project(scanned, x)));
      };
      if (at + 1 < length_)
        scan_vector<Problem::inclusive, 1, true>(prefix, 1, element, op_, emit);
      else
        scan_vector<Problem::inclusive, 1, false>(prefix, 1, element, op_, emit);
    }
  }

  const Problem &problem_;
  std::decay_t<decltype(Problem::op)> op_;
  const int length_, line_vectors_, vector_; // vectors of a line, and which of them this is
  std::int64_t first_;                       // element of the warp
  int items_[rows];
};

/// Grid: short_rows::blocks().
template <class Problem>
LOOKBACK_KERNEL((short_rows<Problem>::threads), 1)
short_rows_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem, const std::int64_t items,
                  const int length) {
  short_rows<Problem>(problem, items, length).run();
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
