// SPDX-License-Identifier: MIT
// A selection on a stream, in the two phases of CUB or in one.
#pragma once

#include <lookback/core/candidates.cuh>
#include <lookback/dispatch/device_problem.cuh>
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

/// Runs a selection in two phases. The number of results is written on the device, for no items,
/// too.
template <class... Algorithm, class Problem, class Count>
cudaError_t select_on(cudaStream_t stream, void *storage, std::size_t &bytes,
                      const Problem &problem, Count num_items) {
  const std::int64_t n = item_count(num_items);
  launcher launch(stream);
  if (n == 0 && storage != nullptr) {
    using sink = typename Problem::sink_type;
    launch(count_nothing_kernel<sink>, block_shape{1, 0}, launch_grid{1}, problem.sink);
    return launch.status();
  }
  return strategies<Algorithm...>::scan(storage, bytes, problem, n, launch);
}
/// The same in one phase, in the environment `env`.
template <class Env, class Problem, class Count>
cudaError_t select_in(const Env &env, const Problem &problem, Count num_items) {
  const std::int64_t n = item_count(num_items);
  if (n != 0) return scan_in(env, problem, n);
  char unused; // no items need no storage, so any address will do
  std::size_t bytes = sizeof(unused);
  return select_on<>(stream_of(env), &unused, bytes, problem, 0);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
