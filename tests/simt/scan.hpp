// SPDX-License-Identifier: MIT
// One scan by the dispatch as it is, on an emulated device: what is launched runs on emulated
// blocks.
#pragma once

#include <lookback/dispatch/algorithm.cuh>

#include <simt/emulator.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace test {

namespace core = lookback::detail;

/// What dispatch asks of a device, and what its launches are given.
struct device {
  unsigned multiprocessors = 1;
  unsigned cluster_blocks = 16;
  unsigned small_wave = 0, large_wave = 1u << 20; // blocks that are resident at once
  bool runs_pipeline = true;
  bool lends_all = true;  // or refuses launches whose blocks must be resident together
  bool guaranteed = true; // that all blocks of a cooperative launch are resident
  bool captured = false;  // launches are repeated, with the same arguments
  unsigned resident = 1;  // blocks of other launches that are resident at least
};

enum class outcome { launched, refused, invalid_value, not_supported };

template <class Block>
inline constexpr bool is_small_wave = false;
template <class Problem, class Rows>
inline constexpr bool is_small_wave<core::small_wave_block<Problem, Rows>> =
    !core::has_short_kernels<Problem>;

/// Takes the launches down, for one stream. See strategy/strategy.cuh.
class emulated_launcher {
public:
  using status_type = outcome;
  emulated_launcher(const device &on, const emulator::schedule &chosen,
                    std::vector<emulator::kernel> &stream)
      : on_(on), chosen_(chosen), stream_(stream) {}

  outcome status() const { return status_; }
  bool refused() const { return status_ == outcome::refused; }
  outcome refuse(core::refusal why) {
    if (status_ == outcome::launched)
      status_ =
          why == core::refusal::invalid_value ? outcome::invalid_value : outcome::not_supported;
    return status_;
  }
  void forgive() { status_ = outcome::launched; }
  const core::launch_record &latest() const { return latest_; }

  template <class... Parameters, class... Arguments>
  void operator()(void (*kernel)(Parameters...), const core::block_shape &block,
                  const core::launch_grid &grid, const Arguments &...arguments) {
    if (grid.together != core::residency::none && !on_.lends_all) status_ = outcome::refused;
    if (status_ != outcome::launched) return;
    latest_ = {block, grid, 900};
    emulator::kernel scanning{static_cast<unsigned>(grid.blocks), block.threads, block.shared_bytes,
                              [=] { kernel(arguments...); }};
    scanning.resident = on_.resident;
    scanning.may_overlap = grid.may_overlap && chosen_.seed % 4 < 2;
    scanning.cluster = grid.together == core::residency::cluster;
    scanning.cooperative = grid.together == core::residency::grid;
    if (scanning.cooperative) guarantee(scanning, on_.guaranteed);
    stream_.push_back(std::move(scanning));
  }

  template <class Block, class Kernel>
  core::block_shape shape(Kernel) const {
    return Block::template of<typename Block::rows::template at<900>>::shape();
  }
  bool is_captured() const { return on_.captured; }
  /// Less than the garbage in the storage, or greater.
  std::uint64_t tag() const {
    static std::uint64_t latest = 0;
    constexpr std::uint64_t step = core::roll_call<>::tag_step;
    latest += step;
    return (chosen_.seed % 3 == 0 ? std::uint64_t{1} << 32 : std::uint64_t{0xf} << 60) + latest;
  }
  unsigned multiprocessors() const { return on_.multiprocessors; }
  template <class Block, class Kernel>
  unsigned cluster_blocks(Kernel) const {
    return on_.cluster_blocks;
  }
  template <class Block, class Kernel>
  unsigned resident_blocks(Kernel) const {
    return is_small_wave<Block> ? on_.small_wave : on_.large_wave;
  }
  /// A block that has no pipeline asks for more shared memory than there is.
  template <class Block, class Kernel>
  bool can_run(Kernel kernel) const {
    return on_.runs_pipeline &&
           shape<Block>(kernel).shared_bytes < lookback::detail::more_shared_bytes_than_any;
  }

private:
  /// That all of its blocks are resident is what a cooperative launch guarantees.
  static void guarantee(emulator::kernel &scanning, bool guaranteed) {
    if (guaranteed) scanning.resident = scanning.blocks; // mutant: resident
  }

  const device on_;
  const emulator::schedule chosen_;
  std::vector<emulator::kernel> &stream_;
  outcome status_ = outcome::launched;
  core::launch_record latest_;
};

