// SPDX-License-Identifier: MIT
// Scans of many lines of at most one tile, whose elements are adjacent: a few warps scan a line,
// from registers. Every line is read and written once, all of its loads are on their way at once,
// and no line waits for another.
#pragma once

#include <lookback/core/offset_segments.cuh>
#include <lookback/tile/register_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The problem of `items` items, from item `input` of a problem's on, with results from `output`.
template <class Problem>
LOOKBACK_DEVICE Problem part_of(const Problem &problem, std::int64_t input, std::int64_t output,
                                std::int64_t items) {
  return Problem(problem.input + static_cast<std::ptrdiff_t>(input), problem.op, problem.initial,
                 {problem.sink.output + static_cast<std::ptrdiff_t>(output), problem.sink.project},
                 {static_cast<std::uint64_t>(items)});
}

/// A block whose warps have `Rows` rows each. `Warps` of them scan a line; a block has one line,
/// or, if a warp is enough, several.
template <class Problem, int Warps, int Rows>
struct whole_lines {
  using tile = register_tile<Problem, Warps, Rows>;
  static constexpr int warps = Warps, rows = Rows;
  static constexpr int block_warps = Warps > 1 ? Warps : 4;
  static constexpr int lines = block_warps / Warps; // of a block
  static constexpr int threads = block_warps * simt::warp_threads;
  static constexpr std::int64_t length_at_most = tile::items_at_most;
  struct storage {
    typename tile::row_aggregates row_aggregates[lines];
  };
};

/// Grid: `count` lines of `length` elements each, a few of them a block.
template <class Problem, int Warps, int Rows>
LOOKBACK_KERNEL((whole_lines<Problem, Warps, Rows>::threads), 1)
whole_lines_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem, const stepped_offsets input,
                   const stepped_offsets output, const std::int64_t count, const int length) {
  using block = whole_lines<Problem, Warps, Rows>;
  using T = typename Problem::accumulator;
  const int line = simt::warp_index() / Warps;
  const std::int64_t l = std::int64_t{simt::block_index()} * block::lines + line;
  if (l >= count) return; // mutant: last-line
  const Problem own = part_of(problem, input[l], output[l], length);
  block::tile::scan(own, length,
                    simt::shared_memory<typename block::storage>().row_aggregates[line],
                    [&](const auto &, int, auto &, auto &) {
                      maybe<T> prefix;
                      if constexpr (Problem::initial_type::exists)
                        prefix.set(static_cast<T>(problem.initial.value));
                      return prefix;
                    });
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
