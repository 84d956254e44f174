// SPDX-License-Identifier: MIT
// One row of plain accumulators in the tree's order, vector by vector: for partial rows, and for
// the first row without a prefix.
#pragma once

#include <lookback/host/items.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Serial fold of the `Count` elements from `first` on.
template <int Count, class T, class View, class Operator>
T fold(const View &items, int first, Operator &op) {
  if constexpr (Count == 1)
    return items[first];
  else if constexpr (!is_small<T>)
    return fold_vector<Count, T>([&](int k) -> decltype(auto) { return items[first + k]; }, op);
  else
    return static_cast<T>(op(fold<Count - 1, T>(items, first, op), items[first + Count - 1]));
}

/// Writes the results of the `Count` elements from `first` on, from their prefix.
template <class Problem, int Count, class T, class View>
void scan_vector(const T prefix, const View &items, int first, typename Problem::stored *results,
                 decltype(Problem::op) &op, decltype(Problem::sink_type::project) &project) {
  using stored = typename Problem::stored;
  const T item = items[first];
  if constexpr (!Problem::inclusive)
    construct(*results, static_cast<stored>(project(prefix, item)));
  if constexpr (Problem::inclusive || Count > 1) {
    const T through = static_cast<T>(op(prefix, item));
    if constexpr (Problem::inclusive)
      construct(*results, static_cast<stored>(project(through, item)));
    if constexpr (Count > 1)
      scan_vector<Problem, Count - 1>(through, items, first + 1, results + 1, op, project);
  }
}

/// The same for a few elements, in a loop.
template <class Problem, class T, class View, class Output>
void scan_elements(T prefix, const View &items, int first, int end, const Output &results,
                   decltype(Problem::op) &op, decltype(Problem::sink_type::project) &project) {
  using stored = typename Problem::stored;
  for (int i = first; i < end; ++i) {
    const T item = items[i];
    if constexpr (!Problem::inclusive) {
      results[i] = static_cast<stored>(project(prefix, item));
      if (i + 1 == end) break; // no operator call without a use
    }
    const T through = static_cast<T>(op(prefix, item));
    construct(prefix, through);
    if constexpr (Problem::inclusive) results[i] = static_cast<stored>(project(prefix, item));
  }
}

/// The first elements of a scan or of a row, one by one: at most one vector, or two if there is no
/// prefix.
template <class Problem, class View, class Output>
void scan_first(const View &items, const Output &results, int count,
                const typename Problem::accumulator *prefix, decltype(Problem::op) &op,
                decltype(Problem::sink_type::project) &project) {
  using T = typename Problem::accumulator;
  if (prefix != nullptr) {
    scan_elements<Problem>(*prefix, items, 0, count, results, op, project);
  } else { // the first element is its own result
    const T item = items[0];
    results[0] = static_cast<typename Problem::stored>(project(item, item));
    scan_elements<Problem>(item, items, 1, count, results, op, project);
  }
}

/// The network for plain values that arrive one after another: lane l depends on lanes up to l
/// only.
template <class T>
class row_network {
public:
  /// Returns V of lane l, whose aggregate is `value`. `Lane` is a number, or a constant.
  template <int Step = 0, class Lane, class Operator>
  LOOKBACK_HOST_INLINE T push(Lane l, const T value, Operator &op) {
    if constexpr (Step == network::steps) {
      return value;
    } else {
      construct(before_[Step][l], value);
      return push<Step + 1>(l, network::value<T>(before_[Step], l, 1 << Step, op), op);
    }
  }

private:
  // The lanes before each step.
  uninitialized_array<T, lane_count> before_[network::steps];
};

/// Whether the tree's vectors have the size of a CPU vector.
template <class Problem>
inline constexpr bool
    fills_vectors = Problem::shape::vector_elements * sizeof(typename Problem::accumulator) == 16;
/// Whether a scan sums floating-point numbers in such vectors, without conversion of items or
/// results.
template <class Problem, class View, class T = typename Problem::accumulator>
inline constexpr bool sums_rows = simt::sums_rows<T> &&is_sum<Problem>
    &&is_unchanged<Problem, View, typename Problem::output_type> &&fills_vectors<Problem>;

