// SPDX-License-Identifier: MIT
// The two passes of a selection over a tile in shared memory: which items are kept, and, once the
// number of kept items to the left of the tile is known, each kept item to its place.
#pragma once

#include <lookback/block/staged_selection.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/tile/kept_items.cuh>
#include <lookback/tile/results_in_room.cuh>
#include <lookback/tile/warp_rows.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class Problem>
struct lane_state_of<Problem, std::enable_if_t<selects<Problem>>> {
  using type = kept_items;
};

/// Rows of a tile, `valid` of whose items are valid, that have an aggregate. Items that are missing
/// are not kept, so a selection has one for every row.
template <class Problem, class Valid>
LOOKBACK_DEVICE int aggregates_of(const Valid &valid) {
  return selects<Problem> ? Problem::shape::tile_rows : valid.rows();
}

/// Which items of a lane's vector are kept, `count` of which are valid.
template <class Problem, class Vector>
LOOKBACK_DEVICE unsigned kept_bits(const Vector &vector, int count) {
  if constexpr (can_stage<Problem>)
    return vector.kept(count);
  else
    return bits_of<Problem::shape::vector_elements>(count,
                                                    [&](int k) { return vector.get(k).kept; });
}
/// Item k of a lane's vector.
template <class Problem, class Vector>
LOOKBACK_DEVICE decltype(auto) item_of(const Vector &vector, int k) {
  if constexpr (can_stage<Problem>)
    return vector.get(k);
  else
    return (vector.get(k).item);
}

/// Asks which items of the warp's rows are kept, and counts them. The last lane writes the
/// aggregates of the rows to `row_aggregates`.
template <class Rows, class T, int Count, int TileRows, class Operator>
LOOKBACK_DEVICE void reduce_rows(const Rows &rows, uninitialized_array<kept_items, Count> &kept,
                                 uninitialized_array<T, TileRows> &row_aggregates, Operator &,
                                 lane_exchange<T> &) {
  using problem = typename Rows::problem_type;
  using shape = typename Rows::shape;
  unsigned bits[Count];
  row_counts<Count, shape::row_elements> counts;
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const int count = rows.lane_items(i);
    bits[i] = kept_bits<problem>(rows.read(i, count), count);
    counts.set(i, simt::count_bits(bits[i]));
  }
  counts.scan(rows.lane);
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const unsigned through = counts.get(i);
    construct(kept[i], kept_items(bits[i], through));
    if (rows.lane == shape::row_vectors - 1) construct(row_aggregates[rows.row(i)], T{through});
  }
}

/// The second pass over the rows of a warp.
template <class Rows>
class placed_rows {
  using problem = typename Rows::problem_type;
  using source = typename Rows::source_type;
  using shape = typename Rows::shape;
  using sink = typename problem::sink_type;
  using stored = typename problem::stored;
  using output = typename problem::output_type;
  static constexpr int E = shape::vector_elements, count = Rows::count;
  /// Whether results can pass through the warp's rows in shared memory: no other warp reads there.
  static constexpr bool fit = Rows::aligned && fits_room<output, typename source::first_type>;

public:
  /// `before`: kept items to the left of the warp's share. `starts[i]`: those of the share before
  /// row i.
  LOOKBACK_DEVICE placed_rows(const Rows &rows, std::uint64_t before,
                              const unsigned (&starts)[count + 1],
                              const uninitialized_array<kept_items, count> &kept)
      : rows_(rows), before_(before), starts_(starts), kept_(kept) {}

  LOOKBACK_DEVICE void run() const {
    if constexpr (fit) {
      const auto &to = rows_.problem.sink;
      bool whole = is_multiple(to.output);
      if constexpr (sink::places_rejected) whole = whole && is_multiple(to.rejected.output);
      if (LOOKBACK_LIKELY(whole)) return through_room();
    }
    one_by_one();
  }

private:
  /// Where the lane's vector of row i begins among the kept items of the share.
  LOOKBACK_DEVICE unsigned kept_before(int i) const { return starts_[i] + kept_[i].before(); }

