// SPDX-License-Identifier: MIT
// A scan of segments on a stream, in the two phases of CUB.
#pragma once

#include <lookback/dispatch/algorithm.cuh>
#include <lookback/dispatch/device_problem.cuh>
#include <lookback/strategy/adjacent_segments.cuh>
#include <lookback/strategy/segment_units.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Selects the calls with a number of segments where others have offsets of the results: whatever
/// converts to the parameter of CUB's calls, or a device_count.
template <class Count>
using if_segment_number =
    std::enable_if_t<std::is_convertible<Count, std::int64_t>::value || is_device_count<Count>,
                     int>;

/// Sums of 4-byte integers in adjacent segments take one pass (adjacent_segments). The steps of all
/// others:
/// count the slots and tiles of every batch of segments, scan these counts by the strategies
/// for scans, scan the long segments by the pipeline if it suits them, and scan the rest. `Ring`:
/// status words of the pipeline.
template <class Rows, unsigned Section, unsigned Ring = Section>
struct segmented_strategy {
  /// Scans `segments` by `problem`, or, if `storage` is null, writes to `bytes` the size of storage
  /// that this takes. It neither allocates nor synchronises. Refused with refusal::invalid_value
  /// for a negative number of segments, and for storage that is too small. If only the device knows
  /// the number, kernels are launched for its bound, and read it.
  template <class Problem, class Segments, class Launch>
  static typename Launch::status_type scan(void *storage, std::size_t &bytes,
                                           const Problem &problem, const Segments &segments,
                                           Launch launch) {
    using T = typename Problem::accumulator;
    static_assert(exchange_of<T> == exchange_by::shuffle && !reads_initial<Problem>,
                  "lookback: segmented scans on a GPU need a trivially copyable accumulator of "
                  "less than 512 bytes, and an initial value that the host knows");
    if (segments.count() < 0) return launch.refuse(refusal::invalid_value);
    constexpr bool on_device = known_segments<Segments>::on_device;
    const bool launches = on_device || segments.count() > 0; // or there is nothing to scan
    const std::int64_t batches = segment_batches::of(segments.count());
    std::size_t scan_bytes = 0;
    const auto scan_batches = [&](void *memory, std::uint64_t *before, std::int64_t *entries) {
      const auto scan = [&](auto n) {
        return strategies<>::scan(memory, scan_bytes, batch_scan(before), n, launch);
      };
      if constexpr (on_device)
        return scan(device_count<std::int64_t>(entries, batches + 1));
      else
        return scan(batches + 1);
    };
    const auto sized = scan_batches(nullptr, nullptr, nullptr);
    const auto lay_out = [&](temporary_memory memory) {
      const workspace_of<Problem> units(memory);
      const auto before = memory.take<std::uint64_t>(static_cast<std::uint64_t>(batches) + 1);
      auto *const entries = memory.take<std::int64_t>(on_device ? 1 : 0);
      void *const rest = memory.take<char>(scan_bytes);
      return layout<Problem>{units, before, entries, rest, memory.bytes()};
    };
    std::size_t needed = 0;
    if (launches) needed = lay_out(temporary_memory()).bytes;
    constexpr bool by_heads = adjacent::template possible<Problem, Segments>();
    if constexpr (by_heads)
      if (launches) needed = std::max(needed, adjacent::template storage<Problem, Segments>());
    needed = temporary_memory::bytes_for(needed);
    if (sized != launch.status()) return sized;
    if (storage == nullptr) bytes = needed;
    if (bytes < needed) return launch.refuse(refusal::invalid_value);
    if (storage == nullptr || !launches) return launch.status();

    if constexpr (by_heads)
      if (segments.are_adjacent() &&
          adjacent::scan(temporary_memory(storage), problem, segments, launch))
        return launch.status();
    const auto own = lay_out(temporary_memory(storage));
    measure(segments, batches, own, problem, launch);
    if (const auto scanned = scan_batches(own.rest, own.before, own.entries);
        scanned != launch.status())
      return scanned;
    const bool pipeline_launched = launch_pipeline(problem, segments, batches, own, launch);
    using block = segment_units_block<Problem, Segments, Rows, Section>;
    const auto kernel = segment_units_kernel<Problem, Segments, Rows, Section>;
    constexpr std::uint64_t blocks = block::template of<typename Rows::template at<0>>::resident;
    launch(kernel, launch.template shape<block>(kernel),
           launch_grid{launch.multiprocessors() * blocks, residency::none, true}, problem, segments,
           segment_batches{own.before, batches}, own.units.state, own.units.next_unit,
           pipeline_launched);
    return launch.status();
  }

private:
  using row = typename Rows::template at<0>;
  using adjacent = adjacent_segments<Rows, Ring>;
  template <class Problem>
  using workspace_of = ring_workspace<typename Problem::accumulator, Section,
                                      has_segment_pipeline<Problem, row> ? Ring : 0>;
  template <class Problem>
  struct layout {
    workspace_of<Problem> units;
    std::uint64_t *before; // (batches + 1) of segment_batches
    std::int64_t *entries; // their actual number, or none
    void *rest;
    std::size_t bytes;
  };
  static auto batch_scan(std::uint64_t *before) {
    return make_problem<false, std::uint64_t>(static_cast<const std::uint64_t *>(before), before,
                                              plus{}, initial_value<std::uint64_t>{0});
  }
  /// Launches the pipeline if the problem and the device have one; returns whether it did. Its
  /// blocks scan the long segments, or leave them to the units: segments_go_ahead().
  template <class Problem, class Segments, class Launch>
  static bool
  launch_pipeline([[maybe_unused]] const Problem &problem,
                  [[maybe_unused]] const Segments &segments, [[maybe_unused]] std::int64_t batches,
                  [[maybe_unused]] const layout<Problem> &own, [[maybe_unused]] Launch &launch) {
    if constexpr (has_segment_pipeline<Problem, row>) {
      using block = segment_pipeline_block<Problem, Segments, Rows, Ring>;
      const auto kernel = segment_pipeline_kernel<Problem, Segments, Rows, Ring>;
      using words = ring_of_rounds<typename Problem::accumulator, Ring>;
      constexpr std::uint64_t most = std::min<std::uint64_t>(
          participants_at_most,
          words::blocks_at_most(block::template of<row>::tuning::value.depth));
      if (most == 0 || !row::may_go_ahead(segments.count()) ||
          !launch.template can_run<block>(kernel))
        return false;
      const std::uint64_t tag = launch.tag();
      launch(kernel, launch.template shape<block>(kernel),
             launch_grid{std::min<std::uint64_t>(launch.multiprocessors(), most), residency::none,
                         true},
             problem, segments, segment_batches{own.before, batches},
             own.units.rounds.words_of(tag), roll_call<>(own.units.rounds.answers, tag));
      if (!launch.refused()) return true;
      launch.forgive();
    }
    return false;
  }
  template <class Segments, class Layout, class Problem, class Launch>
  static void measure(const Segments &segments, std::int64_t batches, const Layout &own,
                      const Problem &, Launch &launch) {
    constexpr std::uint64_t warps = Rows::prepare_threads / simt::warp_threads,
                            blocks_at_most = 16 * Rows::prepare_blocks_at_most;
    const std::uint64_t wanted = static_cast<std::uint64_t>(batches) / warps + 16;
    const block_shape block{Rows::prepare_threads, 0};
    const launch_grid grid{wanted < blocks_at_most ? wanted : blocks_at_most};
    using parts = parts_of<typename Problem::shape>;
    if constexpr (known_segments<Segments>::on_device)
      launch(measure_actual_batches_kernel<parts, typename known_segments<Segments>::type,
                                           typename known_segments<Segments>::number>,
             block, grid, segments, own.entries, own.before, own.units.zeroed,
             own.units.zeroed_words);
    else
      launch(measure_batches_kernel<parts, Segments>, block, grid, segments, batches, own.before,
             own.units.zeroed, own.units.zeroed_words);
  }
};
using segmented_scans = segmented_strategy<measured_tuning, 8192>;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
