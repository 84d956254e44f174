// SPDX-License-Identifier: MIT
// One tile in the tree's order on one CPU thread: read once from memory, reduced, and scanned while it is still in
// cache.
#pragma once

#include <lookback/host/items.cuh>

#include <cstring>

namespace lookback::detail {

/// One tile of at most `Rows` rows. `reduce` first; then `total`, if the tile is full; then `scan`, once what is to its
/// left is known.
template <class Problem, int Rows = Problem::shape::tile_rows>
class tree_tile {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using stored = typename Problem::stored;
  using output_type = typename Problem::output_type;
  static constexpr int E = shape::vector_elements;
  static constexpr int row_elements = shape::row_elements;

public:
  /// `streams`: results are so many that they had better not stay in the caches.
  explicit tree_tile(const Problem &problem, bool streams = false)
      : items_(problem), output_(problem.output), project_(problem.project), op_(problem.op), streams_(streams) {}

  /// Reads elements `first` to `first + existing`, and reduces vectors and rows.
  void reduce(std::ptrdiff_t first, int existing) {
    first_ = first;
    existing_ = existing;
    items_.open(first, existing);
    vectors_.clear();
    rows_.clear();
    const int whole_rows = existing / row_elements;
    if constexpr (is_plain<T>) {
      for (int r = 0; r < whole_rows; ++r) fold_whole_row(r, spare_.address() + r * lane_count);
      kogge_stone_of_rows(spare_.address(), vectors_.address(), whole_rows, op_);
    } else {
      for (int r = 0; r < whole_rows; ++r) reduce_row(r, lane_count);
    }
    // Nothing is to the right of the last vector, so nobody needs its total.
    if (existing % row_elements != 0) reduce_row(whole_rows, (existing % row_elements - 1) / E);

    const auto row_total = [&](int r) -> const T & { return vectors_[r * lane_count + lane_count - 1]; };
    if constexpr (is_plain<T>) {
      T *const totals = spare_.address();
      if (whole_rows == lane_count) {
        for (int r = 0; r < lane_count; ++r) construct(totals[r], row_total(r));
        kogge_stone_of_rows(totals, rows_.address(), 1, op_);
      } else {
        for (int r = 0; r < whole_rows; ++r) rows_.set(r, row_total(r));
        kogge_stone(rows_.address(), whole_rows, op_);
      }
    } else {
      lanes<T> totals;
      for (int r = 0; r < whole_rows; ++r) totals.set(r, row_total(r));
      kogge_stone(totals, rows_, whole_rows, op_);
    }
  }

  /// Requires a full tile.
  const T &total() const { return rows_[Rows - 1]; }

  /// Writes the results. `prefix` is everything left of the tile, or null; `next` is where the full tile begins that
  /// this thread will reduce next, or negative.
  void scan(const T *prefix, std::ptrdiff_t next) {
    const int begin = prefix != nullptr ? 0 : 1;
    if (prefix == nullptr) scan_row(0, nullptr);
    int end = begin; // rows done
    if constexpr (is_plain<T> && is_plain<stored>) {
      end = std::max(begin, existing_ / row_elements);
      for (int r = begin; r < end; ++r) with_base(prefix, r, [&](const T &base) { add_base(r, base); });
      for (int r = begin; r < end; ++r) {
        if (next >= 0) items_.prefetch(next + r * row_elements, row_elements);
        scan_whole_row(r);
      }
    }
    for (int r = end; r * row_elements < existing_; ++r)
      with_base(prefix, r, [&](const T &base) { scan_row(r, &base); });
  }

private:
  /// One vector's elements from the left.
  template <int Count, class View>
  static T fold(const View &items, int first, decltype(Problem::op) &op) {
    if constexpr (Count == 1)
      return items[first];
    else
      return static_cast<T>(op(fold<Count - 1>(items, first, op), items[first + Count - 1]));
  }

  void fold_whole_row(int r, T *__restrict totals) {
    auto op = op_;
    const auto items = items_.from(r * row_elements);
    for (int l = 0; l < lane_count; ++l) construct(totals[l], fold<E>(items, l * E, op));
  }

  /// V of the first vectors of row r.
  void reduce_row(int r, int vectors) {
    const auto items = items_.from(r * row_elements);
    if constexpr (is_plain<T>) {
      T *const totals = vectors_.address() + r * lane_count;
      for (int l = 0; l < vectors; ++l) construct(totals[l], fold<E>(items, l * E, op_));
      kogge_stone(totals, vectors, op_);
    } else {
      lanes<T> totals, scanned;
      for (int l = 0; l < vectors; ++l) totals.set(l, fold<E>(items, l * E, op_));
      kogge_stone(totals, scanned, vectors, op_);
      for (int l = 0; l < vectors; ++l) vectors_.set(r * lane_count + l, scanned[l]);
    }
  }

  /// Calls `use` with everything left of row r. Requires a prefix or r > 0.
  template <class Use>
  void with_base(const T *prefix, int r, Use use) {
    if constexpr (Rows > 1) {
      if (r > 0) return prefix != nullptr ? use(static_cast<T>(op_(*prefix, rows_[r - 1]))) : use(rows_[r - 1]);
    }
    use(*prefix);
  }

