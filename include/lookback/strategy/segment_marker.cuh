// SPDX-License-Identifier: MIT
// Finds where the segments of a tile begin, and marks their heads in the stage of the tile.
//
// The offsets ascend, so those of a tile are consecutive: a search finds the first, and the others
// follow. A search is a chain of dependent loads and takes longer than a tile. So a warp searches
// for several tiles at once, with a few lanes for each.
//
// Offsets that descend have no defined results, but every search ends, and no mark is set outside
// of the tile's.
#pragma once

#include <lookback/arch/simt_sm90.cuh>
#include <lookback/core/sum_by_heads.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Tiles whose first segments a warp finds at once.
inline constexpr int heads_at_once = 16;
static_assert(simt::warp_threads % heads_at_once == 0, "every tile needs as many lanes");

/// Offsets that wait in shared memory, to shorten every search.
inline constexpr int head_samples = 512;

/// A warp that finds or marks heads, `Heads`: segment_heads. `Elements`: of a tile.
template <class Heads, int Elements>
class segment_marker {
  using Offset = typename Heads::offset;
  static constexpr int warp = simt::warp_threads;
  /// Lanes that search for one tile, and offsets that a lane loads at once.
  static constexpr int tile_lanes = warp / heads_at_once, at_once = 10;

public:
  LOOKBACK_DEVICE explicit segment_marker(const Heads &heads)
      : heads_(heads), first_(heads.begin(0)) {}

  /// Loads samples: the offsets of `head_samples` segments at equal distances. Called by a full
  /// warp.
  LOOKBACK_DEVICE void sample(std::int64_t (&samples)[head_samples]) const {
    LOOKBACK_UNROLL
    for (int i = 0; i < head_samples / warp; ++i) {
      const int sample = i * warp + simt::lane_index();
      const std::int64_t s = sample * distance();
      if (s < heads_.segments) samples[sample] = heads_.begin(s);
    }
    simt::synchronize_warp();
  }
  /// The first segment that begins in tile `tile` or behind it; every `tile_lanes` lanes have a
  /// tile of their own. Prefetches the offsets from there on.
  LOOKBACK_DEVICE std::int64_t find(unsigned tile,
                                    const std::int64_t (&samples)[head_samples]) const {
    const std::int64_t item = origin(tile), step = distance(),
                       all = (heads_.segments - 1) / step + 1,
                       // samples before the item
        before = search<tile_lanes>(item, 0, all, [&](std::int64_t i) { return samples[i]; }),
                       from = before > 0 ? (before - 1) * step + 1 : 0,
                       until = before < all ? before * step : heads_.segments;
    const std::int64_t segment = search<tile_lanes>(item, from, until - from, begins());
    prefetch(segment, before > 0 && before < all
                          ? static_cast<float>(step) * Elements /
                                static_cast<float>(samples[before] - samples[before - 1])
                          : 0.f);
    return segment;
  }

  /// The same for one tile, by all lanes, without samples.
  LOOKBACK_DEVICE std::int64_t find_alone(unsigned tile) const {
    return search<warp>(origin(tile), 0, heads_.segments, begins());
  }

  /// Starts to load the offsets of the segments from `segment` on, `warp` of them a row.
  LOOKBACK_DEVICE void load(std::int64_t segment) {
    loaded_ = segment;
    const std::int64_t left = heads_.segments - segment, most = rows_ * warp;
    const int here = static_cast<int>(left < most ? left : most) - simt::lane_index();
    own_rows_ = here > 0 ? (here + warp - 1) / warp : 0;
    const Offset *const from = heads_.offsets + segment + simt::lane_index();
    LOOKBACK_UNROLL
    for (int i = 0; i < at_once; ++i)
      if (i < own_rows_) offsets_[i] = from[i * warp];
  }
  /// Sets bit i of the marks of tile `tile`, for i < `valid`, if a segment begins with its item i,
  /// and clears the others. The offsets from the tile's first segment on must have been loaded.
  /// While the marks are set, the next offsets are loaded: at last those from segment next() on,
  /// for another tile. wait() returns when the marks may be written. Called by a full warp.
  template <class Wait, class Next>
  LOOKBACK_DEVICE void mark(unsigned tile, int valid, std::uint32_t *marks, Wait wait, Next next) {
    const std::int64_t begin = origin(tile);
    for (bool first = true, more = true; more; first = false) {
      int at[at_once];
      const int full = simt::broadcast(find_places(begin, valid, at), warp - 1); // rows
      more = full == rows_;
      std::int64_t following = loaded_ + rows_ * warp;
      if (!more) {
        rows_ = full + 1; // as many as this tile needed
        following = next();
      } else if (full == at_once) {
        const int last = simt::broadcast(at[at_once - 1], warp - 1);
        // Many empty segments: of all that begin with one item, only the first counts.
        if (simt::broadcast(at[0], 0) == last) following = search_behind(begin + last, following);
      } else {
        rows_ = at_once;
      }
      load(following);
      if (first) {
        wait();
        clear(marks);
        simt::synchronize_warp(); // mutant: marks-cleared
      }
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i)
        if (at[i] < valid) simt::set_bit(marks, at[i]); // mutant: marker-mark
    }
    simt::synchronize_warp(); // mutant: marks-written
  }

