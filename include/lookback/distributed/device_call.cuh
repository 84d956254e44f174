// SPDX-License-Identifier: MIT
// A distributed scan with a CUDA policy: its stream, its memory, the exchanges between its steps.
#pragma once

#include <lookback/dispatch/dispatch.cuh>
#include <lookback/dispatch/policy_scan.cuh>
#include <lookback/distributed/call_record.cuh>
#include <lookback/distributed/device_shard.cuh>

#include <type_traits>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether a communicator exchanges device memory on a stream.
template <class Communicator, class = void>
inline constexpr bool gathers_on_stream = false;
template <class Communicator>
inline constexpr bool gathers_on_stream<
    Communicator, std::void_t<decltype(std::declval<const Communicator &>().all_gather_on(
                      static_cast<const void *>(nullptr), std::size_t{},
                      static_cast<void *>(nullptr), cudaStream_t{}))>> = true;

/// Waits until the work on the stream is complete.
template <class Communicator>
void wait_for_stream(const Communicator &ranks, cudaStream_t stream) {
  if constexpr (gathers_on_stream<Communicator>)
    ranks.wait_for(stream);
  else
    thrust::cuda_cub::throw_on_error(cudaStreamSynchronize(stream),
                                     "lookback: waiting for the stream of the scan");
}

/// Gathers `bytes` bytes of device memory from each rank, in stream order. If the communicator has
/// only all_gather(), they are copied through host memory, and the host waits for the stream.
template <class Communicator>
void all_gather_on(const Communicator &ranks, const void *own, std::size_t bytes, void *all,
                   cudaStream_t stream) {
  if (bytes == 0) return;
  if constexpr (gathers_on_stream<Communicator>) {
    ranks.all_gather_on(own, bytes, all, stream);
  } else {
    using thrust::cuda_cub::throw_on_error;
    const char *const what = "lookback: copying the records of a distributed scan";
    std::vector<unsigned char> record(bytes),
        records(bytes * static_cast<std::size_t>(ranks.size()));
    throw_on_error(cudaMemcpyAsync(record.data(), own, bytes, cudaMemcpyDeviceToHost, stream),
                   what);
    throw_on_error(cudaStreamSynchronize(stream), what);
    ranks.all_gather(record.data(), bytes, records.data());
    throw_on_error(
        cudaMemcpyAsync(all, records.data(), records.size(), cudaMemcpyHostToDevice, stream), what);
    throw_on_error(cudaStreamSynchronize(stream), what); // `records` ends here
  }
}

/// Exchange 1, for which the host waits.
template <class Communicator>
std::vector<call_record> gather_calls_on(const Communicator &ranks, const call_record &own,
                                         cudaStream_t stream) {
  if constexpr (gathers_on_stream<Communicator>) {
    std::vector<call_record> calls(static_cast<std::size_t>(ranks.size()));
    ranks.all_gather_host(&own, sizeof own, calls.data(), stream);
    return calls;
  } else {
    static_cast<void>(stream);
    return gather_calls(ranks, own);
  }
}

/// Runs the steps of a shard and the exchanges between them.
template <class Storage, class Policy, class Communicator, class Shard>
void run_shard(Policy &policy, const Communicator &ranks, Shard &shard, cudaStream_t stream) {
  using thrust::cuda_cub::throw_on_error;
  launcher launch(stream);
  const std::size_t bytes = shard.bytes(launch);
  Storage storage(policy, stream, nullptr, bytes);
  shard.bind(storage.address());
  const auto gather = [&](const typename Shard::exchange &what) {
    throw_on_error(launch.status(), "lookback: launching a kernel of a distributed scan");
    all_gather_on(ranks, what.own, what.bytes, what.all, stream);
  };
  shard.copy_open_items(launch);
  gather(shard.open_items());
  shard.reduce(launch);
  gather(shard.group_records());
  const cudaError_t status = shard.scan(launch);
  throw_on_error(status != cudaSuccess ? status : launch.status(),
                 "lookback: launching a kernel of a distributed scan");
  // The storage is freed in stream order, after the wait or before it.
  if (thrust::cuda_cub::must_perform_optional_synchronization(policy))
    wait_for_stream(ranks, stream);
}

/// Scans the n elements of the problem that `make(0)` describes, as the shard of this rank, on the
/// policy's stream. `make(at)` describes those from `at` on.
template <class Derived, class Communicator, class Make>
void scan_shard_on(const thrust::cuda_cub::execution_policy<Derived> &exec,
                   const Communicator &ranks, std::int64_t n, Make make) {
  using problem = decltype(make(std::int64_t{}));
  using rows = measured_tuning;
  using shard = device_shard<Make, fastest_strategies<rows>, head_strategies<rows>, rows>;
  // Ranks exchange elements as bytes, so the types of these are compared; a CPU has another type.
  using exchanged = cudaStream_t(typename problem::item);
  auto &policy = thrust::detail::derived_cast(thrust::detail::strip_const(exec));
  const cudaStream_t stream = stream_here(thrust::cuda_cub::stream(policy));
  refuse_capture(stream, "lookback: a distributed scan cannot be captured, since the host waits "
                         "for the lengths of the shards");
  const auto calls = for_all_ranks(ranks, [&] {
    const auto items = static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0));
    return gather_calls_on(ranks, record_of_call<problem, exchanged>(items), stream);
  });
  check_calls(calls);
  for_all_ranks(ranks, [&] {
    std::vector<std::uint64_t> items;
    for (const call_record &call : calls) items.push_back(call.items);
    const typename shard::layout_type layout(items);
    if (layout.end(layout.ranks() - 1) == 0) return;
    shard own(make, layout, ranks.rank());
    run_shard<storage_of_policy<Derived>>(policy, ranks, own, stream);
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
