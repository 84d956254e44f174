// SPDX-License-Identifier: MIT
// A scan over chunks that arrive one after another, with the bits of one scan over all of them.
//
// Between chunks, the growing parts of the tree are kept: the tiles of the current group, the rows
// of the current tile, the vectors of the current row, and the elements of the current vector. A
// chunk continues at the finest of these levels, goes up to the coarsest that its length and the
// alignment of its elements allow, and comes down again at its end:
//
//   elements        one by one, to the end of a row
//   rows            in the memory of one row, to the end of a tile
//   tiles           on the calling thread, to the end of a group
//   groups          on all threads
#pragma once

#include <lookback/host/host_scan.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

#if defined(__CUDA_ARCH__)

/// nvcc's pass for device code compiles no host function, so it need not read the headers of host/.
/// This shows it only the call of the user's operator: it warns about functions that are never
/// called.
template <class T, class Operator>
class continued_tree {
public:
  explicit continued_tree(Operator op) : op_(op) {}
  continued_tree(Operator op, const T &) : op_(op) {}
  const Operator &op() const { return op_; }
  std::int64_t position() const { return 0; }
  const T *prefix() const { return nullptr; }
  template <bool Inclusive, class Input, class Output>
  void scan(Input input, std::int64_t, Output) {
    const T x = as_accumulator<T>(static_cast<value_t<Input>>(input[0]));
    static_cast<void>(op_(x, x));
  }

private:
  Operator op_;
};

#else

/// A scan in T by `Operator`, of elements and results that shape the tree as T does. After an
/// exception, the object may only be destroyed.
template <class T, class Operator>
class continued_tree {
  using shape = tree_shape<sizeof(T)>;
  static constexpr std::int64_t row = shape::row_elements, tile = shape::tile_elements,
                                group = group_elements<shape>;

public:
  explicit continued_tree(const Operator &op) : op_(op), tiles_(maybe<T>()) { begin_tile(); }
  continued_tree(const Operator &op, const T &initial) : continued_tree(op) {
    begin_group(initial);
  }

  const Operator &op() const { return op_; }
  /// Elements so far.
  std::int64_t position() const { return position_; }
  /// The prefix of the next element, or null.
  const T *prefix() const { return tile_.prefix().get(); }

  /// Scans the next `n` elements. An exclusive scan requires a prefix.
  template <bool Inclusive, class Input, class Output>
  void scan(Input input, std::int64_t n, Output output) {
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t some =
          scan_some(make_problem<Inclusive, T>(input + done, output + done, op_,
                                               maybe_initial<T>{tile_.prefix()}),
                    n - done);
      position_ += some;
      done += some;
    }
  }

private:
  /// Scans the first of `n` elements, at the coarsest level. Returns their number.
  template <class Problem>
  std::int64_t scan_some(const Problem &problem, std::int64_t n) {
    static_assert(Problem::shape::element_bytes == sizeof(T),
                  "lookback: a result of a continued scan is larger than the scan's value type, "
                  "whose size shapes the tree");
    // Integers have the same sums in any order, so every element may begin a group.
    const std::int64_t at = is_integer_sum<Problem> ? 0 : position_;
    const auto can_scan = [&](std::int64_t unit) { return at % unit == 0 && n >= unit; };
    if (const std::size_t threads = threads_for<Problem>(n); threads > 1 && can_scan(group))
      return scan_groups(problem, n - n % group, threads);
    if constexpr (is_integer_sum<Problem>) {
      return scan_integers(problem, n);
    } else {
      const std::int64_t left = group - at % group; // of the group
      if (can_scan(tile))
        return scan_tiles(problem, threads_for<Problem>(n - left) > 1 ? left : n - n % tile);
      if (can_scan(row)) return scan_rows(problem, std::min(n - n % row, tile - at % tile));
      return scan_elements(problem, std::min(n, row - at % row));
    }
  }

  /// Threads for the whole groups of `n` elements.
  template <class Problem>
  static std::size_t threads_for(std::int64_t n) {
    if constexpr (separate_results<typename Problem::output_type>::value)
      return useful_threads(n / group * group * static_cast<std::int64_t>(sizeof(T)));
    else
      return 1;
  }
  template <class Problem>
  std::int64_t scan_groups(const Problem &problem, std::int64_t n, std::size_t threads) {
    // Streamed, whatever the chunk's length: other chunks pass through the caches, too. 2^26 f32 in
    // 16 chunks take about 1.5 times as long without; chunks of 4 MB in one buffer take the same.
    threaded_scan<Problem, true> groups(over(problem, n), true);
    groups.run(threads);
    begin_group(groups.next_group_prefix());
    return n;
  }
  template <class Problem>
  std::int64_t scan_integers(const Problem &problem, std::int64_t n) {
    const T *const prefix = tile_.prefix().get();
    tile_.set_prefix(scan_sum(problem, items_view<Problem>(problem.input), problem.sink.output, n,
                              prefix != nullptr ? *prefix : T{}));
    return n;
  }
  template <class Problem>
  std::int64_t scan_tiles(const Problem &problem, std::int64_t n) {
    scan_from_tiles<true>(over(problem, n), tiles_);
    begin_tile();
    return n;
  }
  template <class Problem>
  std::int64_t scan_rows(const Problem &problem, std::int64_t n) {
    tree_tile<Problem, 1> one(problem);
    auto op = problem.op;
    simt::line_prefetcher none;
    for (std::int64_t first = 0; first < n; first += row) {
      one.reduce(first, static_cast<int>(row), none);
      one.scan(tile_.prefix().get(), none);
      tile_.push_row(one.aggregate(), op);
    }
    end_full_tile(op);
    return n;
  }
  template <class Problem>
  std::int64_t scan_elements(const Problem &problem, std::int64_t n) {
    using stored = typename Problem::stored;
    const items_view<Problem> items(problem.input);
    const auto results = problem.sink.output;
    const auto project = problem.sink.project;
    auto op = problem.op;
    tile_.template scan<Problem::inclusive>(
        n, [&](std::int64_t i) -> T { return items[i]; }, op,
        [&](std::int64_t i, const T &scanned, const T &x) {
          results[i] = static_cast<stored>(project(scanned, x));
        });
    end_full_tile(op);
    return n;
  }
  template <class Problem>
  static Problem over(const Problem &problem, std::int64_t n) {
    return problem.over({static_cast<std::uint64_t>(n)});
  }

  template <class Op>
  void end_full_tile(Op &op) {
    if (!tile_.is_full()) return;
    tiles_.push(tile_.aggregate(), op);
    begin_tile();
  }
  void begin_group(const T &prefix) {
    maybe<T> known;
    known.set(prefix);
    tiles_.begin_group(known);
    begin_tile();
  }
  void begin_tile() { tile_.begin(tiles_.prefix()); }

  Operator op_;
  std::int64_t position_ = 0;
  tiles_before<T> tiles_;       // of the current group
  growing_tile<T, shape> tile_; // the current tile
};

#endif

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
