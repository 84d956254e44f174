// SPDX-License-Identifier: MIT
// A lane's vector: folded, and scanned from what is left of it. In the order of the tree, or in the
// one that is fastest where that makes no difference.
#pragma once

#include <lookback/arch/simt_parts.cuh>
#include <lookback/block/transfer.cuh>
#include <lookback/core/problem.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The words of a vector, if they are the elements' own bytes.
template <class Vector>
LOOKBACK_DEVICE auto words_of(const Vector &vector) -> decltype(vector.words()) {
  return vector.words();
}
template <class T, int E>
LOOKBACK_DEVICE auto words_of(const lane_vector<T, E, true> &vector) -> const
    decltype(vector.words) & {
  return vector.words;
}
template <class Vector, class = void>
inline constexpr bool has_words = false;
template <class Vector>
inline constexpr bool
    has_words<Vector, std::void_t<decltype(words_of(std::declval<const Vector &>()))>> = true;

/// Whether a vector's elements are integers of 1 or 2 bytes that are added up: an instruction each,
/// and none to take them apart.
template <class Problem, class Vector>
inline constexpr bool
    adds_parts = sums_integers<Problem> &&is_integer<typename Problem::item> &&has_words<Vector> &&
                 sizeof(typename Problem::item) <= 2 &&
                 sizeof(typename Problem::item) * Problem::shape::vector_elements % 4 == 0 &&
                 sizeof(typename Problem::accumulator) <= 4 && !Problem::sink_type::needs_item;

/// F of the tree.
template <class Problem, class Vector, class Operator>
LOOKBACK_DEVICE typename Problem::accumulator fold_lane(const Vector &vector, Operator &op) {
  using T = typename Problem::accumulator;
  constexpr int E = Problem::shape::vector_elements;
  if constexpr (adds_parts<Problem, Vector>) {
    using item = typename Problem::item;
    constexpr int parts = 4 / sizeof(item);
    std::uint32_t sum = 0;
    LOOKBACK_UNROLL
    for (int w = 0; w < E / parts; ++w)
      sum = simt::add_parts<item>(words_of(vector).words[w], parts, sum);
    return static_cast<T>(sum);
  } else {
    return fold_vector<E, T>([&](int k) -> decltype(auto) { return vector.get(k); }, op);
  }
}

/// Results of a vector of which `count` elements are valid, from its prefix. If the sink wants the
/// total, the prefix is extended by all valid elements.
template <class Problem, class Vector, class Operator, class Results>
LOOKBACK_DEVICE void scan_lane(const Problem &problem, maybe<typename Problem::accumulator> &prefix,
                               int count, const Vector &vector, Operator &op, Results &results) {
  using T = typename Problem::accumulator;
  constexpr int E = Problem::shape::vector_elements;
  const auto emit = [&](int k, const T &scanned, const auto &item) {
    results.set(k, static_cast<typename Problem::stored>(problem.sink.project(scanned, item)));
  };
  if constexpr (adds_parts<Problem, Vector>) {
    using item = typename Problem::item;
    constexpr int parts = 4 / sizeof(item);
    std::uint32_t sum = // of everything to the left of the word
        prefix.exists() ? static_cast<std::uint32_t>(prefix.value()) : 0;
    LOOKBACK_UNROLL
    for (int w = 0; w < E / parts; ++w) {
      std::uint32_t before = sum;
      LOOKBACK_UNROLL
      for (int k = 0; k < parts; ++k) {
        const std::uint32_t through = simt::add_parts<item>(words_of(vector).words[w], k + 1, sum);
        const T scanned = static_cast<T>(Problem::inclusive ? through : before);
        emit(w * parts + k, scanned, scanned);
        before = through;
        if (Problem::sink_type::wants_total && w * parts + k < count) // mutant: parts-total
          prefix.set(static_cast<T>(through));
      }
      sum = before;
    }
  } else {
    scan_vector<Problem::inclusive, E, Problem::sink_type::wants_total>(
        prefix, count, [&](int k) -> decltype(auto) { return vector.get(k); }, op, emit);
  }
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
