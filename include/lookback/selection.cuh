// SPDX-License-Identifier: MIT
// The selections of Thrust on the threads of the CPU. `thrust::copy_if` and its siblings find them
// through argument-dependent lookup when the policy is lookback::host. With lookback::par they run
// on Thrust's CUDA backend.
#pragma once

#include <lookback/host/host_selection.cuh>
#include <lookback/scan.cuh>

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

/// Selects lookback's overloads: for its CPU policies, and iterators with random access. Thrust's
/// C++ system takes all others.
template <class Policy, class... Iterators>
using if_host_policy =
    std::enable_if_t<is_host_policy<Policy>::value && (has_random_access<Iterators> && ...), int>;
/// For partitions in place. Thrust moves the elements, so it takes those that cannot be copied.
template <class Policy, class Item, class... Iterators>
using if_host_policy_copies =
    std::enable_if_t<std::is_copy_constructible<Item>::value, if_host_policy<Policy, Iterators...>>;

/// The default operator of reduce_by_key(): as Thrust's, it adds numbers in the type of the
/// results, which makes no difference between integers.
template <class Value, class Result>
using sum_as =
    std::conditional_t<!std::is_arithmetic<Value>::value || !std::is_arithmetic<Result>::value ||
                           std::is_same<Value, Result>::value ||
                           (is_integer<Value> && is_integer<Result>),
                       plus, cuda::std::plus<Result>>;

} // namespace detail

/// @addtogroup thrust_selections
/// Thrust's selections on the threads of the CPU. `thrust::copy_if` and its siblings call them when
/// the policy is lookback::host.
///
/// @code
/// thrust::copy_if(lookback::host, first, last, result, predicate);
/// @endcode
///
/// Notation: x(0) to x(n - 1) are the elements of [`first`, `last`), s(i) those of the stencil.
///
/// **Common to all calls**
///
/// - `policy`: lookback::host, or a policy derived from lookback::host_execution_policy.
/// - *Iterators*: random access; with others, the call runs on Thrust's C++ system. Only the calls
///   in place may write where they read.
/// - *Predicate*: called once for every element, by several threads, each with a copy of it. The
///   order of the calls is not specified. `equal` compares neighbours, once each: if it is not
///   transitive, the results differ from those of std::unique.
/// - *Order*: elements keep their relative order, and so do rejected ones. Every partition is
///   stable.
/// - *Element types*: a copy constructor, and what the assignment to the result needs.
/// - *Return value*: the end of the results. Nothing is written if `last - first` is not positive.
/// - *Errors*: the exception of the predicate, the copy or the allocation, after all threads have
///   ended. The results are then partly written, and what a call in place has read may be lost.
/// - *Threads*: as for @ref host.
/// - *Complexity*: n calls of the predicate, one pass over memory, a few copies of an element.
///   Memory for a tile a thread, which is 64 KB of elements or one larger element, or for two in a
///   partition; for a key and a few words a tile; for all rejected elements, in a partition in
///   place.
///
/// @{

/// Copies every x(i) with predicate(x(i)).
template <class Policy, class Input, class Output, class Predicate,
          detail::if_host_policy<Policy, Input, Output> = 0>
Output copy_if(const Policy &, Input first, Input last, Output result, Predicate predicate) {
  return detail::copy_kept(first, last, result, detail::by_predicate<Predicate, true>{predicate});
}
/// Copies every x(i) with predicate(s(i)).
template <class Policy, class Input, class Stencil, class Output, class Predicate,
          detail::if_host_policy<Policy, Input, Stencil, Output> = 0>
Output copy_if(const Policy &, Input first, Input last, Stencil stencil, Output result,
               Predicate predicate) {
  return detail::copy_kept(first, last, result,
                           detail::by_stencil<Stencil, Predicate, true>{stencil, predicate});
}

/// Copies every x(i) without predicate(x(i)).
template <class Policy, class Input, class Output, class Predicate,
          detail::if_host_policy<Policy, Input, Output> = 0>
Output remove_copy_if(const Policy &, Input first, Input last, Output result, Predicate predicate) {
  return detail::copy_kept(first, last, result, detail::by_predicate<Predicate, false>{predicate});
}
/// Copies every x(i) without predicate(s(i)).
template <class Policy, class Input, class Stencil, class Output, class Predicate,
          detail::if_host_policy<Policy, Input, Stencil, Output> = 0>
