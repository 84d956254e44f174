// SPDX-License-Identifier: MIT
// The 16 scans of Thrust as free functions, and offsets from counts. `thrust::inclusive_scan` and
// its siblings find them through argument-dependent lookup when the policy is one of lookback's.
#pragma once

#include <lookback/dispatch/scan_call.cuh>
#include <lookback/host/host_scan.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

#if !defined(__CUDACC__)
template <class Policy>
using is_cuda_policy = std::false_type;
#endif

/// The overloads below take a policy by its exact type, so they are better matches than all
/// overloads of Thrust, which take a base class.
template <class Policy>
using if_policy =
    std::enable_if_t<is_cuda_policy<Policy>::value || is_host_policy<Policy>::value, int>;

} // namespace detail

inline namespace LOOKBACK_DEFAULT_STREAM {

/// @addtogroup thrust_scans
/// Thrust's 16 scans as functions of lookback, and offsets_from_counts(). `thrust::inclusive_scan`
/// and its siblings call them when the policy is one of lookback's.
///
/// @code
/// lookback::inclusive_scan(lookback::par.on(stream), first, last, result, op);
/// thrust::inclusive_scan(lookback::par.on(stream), first, last, result, op); // the same
/// @endcode
///
/// Notation: `a . b` is `op(a, b)`; x(0) to x(n - 1) are the elements of [`first`, `last`), by key
/// those of `values`; y(i) are the results; s is the first index of the segment that holds i. A
/// segment is a longest sequence of consecutive keys, each equal to the next.
///
/// **Common to all calls**
///
/// - `policy`: one of lookback's @ref policies, lookback::host, or `thrust::cuda::par` and the
///   policies made from it.
/// - *Iterators*: random access, readable or writable where the policy runs. `result` may equal
///   `first` (by key: the keys or the values); any other overlap is undefined.
/// - *Operator*: associative. It need not be commutative, no identity is assumed, and it is applied
///   to valid elements only, in order. A transform `f` may be called several times for one element,
///   with a copy of it.
/// - *Accumulator*: Thrust's choice. The value type of the input; with an initial value, the type
///   of `op(init, x)` (inclusive) or the type of `init` (exclusive).
/// - *Element types*: a copy constructor is all they need. On a GPU, elements and accumulators have
///   at most 4096 bytes. From 512 bytes on they are scanned more slowly, by kernels that keep about
///   12 of them in the local memory of every thread, which the driver reserves at the first launch.
/// - *Return value*: the end of the results. If `last - first` is zero or negative, `result`, with
///   nothing written.
/// - *Stream behaviour*: the scan is enqueued on the policy's stream. A synchronising policy
///   returns when the results are written, but never waits for a stream under capture.
/// - *Errors*: `thrust::system_error` with the CUDA status; on the CPU the exception of the
///   operator, the copy or the allocation. All temporary memory is freed.
/// - *Determinism*: the bits depend on the values, their number, the types and the operator only
///   (lookback::tree_shape); with a strategy chosen by `.with()`, see that strategy.
/// - *Complexity*: one pass over memory, about 2 n applications of the operator; with a strategy,
///   see that strategy.
/// - *In device code*: a serial loop of the calling thread, as with Thrust's policies. Stream,
///   memory and strategy have no effect, nothing is launched or allocated, and the bits are those
///   of a serial loop. With lookback::host the kernel ends with an error.
///
/// @{

/// y(i) = x(0) + x(1) + ... + x(i)
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output inclusive_scan(const Policy &policy, Input first, Input last,
                                           Output result) {
  return detail::scan_call<detail::plain_scan<true, detail::value_t<Input>>>(policy, last - first,
                                                                             result, first, plus{});
}

/// y(i) = x(0) . x(1) ... x(i)
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class Operator, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output inclusive_scan(const Policy &policy, Input first, Input last,
                                           Output result, Operator op) {
  return detail::scan_call<detail::plain_scan<true, detail::value_t<Input>>>(policy, last - first,
                                                                             result, first, op);
}

/// y(i) = init . x(0) . x(1) ... x(i)
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class Init, class Operator,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output inclusive_scan(const Policy &policy, Input first, Input last,
                                           Output result, Init init, Operator op) {
  using T = detail::accumulator_t<Operator, detail::value_t<Input>, Init>;
  return detail::scan_call<detail::plain_scan<true, T>>(policy, last - first, result, first, op,
                                                        init);
}

/// y(i) = x(0) + x(1) + ... + x(i - 1), y(0) = 0
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan(const Policy &policy, Input first, Input last,
                                           Output result) {
  using T = detail::value_t<Input>;
  return detail::scan_call<detail::plain_scan<false, T>>(policy, last - first, result, first,
                                                         plus{});
}

/// y(i) = init + x(0) + x(1) + ... + x(i - 1)
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class Init, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan(const Policy &policy, Input first, Input last,
                                           Output result, Init init) {
  return detail::scan_call<detail::plain_scan<false, Init>>(policy, last - first, result, first,
                                                            plus{}, init);
}

/// y(i) = init . x(0) . x(1) ... x(i - 1)
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class Init, class Operator,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan(const Policy &policy, Input first, Input last,
                                           Output result, Init init, Operator op) {
  return detail::scan_call<detail::plain_scan<false, Init>>(policy, last - first, result, first, op,
                                                            init);
}

/// y(i) = f(x(0)) . f(x(1)) ... f(x(i))
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class Transform, class Operator,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output transform_inclusive_scan(const Policy &policy, Input first, Input last,
                                                     Output result, Transform f, Operator op) {
  using T = detail::transformed_t<Input, Transform>;
  return detail::scan_call<detail::transform_scan<true, T, T>>(policy, last - first, result, first,
                                                               f, op);
}

/// y(i) = init . f(x(0)) . f(x(1)) ... f(x(i))
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class Transform, class Init, class Operator,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output transform_inclusive_scan(const Policy &policy, Input first, Input last,
                                                     Output result, Transform f, Init init,
                                                     Operator op) {
  using U = detail::transformed_t<Input, Transform>;
  using T = detail::accumulator_t<Operator, U, Init>;
  return detail::scan_call<detail::transform_scan<true, T, U>>(policy, last - first, result, first,
                                                               f, op, init);
}

/// y(i) = init . f(x(0)) . f(x(1)) ... f(x(i - 1))
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class Transform, class Init, class Operator,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output transform_exclusive_scan(const Policy &policy, Input first, Input last,
                                                     Output result, Transform f, Init init,
                                                     Operator op) {
  return detail::scan_call<detail::transform_scan<false, Init, Init>>(policy, last - first, result,
                                                                      first, f, op, init);
}

/// y(i) = x(s) + ... + x(i); keys are equal by `==`
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output inclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result) {
  return detail::scan_call<detail::scan_by_key<true, detail::value_t<Values>>>(
      policy, last - first, result, first, values, equal_to{}, plus{});
}

