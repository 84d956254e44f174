// SPDX-License-Identifier: MIT
// A selection on a stream, in the two phases of CUB or in one.
#pragma once

#include <lookback/core/candidates.cuh>
#include <lookback/dispatch/environment.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// One thread: nothing has been selected.
template <class Sink>
LOOKBACK_KERNEL(1, 1)
count_nothing_kernel(LOOKBACK_KERNEL_PARAMETER Sink sink) {
  sink.set_nothing();
}

/// Runs a selection from n items by `Strategies`. The number of kept items is written on the
/// device, for n = 0, too.
template <class Strategies, class Problem, class Launch>
typename Launch::status_type select_by(void *storage, std::size_t &bytes, const Problem &problem,
                                       std::int64_t n, Launch launch) {
  if (n == 0 && storage != nullptr) {
    using sink = typename Problem::sink_type;
    launch(count_nothing_kernel<sink>, block_shape{1, 0}, launch_grid{1}, problem.sink);
    return launch.status();
  }
  return Strategies::scan(storage, bytes, problem, n, launch);
}

/// Runs a selection from n items in one phase, in the environment `env`.
template <class Env, class Problem>
cudaError_t select_in(const Env &env, const Problem &problem, std::int64_t n) {
  if (n != 0) return scan_in(env, problem, n);
  char unused; // nothing needs no storage, so any address will do
  std::size_t bytes = sizeof(unused);
  return select_by<strategies<>>(&unused, bytes, problem, 0, launcher(stream_of(env)));
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
