// SPDX-License-Identifier: MIT
// The selections of Thrust as free functions. `thrust::copy_if` and its siblings find them through
// argument-dependent lookup when the policy is one of lookback's.
#pragma once

#include <lookback/core/serial_selection.cuh>
#include <lookback/host/host_selection.cuh>
#include <lookback/scan.cuh>
#if defined(__CUDACC__)
#include <lookback/dispatch/policy_selection.cuh>
#endif

#include <cuda/std/functional>
#include <thrust/iterator/zip_iterator.h>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class Iterator, class = void>
inline constexpr bool has_random_access = false;
template <class Iterator>
inline constexpr bool has_random_access<
    Iterator, std::void_t<decltype(*(std::declval<Iterator &>() + std::ptrdiff_t{})),
                          decltype(std::declval<Iterator &>()[std::ptrdiff_t{}]),
                          decltype(std::declval<Iterator &>() - std::declval<Iterator &>())>> =
    true;

/// Selects lookback's overloads: for its policies, and iterators with random access. Thrust takes
/// all others.
template <class Policy, class... Iterators>
using if_selects = std::enable_if_t<(has_random_access<Iterators> && ...), if_policy<Policy>>;
/// Whether lookback moves the elements of a partition in place. Thrust takes those that cannot be
/// copied; on the GPU, those that cannot be copied byte by byte.
template <class Policy, class Item>
inline constexpr bool moves =
    is_host_policy<Policy>::value ? std::is_copy_constructible<Item>::value
                                  : std::is_trivially_copyable<Item>::value;
template <class Policy, class Iterator, class Stencil = Iterator>
using if_parts = std::enable_if_t<moves<Policy, value_t<Iterator>> && has_random_access<Iterator> &&
                                      has_random_access<Stencil>,
                                  if_policy<Policy>>;

/// The default operator of reduce_by_key(): as Thrust's, it adds numbers in the type of the
/// results, which makes no difference between integers.
template <class Value, class Result>
using sum_as =
    std::conditional_t<!std::is_arithmetic<Value>::value || !std::is_arithmetic<Result>::value ||
                           std::is_same<Value, Result>::value ||
                           (is_integer<Value> && is_integer<Result>),
                       plus, cuda::std::plus<Result>>;

/// The selections of Thrust on the threads of the CPU.
struct host_selections {
  template <bool Wanted, class Input, class Output, class... Rule>
  Output operator()(kept_copy<Wanted>, std::ptrdiff_t n, const Input &first, const Output &result,
                    const Rule &...rule) const {
    return detail::copy_kept(first, first + n, result, rule_t<Wanted, Rule...>{rule...});
  }
  template <class Input, class Kept, class Rejected, class... Rule>
  thrust::pair<Kept, Rejected> operator()(parted_copy, std::ptrdiff_t n, const Input &first,
                                          const Kept &kept, const Rejected &rejected,
                                          const Rule &...rule) const {
    return detail::copy_parted(first, first + n, kept, rejected, rule_t<true, Rule...>{rule...});
  }
  template <class Iterator, class... Rule>
  Iterator operator()(parting, std::ptrdiff_t n, const Iterator &first, const Rule &...rule) const {
    return first + detail::partition_in_place(first, n, rule_t<true, Rule...>{rule...});
  }
  template <class Keys, class Output, class Equal>
  Output operator()(heads_copy, std::ptrdiff_t n, const Keys &keys, const Output &result,
                    const Equal &equal) const {
    return detail::copy_heads(keys, keys, n, result, equal);
  }
  template <class Keys, class Equal>
  std::ptrdiff_t operator()(heads_count, std::ptrdiff_t n, const Keys &keys,
                            const Equal &equal) const {
    return detail::count_heads(keys, n, equal);
  }
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal>
  thrust::pair<KeysOut, ValuesOut>
  operator()(head_pairs_copy, std::ptrdiff_t n, const Keys &keys, const Values &values,
             const KeysOut &keys_result, const ValuesOut &values_result, const Equal &equal) const {
    const auto to = thrust::make_zip_iterator(keys_result, values_result);
    const std::ptrdiff_t kept =
        detail::copy_heads(keys, thrust::make_zip_iterator(keys, values), n, to, equal) - to;
    return {keys_result + kept, values_result + kept};
  }
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal, class Operator>
  thrust::pair<KeysOut, ValuesOut> operator()(runs_reduction, std::ptrdiff_t n, const Keys &keys,
                                              const Values &values, const KeysOut &keys_result,
                                              const ValuesOut &values_result, const Equal &equal,
                                              const Operator &op) const {
    if (n == 0) return {keys_result, values_result};
    return detail::reduce_runs(keys, n, values, keys_result, values_result, equal, op);
  }
};

