// SPDX-License-Identifier: MIT
// Structs in the pipeline (strategy/pipeline.cuh): one warp reduces a tile, then a team of one to
// four warps scans it, and a lane has consecutive items of a row, in registers. So some steps of
// the row's network, or all, are within a lane. In the second pass, lanes exchange no values if a
// lane has a whole row (12 bytes), three an item for structs of 24 bytes, four for 32, five for 64;
// lanes with an item of every row would exchange six.
#pragma once

#include <lookback/block/warp_shuffle.cuh>
#include <lookback/tile/struct_tile.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Consecutive structs of type T as the granules that they take, the fewest that are whole ones.
template <class T>
struct struct_group {
  static constexpr int size = static_cast<int>(sizeof(T)), granule = struct_granule,
                       granules = size / static_cast<int>(storage_alignment<T>),
                       items = granules * granule / size;

  /// Group `g`, whose granules are where `place` says.
  template <class Place>
  LOOKBACK_DEVICE static struct_group read(const Place &place, int g) {
    struct_group result;
    LOOKBACK_UNROLL
    for (int w = 0; w < granules; ++w)
      result.words[w] = simt::load_vector<granule>(place(g * granules + w));
    return result;
  }
  template <class Place>
  LOOKBACK_DEVICE void write(const Place &place, int g) const {
    LOOKBACK_UNROLL
    for (int w = 0; w < granules; ++w)
      simt::store_shared<granule>(place(g * granules + w), words[w]);
  }
  LOOKBACK_DEVICE T get(int k) const {
    uninitialized_array<T, 1> item;
    std::memcpy(static_cast<void *>(&item[0]),
                reinterpret_cast<const unsigned char *>(words) + k * size, sizeof(T));
    return item[0];
  }
  LOOKBACK_DEVICE void set(int k, const T &item) {
    std::memcpy(reinterpret_cast<unsigned char *>(words) + k * size,
                static_cast<const void *>(&item), sizeof(T));
  }

  simt::vector_words<granule> words[granules];
};

/// The rows of a tile of structs, which one warp reduces. The network's value of a row's last item
/// is a balanced tree over the row, so one application of the operator an item is enough, and most
/// are within a lane, which has more items than in the second pass. `Full`: the tile is full.
template <class Problem, bool Full>
class row_reduction {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using places = struct_tile<Problem, 1>;
  using group = struct_group<T>;
  static constexpr int items = shape::tile_elements / simt::warp_threads,
                       row_lanes = shape::row_vectors / items,
                       lanes = items / places::lane_items; // of the second pass

public:
  /// The tile in `stage`, which has `valid` valid items.
  LOOKBACK_DEVICE row_reduction(unsigned char *stage, int valid)
      : lane_(simt::lane_index()), place_(stage, lane_ * lanes),
        is_full_(Full || (lane_ + 1) * items <= valid) {}

  /// The lane's row, and whether this is the last lane of it and the row is full.
  LOOKBACK_DEVICE int row() const { return lane_ / row_lanes; }
  LOOKBACK_DEVICE bool ends_row() const {
    return is_full_ && lane_ % row_lanes == row_lanes - 1; // mutant: struct-row-end
  }
  /// through[0] <- R of the lane's row, inclusive, in lanes that end a row.
  template <class Operator>
  LOOKBACK_DEVICE void run(uninitialized_array<T, 1> &through, Operator &op) const {
    if (is_full_) construct(through[0], reduce<items>(0, op));
    LOOKBACK_UNROLL
    for (int distance = 1; distance < row_lanes; distance *= 2) {
      const T left = simt::shuffle_up(through[0], distance);
      if (is_full_ && lane_ % (2 * distance) == 2 * distance - 1)
        construct(through[0], static_cast<T>(op(left, through[0])));
    }
    LOOKBACK_UNROLL
    for (int distance = 1; distance < shape::tile_rows; distance *= 2) {
      const T left = simt::shuffle_up(through[0], distance * row_lanes);
      if (ends_row() && row() >= distance) // mutant: struct-rows
        construct(through[0], static_cast<T>(op(left, through[0])));
    }
  }

private:
  /// Of items `first` to `first + Items - 1` of the lane.
  template <int Items, class Operator>
  LOOKBACK_DEVICE T reduce(int first, Operator &op) const {
    if constexpr (Items == group::items) {
      const group read = group::read(place_, first / group::items);
      return reduce_group<Items>(read, 0, op);
    } else {
      const T left = reduce<Items / 2>(first, op);
      return static_cast<T>(op(left, reduce<Items / 2>(first + Items / 2, op)));
    }
  }
  template <int Items, class Operator>
  LOOKBACK_DEVICE static T reduce_group(const group &of, int first, Operator &op) {
    if constexpr (Items == 1) {
      return of.get(first);
    } else {
      const T left = reduce_group<Items / 2>(of, first, op);
      return static_cast<T>(op(left, reduce_group<Items / 2>(of, first + Items / 2, op)));
    }
  }

