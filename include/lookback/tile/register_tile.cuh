// SPDX-License-Identifier: MIT
// A tile, or the first rows of one, in the registers of a few warps: every element is read and
// written once, and all loads are on their way at once.
#pragma once

#include <lookback/tile/reduce_tile.cuh>
#include <lookback/tile/scan_tile.cuh>
#include <lookback/tile/vector_loads.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A lane's vectors of `Count` rows, in the role of a tile's source. `Shifts`: results that are not
/// aligned are shifted into place.
template <class Problem, int Count, bool Shifts = false>
struct register_source {
  using first_type = typename Problem::item;
  using elements = lane_vector<first_type, Problem::shape::vector_elements>;
  static constexpr bool shifts = Shifts;
  static constexpr unsigned alignment = 16;

  /// Results do not pass through shared memory.
  template <bool>
  LOOKBACK_DEVICE first_type *row_of(unsigned char *, int) const {
    return nullptr;
  }
  elements own[Count];
};

/// The rows of a warp, whose elements are in `source`. (Rows are counted from the warp's first one:
/// with any other index, the compiler keeps vectors of 1- and 2-byte elements in memory.)
template <class Problem, int Count, bool Full, bool Shifts = false>
struct register_rows
    : warp_rows<Problem, register_source<Problem, Count, Shifts>, Count, Full, false> {
  using source_type = register_source<Problem, Count, Shifts>;
  using base = warp_rows<Problem, source_type, Count, Full, false>;
  using base::base;

  /// Loads the elements to `loaded`, which is the source.
  LOOKBACK_DEVICE void load(source_type &loaded) const {
    using shape = typename Problem::shape;
    constexpr int E = shape::vector_elements;
    const auto input = this->problem.input;
    const bool whole = moves_as_vectors<typename Problem::item, E>(input);
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const int first = this->row(i) * shape::row_elements + this->lane * E,
                left = this->valid.of_tile - first;
      load_lane(input + first, whole, left, loaded.own[i]); // mutant: line-items
    }
  }
  LOOKBACK_DEVICE const auto &read(int i, int) const { return this->source.own[i]; }
};

/// `Warps` warps, each with `Rows` rows of the tile.
template <class Problem, int Warps, int Rows>
class register_tile {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;

public:
  static constexpr bool possible =
      lane_vector<typename Problem::item, shape::vector_elements>::packed &&
      shape::tile_rows >= Warps * Rows;
  static constexpr int items_at_most = Warps * Rows * shape::row_elements;
  using row_aggregates = uninitialized_array<T, shape::tile_rows>;

  /// Scans the first `items` elements of the problem. Called by the warps of the tile, warp
  /// simt::warp_index() % Warps first. `prefix_of(R, full rows, op, exchange)`: the prefix of the
  /// tile.
  template <class PrefixOf>
  LOOKBACK_DEVICE static void scan(const Problem &problem, int items, row_aggregates &shared,
                                   PrefixOf prefix_of) {
    if (LOOKBACK_LIKELY(items == items_at_most))
      scan_rows_of<true>(problem, items, shared, prefix_of);
    else
      scan_rows_of<false>(problem, items, shared, prefix_of);
  }

private:
  template <bool Full, class PrefixOf>
  LOOKBACK_DEVICE static void scan_rows_of(const Problem &problem, int items,
                                           row_aggregates &shared, PrefixOf &prefix_of) {
    std::decay_t<decltype(Problem::op)> op(problem.op);
    const int lane = simt::lane_index(), first_row = simt::warp_index() % Warps * Rows;
    typename lane_exchange<T>::storage nothing;
    lane_exchange<T> exchange(nothing);
    register_source<Problem, Rows> loaded;
    const register_rows<Problem, Rows, Full> own(
        problem, loaded, nullptr, 0, true, lane, first_row, items,
        output_at(problem, 0, first_row * shape::row_elements));
    own.load(loaded);

    uninitialized_array<T, Rows> vectors; // V(lane) of each row
    reduce_rows(own, vectors, shared, op, exchange);
    if constexpr (Warps > 1) {
      simt::synchronize_block(); // mutant: line-barrier
    } else {
      simt::synchronize_warp(); // mutant: line-warp-barrier
    }
    uninitialized_array<T, 1> row_prefixes; // R(lane), inclusive
    const int full_rows = Full ? Warps * Rows : items / shape::row_elements;
    scan_row_aggregates(shared, full_rows, row_prefixes, op, exchange);
    const maybe<T> prefix = prefix_of(row_prefixes, full_rows, op, exchange);
    const auto row_prefix = [&](int row) -> decltype(auto) { // R(row - 1)
      return exchange.from(row_prefixes[0], row > 0 ? row - 1 : 0, lane < full_rows);
    };
    scan_rows<true>(own, prefix, row_prefix, vectors, as_vectors(problem), op, exchange);
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
