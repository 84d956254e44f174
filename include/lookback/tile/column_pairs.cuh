// SPDX-License-Identifier: MIT
// Adjacent columns in pairs: two of them as one sequence of pairs, which any strategy can scan, or
// columns of 2 bytes as half as many of 4.
#pragma once

#include <lookback/arch/simt.cuh>
#include <lookback/core/axis.cuh>
#include <lookback/core/numbers.cuh>
#include <lookback/core/problem.cuh>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The elements of a row in two adjacent columns.
template <class T>
struct column_pair {
  T values[2]; // (columns)
};
template <class T>
inline constexpr bool is_column_pair = false;
template <class T>
inline constexpr bool is_column_pair<column_pair<T>> = true;
/// A pair has the tree shape of its values, so each column keeps its bits.
template <class T>
struct shaped_by<column_pair<T>> : shaped_by<T> {};
template <class T>
struct size_of<column_pair<T>> : size_of<T> {};

/// Combines the first values of two pairs, and their second values.
template <class Operator>
struct on_pairs {
  Operator op;
  LOOKBACK_NO_EXECUTION_CHECK
  template <class T>
  LOOKBACK_HOST_DEVICE column_pair<T> operator()(const column_pair<T> &left,
                                                 const column_pair<T> &right) {
#if __CUDA_ARCH__ >= 900
    constexpr bool brain = std::is_same<T, __nv_bfloat16>::value;
    if constexpr (std::is_same<Operator, plus>::value &&
                  (brain || std::is_same<T, __half>::value)) { // both sums in one instruction
      std::uint32_t words[2];
      std::memcpy(&words[0], &left, sizeof(left));
      std::memcpy(&words[1], &right, sizeof(right));
      const std::uint32_t sums = simt::add_halves<brain>(words[0], words[1]);
      column_pair<T> result;
      std::memcpy(&result, &sums, sizeof(sums));
      return result;
    }
#endif
    const T first = static_cast<T>(op(left.values[0], right.values[0]));
    const T second = static_cast<T>(op(left.values[1], right.values[1])); // mutant: second-column
    return {{first, second}};
  }
};

/// Two columns as a sequence of pairs.
template <class Problem>
struct column_pairs {
  using T = typename Problem::accumulator;
  using input = typename Problem::input_type;
  using pair = column_pair<T>;
  /// Input and output are arrays of accumulators, and a status word has room for a pair.
  static constexpr bool possible =
      std::is_trivially_copyable<T>::value && sizeof(pair) <= 16 && std::is_pointer<input>::value &&
      std::is_same<std::remove_cv_t<std::remove_pointer_t<input>>, T>::value &&
      std::is_same<typename Problem::output_type, T *>::value &&
      std::is_same<typename Problem::stored, T>::value && !Problem::sink_type::needs_item;
  /// Whether `own` is two columns without gaps, not reversed.
  static bool fits(const axis &own) {
    const bool no_gaps = own.input.length == 2 && own.output.length == 2; // mutant: pair-gaps
    return own.outer == 1 && own.inner == 2 && no_gaps && !own.reverse;   // mutant: pair-reverse
  }
  /// The lines of pairs of adjacent columns. None, if some pairs would not be aligned to their
  /// size, even in arrays that are.
  static axis halved(axis own) {
    bool divides = own.inner % 2 == 0;
    own.inner /= 2;
    for (axis::pitch *p : {&own.input, &own.output}) {
      const bool even = p->length % 2 == 0 && (own.outer == 1 || p->outer % 2 == 0);
      divides = divides && even; // mutant: pair-divides
      p->length /= 2, p->outer /= 2;
    }
    if (!divides) own.inner = 0;
    return own;
  }
  /// The same scan, of pairs.
  static auto rows_of(const Problem &problem) {
    const auto initial = initial_of(problem);
    using sink = dense<pair *>;
    return scan_problem<Problem::inclusive, pair, const pair *, on_pairs<decltype(Problem::op)>,
                        std::decay_t<decltype(initial)>, sink>(
        reinterpret_cast<const pair *>(problem.input), {problem.op}, initial,
        sink{reinterpret_cast<pair *>(problem.sink.output), {}});
  }

private:
  static auto initial_of([[maybe_unused]] const Problem &problem) {
    if constexpr (Problem::initial_type::exists) {
      const T value = static_cast<T>(problem.initial.value);
      return initial_value<pair>{{{value, value}}};
    } else {
      return no_initial{};
    }
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
