// SPDX-License-Identifier: MIT
// One tile in the tree's order on one CPU thread: read from memory once, reduced, and scanned while
// it is still in a cache.
#pragma once

#include <lookback/host/row.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// One tile of at most `Rows` rows. Call `reduce` first; then `aggregate`, if the tile is full;
/// then `scan`, when its prefix is known.
template <class Problem, int Rows = Problem::shape::tile_rows>
class tree_tile {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using stored = typename Problem::stored;
  using output_type = typename Problem::output_type;
  static constexpr int E = shape::vector_elements;
  static constexpr int row_elements = shape::row_elements;
  static constexpr std::size_t row_bytes = row_elements * sizeof(typename Problem::item);
  using view = typename tile_items<Problem, Rows * row_elements>::view;
  static constexpr bool sums = sums_rows<Problem, view>;

public:
  /// `streams`: results are stored past the caches, since they are too many to stay in them.
  explicit tree_tile(const Problem &problem, bool streams = false)
      : items_(problem), output_(problem.sink.output), project_(problem.sink.project),
        op_(problem.op), streams_(streams) {}

  /// Reads elements `first` to `first + valid_items`, and reduces vectors and rows. Prefetches
  /// input of later tiles between rows.
  void reduce(std::ptrdiff_t first, int valid_items, simt::line_prefetcher &prefetcher) {
    first_ = first;
    valid_items_ = valid_items;
    items_.open(first, valid_items);
    vectors_.clear();
    rows_.clear();
    const int full_rows = valid_items / row_elements;
    if constexpr (sums) {
      if (full_rows > 0)
        simt::reduce_rows_of_sums(&items_.from(0)[0], full_rows, vectors_.address(), prefetcher);
    } else if constexpr (is_plain<T>) {
      for (int r = 0; r < full_rows; ++r) {
        prefetcher.prefetch(row_bytes);
        fold_full_row(r, spare_.address() + r * lane_count);
      }
      kogge_stone_of_rows(spare_.address(), vectors_.address(), full_rows, op_);
    } else {
      for (int r = 0; r < full_rows; ++r) reduce_row(r, lane_count);
    }
    // The aggregate of the last vector is not needed: no element is to its right.
    if constexpr (!is_plain<T>)
      if (valid_items % row_elements != 0)
        reduce_row(full_rows, (valid_items % row_elements - 1) / E);

    const auto row_aggregate = [&](int r) -> const T & {
      return vectors_[r * lane_count + lane_count - 1];
    };
    if constexpr (is_plain<T>) {
      T *const aggregates = spare_.address();
      if (full_rows == lane_count) {
        for (int r = 0; r < lane_count; ++r) construct(aggregates[r], row_aggregate(r));
        kogge_stone_of_rows(aggregates, rows_.address(), 1, op_);
      } else {
        for (int r = 0; r < full_rows; ++r) rows_.set(r, row_aggregate(r));
        kogge_stone(rows_.address(), full_rows, op_);
      }
    } else {
      lanes<T> aggregates;
      for (int r = 0; r < full_rows; ++r) aggregates.set(r, row_aggregate(r));
      kogge_stone(aggregates, rows_, full_rows, op_);
    }
  }

  /// Requires a full tile.
  const T &aggregate() const { return rows_[Rows - 1]; }

