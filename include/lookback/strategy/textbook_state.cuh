// SPDX-License-Identifier: MIT
// What the strategies of the catalogue keep in memory while they run: sums, and what blocks tell
// each other.
#pragma once

#include <lookback/arch/device_memory.cuh>
#include <lookback/carry/prepare_state.cuh>
#include <lookback/core/problem.cuh>
#include <lookback/core/tile_status.cuh>
#include <lookback/strategy/strategy.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// State shared by the blocks of a single-pass strategy: for each tile, the statuses of its
/// aggregate and of its inclusive prefix.
template <class T, class Memory = exchanging_memory>
struct textbook_state {
  using status_words = tile_status<T, Memory>;
  unsigned *next = nullptr; // zero before the first use
  status_words aggregates, prefixes;

  /// Draws the block's dynamic tile id, the same in every thread: the number of blocks that started
  /// before it. Blocks with lower ids are already running.
  template <class Storage>
  LOOKBACK_DEVICE unsigned draw_id(Storage &shared) const {
    if (simt::thread_index() == 0) shared.tile_id = simt::fetch_increment(next);
    simt::synchronize_block(); // mutant: textbook-id
    return shared.tile_id;
  }
};

/// Empties `words` words at `zeroed` and saves the keys that results in place may overwrite.
template <class Problem, class Launch>
void prepare(Problem &problem, unsigned tiles, std::uint64_t *zeroed, std::size_t words,
             temporary_memory &memory, Launch &launch) {
  const std::size_t more = words / 4096 + tiles / 4096;
  const block_shape block{256, 0};
  const launch_grid grid{more < 255 ? more + 1 : 256};
  if constexpr (boundary_of<typename Problem::input_type>::exists) {
    using boundary = boundary_of<typename Problem::input_type>;
    problem.input.bind_boundary(memory.take<typename boundary::type>(tiles));
    launch(prepare_kernel<typename Problem::input_type>, block, grid, problem.input, tiles, zeroed,
           words);
  } else if (words > 0) {
    launch(prepare_kernel<no_initial>, block, grid, no_initial{}, tiles, zeroed, words);
  }
}

/// The state of a single pass over `tiles` tiles, empty when the next kernel starts. `problem` then
/// reads the saved keys.
template <class Memory = exchanging_memory, class Problem, class Launch>
auto prepare_state(Problem &problem, unsigned tiles, temporary_memory &memory, Launch &launch) {
  using state_type = textbook_state<typename Problem::accumulator, Memory>;
  using status_words = typename state_type::status_words;
  const status_bytes bytes = status_words::bytes(tiles);
  auto *const zeroed = memory.take<std::uint64_t>(0);
  state_type state;
  const std::size_t before = memory.bytes();
  state.next = memory.take<unsigned>(1);
  void *const aggregates = memory.take<char>(bytes.zeroed), *const prefixes =
                                                                memory.take<char>(bytes.zeroed);
  const std::size_t words = (memory.bytes() - before) / sizeof(std::uint64_t);
  state.aggregates = status_words(aggregates, memory.take<char>(bytes.payload));
  state.prefixes = status_words(prefixes, memory.take<char>(bytes.payload));
  prepare(problem, tiles, zeroed, words, memory, launch);
  return state;
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
