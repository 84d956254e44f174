// SPDX-License-Identifier: MIT
// The elements of a tile, as accumulators, on one CPU thread.
#pragma once

#include <lookback/core/problem.cuh>
#include <lookback/core/simt_host.cuh>
#include <lookback/core/simt_rows.cuh>
#include <lookback/core/standard.cuh>
#include <lookback/host/network.cuh>

#include <cuda/std/functional>

namespace lookback::detail {

/// Whether an operator adds two values of type T in that type.
template <class Operator, class T>
struct adds : std::is_same<Operator, plus> {};
template <class T>
struct adds<std::plus<>, T> : std::true_type {};
template <class T>
struct adds<std::plus<T>, T> : std::true_type {};
template <class T>
struct adds<cuda::std::plus<>, T> : std::true_type {};
template <class T>
struct adds<cuda::std::plus<T>, T> : std::true_type {};

/// The elements from `first` on, converted as they are read.
template <class Problem, class Iterator = typename Problem::input_type>
class items_view {
  using T = typename Problem::accumulator;
  using item = typename Problem::item;

public:
  explicit items_view(const Iterator &first) : first_(first) {}
  decltype(auto) operator[](std::ptrdiff_t i) const {
    if constexpr (std::is_pointer<Iterator>::value && std::is_same<value_t<Iterator>, T>::value)
      return static_cast<const T &>(first_[i]);
    else
      return static_cast<T>(static_cast<item>(first_[i]));
  }

private:
  Iterator first_;
};

/// The elements of one tile. Behind a pointer they are read where they are, as often as needed; any other iterator is
/// asked once for each, before anything is written, and the answers are kept.
template <class Problem, int Capacity>
class tile_items {
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using input = typename Problem::input_type;
  static constexpr bool stay = std::is_pointer<input>::value;

public:
  using view = items_view<Problem, std::conditional_t<stay, input, const T *>>;

  explicit tile_items(const Problem &problem) : input_(problem.input) {}

  /// Elements `first` to `first + count` are those of the tile.
  void open(std::ptrdiff_t first, int count) {
    first_ = first;
    if constexpr (!stay) {
      kept_.clear();
      const items_view<Problem> items(input_ + first);
      for (int i = 0; i < count; ++i) kept_.set(i, items[i]);
    }
  }
  /// The tile's elements from `i` on.
  view from(int i) const {
    if constexpr (stay)
      return view(input_ + (first_ + i));
    else
      return view(kept_.address() + i);
  }

private:
  input input_;
  std::ptrdiff_t first_ = 0;
  // By key, values of 8 bytes are pairs of 16.
  ordered_room<T, stay ? 1 : Capacity, 2 * most_in_place> kept_;
};

/// Elements `first` to `end` of the input, if they lie in memory: for tiles to come, of which the core then waits for memory
/// while it still has results of this tile to compute.
template <class Problem>
simt::lines_to_come lines_of(const Problem &problem, std::ptrdiff_t first, std::ptrdiff_t end) {
  if constexpr (std::is_pointer<typename Problem::input_type>::value)
    return {problem.input + first, problem.input + end};
  else
    return {};
}

/// Whether results can be constructed in a simt::line_stream, which keeps their addresses modulo a
/// cache line.
template <class Problem>
inline constexpr bool can_stream = std::is_pointer<typename Problem::output_type>::value &&
                                   alignof(typename Problem::stored) <= simt::cache_line;

/// Whether items are accumulators where they are, and accumulators are results as they are.
template <class Problem, class View, class Output, class T = typename Problem::accumulator>
inline constexpr bool is_unchanged = std::is_pointer<Output>::value &&std::is_same<typename Problem::stored, T>::value
    &&std::is_same<decltype(Problem::project), scanned_itself>::value
        &&std::is_same<decltype(std::declval<View>()[0]), const T &>::value;

} // namespace lookback::detail
