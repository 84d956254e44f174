// SPDX-License-Identifier: MIT
// From the arguments of a call at the Thrust door to its problem, and to the place where it runs.
#pragma once

#include <lookback/core/segments.cuh>
#include <lookback/core/serial_scan.cuh>
#if defined(__CUDACC__)
#include <lookback/arch/simt.cuh>
#include <lookback/dispatch/policy_scan.cuh>
#endif

#include <thrust/iterator/transform_iterator.h>
#include <thrust/type_traits/unwrap_contiguous_iterator.h>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The pointer, where an iterator is a pointer in disguise; likewise below a transformation.
LOOKBACK_NO_EXECUTION_CHECK
template <class Iterator>
LOOKBACK_HOST_DEVICE auto unwrap(Iterator iterator) {
  if constexpr (thrust::is_contiguous_iterator_v<Iterator>)
    return thrust::unwrap_contiguous_iterator(iterator);
  else
    return iterator;
}
LOOKBACK_NO_EXECUTION_CHECK
template <class Function, class Base, class Reference, class Value>
LOOKBACK_HOST_DEVICE auto
unwrap(thrust::transform_iterator<Function, Base, Reference, Value> iterator) {
  const auto base = unwrap(iterator.base());
  return thrust::transform_iterator<Function, std::decay_t<decltype(base)>, Reference, Value>(
      base, iterator.functor());
}

template <class Input, class Transform>
using transformed_t = typename returned<Transform, value_t<Input>>::type;

// A call with its arguments: `problem` describes it to the policy's system, `serially` is the call
// in device code. T is the accumulator; where a scan needs an initial value and is given none, it
// is T{}. (`problem` is for the host alone: nvcc would warn of iterators that a device cannot
// copy.)

template <bool Inclusive, class T>
struct plain_scan {
  template <class Output, class Input, class Operator, class Init>
  static auto problem(const Output &result, const Input &first, const Operator &op,
                      const Init &init) {
    return make_problem<Inclusive, T>(unwrap(first), unwrap(result), op, initial_value<Init>{init});
  }
  template <class Output, class Input, class Operator>
  static auto problem(const Output &result, const Input &first, const Operator &op) {
    if constexpr (Inclusive)
      return make_problem<true, T>(unwrap(first), unwrap(result), op, no_initial{});
    else
      return problem(result, first, op, T{});
  }

  LOOKBACK_NO_EXECUTION_CHECK
  template <class Output, class Input, class Operator, class Init>
  LOOKBACK_HOST_DEVICE static void serially(std::ptrdiff_t n, const Output &result,
                                            const Input &first, const Operator &op,
                                            const Init &init) {
    const T start = static_cast<T>(init);
    serial_scan<Inclusive>(n, unwrap(result), unwrap(first), op, &start);
  }
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Output, class Input, class Operator>
  LOOKBACK_HOST_DEVICE static void serially(std::ptrdiff_t n, const Output &result,
                                            const Input &first, const Operator &op) {
    if constexpr (Inclusive)
      serial_scan<true, T>(n, unwrap(result), unwrap(first), op, nullptr);
    else
      serially(n, result, first, op, T{});
  }
};

/// Offsets from counts; `last` is the place of the last one.
struct offsets_scan {
  template <class Offsets, class Counts>
  static auto problem(const Offsets &result, const Counts &first, const Offsets &last) {
    return make_offsets(unwrap(first), unwrap(result), unwrap(last));
  }
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Offsets, class Counts>
  LOOKBACK_HOST_DEVICE static void serially(std::ptrdiff_t n, const Offsets &result,
                                            const Counts &first, const Offsets &) {
    using T = offset_t<Counts, Offsets>;
    serial_store(unwrap(result), 0, T{});
    serial_scan<true, T>(n, unwrap(result + 1), unwrap(first), plus{}, nullptr);
  }
};

