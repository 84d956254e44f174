// SPDX-License-Identifier: MIT
// One scan on the threads of the CPU, chunk after chunk, with the bits of one scan.
#pragma once

#include <lookback/host/chunk_stream.cuh>
#include <lookback/host/host_scan.cuh>

#if !defined(__CUDA_ARCH__)
#include <memory>
#endif

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

#if defined(__CUDA_ARCH__)
/// nvcc's pass for device code compiles no host function: see host_scan.cuh.
template <class Problem, class Progress>
void scan_chunks_on_host(const Problem &problem, const chunk_list &, const Progress &) {
  using T = typename Problem::accumulator;
  auto op = problem.op;
  const T x = as_accumulator<T>(static_cast<typename Problem::item>(problem.input[0]));
  static_cast<void>(op(x, x));
}
#else

/// `problem` is that of all elements; a chunk but the last consists of whole groups.
template <class Problem, class Progress>
void scan_chunks_on_host(const Problem &problem, const chunk_list &chunks,
                         const Progress &progress) {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using part_type =
      scan_problem<Problem::inclusive, T, typename Problem::input_type, decltype(Problem::op),
                   maybe_initial<T>, typename Problem::sink_type>;
  constexpr std::int64_t group = group_elements<shape>;
  tiles_before<T> tiles(initial_of<T>(problem.initial));
  const auto part = [&](std::int64_t first, std::int64_t items) {
    auto sink = problem.sink;
    sink.output = sink.output + first;
    return part_type(problem.input + first, problem.op, {tiles.prefix()}, sink,
                     {static_cast<std::uint64_t>(items)});
  };
  for (std::int64_t k = 0; k < chunks.count(); ++k) {
    const std::int64_t items = chunks.items(k);
    std::int64_t done = 0;
    if constexpr (separate_results<typename Problem::output_type>::value) {
      done = items / group * group;
      if (done > 0) {
        threaded_scan<part_type, true> groups(part(chunks.first(k), done));
        groups.run(useful_threads(done * static_cast<std::int64_t>(shape::element_bytes)));
        maybe<T> next;
        next.set(groups.next_group_prefix());
        tiles.begin_group(next);
      }
    }
    if (done < items) {
      const part_type rest = part(chunks.first(k) + done, items - done);
      if (k + 1 < chunks.count())
        scan_from_tiles<true>(rest, tiles);
      else
        scan_from_tiles<false>(rest, tiles);
    }
    progress(chunks.first(k) + items, chunks.n);
  }
}

#endif

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
