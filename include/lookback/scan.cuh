// SPDX-License-Identifier: MIT
// The 16 scans of Thrust as free functions, and through argument-dependent lookup what `thrust::inclusive_scan` and its
// kin call when they are given one of lookback's policies.
#pragma once

#include <lookback/core/by_key.cuh>
#include <lookback/host/policy_scan.cuh>
#if defined(__CUDACC__)
#include <lookback/dispatch/policy_scan.cuh>
#endif

#include <thrust/iterator/transform_iterator.h>
#include <thrust/type_traits/unwrap_contiguous_iterator.h>

namespace lookback {
namespace detail {

#if !defined(__CUDACC__)
template <class Policy>
using is_cuda_policy = std::false_type;
#endif

/// The overloads below take a policy by its exact type, so that they are nearer than any of Thrust's, which name a base.
template <class Policy>
using if_policy = std::enable_if_t<is_cuda_policy<Policy>::value || is_host_policy<Policy>::value, int>;

/// A pointer, where an iterator is one in disguise; likewise what a transformation is of.
template <class Iterator>
auto unwrap(Iterator iterator) {
  return thrust::try_unwrap_contiguous_iterator(iterator);
}
template <class Function, class Base, class Reference, class Value>
auto unwrap(thrust::transform_iterator<Function, Base, Reference, Value> iterator) {
  const auto base = unwrap(iterator.base());
  return thrust::transform_iterator<Function, std::decay_t<decltype(base)>, Reference, Value>(base, iterator.functor());
}

template <class Input, class Transform>
using transformed_t = typename returned<Transform, value_t<Input>>::type;

/// `x` behind `transform`, as a sequence of T.
template <class T, class Input, class Transform>
auto transformed(Input first, Transform transform) {
  auto raw = unwrap(first);
  return thrust::transform_iterator<Transform, decltype(raw), T, T>(raw, transform);
}

} // namespace detail

// Common to all of them; `a . b` is op(a, b), s the start of i's run of equal keys:
//
//   policy    lookback::par, par_nosync and what `.on(stream)`, `(allocator)` and `.with(algorithm)` make of them;
//             thrust::cuda::par and its kin; lookback::host. A policy that synchronises returns when the results are there; a stream that is being captured
//             is never waited for.
//   x, y      `first` to `last` and `result`: random-access iterators of the policy's system. `result` may be `first` (by key:
//             the keys or the values), element for element; other overlap is not allowed. Returns `result` past the last
//             element written; an empty or negative range writes nothing and returns `result`.
//   op        associative; it need not commute, and it is applied to elements in order and to nothing else.
//   types     accumulate in Thrust's type: the input's value type; with an initial value and inclusive, what op(init, x)
//             returns; exclusive, the initial value's type. They need a copy constructor and nothing more.
//   errors    thrust::system_error with the CUDA status; on the CPU what an operator, a copy or an allocation throws. What was
//             allocated is freed.
//   bits      depend on the values, the length, the types and the operator, and on nothing else (core/tree.cuh); with an
//             algorithm of the catalogue, on what its file says.
//   cost      one pass over memory, about 2 n applications of op; a named algorithm's is in its file.
//   f         of a transform may be called more than once for an element, with a copy of it.

/// y(i) = x(0) + x(1) + ... + x(i)
template <class Policy, class Input, class Output, detail::if_policy<Policy> = 0>
Output inclusive_scan(const Policy &policy, Input first, Input last, Output result) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_problem<true, detail::value_t<Input>>(detail::unwrap(first), detail::unwrap(result), plus{},
                                                              detail::no_initial{});
  });
}

/// y(i) = x(0) . x(1) ... x(i)
template <class Policy, class Input, class Output, class Operator, detail::if_policy<Policy> = 0>
Output inclusive_scan(const Policy &policy, Input first, Input last, Output result, Operator op) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_problem<true, detail::value_t<Input>>(detail::unwrap(first), detail::unwrap(result), op,
                                                              detail::no_initial{});
  });
}

/// y(i) = init . x(0) . x(1) ... x(i)
template <class Policy, class Input, class Output, class Init, class Operator, detail::if_policy<Policy> = 0>
Output inclusive_scan(const Policy &policy, Input first, Input last, Output result, Init init, Operator op) {
  using T = detail::accumulator_t<Operator, detail::value_t<Input>, Init>;
  return detail::run(policy, last - first, result, [&] {
    return detail::make_problem<true, T>(detail::unwrap(first), detail::unwrap(result), op,
                                         detail::initial_value<Init>{init});
  });
}

/// y(i) = x(0) + x(1) + ... + x(i - 1), y(0) = 0
template <class Policy, class Input, class Output, detail::if_policy<Policy> = 0>
Output exclusive_scan(const Policy &policy, Input first, Input last, Output result) {
  using T = detail::value_t<Input>;
  return detail::run(policy, last - first, result, [&] {
    return detail::make_problem<false, T>(detail::unwrap(first), detail::unwrap(result), plus{},
                                          detail::initial_value<T>{T{}});
  });
}

/// y(i) = init + x(0) + x(1) + ... + x(i - 1)
template <class Policy, class Input, class Output, class Init, detail::if_policy<Policy> = 0>
Output exclusive_scan(const Policy &policy, Input first, Input last, Output result, Init init) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_problem<false, Init>(detail::unwrap(first), detail::unwrap(result), plus{},
                                             detail::initial_value<Init>{init});
  });
}