/// A scan of f(x), as elements of type U.
template <bool Inclusive, class T, class U>
struct transform_scan {
  template <class Output, class Input, class Transform, class... Rest>
  static auto problem(const Output &result, const Input &first, const Transform &f,
                      const Rest &...rest) {
    const thrust::transform_iterator<Transform, Input, U, U> transformed(first, f);
    return plain_scan<Inclusive, T>::problem(result, transformed, rest...);
  }
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Output, class Input, class Transform, class... Rest>
  LOOKBACK_HOST_DEVICE static void serially(std::ptrdiff_t n, const Output &result,
                                            const Input &first, const Transform &f,
                                            const Rest &...rest) {
    const thrust::transform_iterator<Transform, Input, U, U> transformed(first, f);
    plain_scan<Inclusive, T>::serially(n, result, transformed, rest...);
  }
};

template <bool Inclusive, class T>
struct scan_by_key {
  template <class Output, class Keys, class Values, class Equal, class Operator, class Init>
  static auto problem(const Output &result, const Keys &keys, const Values &values,
                      const Equal &equal, const Operator &op, const Init &init) {
    return make_exclusive_by_key<T>(unwrap(keys), unwrap(values), unwrap(result), init, equal, op);
  }
  template <class Output, class Keys, class Values, class Equal, class Operator>
  static auto problem(const Output &result, const Keys &keys, const Values &values,
                      const Equal &equal, const Operator &op) {
    if constexpr (Inclusive)
      return make_inclusive_by_key<T>(unwrap(keys), unwrap(values), unwrap(result), equal, op);
    else
      return problem(result, keys, values, equal, op, T{});
  }

  LOOKBACK_NO_EXECUTION_CHECK
  template <class Output, class Keys, class Values, class Equal, class Operator>
  LOOKBACK_HOST_DEVICE static void serially(std::ptrdiff_t n, const Output &result,
                                            const Keys &keys, const Values &values,
                                            const Equal &equal, const Operator &op, const T &init) {
    serial_scan_by_key<false>(n, unwrap(result), unwrap(keys), unwrap(values), equal, op, &init);
  }
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Output, class Keys, class Values, class Equal, class Operator>
  LOOKBACK_HOST_DEVICE static void serially(std::ptrdiff_t n, const Output &result,
                                            const Keys &keys, const Values &values,
                                            const Equal &equal, const Operator &op) {
    if constexpr (Inclusive)
      serial_scan_by_key<true, T>(n, unwrap(result), unwrap(keys), unwrap(values), equal, op,
                                  nullptr);
    else
      serially(n, result, keys, values, equal, op, T{});
  }
};

// Of Thrust's own policies no type tells what the default stream of the calling unit is.
inline namespace LOOKBACK_DEFAULT_STREAM {

/// Runs a call on the policy's system.
template <class Call, class Policy, class Output, class... Arguments>
Output run_call(const Policy &policy, std::int64_t n, const Output &result,
                const Arguments &...arguments) {
  return run(policy, n, result, [&] { return Call::problem(result, arguments...); });
}

/// Runs a call: on the policy's system, or in device code in this thread alone. Returns result + n;
/// for n <= 0 returns `result`, having called nothing.
LOOKBACK_NO_EXECUTION_CHECK
template <class Call, class Policy, class Output, class... Arguments>
LOOKBACK_HOST_DEVICE Output scan_call(const Policy &policy, std::int64_t n, const Output &result,
                                      const Arguments &...arguments) {
#if LOOKBACK_IN_DEVICE_CODE
  if constexpr (is_cuda_policy<Policy>::value)
    Call::serially(static_cast<std::ptrdiff_t>(n), result, arguments...);
  else
    simt::trap(); // lookback::host has no threads here, and its operators need not run on a device
  // Not called, but this pass of the compiler must meet the kernels that the host launches.
  if (false) run_call<Call>(policy, n, result, arguments...);
  return n > 0 ? result + n : result;
#else
  return run_call<Call>(policy, n, result, arguments...);
#endif
}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
