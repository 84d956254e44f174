// SPDX-License-Identifier: MIT
// Scans of lines of several tiles, whose elements are adjacent: a block scans a tile from registers
// (tile/register_tile.cuh) and looks back along its line (carry/look_back_carry.cuh).
//
// Dynamic ids alternate between the lines of a band. With enough lines, the tiles that a block
// waits for have begun long before its own.
//
// A row of many tiles is scanned by the pipeline instead, and so are rows of full tiles without
// gaps if they have as many in all (dispatch/axis_call.cuh).
#pragma once

#include <lookback/carry/ring_state.cuh>
#include <lookback/strategy/tree_look_back.cuh>
#include <lookback/strategy/whole_lines.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Lines of `tiles` tiles each.
struct line_layout {
  stepped_offsets input, output;
  std::int64_t length;
  unsigned lines, tiles, band; // `band`: lines whose tiles alternate

  LOOKBACK_HOST_DEVICE unsigned all_tiles() const { return lines * tiles; }
  /// Groups of a line that another one follows: only these have status words.
  LOOKBACK_HOST_DEVICE unsigned followed_groups(unsigned group_tiles) const {
    return (tiles - 1) / group_tiles;
  }
};

/// A block that scans one tile.
template <class Problem>
class line_tiles {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  static constexpr int warps = 4, rows = 8;
  using tile = register_tile<Problem, warps, rows>;
  using carry_type = typename carry::look_back_in<segment_state>::template of_tile<Problem, warps>;

public:
  static constexpr int threads = warps * simt::warp_threads;
  /// Blocks of a multiprocessor. H100, share of a copy's speed, bf16:  16 x 4194304   1024 x 65537
  ///   4                                                                  0.82          0.82
  ///   6                                                                  0.85          0.87
  static constexpr int blocks = sizeof(T) <= 4 ? 6 : 4;
  static constexpr bool possible = tile::possible && warps * rows == shape::tile_rows;
  struct storage {
    unsigned tile_id;
    typename tile::row_aggregates row_aggregates;
    typename carry_type::storage carry;
  };

  LOOKBACK_DEVICE static void scan(const Problem &problem, const line_layout &layout,
                                   const scan_state<T> &state, unsigned id, storage &shared) {
    const unsigned band_tiles = layout.band * layout.tiles, first = id / band_tiles * layout.band,
                   left = layout.lines - first, lines = left < layout.band ? left : layout.band,
                   within = id % band_tiles, tile_of_line = within / lines,
                   line = first + within % lines;
    const std::int64_t begin = std::int64_t{tile_of_line} * shape::tile_elements,
                       items = layout.length - begin; // from here to the end
    const bool is_last = items <= shape::tile_elements;
    const int own_items = is_last ? static_cast<int>(items) : shape::tile_elements;
    const Problem own =
        part_of(problem, layout.input[line] + begin, layout.output[line] + begin, own_items);
    const unsigned groups = line * layout.followed_groups(shape::group_tiles);
    const segment_state<T> words{{state.tile_aggregates, line * layout.tiles, all_words},
                                 {state.group_aggregates, groups, all_words},
                                 {state.group_prefixes, groups, all_words}};
    const carry_type carry(own, words, tile_of_line, is_last, shared.carry);
    tile::scan(own, own_items, shared.row_aggregates,
               [&](const auto &row_prefixes, int full_rows, auto &op, auto &exchange) {
                 maybe<T> aggregate; // not set for the last tile: no tile reads it
                 if (simt::warp_index() == 0 && !is_last)
                   aggregate.set(tile_aggregate<Problem>(row_prefixes, full_rows, exchange));
                 return carry.prefix(aggregate, op, exchange);
               });
  }

private:
  static constexpr unsigned all_words = 0; // 2^32: the words are no ring
};

/// Grid: a block for every tile of all lines.
template <class Problem>
LOOKBACK_KERNEL(line_tiles<Problem>::threads, line_tiles<Problem>::blocks)
line_tiles_kernel(LOOKBACK_KERNEL_PARAMETER Problem problem,
                  LOOKBACK_KERNEL_PARAMETER line_layout layout,
                  const scan_state<typename Problem::accumulator> state) {
  auto &shared = simt::shared_memory<typename line_tiles<Problem>::storage>();
  simt::wait_for_previous_kernel(); // mutant: line-previous
  const unsigned id = draw_tile(state, shared);
  line_tiles<Problem>::scan(problem, layout, state, id, shared);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
