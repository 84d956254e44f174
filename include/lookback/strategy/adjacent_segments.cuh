// SPDX-License-Identifier: MIT
// Sums of integers in adjacent segments, by the look-ahead pipeline (strategy/pipeline.cuh). Sums
// of integers have the same bits in any order, so a segment does not need tiles of its own: all
// segments are scanned as one range, as a sum by key (tile/keyed_sums.cuh). There are no keys in
// memory, only the offsets at which segments begin.
//
// n elements read once, n written once, and about two reads of the offsets. The host does not know
// n, so the status words are in a ring (carry/ring_of_rounds.cuh).
#pragma once

#include <lookback/strategy/clear_words.cuh>
#include <lookback/strategy/segment_pipeline.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

#if LOOKBACK_TARGETS_SM_90
template <class Problem, class Tuning, unsigned Size>
LOOKBACK_DEVICE void
scan_adjacent_segments(const Problem &all,
                       const ring_of_rounds<typename Problem::accumulator, Size> &words,
                       const roll_call<> &roll) {
  const auto &heads = all.input.keys();
  // The caller's memory is ready: the kernel that clears the counters does not overlap what comes
  // before it, so it starts only when all of that has ended.
  const std::int64_t first = heads.begin(0), end = heads.begin(heads.segments);
  simt::wait_for_previous_kernel(); // mutant: adjacent-previous
  if (end <= first) return;
  const Problem problem = items_of_heads(all, first, static_cast<std::uint64_t>(end - first));
  const std::uint64_t tiles = problem.tiles();
  const unsigned blocks =
      tiles < simt::block_count() ? static_cast<unsigned>(tiles) : simt::block_count();
  if (simt::block_index() < blocks)
    scan_ahead<false, Problem, Tuning>(problem, words, roll, blocks);
}
#endif

/// The kernel's block. The launcher caches what it asks the driver by this type, so each kernel
/// needs a type of its own.
template <class Problem, class Rows, unsigned Size>
struct adjacent_segments_block {
  using rows = Rows;
  template <class Row>
  struct of {
    static constexpr bool exists = Row::template segments_ahead<Problem> &&
                                   can_look_ahead<Problem>::value && can_stage<Problem>;
    using tuning = typename Row::template pipeline<Problem>;
    static constexpr int block_threads() {
      if constexpr (exists)
        return tuning::value.warps() * simt::warp_threads;
      else
        return simt::warp_threads;
    }
    static constexpr int threads = block_threads();
    static constexpr std::size_t bytes() {
      if constexpr (exists)
        return sizeof(look_ahead_storage<Problem, tuning>);
      else
        return more_shared_bytes_than_any; // so the launcher refuses the kernel
    }
    static constexpr block_shape shape() { return {threads, bytes(), true}; }
  };
  using here = of<compiled_row<Rows>>;
};

/// Grid: one block a multiprocessor, at most `participants_at_most`, and at most
/// ring_of_rounds::blocks_at_most().
template <class Problem, class Rows, unsigned Size>
LOOKBACK_KERNEL((adjacent_segments_block<Problem, Rows, Size>::here::threads), 1)
adjacent_segments_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                         const ring_of_rounds<typename Problem::accumulator, Size> words,
                         const roll_call<> roll) {
#if LOOKBACK_TARGETS_SM_90
  using block = typename adjacent_segments_block<Problem, Rows, Size>::here;
  if constexpr (block::exists)
    scan_adjacent_segments<Problem, typename block::tuning, Size>(problem, words, roll);
#endif
}

/// Scans of adjacent segments in a ring of `Size` status words.
template <class Rows, unsigned Size>
struct adjacent_segments {
  /// Whether the scan of `Segments` by a `Problem` may be done so, if they are adjacent.
  template <class Problem, class Segments>
  static constexpr bool possible() {
    if constexpr (can_mark_heads<Problem>::value && Segments::may_be_adjacent)
      return block_of<Problem, Segments>::exists;
    else
      return false;
  }
  template <class Problem, class Segments>
  static std::size_t storage() {
    temporary_memory needed;
    workspace_of<Problem, Segments>{needed};
    return needed.bytes();
  }
  /// Scans them, if the device can; returns whether it does.
  template <class Problem, class Segments, class Launch>
  static bool scan(temporary_memory memory, const Problem &problem, const Segments &segments,
                   Launch &launch) {
    using by_heads = problem_of<Problem, Segments>;
    using block = adjacent_segments_block<by_heads, Rows, Size>;
    using words = ring_of_rounds<typename by_heads::accumulator, Size>;
    const auto kernel = adjacent_segments_kernel<by_heads, Rows, Size>;
    constexpr std::uint64_t most = std::min<std::uint64_t>(
        participants_at_most,
        words::blocks_at_most(block_of<Problem, Segments>::tuning::value.depth));
    static_assert(words::keeps_counts_apart(block_of<Problem, Segments>::tuning::value.depth),
                  "a counter would count for two checks at once");
    if (most == 0 || !launch.template can_run<block>(kernel)) return false;
    const workspace_of<Problem, Segments> in(memory);
    const std::uint64_t tag = launch.tag();
    // A captured graph repeats the launch with the same tag.
    const std::size_t zeroed =
        launch.is_captured() ? memory.bytes() : sizeof(std::uint32_t) * words::counters;
    auto *const first = reinterpret_cast<std::uint64_t *>(in.counters);
    clear_words<Rows>(first, zeroed / sizeof(*first), launch); // mutant: rounds-clear
    launch(
        kernel, launch.template shape<block>(kernel),
        launch_grid{std::min<std::uint64_t>(launch.multiprocessors(), most), residency::none, true},
        sum_by_heads(problem, segments.heads()), in.words_of(tag), roll_call<>(in.answers, tag));
    if (!launch.refused()) return true;
    launch.forgive();
    return false;
  }

private:
  template <class Problem, class Segments>
  using problem_of = decltype(sum_by_heads(std::declval<const Problem &>(),
                                           std::declval<const Segments &>().heads()));
  template <class Problem, class Segments>
  using block_of =
      typename adjacent_segments_block<problem_of<Problem, Segments>, Rows,
                                       Size>::template of<typename Rows::template at<0>>;
  template <class Problem, class Segments>
  using workspace_of = rounds_workspace<typename problem_of<Problem, Segments>::accumulator, Size>;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