  LOOKBACK_DEVICE void through_room() const {
    const sink &to = rows_.problem.sink;
    lane_vector<stored, E> results[count];
    int all = 0; // valid items of the share
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const auto vector = rows_.read(i, rows_.lane_items(i));
      LOOKBACK_UNROLL
      for (int k = 0; k < E; ++k)
        results[i].set(k, static_cast<stored>(item_of<problem>(vector, k)));
      all += rows_.items(i);
    }
    const unsigned kept = starts_[count], rejected = static_cast<unsigned>(all) - kept;
    if (kept > 0)
      store_chosen<0, false>(rows_, results, to.output + static_cast<std::ptrdiff_t>(before_), kept,
                             [&](int i) {
                               return chosen_items{kept_[i].bits(), kept_before(i)};
                             });
    if constexpr (sink::places_rejected) {
      constexpr bool reversed = decltype(to.rejected)::reversed;
      // Of the share's first rejected item.
      const std::uint64_t rank = static_cast<std::uint64_t>(rows_.first_item()) - before_;
      if (rejected > 0)
        store_chosen<0, reversed>(
            rows_, results,
            to.rejected.output + to.rejected.place(rank + (reversed ? rejected - 1 : 0)), rejected,
            [&](int i) {
              const unsigned left = static_cast<unsigned>(i * shape::row_elements + rows_.lane * E),
                             before = left - kept_before(i);
              return chosen_items{~kept_[i].bits() & ((1u << rows_.lane_items(i)) - 1),
                                  reversed ? rejected - 1 - before : before};
            });
    }
  }
  LOOKBACK_DEVICE void one_by_one() const {
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const int items = rows_.lane_items(i);
      const auto vector = rows_.read(i, items);
      std::uint64_t through = before_ + kept_before(i);
      const auto item = static_cast<std::uint64_t>(rows_.lane_item(i));
      LOOKBACK_UNROLL
      for (int k = 0; k < E; ++k) {
        const bool kept = (kept_[i].bits() >> k & 1) != 0;
        through += kept ? 1 : 0;
        if (k < items)
          rows_.problem.sink.put(item + static_cast<unsigned>(k), through, kept,
                                 item_of<problem>(vector, k));
      }
    }
  }

  const Rows &rows_;
  const std::uint64_t before_;
  const unsigned (&starts_)[count + 1];
  const uninitialized_array<kept_items, count> &kept_;
};

/// Places the items of the warp's rows, from the number of kept items to the left of the tile, and
/// `row_prefix(row)`, which returns R(row - 1). The warp of the last row passes on the total.
template <bool, class Rows, class T, int Count, class RowPrefix, class Operator>
LOOKBACK_DEVICE void scan_rows(const Rows &rows, const maybe<T> &prefix, RowPrefix row_prefix,
                               const uninitialized_array<kept_items, Count> &kept, bool, Operator &,
                               lane_exchange<T> &) {
  using shape = typename Rows::shape;
  const auto kept_in_rows = [&](int row) { // of the tile, before row `row`
    const T through = row_prefix(row);
    return row > 0 ? static_cast<unsigned>(through.items) : 0;
  };
  const unsigned left = kept_in_rows(rows.first_row);
  const std::uint64_t before = (prefix.exists() ? prefix.value().items : 0) + left;
  unsigned starts[Count + 1];
  starts[0] = 0;
  LOOKBACK_UNROLL
  for (int i = 1; i <= Count; ++i) starts[i] = kept_in_rows(rows.row(i)) - left;
  placed_rows<Rows>(rows, before, starts, kept).run();
  if (rows.first_row + Count == shape::tile_rows && rows.lane == 0 &&
      rows.tile + 1 == rows.problem.tiles())
    rows.problem.sink.set_total({before + starts[Count]}); // mutant: kept-total
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
