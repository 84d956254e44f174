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
/// are not kept, and add nothing to a sum by key, so selections and sums by key have one
/// for every row.
template <class Problem, class Valid>
LOOKBACK_DEVICE int aggregates_of(const Valid &valid) {
  return selects<Problem> || adds_by_key<Problem> ? Problem::shape::tile_rows : valid.rows();
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

/// Asks which items of the warp's rows are kept, and counts them.
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
  unsigned before[Count], starts[Count + 1];
  counts.scan(rows.lane, before, starts);
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) construct(kept[i], kept_items(bits[i], before[i]));
  write_aggregate(rows, row_aggregates, T{0}, T{starts[Count]});
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
  /// `before`: kept items to the left of the warp's share.
  LOOKBACK_DEVICE placed_rows(const Rows &rows, std::uint64_t before,
                              const uninitialized_array<kept_items, count> &kept)
      : rows_(rows), before_(before), kept_(kept),
        items_(simt::broadcast(kept[count - 1].through(), simt::warp_threads - 1)) {}

  /// Kept items of the share.
  LOOKBACK_DEVICE unsigned items() const { return items_; }

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
    const unsigned kept = items_, rejected = static_cast<unsigned>(all) - kept;
    if (kept > 0)
      store_chosen<0, false>(rows_, results, to.output + static_cast<std::ptrdiff_t>(before_), kept,
                             [&](int i) {
                               return chosen_items{kept_[i].bits(), kept_[i].before()};
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
                             before = left - kept_[i].before();
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
      std::uint64_t through = before_ + kept_[i].before();
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
  const uninitialized_array<kept_items, count> &kept_;
  const unsigned items_;
};

/// Places the items of the warp's rows, from the number of kept items to the left of the tile, and
/// `row_prefix(row)`, which returns R(row - 1). The warp of the last item passes on the total.
template <bool, class Rows, class T, int Count, class RowPrefix, class Operator>
LOOKBACK_DEVICE void scan_rows(const Rows &rows, const maybe<T> &prefix, RowPrefix row_prefix,
                               const uninitialized_array<kept_items, Count> &kept, bool, Operator &,
                               lane_exchange<T> &) {
  std::uint64_t before = prefix.exists() ? prefix.value().items : 0;
  const T above = row_prefix(rows.first_row);
  if (rows.first_row > 0) before += above.items;
  const placed_rows<Rows> placed(rows, before, kept);
  placed.run();
  if (rows.last_of_all() >= 0 && rows.lane == 0)
    rows.problem.sink.set_total({before + placed.items()}); // mutant: kept-total
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