Output remove_copy_if(const Policy &, Input first, Input last, Stencil stencil, Output result,
                      Predicate predicate) {
  return detail::copy_kept(first, last, result,
                           detail::by_stencil<Stencil, Predicate, false>{stencil, predicate});
}
/// Copies every x(i) that is not equal to `value`.
template <class Policy, class Input, class Output, class T,
          detail::if_host_policy<Policy, Input, Output> = 0>
Output remove_copy(const Policy &policy, Input first, Input last, Output result, const T &value) {
  return lookback::remove_copy_if(policy, first, last, result, detail::equals<T>{value});
}

/// Keeps every x(i) without predicate(x(i)), in place.
template <class Policy, class Iterator, class Predicate,
          detail::if_host_policy<Policy, Iterator> = 0>
Iterator remove_if(const Policy &policy, Iterator first, Iterator last, Predicate predicate) {
  return lookback::remove_copy_if(policy, first, last, first, predicate);
}
/// Keeps every x(i) without predicate(s(i)), in place.
template <class Policy, class Iterator, class Stencil, class Predicate,
          detail::if_host_policy<Policy, Iterator, Stencil> = 0>
Iterator remove_if(const Policy &policy, Iterator first, Iterator last, Stencil stencil,
                   Predicate predicate) {
  return lookback::remove_copy_if(policy, first, last, stencil, first, predicate);
}
/// Keeps every x(i) that is not equal to `value`, in place.
template <class Policy, class Iterator, class T, detail::if_host_policy<Policy, Iterator> = 0>
Iterator remove(const Policy &policy, Iterator first, Iterator last, const T &value) {
  return lookback::remove_copy(policy, first, last, first, value);
}

/// Copies every x(i) with predicate(x(i)) to `kept`, and every other one to `rejected`. Returns
/// both ends.
template <class Policy, class Input, class Kept, class Rejected, class Predicate,
          detail::if_host_policy<Policy, Input, Kept, Rejected> = 0>
thrust::pair<Kept, Rejected> partition_copy(const Policy &, Input first, Input last, Kept kept,
                                            Rejected rejected, Predicate predicate) {
  return detail::copy_parted(first, last, kept, rejected,
                             detail::by_predicate<Predicate, true>{predicate});
}
/// Copies every x(i) with predicate(s(i)) to `kept`, and every other one to `rejected`. Returns
/// both ends.
template <class Policy, class Input, class Stencil, class Kept, class Rejected, class Predicate,
          detail::if_host_policy<Policy, Input, Stencil, Kept, Rejected> = 0>
thrust::pair<Kept, Rejected> partition_copy(const Policy &, Input first, Input last,
                                            Stencil stencil, Kept kept, Rejected rejected,
                                            Predicate predicate) {
  return detail::copy_parted(first, last, kept, rejected,
                             detail::by_stencil<Stencil, Predicate, true>{stencil, predicate});
}
/// partition_copy() with the same arguments.
template <class Policy, class Input, class Kept, class Rejected, class Predicate,
          detail::if_host_policy<Policy, Input, Kept, Rejected> = 0>
thrust::pair<Kept, Rejected> stable_partition_copy(const Policy &policy, Input first, Input last,
                                                   Kept kept, Rejected rejected,
                                                   Predicate predicate) {
  return lookback::partition_copy(policy, first, last, kept, rejected, predicate);
}
/// partition_copy() with the same arguments.
template <class Policy, class Input, class Stencil, class Kept, class Rejected, class Predicate,
          detail::if_host_policy<Policy, Input, Stencil, Kept, Rejected> = 0>
thrust::pair<Kept, Rejected> stable_partition_copy(const Policy &policy, Input first, Input last,
                                                   Stencil stencil, Kept kept, Rejected rejected,
                                                   Predicate predicate) {
  return lookback::partition_copy(policy, first, last, stencil, kept, rejected, predicate);
}

/// Moves every x(i) with predicate(x(i)) before the others, in place. Returns the first of the
/// others.
template <class Policy, class Iterator, class Predicate,
          detail::if_host_policy_copies<Policy, detail::value_t<Iterator>, Iterator> = 0>
Iterator partition(const Policy &, Iterator first, Iterator last, Predicate predicate) {
  return first + detail::partition_in_place(first, last - first,
                                            detail::by_predicate<Predicate, true>{predicate});
}
/// Moves every x(i) with predicate(s(i)) before the others, in place. Returns the first of the
/// others.
template <class Policy, class Iterator, class Stencil, class Predicate,
          detail::if_host_policy_copies<Policy, detail::value_t<Iterator>, Iterator, Stencil> = 0>
