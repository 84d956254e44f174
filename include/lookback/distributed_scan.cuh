// SPDX-License-Identifier: MIT
// The CUB interface of scans over several GPUs: two phases, and a status in place of exceptions.
// Includes neither Thrust nor CUB.
#pragma once

#include <lookback/dispatch/device_problem.cuh>
#include <lookback/distributed/device_exchange.cuh>

#include <exception>
#include <new>
#include <stdexcept>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The status of `work()`, or that of its exception, whose message is logged.
template <class Work>
cudaError_t status_of(Work work) noexcept {
  const auto failed = [](cudaError_t status, const char *why) {
    if (logs_calls()) std::fprintf(stderr, "%s\n", why);
    return status;
  };
  try {
    return work();
  } catch (const std::bad_alloc &error) {
    return failed(cudaErrorMemoryAllocation, error.what());
  } catch (const std::invalid_argument &error) {
    return failed(cudaErrorInvalidValue, error.what());
  } catch (const std::exception &error) {
    return failed(cudaErrorUnknown, error.what());
  } catch (...) {
    return failed(cudaErrorUnknown, "lookback: the communicator throws no std::exception");
  }
}

/// Scans the n elements of the problem that `make(0)` describes, as the shard of this rank, in the
/// two phases of CUB. `make(at)` describes those from `at` on.
template <class Communicator, class Make, class Launch>
cudaError_t distributed_scan(void *storage, std::size_t &bytes, std::int64_t n,
                             const Communicator &ranks, cudaStream_t stream, Launch launch,
                             Make make) {
  return status_of([&]() -> cudaError_t {
    const auto phase = storage == nullptr ? phase_of_call::size : phase_of_call::scan;
    const auto refuse = [&](refused_call why, cudaError_t status) {
      if (is_collective<Communicator>(phase)) refuse_call(ranks, why);
      return status;
    };
    cudaGraph_t graph = nullptr;
    const cudaError_t captured = graph_of(stream, graph);
    if (captured != cudaSuccess) return refuse(refused_call::captured, captured);
    if (graph != nullptr && !can_be_captured<Communicator>)
      return refuse(refused_call::captured, cudaErrorStreamCaptureUnsupported);
    if (n < 0) return refuse(refused_call::negative, cudaErrorInvalidValue);
    const auto layout = exchange_layout<Make>(ranks, n, stream, phase);
    return for_ranks_that_wait(ranks, phase, [&]() -> cudaError_t {
      shard_on_device<Make> own(make, layout, ranks.rank());
      const std::size_t needed =
          layout.is_empty() ? temporary_memory::bytes_for(0) : own.bytes(launch);
      if (storage == nullptr) {
        bytes = needed;
        return launch.status();
      }
      cudaError_t status = cudaErrorInvalidValue;
      if (bytes >= needed) {
        if (layout.is_empty()) return cudaSuccess;
        own.bind(storage);
        status = run_steps(exchanging(ranks), own, launch, stream);
      }
      if (status != cudaSuccess) ranks.abort();
      return status;
    });
  });
}

} // namespace detail

