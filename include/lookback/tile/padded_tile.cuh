// SPDX-License-Identifier: MIT
// A tile of structs in shared memory, for lanes that each read consecutive items of it, 16 bytes at
// a time. Behind the bytes of every lane there are 16 bytes of padding: without them, lanes would
// read from the same banks.
#pragma once

#include <lookback/arch/simt_sm90.cuh>
#include <lookback/core/device_count.cuh>
#include <lookback/core/numbers.cuh>
#include <lookback/tile/valid_items.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether an array of structs of 12 to 64 bytes, a multiple of 4 but not 16, is scanned to
/// another: forward, not by key, without a total, and as many as the host says. A lane then scans
/// consecutive items of a row (tile/blocked_rows.cuh). Whether the arrays are aligned to 16 bytes,
/// only the call knows (strategy/pipeline.cuh). Structs of 16 bytes are vectors of the tree like
/// those of numbers, and are moved and scanned as these are.
template <class Problem>
struct blocks_structs {
  using T = typename Problem::accumulator;
  using output = typename Problem::output_type;
  static constexpr bool from_array = std::is_same<typename Problem::input_type, T *>::value ||
                                     std::is_same<typename Problem::input_type, const T *>::value;
  static constexpr bool value = from_array && std::is_same<output, T *>::value &&
                                std::is_same<typename Problem::sink_type, dense<output>>::value &&
                                !counts_on_device<Problem> && !is_number<T> &&
                                std::is_trivially_copyable<T>::value && alignof(T) <= 16 &&
                                sizeof(T) % 4 == 0 && sizeof(T) > 8 && sizeof(T) <= 64 &&
                                sizeof(T) != 16;
  /// Warps that scan a tile. The items of a lane take at most 96 registers.
  static constexpr int warps = sizeof(T) * Problem::shape::tile_rows <= 384 ? 1 : 2;
};

/// `Warps` warps fill it. The array begins at a multiple of 16 bytes.
template <class Problem, int Warps>
class padded_tile {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;

public:
  static constexpr int granule = 16;
  static constexpr int scanning_lanes = blocks_structs<Problem>::warps * simt::warp_threads;
  static constexpr int lane_items = shape::tile_elements / scanning_lanes;
  static constexpr int lane_granules = lane_items * static_cast<int>(sizeof(T)) / granule;
  static constexpr int lane_room = (lane_granules + 1) * granule;              // bytes
  static constexpr int steps = blocks_structs<Problem>::warps * lane_granules; // if one warp copies
  static constexpr unsigned bytes = scanning_lanes * lane_room;
  static_assert(shape::vector_elements == 1 && shape::row_elements == simt::warp_threads,
                "a vector of the tree must be one item");

  LOOKBACK_DEVICE explicit padded_tile(const Problem &problem) : input_(problem.input) {}
  LOOKBACK_DEVICE static constexpr bool aligned() { return true; }

  /// Where granule 32 * k + lane of the tile is. Every `period` steps of k the padding repeats, so
  /// few addresses have to be computed if k is a constant.
  LOOKBACK_DEVICE static unsigned char *place(unsigned char *stage, int k) {
    const int i = k % period * simt::warp_threads + simt::lane_index();
    constexpr int rooms = period * simt::warp_threads / lane_granules; // of `period` steps
    return stage + k / period * (rooms * lane_room) + (i + i / lane_granules * padding) * granule;
  }
  /// Where word `i` of the tile is.
  LOOKBACK_DEVICE static unsigned char *place_of_word(unsigned char *stage, int i) {
    return stage + i * 4 + i / (lane_granules * granule / 4) * (padding * granule);
  }

#if LOOKBACK_TARGETS_SM_80
  /// Starts the copies of warp `share` of `Warps`. When they are complete, every lane of these
  /// warps has arrived at `copied`.
  template <int>
  LOOKBACK_DEVICE void load(unsigned char *stage, unsigned tile, const valid_items<shape> &valid,
                            int share, simt::barrier &copied) const {
    const auto *const from = reinterpret_cast<const unsigned char *>(
        input_ + static_cast<std::ptrdiff_t>(tile) * shape::tile_elements);
    const int lane = simt::lane_index();
    if (LOOKBACK_LIKELY(valid.fill_tile())) {
      LOOKBACK_UNROLL
      for (int k = 0; k < steps; k += Warps)
        if (steps % Warps == 0 || k + share < steps)
          simt::copy_vector_async(place(stage, k + share),
                                  from + ((k + share) * simt::warp_threads + lane) * granule);
      simt::arrive_when_copied(copied); // mutant: padded-copies
    } else {
      const int words = valid.of_tile * static_cast<int>(sizeof(T)) / 4;
      LOOKBACK_ROLLED
      for (int i = share * simt::warp_threads + lane; i < words; i += Warps * simt::warp_threads)
        simt::store_shared<4>(place_of_word(stage, i), simt::load_vector<4>(from + i * 4));
      simt::arrive(copied); // every lane has written its own words // mutant: padded-arrive
    }
  }
#endif

#if LOOKBACK_TARGETS_SM_90
  /// Starts the same copies in bulk, one for each scanning lane. They complete on `copied`. Called
  /// by one thread, which itself copies what is left of the last 16 bytes.
  struct plan {
    unsigned bytes; // of the tile
  };
  LOOKBACK_DEVICE static plan plan_of(unsigned, int valid) {
    return {static_cast<unsigned>(valid) * static_cast<unsigned>(sizeof(T))};
  }
  LOOKBACK_DEVICE void fill(unsigned char *stage, unsigned tile, int, const plan &bulk,
                            simt::barrier &copied, simt::cache_policy policy) const {
    constexpr unsigned lane_bytes = lane_granules * granule;
    const auto *from = reinterpret_cast<const unsigned char *>(
        input_ + static_cast<std::ptrdiff_t>(tile) * shape::tile_elements);
    const unsigned whole = bulk.bytes / granule * granule;
    for (unsigned at = whole; at < bulk.bytes; at += 4)
      simt::store_shared<4>(place_of_word(stage, static_cast<int>(at / 4)),
                            simt::load_vector<4>(from + at));
    simt::fence_before_bulk_copy();         // of results, which threads have written to the stage
    simt::arrive_and_expect(copied, whole); // mutant: padded-bytes
    LOOKBACK_ROLLED
    for (unsigned at = 0; at < whole; at += lane_bytes, from += lane_bytes, stage += lane_room)
      simt::bulk_copy(stage, from, whole - at < lane_bytes ? whole - at : lane_bytes, copied,
                      policy);
  }
#endif

private:
  static constexpr int padding = lane_room / granule - lane_granules; // granules a lane
  static constexpr int largest_power = lane_granules & -lane_granules,
                       period = lane_granules / (largest_power < simt::warp_threads
                                                     ? largest_power
                                                     : simt::warp_threads);
  const T *const input_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