inline namespace LOOKBACK_DEFAULT_STREAM {

/// Runs a call on the policy's system.
template <class Call, class Policy, class... Arguments>
auto run_selection([[maybe_unused]] const Policy &policy, const Arguments &...arguments) {
  if constexpr (is_host_policy<Policy>::value) return host_selections{}(Call{}, arguments...);
#if defined(__CUDACC__)
  else
    return policy_selections<Policy>{policy}(Call{}, arguments...);
#endif
}

/// Runs a call over n items: on the policy's system, or in device code in this thread alone. n <= 0
/// counts as 0.
LOOKBACK_NO_EXECUTION_CHECK
template <class Call, class Policy, class... Arguments>
LOOKBACK_HOST_DEVICE auto selection_call(const Policy &policy, std::ptrdiff_t items,
                                         const Arguments &...arguments)
    -> decltype(run_selection<Call>(policy, items, arguments...)) {
  const std::ptrdiff_t n = items > 0 ? items : 0;
#if LOOKBACK_IN_DEVICE_CODE
  // Not called, but this pass of the compiler must meet the kernels that the host launches.
  if (false) run_selection<Call>(policy, n, arguments...);
  if constexpr (is_cuda_policy<Policy>::value) {
    return serial_selections{}(Call{}, n, arguments...);
  } else {
    simt::trap(); // lookback::host has no threads here, and predicates need not run on a device
    __builtin_unreachable();
  }
#else
  return run_selection<Call>(policy, n, arguments...);
#endif
}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace detail

inline namespace LOOKBACK_DEFAULT_STREAM {

/// @addtogroup thrust_selections
/// Thrust's selections as functions of lookback. `thrust::copy_if` and its siblings call them when
/// the policy is one of lookback's.
///
/// @code
/// thrust::copy_if(lookback::par.on(stream), first, last, result, predicate);
/// @endcode
///
/// Notation: x(0) to x(n - 1) are the elements of [`first`, `last`), s(i) those of the stencil.
///
/// **Common to all calls**
///
/// - `policy`: one of lookback's @ref policies, lookback::host, or `thrust::cuda::par` and the
///   policies made from it. A strategy that the policy names is for scans; selections choose their
///   own.
/// - *Iterators*: random access. With others, Thrust's call runs on Thrust's own system, and
///   lookback's does not exist. Only the calls in place may write where they read.
/// - *Predicate*: called once for every element, by several threads, each with a copy of it. The
///   order of the calls is not specified. `equal` compares neighbours, once each: if it is not
///   transitive, the results differ from those of std::unique.
/// - *Order*: elements keep their relative order, and so do rejected ones: every partition is
///   stable, unless Thrust takes it.
/// - *Element types*: a copy constructor, and what the assignment to the result needs. On a GPU, an
///   element has at most 4096 bytes; by key, an element and its key together at most 4080. In a
///   partition in place on a GPU, elements must be trivially copyable: Thrust takes calls of
///   thrust::partition() with others.
/// - *Return value*: the end of the results. Nothing is written if `last - first` is not positive.
/// - *Stream behaviour*: the call waits for the policy's stream, even if the policy does not
///   synchronise, since it returns the end of the results. So the stream cannot be under capture;
///   lookback::DeviceSelect, lookback::DevicePartition and lookback::DeviceReduce leave the number
///   of results on the device.
/// - *Errors*: `thrust::system_error` with the CUDA status; all temporary memory is freed. On the
///   CPU the exception of the predicate, the copy or the allocation, after all threads have ended.
///   The results are then partly written, and what a call in place has read may be lost.
/// - *Determinism*: the same results on every run, every GPU and the CPU, for reductions by key of
///   floating-point numbers as well.
/// - *Threads* on the CPU: as for @ref host.
/// - *Complexity*: n calls of the predicate, one pass over memory, a few copies of an element.
///   Temporary memory on a GPU: a few words a tile; for n elements, in a partition in place. On the
///   CPU: for a tile a thread, which is 64 KB of elements or one larger element, or for two in a
///   partition; for a key and a few words a tile; for all rejected elements, in a partition in
///   place.
/// - *In device code*: a serial loop of the calling thread, as with Thrust's policies. With
///   lookback::host the kernel ends with an error.
///
/// @{

/// Copies every x(i) with predicate(x(i)).
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class Predicate,
          detail::if_selects<Policy, Input, Output> = 0>
LOOKBACK_HOST_DEVICE Output copy_if(const Policy &policy, Input first, Input last, Output result,
                                    Predicate predicate) {
  return detail::selection_call<detail::kept_copy<true>>(policy, last - first, first, result,
                                                         predicate);
}
/// Copies every x(i) with predicate(s(i)).
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Stencil, class Output, class Predicate,
          detail::if_selects<Policy, Input, Stencil, Output> = 0>
LOOKBACK_HOST_DEVICE Output copy_if(const Policy &policy, Input first, Input last, Stencil stencil,
                                    Output result, Predicate predicate) {
  return detail::selection_call<detail::kept_copy<true>>(policy, last - first, first, result,
                                                         predicate, stencil);
}

/// Copies every x(i) without predicate(x(i)).
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class Predicate,
          detail::if_selects<Policy, Input, Output> = 0>
LOOKBACK_HOST_DEVICE Output remove_copy_if(const Policy &policy, Input first, Input last,
                                           Output result, Predicate predicate) {
  return detail::selection_call<detail::kept_copy<false>>(policy, last - first, first, result,
                                                          predicate);
}
/// Copies every x(i) without predicate(s(i)).
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Stencil, class Output, class Predicate,
          detail::if_selects<Policy, Input, Stencil, Output> = 0>
LOOKBACK_HOST_DEVICE Output remove_copy_if(const Policy &policy, Input first, Input last,
                                           Stencil stencil, Output result, Predicate predicate) {
  return detail::selection_call<detail::kept_copy<false>>(policy, last - first, first, result,
                                                          predicate, stencil);
}
/// Copies every x(i) that is not equal to `value`.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class T,
          detail::if_selects<Policy, Input, Output> = 0>
LOOKBACK_HOST_DEVICE Output remove_copy(const Policy &policy, Input first, Input last,
                                        Output result, const T &value) {
  return lookback::remove_copy_if(policy, first, last, result, detail::compared_with<T>{value});
}

/// Keeps every x(i) without predicate(x(i)), in place.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Iterator, class Predicate, detail::if_selects<Policy, Iterator> = 0>
LOOKBACK_HOST_DEVICE Iterator remove_if(const Policy &policy, Iterator first, Iterator last,
                                        Predicate predicate) {
  return lookback::remove_copy_if(policy, first, last, first, predicate);
}
/// Keeps every x(i) without predicate(s(i)), in place.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Iterator, class Stencil, class Predicate,
          detail::if_selects<Policy, Iterator, Stencil> = 0>
LOOKBACK_HOST_DEVICE Iterator remove_if(const Policy &policy, Iterator first, Iterator last,
                                        Stencil stencil, Predicate predicate) {
  return lookback::remove_copy_if(policy, first, last, stencil, first, predicate);
}
/// Keeps every x(i) that is not equal to `value`, in place.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Iterator, class T, detail::if_selects<Policy, Iterator> = 0>
LOOKBACK_HOST_DEVICE Iterator remove(const Policy &policy, Iterator first, Iterator last,
                                     const T &value) {
  return lookback::remove_copy(policy, first, last, first, value);
}

/// Copies every x(i) with predicate(x(i)) to `kept`, and every other one to `rejected`. Returns
/// both ends.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Kept, class Rejected, class Predicate,
          detail::if_selects<Policy, Input, Kept, Rejected> = 0>
LOOKBACK_HOST_DEVICE thrust::pair<Kept, Rejected>
partition_copy(const Policy &policy, Input first, Input last, Kept kept, Rejected rejected,
               Predicate predicate) {
  return detail::selection_call<detail::parted_copy>(policy, last - first, first, kept, rejected,
                                                     predicate);
}
/// Copies every x(i) with predicate(s(i)) to `kept`, and every other one to `rejected`. Returns
/// both ends.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Stencil, class Kept, class Rejected, class Predicate,
          detail::if_selects<Policy, Input, Stencil, Kept, Rejected> = 0>
LOOKBACK_HOST_DEVICE thrust::pair<Kept, Rejected>
partition_copy(const Policy &policy, Input first, Input last, Stencil stencil, Kept kept,
               Rejected rejected, Predicate predicate) {
  return detail::selection_call<detail::parted_copy>(policy, last - first, first, kept, rejected,
                                                     predicate, stencil);
}
/// partition_copy() with the same arguments.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Kept, class Rejected, class Predicate,
          detail::if_selects<Policy, Input, Kept, Rejected> = 0>
LOOKBACK_HOST_DEVICE thrust::pair<Kept, Rejected>
stable_partition_copy(const Policy &policy, Input first, Input last, Kept kept, Rejected rejected,
                      Predicate predicate) {
  return lookback::partition_copy(policy, first, last, kept, rejected, predicate);
}
/// partition_copy() with the same arguments.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Stencil, class Kept, class Rejected, class Predicate,
          detail::if_selects<Policy, Input, Stencil, Kept, Rejected> = 0>
LOOKBACK_HOST_DEVICE thrust::pair<Kept, Rejected>
stable_partition_copy(const Policy &policy, Input first, Input last, Stencil stencil, Kept kept,
                      Rejected rejected, Predicate predicate) {
  return lookback::partition_copy(policy, first, last, stencil, kept, rejected, predicate);
}

/// Moves every x(i) with predicate(x(i)) before the others, in place. Returns the first of the
/// others.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Iterator, class Predicate, detail::if_parts<Policy, Iterator> = 0>
LOOKBACK_HOST_DEVICE Iterator partition(const Policy &policy, Iterator first, Iterator last,
                                        Predicate predicate) {
  return detail::selection_call<detail::parting>(policy, last - first, first, predicate);
}
/// Moves every x(i) with predicate(s(i)) before the others, in place. Returns the first of the
/// others.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Iterator, class Stencil, class Predicate,
          detail::if_parts<Policy, Iterator, Stencil> = 0>
LOOKBACK_HOST_DEVICE Iterator partition(const Policy &policy, Iterator first, Iterator last,
                                        Stencil stencil, Predicate predicate) {
  return detail::selection_call<detail::parting>(policy, last - first, first, predicate, stencil);
}
/// partition() with the same arguments.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Iterator, class Predicate, detail::if_parts<Policy, Iterator> = 0>
LOOKBACK_HOST_DEVICE Iterator stable_partition(const Policy &policy, Iterator first, Iterator last,
                                               Predicate predicate) {
  return lookback::partition(policy, first, last, predicate);
}
/// partition() with the same arguments.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Iterator, class Stencil, class Predicate,
          detail::if_parts<Policy, Iterator, Stencil> = 0>
LOOKBACK_HOST_DEVICE Iterator stable_partition(const Policy &policy, Iterator first, Iterator last,
                                               Stencil stencil, Predicate predicate) {
  return lookback::partition(policy, first, last, stencil, predicate);
}

/// Copies x(0), and every x(i) without equal(x(i - 1), x(i)).
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Output, class Equal = equal_to,
          detail::if_selects<Policy, Input, Output> = 0>
LOOKBACK_HOST_DEVICE Output unique_copy(const Policy &policy, Input first, Input last,
                                        Output result, Equal equal = {}) {
  return detail::selection_call<detail::heads_copy>(policy, last - first, first, result, equal);
}
/// Keeps x(0), and every x(i) without equal(x(i - 1), x(i)), in place.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Iterator, class Equal = equal_to,
          detail::if_selects<Policy, Iterator> = 0>
LOOKBACK_HOST_DEVICE Iterator unique(const Policy &policy, Iterator first, Iterator last,
                                     Equal equal = {}) {
  return lookback::unique_copy(policy, first, last, first, equal);
}
/// The number of elements that unique() keeps.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Input, class Equal = equal_to, detail::if_selects<Policy, Input> = 0>
LOOKBACK_HOST_DEVICE typename std::iterator_traits<Input>::difference_type
unique_count(const Policy &policy, Input first, Input last, Equal equal = {}) {
  return detail::selection_call<detail::heads_count>(policy, last - first, first, equal);
}

/// Copies x(0) and its value, and every x(i) without equal(x(i - 1), x(i)) and its value. Returns
/// both ends.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class KeysOut, class ValuesOut,
          class Equal = equal_to, detail::if_selects<Policy, Keys, Values, KeysOut, ValuesOut> = 0>
LOOKBACK_HOST_DEVICE thrust::pair<KeysOut, ValuesOut>
unique_by_key_copy(const Policy &policy, Keys first, Keys last, Values values, KeysOut keys_result,
                   ValuesOut values_result, Equal equal = {}) {
  return detail::selection_call<detail::head_pairs_copy>(policy, last - first, first, values,
                                                         keys_result, values_result, equal);
}
/// Keeps x(0) and its value, and every x(i) without equal(x(i - 1), x(i)) and its value, in place.
/// Returns both ends.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class Equal = equal_to,
          detail::if_selects<Policy, Keys, Values> = 0>
LOOKBACK_HOST_DEVICE thrust::pair<Keys, Values>
unique_by_key(const Policy &policy, Keys first, Keys last, Values values, Equal equal = {}) {
  return lookback::unique_by_key_copy(policy, first, last, values, first, values, equal);
}

/// For every run of equal keys, as determined by `equal` on neighbours: its first key, and the
/// reduction of its values, v(s) . v(s + 1) ... v(e), where s and e are the indices of its first
/// and last element, v(i) is element i of `values`, and `a . b` is `op(a, b)`. All partial
/// reductions have the type of the values. The default operator adds numbers in the type of the
/// results, as Thrust does, and each sum is converted back. Returns both ends.
///
/// The bits are those of the last element of the run in inclusive_scan_by_key(). On a GPU, one pass
/// and two calls of `equal` for every element. On the CPU, sums of integers take one pass; others
/// take three, three calls of `equal` for every element, and memory for n values. The results must
/// not overlap keys or values.
LOOKBACK_NO_EXECUTION_CHECK
template <class Policy, class Keys, class Values, class KeysOut, class ValuesOut,
          class Equal = equal_to,
          class Operator = detail::sum_as<detail::value_t<Values>, detail::value_t<ValuesOut>>,
          detail::if_selects<Policy, Keys, Values, KeysOut, ValuesOut> = 0>
LOOKBACK_HOST_DEVICE thrust::pair<KeysOut, ValuesOut>
reduce_by_key(const Policy &policy, Keys first, Keys last, Values values, KeysOut keys_result,
              ValuesOut values_result, Equal equal = {}, Operator op = {}) {
  return detail::selection_call<detail::runs_reduction>(policy, last - first, first, values,
                                                        keys_result, values_result, equal, op);
}

/// @}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace LOOKBACK_ABI
} // namespace lookback
