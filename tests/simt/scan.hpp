// SPDX-License-Identifier: MIT
// One scan by the kernels of the general path, as dispatch/dispatch.cuh launches them, on emulated blocks.
#pragma once

#include <lookback/device/decoupled_look_back.cuh>
#include <lookback/dispatch/workspace.cuh>

#include <simt/emulator.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <vector>

namespace test {

template <int Warps>
struct look_back_by {
  static constexpr lookback::detail::look_back_tuning value{Warps, 1};
};

/// `n` >= 1. The temporary storage is as long as was asked for, at an address that the schedule picks, and full of garbage.
template <int Warps, class Problem>
void scan(Problem problem, std::uint64_t n, const emulator::schedule &chosen) {
  namespace core = lookback::detail;
  using T = typename Problem::accumulator;
  using block = core::tile_scan<Problem, Warps>;
  const auto tiles = static_cast<unsigned>(Problem::shape::tiles(n));
  const core::workspace<Problem> layout(tiles);
  const std::size_t shift = chosen.seed / 7 % 3;
  std::vector<unsigned char> storage(shift + layout.bytes(), static_cast<unsigned char>(0x81 + chosen.seed % 64));

  std::vector<emulator::kernel> stream;
  std::vector<emulator::named_memory> names;
  core::tile_state<T> state;
  if (tiles > 1) {
    char *const base = layout.align(storage.data() + shift);
    state = layout.state(base);
    auto *const zeroed = reinterpret_cast<std::uint64_t *>(base);
    const std::size_t words = layout.zeroed_bytes() / sizeof(std::uint64_t);
    const unsigned blocks = 1 + static_cast<unsigned>(chosen.seed / 21 % 3);
    if constexpr (core::boundary_of<typename Problem::input_type>::exists) {
      problem.input.bind_boundary(layout.boundary(base));
      stream.push_back({blocks, 32, 0, [=, input = problem.input] { core::prepare_kernel(input, tiles, zeroed, words); }});
    } else {
      stream.push_back({blocks, 32, 0, [=] { core::prepare_kernel(core::no_initial{}, tiles, zeroed, words); }});
    }
    // Only for reports: the parts of the workspace in its order, each at a multiple of 256 bytes.
    const char *part = base;
    const auto name = [&](const char *text, std::size_t bytes, std::size_t count) {
      names.push_back({text, part, bytes, bytes / count});
      part += (bytes + 255) / 256 * 256;
    };
    const std::size_t groups = (tiles - 1) / Problem::shape::group_tiles + 1;
    name("next_tile", sizeof(unsigned), 1);
    name("tile_totals", core::cells<T>::bytes(tiles).zeroed, tiles);
    name("group_totals", core::cells<T>::bytes(groups).zeroed, groups);
    name("group_prefixes", core::cells<T>::bytes(groups).zeroed, groups);
  }
  stream.push_back({tiles, Warps * 32, sizeof(typename block::storage), [=] {
                      core::decoupled_look_back_kernel<Problem, look_back_by<Warps>>(problem, state, n);
                    }});
  stream.back().may_overlap = chosen.seed % 2 == 0;
  emulator::run(chosen, stream, names);
}

} // namespace test
