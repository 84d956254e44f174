// SPDX-License-Identifier: MIT
// Whether several threads may write the results of one scan: not if neighbouring results are bits
// of one word.
#pragma once

#include <lookback/core/monoid.cuh>

#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_input_output_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/type_traits/is_contiguous_iterator.h>
#include <thrust/version.h>
#if THRUST_VERSION >= 300200
#include <cuda/iterator>
#endif

#include <iterator>
#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether assignments to different elements of `Output` write different objects. They do
///
///   - if the elements are contiguous objects, or if `*output` is an lvalue of the iterator's value
///     type: pointers, and the iterators of every standard container except std::vector<bool>;
///   - if `Output` is one of the wrappers below, of Thrust or libcu++, around such iterators.
///
/// For any other proxy it is unknown, and counts as false: the proxy may stand for a bit of a word,
/// as that of std::vector<bool> does. The calling thread then writes all results.
template <class Output>
struct separate_results {
private:
  using reference = decltype(*std::declval<Output &>());

public:
  static constexpr bool value =
      thrust::is_contiguous_iterator_v<Output> ||
      (std::is_lvalue_reference<reference>::value &&
       std::is_same<std::remove_cv_t<std::remove_reference_t<reference>>, value_t<Output>>::value);
};

/// A wrapper around several iterators, the `Outputs`: all of them must have separate results.
template <class... Outputs>
struct separate_results_of_all {
  static constexpr bool value = (separate_results<Outputs>::value && ...);
};

template <class System>
struct separate_results<thrust::discard_iterator<System>> : std::true_type {};
template <class Function, class Output>
struct separate_results<thrust::transform_output_iterator<Function, Output>>
    : separate_results<Output> {};
template <class Read, class Write, class Output>
struct separate_results<thrust::transform_input_output_iterator<Read, Write, Output>>
    : separate_results<Output> {};
template <class Output, class Index>
struct separate_results<thrust::permutation_iterator<Output, Index>> : separate_results<Output> {};
template <class Output>
struct separate_results<thrust::reverse_iterator<Output>> : separate_results<Output> {};
template <class Output>
struct separate_results<std::reverse_iterator<Output>> : separate_results<Output> {};
template <template <class...> class Tuple, class... Outputs>
struct separate_results<thrust::zip_iterator<Tuple<Outputs...>>>
    : separate_results_of_all<Outputs...> {};

#if THRUST_VERSION >= 300200
template <>
struct separate_results<cuda::discard_iterator> : std::true_type {};
template <class Function, class Output>
struct separate_results<cuda::transform_output_iterator<Function, Output>>
    : separate_results<Output> {};
template <class Read, class Write, class Output>
struct separate_results<cuda::transform_input_output_iterator<Read, Write, Output>>
    : separate_results<Output> {};
template <class Output, class Index>
struct separate_results<cuda::permutation_iterator<Output, Index>> : separate_results<Output> {};
template <class... Outputs>
struct separate_results<cuda::zip_iterator<Outputs...>> : separate_results_of_all<Outputs...> {};
#endif

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
