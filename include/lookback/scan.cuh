// SPDX-License-Identifier: MIT
// The 16 scans of Thrust as free functions, and through argument-dependent lookup what
// `thrust::inclusive_scan` and its kin call when they are given one of lookback's policies.
#pragma once

#include <lookback/dispatch/scan_call.cuh>
#include <lookback/host/policy_scan.cuh>

namespace lookback {
namespace detail {

#if !defined(__CUDACC__)
template <class Policy>
using is_cuda_policy = std::false_type;
#endif

/// The overloads below take a policy by its exact type, so that they are nearer than any of
/// Thrust's, which name a base.
template <class Policy>
using if_policy =
    std::enable_if_t<is_cuda_policy<Policy>::value || is_host_policy<Policy>::value, int>;

} // namespace detail

inline namespace LOOKBACK_DEFAULT_STREAM {

// Common to all of them; `a . b` is op(a, b), s the start of i's run of equal keys:
//
//   policy    lookback::par, par_nosync and what `.on(stream)`, `(allocator)` and
//             `.with(algorithm)` make of them; thrust::cuda::par and its kin; lookback::host. A
//             policy that synchronises returns when the results are there; a stream that is being
//             captured is never waited for.
//   x, y      `first` to `last` and `result`: random-access iterators of the policy's system.
//             `result` may be `first` (by key: the keys or the values), element for element; other
//             overlap is not allowed. Returns `result` past the last element written; an empty or
//             negative range writes nothing and returns `result`.
//   op        associative; it need not commute, and it is applied to elements in order and to
//             nothing else.
//   types     accumulate in Thrust's type: the input's value type; with an initial value and
//             inclusive, what op(init, x) returns; exclusive, the initial value's type. They need a
//             copy constructor and nothing more.
//   errors    thrust::system_error with the CUDA status; on the CPU what an operator, a copy or an
//             allocation throws. What was allocated is freed.
//   bits      depend on the values, the length, the types and the operator, and on nothing else
//             (core/tree.cuh); with an algorithm of the catalogue, on what its file says.
//   cost      one pass over memory, about 2 n applications of op; a named algorithm's is in its
//             file.
//   f         of a transform may be called more than once for an element, with a copy of it.
//   device    a call in device code scans in the calling thread alone, one element after the other,
//             as with Thrust's policies: stream, memory and algorithm have no effect, nothing is
//             launched or allocated, and the bits are those of a serial loop. With lookback::host it
//             ends the kernel with an error.

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

/// y(i) = x(s) + ... + x(i), s the start of i's run of equal consecutive keys
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output inclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result) {
  return detail::scan_call<detail::scan_by_key<true, detail::value_t<Values>>>(
      policy, last - first, result, first, values, equal_to{}, plus{});
}

/// The same, with runs of consecutive keys for which `equal(previous, next)` holds.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, class Equal,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output inclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result, Equal equal) {
  return detail::scan_call<detail::scan_by_key<true, detail::value_t<Values>>>(
      policy, last - first, result, first, values, equal, plus{});
}

/// y(i) = x(s) . ... . x(i)
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, class Equal, class Operator,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output inclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result, Equal equal,
                                                  Operator op) {
  return detail::scan_call<detail::scan_by_key<true, detail::value_t<Values>>>(
      policy, last - first, result, first, values, equal, op);
}

/// y(i) = x(s) + ... + x(i - 1), y(s) = 0
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result) {
  using T = detail::value_t<Values>;
  return detail::scan_call<detail::scan_by_key<false, T>>(policy, last - first, result, first,
                                                          values, equal_to{}, plus{});
}

/// y(i) = init + x(s) + ... + x(i - 1), y(s) = init
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, class Init,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result, Init init) {
  return detail::scan_call<detail::scan_by_key<false, Init>>(policy, last - first, result, first,
                                                             values, equal_to{}, plus{}, init);
}

/// The same, with runs by `equal(previous, next)`.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, class Init, class Equal,
          detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result, Init init,
                                                  Equal equal) {
  return detail::scan_call<detail::scan_by_key<false, Init>>(policy, last - first, result, first,
                                                             values, equal, plus{}, init);
}

/// y(i) = init . x(s) . ... . x(i - 1), y(s) = init
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Output, class Init, class Equal,
          class Operator, detail::if_policy<Policy> = 0>
LOOKBACK_HOST_DEVICE Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last,
                                                  Values values, Output result, Init init,
                                                  Equal equal, Operator op) {
  return detail::scan_call<detail::scan_by_key<false, Init>>(policy, last - first, result, first,
                                                             values, equal, op, init);
}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace lookback
