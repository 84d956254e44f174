// SPDX-License-Identifier: MIT
// One scan by the kernels, as dispatch/dispatch.cuh launches them, on emulated blocks.
#pragma once

#include <lookback/device/decoupled_look_back.cuh>
#include <lookback/device/look_ahead.cuh>
#include <lookback/dispatch/tuning.cuh>
#include <lookback/dispatch/workspace.cuh>

#include <simt/emulator.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace test {

/// The state of a scan in global memory: none, or cells that the scan empties itself, or that a kernel before it prepares.
enum class preparation { no_state, by_itself, by_a_kernel };

/// The state of a scan of `n` >= 1 elements, and the kernel that prepares it, if it needs one. The temporary storage is as long
/// as was asked for, at an address that the schedule picks, and full of garbage.
template <class Problem>
class prepared_scan {
  using T = typename Problem::accumulator;
  using state_cells = lookback::detail::cells<T>;

public:
  prepared_scan(Problem problem_, std::uint64_t n, preparation prepares, const emulator::schedule &chosen)
      : problem(problem_), tiles(static_cast<unsigned>(Problem::shape::tiles(n))), chosen_(chosen) {
    namespace core = lookback::detail;
    if (prepares == preparation::no_state) return;
    const core::workspace<Problem> layout(tiles);
    const std::size_t shift = chosen.seed / 7 % 3;
    storage_.assign(shift + layout.bytes(), static_cast<unsigned char>(0x81 + chosen.seed % 64));
    char *const base = layout.align(storage_.data() + shift);
    state = layout.state(base);
    if (prepares == preparation::by_a_kernel) prepare(layout, base);
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

  /// The problem as the scan is given it: behind a kernel that has saved its initial value, with that one.
  template <bool Saved>
  auto scanned() const {
    if constexpr (Saved && lookback::detail::reads_initial<Problem>)
      return lookback::detail::with_initial_at(initial_, problem);
    else
      return problem;
  }

  Problem problem;
  const unsigned tiles;
  lookback::detail::tile_state<T> state;

private:
  void prepare(const lookback::detail::workspace<Problem> &layout, char *base) {
    namespace core = lookback::detail;
    auto *const zeroed = reinterpret_cast<std::uint64_t *>(base);
    const std::size_t words = layout.zeroed_bytes() / sizeof(std::uint64_t);
    const unsigned blocks = 1 + static_cast<unsigned>(chosen_.seed / 21 % 3), all = tiles;
    if constexpr (core::boundary_of<typename Problem::input_type>::exists) {
      problem.input.bind_boundary(layout.boundary(base));
      stream_.push_back({blocks, 32, 0, [=, input = problem.input] { core::prepare_kernel(input, all, zeroed, words); }});
    } else if constexpr (core::reads_initial<Problem>) {
      initial_ = layout.initial(base);
      const auto saved = core::initial_to_save_at(initial_, problem);
      stream_.push_back({blocks, 32, 0, [=] { core::prepare_kernel(saved, all, zeroed, words); }});
    } else {
      stream_.push_back({blocks, 32, 0, [=] { core::prepare_kernel(core::no_initial{}, all, zeroed, words); }});
    }
  }

  const emulator::schedule chosen_;
  T *initial_ = nullptr;
  std::vector<unsigned char> storage_;
  std::vector<emulator::kernel> stream_;
  std::vector<emulator::named_memory> names_;
};

/// That all of its blocks are resident is what a cooperative launch guarantees.
inline void launch_cooperatively(emulator::kernel &scanning, bool guaranteed) {
  scanning.cooperative = true;
  if (guaranteed) scanning.resident = scanning.blocks;
}

template <int Warps, lookback::detail::look Where>
struct tiles_by {
  static constexpr lookback::detail::look_back_tuning value{Warps, 1, Where};
};

/// One block a tile, that looks where `Where` says.
template <int Warps, lookback::detail::look Where, bool Cluster = false, class Problem>
void scan_tiles(Problem problem, std::uint64_t n, const emulator::schedule &chosen, bool guaranteed = true) {
  namespace core = lookback::detail;
  using core::look;
  prepared_scan<Problem> prepared(problem, n,
                                  Where == look::back        ? preparation::by_a_kernel
                                  : tiles_by<Warps, Where>::value.is_together() && !Cluster ? preparation::by_itself
                                                             : preparation::no_state,
                                  chosen);
  const auto scanned = prepared.template scanned<Where == look::back>();
  using scanned_type = std::decay_t<decltype(scanned)>;
  emulator::kernel scanning{prepared.tiles, (Cluster ? Warps : tiles_by<Warps, Where>::value.block_warps()) * 32,
                            sizeof(typename core::tile_scan<scanned_type, Warps, Where>::storage),
                            [n, scanned, state = prepared.state] {
                              core::decoupled_look_back_kernel<scanned_type, tiles_by<Warps, Where>>(scanned, state, n);
                            }};
  if (Where == look::back) scanning.may_overlap = chosen.seed % 4 < 2;
  scanning.cluster = Cluster;
  if (tiles_by<Warps, Where>::value.is_together() && !Cluster) launch_cooperatively(scanning, guaranteed);
  prepared.run(std::move(scanning));
}

/// Elements that are too large for any other kernel.
template <class Problem>
void scan_large(Problem problem, std::uint64_t n, const emulator::schedule &chosen) {
  namespace core = lookback::detail;
  const auto run = [&](auto &prepared, const auto &scanned) {
    using scanned_type = std::decay_t<decltype(scanned)>;
    emulator::kernel scanning{prepared.tiles, 32, sizeof(typename core::large_scan<scanned_type>::storage),
                              [n, scanned, state = prepared.state] { core::large_scan_kernel<scanned_type>(scanned, state, n); }};
    scanning.may_overlap = prepared.tiles > 1 && chosen.seed % 4 < 2;
    prepared.run(std::move(scanning));
  };
  const bool is_only = Problem::shape::tiles(n) == 1;
  prepared_scan<Problem> prepared(problem, n, is_only ? preparation::no_state : preparation::by_a_kernel, chosen);
  if (is_only)
    run(prepared, prepared.template scanned<false>());
  else
    run(prepared, prepared.template scanned<true>());
}

/// Warps that can be resident together: ThreadSanitizer takes more than a megabyte for each of their lanes.
#if defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t warps_at_once = 110;
#else
inline constexpr std::uint64_t warps_at_once = 1u << 20;
#endif

/// One tile alone; and where tiles are more, any of the ways that dispatch has for so many.
template <int Warps, class Problem>
void scan(Problem problem, std::uint64_t n, const emulator::schedule &chosen) {
  using lookback::detail::look;
  if constexpr (lookback::detail::is_large<Problem>) return scan_large(problem, n, chosen);
  const std::uint64_t tiles = Problem::shape::tiles(n), die = chosen.seed / 5 % 4;
  if (tiles == 1) return scan_tiles<Warps, look::nowhere>(problem, n, chosen);
  if (die == 0 && tiles * (Warps + 1) <= warps_at_once) return scan_tiles<Warps, look::over_wave>(problem, n, chosen);
  if constexpr (lookback::detail::can_send<typename Problem::accumulator>)
    if (die == 1 && tiles <= lookback::detail::cluster_tiles_at_most)
      return scan_tiles<Warps, look::around, true>(problem, n, chosen);
  scan_tiles<Warps, look::back>(problem, n, chosen);
}

/// A column of more than three tiles is a long one.
template <int Stages, int InFlight, int Depth, int ScanningWarps, int LookAheadWarps, int LongColumnWarps = LookAheadWarps,
          int ShortInFlight = InFlight>
struct look_ahead_by {
  static constexpr lookback::detail::look_ahead_tuning value{Stages,        InFlight,       ShortInFlight,   Depth,
                                                             ScanningWarps, LookAheadWarps, LongColumnWarps, 3};
};

/// The pipeline, on at most `blocks` blocks.
template <class Tuning, class Problem>
void scan_ahead(Problem problem, std::uint64_t n, unsigned blocks, const emulator::schedule &chosen,
                bool guaranteed = true) {
  namespace core = lookback::detail;
  prepared_scan<Problem> prepared(problem, n, preparation::by_itself, chosen);
  emulator::kernel scanning{std::min(blocks, prepared.tiles), Tuning::value.warps() * 32,
                            sizeof(core::look_ahead_storage<Problem, Tuning>),
                            [n, problem = prepared.problem, state = prepared.state] {
                              core::look_ahead_kernel<Problem, Tuning>(problem, state, n);
                            }};
  launch_cooperatively(scanning, guaranteed);
  prepared.run(std::move(scanning));
}

} // namespace test
