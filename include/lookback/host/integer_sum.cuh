// SPDX-License-Identifier: MIT
// Scans of integer sums on a CPU. Integer addition gives the same bits in any order, so the
// cheapest order is used: a running sum.
#pragma once

#include <lookback/host/tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class Problem>
inline constexpr bool is_integer_sum =
    sums_integers<Problem> &&std::is_integral<typename Problem::accumulator>::value;

/// a + b modulo 2^bits: the sum of a part may overflow when the sum of all elements does not.
template <class T>
T wrapping_sum(T a, T b) {
  using unsigned_type = std::make_unsigned_t<T>;
  return static_cast<T>(
      static_cast<unsigned_type>(static_cast<unsigned_type>(a) + static_cast<unsigned_type>(b)));
}

/// Writes the results of items `first` to `count`, one by one. `running` is their prefix; returns
/// it with the items added.
template <class Problem, class Items, class Output, class T>
T scan_sum_serially(const Problem &problem, const Items &items, Output output, std::int64_t first,
                    std::int64_t count, T running) {
  for (std::int64_t i = first; i < count; ++i) {
    const T item = items[i];
    const T through = wrapping_sum(running, item);
    output[i] = static_cast<typename Problem::stored>(
        problem.sink.project(Problem::inclusive ? through : running, item));
    running = through;
  }
  return running;
}
/// The same for `count` items, in CPU vectors if possible.
template <class Problem, class Items, class Output, class T>
T scan_sum(const Problem &problem, const Items &items, Output output, std::int64_t count,
           T running) {
  std::int64_t i = 0;
  if constexpr (is_unchanged<Problem, Items, Output>)
    i = simt::running_sums<Problem::inclusive>(&items[0], output, count, running);
  return scan_sum_serially(problem, items, output, i, count, running);
}

/// The prefix of the first element.
template <class Problem, class T = typename Problem::accumulator>
T initial_sum(const Problem &problem) {
  if constexpr (Problem::initial_type::exists)
    return static_cast<T>(problem.initial.value);
  else
    return T{};
}
/// The whole scan on the calling thread.
template <class Problem>
void scan_sum(const Problem &problem) {
  scan_sum(problem, items_view<Problem>(problem.input), problem.sink.output,
           static_cast<std::int64_t>(problem.extent.items), initial_sum(problem));
}

/// A tile of a sum, with the functions of tree_tile.
template <class Problem>
class sum_tile {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;

public:
  explicit sum_tile(const Problem &problem, bool streams)
      : problem_(problem), items_(problem), streams_(streams) {}

  void reduce(std::ptrdiff_t first, int valid_items, simt::line_prefetcher &prefetcher) {
    first_ = first;
    valid_items_ = valid_items;
    items_.open(first, valid_items);
    if (valid_items < shape::tile_elements) return;
    const auto items = items_.from(0);
    T aggregate{};
    for (int r = 0; r < shape::tile_rows; ++r) {
      prefetcher.prefetch(row_bytes);
      for (int i = r * row; i < (r + 1) * row; ++i)
        aggregate = wrapping_sum(aggregate, static_cast<T>(items[i]));
    }
    aggregate_ = aggregate;
  }
  const T &aggregate() const { return aggregate_; }
  void scan(const T *prefix, simt::line_prefetcher &prefetcher) {
    const auto results = problem_.sink.output + first_;
    T running = prefix != nullptr ? *prefix : T{};
    int i = 0;
    if constexpr (can_stream<Problem>) {
      if (streams_) {
        using stored = typename Problem::stored;
        simt::line_stream<row * sizeof(stored)> lines(results);
        for (; i + row <= valid_items_; i += row) {
          prefetcher.prefetch(row_bytes);
          running =
              scan_sum(problem_, items_.from(i), static_cast<stored *>(lines.next()), row, running);
          lines.push();
        }
      }
    }
    for (; i < valid_items_; i += row) {
      const int count = std::min(valid_items_ - i, row);
      prefetcher.prefetch(row_bytes);
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
  int valid_items_ = 0;
  T aggregate_{};
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
