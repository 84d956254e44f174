// SPDX-License-Identifier: MIT
// Selections by one thread: the implementation of a call in device code.
#pragma once

#include <lookback/core/candidates.cuh>
#include <lookback/core/known_operators.cuh>

#include <thrust/detail/seq.h>
#include <thrust/pair.h>
#include <thrust/system/detail/sequential/partition.h>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

// The selections of Thrust. Each is a call of a system of selections with its tag, n >= 0, and the
// arguments below. `rule...` is a predicate, or a predicate and a stencil.
template <bool Wanted>
struct kept_copy {};       // first, result, rule...: copies items for which the predicate is Wanted
struct parted_copy {};     // first, kept, rejected, rule...: copies these, and the others
struct parting {};         // first, rule...: the same in place
struct heads_copy {};      // keys, result, equal: copies the first key of each run
struct heads_count {};     // keys, equal: counts these keys
struct head_pairs_copy {}; // keys, values, both results, equal: copies them with their values
struct runs_reduction {};  // ..., op: copies them with the reductions of the values of their runs

/// Stands for the predicate that compares with `value`, which is copied on the system that runs the
/// call: only the host may be able to copy it.
template <class T>
struct compared_with {
  const T &value;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE operator equals<T>() const { return {value}; }
};
/// The rule of a call, by_predicate or by_stencil. It is initialized with `rule...`.
template <bool Wanted, class... Rule>
struct rule_of;
template <bool Wanted, class Predicate>
struct rule_of<Wanted, Predicate> {
  using type = by_predicate<Predicate, Wanted>;
};
template <bool Wanted, class T>
struct rule_of<Wanted, compared_with<T>> {
  using type = by_predicate<equals<T>, Wanted>;
};
template <bool Wanted, class Predicate, class Stencil>
struct rule_of<Wanted, Predicate, Stencil> {
  using type = by_stencil<Stencil, Predicate, Wanted>;
};
template <bool Wanted, class... Rule>
using rule_t = typename rule_of<Wanted, Rule...>::type;

/// One thread.
struct serial_selections {
  LOOKBACK_NO_EXECUTION_CHECK
  template <bool Wanted, class Input, class Output, class... Rule>
  LOOKBACK_HOST_DEVICE Output operator()(kept_copy<Wanted>, std::ptrdiff_t n, const Input &first,
                                         const Output &result, const Rule &...rule) const {
    return copy(n, first, result, rule_t<Wanted, Rule...>{rule...});
  }

  LOOKBACK_NO_EXECUTION_CHECK
  template <class Input, class Kept, class Rejected, class... Rule>
  LOOKBACK_HOST_DEVICE thrust::pair<Kept, Rejected>
  operator()(parted_copy, std::ptrdiff_t n, const Input &first, const Kept &result,
             const Rejected &rejected, const Rule &...rule) const {
    auto which = rule_t<true, Rule...>{rule...};
    std::ptrdiff_t kept = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const value_t<Input> x = first[i];
      if (which(i, x))
        result[kept++] = x;
      else
        rejected[i - kept] = x;
    }
    return {result + kept, rejected + (n - kept)};
  }

  LOOKBACK_NO_EXECUTION_CHECK
  template <class Iterator, class Predicate>
  LOOKBACK_HOST_DEVICE Iterator operator()(parting, std::ptrdiff_t n, const Iterator &first,
                                           const Predicate &predicate) const {
    auto policy = thrust::seq;
    return thrust::system::detail::sequential::stable_partition(policy, first, first + n,
                                                                predicate);
  }
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Iterator, class Predicate, class Stencil>
  LOOKBACK_HOST_DEVICE Iterator operator()(parting, std::ptrdiff_t n, const Iterator &first,
                                           const Predicate &predicate,
                                           const Stencil &stencil) const {
    auto policy = thrust::seq;
    return thrust::system::detail::sequential::stable_partition(policy, first, first + n, stencil,
                                                                predicate);
  }

  LOOKBACK_NO_EXECUTION_CHECK
  template <class Keys, class Output, class Equal>
  LOOKBACK_HOST_DEVICE Output operator()(heads_copy, std::ptrdiff_t n, const Keys &keys,
                                         const Output &result, Equal equal) const {
    return copy(n, keys, result, by_run<Keys, Equal, true>{keys, equal});
  }
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Keys, class Equal>
  LOOKBACK_HOST_DEVICE std::ptrdiff_t operator()(heads_count, std::ptrdiff_t n, const Keys &keys,
                                                 Equal equal) const {
    by_run<Keys, Equal, true> begins{keys, equal};
    std::ptrdiff_t count = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) count += begins(i, keys[i]) ? 1 : 0;
    return count;
  }

  LOOKBACK_NO_EXECUTION_CHECK
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal>
  LOOKBACK_HOST_DEVICE thrust::pair<KeysOut, ValuesOut>
  operator()(head_pairs_copy, std::ptrdiff_t n, const Keys &keys, const Values &values,
             const KeysOut &keys_result, const ValuesOut &values_result, Equal equal) const {
    by_run<Keys, Equal, true> begins{keys, equal};
    std::ptrdiff_t kept = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const value_t<Keys> key = keys[i];
      if (!begins(i, key)) continue;
      const value_t<Values> value = values[i];
      keys_result[kept] = key;
      values_result[kept++] = value;
    }
    return {keys_result + kept, values_result + kept};
  }

  LOOKBACK_NO_EXECUTION_CHECK
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal, class Operator>
  LOOKBACK_HOST_DEVICE thrust::pair<KeysOut, ValuesOut>
  operator()(runs_reduction, std::ptrdiff_t n, const Keys &keys, const Values &values,
             const KeysOut &keys_result, const ValuesOut &values_result, Equal equal,
             Operator operation) const {
    using T = value_t<Values>;
    auto op = to_own_operator<T>(operation);
    by_run<Keys, Equal, true> begins{keys, equal};
    maybe<T> reduction;
    std::ptrdiff_t runs = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const T value = values[i];
      const value_t<Keys> key = keys[i];
      if (begins(i, key)) {
        if (runs > 0) values_result[runs - 1] = reduction.value();
        keys_result[runs++] = key;
        reduction.set(value);
      } else {
        reduction.append(op, value);
      }
    }
    if (runs > 0) values_result[runs - 1] = reduction.value();
    return {keys_result + runs, values_result + runs};
  }

private:
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Input, class Output, class Which>
  LOOKBACK_HOST_DEVICE static Output copy(std::ptrdiff_t n, const Input &first,
                                          const Output &result, Which which) {
    std::ptrdiff_t kept = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const value_t<Input> x = first[i];
      if (which(i, x)) result[kept++] = x;
    }
    return result + kept;
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