private:
  /// Lines of offsets that are prefetched for a tile, at most.
  static constexpr int lines_at_most = 32;

  /// The offset of the first item of a tile.
  LOOKBACK_DEVICE std::int64_t origin(unsigned tile) const {
    return first_ + std::int64_t{tile} * Elements;
  }

  /// The first segment from segment `from` on that begins behind item `item`.
  LOOKBACK_DEVICE std::int64_t search_behind(std::int64_t item, std::int64_t from) const {
    const std::int64_t left = heads_.segments - from;
    return search<warp>(item + 1, from, left > 0 ? left : 0, begins());
  }
  /// Prefetches the offsets of about `heads` segments, from `segment` on. Not more: where segments
  /// are long, all blocks would ask for the same lines.
  LOOKBACK_DEVICE void prefetch(std::int64_t segment, float heads) const {
    constexpr int line = 128 / sizeof(Offset);
    LOOKBACK_UNROLL
    for (int l = 0; l < lines_at_most / tile_lanes; ++l) {
      const int ahead = (l * tile_lanes + simt::lane_index() % tile_lanes) * line;
      if (static_cast<float>(ahead) <= heads && segment + ahead < heads_.segments)
        simt::prefetch(heads_.offsets + segment + ahead);
    }
  }
  /// The distance of sampled segments.
  LOOKBACK_DEVICE std::int64_t distance() const { return (heads_.segments - 1) / head_samples + 1; }
  LOOKBACK_DEVICE auto begins() const {
    return [this](std::int64_t s) { return heads_.begin(s); };
  }
  /// The first of the elements from, ..., from + left - 1 that is not less than `item`; from + left
  /// if all are. `element(i)` is element i; they ascend. Every `Lanes` lanes have a search of their
  /// own: each step compares `Lanes` elements and leaves one of Lanes + 1 parts. Called by a full
  /// warp.
  template <int Lanes, class Element>
  LOOKBACK_DEVICE std::int64_t search(std::int64_t item, std::int64_t from, std::int64_t left,
                                      Element element) const {
    const int lane = simt::lane_index() % Lanes, first_lane = simt::lane_index() - lane;
    while (simt::ballot(left > 0) != 0) {
      const std::int64_t part = left / (Lanes + 1) + 1, mine = (lane + 1) * part - 1;
      const bool less = mine < left && element(from + mine) < item; // mutant: marker-less
      const unsigned of_search =
          simt::ballot(less) >> first_lane & (Lanes == warp ? ~0u : (1u << Lanes % warp) - 1);
      const int parts = static_cast<int>(simt::count_bits(of_search));
      const std::int64_t skipped = parts * part;
      from += skipped;
      left -= skipped;
      if (parts < Lanes && left > part - 1) left = part - 1;
    }
    return from;
  }
  /// The places of the lane's segments in a tile of `valid` items, the first of which is item
  /// `begin`; at least `valid` if a segment does not begin there. Returns how many do.
  LOOKBACK_DEVICE int find_places(std::int64_t begin, int valid, int (&at)[at_once]) const {
    int count = 0;
    LOOKBACK_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const auto place = static_cast<std::uint64_t>(static_cast<std::int64_t>(offsets_[i]) - begin);
      const bool here = i < own_rows_ && place < static_cast<unsigned>(valid);
      at[i] = here ? static_cast<int>(place) : Elements;
      count += here ? 1 : 0;
    }
    return count;
  }
  LOOKBACK_DEVICE static void clear(std::uint32_t *marks) {
    constexpr int words = 4, all = Elements / 32;
    static_assert(all % words == 0, "marks must be whole vectors");
    LOOKBACK_UNROLL
    for (int i = simt::lane_index() * words; i < all; i += warp * words)
      simt::store_shared<4 * words>(marks + i, simt::vector_words<4 * words>{});
  }

  const Heads &heads_;
  const std::int64_t first_; // the offset of the first item of all
  std::int64_t loaded_ = 0;  // the segment of the first lane's first offset
  int rows_ = at_once;       // that are loaded,
  int own_rows_ = 0;         // and those in which this lane has an offset
  Offset offsets_[at_once] = {};
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
