// SPDX-License-Identifier: MIT
// A distributed scan on a stream: the exchanges, and the steps of a shard between them. Neither
// Thrust nor CUB.
#pragma once

#include <lookback/dispatch/dispatch.cuh>
#include <lookback/dispatch/memory.cuh>
#include <lookback/distributed/call_record.cuh>
#include <lookback/distributed/device_shard.cuh>
#include <lookback/distributed/known_shards.cuh>

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

/// Whether the calls of a communicator can be captured: the host waits for none of their exchanges.
template <class Communicator>
inline constexpr bool can_be_captured =
    (knows_lengths<Communicator> &&
     gathers_on_stream<std::decay_t<decltype(exchanging(std::declval<const Communicator &>()))>>);

/// Waits until the work on the stream is complete.
template <class Communicator>
cudaError_t wait_for_stream(const Communicator &ranks, cudaStream_t stream) {
  if constexpr (gathers_on_stream<Communicator>) {
    ranks.wait_for(stream);
    return cudaSuccess;
  } else {
    static_cast<void>(ranks);
    return cudaStreamSynchronize(stream);
  }
}

/// Gathers `bytes` bytes of device memory from each rank, in stream order. If the communicator has
/// only all_gather(), they are copied through host memory, and the host waits for the stream.
template <class Communicator>
cudaError_t all_gather_on(const Communicator &ranks, const void *own, std::size_t bytes, void *all,
                          cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if constexpr (gathers_on_stream<Communicator>) {
    ranks.all_gather_on(own, bytes, all, stream);
    return cudaSuccess;
  } else {
    std::vector<unsigned char> record(bytes),
        records(bytes * static_cast<std::size_t>(ranks.size()));
    cudaError_t status = cudaMemcpyAsync(record.data(), own, bytes, cudaMemcpyDeviceToHost, stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
    if (status != cudaSuccess) return status;
    ranks.all_gather(record.data(), bytes, records.data());
    status = cudaMemcpyAsync(all, records.data(), records.size(), cudaMemcpyHostToDevice, stream);
    return status != cudaSuccess ? status : cudaStreamSynchronize(stream); // `records` ends here
  }
}

/// Exchange 1, for which the host waits.
template <class Communicator>
std::vector<call_record> gather_calls_on(const Communicator &ranks, const call_record &own,
                                         cudaStream_t stream) {
  if constexpr (gathers_on_stream<Communicator>) {
    std::vector<call_record> calls(checked_size(ranks));
    ranks.all_gather_host(&own, sizeof own, calls.data(), stream);
    return calls;
  } else {
    static_cast<void>(stream);
    return gather_calls(ranks, own);
  }
}

/// A stream for one exchange, beside a stream that may be being captured.
class exchange_stream {
public:
  exchange_stream() {
    if (cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) != cudaSuccess)
      stream_ = nullptr; // the exchange reports what is wrong
  }
  ~exchange_stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  exchange_stream(const exchange_stream &) = delete;
  exchange_stream &operator=(const exchange_stream &) = delete;
  cudaStream_t get() const { return stream_; }

private:
  const capture_is_unharmed relaxed_;
  cudaStream_t stream_ = nullptr;
};

/// Exchange 1 of a rank that cannot take part, so that the others do not wait for it: their calls
/// throw. Aborts the communicator if that fails, or if there is no such exchange.
template <class Communicator>
void refuse_call(const distributed::known_shards<Communicator> &ranks, refused_call) noexcept {
  ranks.abort();
}
template <class Communicator>
void refuse_call(const Communicator &ranks, refused_call why) noexcept {
  try {
    call_record own{};
    own.items = call_record::refuses | static_cast<std::uint64_t>(why);
    if constexpr (gathers_on_stream<Communicator>) {
      const exchange_stream other;
      gather_calls_on(ranks, own, other.get());
    } else {
      gather_calls(ranks, own);
    }
  } catch (...) {
    ranks.abort();
  }
}

template <class Make>
using shard_on_device = device_shard<Make, fastest_strategies<measured_tuning>,
                                     head_strategies<measured_tuning>, measured_tuning>;

/// The phase of a call in the style of CUB: the scan, or the query of its storage's size.
enum class phase_of_call : std::uint64_t { scan, size };

/// Whether other ranks wait for this one.
template <class Communicator>
constexpr bool is_collective(phase_of_call phase) {
  return !knows_lengths<Communicator> || phase == phase_of_call::scan;
}
/// Calls `work()`. If it throws while other ranks wait, their calls end, too.
template <class Communicator, class Work>
auto for_ranks_that_wait(const Communicator &ranks, phase_of_call phase, Work work) {
  return is_collective<Communicator>(phase) ? for_all_ranks(ranks, work) : work();
}

/// Exchange 1, unless its outcome is known: where the shards of all ranks are. Throws if the calls
/// differ.
template <class Make, class Communicator>
auto exchange_layout(const distributed::known_shards<Communicator> &ranks, std::int64_t n,
                     cudaStream_t, phase_of_call phase = phase_of_call::scan) {
  return for_ranks_that_wait(ranks, phase, [&] {
    if constexpr (gathers_on_stream<Communicator>) ranks.communicator().require_usable();
    return typename shard_on_device<Make>::layout_type(known_lengths(ranks, n));
  });
}
template <class Make, class Communicator>
auto exchange_layout(const Communicator &ranks, std::int64_t n, cudaStream_t stream,
                     phase_of_call phase = phase_of_call::scan) {
  using problem = decltype(std::declval<const Make &>()(std::int64_t{}));
  // Ranks exchange elements as bytes, so the types of these are compared; a CPU has another type.
  using exchanged = cudaStream_t(typename problem::item,
                                 typename comparison_of<typename problem::input_type>::type *);
  const auto calls = for_all_ranks(ranks, [&] {
    const auto own =
        record_of_call<problem, exchanged>(ranks.size(), n, static_cast<std::uint64_t>(phase));
    return gather_calls_on(ranks, own, stream);
  });
  return typename shard_on_device<Make>::layout_type(lengths_of(calls));
}

/// Enqueues the steps of a shard, whose memory is bound, and the exchanges between them.
template <class Communicator, class Shard, class Launch>
cudaError_t run_steps(const Communicator &ranks, Shard &shard, Launch &launch,
                      cudaStream_t stream) {
  const auto gather = [&](const typename Shard::exchange &what) {
    return launch.status() != cudaSuccess
               ? launch.status()
               : all_gather_on(ranks, what.own, what.bytes, what.all, stream);
  };
  shard.copy_keys(launch);
  cudaError_t status = gather(shard.last_keys());
  if (status == cudaSuccess) {
    shard.copy_open_items(launch);
    status = gather(shard.open_items());
  }
  if (status == cudaSuccess) {
    shard.reduce(launch);
    status = gather(shard.group_records());
  }
  if (status == cudaSuccess) status = shard.scan(launch);
  return status != cudaSuccess ? status : launch.status();
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
