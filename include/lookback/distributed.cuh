// SPDX-License-Identifier: MIT
// Scans of a sequence that is spread over ranks, as free functions, on CPU threads or on GPUs.
#pragma once

#include <lookback/distributed/known_shards.cuh>
#include <lookback/distributed/shard_scan.cuh>
#include <lookback/distributed/thread_group.cuh>
#include <lookback/scan.cuh>
#if defined(__CUDACC__)
#include <lookback/distributed/device_call.cuh>
#endif

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Selects calls on the CPU and, where kernels can be compiled, on GPUs.
#if defined(__CUDACC__)
template <class Policy>
using if_scans_shards =
    std::enable_if_t<is_host_policy<Policy>::value || is_cuda_policy<Policy>::value, int>;
#else
template <class Policy>
using if_scans_shards = if_on_host<Policy>;
#endif

/// Runs a call on the shard of this rank. Returns the end of its results.
template <class Communicator, class Policy, class Output, class Make>
Output run_on_shard([[maybe_unused]] const Policy &policy, const Communicator &ranks,
                    std::int64_t n, Output result, Make make) {
#if defined(__CUDACC__)
  if constexpr (is_cuda_policy<Policy>::value)
    scan_shard_on(policy, ranks, n, make);
  else
#endif
    scan_shard(ranks, n, make);
  return n > 0 ? result + n : result;
}
template <class Call, class Communicator, class Policy, class Output, class First,
          class... Arguments>
Output distributed_call(const Communicator &ranks, const Policy &policy, std::int64_t n,
                        Output result, First first, const Arguments &...arguments) {
  return run_on_shard(policy, ranks, n, result, [&](std::int64_t at) {
    return Call::problem(result + at, first + at, arguments...);
  });
}
/// The same by key.
template <class Call, class Communicator, class Policy, class Output, class Keys, class Values,
          class... Arguments>
Output distributed_call_by_key(const Communicator &ranks, const Policy &policy, std::int64_t n,
                               Output result, Keys keys, Values values,
                               const Arguments &...arguments) {
  return run_on_shard(policy, ranks, n, result, [&](std::int64_t at) {
    return Call::problem(result + at, keys + at, values + at, arguments...);
  });
}

} // namespace detail

