// SPDX-License-Identifier: MIT
// Every block reduces its tile; the aggregates are scanned in the same way; then every block reads
// its tile again and scans it, starting from the tile's prefix.
//
// Y. Dotsenko, N. K. Govindaraju, P.-P. Sloan, C. Boyd, J. Manferdelli, "Fast Scan Algorithms on
// Graphics Processors", ICS 2008; D. Merrill, A. Grimshaw, "Parallel Scan for Stream
// Architectures", University of Virginia CS2009-14, 2009.
//
//   memory      3 n: read n, read n, write n; n / S of each for every level above, S items a tile
//   additions   n to reduce, then the network's, and n
//   kernels     2 levels - 1, levels = ceil(log_S n)
#pragma once

#include <lookback/block/three_phase.cuh>
#include <lookback/strategy/textbook_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// totals(b) = sum of section b: every thread its own elements serially, then a tree over the
/// threads.
template <class Problem, int Threads, int Items>
LOOKBACK_KERNEL(Threads, simt::resident_blocks(Threads, Threads <= 512 ? 1024 / Threads : 1))
reduce_sections_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem, const std::uint64_t n,
                       typename Problem::accumulator *totals) {
  using T = typename Problem::accumulator;
  auto &values = simt::shared_memory<uninitialized_array<T, Threads * Items>>();
  auto op = problem.op;
  const std::uint64_t begin = std::uint64_t{simt::block_index()} * (Threads * Items);
  const int count = n - begin < Threads * Items ? static_cast<int>(n - begin) : Threads * Items;
  const block_elements<Problem, Threads> x(problem, begin);
  load_strided<Threads, Items>(count, x, &values[0]);
  simt::synchronize_block();
  const int first = simt::thread_index() * Items;
  if (first < count) {
    maybe<T> sum;
    for (int k = 0; k < Items && first + k < count; ++k) sum.append(op, values[first + k]);
    construct(values[first], sum.value());
  }
  for (int width = Items; width < count;
       width *= 2) { // sums of `width` elements lie where their first element was
    simt::synchronize_block();
    const int left = simt::thread_index() * 2 * width;
    if (left + width < count)
      construct(values[left], static_cast<T>(op(values[left], values[left + width])));
  }
  if (simt::thread_index() == 0) construct(totals[simt::block_index()], values[0]);
}

/// Scans every section, with what `totals` says is to its left.
template <class Section>
LOOKBACK_KERNEL(Section::threads, simt::resident_blocks(Section::threads, Section::resident))
scan_from_aggregates_kernel(LOOKBACK_KERNEL_PARAMETER typename Section::problem_type problem,
                            const std::uint64_t n, typename Section::global_room *rooms,
                            const typename Section::T *totals) {
  using T = typename Section::T;
  Section section(problem, n, simt::block_index(), simt::shared_memory<typename Section::storage>(),
                  rooms);
  section.scan();
  auto op = problem.op;
  maybe<T> left;
  if constexpr (Section::problem_type::initial_type::exists)
    left.set(static_cast<T>(problem.initial.value));
  if (simt::block_index() > 0) left.append(op, totals[simt::block_index() - 1]);
  section.store(left);
}

} // namespace detail

/// Reduce, then scan: blocks reduce their tiles, the aggregates are scanned in the same way, and
/// every block reads its tile again and scans it from its prefix.
///
/// - *Temporary memory*: one accumulator a tile.
/// - *Determinism*: the same bits for the same `Network`, `Threads`, `Items` and n.
/// - *Complexity*: 3 n elements of traffic; n additions to reduce, those of `Network`, and n;
///   2 levels - 1 kernels.
/// - *Source*: Y. Dotsenko, N. K. Govindaraju, P.-P. Sloan, C. Boyd, J. Manferdelli, "Fast Scan
///   Algorithms on Graphics Processors", ICS 2008; D. Merrill, A. Grimshaw, "Parallel Scan for
///   Stream Architectures", University of Virginia CS2009-14, 2009.
///
/// Parameters, types and errors: see @ref strategies.
/// @ingroup strategies
template <class Network = three_phase<>, int Threads = 256, int Items = 0>
struct reduce_then_scan
    : detail::textbook<reduce_then_scan<Network, Threads, Items>, Network, Threads, Items> {
  /// @private
  static constexpr const char *name = "reduce_then_scan";
  /// @private Enqueues the scan: see strategy/strategy.cuh for what a strategy has.
  template <class Problem, class Launch>
  static void run(const Problem &given, std::uint64_t n, detail::temporary_memory &memory,
                  Launch &launch) {
    using T = typename Problem::accumulator;
    auto problem = reduce_then_scan::sectioned(given, memory, launch);
    using S = typename reduce_then_scan::template section<decltype(problem)>;
    const std::uint64_t sections = S::count(n);
    T *totals = nullptr;
    detail::prepare(problem, static_cast<unsigned>(sections), nullptr, 0, memory, launch);
    if (sections > 1) {
      totals = memory.take<T>(sections);
      launch(detail::reduce_sections_kernel<decltype(problem), Threads, S::elements / Threads>,
             detail::block_shape{Threads, S::elements * sizeof(T)}, detail::launch_grid{sections},
             problem, n, totals);
      run(detail::make_problem<true, T>(totals, totals, problem.op, detail::no_initial{}), sections,
          memory, launch);
    }
    auto *const rooms = S::take_rooms(memory, n);
    launch(detail::scan_from_aggregates_kernel<S>,
           detail::block_shape{Threads, sizeof(typename S::storage)}, detail::launch_grid{sections},
           problem, n, rooms, totals);
  }
};

} // namespace LOOKBACK_ABI
} // namespace lookback
