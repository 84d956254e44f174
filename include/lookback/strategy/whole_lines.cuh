// SPDX-License-Identifier: MIT
// Scans of many lines of at most one tile, whose elements are adjacent: a few warps scan a line,
// from registers. Every line is read and written once, all of its loads are on their way at once,
// and no line waits for another.
#pragma once

#include <lookback/arch/device_memory.cuh>
#include <lookback/core/offset_segments.cuh>
#include <lookback/tile/reduce_tile.cuh>
#include <lookback/tile/scan_tile.cuh>
#include <lookback/tile/vector_loads.cuh>
#include <lookback/tile/warp_rows.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A warp's rows of a line in registers, in the role of a tile's source.
template <class Problem, int Count>
class rows_in_registers {
  using shape = typename Problem::shape;
  using item = typename Problem::item;
  static constexpr int E = shape::vector_elements;

public:
  using first_type = item;
  using elements = lane_vector<item, E>;
  static constexpr bool shifts = false;
  static constexpr unsigned alignment = 16;

  /// Loads rows first_row to first_row + Count - 1 of the problem's elements, `valid` in all.
  LOOKBACK_DEVICE rows_in_registers(const Problem &problem, int first_row, int valid)
      : first_row_(first_row) {
    const auto input = problem.input;
    const bool whole = moves_as_vectors<item, E>(input);
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const int first = (first_row + i) * shape::row_elements + simt::lane_index() * E;
      load_lane(input + first, whole, valid - first, own_[i]); // mutant: line-items
    }
  }
  template <bool>
  LOOKBACK_DEVICE const elements &read(const unsigned char *, unsigned, int row, int) const {
    return own_[row - first_row_];
  }
  /// Results do not pass through shared memory.
  template <bool>
  LOOKBACK_DEVICE item *row_of(unsigned char *, int) const {
    return nullptr;
  }

private:
  const int first_row_;
  elements own_[Count];
};

/// `Warps` warps scan a line; a block has one line, or, if a warp is enough, several.
template <class Problem, int Warps>
class whole_lines {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  static constexpr int rows = 8; // of a warp
  static constexpr int block_warps = Warps > 1 ? Warps : 4;

public:
  static constexpr int lines = block_warps / Warps; // of a block
  static constexpr int threads = block_warps * simt::warp_threads;
  static constexpr std::int64_t length_at_most = std::int64_t{Warps} * rows * shape::row_elements;
  using vector = lane_vector<typename Problem::item, shape::vector_elements>;
  static constexpr bool possible = vector::packed && shape::tile_rows >= Warps * rows;
  struct storage {
    uninitialized_array<T, shape::tile_rows> row_aggregates[lines];
  };

  LOOKBACK_DEVICE whole_lines(const Problem &problem, storage &shared)
      : problem_(problem), shared_(shared), op_(problem.op) {}

  /// Scans line `line` of the block, the elements of the problem. Called by its warps.
  LOOKBACK_DEVICE void scan(int line, int items) {
    if (items == length_at_most)
      scan_rows_of<true>(line, items);
    else
      scan_rows_of<false>(line, items);
  }

private:
  template <bool Full>
  LOOKBACK_DEVICE void scan_rows_of(int line, int items) {
    const int lane = simt::lane_index(), first_row = simt::warp_index() % Warps * rows;
    auto &row_aggregates = shared_.row_aggregates[line];
    typename lane_exchange<T>::storage nothing;
    lane_exchange<T> exchange(nothing);
    using source = rows_in_registers<Problem, rows>;
    const source loaded(problem_, first_row, items);
    const warp_rows<Problem, source, rows, Full, false> own(
        problem_, loaded, nullptr, 0, true, lane, first_row, items,
        output_at(problem_, 0, first_row * shape::row_elements));

    uninitialized_array<T, rows> vectors; // V(lane) of each row
    reduce_rows(own, vectors, row_aggregates, op_, exchange);
    if constexpr (Warps > 1) {
      simt::synchronize_block(); // mutant: line-barrier
    } else {
      simt::synchronize_warp(); // mutant: line-warp-barrier
    }
    uninitialized_array<T, 1> row_prefixes; // R(lane), inclusive
    const int full_rows = Full ? Warps * rows : items / shape::row_elements;
    scan_row_aggregates(row_aggregates, full_rows, row_prefixes, op_, exchange);
    maybe<T> prefix;
    if constexpr (Problem::initial_type::exists) prefix.set(static_cast<T>(problem_.initial.value));
    const auto row_prefix = [&](int row) -> decltype(auto) { // R(row - 1)
      return exchange.from(row_prefixes[0], row > 0 ? row - 1 : 0, lane < full_rows);
    };
    scan_rows<true>(own, prefix, row_prefix, vectors, as_vectors(problem_), op_, exchange);
  }

  const Problem &problem_;
  storage &shared_;
  std::decay_t<decltype(Problem::op)> op_;
};

/// Grid: `count` lines of `length` elements each, a few of them a block.
template <class Problem, int Warps>
LOOKBACK_KERNEL((whole_lines<Problem, Warps>::threads), 1)
whole_lines_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem, const stepped_offsets input,
                   const stepped_offsets output, const std::int64_t count, const int length) {
  using block = whole_lines<Problem, Warps>;
  const int line = simt::warp_index() / Warps;
  const std::int64_t l = std::int64_t{simt::block_index()} * block::lines + line;
  if (l >= count) return; // mutant: last-line
  const Problem own(
      problem.input + static_cast<std::ptrdiff_t>(input[l]), problem.op, problem.initial,
      {problem.sink.output + static_cast<std::ptrdiff_t>(output[l]), problem.sink.project},
      {static_cast<std::uint64_t>(length)});
  block(own, simt::shared_memory<typename block::storage>()).scan(line, length);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