/// y(i) = x(s) + ... + x(i); keys are equal by `equal(previous, next)`
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, class Equal,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output inclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result, Equal equal) {
  return detail::scan_call<detail::scan_by_key<true, detail::value_t<Values>>>(
      policy, last - first, result, first, values, equal, plus{});
}

/// y(i) = x(s) . ... . x(i); keys are equal by `equal(previous, next)`
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, class Equal, class Operator,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output inclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result, Equal equal,
                                                  Operator op) {
  return detail::scan_call<detail::scan_by_key<true, detail::value_t<Values>>>(
      policy, last - first, result, first, values, equal, op);
}

/// y(i) = x(s) + ... + x(i - 1), y(s) = 0; keys are equal by `==`
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result) {
  using T = detail::value_t<Values>;
  return detail::scan_call<detail::scan_by_key<false, T>>(policy, last - first, result, first,
                                                          values, equal_to{}, plus{});
}

/// y(i) = init + x(s) + ... + x(i - 1), y(s) = init; keys are equal by `==`
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, class Init,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result, Init init) {
  return detail::scan_call<detail::scan_by_key<false, Init>>(policy, last - first, result, first,
                                                             values, equal_to{}, plus{}, init);
}

/// y(i) = init + x(s) + ... + x(i - 1), y(s) = init; keys are equal by `equal(previous, next)`
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, class Init, class Equal,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result, Init init,
                                                  Equal equal) {
  return detail::scan_call<detail::scan_by_key<false, Init>>(policy, last - first, result, first,
                                                             values, equal, plus{}, init);
}

/// y(i) = init . x(s) . ... . x(i - 1), y(s) = init; keys are equal by `equal(previous, next)`
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, class Init, class Equal,
          class Operator, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result, Init init,
                                                  Equal equal, Operator op) {
  return detail::scan_call<detail::scan_by_key<false, Init>>(policy, last - first, result, first,
                                                             values, equal, op, init);
}

/// y(0) = 0, y(i) = x(0) + x(1) + ... + x(i - 1) for i <= n: part i, of x(i) elements, begins at
/// y(i) and ends before y(i + 1). Not a call of Thrust.
///
/// Counts are added up in the value type of `result`, an integer type; if it is void, in the type
/// of `x + x`. Without counts, one offset is written. The n + 1 offsets must not overlap the
/// counts. With a textbook strategy (`<lookback/catalogue.cuh>`), the call throws
/// `thrust::system_error` with `cudaErrorNotSupported`.
/// @returns the end of the offsets, `result` + n + 1
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Counts, class Offsets, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Offsets offsets_from_counts(const Policy &policy, Counts first, Counts last,
                                                 Offsets result) {
  const std::ptrdiff_t n = last - first > 0 ? last - first : 0;
  if constexpr (detail::is_host_policy<Policy>::value) { // the CPU does not compute totals
    using T = detail::offset_t<Counts, Offsets>;
    detail::serial_store(result, 0, T{});
    return detail::scan_call<detail::plain_scan<true, T>>(policy, n, result + 1, first, plus{});
  } else {
    return detail::scan_call<detail::offsets_scan>(policy, n, result, first, result + n) + 1;
  }
}

/// @}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace LOOKBACK_ABI
} // namespace lookback
