// SPDX-License-Identifier: MIT
// The input of a tile in shared memory: as bytes where it can be, as elements where it cannot.
#pragma once

#include <lookback/tile/staged_tile.cuh>
#include <lookback/tile/valid_items.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Any iterator: the elements themselves are in shared memory. Each of `Warps` warps fetches its
/// own rows.
template <class Problem, int Warps>
class item_tile {
  using item = typename Problem::item;
  using shape = typename Problem::shape;
  static constexpr int E = shape::vector_elements;
  static constexpr int rows = shape::tile_rows / Warps;
  static_assert(shape::tile_rows % Warps == 0, "all warps must have the same number of rows");

public:
  using first_type = item; // of the elements at row_of()
  static constexpr bool shifts = false;
  static constexpr unsigned bytes = shape::tile_elements * sizeof(item);
  static constexpr unsigned alignment = alignof(item) > 16 ? alignof(item) : 16;

  LOOKBACK_DEVICE explicit item_tile(const Problem &problem) : problem_(problem) {}

  template <bool>
  LOOKBACK_DEVICE void fetch(unsigned char *stage, unsigned tile, int items) const {
    fetch_share<fetched_at_once<typename Problem::input_type>>(
        stage, tile, valid_items<shape>{items}, simt::warp_index());
  }
#if LOOKBACK_TARGETS_SM_80
  /// Loads the rows of warp `share` of `Warps`, with `AtOnce` loads of a lane on their way at once.
  /// Every lane of these warps arrives at `loaded`.
  template <int AtOnce>
  LOOKBACK_DEVICE void load(unsigned char *stage, unsigned tile, const valid_items<shape> &valid,
                            int share, simt::barrier &loaded) const {
    if (valid.fill_tile())
      fetch_share<AtOnce>(stage, tile, valid_items<shape, true>{}, share);
    else
      fetch_share<AtOnce>(stage, tile, valid, share);
    // Every lane arrives: it has written its own items.
    simt::arrive(loaded); // mutant: load-arrive
  }
#endif
  LOOKBACK_DEVICE static void finish() { simt::synchronize_warp(); } // mutant: fetch-items
  LOOKBACK_DEVICE static constexpr bool aligned() { return true; }
  LOOKBACK_DEVICE void prefetch(unsigned) const {} // an iterator cannot be prefetched

  class elements {
  public:
    LOOKBACK_DEVICE elements(const item *row, int count) { read_vector<E>(row, count, vector_); }
    LOOKBACK_DEVICE decltype(auto) get(int k) const { return vector_.get(k); }

  private:
    lane_vector<item, E> vector_;
  };
  template <bool>
  LOOKBACK_DEVICE elements read(unsigned char *stage, unsigned, int row, int count) const {
    return elements(row_of(stage, row), count);
  }
  template <bool KnownAligned = true, int A = 0>
  LOOKBACK_DEVICE item *row_of(unsigned char *stage, int row) const {
    return reinterpret_cast<item *>(stage) + row * shape::row_elements;
  }

private:
  template <int AtOnce, bool Full>
  LOOKBACK_DEVICE void fetch_share(unsigned char *stage, unsigned tile,
                                   const valid_items<shape, Full> &valid, int share) const {
    const int first_row = share * rows;
    const auto first =
        static_cast<std::ptrdiff_t>(tile) * shape::tile_elements + first_row * shape::row_elements;
    fetch_rows<E, rows, AtOnce>(
        problem_.input + first, [=](int i) { return valid.of_row(first_row + i); },
        row_of(stage, first_row));
  }

  const Problem &problem_;
};

template <class Problem>
inline constexpr bool can_stage =
    staged_input<typename Problem::input_type>::template possible<Problem::shape::vector_elements>;

/// Arrays that wait in shared memory as bytes; 0 if the input's elements do.
template <class Problem, bool = can_stage<Problem>>
inline constexpr int staged_arrays = staged_input<typename Problem::input_type>::arrays;
template <class Problem>
inline constexpr int staged_arrays<Problem, false> = 0;

/// Whether a problem by key adds up integers, which wait in shared memory as bytes.
template <class Problem, class Operator = decltype(Problem::op)>
inline constexpr bool adds_by_key = false;
template <class Problem, class T>
inline constexpr bool adds_by_key<Problem, segmented_operator<T, plus>> =
    can_stage<Problem> &&boundary_of<typename Problem::input_type>::exists &&is_integer<T> &&
    sizeof(T) <= 8;

/// Whether lanes can load the items of a tile into a ring of stages: the items are trivially
/// copyable, and not by key, where results may overwrite a key before it is read.
template <class Problem>
inline constexpr bool can_load = std::is_trivially_copyable<typename Problem::item>::value &&
                                 !boundary_of<typename Problem::input_type>::exists;

/// Unaligned vectors of elements of at least 4 bytes are gathered instead of shifted. That is
/// slower but takes less code, which counts for so many kernels, and the pipeline takes the long
/// inputs.
template <class Problem, int Warps>
using tile_source = std::conditional_t<can_stage<Problem>, staged_tile<Problem, Warps, false>,
                                       item_tile<Problem, Warps>>;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