/// Only for reports: the parts of the workspace of a scan that follows the tree, in their order.
template <class Problem>
std::vector<emulator::named_memory> workspace_names(void *storage, std::uint64_t n) {
  using status_words = core::tile_status<typename Problem::accumulator>;
  std::vector<emulator::named_memory> names;
  const std::size_t tiles = Problem::shape::tiles(n),
                    groups = (tiles - 1) / Problem::shape::group_tiles + 1;
  core::temporary_memory memory(storage);
  const auto name = [&](const char *text, std::size_t bytes, std::size_t count) {
    names.push_back({text, memory.take<char>(bytes), bytes, bytes / count});
  };
  name("next_tile_id", sizeof(unsigned), 1);
  name("tile_aggregates", status_words::bytes(tiles).zeroed, tiles);
  name("group_aggregates", status_words::bytes(groups).zeroed, groups);
  name("group_prefixes", status_words::bytes(groups).zeroed, groups);
  return names;
}
template <class Strategies>
inline constexpr bool follows_tree = true;
template <class Textbook>
inline constexpr bool follows_tree<core::first_of<Textbook>> = false;

/// Scans by the first of `Strategies` that takes `n` elements on the device `on`. The
/// temporary storage is as long as was asked for, at an address that the schedule picks, and full
/// of garbage.
template <class Strategies, class Problem>
outcome run_by(const Problem &problem, std::uint64_t n, const emulator::schedule &chosen,
               const device &on = {}) {
  const auto length = static_cast<std::int64_t>(n);
  std::vector<emulator::kernel> stream;
  const emulated_launcher launch(on, chosen, stream);
  std::size_t bytes = 0;
  if (Strategies::scan(nullptr, bytes, problem, length, launch) != outcome::launched)
    emulator::fail("no size of storage");
  const std::size_t shift = chosen.seed / 7 % 3;
  std::vector<unsigned char> storage(shift + bytes,
                                     static_cast<unsigned char>(0x81 + chosen.seed % 64));
  const outcome status = Strategies::scan(storage.data() + shift, bytes, problem, length, launch);
  if (status != outcome::launched) return status;
  emulator::run(chosen, stream,
                follows_tree<Strategies> && n > 0
                    ? workspace_names<Problem>(storage.data() + shift, n)
                    : std::vector<emulator::named_memory>{});
  return status;
}
/// The same; it must take them.
template <class Strategies, class Problem>
void scan_by(const Problem &problem, std::uint64_t n, const emulator::schedule &chosen,
             const device &on = {}) {
  if (run_by<Strategies>(problem, n, chosen, on) != outcome::launched)
    emulator::fail("the strategy does not take the call");
}

/// Tuning of a test's own: `Warps` warps scan a tile. What is large is decided as ever.
template <int Warps>
struct rows_of {
  template <int Architecture>
  using at = std::conditional_t<Architecture == 0, core::measured_tuning::at<0>, rows_of>;
  static const char *name(unsigned) { return "a test"; }
  static constexpr int prepare_threads = 32;
  static constexpr unsigned prepare_blocks_at_most = 3;

  template <class>
  struct tiles {
    static constexpr core::tile_tuning value{Warps, 1, 2};
  };
  static constexpr bool has_pipelines = true;
  template <class>
  struct pipeline {
    static constexpr bool fits = true;
  };
  template <class Problem>
  using segment_pipeline = pipeline<Problem>;
  template <class>
  static constexpr bool segments_ahead = false;
  static constexpr unsigned segment_tiles_ahead = 0, segment_tiles_in_all = 0;
  template <class Problem>
  using one_tile = tiles<Problem>;
  template <class Problem>
  using small_wave = tiles<Problem>;
  template <class Problem>
  using large_wave = tiles<Problem>;
  template <class Problem>
  using tree_look_back = tiles<Problem>;
  template <class Problem>
  using tile_reduction = tiles<Problem>;
};

/// One of the default strategies, but for one tile.
template <template <class> class Strategy, int Warps, class Problem>
void scan_with(const Problem &problem, std::uint64_t n, const emulator::schedule &chosen,
               const device &on = {}) {
  scan_by<core::forced<Strategy, rows_of<Warps>>>(problem, n, chosen, on);
}

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

/// Warps that can be resident together: ThreadSanitizer takes more than a megabyte for each of
/// their lanes.
inline constexpr std::uint64_t warps_at_once = under_thread_sanitizer ? 110 : 1u << 20;