/// Lanes of a row, after its first, for which there is code of their own: the network of a short
/// row is then in registers. The limit bounds the size of the code.
template <int E>
inline constexpr int constant_lanes = std::max(1, std::min(5, 24 / E));
/// Calls scan_lane(l) for l = 1, 2, ... while it returns true. The first l are constants.
template <int... Lanes, class ScanLane>
LOOKBACK_HOST_INLINE void scan_lanes(std::integer_sequence<int, Lanes...>, ScanLane scan_lane) {
  if ((scan_lane(std::integral_constant<int, Lanes + 1>{}) && ...))
    for (int l = sizeof...(Lanes) + 1; scan_lane(l);) ++l;
}

/// Writes the results of a row's first `count` elements. `prefix` is the prefix of the row, or
/// null.
template <class Problem, class View, class Output>
void scan_row(const View &items, const Output &results, int count,
              const typename Problem::accumulator *prefix, decltype(Problem::op) op,
              decltype(Problem::sink_type::project) project) {
  using T = typename Problem::accumulator;
  using stored = typename Problem::stored;
  constexpr int E = Problem::shape::vector_elements;
  if (count <= E) {
    scan_first<Problem>(items, results, count, prefix, op, project);
    return;
  }
  if constexpr (sums_rows<Problem, View> && std::is_pointer<Output>::value) {
    constexpr int few = 6 * E; // for so few, the loop below is faster
    if (count > few) {
      if (prefix != nullptr)
        simt::scan_row_of_sums<Problem::inclusive, true>(&items[0], count, *prefix, results);
      else
        simt::scan_row_of_sums<Problem::inclusive, false>(&items[0], count, T{}, results);
      return;
    }
  }
  row_network<T> network;
  // The vector is reduced before its results may overwrite its items.
  const T aggregate = network.push(0, fold<E, T>(items, 0, op), op);
  scan_first<Problem>(items, results, E, prefix, op, project);
  uninitialized_array<T, 1> vector_prefix;
  construct(vector_prefix[0], extend_left_side(prefix, aggregate, op));
  const auto scan_lane = [&](auto l) LOOKBACK_INLINE_LAMBDA {
    if ((l + 1) * E >= count) {
      scan_elements<Problem>(vector_prefix[0], items, l * E, count, results, op, project);
      return false;
    }
    const T within = network.push(l, fold<E, T>(items, l * E, op), op);
    if constexpr (is_plain<stored>) {
      uninitialized_array<stored, E> vector;
      scan_vector<Problem, E>(vector_prefix[0], items, l * E, &vector[0], op, project);
      for (int k = 0; k < E; ++k) results[l * E + k] = vector[k];
    } else {
      scan_elements<Problem>(vector_prefix[0], items, l * E, (l + 1) * E, results, op, project);
    }
    construct(vector_prefix[0], extend_left_side(prefix, within, op));
    return true;
  };
  scan_lanes(std::make_integer_sequence<int, constant_lanes<E>>{}, scan_lane);
}

/// Writes the results of full rows of sums from the prefix of each row and V of its lanes. With
/// `streams`, the stores go past the caches, whatever the alignment of `results`.
template <bool Inclusive, class T>
void scan_rows_of_sums(const T *items, int rows, const T *row_prefixes, const T *lanes, T *results,
                       bool streams, simt::line_prefetcher &prefetcher) {
  constexpr int row = lane_count * static_cast<int>(16 / sizeof(T)); // elements
  if (!streams)
    return simt::scan_rows_of_sums<Inclusive, false>(items, rows, row_prefixes, lanes, results,
                                                     prefetcher);
  if (reinterpret_cast<std::uintptr_t>(results) % 16 == 0)
    return simt::scan_rows_of_sums<Inclusive, true>(items, rows, row_prefixes, lanes, results,
                                                    prefetcher);
  simt::line_stream<row * sizeof(T)> lines(results);
  for (int r = 0; r < rows; ++r) {
    simt::scan_rows_of_sums<Inclusive, false>(items + r * row, 1, row_prefixes + r,
                                              lanes + r * lane_count,
                                              static_cast<T *>(lines.next()), prefetcher);
    lines.push();
  }
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