  /// Everything left of each vector of row r, to `spare_`.
  void add_base(int r, const T &base) {
    add_base(base, vectors_.address() + r * lane_count, spare_.address() + r * lane_count, op_);
  }
  static void add_base(const T base, const T *__restrict vectors, T *__restrict lefts, decltype(Problem::op) op) {
    construct(lefts[0], base);
    for (int l = 1; l < 4; ++l) construct(lefts[l], static_cast<T>(op(base, vectors[l - 1])));
    for (int l = 4; l < lane_count; ++l) construct(lefts[l], static_cast<T>(op(base, vectors[l - 1])));
  }

  /// Results of row r from `spare_`: element k of all vectors side by side. They go to the output from a place that
  /// overlaps with nothing, since the output may be the input.
  void scan_whole_row(int r) {
    auto op = op_;
    auto project = project_;
    const auto items = items_.from(r * row_elements);
    const T *lefts = spare_.address() + r * lane_count;
    uninitialized_array<stored, row_elements> results;
    for (int l = 0; l < lane_count; ++l) scan_from<0>(lefts[l], items, l * E, &results[l * E], op, project);
    const auto row = output_ + (first_ + r * row_elements);
    if constexpr (std::is_pointer<output_type>::value) {
      if (streams_ && simt::stream<sizeof results>(row, &results)) return;
      // In blocks that compilers move through registers. As one copy it becomes a string instruction, slow to start.
      constexpr std::size_t block = 32;
      for (std::size_t b = 0; b < sizeof results; b += block)
        std::memcpy(reinterpret_cast<unsigned char *>(row) + b, reinterpret_cast<unsigned char *>(&results) + b, block);
    } else {
      for (int i = 0; i < row_elements; ++i) row[i] = results[i];
    }
  }
  /// Elements K, K + 1, ... of the vector that begins at `first`.
  template <int K, class View>
  static void scan_from(const T left, const View &items, int first, stored *results, decltype(Problem::op) &op,
                        decltype(Problem::project) &project) {
    const T item = items[first + K];
    if constexpr (!Problem::inclusive) construct(results[K], static_cast<stored>(project(left, item)));
    if constexpr (Problem::inclusive || K + 1 < E) {
      const T through = static_cast<T>(op(left, item));
      if constexpr (Problem::inclusive) construct(results[K], static_cast<stored>(project(through, item)));
      if constexpr (K + 1 < E) scan_from<K + 1>(through, items, first, results, op, project);
    }
  }

  /// Results of row r, vector by vector; `base` is everything left of it, or null.
  void scan_row(int r, const T *base) {
    const int count = std::min(existing_ - r * row_elements, row_elements);
    for (int l = 0; l * E < count; ++l) {
      const T *const inside = l == 0 ? nullptr : &vectors_[r * lane_count + l - 1];
      if (base != nullptr && inside != nullptr) {
        const T left = static_cast<T>(op_(*base, *inside));
        scan_vector(r, l * E, std::min((l + 1) * E, count), &left);
      } else {
        scan_vector(r, l * E, std::min((l + 1) * E, count), base != nullptr ? base : inside);
      }
    }
  }
  void scan_vector(int r, int begin, int end, const T *base) {
    const auto items = items_.from(r * row_elements);
    const auto row = output_ + (first_ + r * row_elements);
    if constexpr (is_plain<T> && is_plain<stored>) {
      if (base != nullptr && end - begin == E) {
        uninitialized_array<stored, E> results;
        scan_from<0>(*base, items, begin, &results[0], op_, project_);
        for (int k = 0; k < E; ++k) row[begin + k] = results[k];
        return;
      }
    }
    ordered_room<T, E + 1> left; // of elements begin, begin + 1, ...
    const auto write = [&](int i, const T &scanned, const T &item) {
      row[i] = static_cast<stored>(project_(scanned, item));
    };
    if (base != nullptr) {
      left.set(0, *base);
    } else { // the very first element is its own result
      const T item = items[begin];
      write(begin, item, item);
      left.set(0, item);
      ++begin;
    }
    for (int k = 0; k < E && begin + k < end; ++k) { // k < E holds anyway: it is said for the compiler
      const T item = items[begin + k];
      if constexpr (Problem::inclusive) {
        left.set(k + 1, static_cast<T>(op_(left[k], item)));
        write(begin + k, left[k + 1], item);
      } else {
        write(begin + k, left[k], item);
        if (begin + k + 1 == end) return; // no application without a use
        left.set(k + 1, static_cast<T>(op_(left[k], item)));
      }
    }
  }

  tile_items<Problem, Rows * row_elements> items_;
  output_type output_;
  decltype(Problem::project) project_;
  decltype(Problem::op) op_;
  bool streams_;
  std::ptrdiff_t first_ = 0;
  int existing_ = 0;
  ordered_room<T, Rows * lane_count> vectors_;                 // V, inclusive: (rows, 32)
  ordered_room<T, is_plain<T> ? Rows * lane_count : 1> spare_; // the same, for what is on the way to V and from it
  lanes<T> rows_;                                              // R, inclusive: (rows)
};

} // namespace lookback::detail
