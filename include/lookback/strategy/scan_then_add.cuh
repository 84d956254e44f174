// SPDX-License-Identifier: MIT
// The hierarchical scan of the textbooks: every block scans its tile and stores the aggregate; the
// aggregates are scanned in the same way; then every block adds its tile's prefix to the results.
//
// M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3, chapter
// 39.2.4, 2007.
//
//   memory      4 n: read and write n, twice; n / S of each for every level above, S items a tile
//   additions   the network's, and n on the way down
//   kernels     2 levels - 1, levels = ceil(log_S n)
#pragma once

#include <lookback/block/three_phase.cuh>
#include <lookback/strategy/textbook_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Where the results of the first pass wait for the second: in the output, where that is as good as
/// memory of our own.
template <class Problem>
inline constexpr bool partials_in_output =
    std::is_same<typename Problem::output_type, typename Problem::accumulator *>::value
        &&std::is_same<decltype(Problem::project), scanned_itself>::value;

template <class Section>
LOOKBACK_KERNEL(Section::threads, simt::resident_blocks(Section::threads, Section::resident))
scan_sections_kernel(LOOKBACK_KERNEL_PARAMETER typename Section::problem_type problem,
                     const std::uint64_t n, typename Section::global_room *rooms,
                     typename Section::T *scanned, typename Section::T *items,
                     typename Section::T *totals) {
  using initial = typename Section::problem_type::initial_type;
  auto &shared = simt::shared_memory<typename Section::storage>();
  Section section(problem, n, simt::block_index(), shared, rooms);
  section.scan();
  if (simt::block_count() == 1) { // nothing to add but what was there before
    maybe<typename Section::T> before;
    if constexpr (initial::exists)
      before.set(static_cast<typename Section::T>(problem.initial.value));
    section.store(section.share(before));
    return;
  }
  section.store_partials(scanned, items);
  if (simt::thread_index() == 0) construct(totals[simt::block_index()], section.total());
}

/// y(i) = (sum of all sections before) . scanned(i)
template <class Section>
LOOKBACK_KERNEL(Section::threads, simt::resident_blocks(Section::threads, Section::resident))
add_kernel(LOOKBACK_KERNEL_PARAMETER typename Section::problem_type problem, const std::uint64_t n,
           const typename Section::T *scanned, const typename Section::T *items,
           const typename Section::T *totals) {
  using Problem = typename Section::problem_type;
  using T = typename Section::T;
  auto op = problem.op;
  const std::uint64_t first = std::uint64_t{simt::block_index()} * Section::elements;
  maybe<T> left;
  if constexpr (Problem::initial_type::exists) left.set(static_cast<T>(problem.initial.value));
  if (simt::block_index() > 0) left.append(op, totals[simt::block_index() - 1]);
  if (partials_in_output<Problem> && !left.exists()) return;
  const int count = n - first < Section::elements ? static_cast<int>(n - first) : Section::elements;
  constexpr int items_a_thread = Section::elements / Section::threads;
  constexpr bool needs_item = decltype(problem.project)::needs_item;
  uninitialized_array<T, items_a_thread>
      partials; // all on their way before the first is waited for
  for_each_strided<Section::threads, items_a_thread>(
      Problem::inclusive ? 0 : 1, count,
      [&](int k, int i) { construct(partials[k], scanned[first + i]); });
  for_each_strided<Section::threads, items_a_thread>(0, count, [&](int k, int i) {
    maybe<T> y = left;
    if (Problem::inclusive || i > 0) y.append(op, partials[k]);
    problem.output[static_cast<std::ptrdiff_t>(first + i)] = static_cast<typename Section::stored>(
        problem.project(y.value(), needs_item ? items[first + i] : y.value()));
  });
}

} // namespace detail

/// Scan, then add: blocks scan their tiles, the tiles' aggregates are scanned in the same way, and
/// every block adds the prefix of its tile.
///
/// - *Temporary memory*: one accumulator a tile; and n accumulators, unless the output is a pointer
///   to accumulators.
/// - *Determinism*: the same bits for the same `Network`, `Threads`, `Items` and n.
/// - *Complexity*: 4 n elements of traffic; the additions of `Network`, and n; 2 levels - 1
///   kernels.
/// - *Source*: M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU
///   Gems 3, section 39.2.4, 2007.
///
/// Parameters, types and errors: see @ref strategies.
/// @ingroup strategies
template <class Network = three_phase<>, int Threads = 256, int Items = 0>
struct scan_then_add
    : detail::textbook<scan_then_add<Network, Threads, Items>, Network, Threads, Items> {
  /// @private
  static constexpr const char *name = "scan_then_add";
  /// @private Enqueues the scan: see strategy/strategy.cuh for what a strategy has.
  template <class Problem, class Launch>
  static void run(const Problem &given, std::uint64_t n, detail::temporary_memory &memory,
                  Launch &launch) {
    using T = typename Problem::accumulator;
    auto problem = scan_then_add::sectioned(given, memory, launch);
    using S = typename scan_then_add::template section<decltype(problem)>;
    const std::uint64_t sections = S::count(n);
    T *scanned = nullptr, *items = nullptr, *totals = nullptr;
    if (sections > 1) {
      if constexpr (detail::partials_in_output<Problem>)
        scanned = problem.output;
      else
        scanned = memory.take<T>(n);
      if constexpr (decltype(Problem::project)::needs_item) items = memory.take<T>(n);
      totals = memory.take<T>(sections);
    }
    detail::prepare(problem, static_cast<unsigned>(sections), nullptr, 0, memory, launch);
    auto *const rooms = S::take_rooms(memory, n);
    launch(detail::scan_sections_kernel<S>,
           detail::block_shape{Threads, sizeof(typename S::storage)}, detail::launch_grid{sections},
           problem, n, rooms, scanned, items, totals);
    if (sections == 1) return;
    run(detail::make_problem<true, T>(totals, totals, problem.op, detail::no_initial{}), sections,
        memory, launch);
    launch(detail::add_kernel<S>, detail::block_shape{Threads, 0}, detail::launch_grid{sections},
           problem, n, scanned, items, totals);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