  const int lane_;
  const typename places::template lanes<lanes> place_;
  const bool is_full_; // all items of the lane are valid; so are those of a full row's other lanes
};

/// The items of a lane of warp `warp` of a tile's team. The tile is `tile`; it is in `stage`, and
/// has `valid` valid items. `Full`: the tile is full.
template <class Problem, bool Full>
class blocked_rows {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using places = struct_tile<Problem, 1>; // places do not depend on the number of copying warps
  using group = struct_group<T>;
  static constexpr int size = static_cast<int>(sizeof(T)), granule = struct_granule;
  static constexpr int items = places::lane_items, row_lanes = shape::row_vectors / items;
  static constexpr int group_items = group::items, groups = items / group_items;
  static_assert(items % group_items == 0, "a lane has whole groups of items");
  /// Whether V is computed before the wait for the prefix. Shares of a copy's speed (H200, 0.6 to
  /// 1.1 GB, inclusive and exclusive), computed before and after the wait:
  ///             12 bytes   24 bytes   32 bytes   40 bytes   48 bytes   64 bytes
  ///   before   .974 .985  .914 .917  .913 .932  .801 .770  .821 .801  .848 .868
  ///   after    .973 .984  .901 .904  .927 .930  .800 .803  .824 .827  .828 .842
  static constexpr bool early = sizeof(T) <= 24 || sizeof(T) > 48;

public:
  LOOKBACK_DEVICE blocked_rows(const Problem &problem, unsigned char *stage, unsigned tile,
                               int valid, int warp)
      : problem_(problem), stage_(stage), tile_(tile), valid_(valid), warp_(warp),
        place_(stage, lane_of_tile()) {
    const int left = valid - lane_of_tile() * items;
    count_ = Full || left > items ? items : left < 0 ? 0 : left;
  }

  /// Scans the items, and stores the results of the tile. prefix_of() waits until `row_prefixes`
  /// has R of the rows and the tile's prefix is ready, and returns the prefix. Before, no result
  /// may be put into the stage: a warp may still be reducing the tile.
  template <class PrefixOf, class Operator>
  LOOKBACK_DEVICE void scan(PrefixOf prefix_of,
                            const uninitialized_array<T, shape::tile_rows> &row_prefixes,
                            Operator &op) const {
    maybe<T> prefix;
    if constexpr (!early) prefix = prefix_of();
    lane_values V; // of the lane's items, inclusive
    read(V);
    step<1>(V, op);
    uninitialized_array<T, 1> before; // V of the item before the lane's
    if constexpr (row_lanes > 1) construct(before[0], simt::shuffle_up(V[items - 1], 1));
    if constexpr (early) prefix = prefix_of();
    if (row() > 0 && count_ > 0) prefix.append(op, row_prefixes[row() - 1]); // mutant: blocked-row
    // Without an initial value, only the scan's first row has no prefix. Warps whose lanes all have
    // one run code without that branch.
    constexpr bool always = Problem::initial_type::exists;
    if (always || LOOKBACK_LIKELY(simt::all_of_warp(prefix.exists() || count_ == 0)))
      scan_items<true>(prefix, V, before[0], op);
    else
      scan_items<false>(prefix, V, before[0], op);
    simt::synchronize_warp(); // mutant: blocked-results
    store();
  }

private:
  using lane_values = uninitialized_array<T, items>;

