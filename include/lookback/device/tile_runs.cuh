// SPDX-License-Identifier: MIT
// What a scanning warp of the pipeline (device/look_ahead.cuh) does with its share of a tile of 16-byte integers: a run of elements a
// lane, where it has rows otherwise.
#pragma once

#include <lookback/block/lane_run.cuh>
#include <lookback/block/warp_shuffle.cuh>

namespace lookback::detail {

/// The share of warp `warp` of `Warps` of tile `tile`, which waits in `stage` and of which `existing` elements exist; what a run lacks
/// counts as zero. `Full`: nothing.
template <class Problem, class Source, int Warps, bool Full>
class tile_runs {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using stored = typename Problem::stored;
  static constexpr int length = shape::tile_rows / Warps; // of a run, and rows of a warp
  using run_type = lane_run<T, length>;

public:
  LOOKBACK_DEVICE tile_runs(const Problem &problem, const Source &source, unsigned char *stage, unsigned tile,
                            int existing, int warp)
      : problem_(problem), source_(source), stage_(stage), tile_(tile), existing_(existing), warp_(warp) {}

  /// Sum of the runs up to this lane's.
  template <class Operator>
  LOOKBACK_DEVICE T reduce(Operator &op) const {
    T x[length];
    read(x);
    typename lane_exchange<T>::storage nothing;
    lane_exchange<T> exchange(nothing);
    uninitialized_array<T, 1> sums;
    construct(sums[0], run_type::sum(x));
    warp_inclusive_scan<1>(
        sums, [](int) { return simt::warp_threads; }, op, exchange);
    return sums[0];
  }

  /// Results, from the sum of everything left of the warp's share and from what reduce() returned.
  LOOKBACK_DEVICE void scan(T left, T reduced) const {
    T x[length];
    read(x);
    const run_type run;
    run.template scan<Problem::inclusive>(run_type::add(left, run_type::subtract(reduced, run_type::sum(x))), x);
    write(run, x);
  }

private:
  LOOKBACK_DEVICE void read(T (&x)[length]) const {
    const run_type run;
    LOOKBACK_UNROLL
    for (int k = 0; k < length; ++k) {
      const int i = warp_ * length * simt::warp_threads + run.element(k); // of the tile
      const auto vector = source_.read_element(stage_, i);
      x[k] = Full || i < existing_ ? static_cast<T>(vector.get(0)) : T{};
    }
  }
  /// Memory wants rows, not runs: results take the places of their elements, and leave from there.
  LOOKBACK_DEVICE void write(const run_type &run, const T (&x)[length]) const {
    const int lane = simt::lane_index();
    auto *const places = source_.template row_of<true>(stage_, warp_ * length);
    const auto place = [=](int i) { return reinterpret_cast<stored *>(places + i); };
    LOOKBACK_UNROLL
    for (int k = 0; k < length; ++k) construct(*place(run.element(k)), static_cast<stored>(x[k]));
    simt::synchronize_warp();
    stored *const output = problem_.output + static_cast<std::ptrdiff_t>(tile_) * shape::tile_elements;
    LOOKBACK_UNROLL
    for (int r = 0; r < length; ++r) {
      const int i = (warp_ * length + r) * simt::warp_threads + lane;
      lane_vector<stored, 1> result;
      result.set(0, *place(r * simt::warp_threads + lane));
      if (Full || i < existing_) simt::store_vector<16>(output + i, result.words);
    }
  }

  const Problem &problem_;
  const Source &source_;
  unsigned char *const stage_;
  const unsigned tile_;
  const int existing_, warp_;
};

} // namespace lookback::detail
