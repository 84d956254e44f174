// SPDX-License-Identifier: MIT
// Sums of integers on a CPU. Addition of integers gives the same bits in any order, so what costs least is taken: a
// running sum.
#pragma once

#include <lookback/host/tile.cuh>

namespace lookback::detail {

template <class Problem, class T = typename Problem::accumulator>
inline constexpr bool is_integer_sum =
    std::is_integral<T>::value && !std::is_same<T, bool>::value && adds<decltype(Problem::op), T>::value;

/// a + b modulo 2^bits: a sum of a part may overflow where the whole does not.
template <class T>
T wrapping_sum(T a, T b) {
  using unsigned_type = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<unsigned_type>(static_cast<unsigned_type>(a) + static_cast<unsigned_type>(b)));
}

/// Writes the results of items `first` to `count`, one by one; `running` is the sum of everything to their left. Returns it with the
/// items added.
template <class Problem, class Items, class Output, class T>
T scan_sum_serially(const Problem &problem, const Items &items, Output output, std::int64_t first, std::int64_t count,
                    T running) {
  for (std::int64_t i = first; i < count; ++i) {
    const T item = items[i];
    const T through = wrapping_sum(running, item);
    output[i] = static_cast<typename Problem::stored>(problem.project(Problem::inclusive ? through : running, item));
    running = through;
  }
  return running;
}
/// The same of `count` items, as many of them together as fit in the CPU's vectors.
template <class Problem, class Items, class Output, class T>
T scan_sum(const Problem &problem, const Items &items, Output output, std::int64_t count, T running) {
  std::int64_t i = 0;
  if constexpr (is_unchanged<Problem, Items, Output>)
    i = simt::running_sums<Problem::inclusive>(&items[0], output, count, running);
  return scan_sum_serially(problem, items, output, i, count, running);
}

/// What is left of the first element.
template <class Problem, class T = typename Problem::accumulator>
T sum_before(const Problem &problem) {
  if constexpr (Problem::initial_type::exists)
    return static_cast<T>(problem.initial.value);
  else
    return T{};
}
/// The whole scan on the calling thread.
template <class Problem>
void scan_sum(const Problem &problem, std::int64_t n) {
  scan_sum(problem, items_view<Problem>(problem.input), problem.output, n, sum_before(problem));
}

/// A tile of a sum, with the functions of tree_tile.
template <class Problem>
class sum_tile {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;

public:
  explicit sum_tile(const Problem &problem, bool streams) : problem_(problem), items_(problem), streams_(streams) {}

  void reduce(std::ptrdiff_t first, int existing, simt::lines_to_come &coming) {
    first_ = first;
    existing_ = existing;
    items_.open(first, existing);
    if (existing < shape::tile_elements) return;
    const auto items = items_.from(0);
    T total{};
    for (int r = 0; r < shape::tile_rows; ++r) {
      coming.ask(row_bytes);
      for (int i = r * row; i < (r + 1) * row; ++i) total = wrapping_sum(total, static_cast<T>(items[i]));
    }
    total_ = total;
  }
  const T &total() const { return total_; }
  void scan(const T *prefix, simt::lines_to_come &coming) {
    const auto results = problem_.output + first_;
    T running = prefix != nullptr ? *prefix : T{};
    int i = 0;
    if constexpr (can_stream<Problem>) {
      if (streams_) {
        using stored = typename Problem::stored;
        simt::line_stream<row * sizeof(stored)> lines(results);
        for (; i + row <= existing_; i += row) {
          coming.ask(row_bytes);
          running = scan_sum(problem_, items_.from(i), static_cast<stored *>(lines.next()), row, running);
          lines.push();
        }
      }
    }
    for (; i < existing_; i += row) {
      const int count = std::min(existing_ - i, row);
      coming.ask(row_bytes);
      running = scan_sum(problem_, items_.from(i), results + i, count, running);
    }
  }

private:
  static constexpr int row = shape::row_elements;
  static constexpr std::size_t row_bytes = row * sizeof(typename Problem::item);

  Problem problem_;
  tile_items<Problem, shape::tile_elements> items_;
  bool streams_;
  std::ptrdiff_t first_ = 0;
  int existing_ = 0;
  T total_{};
};

} // namespace lookback::detail
