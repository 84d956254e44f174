// SPDX-License-Identifier: MIT
// A tile of structs in shared memory, for lanes that each read consecutive items of it, a granule
// of 16 bytes at a time. Eight lanes read at once, and their granules must be in different places
// of lines of 128 bytes, which have the same banks. So the granules of a line are permuted: granule
// g of the tile is in place g ^ f, where f is the same for a whole line, and differs between lanes
// whose granules would be in the same place. (With padding instead, a line of memory would be
// copied to parts of two lines: three times as many wavefronts for copies of 24 bytes, measured.)
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

inline constexpr int struct_granule = 16; // bytes

/// A tile of structs in a stage, which `Warps` warps fill, one warp reduces and a team scans. The
/// array begins at a multiple of 16 bytes.
template <class Problem, int Warps>
class struct_tile {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;

public:
  static constexpr int granule = struct_granule, line_granules = 8;
  static constexpr int scanning_lanes = blocks_structs<Problem>::warps * simt::warp_threads;
  static constexpr int lane_items = shape::tile_elements / scanning_lanes;
  static constexpr int lane_granules = lane_items * static_cast<int>(sizeof(T)) / granule;
  static constexpr int steps = blocks_structs<Problem>::warps * lane_granules; // if one warp copies
  static constexpr unsigned bytes = scanning_lanes * lane_granules * granule;
  static_assert(shape::vector_elements == 1 && shape::row_elements == simt::warp_threads,
                "a vector of the tree must be one item");

  LOOKBACK_DEVICE explicit struct_tile(const Problem &problem) : input_(problem.input) {}
  LOOKBACK_DEVICE static constexpr bool aligned() { return true; }

private:
  // The fewest lanes whose granules are whole lines. They have the same f.
  static constexpr int power = lane_granules & -lane_granules,
                       lanes_in_lines = power < line_granules ? line_granules / power : 1;
  static constexpr bool same_lanes = scanning_lanes == simt::warp_threads; // in both passes
  // With an odd number of granules a lane, scanning lanes need no f. Without it, addresses are
  // sums, which take fewer registers.
  static constexpr bool permutes = !same_lanes || lanes_in_lines < line_granules;
  // The fewest steps that take the granules of all lanes until f repeats.
  static constexpr int repeats = (lanes_in_lines > 1 ? lanes_in_lines * line_granules
                                  : same_lanes       ? line_granules
                                                     : line_granules * line_granules) *
                                 lane_granules,
                       repeats_power = repeats & -repeats,
                       period = repeats / (repeats_power < simt::warp_threads ? repeats_power
                                                                              : simt::warp_threads);

public:
  /// Where the granules of a lane are: of one that scans the tile, or, with `Lanes` above 1, of one
  /// that reduces it and has the items of so many scanning ones.
  template <int Lanes>
  class lanes {
  public:
    /// `first`: the first of these scanning lanes, a multiple of `Lanes`.
    LOOKBACK_DEVICE lanes(unsigned char *stage, int first)
        : stage_(stage), begin_(simt::anew((first * lane_granules) ^ (whole ? f_of(first) : 0))),
          f_(whole || !permutes ? 0 : simt::anew(f_of(first))) {}

    LOOKBACK_DEVICE unsigned char *operator()(int g) const {
      if constexpr (whole) // f of the first lane ^ f of the distance to it
        return stage_ + (begin_ ^ (g % line_granules ^ f_of(g / lane_granules))) * granule +
               g / line_granules * (line_granules * granule);
      return stage_ + ((begin_ + g) ^ f_) * granule;
    }

  private:
    static constexpr bool whole = lanes_in_lines == 1;
    static_assert(whole || Lanes <= lanes_in_lines, "f must be the same for all lanes");
    unsigned char *const stage_;
    const int begin_, f_; // granules
  };

  /// Where granules 32 * k + lane are, k = 0, 1, ..., from lane `first` of the tile on, the first
  /// of a warp.
  class steps_from {
  public:
    LOOKBACK_DEVICE steps_from(unsigned char *stage, int first)
        : stage_(stage), first_(first),
          begin_(simt::anew((first * lane_granules + simt::lane_index()) ^
                            f_of(first + simt::lane_index() / lane_granules))) {}

