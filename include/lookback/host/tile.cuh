// SPDX-License-Identifier: MIT
// One tile in the tree's order on one CPU thread: read once from memory, reduced, and scanned while it is still in
// cache.
#pragma once

#include <lookback/host/row.cuh>

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
  static constexpr std::size_t row_bytes = row_elements * sizeof(typename Problem::item);
  using view = typename tile_items<Problem, Rows * row_elements>::view;
  static constexpr bool sums = sums_rows<Problem, view>;

public:
  /// `streams`: results are so many that they had better not stay in the caches.
  explicit tree_tile(const Problem &problem, bool streams = false)
      : items_(problem), output_(problem.output), project_(problem.project), op_(problem.op), streams_(streams) {}

  /// Reads elements `first` to `first + existing`, and reduces vectors and rows. Meanwhile it asks for some of what is `coming`.
  void reduce(std::ptrdiff_t first, int existing, simt::lines_to_come &coming) {
    first_ = first;
    existing_ = existing;
    items_.open(first, existing);
    vectors_.clear();
    rows_.clear();
    const int whole_rows = existing / row_elements;
    if constexpr (sums) {
      if (whole_rows > 0) simt::reduce_rows_of_sums(&items_.from(0)[0], whole_rows, vectors_.address(), coming);
    } else if constexpr (is_plain<T>) {
      for (int r = 0; r < whole_rows; ++r) {
        coming.ask(row_bytes);
        fold_whole_row(r, spare_.address() + r * lane_count);
      }
      kogge_stone_of_rows(spare_.address(), vectors_.address(), whole_rows, op_);
    } else {
      for (int r = 0; r < whole_rows; ++r) reduce_row(r, lane_count);
    }
    if constexpr (!is_plain<T>) // nothing is to the right of the last vector, so nobody needs its total
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

  /// Writes the results. `prefix` is everything left of the tile, or null. Meanwhile it asks for some more of what is `coming`.
  void scan(const T *prefix, simt::lines_to_come &coming) {
    int done = 0; // rows
    if constexpr (sums) {
      done = existing_ / row_elements;
      scan_whole_sums(prefix, done, coming);
    } else if constexpr (is_plain<T> && is_plain<stored>) {
      done = existing_ / row_elements;
      for (int r = 0; r < done; ++r) add_base(prefix, r);
      const auto rows = output_ + first_;
      int r = 0;
      if constexpr (can_stream<Problem>) {
        if (streams_) {
          simt::line_stream<row_elements * sizeof(stored)> lines(rows);
          for (; r < done; ++r) {
            scan_whole_row(prefix, r, coming, static_cast<stored *>(lines.next()));
            lines.push();
          }
        }
      }
      if constexpr (std::is_pointer<output_type>::value) {
        for (; r < done; ++r) scan_whole_row(prefix, r, coming, rows + r * row_elements);
      } else {
        ordered_room<stored, row_elements> results;
        for (; r < done; ++r) {
          scan_whole_row(prefix, r, coming, results.address());
          for (int i = 0; i < row_elements; ++i) rows[r * row_elements + i] = results[i];
        }
      }
    }
    for (int r = std::max(done, 0); r * row_elements < existing_; ++r) { // compilers ask: done >= 0
      if (prefix == nullptr && r == 0)
        scan_row(r, nullptr);
      else
        with_base(prefix, r, [&](const T &base) { scan_row(r, &base); });
    }
  }

private:
  void fold_whole_row(int r, T *__restrict totals) {
    auto op = op_;
    const auto items = items_.from(r * row_elements);
    for (int l = 0; l < lane_count; ++l) construct(totals[l], fold<E, T>(items, l * E, op));
  }

  /// V of the first vectors of row r, of values that are not plain.
  void reduce_row(int r, int vectors) {
    const auto items = items_.from(r * row_elements);
    lanes<T> totals, scanned;
    for (int l = 0; l < vectors; ++l) totals.set(l, fold<E, T>(items, l * E, op_));
    kogge_stone(totals, scanned, vectors, op_);
    for (int l = 0; l < vectors; ++l) vectors_.set(r * lane_count + l, scanned[l]);
  }

  /// Calls `use` with everything left of row r. Requires a prefix or r > 0.
  template <class Use>
  void with_base(const T *prefix, int r, Use use) {
    if constexpr (Rows > 1) {
      if (r > 0) return prefix != nullptr ? use(static_cast<T>(op_(*prefix, rows_[r - 1]))) : use(rows_[r - 1]);
    }
    use(*prefix);
  }

  /// Everything left of each vector of row r, to `spare_`. Nothing is left of the very first.
  void add_base(const T *prefix, int r) {
    const T *const scanned = vectors_.address() + r * lane_count;
    T *const lefts = spare_.address() + r * lane_count;
    if (prefix == nullptr && r == 0)
      for (int l = 1; l < lane_count; ++l) construct(lefts[l], scanned[l - 1]);
    else
      with_base(prefix, r, [&](const T &base) { add_base(base, scanned, lefts, op_); });
  }
  static void add_base(const T base, const T *__restrict vectors, T *__restrict lefts, decltype(Problem::op) op) {
    construct(lefts[0], base);
    for (int l = 1; l < 4; ++l) construct(lefts[l], static_cast<T>(op(base, vectors[l - 1])));
    for (int l = 4; l < lane_count; ++l) construct(lefts[l], static_cast<T>(op(base, vectors[l - 1])));
  }

  /// Results of the first `count` rows, which are whole, of sums in the CPU's vectors.
  void scan_whole_sums(const T *prefix, int count, simt::lines_to_come &coming) {
    if (count == 0) return;
    const T *const items = &items_.from(0)[0];
    stored *const results = output_ + first_;
    int r = 0;
    if (prefix == nullptr) { // nothing is left of the very first row
      simt::scan_row_of_sums<Problem::inclusive, false>(items, T{}, results);
      r = 1;
    }
    T bases[Rows];
    for (int i = r; i < count; ++i) with_base(prefix, i, [&](const T &base) { bases[i] = base; });
    scan_rows_of_sums<Problem::inclusive>(items + r * row_elements, count - r, bases + r,
                                          vectors_.address() + r * lane_count, results + r * row_elements, streams_,
                                          coming);
  }

  /// Results of row r.
  void scan_whole_row(const T *prefix, int r, simt::lines_to_come &coming, stored *results) {
    coming.ask(row_bytes);
    const auto items = items_.from(r * row_elements);
    if (prefix == nullptr && r == 0) {
      scan_lanes<1>(r, items, results);
      const T item = items[0]; // its own result
      construct(results[0], static_cast<stored>(project_(item, item)));
      scan_elements<Problem>(item, items, 1, E, results, op_, project_);
    } else {
      scan_lanes<0>(r, items, results);
    }
  }
  /// From `spare_`: element k of all vectors side by side. The output may be the input: an element is read before its
  /// result is written, and for that result alone.
  template <int First, class View>
  void scan_lanes(int r, const View &items, stored *results) {
    auto op = op_;
    auto project = project_;
    const T *const lefts = spare_.address() + r * lane_count;
    LOOKBACK_INDEPENDENT
    for (int l = First; l < lane_count; ++l)
      detail::scan_vector<Problem, E>(lefts[l], items, l * E, results + l * E, op, project);
  }

  /// Results of row r, vector by vector; `base` is everything left of it, or null.
  void scan_row(int r, const T *base) {
    const int count = std::min(existing_ - r * row_elements, row_elements);
    if constexpr (is_plain<T>) {
      const auto items = items_.from(r * row_elements);
      detail::scan_row<Problem>(items, output_ + (first_ + r * row_elements), count, base, op_, project_);
    } else {
      for (int l = 0; l * E < count; ++l) {
        const T *const inside = l == 0 ? nullptr : vectors_.address() + (r * lane_count + l - 1);
        if (base != nullptr && inside != nullptr) {
          const T left = static_cast<T>(op_(*base, *inside));
          scan_vector(r, l * E, std::min((l + 1) * E, count), &left);
        } else {
          scan_vector(r, l * E, std::min((l + 1) * E, count), base != nullptr ? base : inside);
        }
      }
    }
  }
  void scan_vector(int r, int begin, int end, const T *base) {
    const auto items = items_.from(r * row_elements);
    const auto row = output_ + (first_ + r * row_elements);
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
  ordered_room<T, Rows * lane_count> vectors_; // V, inclusive: (rows, 32)
  // The same on the way to V and from it, for plain values.
  ordered_room<T, !is_plain<T> ? 1 : sums ? lane_count : Rows * lane_count> spare_;
  lanes<T> rows_; // R, inclusive: (rows)
};

} // namespace lookback::detail
