// SPDX-License-Identifier: MIT
// One scan by the kernels, as dispatch/dispatch.cuh launches them, on emulated blocks.
#pragma once

#include <lookback/device/decoupled_look_back.cuh>
#include <lookback/device/look_ahead.cuh>
#include <lookback/dispatch/workspace.cuh>

#include <simt/emulator.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace test {

/// The state of a scan of `n` >= 1 elements, if it has one, and the kernel that prepares it. The temporary storage is as long as was asked
/// for, at an address that the schedule picks, and full of garbage.
template <class Problem>
class prepared_scan {
  using T = typename Problem::accumulator;
  using state_cells = lookback::detail::cells<T>;

public:
  prepared_scan(Problem problem_, std::uint64_t n, bool has_state, const emulator::schedule &chosen)
      : problem(problem_), tiles(static_cast<unsigned>(Problem::shape::tiles(n))), chosen_(chosen) {
    namespace core = lookback::detail;
    if (tiles <= 1 || !has_state) return;
    const core::workspace<Problem> layout(tiles);
    const std::size_t shift = chosen.seed / 7 % 3;
    storage_.assign(shift + layout.bytes(), static_cast<unsigned char>(0x81 + chosen.seed % 64));
    char *const base = layout.align(storage_.data() + shift);
    state = layout.state(base);
    auto *const zeroed = reinterpret_cast<std::uint64_t *>(base);
    const std::size_t words = layout.zeroed_bytes() / sizeof(std::uint64_t);
    const unsigned blocks = 1 + static_cast<unsigned>(chosen.seed / 21 % 3), all = tiles;
    if constexpr (core::boundary_of<typename Problem::input_type>::exists) {
      problem.input.bind_boundary(layout.boundary(base));
      stream_.push_back({blocks, 32, 0, [=, input = problem.input] { core::prepare_kernel(input, all, zeroed, words); }});
    } else {
      stream_.push_back({blocks, 32, 0, [=] { core::prepare_kernel(core::no_initial{}, all, zeroed, words); }});
    }
    // Only for reports: the parts of the workspace in its order, each at a multiple of 256 bytes.
    const std::size_t groups = (tiles - 1) / Problem::shape::group_tiles + 1;
    const char *part = base;
    const auto name = [&](const char *text, std::size_t bytes, std::size_t count) {
      names_.push_back({text, part, bytes, bytes / count});
      part += (bytes + 255) / 256 * 256;
    };
    name("next_tile", sizeof(unsigned), 1);
    name("tile_totals", state_cells::bytes(tiles).zeroed, tiles);
    name("group_totals", state_cells::bytes(groups).zeroed, groups);
    name("group_prefixes", state_cells::bytes(groups).zeroed, groups);
  }

  void run(emulator::kernel scanning) {
    stream_.push_back(std::move(scanning));
    emulator::run(chosen_, stream_, names_);
  }

  Problem problem;
  const unsigned tiles;
  lookback::detail::tile_state<T> state;

private:
  const emulator::schedule chosen_;
  std::vector<unsigned char> storage_;
  std::vector<emulator::kernel> stream_;
  std::vector<emulator::named_memory> names_;
};

template <int Warps, lookback::detail::look Where>
struct look_back_by {
  static constexpr lookback::detail::look_back_tuning value{Warps, 1, Where};
};

/// The general path, one block a tile; where the tiles are few enough, one cluster in half of the schedules; and one tile alone.
template <int Warps, class Problem>
void scan(Problem problem, std::uint64_t n, const emulator::schedule &chosen) {
  namespace core = lookback::detail;
  using core::look;
  constexpr bool can_cluster = !core::boundary_of<typename Problem::input_type>::exists;
  const std::uint64_t tiles = Problem::shape::tiles(n);
  const bool cluster = can_cluster && tiles > 1 && tiles <= core::cluster_tiles_at_most && chosen.seed % 2 == 0;
  prepared_scan<Problem> prepared(problem, n, !cluster, chosen);
  emulator::kernel scanning{prepared.tiles, Warps * 32, sizeof(typename core::tile_scan<Problem, Warps>::storage),
                            [n, cluster, problem = prepared.problem, state = prepared.state] {
                              if (lookback::simt::block_count() == 1)
                                core::decoupled_look_back_kernel<Problem, look_back_by<Warps, look::nowhere>>(problem, state, n);
                              else if (!cluster)
                                core::decoupled_look_back_kernel<Problem, look_back_by<Warps, look::back>>(problem, state, n);
                              else if constexpr (can_cluster)
                                core::decoupled_look_back_kernel<Problem, look_back_by<Warps, look::in_cluster>>(problem, state, n);
                            }};
  scanning.may_overlap = chosen.seed % 4 < 2;
  scanning.cluster = cluster;
  prepared.run(std::move(scanning));
}

template <int Stages, int Depth, int ScanningWarps, int LookAheadWarps>
struct look_ahead_by {
  static constexpr lookback::detail::look_ahead_tuning value{Stages, Depth, ScanningWarps, LookAheadWarps};
};

/// The pipeline, on at most `blocks` blocks that are all resident, as a cooperative launch guarantees, or not.
template <class Tuning, class Problem>
void scan_ahead(Problem problem, std::uint64_t n, unsigned blocks, bool cooperative, const emulator::schedule &chosen) {
  namespace core = lookback::detail;
  prepared_scan<Problem> prepared(problem, n, true, chosen);
  emulator::kernel scanning{std::min(blocks, prepared.tiles), Tuning::value.warps() * 32,
                            sizeof(core::look_ahead_storage<Problem, Tuning>),
                            [n, problem = prepared.problem, state = prepared.state] {
                              core::look_ahead_kernel<Problem, Tuning>(problem, state, n);
                            }};
  scanning.cooperative = cooperative;
  prepared.run(std::move(scanning));
}

} // namespace test