  /// The items of the lane.
  LOOKBACK_DEVICE void read(lane_values &x) const {
    LOOKBACK_UNROLL
    for (int g = 0; g < groups; ++g) {
      const group read = read_group(g);
      LOOKBACK_UNROLL
      for (int k = 0; k < group_items; ++k)
        if (g * group_items + k < count_) construct(x[g * group_items + k], read.get(k));
    }
  }
  /// Puts the results of the lane's items into their places. `before`: V of the item before the
  /// lane's, if that is in the same row. `HasPrefix`: all lanes with items have a prefix.
  /// (What is put there for items that are not valid is not stored.)
  template <bool HasPrefix, class Operator>
  LOOKBACK_DEVICE void scan_items(const maybe<T> &prefix, const lane_values &V, const T &before,
                                  Operator &op) const {
    const auto after_prefix = [&](const T &right) {
      return HasPrefix || prefix.exists() ? static_cast<T>(op(prefix.value(), right)) : right;
    };
    const bool begins_row = row_lanes == 1 || lane_of_row() == 0; // mutant: blocked-before
    LOOKBACK_UNROLL
    for (int g = 0; g < groups; ++g) {
      group results;
      if constexpr (Problem::inclusive) results = read_group(g);
      LOOKBACK_UNROLL
      for (int k = 0; k < group_items; ++k) {
        const int i = g * group_items + k;
        if (i >= count_) break;
        if (i == 0 && begins_row) {
          if constexpr (Problem::inclusive)
            results.set(k, after_prefix(results.get(k)));
          else
            results.set(k, prefix.value());
        } else {
          const T left = after_prefix(i > 0 ? V[i - 1] : before);
          if constexpr (Problem::inclusive)
            results.set(k, static_cast<T>(op(left, results.get(k))));
          else
            results.set(k, left);
        }
      }
      results.write(place_, g);
    }
  }

  LOOKBACK_DEVICE static int lane_of_row() { return simt::lane_index() % row_lanes; }
  LOOKBACK_DEVICE int lane_of_tile() const {
    return warp_ * simt::warp_threads + simt::lane_index();
  }
  LOOKBACK_DEVICE int row() const { return lane_of_tile() / row_lanes; }
  LOOKBACK_DEVICE group read_group(int g) const { return group::read(place_, g); }

  /// The steps of the row's network from distance `Distance` on. Of the items whose distances are
  /// multiples of it, the last comes first, since each takes the value that another had before.
  template <int Distance, class Operator>
  LOOKBACK_DEVICE void step(lane_values &V, Operator &op) const {
    constexpr bool within = Distance < items;
    constexpr int chains = within ? Distance : items, links = items / chains,
                  lanes = within ? 1 : Distance / items;
    LOOKBACK_UNROLL
    for (int j = 0; j < chains; ++j) {
      uninitialized_array<T, 1> left; // from an earlier lane of the row
      if constexpr (row_lanes > 1)
        construct(left[0], simt::shuffle_up(V[(links - 1) * chains + j], lanes));
      LOOKBACK_UNROLL
      for (int k = links - 1; k > 0; --k) {
        const int i = k * chains + j;
        if (i < count_) construct(V[i], static_cast<T>(op(V[i - chains], V[i])));
      }
      if (row_lanes > 1 && lane_of_row() >= lanes && j < count_)
        construct(V[j], static_cast<T>(op(left[0], V[j])));
    }
    if constexpr (Distance * 2 < shape::row_vectors) step<Distance * 2>(V, op);
  }

  /// Stores what stands in the warp's part of the stage.
  LOOKBACK_DEVICE void store() const {
    constexpr int bytes = simt::warp_threads * places::lane_granules * granule; // of a warp
    auto *const to =
        reinterpret_cast<unsigned char *>(
            problem_.sink.output + static_cast<std::ptrdiff_t>(tile_) * shape::tile_elements) +
        warp_ * bytes;
    const int lane = simt::lane_index(), first_lane = warp_ * simt::warp_threads;
    if constexpr (Full) {
      const typename places::steps_from place(stage_, first_lane);
      LOOKBACK_UNROLL
      for (int k = 0; k < places::lane_granules; ++k)
        simt::store_vector<granule>(to + lane * granule + k * simt::warp_threads * granule,
                                    simt::load_vector<granule>(place(k)));
    } else {
      const int left = valid_ * size - warp_ * bytes; // none, if negative
      places::each_piece(stage_, first_lane, left < bytes ? left : bytes, lane, simt::warp_threads,
                         [&](auto vector, unsigned char *place, int offset) {
                           simt::store_vector<vector.value>(to + offset,
                                                            simt::load_vector<vector.value>(place));
                         });
    }
  }

  const Problem &problem_;
  unsigned char *const stage_;
  const unsigned tile_;
  const int valid_, warp_;
  const typename places::template lanes<1> place_;
  int count_; // of the lane's items
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