namespace distributed {

/// Scans of one sequence that is spread over several GPUs (@ref distributed_scans), with the names,
/// the parameters and the two phases of `cub::DeviceScan`, and a communicator after `num_items`.
///
/// @code
/// using scan = lookback::distributed::DistributedScan;
/// const lookback::distributed::nccl ranks(comm); // on each rank, with its GPU as current device
/// std::size_t bytes = 0;
/// scan::InclusiveSum(nullptr, bytes, input, output, n, ranks, stream); // on all ranks
/// scan::InclusiveSum(temporary, bytes, input, output, n, ranks, stream);
/// @endcode
///
/// Notation: `a . b` is `scan_op(a, b)`; x(0), x(1), ... are the elements of all ranks, in rank
/// order, by key those of `d_values_in`; y(i) are the results; s is the first index of the segment
/// that holds i. A segment is a longest sequence of consecutive keys, each equal to the next by
/// `equality_op`; it may extend over several ranks.
///
/// **Common to all calls**
///
/// - *Collective*: all ranks make the same call, in the same order, in the same phase, each for its
///   shard. Types, operators and initial values are equal (@ref distributed_scans). Ranks of one
///   call may call lookback::distributed::inclusive_scan() and its kin with a CUDA policy instead
///   of the second phase.
/// - *Two phases*: with `d_temp_storage` null, a call writes the bytes that this rank requires to
///   `temp_storage_bytes`. They depend on the lengths of all shards, so the ranks exchange these in
///   either phase, and the host waits for it. With storage, of any alignment and content, the call
///   enqueues the scan. While the lengths of all shards are the same, the size is the same, too,
///   and need not be asked for again. With lookback::distributed::known_shards, the first phase is
///   not collective.
/// - `num_items`: elements of the shard, not bytes; of any integer type. 0: the rank takes part
///   nevertheless.
/// - `ranks`: a communicator for GPUs (@ref distributed_scans).
/// - *Iterators*, *operator*: as for lookback::DeviceScan. Elements, keys and accumulators are
///   trivially copyable and have fewer than 512 bytes.
/// - *Initial value*: a value that the host knows.
/// - *Stream behaviour*: the host waits for the exchange of lengths, with
///   lookback::distributed::nccl also for earlier work on the stream; with known_shards there is no
///   such exchange. Everything else is enqueued on `stream`, unless the communicator has only
///   `all_gather`. The call allocates no device memory. The stream can be captured only with
///   known_shards of a communicator that has `all_gather_on`.
/// - *Errors*:
///
/// | status | reason | the other ranks |
/// |---|---|---|
/// | `cudaErrorInvalidValue` | the calls of the ranks differ | the same; usable |
/// | `cudaErrorInvalidValue` | `num_items` is negative | the same; usable |
/// | `cudaErrorStreamCaptureUnsupported` | a captured `stream` | `cudaErrorInvalidValue`; usable |
/// | `cudaErrorInvalidValue` | `num_items` is not the known length | end with an error |
/// | `cudaErrorInvalidValue` | the storage is too small | end with an error |
/// | `cudaErrorInvalidValue` | the device is not that of an NCCL communicator | end with an error |
/// | `cudaErrorUnknown` | the communicator throws, or has been aborted | end with an error |
/// | of CUDA | a launch or a copy fails | end with an error |
///
///   *Usable*: nothing is enqueued, and the communicator can be used on; with known_shards,
///   differing calls are not found, and the other errors end the calls of all ranks. *End with an
///   error*: the rank calls `abort()`, and the communicator decides how the others end. No
///   exception leaves a call; with `LOOKBACK_LOG=1` in the environment, its message is printed on
///   stderr.
/// - *Determinism*: the bits of one call of lookback::DeviceScan for the whole sequence
///   (lookback::tree_shape).
/// - *Temporary storage*, *complexity*: as for @ref distributed_scans on GPUs.
///
/// @ingroup distributed_scans
struct DistributedScan {
private:
  using problem = detail::device_problem;
  template <class Count, class Communicator, class Make>
  static cudaError_t run(void *storage, std::size_t &bytes, Count num_items,
                         const Communicator &ranks, cudaStream_t stream, Make make) {
    return detail::distributed_scan(storage, bytes, detail::item_count(num_items), ranks, stream,
                                    detail::launcher(stream), make);
  }

public:
  /// y(i) = x(0) + x(1) + ... + x(i)
  template <class Input, class Output, class Count, class Communicator>
  static cudaError_t InclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                                  Output d_out, Count num_items, const Communicator &ranks,
                                  cudaStream_t stream = nullptr) {
    return InclusiveScan(d_temp_storage, temp_storage_bytes, d_in, d_out, plus{}, num_items, ranks,
                         stream);
  }

  /// y(i) = x(0) + x(1) + ... + x(i - 1), y(0) = 0 of the input's value type
  template <class Input, class Output, class Count, class Communicator>
  static cudaError_t ExclusiveSum(void *d_temp_storage, std::size_t &temp_storage_bytes, Input d_in,
                                  Output d_out, Count num_items, const Communicator &ranks,
                                  cudaStream_t stream = nullptr) {
    return ExclusiveScan(d_temp_storage, temp_storage_bytes, d_in, d_out, plus{},
                         detail::value_t<Input>{}, num_items, ranks, stream);
  }