  /// Writes the results. `prefix` is the prefix of the tile, or null. Prefetches between rows, too.
  void scan(const T *prefix, simt::line_prefetcher &prefetcher) {
    int done = 0; // rows
    if constexpr (sums) {
      done = valid_items_ / row_elements;
      scan_full_sums(prefix, done, prefetcher);
    } else if constexpr (is_plain<T> && is_plain<stored>) {
      done = valid_items_ / row_elements;
      for (int r = 0; r < done; ++r) add_prefix(prefix, r);
      const auto rows = output_ + first_;
      int r = 0;
      if constexpr (can_stream<Problem>) {
        if (streams_) {
          simt::line_stream<row_elements * sizeof(stored)> lines(rows);
          for (; r < done; ++r) {
            scan_full_row(prefix, r, prefetcher, static_cast<stored *>(lines.next()));
            lines.push();
          }
        }
      }
      if constexpr (std::is_pointer<output_type>::value) {
        for (; r < done; ++r) scan_full_row(prefix, r, prefetcher, rows + r * row_elements);
      } else {
        ordered_storage<stored, row_elements> results;
        for (; r < done; ++r) {
          scan_full_row(prefix, r, prefetcher, results.address());
          for (int i = 0; i < row_elements; ++i) rows[r * row_elements + i] = results[i];
        }
      }
    }
    // std::max tells the compiler that done >= 0.
    for (int r = std::max(done, 0); r * row_elements < valid_items_; ++r) {
      if (prefix == nullptr && r == 0)
        scan_row(r, nullptr);
      else
        with_row_prefix(prefix, r, [&](const T &row_prefix) { scan_row(r, &row_prefix); });
    }
  }

private:
  void fold_full_row(int r, T *__restrict aggregates) {
    auto op = op_;
    const auto items = items_.from(r * row_elements);
    for (int l = 0; l < lane_count; ++l) construct(aggregates[l], fold<E, T>(items, l * E, op));
  }

  /// V of the first `vectors` vectors of row r, for values that are not plain.
  void reduce_row(int r, int vectors) {
    const auto items = items_.from(r * row_elements);
    lanes<T> aggregates, scanned;
    for (int l = 0; l < vectors; ++l) aggregates.set(l, fold<E, T>(items, l * E, op_));
    kogge_stone(aggregates, scanned, vectors, op_);
    for (int l = 0; l < vectors; ++l) vectors_.set(r * lane_count + l, scanned[l]);
  }

  /// Calls `use` with the prefix of row r. Requires a prefix of the tile, or r > 0.
  template <class Use>
  void with_row_prefix(const T *prefix, int r, Use use) {
    if constexpr (Rows > 1) {
      if (r > 0) return use(extend_left_side(prefix, rows_[r - 1], op_));
    }
    use(*prefix);
  }

  /// Writes the prefix of each vector of row r to `spare_`. The very first vector may have none.
  void add_prefix(const T *prefix, int r) {
    const T *const scanned = vectors_.address() + r * lane_count;
    T *const prefixes = spare_.address() + r * lane_count;
    if (prefix == nullptr && r == 0)
      for (int l = 1; l < lane_count; ++l) construct(prefixes[l], scanned[l - 1]);
    else
      with_row_prefix(prefix, r,
                      [&](const T &row_prefix) { add_prefix(row_prefix, scanned, prefixes, op_); });
  }
  static void add_prefix(const T prefix, const T *__restrict vectors, T *__restrict prefixes,
                         decltype(Problem::op) op) {
    construct(prefixes[0], prefix);
    for (int l = 1; l < 4; ++l)
      construct(prefixes[l], extend_left_side(&prefix, vectors[l - 1], op));
    for (int l = 4; l < lane_count; ++l)
      construct(prefixes[l], extend_left_side(&prefix, vectors[l - 1], op));
  }

  /// Writes the results of the first `count` rows, which are full, for sums in CPU vectors.
  void scan_full_sums(const T *prefix, int count, simt::line_prefetcher &prefetcher) {
    if (count == 0) return;
    const T *const items = &items_.from(0)[0];
    stored *const results = output_ + first_;
    int r = 0;
    if (prefix == nullptr) { // the very first row has no prefix
      simt::scan_row_of_sums<Problem::inclusive, false>(items, T{}, results);
      r = 1;
    }
    T row_prefixes[Rows] = {}; // set, so that no compiler takes the first for unset
    // (`count` is at most Rows; not every compiler sees it and keeps quiet about the array's end.)
    for (int i = r; i < Rows && i < count; ++i)
      with_row_prefix(prefix, i, [&](const T &row_prefix) { row_prefixes[i] = row_prefix; });
    scan_rows_of_sums<Problem::inclusive>(items + r * row_elements, count - r, row_prefixes + r,
                                          vectors_.address() + r * lane_count,
                                          results + r * row_elements, streams_, prefetcher);
  }