/// Scans of a sequence that is spread over ranks (@ref distributed_scans).
namespace distributed {

/// @addtogroup distributed_scans
/// Scans of one sequence that is spread over several ranks, with the bits of one scan. Each rank
/// passes its shard; the shards together, in rank order, are the sequence.
///
/// @code
/// lookback::distributed::threads group(4);
/// const auto ranks = group.communicator(r); // in thread r of 4
/// lookback::distributed::inclusive_scan(ranks, lookback::host, first, last, result);
/// @endcode
///
/// On GPUs, with NCCL:
///
/// @code
/// #include <lookback/distributed/nccl_communicator.cuh>
///
/// const lookback::distributed::nccl ranks(comm); // an ncclComm_t; its GPU is the current device
/// lookback::distributed::inclusive_scan(ranks, lookback::par.on(stream), first, last, result);
/// @endcode
///
/// `<lookback/distributed_scan.cuh>` has the same scans on GPUs with the shape of CUB:
/// lookback::distributed::DistributedScan.
///
/// Notation: `a . b` is `op(a, b)`; x(0), x(1), ... are the elements of all ranks, by key those of
/// `values`; y(i) are the results; s is the first index of the segment that holds i. A segment is a
/// maximal sequence of consecutive equal keys; it may extend over several ranks.
///
/// **Common to all calls**
///
/// - *Collective*: all ranks make the same call, in the same order. Operators, accumulators and
///   keys have the same types, and operators, transforms and initial values are equal. The
///   types of iterators may differ, if their values have the same size, on GPUs the same type.
/// - `ranks`: a communicator, see below. lookback::distributed::threads makes threads of one
///   process the ranks, and lookback::distributed::nccl those of an NCCL communicator.
/// - `policy`: lookback::host, or a policy derived from lookback::host_execution_policy; in code
///   compiled by nvcc also a CUDA policy, without a strategy of its own. All ranks of a call run on
///   CPUs, or all of them on GPUs.
/// - *Shards*: of any lengths, which may differ. If `last - first` is zero or negative, the shard
///   is empty; the rank takes part nevertheless.
/// - *Iterators*, *operator*, *accumulator*, *return value*: as for @ref thrust_scans, for the
///   shard. `result` may equal `first` (by key: the keys or the values). Accumulators and keys must
///   be trivially copyable.
/// - *Errors*: `std::invalid_argument` on all ranks if the calls differ: in one of these types, in
///   the size of an element, in whether they are inclusive, in the existence of an initial value,
///   in the processor, in the number of ranks, or in lookback::tree_version. Likewise on the other
///   ranks if one cannot take part because its stream is being captured. The message names the
///   difference or the rank, nothing is written, and the communicator remains usable.
///   lookback::distributed::known_shards does without this exchange, so differing calls are not
///   found, and every exception aborts the communicator.
/// - *Exceptions*: any other exception, as for @ref thrust_scans, is rethrown on its rank, which
///   also calls `abort()`. Ranks that wait in the call end with an error. A rank whose call has
///   already returned receives the error from its next call. Results are then partly written.
/// - *Determinism*: the results are bit-identical to those of one call of the same name in
///   namespace lookback for the whole sequence. They depend neither on the number of ranks nor on
///   the lengths of the shards (lookback::tree_shape).
/// - *Threads*: on the CPU, each rank starts threads of its own, as for @ref host. Their number
///   depends on the length of its shard.
/// - *Complexity* on the CPU: all shards are scanned in parallel. A shard is read twice, that of
///   the last rank with elements once; about 3 n applications of the operator. There are at most
///   four exchanges: a record of 64 bytes; by key, one key; less than a tile of accumulators
///   (16 KB); and the aggregates of the groups of a shard (one for each 512 KB) and of at most 62
///   tiles. In an exchange, every rank sends as many bytes as the longest of its records has.
///
/// **On GPUs**
///
/// - *Requirements*: the current device is the GPU of the rank; lookback::distributed::on_all()
///   sets it where one host thread drives several GPUs. Elements, keys and accumulators must be
///   trivially copyable; elements and accumulators must have fewer than 512 bytes. By key, the
///   elements that are exchanged and copied are pairs of an accumulator and a flag.
/// - *Stream behaviour*: the host waits for the first exchange, since it must know the lengths of
///   the shards. With lookback::distributed::nccl it thus waits for earlier work on the stream,
///   too. Everything after the first exchange is enqueued on the policy's stream. lookback::par
///   also waits for the results, lookback::par_nosync does not. With
///   lookback::distributed::known_shards there is no first exchange to wait for.
/// - *Captured streams*: allowed with known_shards of a communicator that has `all_gather_on`;
///   temporary memory from the pool then belongs to the graph. Otherwise, the rank throws
///   `cudaErrorStreamCaptureUnsupported`. First it tells the other ranks, in an exchange on a
///   stream of its own: they throw `std::invalid_argument`, the communicator remains usable, and
///   the capture is unharmed. With known_shards of a communicator that has only `all_gather`, it
///   aborts the communicator instead.
/// - *Temporary memory*: from lookback's pool, or from the policy's allocator. One accumulator for
///   each 16 KB of the shard; at most two groups (of 512 KB); for each rank at most a group and the
///   aggregates of exchange 4 below; and the storage of a scan of the shard.
/// - *Errors of CUDA*: `thrust::system_error`, as for @ref policies, or `std::runtime_error` if
///   lookback::distributed::nccl finds them. The other ranks end as after any other exception.
/// - *Complexity*: a shard is read twice, that of the last rank with elements once, and written
///   once. There are at most four exchanges, in each of which every rank sends: (1) a record of 64
///   bytes; (2) by key, its last key; (3) fewer elements than a group, none if all shards begin at
///   multiples of a group; (4) one accumulator for each group of the longest shard, not counting
///   the last one. One block folds the aggregates of all groups before a shard, one after the
///   other: 8192 of them for each 4 GiB.
///
/// **Communicators** have four const members:
///
/// | member | effect |
/// |---|---|
/// | `int rank()` | the rank of the caller, from 0 on |
/// | `int size()` | the number of ranks |
/// | `void all_gather(const void *record, std::size_t bytes, void *records)` | see below |
/// | `void abort() noexcept` | ends the calls of all ranks with an error |
///
/// `all_gather` copies `bytes` bytes from each rank: those of rank r to byte `r * bytes` of
/// `records`, on all ranks. It returns when `records` is complete, and throws if that is
/// impossible. Both `all_gather` and `abort` are called only by the thread that calls the scan.
///
/// A communicator for GPUs has four members in place of `all_gather`:
///
/// - `void all_gather_on(const void *record, std::size_t bytes, void *records, cudaStream_t)`: the
///   same in device memory, enqueued on the stream;
/// - `void all_gather_host(const void *record, std::size_t bytes, void *records, cudaStream_t)`:
///   the same in host memory, for 64 bytes; it returns when `records` is complete;
/// - `void wait_for(cudaStream_t)`: waits until the work on the stream is complete;
/// - `void require_usable()`: throws if this thread cannot make a call.
///
/// On GPUs, a communicator that has only `all_gather` exchanges copies in host memory, and the host
/// waits for each exchange.
///
/// @{

/// y(i) = x(0) . x(1) ... x(i)
template <class Communicator, class Policy, class Input, class Output, class Operator = plus,
          detail::if_scans_shards<Policy> = 0>
Output inclusive_scan(const Communicator &ranks, const Policy &policy, Input first, Input last,
                      Output result, Operator op = {}) {
  return detail::distributed_call<detail::plain_scan<true, detail::value_t<Input>>>(
      ranks, policy, last - first, result, first, op);
}

/// y(i) = init . x(0) . x(1) ... x(i)
template <class Communicator, class Policy, class Input, class Output, class Init, class Operator,
          detail::if_scans_shards<Policy> = 0>
Output inclusive_scan(const Communicator &ranks, const Policy &policy, Input first, Input last,
                      Output result, Init init, Operator op) {
  using T = detail::accumulator_t<Operator, detail::value_t<Input>, Init>;
  return detail::distributed_call<detail::plain_scan<true, T>>(ranks, policy, last - first, result,
                                                               first, op, init);
}

/// y(i) = x(0) + x(1) + ... + x(i - 1), y(0) = 0
template <class Communicator, class Policy, class Input, class Output,
          detail::if_scans_shards<Policy> = 0>
Output exclusive_scan(const Communicator &ranks, const Policy &policy, Input first, Input last,
                      Output result) {
  return detail::distributed_call<detail::plain_scan<false, detail::value_t<Input>>>(
      ranks, policy, last - first, result, first, plus{});
}

/// y(i) = init . x(0) . x(1) ... x(i - 1)
template <class Communicator, class Policy, class Input, class Output, class Init,
          class Operator = plus, detail::if_scans_shards<Policy> = 0>
Output exclusive_scan(const Communicator &ranks, const Policy &policy, Input first, Input last,
                      Output result, Init init, Operator op = {}) {
  return detail::distributed_call<detail::plain_scan<false, Init>>(ranks, policy, last - first,
                                                                   result, first, op, init);
}

/// y(i) = f(x(0)) . f(x(1)) ... f(x(i))
template <class Communicator, class Policy, class Input, class Output, class Transform,
          class Operator, detail::if_scans_shards<Policy> = 0>
Output transform_inclusive_scan(const Communicator &ranks, const Policy &policy, Input first,
                                Input last, Output result, Transform f, Operator op) {
  using T = detail::transformed_t<Input, Transform>;
  return detail::distributed_call<detail::transform_scan<true, T, T>>(ranks, policy, last - first,
                                                                      result, first, f, op);
}

/// y(i) = init . f(x(0)) . f(x(1)) ... f(x(i))
template <class Communicator, class Policy, class Input, class Output, class Transform, class Init,
          class Operator, detail::if_scans_shards<Policy> = 0>
Output transform_inclusive_scan(const Communicator &ranks, const Policy &policy, Input first,
                                Input last, Output result, Transform f, Init init, Operator op) {
  using U = detail::transformed_t<Input, Transform>;
  using T = detail::accumulator_t<Operator, U, Init>;
  return detail::distributed_call<detail::transform_scan<true, T, U>>(ranks, policy, last - first,
                                                                      result, first, f, op, init);
}

/// y(i) = init . f(x(0)) . f(x(1)) ... f(x(i - 1))
template <class Communicator, class Policy, class Input, class Output, class Transform, class Init,
          class Operator, detail::if_scans_shards<Policy> = 0>
Output transform_exclusive_scan(const Communicator &ranks, const Policy &policy, Input first,
                                Input last, Output result, Transform f, Init init, Operator op) {
  return detail::distributed_call<detail::transform_scan<false, Init, Init>>(
      ranks, policy, last - first, result, first, f, op, init);
}

/// y(i) = x(s) . ... . x(i); keys are equal by `equal(previous, next)`
template <class Communicator, class Policy, class Keys, class Values, class Output,
          class Equal = equal_to, class Operator = plus, detail::if_scans_shards<Policy> = 0>
Output inclusive_scan_by_key(const Communicator &ranks, const Policy &policy, Keys first, Keys last,
                             Values values, Output result, Equal equal = {}, Operator op = {}) {
  return detail::distributed_call_by_key<detail::scan_by_key<true, detail::value_t<Values>>>(
      ranks, policy, last - first, result, first, values, equal, op);
}

/// y(i) = x(s) + ... + x(i - 1), y(s) = 0; keys are equal by `==`
template <class Communicator, class Policy, class Keys, class Values, class Output,
          detail::if_scans_shards<Policy> = 0>
Output exclusive_scan_by_key(const Communicator &ranks, const Policy &policy, Keys first, Keys last,
                             Values values, Output result) {
  return detail::distributed_call_by_key<detail::scan_by_key<false, detail::value_t<Values>>>(
      ranks, policy, last - first, result, first, values, equal_to{}, plus{});
}

/// y(i) = init . x(s) . ... . x(i - 1), y(s) = init; keys are equal by `equal(previous, next)`
template <class Communicator, class Policy, class Keys, class Values, class Output, class Init,
          class Equal = equal_to, class Operator = plus, detail::if_scans_shards<Policy> = 0>
Output exclusive_scan_by_key(const Communicator &ranks, const Policy &policy, Keys first, Keys last,
                             Values values, Output result, Init init, Equal equal = {},
                             Operator op = {}) {
  return detail::distributed_call_by_key<detail::scan_by_key<false, Init>>(
      ranks, policy, last - first, result, first, values, equal, op, init);
}

/// @}

} // namespace distributed
} // namespace LOOKBACK_ABI
} // namespace lookback