  /// y(i) = x(0) . x(1) ... x(i)
  ///
  /// The accumulator is the type of `scan_op(x, x)`.
  template <class Input, class Output, class ScanOp, class Count, class Communicator>
  static cudaError_t InclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Input d_in, Output d_out, ScanOp scan_op, Count num_items,
                                   const Communicator &ranks, cudaStream_t stream = nullptr) {
    return run(d_temp_storage, temp_storage_bytes, num_items, ranks, stream, [=](std::int64_t at) {
      return problem::inclusive_scan(d_in + at, d_out + at, scan_op);
    });
  }

  /// y(i) = init . x(0) . x(1) ... x(i)
  ///
  /// The accumulator is the type of `scan_op(init, x)`.
  template <class Input, class Output, class ScanOp, class Init, class Count, class Communicator>
  static cudaError_t InclusiveScanInit(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Input d_in, Output d_out, ScanOp scan_op, Init init_value,
                                       Count num_items, const Communicator &ranks,
                                       cudaStream_t stream = nullptr) {
    return run(d_temp_storage, temp_storage_bytes, num_items, ranks, stream, [=](std::int64_t at) {
      return scan_from<true>(d_in + at, d_out + at, scan_op, init_value);
    });
  }

  /// y(i) = init . x(0) . x(1) ... x(i - 1), y(0) = init
  ///
  /// The accumulator is the type of `scan_op(init, x)`.
  template <class Input, class Output, class ScanOp, class Init, class Count, class Communicator>
  static cudaError_t ExclusiveScan(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                   Input d_in, Output d_out, ScanOp scan_op, Init init_value,
                                   Count num_items, const Communicator &ranks,
                                   cudaStream_t stream = nullptr) {
    return run(d_temp_storage, temp_storage_bytes, num_items, ranks, stream, [=](std::int64_t at) {
      return scan_from<false>(d_in + at, d_out + at, scan_op, init_value);
    });
  }

  /// y(i) = x(s) + ... + x(i)
  ///
  /// The accumulator is the type of `x + x`.
  template <class Keys, class Values, class Output, class Count, class Communicator,
            class Equal = equal_to>
  static cudaError_t InclusiveSumByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Keys d_keys_in, Values d_values_in, Output d_values_out,
                                       Count num_items, const Communicator &ranks,
                                       Equal equality_op = Equal(), cudaStream_t stream = nullptr) {
    return InclusiveScanByKey(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in,
                              d_values_out, plus{}, num_items, ranks, equality_op, stream);
  }

  /// y(i) = x(s) + ... + x(i - 1), y(s) = 0 of the values' type
  template <class Keys, class Values, class Output, class Count, class Communicator,
            class Equal = equal_to>
  static cudaError_t ExclusiveSumByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                       Keys d_keys_in, Values d_values_in, Output d_values_out,
                                       Count num_items, const Communicator &ranks,
                                       Equal equality_op = Equal(), cudaStream_t stream = nullptr) {
    compared_by<Equal, Keys>();
    return run(d_temp_storage, temp_storage_bytes, num_items, ranks, stream, [=](std::int64_t at) {
      return problem::exclusive_sum_by_key(d_keys_in + at, d_values_in + at, d_values_out + at,
                                           equality_op);
    });
  }

  /// y(i) = x(s) . x(s + 1) ... x(i)
  ///
  /// The accumulator is the type of `scan_op(x, x)`.
  template <class Keys, class Values, class Output, class ScanOp, class Count, class Communicator,
            class Equal = equal_to>
  static cudaError_t InclusiveScanByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                        Keys d_keys_in, Values d_values_in, Output d_values_out,
                                        ScanOp scan_op, Count num_items, const Communicator &ranks,
                                        Equal equality_op = Equal(),
                                        cudaStream_t stream = nullptr) {
    compared_by<Equal, Keys>();
    return run(d_temp_storage, temp_storage_bytes, num_items, ranks, stream, [=](std::int64_t at) {
      return problem::inclusive_by_key(d_keys_in + at, d_values_in + at, d_values_out + at,
                                       equality_op, scan_op);
    });
  }

  /// y(i) = init . x(s) . x(s + 1) ... x(i - 1), y(s) = init
  ///
  /// The accumulator is the type of `scan_op(init, x)`.
  template <class Keys, class Values, class Output, class ScanOp, class Init, class Count,
            class Communicator, class Equal = equal_to>
  static cudaError_t ExclusiveScanByKey(void *d_temp_storage, std::size_t &temp_storage_bytes,
                                        Keys d_keys_in, Values d_values_in, Output d_values_out,
                                        ScanOp scan_op, Init init_value, Count num_items,
                                        const Communicator &ranks, Equal equality_op = Equal(),
                                        cudaStream_t stream = nullptr) {
    compared_by<Equal, Keys>();
    return run(d_temp_storage, temp_storage_bytes, num_items, ranks, stream, [=](std::int64_t at) {
      return problem::exclusive_by_key(d_keys_in + at, d_values_in + at, d_values_out + at,
                                       equality_op, scan_op, init_value);
    });
  }

private:
  template <bool Inclusive, class Input, class Output, class ScanOp, class Init>
  static auto scan_from(Input in, Output out, ScanOp op, Init init) {
    static_assert(!detail::door_initial<Init>::deferred,
                  "lookback::distributed::DistributedScan: the initial value must be a value that "
                  "the host knows");
    return problem::scan_from<Inclusive>(in, out, op, init);
  }
  template <class Equal, class Keys>
  static constexpr void compared_by() {
    static_assert(detail::compares<Equal, Keys>,
                  "lookback::distributed::DistributedScan: what follows the communicator in a call "
                  "by key must compare two keys; the stream comes after it");
  }
};

} // namespace distributed
} // namespace LOOKBACK_ABI
} // namespace lookback