  /// Writes the results of row r, which is full.
  void scan_full_row(const T *prefix, int r, simt::line_prefetcher &prefetcher, stored *results) {
    prefetcher.prefetch(row_bytes);
    const auto items = items_.from(r * row_elements);
    if (prefix == nullptr && r == 0) {
      scan_lanes<1>(r, items, results);
      const T item = items[0]; // the first element is its own result
      construct(results[0], static_cast<stored>(project_(item, item)));
      scan_elements<Problem>(item, items, 1, E, results, op_, project_);
    } else {
      scan_lanes<0>(r, items, results);
    }
  }
  /// Writes results from the vectors' prefixes in `spare_`; compilers process element k of several
  /// vectors at once. The output may be the input: an element is read before its result is written,
  /// and for that result only.
  template <int First, class View>
  void scan_lanes(int r, const View &items, stored *results) {
    auto op = op_;
    auto project = project_;
    const T *const prefixes = spare_.address() + r * lane_count;
    LOOKBACK_INDEPENDENT
    for (int l = First; l < lane_count; ++l)
      detail::scan_vector<Problem, E>(prefixes[l], items, l * E, results + l * E, op, project);
  }

  /// Writes the results of row r, vector by vector. `prefix` is the prefix of the row, or null.
  void scan_row(int r, const T *prefix) {
    const int count = std::min(valid_items_ - r * row_elements, row_elements);
    if constexpr (is_plain<T>) {
      const auto items = items_.from(r * row_elements);
      detail::scan_row<Problem>(items, output_ + (first_ + r * row_elements), count, prefix, op_,
                                project_);
    } else {
      for (int l = 0; l * E < count; ++l) {
        const int end = std::min((l + 1) * E, count);
        if (l == 0) {
          scan_vector(r, 0, end, prefix);
        } else {
          const T vector_prefix = extend_left_side(prefix, vectors_[r * lane_count + l - 1], op_);
          scan_vector(r, l * E, end, &vector_prefix);
        }
      }
    }
  }
  void scan_vector(int r, int begin, int end, const T *prefix) {
    const auto items = items_.from(r * row_elements);
    const auto row = output_ + (first_ + r * row_elements);
    ordered_storage<T, E + 1> prefixes; // of elements begin, begin + 1, ...
    const auto write = [&](int i, const T &scanned, const T &item) {
      row[i] = static_cast<stored>(project_(scanned, item));
    };
    if (prefix != nullptr) {
      prefixes.set(0, *prefix);
    } else { // the very first element is its own result
      const T item = items[begin];
      write(begin, item, item);
      prefixes.set(0, item);
      ++begin;
    }
    // k < E always holds; the condition tells the compiler.
    for (int k = 0; k < E && begin + k < end; ++k) {
      const T item = items[begin + k];
      if constexpr (Problem::inclusive) {
        prefixes.set(k + 1, static_cast<T>(op_(prefixes[k], item)));
        write(begin + k, prefixes[k + 1], item);
      } else {
        write(begin + k, prefixes[k], item);
        if (begin + k + 1 == end) return; // no operator call without a use
        prefixes.set(k + 1, static_cast<T>(op_(prefixes[k], item)));
      }
    }
  }

  tile_items<Problem, Rows * row_elements> items_;
  output_type output_;
  decltype(Problem::sink_type::project) project_;
  decltype(Problem::op) op_;
  bool streams_;
  std::ptrdiff_t first_ = 0;
  int valid_items_ = 0;
  ordered_storage<T, Rows * lane_count> vectors_; // V, inclusive: (rows, 32)
  // For plain values: the vectors' aggregates before V is known, and their prefixes afterwards.
  ordered_storage<T, !is_plain<T> ? 1 : sums ? lane_count : Rows * lane_count> spare_;
  lanes<T> rows_; // R, inclusive: (rows)
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
