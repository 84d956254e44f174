// SPDX-License-Identifier: MIT
// The two passes of a selection over a tile in shared memory: which items are kept, and, once the
// number of kept items to the left of the tile is known, each kept item to its place.
#pragma once

#include <lookback/block/staged_selection.cuh>
#include <lookback/block/warp_shuffle.cuh>
#include <lookback/tile/results_in_room.cuh>
#include <lookback/tile/warp_rows.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// What a lane remembers of a row between the two passes: which items of its vector are kept, and
/// how many of the row up to its last one, V(lane).
class kept_items {
public:
  LOOKBACK_DEVICE kept_items(unsigned bits, unsigned through) : word_(bits | through << 16) {}
  /// Bit k: item k of the vector is kept.
  LOOKBACK_DEVICE unsigned bits() const { return word_ & 0xffff; }
  LOOKBACK_DEVICE unsigned through() const { return word_ >> 16; }
  LOOKBACK_DEVICE unsigned before() const {
    return through() - simt::count_bits(bits()); // mutant: kept-before
  }

private:
  std::uint32_t word_;
};

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
  const int lane = rows.lane;
  unsigned bits[Count];
  // A row has at most 512 items: the counts of two rows share a word, and the network's steps.
  constexpr int words = (Count + 1) / 2;
  unsigned counts[words] = {};
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    constexpr int E = shape::vector_elements;
    const int left = rows.items(i) - lane * E;
    const int count = Rows::full || left > E ? E : left; // mutant: kept-count
    bits[i] = kept_bits<problem>(rows.read(i, count), count);
    counts[i / 2] += simt::count_bits(bits[i]) << i % 2 * 16;
  }
  LOOKBACK_UNROLL
  for (int distance = 1; distance < network::lanes; distance *= 2) {
    LOOKBACK_UNROLL
    for (int w = 0; w < words; ++w) {
      const unsigned left = simt::shuffle_up(counts[w], distance);
      if (lane >= distance) counts[w] += left;
    }
  }
  LOOKBACK_UNROLL
  for (int i = 0; i < Count; ++i) {
    const unsigned through = counts[i / 2] >> i % 2 * 16 & 0xffff;
    construct(kept[i], kept_items(bits[i], through));
    if (lane == shape::row_vectors - 1) construct(row_aggregates[rows.row(i)], T{through});
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
  static constexpr unsigned room_bytes = count * shape::row_elements * sizeof(stored);
  /// Whether results can pass through the warp's rows in shared memory: no other warp reads there.
  static constexpr bool fit = Rows::aligned && std::is_pointer<output>::value &&
                              std::is_trivially_copyable<stored>::value &&
                              16 % sizeof(stored) == 0 &&
                              sizeof(stored) <= sizeof(typename source::first_type);

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
  LOOKBACK_DEVICE std::uint64_t first_item() const {
    return static_cast<std::uint64_t>(rows_.tile) * shape::tile_elements +
           static_cast<unsigned>(rows_.first_row * shape::row_elements);
  }
  /// Valid items of the lane's vector of row i.
  LOOKBACK_DEVICE int valid(int i) const {
    const int left = rows_.items(i) - rows_.lane * E;
    return Rows::full || left > E ? E : left < 0 ? 0 : left;
  }

  /// Where the lane's vector of row i begins among the kept items of the share.
  LOOKBACK_DEVICE unsigned kept_before(int i) const { return starts_[i] + kept_[i].before(); }

  LOOKBACK_DEVICE void through_room() const {
    const sink &to = rows_.problem.sink;
    lane_vector<stored, E> results[count];
    int all = 0; // valid items of the share
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const auto vector = rows_.read(i, valid(i));
      LOOKBACK_UNROLL
      for (int k = 0; k < E; ++k)
        results[i].set(k, static_cast<stored>(item_of<problem>(vector, k)));
      all += rows_.items(i);
    }
    const unsigned kept = starts_[count], rejected = static_cast<unsigned>(all) - kept;
    if (kept > 0)
      store<false>(results, to.output + static_cast<std::ptrdiff_t>(before_), kept, [&](int i) {
        return chosen{kept_[i].bits(), kept_before(i)};
      });
    if constexpr (sink::places_rejected) {
      constexpr bool reversed = decltype(to.rejected)::reversed;
      const std::uint64_t rank = first_item() - before_; // of the share's first rejected item
      if (rejected > 0)
        store<reversed>(
            results, to.rejected.output + to.rejected.place(rank + (reversed ? rejected - 1 : 0)),
            rejected, [&](int i) {
              const unsigned left = static_cast<unsigned>(i * shape::row_elements + rows_.lane * E),
                             before = left - kept_before(i);
              return chosen{~kept_[i].bits() & ((1u << valid(i)) - 1),
                            reversed ? rejected - 1 - before : before};
            });
    }
  }
  /// Items of a lane's vector, a bit each, and the place of the first among those of the share.
  struct chosen {
    unsigned bits, rank;
  };
  /// Stores those `size` results of the share that `choose(i)` chooses of row i.
  template <bool Reversed, class Choose>
  LOOKBACK_DEVICE void store(const lane_vector<stored, E> (&results)[count], stored *first,
                             unsigned size, Choose choose) const {
    auto *const room = reinterpret_cast<unsigned char *>(
        rows_.source.template row_of<Rows::aligned>(rows_.stage, rows_.first_row));
    store_through_room<room_bytes>(room, first, size, [&](const auto &share) {
      LOOKBACK_UNROLL
      for (int i = 0; i < count; ++i) {
        const chosen own = choose(i);
        share.template put<Reversed>(results[i], own.bits, own.rank);
      }
    });
  }

  LOOKBACK_DEVICE void one_by_one() const {
    LOOKBACK_UNROLL
    for (int i = 0; i < count; ++i) {
      const auto vector = rows_.read(i, valid(i));
      std::uint64_t through = before_ + kept_before(i);
      const std::uint64_t item =
          first_item() + static_cast<unsigned>(i * shape::row_elements + rows_.lane * E);
      LOOKBACK_UNROLL
      for (int k = 0; k < E; ++k) {
        const bool kept = (kept_[i].bits() >> k & 1) != 0;
        through += kept ? 1 : 0;
        if (k < valid(i))
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
