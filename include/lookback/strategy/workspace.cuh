// SPDX-License-Identifier: MIT
// Where the state of a scan that follows the tree lies in its temporary storage.
#pragma once

#include <lookback/arch/device_memory.cuh>
#include <lookback/core/segments.cuh>
#include <lookback/core/tile_status.cuh>
#include <lookback/strategy/strategy.cuh>
#include <lookback/tile/early_initial.cuh>

#include <climits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Takes memory for arrays of status words: for all that must be zero, then for payloads. Returns
/// where the first of the two ends.
template <class Status, std::size_t Arrays>
std::size_t take_status(temporary_memory &memory, const status_bytes (&bytes)[Arrays],
                        Status *const (&arrays)[Arrays]) {
  char *zeroed[Arrays];
  for (std::size_t i = 0; i < Arrays; ++i) zeroed[i] = memory.take<char>(bytes[i].zeroed);
  const std::size_t end = memory.bytes();
  for (std::size_t i = 0; i < Arrays; ++i)
    *arrays[i] = Status(zeroed[i], memory.take<char>(bytes[i].payload));
  return end;
}

/// The state of `tiles` >= 2 tiles: first everything that must be zero, then payloads, then what is
/// saved before the scan: the boundary keys, or an initial value that may stand in the output.
template <class Problem, class State = scan_state<typename Problem::accumulator>>
struct workspace {
  using T = typename Problem::accumulator;

  workspace(temporary_memory &memory, unsigned tiles) {
    using status_words = decltype(State::tile_aggregates);
    const std::size_t groups = (tiles - 1) / Problem::shape::group_tiles + 1;
    const status_bytes of_tiles = status_words::bytes(tiles),
                       of_groups = status_words::bytes(groups);
    const std::size_t before = memory.bytes();
    state.next_tile_id = memory.take<unsigned>(1);
    zeroed = reinterpret_cast<std::uint64_t *>(state.next_tile_id);
    const std::size_t end = take_status<status_words>(
        memory, {of_tiles, of_groups, of_groups},
        {&state.tile_aggregates, &state.group_aggregates, &state.group_prefixes});
    zeroed_words = (end - before) / sizeof(std::uint64_t);
    using boundary_type = boundary_of<typename Problem::input_type>;
    if constexpr (boundary_type::exists)
      boundary = memory.take<typename boundary_type::type>(tiles);
    if constexpr (reads_initial<Problem>) initial = memory.take<T>(1);
  }

  State state;
  std::uint64_t *zeroed;
  std::size_t zeroed_words;
  void *boundary = nullptr;
  T *initial = nullptr;
};

/// What the strategies of the tree have in common: the tree's tiles, and the same workspace.
template <class Rows>
struct tree_strategy {
  static const char *tuned_for(unsigned architecture) { return Rows::name(architecture); }

  template <class Problem>
  static std::size_t storage(const Problem &problem) {
    return storage_of_state<scan_state<typename Problem::accumulator>>(problem);
  }

protected:
  template <class State, class Problem>
  static std::size_t storage_of_state(const Problem &problem) {
    const std::uint64_t tiles = problem.tiles();
    if (tiles > INT_MAX) return too_many_tiles;
    temporary_memory needed;
    if (tiles > 1) workspace<Problem, State>(needed, static_cast<unsigned>(tiles));
    return needed.bytes();
  }
};

/// The row of `Rows` for the code that is being compiled.
template <class Rows>
using compiled_row = typename Rows::template at<simt::code_architecture>;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
