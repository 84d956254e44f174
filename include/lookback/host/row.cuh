// SPDX-License-Identifier: MIT
// One row of plain accumulators in the tree's order, vector by vector: for rows that are not whole, or that nothing is left
// of.
#pragma once

#include <lookback/host/items.cuh>

namespace lookback::detail {

/// A vector's elements from the left, of which `first` is the first.
template <int Count, class T, class View, class Operator>
T fold(const View &items, int first, Operator &op) {
  if constexpr (Count == 1)
    return items[first];
  else if constexpr (!is_small<T>)
    return fold_vector<Count, T>([&](int k) -> decltype(auto) { return items[first + k]; }, op);
  else
    return static_cast<T>(op(fold<Count - 1, T>(items, first, op), items[first + Count - 1]));
}

/// Results of the `Count` elements from `first` on, of which `left` is everything to the left.
template <class Problem, int Count, class T, class View>
void scan_vector(const T left, const View &items, int first, typename Problem::stored *results,
                 decltype(Problem::op) &op, decltype(Problem::project) &project) {
  using stored = typename Problem::stored;
  const T item = items[first];
  if constexpr (!Problem::inclusive) construct(*results, static_cast<stored>(project(left, item)));
  if constexpr (Problem::inclusive || Count > 1) {
    const T through = static_cast<T>(op(left, item));
    if constexpr (Problem::inclusive) construct(*results, static_cast<stored>(project(through, item)));
    if constexpr (Count > 1) scan_vector<Problem, Count - 1>(through, items, first + 1, results + 1, op, project);
  }
}

/// The same of a few elements one by one.
template <class Problem, class T, class View, class Output>
void scan_elements(T left, const View &items, int first, int end, const Output &results, decltype(Problem::op) &op,
                   decltype(Problem::project) &project) {
  using stored = typename Problem::stored;
  for (int i = first; i < end; ++i) {
    const T item = items[i];
    if constexpr (!Problem::inclusive) {
      results[i] = static_cast<stored>(project(left, item));
      if (i + 1 == end) break; // no application without a use
    }
    const T through = static_cast<T>(op(left, item));
    construct(left, through);
    if constexpr (Problem::inclusive) results[i] = static_cast<stored>(project(left, item));
  }
}

/// The first elements of a scan or of a row, one by one: no more than a vector, or two to whose left there is no `base`.
template <class Problem, class View, class Output>
void scan_first(const View &items, const Output &results, int count, const typename Problem::accumulator *base,
                decltype(Problem::op) &op, decltype(Problem::project) &project) {
  using T = typename Problem::accumulator;
  if (base != nullptr) {
    scan_elements<Problem>(*base, items, 0, count, results, op, project);
  } else { // its own result
    const T item = items[0];
    results[0] = static_cast<typename Problem::stored>(project(item, item));
    scan_elements<Problem>(item, items, 1, count, results, op, project);
  }
}

/// The network for plain values that come one after the other. Lane l needs lanes up to l alone.
template <class T>
class row_network {
public:
  /// Lane l, of which `value` is the total.
  template <int Step = 0, class Operator>
  T push(int l, const T value, Operator &op) {
    if constexpr (Step == steps) {
      return value;
    } else {
      construct(before_[Step][l], value);
      constexpr int distance = 1 << Step;
      return push<Step + 1>(l, l >= distance ? static_cast<T>(op(before_[Step][l - distance], value)) : value, op);
    }
  }

private:
  static constexpr int steps = 5;
  uninitialized_array<T, lane_count> before_[steps]; // the lanes as they are before each step
};

/// Whether the tree's vectors are as long as those of a CPU.
template <class Problem>
inline constexpr bool fills_vectors = Problem::shape::vector_elements * sizeof(typename Problem::accumulator) == 16;
/// Whether a scan sums floating-point numbers that are as they are where `View` reads them, in such vectors.
template <class Problem, class View, class T = typename Problem::accumulator>
inline constexpr bool sums_rows = simt::sums_rows<T> &&adds<decltype(Problem::op), T>::value
    &&is_unchanged<Problem, View, typename Problem::output_type> &&fills_vectors<Problem>;

/// Results of a row's first `count` elements; `base` is everything left of the row, or null.
template <class Problem, class View, class Output>
void scan_row(const View &items, const Output &results, int count, const typename Problem::accumulator *base,
              decltype(Problem::op) op, decltype(Problem::project) project) {
  using T = typename Problem::accumulator;
  using stored = typename Problem::stored;
  constexpr int E = Problem::shape::vector_elements;
  if (count <= E) {
    scan_first<Problem>(items, results, count, base, op, project);
    return;
  }
  if constexpr (sums_rows<Problem, View> && std::is_pointer<Output>::value) {
    constexpr int few = 6 * E; // for so few the loop below has the results sooner
    if (count > few) {
      if (base != nullptr)
        simt::scan_row_of_sums<Problem::inclusive, true>(&items[0], count, *base, results);
      else
        simt::scan_row_of_sums<Problem::inclusive, false>(&items[0], count, T{}, results);
      return;
    }
  }
  row_network<T> network;
  const T total =
      network.push(0, fold<E, T>(items, 0, op), op); // before results are written, which may go where the items are
  scan_first<Problem>(items, results, E, base, op, project);
  uninitialized_array<T, 1> left;
  construct(left[0], base != nullptr ? static_cast<T>(op(*base, total)) : total);
  int l = 1;
  for (; (l + 1) * E < count; ++l) {
    const T within = network.push(l, fold<E, T>(items, l * E, op), op);
    if constexpr (is_plain<stored>) {
      uninitialized_array<stored, E> vector;
      scan_vector<Problem, E>(left[0], items, l * E, &vector[0], op, project);
      for (int k = 0; k < E; ++k) results[l * E + k] = vector[k];
    } else {
      scan_elements<Problem>(left[0], items, l * E, (l + 1) * E, results, op, project);
    }
    construct(left[0], base != nullptr ? static_cast<T>(op(*base, within)) : within);
  }
  scan_elements<Problem>(left[0], items, l * E, count, results, op, project);
}

/// Results of whole rows of sums: `bases` are left of the rows, `lanes` are V. `streams`: past the caches, wherever they begin.
template <bool Inclusive, class T>
void scan_rows_of_sums(const T *items, int rows, const T *bases, const T *lanes, T *results, bool streams,
                       simt::lines_to_come &coming) {
  constexpr int row = lane_count * static_cast<int>(16 / sizeof(T)); // elements
  if (!streams) return simt::scan_rows_of_sums<Inclusive, false>(items, rows, bases, lanes, results, coming);
  if (reinterpret_cast<std::uintptr_t>(results) % 16 == 0)
    return simt::scan_rows_of_sums<Inclusive, true>(items, rows, bases, lanes, results, coming);
  simt::line_stream<row * sizeof(T)> lines(results);
  for (int r = 0; r < rows; ++r) {
    simt::scan_rows_of_sums<Inclusive, false>(items + r * row, 1, bases + r, lanes + r * lane_count,
                                              static_cast<T *>(lines.next()), coming);
    lines.push();
  }
}

} // namespace lookback::detail