    LOOKBACK_DEVICE unsigned char *operator()(int k) const {
      constexpr int step_lanes = simt::warp_threads / lane_granules;
      if constexpr (lane_granules == line_granules || !permutes) // f ^ f, as above
        return stage_ + (begin_ ^ f_of(k * step_lanes)) * granule +
               k * (simt::warp_threads * granule);
      // Every `period` steps the places repeat, so few addresses are computed if k is a constant.
      const int i = k % period * simt::warp_threads + simt::lane_index();
      return granule_at(stage_ + k / period * (period * simt::warp_threads * granule),
                        first_ + i / lane_granules, i % lane_granules);
    }

  private:
    unsigned char *const stage_;
    const int first_, begin_;
  };

  /// Calls move(size, place, offset) for the pieces of the first `bytes` bytes from those of lane
  /// `first` of the tile on: granules, and behind the last whole one words. `size` is an
  /// integral_constant. The pieces are shared out among `lanes` lanes, of which this is `lane`.
  template <class Move>
  LOOKBACK_DEVICE static void each_piece(unsigned char *stage, int first, int bytes, int lane,
                                         int lanes, Move move) {
    const auto place = [=](int g) {
      return granule_at(stage, first + g / lane_granules, g % lane_granules);
    };
    const int granules = bytes / granule, words = bytes % granule / 4;
    LOOKBACK_ROLLED
    for (int g = lane; g < granules; g += lanes)
      move(std::integral_constant<int, granule>{}, place(g), g * granule);
    if (lane < words)
      move(std::integral_constant<int, 4>{}, place(granules) + lane * 4,
           granules * granule + lane * 4);
  }

#if LOOKBACK_TARGETS_SM_80
  /// Whether copies use `policy` for the lines that they read. For structs of 64 bytes this is
  /// slower (H200, 1 GiB: 652 us instead of 643); those of 36 to 56 have not been measured.
  static constexpr bool has_policy = sizeof(T) <= 32;

  /// Starts the copies of warp `share` of `Warps`. When they are complete, every lane of these
  /// warps has arrived at `copied`.
  LOOKBACK_DEVICE void load(unsigned char *stage, unsigned tile, const valid_items<shape> &valid,
                            int share, simt::barrier &copied,
                            [[maybe_unused]] simt::cache_policy policy) const {
    const auto *const from = reinterpret_cast<const unsigned char *>(
        input_ + static_cast<std::ptrdiff_t>(tile) * shape::tile_elements);
    const int lane = simt::lane_index();
    if (LOOKBACK_LIKELY(valid.fill_tile())) {
      const steps_from place(has_policy ? simt::address_of_lane(stage) : stage, 0);
      LOOKBACK_UNROLL
      for (int k = 0; k < steps; k += Warps) {
        if (steps % Warps != 0 && k + share >= steps) continue;
        const auto *const granules = from + ((k + share) * simt::warp_threads + lane) * granule;
        if constexpr (has_policy)
          simt::copy_vector_async(place(k + share), granules, policy);
        else
          simt::copy_vector_async(place(k + share), granules);
      }
    } else {
      each_piece(stage, 0, valid.of_tile * static_cast<int>(sizeof(T)),
                 share * simt::warp_threads + lane, Warps * simt::warp_threads,
                 [&](auto size, unsigned char *place, int offset) {
                   simt::copy_vector_async<size.value>(place, from + offset);
                 });
    }
    simt::arrive_when_copied(copied); // mutant: struct-copies
  }
#endif

private:
  /// f of lane `lane`. Eight scanning lanes read from different places, and so do eight reducing
  /// ones. Of lanes without common bits, f(a + b) = f(a) ^ f(b).
  LOOKBACK_DEVICE static constexpr int f_of(int lane) {
    if (!permutes) return 0;
    const int lines = lanes_in_lines > 1 ? lane / lanes_in_lines
                      : same_lanes       ? lane
                                         : lane ^ lane / line_granules;
    return lines & (line_granules - 1);
  }
  LOOKBACK_DEVICE static unsigned char *granule_at(unsigned char *stage, int lane, int g) {
    return stage + ((lane * lane_granules + g) ^ f_of(lane)) * granule; // mutant: permuted
  }

  const T *const input_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