/// By the default strategies without the pipeline, on a device that takes any of them that can.
template <int Warps, class Problem>
void scan(const Problem &problem, std::uint64_t n, const emulator::schedule &chosen) {
  using rows = rows_of<Warps>;
  const std::uint64_t die = chosen.seed / 5 % 4;
  device on;
  on.runs_pipeline = false;
  if (die != 1) on.cluster_blocks = 1;
  if (die != 0 || Problem::shape::tiles(n) * (Warps + 1) > warps_at_once) on.large_wave = 0;
  scan_by<core::first_of<core::one_tile<rows>, core::cluster<rows>, core::wave<rows>,
                         core::tree_look_back<rows>, core::warp_tiles<rows>>>(problem, n, chosen,
                                                                              on);
}

/// A column of more than three tiles is a long one.
template <int Stages, int InFlight, int Depth, int ScanningWarps, int LookAheadWarps,
          int LongColumnWarps = LookAheadWarps, int ShortInFlight = InFlight, int ScanningTeams = 1,
          bool ShortCode = false, int ApartStages = 0>
struct look_ahead_by {
  static constexpr core::look_ahead_tuning value{Stages,
                                                 InFlight,
                                                 ShortInFlight,
                                                 Depth,
                                                 ScanningWarps,
                                                 LookAheadWarps,
                                                 LongColumnWarps,
                                                 3,
                                                 6,
                                                 0,
                                                 1,
                                                 16,
                                                 ScanningTeams,
                                                 ShortCode,
                                                 false,
                                                 ApartStages};
  static constexpr bool fits = true;
};
/// Warps that mark heads beside the copies.
template <int Stages, int Depth, int ScanningWarps, int ScanningTeams, int MarkingWarps>
struct mark_ahead_by : look_ahead_by<Stages, 2, Depth, ScanningWarps, 2> {
  static constexpr core::look_ahead_tuning with_marking_warps() {
    core::look_ahead_tuning tuning = look_ahead_by<Stages, 2, Depth, ScanningWarps, 2>::value;
    tuning.scanning_teams = ScanningTeams;
    tuning.marking_warps = MarkingWarps;
    return tuning;
  }
  static constexpr core::look_ahead_tuning value = with_marking_warps();
};
/// The same where warps load the items: `Teams` teams of `Warps` warps together.
template <int Stages, int Depth, int ScanningWarps, int LookAheadWarps, int Warps, int Teams,
          int ScanningTeams = 1, int GroupWarps = 0, int ReducingWarps = 0>
struct load_ahead_by {
  static constexpr core::look_ahead_tuning value{Stages,
                                                 2,
                                                 1,
                                                 Depth,
                                                 ScanningWarps,
                                                 LookAheadWarps,
                                                 LookAheadWarps,
                                                 3,
                                                 GroupWarps > 0 ? 2 : 6,
                                                 Warps,
                                                 Teams,
                                                 4,
                                                 ScanningTeams,
                                                 false,
                                                 false,
                                                 0,
                                                 GroupWarps,
                                                 0,
                                                 ReducingWarps};
  static constexpr bool fits = true;
};
/// Warps copy the tiles, of which `Held` wait in registers, and move on `Round` at once.
template <int ByteStages, int Held, int Depth, int ScanningWarps, int LookAheadWarps,
          int LoadingWarps = 1, int Round = 1>
struct hold_ahead_by {
  static constexpr core::look_ahead_tuning with_held_tiles() {
    core::look_ahead_tuning tuning = load_ahead_by<ByteStages + Held, Depth, ScanningWarps,
                                                   LookAheadWarps, LoadingWarps, 1>::value;
    tuning.held = Held;
    tuning.byte_stages = ByteStages;
    tuning.round = Round;
    return tuning;
  }
  static constexpr core::look_ahead_tuning value = with_held_tiles();
  static constexpr bool fits = true;
};
template <class Tuning>
struct pipeline_rows : rows_of<1> {
  template <int Architecture>
  using at = std::conditional_t<Architecture == 0, core::measured_tuning::at<0>, pipeline_rows>;
  template <class>
  using pipeline = Tuning;
};

/// The pipeline, on at most `blocks` blocks. How many of them are resident at once, the schedule
/// chooses.
template <class Tuning, class Problem>
void scan_ahead(const Problem &problem, std::uint64_t n, unsigned blocks,
                const emulator::schedule &chosen) {
  device on;
  on.multiprocessors = blocks;
  scan_by<core::forced<core::pipeline, pipeline_rows<Tuning>>>(problem, n, chosen, on);
}

} // namespace test