/// y(i) = init . x(0) . x(1) ... x(i - 1)
template <class Policy, class Input, class Output, class Init, class Operator, detail::if_policy<Policy> = 0>
Output exclusive_scan(const Policy &policy, Input first, Input last, Output result, Init init, Operator op) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_problem<false, Init>(detail::unwrap(first), detail::unwrap(result), op,
                                             detail::initial_value<Init>{init});
  });
}

/// y(i) = f(x(0)) . f(x(1)) ... f(x(i))
template <class Policy, class Input, class Output, class Transform, class Operator, detail::if_policy<Policy> = 0>
Output transform_inclusive_scan(const Policy &policy, Input first, Input last, Output result, Transform f,
                                Operator op) {
  using T = detail::transformed_t<Input, Transform>;
  return detail::run(policy, last - first, result, [&] {
    return detail::make_problem<true, T>(detail::transformed<T>(first, f), detail::unwrap(result), op,
                                         detail::no_initial{});
  });
}

/// y(i) = init . f(x(0)) . f(x(1)) ... f(x(i))
template <class Policy, class Input, class Output, class Transform, class Init, class Operator,
          detail::if_policy<Policy> = 0>
Output transform_inclusive_scan(const Policy &policy, Input first, Input last, Output result, Transform f, Init init,
                                Operator op) {
  using U = detail::transformed_t<Input, Transform>;
  using T = detail::accumulator_t<Operator, U, Init>;
  return detail::run(policy, last - first, result, [&] {
    return detail::make_problem<true, T>(detail::transformed<U>(first, f), detail::unwrap(result), op,
                                         detail::initial_value<Init>{init});
  });
}

/// y(i) = init . f(x(0)) . f(x(1)) ... f(x(i - 1))
template <class Policy, class Input, class Output, class Transform, class Init, class Operator,
          detail::if_policy<Policy> = 0>
Output transform_exclusive_scan(const Policy &policy, Input first, Input last, Output result, Transform f, Init init,
                                Operator op) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_problem<false, Init>(detail::transformed<Init>(first, f), detail::unwrap(result), op,
                                             detail::initial_value<Init>{init});
  });
}

/// y(i) = x(s) + ... + x(i), s the start of i's run of equal consecutive keys
template <class Policy, class Keys, class Values, class Output, detail::if_policy<Policy> = 0>
Output inclusive_scan_by_key(const Policy &policy, Keys first, Keys last, Values values, Output result) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_inclusive_by_key<detail::value_t<Values>>(detail::unwrap(first), detail::unwrap(values),
                                                                  detail::unwrap(result), equal_to{}, plus{});
  });
}

/// The same, with runs of consecutive keys for which `equal(previous, next)` holds.
template <class Policy, class Keys, class Values, class Output, class Equal, detail::if_policy<Policy> = 0>
Output inclusive_scan_by_key(const Policy &policy, Keys first, Keys last, Values values, Output result, Equal equal) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_inclusive_by_key<detail::value_t<Values>>(detail::unwrap(first), detail::unwrap(values),
                                                                  detail::unwrap(result), equal, plus{});
  });
}

/// y(i) = x(s) . ... . x(i)
template <class Policy, class Keys, class Values, class Output, class Equal, class Operator,
          detail::if_policy<Policy> = 0>
Output inclusive_scan_by_key(const Policy &policy, Keys first, Keys last, Values values, Output result, Equal equal,
                             Operator op) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_inclusive_by_key<detail::value_t<Values>>(detail::unwrap(first), detail::unwrap(values),
                                                                  detail::unwrap(result), equal, op);
  });
}

/// y(i) = x(s) + ... + x(i - 1), y(s) = 0
template <class Policy, class Keys, class Values, class Output, detail::if_policy<Policy> = 0>
Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last, Values values, Output result) {
  using T = detail::value_t<Values>;
  return detail::run(policy, last - first, result, [&] {
    return detail::make_exclusive_by_key<T>(detail::unwrap(first), detail::unwrap(values), detail::unwrap(result), T{},
                                            equal_to{}, plus{});
  });
}

/// y(i) = init + x(s) + ... + x(i - 1), y(s) = init
template <class Policy, class Keys, class Values, class Output, class Init, detail::if_policy<Policy> = 0>
Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last, Values values, Output result, Init init) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_exclusive_by_key<Init>(detail::unwrap(first), detail::unwrap(values), detail::unwrap(result),
                                               init, equal_to{}, plus{});
  });
}

/// The same, with runs by `equal(previous, next)`.
template <class Policy, class Keys, class Values, class Output, class Init, class Equal, detail::if_policy<Policy> = 0>
Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last, Values values, Output result, Init init,
                             Equal equal) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_exclusive_by_key<Init>(detail::unwrap(first), detail::unwrap(values), detail::unwrap(result),
                                               init, equal, plus{});
  });
}

/// y(i) = init . x(s) . ... . x(i - 1), y(s) = init
template <class Policy, class Keys, class Values, class Output, class Init, class Equal, class Operator,
          detail::if_policy<Policy> = 0>
Output exclusive_scan_by_key(const Policy &policy, Keys first, Keys last, Values values, Output result, Init init,
                             Equal equal, Operator op) {
  return detail::run(policy, last - first, result, [&] {
    return detail::make_exclusive_by_key<Init>(detail::unwrap(first), detail::unwrap(values), detail::unwrap(result),
                                               init, equal, op);
  });
}

} // namespace lookback
