// SPDX-License-Identifier: MIT
// Elements or accumulators that are too large for a tile of them to wait in shared memory: one warp
// a tile, its lanes' values in their own memory. The tree, the look-back and the bits are those of
// device/decoupled_look_back.cuh; the speed is not.
//
// n elements read once (twice where a tile has more than one a lane), n written once.
#pragma once

#include <lookback/block/transfer.cuh>
#include <lookback/device/early_initial.cuh>
#include <lookback/device/look_back.cuh>

namespace lookback::detail {

/// Bytes that an element or an accumulator may have. A thread keeps about a dozen values in local
/// memory, of which it may have 512 KB, and a kernel by key has three among its parameters, which
/// may have 32 KB.
inline constexpr std::size_t large_bytes_at_most = 4096;

/// One tile, by one warp.
template <class Problem>
class large_scan {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using source = element_source<typename Problem::input_type>;
  static constexpr int E = shape::vector_elements, rows = shape::tile_rows;
  static constexpr bool keeps_element = E * rows == 1; // a lane has one, and reads it once
  static_assert(keeps_element || !boundary_of<typename Problem::input_type>::exists,
                "keys that results may overwrite must be read only once");

public:
  struct storage {
    typename lane_exchange<T>::storage exchange;
    uninitialized_array<T, 1> initial; // read early
    unsigned ticket;
  };

  /// Tile `tile` of a scan of n elements.
  LOOKBACK_DEVICE large_scan(const Problem &problem, std::uint64_t n, unsigned tile,
                             storage &shared)
      : problem_(problem), op_(problem.op), exchange_(shared.exchange), shared_(shared),
        tile_(tile), first_(static_cast<std::ptrdiff_t>(tile) * shape::tile_elements),
        input_(problem.input + first_) {
    const std::uint64_t left = n - static_cast<std::uint64_t>(first_);
    existing_ = left < shape::tile_elements ? static_cast<int>(left) : shape::tile_elements;
  }

  LOOKBACK_DEVICE void run(const tile_state<T> &state) {
    const bool is_only = simt::block_count() == 1, is_last = tile_ + 1 == simt::block_count();
    const int lane = simt::lane_index(), whole_rows = existing_ / shape::row_elements;
    if (is_only && lane == 0) read_initial(problem_, shared_.initial[0]);

    // ---- reduce: vectors, then rows ----
    uninitialized_array<T, 1> vectors;    // V(lane) of a row, inclusive
    uninitialized_array<T, 1> row_prefix; // R(lane), inclusive
    LOOKBACK_ROLLED
    for (int r = 0; r < (rows == 1 ? 1 : whole_rows); ++r) {
      reduce_row(r, vectors);
      const T &total =
          exchange_.from(vectors[0], shape::row_vectors - 1, lane < elements_of(r) / E);
      if (lane == r && r < whole_rows) construct(row_prefix[0], total);
    }
    if constexpr (rows > 1)
      warp_inclusive_scan<1>(
          row_prefix, [=](int) { return whole_rows; }, op_, exchange_);

    // ---- the prefix of the tile ----
    maybe<T> prefix;
    if (!is_only) {
      maybe<T> total;
      if (!is_last) total.set(exchange_.from(row_prefix[0], rows - 1, lane < whole_rows));
      prefix = look_back(problem_, state, tile_, is_last, total, op_, exchange_);
    } else {
      simt::synchronize_warp(); // the initial value was read
      if constexpr (Problem::initial_type::exists)
        prefix.set(initial_of(problem_, shared_.initial[0]));
    }

    // ---- scan and write ----
    LOOKBACK_ROLLED
    for (int r = 0; r < rows && elements_of(r) > 0; ++r) {
      if constexpr (rows > 1) reduce_row(r, vectors);
      maybe<T> base = prefix;
      if constexpr (rows > 1) {
        const T &above = exchange_.from(row_prefix[0], r > 0 ? r - 1 : 0, lane < whole_rows);
        if (r > 0) base.append(op_, above);
      }
      const int count = elements_of(r) - lane * E;
      const T &left = exchange_.up(vectors[0], 1, lane < elements_of(r) / E);
      if (lane > 0 && count > 0) base.append(op_, left);
      const int place = r * shape::row_elements + lane * E;
      const auto output = problem_.output + first_;
      scan_vector<Problem::inclusive, E, T>(
          base, count, [&](int k) -> decltype(auto) { return element(place + k); }, op_,
          [&](int k, const T &scanned, const T &item) {
            output[place + k] =
                static_cast<typename Problem::stored>(problem_.project(scanned, item));
          });
    }
  }

private:
  /// Elements of row `r` that exist.
  LOOKBACK_DEVICE int elements_of(int r) const {
    const int left = existing_ - r * shape::row_elements;
    return left > shape::row_elements ? shape::row_elements : left < 0 ? 0 : left;
  }
  LOOKBACK_DEVICE T read(int i) const {
    return static_cast<T>(source::finish(input_, source::fetch(input_, i), i));
  }
  /// Element `i` of the tile, one of this lane's.
  LOOKBACK_DEVICE decltype(auto) element(int i) const {
    if constexpr (keeps_element)
      return static_cast<const T &>(kept_[0]);
    else
      return read(i);
  }
  /// V(lane) of the vectors of row `r` that are whole.
  LOOKBACK_DEVICE void reduce_row(int r, uninitialized_array<T, 1> &vectors) {
    const int lane = simt::lane_index(), whole = elements_of(r) / E,
              place = r * shape::row_elements + lane * E;
    if (lane < whole) {
      if constexpr (keeps_element) construct(kept_[0], read(place));
      construct(vectors[0], fold_vector<E, T>(
                                [&](int k) -> decltype(auto) { return element(place + k); }, op_));
    }
    warp_inclusive_scan<1>(
        vectors, [=](int) { return whole; }, op_, exchange_);
  }

  const Problem &problem_;
  decltype(Problem::op) op_;
  lane_exchange<T> exchange_;
  storage &shared_;
  const unsigned tile_;
  const std::ptrdiff_t first_;
  const typename Problem::input_type input_;
  int existing_;
  uninitialized_array<T, 1> kept_;
};

/// One tile alone, or tiles by dynamic ids as in device/decoupled_look_back.cuh.
template <class Problem>
LOOKBACK_KERNEL(simt::warp_threads, 1)
large_scan_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                  const tile_state<typename Problem::accumulator> state, const std::uint64_t n) {
  auto &shared = simt::shared_memory<typename large_scan<Problem>::storage>();
  unsigned tile = 0;
  if (simt::block_count() > 1) {
    // The state is ready, and everything that the scan may overwrite is saved.
    simt::wait_for_previous_kernel();
    if (simt::thread_index() == 0) shared.ticket = simt::fetch_increment(state.next_tile);
    simt::synchronize_block();
    tile = shared.ticket;
  }
  large_scan<Problem>(problem, n, tile, shared).run(state);
}

} // namespace lookback::detail
