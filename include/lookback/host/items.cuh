// SPDX-License-Identifier: MIT
// The items of a tile as accumulators, on one CPU thread.
#pragma once

#include <lookback/arch/simt_host.cuh>
#include <lookback/arch/simt_rows.cuh>
#include <lookback/core/problem.cuh>
#include <lookback/core/standard.cuh>
#include <lookback/host/row_network.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The elements from `first` on, converted to accumulators when they are read.
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

/// The elements of one tile. The elements of a pointer are read in place, as often as needed. Any
/// other iterator is read once per element, before any result is written, and the values are kept.
template <class Problem, int Capacity>
class tile_items {
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using input = typename Problem::input_type;
  static constexpr bool in_place = std::is_pointer<input>::value;

public:
  using view = items_view<Problem, std::conditional_t<in_place, input, const T *>>;

  explicit tile_items(const Problem &problem) : input_(problem.input) {}

  /// Begins a tile with elements `first` to `first + count`.
  void open(std::ptrdiff_t first, int count) {
    first_ = first;
    if constexpr (!in_place) {
      kept_.clear();
      const items_view<Problem> items(input_ + first);
      for (int i = 0; i < count; ++i) kept_.set(i, items[i]);
    }
  }
  /// The tile's elements from `i` on.
  view from(int i) const {
    if constexpr (in_place)
      return view(input_ + (first_ + i));
    else
      return view(kept_.address() + i);
  }

private:
  input input_;
  std::ptrdiff_t first_ = 0;
  // Twice the usual limit: by key, a value of 8 bytes is a pair of 16 bytes.
  ordered_storage<T, in_place ? 1 : Capacity, 2 * max_bytes_in_place> kept_;
};

/// Prefetches elements `first` to `end` of the input, if it is a pointer: the loads for the next
/// tiles then overlap with the computation of this tile's results.
template <class Problem>
simt::line_prefetcher prefetcher_of(const Problem &problem, std::ptrdiff_t first,
                                    std::ptrdiff_t end) {
  if constexpr (std::is_pointer<typename Problem::input_type>::value)
    return {problem.input + first, problem.input + end};
  else
    return {};
}

/// Whether results can be constructed in a simt::line_stream, whose buffer keeps their addresses
/// modulo a cache line.
template <class Problem>
inline constexpr bool can_stream = std::is_pointer<typename Problem::output_type>::value &&
                                   alignof(typename Problem::stored) <= simt::cache_line;

/// Whether items are accumulators in memory, and results are accumulators without conversion.
template <class Problem, class View, class Output, class T = typename Problem::accumulator>
inline constexpr bool is_unchanged =
    std::is_pointer<Output>::value &&std::is_same<typename Problem::stored, T>::value
        &&std::is_same<decltype(Problem::sink_type::project), scanned_itself>::value
            &&std::is_same<decltype(std::declval<View>()[0]), const T &>::value;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
