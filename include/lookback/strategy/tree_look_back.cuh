// SPDX-License-Identifier: MIT
// The general strategy: one block a tile, single pass, decoupled look-back with dynamic tile ids
// (carry/look_back_carry.cuh).
//
// D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA
// NVR-2016-002; dynamic ids after S. Yan, G. Long, Y. Zhang, "StreamScan", PPoPP 2013.
#pragma once

#include <lookback/carry/look_ahead_carry.cuh>
#include <lookback/carry/prepare_state.cuh>
#include <lookback/core/standard.cuh>
#include <lookback/strategy/tree_tiles.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether the pipeline takes the problem in code that has the tuning `Row`.
template <class Problem, class Row, class = void>
inline constexpr bool has_pipeline = false;
template <class Problem, class Row>
inline constexpr bool has_pipeline<
    Problem, Row, std::enable_if_t<can_look_ahead<Problem>::value && Row::has_pipelines>> =
    Row::template pipeline<Problem>::fits;

/// Whether the look-back scans only what the pipeline leaves.
template <class Problem, class Row>
inline constexpr bool is_fallback = has_pipeline<Problem, Row> && !blocks_structs<Problem>::value;

/// The tuning of the look-back. Where there is a pipeline, the look-back scans only the heads of
/// chunks and shards (head_strategies), keys that the results overwrite, and what a refused launch
/// leaves; so its blocks have twice the warps, with half the rows each, which halves the unrolled
/// code, and half as many blocks keep the number of threads. One body of code then serves all
/// tiles. All this compiles sooner (speeds: dispatch/tuning.cuh). Structs keep their tuning,
/// since those that are few or not aligned go to the look-back, too.
template <class Problem, class Row, bool IsFallback = is_fallback<Problem, Row>>
struct look_back_tuning : Row::template tree_look_back<Problem> {};
template <class Problem, class Row>
struct look_back_tuning<Problem, Row, true> {
  static constexpr tile_tuning row = Row::template tree_look_back<Problem>::value;
  static constexpr bool doubles = 2 * row.warps <= Problem::shape::tile_rows;
  static constexpr int warps = doubles ? 2 * row.warps : row.warps,
                       blocks = doubles ? (row.blocks + 1) / 2 : row.blocks;
  static constexpr tile_tuning value{warps, blocks, row.prefetch_distance};
};

template <class Problem, class Rows>
struct tree_look_back_block {
  using rows = Rows;
  template <class Row>
  using of = tile_block<Problem, carry::look_back, look_back_tuning<Problem, Row>>;
  using here = of<compiled_row<Rows>>;
};

template <class Problem, class Rows>
LOOKBACK_KERNEL((tree_look_back_block<Problem, Rows>::here::threads),
                (tree_look_back_block<Problem, Rows>::here::resident))
tree_look_back_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                      const look_back_state<typename Problem::accumulator> state) {
  constexpr auto code =
      is_fallback<Problem, compiled_row<Rows>> ? code_for::others : code_for::fast;
  scan_tiles<typename tree_look_back_block<Problem, Rows>::here, carry::look_back, code>(problem,
                                                                                         state);
}

/// Enqueues the kernel that clears the state in `in` and saves what the scan may overwrite. Returns
/// the problem for the scan's kernel, which reads the saved values. By key, the keys are saved: an
/// initial value on the device must not be a part of the output.
template <class Rows, class Problem, class State, class Launch>
auto prepare_tiles(Problem problem, const workspace<Problem, State> &in, Launch &launch) {
  constexpr bool by_key = boundary_of<typename Problem::input_type>::exists;
  const auto enqueue = [&](const auto &saved) {
    using saved_type = std::decay_t<decltype(saved)>;
    const std::size_t blocks = (in.zeroed_words - 1) / Rows::prepare_threads + 1,
                      most = Rows::prepare_blocks_at_most;
    const block_shape block{Rows::prepare_threads, 0};
    const launch_grid grid{blocks < most ? blocks : most};
    if constexpr (counts_on_device<Problem>)
      launch(prepare_actual_kernel<Problem, saved_type, State>, block, grid, problem, saved,
             in.state);
    else
      launch(prepare_kernel<saved_type>, block, grid, saved, static_cast<unsigned>(problem.tiles()),
             in.zeroed, in.zeroed_words);
  };
  if constexpr (reads_initial<Problem> && !by_key) { // mutant: saved-initial
    enqueue(initial_to_save_at(in.initial, problem));
    return with_initial_at(in.initial, problem);
  } else if constexpr (by_key) {
    problem.input.bind_boundary(in.boundary);
    enqueue(problem.input);
    return problem;
  } else {
    enqueue(no_initial{});
    return problem;
  }
}

template <class Rows>
struct tree_look_back : tree_strategy<Rows> {
  static constexpr const char *name = "tree_look_back";
  static constexpr bool needs_residency = false;
  template <class Problem>
  static constexpr bool supports = !is_large<Problem, Rows>;

  template <class Problem>
  using state = look_back_state<typename Problem::accumulator>;

  template <class Problem>
  static std::size_t storage(const Problem &problem) {
    return tree_strategy<Rows>::template storage_of_state<state<Problem>>(problem);
  }
  template <class Problem, class Launch>
  static const char *fits(const Problem &problem, Launch &) {
    return problem.tiles() > 1 ? nullptr : "one tile needs no look-back";
  }
  template <class Problem, class Launch>
  static void run(const Problem &problem, temporary_memory &memory, Launch &launch) {
    const std::uint64_t tiles = problem.tiles();
    const workspace<Problem, state<Problem>> in(memory, static_cast<unsigned>(tiles));
    const auto prepared = prepare_tiles<Rows>(problem, in, launch);
    using prepared_type = std::decay_t<decltype(prepared)>;
    const auto kernel = tree_look_back_kernel<prepared_type, Rows>;
    using block = tree_look_back_block<prepared_type, Rows>;
    std::uint64_t blocks = tiles;
    if constexpr (counts_on_device<Problem>) { // as many as are resident
      blocks = std::max(launch.template resident_blocks<block>(kernel), launch.multiprocessors());
      blocks = std::min(blocks, tiles);
    }
    launch(kernel, launch.template shape<block>(kernel), launch_grid{blocks, residency::none, true},
           prepared, in.state);
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
