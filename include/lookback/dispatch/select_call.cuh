// SPDX-License-Identifier: MIT
// A selection on a stream, in the two phases of CUB or in one.
#pragma once

#include <lookback/core/candidates.cuh>
#include <lookback/dispatch/device_problem.cuh>
#include <lookback/dispatch/environment.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Runs a selection in two phases.
template <class... Algorithm, class Problem, class Count>
cudaError_t select_on(cudaStream_t stream, void *storage, std::size_t &bytes,
                      const Problem &problem, Count num_items) {
  static_assert(!(std::is_same<Algorithm, reverse_t>::value || ...),
                "lookback::reverse: selections have no reverse");
  return strategies<Algorithm...>::scan(storage, bytes, problem, length_of(num_items),
                                        launcher(stream));
}
/// The same in one phase, in the environment `env`.
template <class Env, class Problem, class Count>
cudaError_t select_in(const Env &env, const Problem &problem, Count num_items) {
  static_assert(!is_reverse<Env>, "lookback::reverse: selections have no reverse");
  return scan_in(env, problem, length_of(num_items));
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
