// SPDX-License-Identifier: MIT
// 16-byte integers in the pipeline (strategy/pipeline.cuh): a scanning warp's share of a tile, as
// blocked items of its lanes instead of rows.
#pragma once

#include <lookback/block/blocked_items.cuh>
#include <lookback/block/warp_shuffle.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The share of warp `warp` of `Warps` in tile `tile`, which is in `stage` and has `valid` valid
/// items. Missing items count as zero. `Full`: none are missing.
template <class Problem, class Source, int Warps, bool Full>
class blocked_tile {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using stored = typename Problem::stored;
  static constexpr int length = shape::tile_rows / Warps; // blocked items of a lane; rows of a warp
  using items_type = blocked_items<T, length>;

public:
  LOOKBACK_DEVICE blocked_tile(const Problem &problem, const Source &source, unsigned char *stage,
                               unsigned tile, int valid, int warp)
      : problem_(problem), source_(source), stage_(stage), tile_(tile), valid_(valid), warp_(warp) {
  }

  /// Aggregate of the warp's items up to the last item of this lane.
  template <class Operator>
  LOOKBACK_DEVICE T reduce(Operator &op) const {
    T x[length];
    read(x);
    typename lane_exchange<T>::storage nothing;
    lane_exchange<T> exchange(nothing);
    uninitialized_array<T, 1> sums;
    construct(sums[0], items_type::sum(x));
    warp_inclusive_scan<1>(
        sums, [](int) { return simt::warp_threads; }, op, exchange);
    return sums[0];
  }

  /// Scans the share and stores the results. `left` is everything to the left of the share, and
  /// `reduced` is what reduce() returned.
  LOOKBACK_DEVICE void scan(T left, T reduced) const {
    T x[length];
    read(x);
    const items_type items;
    items.template scan<Problem::inclusive>(
        items_type::add(left, items_type::subtract(reduced, items_type::sum(x))), x);
    write(items, x);
  }

private:
  LOOKBACK_DEVICE void read(T (&x)[length]) const {
    const items_type items;
    LOOKBACK_UNROLL
    for (int k = 0; k < length; ++k) {
      const int i = warp_ * length * simt::warp_threads + items.element(k); // of the tile
      const auto vector = source_.read_element(stage_, i);
      x[k] = Full || i < valid_ ? static_cast<T>(vector.get(0)) : T{};
    }
  }
  /// Stores coalesce for rows, not for blocked items: results first overwrite their elements in
  /// shared memory, and are stored from there by rows.
  LOOKBACK_DEVICE void write(const items_type &items, const T (&x)[length]) const {
    const int lane = simt::lane_index();
    auto *const places = source_.template row_of<true>(stage_, warp_ * length);
    const auto place = [=](int i) { return reinterpret_cast<stored *>(places + i); };
    LOOKBACK_UNROLL
    for (int k = 0; k < length; ++k) construct(*place(items.element(k)), static_cast<stored>(x[k]));
    simt::synchronize_warp(); // mutant: results-by-lane
    stored *const output =
        problem_.sink.output + static_cast<std::ptrdiff_t>(tile_) * shape::tile_elements;
    LOOKBACK_UNROLL
    for (int r = 0; r < length; ++r) {
      const int i = (warp_ * length + r) * simt::warp_threads + lane;
      lane_vector<stored, 1> result;
      result.set(0, *place(r * simt::warp_threads + lane));
      if (Full || i < valid_) simt::store_vector<16>(output + i, result.words);
    }
  }

  const Problem &problem_;
  const Source &source_;
  unsigned char *const stage_;
  const unsigned tile_;
  const int valid_, warp_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
