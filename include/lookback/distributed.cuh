// SPDX-License-Identifier: MIT
// Scans of a sequence that is spread over ranks, as free functions, on the threads of the CPU.
#pragma once

#include <lookback/distributed/shard_scan.cuh>
#include <lookback/distributed/thread_group.cuh>
#include <lookback/scan.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Runs a call on the shard of this rank. Returns the end of its results.
template <class Call, class Communicator, class Output, class First, class... Arguments>
Output distributed_call(const Communicator &ranks, std::int64_t n, Output result, First first,
                        const Arguments &...arguments) {
  scan_shard(ranks, n,
             [&](std::int64_t at) { return Call::problem(result + at, first + at, arguments...); });
  return n > 0 ? result + n : result;
}
/// The same by key.
template <class Call, class Communicator, class Output, class Keys, class Values,
          class... Arguments>
Output distributed_call_by_key(const Communicator &ranks, std::int64_t n, Output result, Keys keys,
                               Values values, const Arguments &...arguments) {
  scan_shard(ranks, n, [&](std::int64_t at) {
    return Call::problem(result + at, keys + at, values + at, arguments...);
  });
  return n > 0 ? result + n : result;
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
/// Notation: `a . b` is `op(a, b)`; x(0), x(1), ... are the elements of all ranks, by key those of
/// `values`; y(i) are the results; s is the first index of the segment that holds i. A segment is a
/// longest sequence of consecutive keys, each equal to the next; it may extend over several ranks.
///
/// **Common to all calls**
///
/// - *Collective*: all ranks make the same call, in the same order. Operators, accumulators and
///   keys have the same types, and operators, transforms and initial values are equal. The
///   iterators may have other types, with values of the same size.
/// - `ranks`: a communicator, see below. lookback::distributed::threads makes threads of one
///   process the ranks.
/// - `policy`: lookback::host, or a policy derived from lookback::host_execution_policy.
/// - *Shards*: of any lengths, which may differ. If `last - first` is zero or negative, the shard
///   is empty; the rank takes part nevertheless.
/// - *Iterators*, *operator*, *accumulator*, *return value*: as for @ref thrust_scans, for the
///   shard. `result` may equal `first` (by key: the keys or the values). Accumulators and keys must
///   be trivially copyable.
/// - *Errors*: `std::invalid_argument` on all ranks if the calls differ: in one of these types, in
///   the size of an element, in whether they are inclusive, or in the existence of an initial
///   value. The message names the difference, nothing is written, and the communicator remains
///   usable.
/// - *Exceptions*: any other exception, as for @ref thrust_scans, is rethrown on its rank, which
///   also calls `abort()`. Ranks that wait in the call end with an error. A rank whose call has
///   already returned receives the error from its next call. Results are then partly written.
/// - *Determinism*: the results are bit-identical to those of one call of the same name in
///   namespace lookback for the whole sequence. They depend neither on the number of ranks nor on
///   the lengths of the shards (lookback::tree_shape).
/// - *Threads*: each rank starts its own, as for @ref host, by the length of its shard.
/// - *Complexity*: all shards are scanned in parallel. A shard is read twice, that of the last rank
///   with elements once; about 3 n applications of the operator. There are at most four exchanges:
///   a record of 64 bytes; by key, one key; less than a tile of accumulators (16 KB); and the
///   aggregates of the groups of a shard (one for each 512 KB) and of at most 62 tiles. An exchange
///   takes from every rank as many bytes as the longest of its records has.
///
/// **Communicators** have four const members:
///
/// | member | effect |
/// |---|---|
/// | `int rank()` | the rank of the caller, from 0 on |
/// | `int size()` | the number of ranks |
/// | `void all_gather(const void *record, std::size_t bytes, void *records)` | see below |
/// | `void abort() noexcept` | ends the calls of all ranks by an error |
///
/// `all_gather` copies `bytes` bytes from each rank: those of rank r to byte `r * bytes` of
/// `records`, on all ranks. It returns when `records` is complete, and throws if that is
/// impossible. Both `all_gather` and `abort` are called only by the thread that calls the scan.
///
/// @{

/// y(i) = x(0) . x(1) ... x(i)
template <class Communicator, class Policy, class Input, class Output, class Operator = plus,
          detail::if_on_host<Policy> = 0>
Output inclusive_scan(const Communicator &ranks, const Policy &, Input first, Input last,
                      Output result, Operator op = {}) {
  return detail::distributed_call<detail::plain_scan<true, detail::value_t<Input>>>(
      ranks, last - first, result, first, op);
}

/// y(i) = init . x(0) . x(1) ... x(i)
template <class Communicator, class Policy, class Input, class Output, class Init, class Operator,
          detail::if_on_host<Policy> = 0>
Output inclusive_scan(const Communicator &ranks, const Policy &, Input first, Input last,
                      Output result, Init init, Operator op) {
  using T = detail::accumulator_t<Operator, detail::value_t<Input>, Init>;
  return detail::distributed_call<detail::plain_scan<true, T>>(ranks, last - first, result, first,
                                                               op, init);
}

/// y(i) = x(0) + x(1) + ... + x(i - 1), y(0) = 0
template <class Communicator, class Policy, class Input, class Output,
          detail::if_on_host<Policy> = 0>
Output exclusive_scan(const Communicator &ranks, const Policy &, Input first, Input last,
                      Output result) {
  return detail::distributed_call<detail::plain_scan<false, detail::value_t<Input>>>(
      ranks, last - first, result, first, plus{});
}

/// y(i) = init . x(0) . x(1) ... x(i - 1)
template <class Communicator, class Policy, class Input, class Output, class Init,
          class Operator = plus, detail::if_on_host<Policy> = 0>
Output exclusive_scan(const Communicator &ranks, const Policy &, Input first, Input last,
                      Output result, Init init, Operator op = {}) {
  return detail::distributed_call<detail::plain_scan<false, Init>>(ranks, last - first, result,
                                                                   first, op, init);
}

/// y(i) = f(x(0)) . f(x(1)) ... f(x(i))
template <class Communicator, class Policy, class Input, class Output, class Transform,
          class Operator, detail::if_on_host<Policy> = 0>
Output transform_inclusive_scan(const Communicator &ranks, const Policy &, Input first, Input last,
                                Output result, Transform f, Operator op) {
  using T = detail::transformed_t<Input, Transform>;
  return detail::distributed_call<detail::transform_scan<true, T, T>>(ranks, last - first, result,
                                                                      first, f, op);
}

/// y(i) = init . f(x(0)) . f(x(1)) ... f(x(i))
template <class Communicator, class Policy, class Input, class Output, class Transform, class Init,
          class Operator, detail::if_on_host<Policy> = 0>
Output transform_inclusive_scan(const Communicator &ranks, const Policy &, Input first, Input last,
                                Output result, Transform f, Init init, Operator op) {
  using U = detail::transformed_t<Input, Transform>;
  using T = detail::accumulator_t<Operator, U, Init>;
  return detail::distributed_call<detail::transform_scan<true, T, U>>(ranks, last - first, result,
                                                                      first, f, op, init);
}

/// y(i) = init . f(x(0)) . f(x(1)) ... f(x(i - 1))
template <class Communicator, class Policy, class Input, class Output, class Transform, class Init,
          class Operator, detail::if_on_host<Policy> = 0>
Output transform_exclusive_scan(const Communicator &ranks, const Policy &, Input first, Input last,
                                Output result, Transform f, Init init, Operator op) {
  return detail::distributed_call<detail::transform_scan<false, Init, Init>>(
      ranks, last - first, result, first, f, op, init);
}

/// y(i) = x(s) . ... . x(i); keys are equal by `equal(previous, next)`
template <class Communicator, class Policy, class Keys, class Values, class Output,
          class Equal = equal_to, class Operator = plus, detail::if_on_host<Policy> = 0>
Output inclusive_scan_by_key(const Communicator &ranks, const Policy &, Keys first, Keys last,
                             Values values, Output result, Equal equal = {}, Operator op = {}) {
  return detail::distributed_call_by_key<detail::scan_by_key<true, detail::value_t<Values>>>(
      ranks, last - first, result, first, values, equal, op);
}

/// y(i) = x(s) + ... + x(i - 1), y(s) = 0; keys are equal by `==`
template <class Communicator, class Policy, class Keys, class Values, class Output,
          detail::if_on_host<Policy> = 0>
Output exclusive_scan_by_key(const Communicator &ranks, const Policy &, Keys first, Keys last,
                             Values values, Output result) {
  return detail::distributed_call_by_key<detail::scan_by_key<false, detail::value_t<Values>>>(
      ranks, last - first, result, first, values, equal_to{}, plus{});
}

/// y(i) = init . x(s) . ... . x(i - 1), y(s) = init; keys are equal by `equal(previous, next)`
template <class Communicator, class Policy, class Keys, class Values, class Output, class Init,
          class Equal = equal_to, class Operator = plus, detail::if_on_host<Policy> = 0>
Output exclusive_scan_by_key(const Communicator &ranks, const Policy &, Keys first, Keys last,
                             Values values, Output result, Init init, Equal equal = {},
                             Operator op = {}) {
  return detail::distributed_call_by_key<detail::scan_by_key<false, Init>>(
      ranks, last - first, result, first, values, equal, op, init);
}

/// @}

} // namespace distributed
} // namespace LOOKBACK_ABI
} // namespace lookback
