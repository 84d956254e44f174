// SPDX-License-Identifier: MIT
// A distributed scan with a CUDA policy: its stream, its memory, its errors.
#pragma once

#include <lookback/dispatch/policy_scan.cuh>
#include <lookback/distributed/device_exchange.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Scans the n elements of the problem that `make(0)` describes, as the shard of this rank, on the
/// policy's stream. `make(at)` describes those from `at` on.
template <class Derived, class Communicator, class Make>
void scan_shard_on(const thrust::cuda_cub::execution_policy<Derived> &exec,
                   const Communicator &ranks, std::int64_t n, Make make) {
  using thrust::cuda_cub::throw_on_error;
  auto &policy = thrust::detail::derived_cast(thrust::detail::strip_const(exec));
  const cudaStream_t stream = stream_here(thrust::cuda_cub::stream(policy));
  cudaGraph_t graph = nullptr;
  try {
    if constexpr (can_be_captured<Communicator>)
      throw_on_error(graph_of(stream, graph),
                     "lookback: querying whether the stream is being captured");
    else
      refuse_capture(stream, "lookback: a distributed scan cannot be captured, since the host "
                             "waits for an exchange; use lookback::distributed::known_shards "
                             "with an NCCL communicator");
  } catch (...) {
    refuse_call(ranks, refused_call::captured);
    throw;
  }
  const auto layout = exchange_layout<Make>(ranks, n, stream);
  for_all_ranks(ranks, [&] {
    if (layout.is_empty()) return;
    shard_on_device<Make> own(make, layout, ranks.rank());
    launcher launch(stream);
    const std::size_t bytes = own.bytes(launch);
    // The storage is freed in stream order, after the wait or before it.
    storage_of_policy<Derived> storage(policy, stream, graph, bytes);
    own.bind(storage.address());
    throw_on_error(run_steps(exchanging(ranks), own, launch, stream),
                   "lookback: enqueueing the kernels and exchanges of a distributed scan");
    // In a capture there is nothing to wait for, and asking would end it.
    if (thrust::cuda_cub::must_perform_optional_synchronization(policy) && graph == nullptr)
      throw_on_error(wait_for_stream(exchanging(ranks), stream),
                     "lookback: waiting for the stream of a distributed scan");
  });
}
template <class Policy, class Algorithm, class Communicator, class Make>
void scan_shard_on(const algorithm_policy<Policy, Algorithm> &, const Communicator &, std::int64_t,
                   Make) {
  static_assert(sizeof(Make) == 0, "lookback: a distributed scan follows the reduction tree, so "
                                   "its policy must not choose a strategy");
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
