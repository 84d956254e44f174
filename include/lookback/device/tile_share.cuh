// SPDX-License-Identifier: MIT
// What a scanning warp of the pipeline (device/look_ahead.cuh) does with its share of a tile: its rows in the tree's order, or, where
// any order gives the same bits and fewer exchanges count, a run of elements a lane.
#pragma once

#include <lookback/block/lane_run.cuh>
#include <lookback/block/warp_shuffle.cuh>

namespace lookback::detail {

/// The share of warp `warp` of `Warps` of tile `tile`, which waits in `stage` and has `existing` elements. `Full`: all that a tile
/// can have; `Aligned`: to 16 bytes in memory.
///
///   section     what one total is told of: a row, or all that a warp has
template <class Problem, class Source, int Warps, bool Full, bool Aligned>
class tile_share {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using stored = typename Problem::stored;
  static constexpr int E = shape::vector_elements;
  static constexpr int rows = shape::tile_rows / Warps; // of a warp
  static constexpr bool in_runs = adds_runs<Problem>;
  using run_type = lane_run<T, rows>;

public:
  static constexpr int sections = in_runs ? Warps : shape::tile_rows; // of a tile
  static constexpr int kept = in_runs ? 1 : rows; // totals that a lane keeps from reduce() to scan()
  static constexpr bool writes_stage = in_runs;
  using section_values = uninitialized_array<T, shape::tile_rows>;

  /// Sections of a tile of `existing` elements that have a total. What a run lacks is zero.
  LOOKBACK_DEVICE static int whole_sections(int existing) {
    return in_runs ? sections : existing / shape::row_elements;
  }

  LOOKBACK_DEVICE tile_share(const Problem &problem, const Source &source, decltype(Problem::op) &op,
                             unsigned char *stage, unsigned tile, int existing, int warp)
      : problem_(problem), source_(source), op_(op), stage_(stage), tile_(tile), existing_(existing), warp_(warp) {}

  /// V(lane), inclusive, of the rows, or of the runs, to `totals`; totals of sections to `section_totals`, by lane 31.
  LOOKBACK_DEVICE void reduce(uninitialized_array<T, kept> &totals, section_values &section_totals) {
    lane_exchange<T> exchange(nothing_);
    const bool is_last = simt::lane_index() == shape::row_vectors - 1;
    if constexpr (in_runs) {
      T x[rows];
      read_run(x);
      construct(totals[0], run_type::sum(x));
      warp_inclusive_scan<1>(
          totals, [](int) { return simt::warp_threads; }, op_, exchange);
      if (is_last) construct(section_totals[warp_], totals[0]);
    } else {
      LOOKBACK_UNROLL
      for (int r = 0; r < rows; ++r) {
        const auto vector = source_.template read<Aligned>(stage_, tile_, row(r), holds(r) ? E : 0);
        if (holds(r)) construct(totals[r], fold_lane<Problem>(vector, op_));
      }
      warp_inclusive_scan<rows>(
          totals, [&](int r) { return whole_vectors(r); }, op_, exchange);
      LOOKBACK_UNROLL
      for (int r = 0; r < rows; ++r)
        if (is_last && holds(r)) construct(section_totals[row(r)], totals[r]);
    }
  }

  /// Results, from `prefix`, everything left of the tile, from the scanned totals of its sections and from what reduce() left.
  LOOKBACK_DEVICE void scan(const maybe<T> &prefix, const section_values &section_prefixes,
                            const uninitialized_array<T, kept> &totals) {
    if constexpr (in_runs) {
      T left = prefix.exists() ? prefix.value() : T{};
      if (warp_ > 0) left = run_type::add(left, section_prefixes[warp_ - 1]);
      T x[rows];
      read_run(x);
      const run_type run;
      run.template scan<Problem::inclusive>(run_type::add(left, run_type::subtract(totals[0], run_type::sum(x))), x);
      write_run(run, x);
    } else {
      LOOKBACK_UNROLL
      for (int r = 0; r < rows; ++r) {
        if (elements(r) == 0) break;
        scan_row(r, prefix, section_prefixes, totals);
      }
    }
  }

private:
  LOOKBACK_DEVICE int row(int r) const { return warp_ * rows + r; }
  /// Elements that exist of row `r` of this warp, and vectors that are whole.
  LOOKBACK_DEVICE int elements(int r) const {
    if (Full) return shape::row_elements;
    const int left = existing_ - row(r) * shape::row_elements;
    return left > shape::row_elements ? shape::row_elements : left < 0 ? 0 : left;
  }
  LOOKBACK_DEVICE int whole_vectors(int r) const { return elements(r) / E; }
  LOOKBACK_DEVICE bool holds(int r) const { return simt::lane_index() < whole_vectors(r); }

  LOOKBACK_DEVICE void scan_row(int r, const maybe<T> &prefix, const section_values &section_prefixes,
                                const uninitialized_array<T, kept> &totals) {
    const int lane = simt::lane_index(), count = Full ? E : elements(r) - lane * E;
    lane_exchange<T> exchange(nothing_);
    maybe<T> base = prefix;
    if (row(r) > 0) base.append(op_, section_prefixes[row(r) - 1]);
    // Exchanged before the elements are read: 0.2 to 0.7 % of by key and 8-byte sums on an H200, in programs apart.
    const T beside = exchange.up(totals[r], 1, true);
    if (lane > 0 && count > 0) base.append(op_, beside);
    const auto vector = source_.template read<Aligned>(stage_, tile_, row(r), count);
    lane_vector<stored, E> results;
    scan_lane(problem_, base, count, vector, op_, results);
    write_row(r, results);
  }
  LOOKBACK_DEVICE void write_row(int r, const lane_vector<stored, E> &results) {
    stored *const output = problem_.output + static_cast<std::ptrdiff_t>(tile_) * shape::tile_elements;
    store_row<E, false, true>(output + row(r) * shape::row_elements, elements(r), moves_as_vectors<stored, E>(output),
                              nullptr, results);
  }

  LOOKBACK_DEVICE void read_run(T (&x)[rows]) const {
    const run_type run;
    LOOKBACK_UNROLL
    for (int k = 0; k < rows; ++k) {
      const int i = row(0) * simt::warp_threads + run.element(k); // of the tile
      const auto vector = source_.read_element(stage_, i);
      x[k] = Full || i < existing_ ? static_cast<T>(vector.get(0)) : T{};
    }
  }
  /// Memory wants rows, not runs: results take the places of their elements, and leave from there.
  LOOKBACK_DEVICE void write_run(const run_type &run, const T (&x)[rows]) {
    auto *const places = source_.template row_of<Aligned>(stage_, row(0));
    const auto place = [=](int i) { return reinterpret_cast<stored *>(places + i); };
    LOOKBACK_UNROLL
    for (int k = 0; k < rows; ++k) construct(*place(run.element(k)), static_cast<stored>(x[k]));
    simt::synchronize_warp();
    LOOKBACK_UNROLL
    for (int r = 0; r < rows; ++r) {
      lane_vector<stored, E> results;
      if (simt::lane_index() < elements(r)) results.set(0, *place(r * simt::warp_threads + simt::lane_index()));
      write_row(r, results);
    }
  }

  const Problem &problem_;
  const Source &source_;
  decltype(Problem::op) &op_;
  unsigned char *const stage_;
  const unsigned tile_;
  const int existing_, warp_;
  typename lane_exchange<T>::storage nothing_;
};

} // namespace lookback::detail
