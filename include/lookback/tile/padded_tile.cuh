// SPDX-License-Identifier: MIT
// A tile of structs in shared memory, for lanes that each read consecutive items of it, 16 bytes at
// a time. A lane has room for an odd number of these: with an even number, lanes would read from
// the same banks.
#pragma once

#include <lookback/arch/simt_sm90.cuh>
#include <lookback/core/device_count.cuh>
#include <lookback/core/numbers.cuh>
#include <lookback/tile/valid_items.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether an array of structs of 12 to 64 bytes is scanned to another: forward, not by key,
/// without a total, and as many as the host says. A lane then scans consecutive items of a row
/// (tile/blocked_rows.cuh). Their size is a multiple of 4, above 48 bytes of 8: otherwise the
/// fewest items that take whole granules have 52 or 60 words, and registers spill. Structs of 16
/// bytes are vectors of the tree like those of numbers, and are moved and scanned as these are.
/// Whether the arrays are aligned to 16 bytes, only the call knows (strategy/pipeline.cuh).
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
                                sizeof(T) > 8 && sizeof(T) != 16 && sizeof(T) <= 64 &&
                                sizeof(T) % (sizeof(T) <= 48 ? 4 : 8) == 0;
  /// Warps that scan a tile. A lane has items that take whole granules, in at most 96 registers.
  static constexpr int warps = sizeof(T) <= 12                                             ? 1
                               : sizeof(T) <= 24 || (sizeof(T) > 32 && sizeof(T) % 8 != 0) ? 2
                                                                                           : 4;
};

/// A tile of structs in a stage, which `Warps` warps fill. The array begins at a multiple of 16
/// bytes.
template <class Problem, int Warps>
class padded_tile {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;

public:
  static constexpr int granule = 16;
  static constexpr int scanning_lanes = blocks_structs<Problem>::warps * simt::warp_threads;
  static constexpr int lane_items = shape::tile_elements / scanning_lanes;
  static constexpr int lane_granules = lane_items * static_cast<int>(sizeof(T)) / granule;
  static constexpr int lane_room = (lane_granules | 1) * granule;              // bytes
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