Iterator partition(const Policy &, Iterator first, Iterator last, Stencil stencil,
                   Predicate predicate) {
  return first +
         detail::partition_in_place(
             first, last - first, detail::by_stencil<Stencil, Predicate, true>{stencil, predicate});
}
/// partition() with the same arguments.
template <class Policy, class Iterator, class Predicate,
          detail::if_host_policy_copies<Policy, detail::value_t<Iterator>, Iterator> = 0>
Iterator stable_partition(const Policy &policy, Iterator first, Iterator last,
                          Predicate predicate) {
  return lookback::partition(policy, first, last, predicate);
}
/// partition() with the same arguments.
template <class Policy, class Iterator, class Stencil, class Predicate,
          detail::if_host_policy_copies<Policy, detail::value_t<Iterator>, Iterator, Stencil> = 0>
Iterator stable_partition(const Policy &policy, Iterator first, Iterator last, Stencil stencil,
                          Predicate predicate) {
  return lookback::partition(policy, first, last, stencil, predicate);
}

/// Copies x(0), and every x(i) without equal(x(i - 1), x(i)).
template <class Policy, class Input, class Output, class Equal = equal_to,
          detail::if_host_policy<Policy, Input, Output> = 0>
Output unique_copy(const Policy &, Input first, Input last, Output result, Equal equal = {}) {
  return detail::copy_heads(first, first, last - first, result, equal);
}
/// Keeps x(0), and every x(i) without equal(x(i - 1), x(i)), in place.
template <class Policy, class Iterator, class Equal = equal_to,
          detail::if_host_policy<Policy, Iterator> = 0>
Iterator unique(const Policy &policy, Iterator first, Iterator last, Equal equal = {}) {
  return lookback::unique_copy(policy, first, last, first, equal);
}
/// The number of elements that unique() keeps.
template <class Policy, class Input, class Equal = equal_to,
          detail::if_host_policy<Policy, Input> = 0>
typename std::iterator_traits<Input>::difference_type unique_count(const Policy &, Input first,
                                                                   Input last, Equal equal = {}) {
  return detail::count_heads(first, last - first, equal);
}

/// Copies x(0) and its value, and every x(i) without equal(x(i - 1), x(i)) and its value. Returns
/// both ends.
template <class Policy, class Keys, class Values, class KeysOut, class ValuesOut,
          class Equal = equal_to,
          detail::if_host_policy<Policy, Keys, Values, KeysOut, ValuesOut> = 0>
thrust::pair<KeysOut, ValuesOut> unique_by_key_copy(const Policy &, Keys first, Keys last,
                                                    Values values, KeysOut keys_result,
                                                    ValuesOut values_result, Equal equal = {}) {
  const auto to = thrust::make_zip_iterator(keys_result, values_result);
  const std::ptrdiff_t kept =
      detail::copy_heads(first, thrust::make_zip_iterator(first, values), last - first, to, equal) -
      to;
  return {keys_result + kept, values_result + kept};
}
/// Keeps x(0) and its value, and every x(i) without equal(x(i - 1), x(i)) and its value, in place.
/// Returns both ends.
template <class Policy, class Keys, class Values, class Equal = equal_to,
          detail::if_host_policy<Policy, Keys, Values> = 0>
thrust::pair<Keys, Values> unique_by_key(const Policy &policy, Keys first, Keys last, Values values,
                                         Equal equal = {}) {
  return lookback::unique_by_key_copy(policy, first, last, values, first, values, equal);
}

/// For every run of equal keys, as determined by `equal` on neighbours: its first key, and the
/// reduction of its values, v(s) . v(s + 1) ... v(e), in their type. Without `op`, sums; those of
/// numbers are added in the type of the results, as Thrust does. Returns both ends.
///
/// The bits are those of the last element of the run in inclusive_scan_by_key(). Sums of integers
/// take one pass; others take three, three calls of `equal` for every element, and memory for n
/// values. The results must not overlap keys or values.
template <class Policy, class Keys, class Values, class KeysOut, class ValuesOut,
          class Equal = equal_to,
          class Operator = detail::sum_as<detail::value_t<Values>, detail::value_t<ValuesOut>>,
          detail::if_host_policy<Policy, Keys, Values, KeysOut, ValuesOut> = 0>
thrust::pair<KeysOut, ValuesOut> reduce_by_key(const Policy &, Keys first, Keys last, Values values,
                                               KeysOut keys_result, ValuesOut values_result,
                                               Equal equal = {}, Operator op = {}) {
  const std::ptrdiff_t n = last - first;
  if (n <= 0) return {keys_result, values_result};
  return detail::reduce_runs(first, n, values, keys_result, values_result, equal, op);
}

/// @}

} // namespace LOOKBACK_ABI
} // namespace lookback
