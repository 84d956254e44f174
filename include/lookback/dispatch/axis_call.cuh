// SPDX-License-Identifier: MIT
// A scan along an axis on a stream, in the two phases of CUB: rows by strategies for their length,
// all other lines as columns.
#pragma once

#include <lookback/dispatch/first_of.cuh>
#include <lookback/dispatch/segmented_call.cuh>
#include <lookback/strategy/clear_words.cuh>
#include <lookback/strategy/column_units.cuh>
#include <lookback/strategy/column_warps.cuh>
#include <lookback/strategy/line_tiles.cuh>
#include <lookback/strategy/pipeline.cuh>
#include <lookback/strategy/short_columns.cuh>
#include <lookback/strategy/short_rows.cuh>
#include <lookback/strategy/tree_look_back.cuh>
#include <lookback/strategy/wave.cuh>
#include <lookback/tile/column_pairs.cuh>

#include <algorithm>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Columns. Lines of a few vectors have a kernel of their own (strategy/short_columns.cuh), and
/// lines of at most one row of the tree take one kernel. Longer lines take two: the first one
/// clears the status words. Columns of 4 bytes, and pairs of columns of 2 bytes, are scanned by
/// warps (strategy/column_warps.cuh) if there are at least `UnitsPerBlock` units for every resident
/// block. Two columns without gaps, of more than a tile, are scanned as one sequence of pairs
/// (tile/column_pairs.cuh).
template <class Rows, int Threads, unsigned Section, unsigned Band, unsigned UnitsPerBlock = 2>
struct column_strategy {
  /// Scans the lines of `own`, a checked_axis(), by `problem`, or, if `storage` is null, writes to
  /// `bytes` the size of storage that this takes. It neither allocates nor synchronises. Refused
  /// with refusal::invalid_value for too many units, and for storage that is too small.
  template <class Problem, class Launch>
  static typename Launch::status_type scan(void *storage, std::size_t &bytes,
                                           const Problem &problem, const axis &own, Launch launch) {
    using T = typename Problem::accumulator;
    static_assert(exchange_of<T> == exchange_by::shuffle && !reads_initial<Problem>,
                  "lookback: scans along an axis on a GPU need a trivially copyable accumulator of "
                  "less than 512 bytes, and an initial value that the host knows");
    if constexpr (short_columns<Problem>::vectors > 0) {
      if (own.length <= short_columns<Problem>::length_at_most)
        return scan_short(storage, bytes, problem, own, launch);
    }
    if constexpr (column_pairs<Problem>::possible) {
      using pairs = column_pairs<Problem>;
      using strategies = first_of<wave<Rows>, tree_look_back<Rows>>;
      if (pairs::fits(own) && own.length > Problem::shape::tile_elements)
        return strategies::scan(storage, bytes, pairs::rows_of(problem), own.length, launch);
    }
    // The query does not know how the arrays will be aligned, so its size covers both ways.
    std::size_t by_warps = 0;
    if constexpr (goes_by_warps<Problem>()) {
      const auto words = in_words(problem);
      const axis lines = in_words<Problem>(own);
      const int width = width_by_warps(words, lines, launch);
      if (width > 0 && words_are_aligned(words, storage == nullptr))
        return scan_by_warps(width, storage, bytes, words, lines, launch);
      if (width > 0) {
        const auto sized = scan_by_warps(width, nullptr, by_warps, words, lines, launch);
        if (sized != launch.status()) return sized;
      }
    }
    const column_layout layout = layout_of<Problem>(own, aligned(problem));
    if (layout.units > INT_MAX) return launch.refuse(refusal::invalid_value);
    const std::size_t needed =
        std::max({by_warps, storage_of<Problem>(layout_of<Problem>(own, true)),
                  storage_of<Problem>(layout_of<Problem>(own, false))});
    if (storage == nullptr) bytes = needed;
    if (bytes < needed) return launch.refuse(refusal::invalid_value);
    if (storage == nullptr) return launch.status();

    const auto units = static_cast<std::uint64_t>(layout.units);
    if (!layout.carries()) {
      enqueue<false, false>(problem, layout, column_state<T, Section>{}, units, launch);
    } else {
      temporary_memory memory(storage);
      const column_workspace<T, Section> in(memory, layout,
                                            layout.template carries_rows<Problem>());
      clear_words<Rows>(in.zeroed, in.zeroed_words, launch, prepare_blocks);
      const std::uint64_t resident = std::uint64_t{launch.multiprocessors()} * blocks_at_most;
      const std::uint64_t grid = units < resident ? units : resident;
      if constexpr (column_sizes<Problem, Threads>::may_be_direct) {
        if (layout.direct) {
          enqueue<true, true>(problem, layout, in.state, grid, launch);
          return launch.status();
        }
      }
      enqueue<false, true>(problem, layout, in.state, grid, launch);
    }
    return launch.status();
  }

private:
  template <class Problem>
  static constexpr bool goes_in_pairs = column_pairs<Problem>::possible &&
                                        sizeof(typename Problem::accumulator) == 2;
  template <class Problem>
  static constexpr bool goes_by_warps() {
    return column_warps<decltype(in_words(std::declval<const Problem &>()))>::possible;
  }
  /// As warps scan the problem and its lines: columns of 2 bytes in pairs.
  template <class Problem>
  static auto in_words(const Problem &problem) {
    if constexpr (goes_in_pairs<Problem>)
      return column_pairs<Problem>::rows_of(problem);
    else
      return problem;
  }
  template <class Problem>
  static axis in_words(const axis &own) {
    if constexpr (goes_in_pairs<Problem>)
      return column_pairs<Problem>::halved(own);
    else
      return own;
  }
  /// Whether the arrays are aligned to 4 bytes: by their type, or, unless they are `unknown`, by
  /// their addresses.
  template <class Problem>
  static bool words_are_aligned(const Problem &problem, bool unknown) {
    constexpr std::size_t word = 4;
    if (alignof(typename Problem::item) >= word && alignof(typename Problem::stored) >= word)
      return true;
    const auto addresses = reinterpret_cast<std::uintptr_t>(problem.input) |
                           reinterpret_cast<std::uintptr_t>(problem.sink.output);
    return !unknown && addresses % word == 0; // mutant: words-aligned
  }
  /// Whether each multiprocessor holds all of its blocks, and the lines have enough units.
  template <int Width, class Problem, class Launch>
  static bool fits_warps(const axis &own, Launch &launch) {
    const std::int64_t blocks =
        std::int64_t{launch.multiprocessors()} * column_warp_sizes<Problem, Width>::blocks;
    const auto kernel = column_warps_kernel<Problem, Width>;
    return column_warps<Problem>::fits(own, Width, blocks * UnitsPerBlock) &&
           launch.template can_run<column_warp_block<Problem, Width, Rows>>(kernel) &&
           launch.template resident_blocks<column_warp_blocks<Problem, Width, Rows>>(kernel) >=
               blocks;
  }
  /// Columns of a unit, if warps scan these lines; otherwise 0.
  template <class Problem, class Launch>
  static int width_by_warps(const Problem &, const axis &own, Launch &launch) {
    constexpr bool in_pairs = is_column_pair<typename Problem::item>;
    if (own.inner == 0) return 0; // no pairs
    if (own.inner == 8) return fits_warps<8, Problem>(own, launch) ? 8 : 0;
    if (own.inner == 16 || (in_pairs && own.inner % 32 == 16))
      return fits_warps<16, Problem>(own, launch) ? 16 : 0;
    return fits_warps<32, Problem>(own, launch) ? 32 : 0;
  }
  template <class Problem, class Launch>
  static typename Launch::status_type scan_by_warps(int width, void *storage, std::size_t &bytes,
                                                    const Problem &problem, const axis &own,
                                                    Launch &launch) {
    if (width == 8) return scan_by_warps<8>(storage, bytes, problem, own, launch);
    if (width == 16) return scan_by_warps<16>(storage, bytes, problem, own, launch);
    return scan_by_warps<32>(storage, bytes, problem, own, launch);
  }
  template <int Width, class Problem, class Launch>
  static typename Launch::status_type scan_by_warps(void *storage, std::size_t &bytes,
                                                    const Problem &problem, const axis &own,
                                                    Launch &launch) {
    using T = typename Problem::accumulator;
    using sizes = column_warp_sizes<Problem, Width>;
    // Strips of wide lines alternate in a wider band, so that memory is accessed in longer
    // stretches. (Shares of a copy's speed, H200, i32, bands of 128 and of 512 strips: 1024 x 65536
    // 0.80 and 0.84; 16 x 4096 x 1024, where a band of 512 spans all matrices, 0.87 and 0.83.)
    const std::int64_t band = std::clamp<std::int64_t>(own.inner / Width, Band, 4 * Band);
    auto layout = column_layout::of_rows<Problem>(own, Width, sizes::rows, band);
    const auto whole = [](std::int64_t elements) { return elements * sizes::slot % 16 == 0; };
    layout.whole_vectors = reinterpret_cast<std::uintptr_t>(problem.input) % 16 == 0 &&
                           whole(own.input.length) && (own.outer == 1 || whole(own.input.outer));
    if (layout.units > INT_MAX) return launch.refuse(refusal::invalid_value);
    temporary_memory sized;
    column_warp_workspace<T>(sized, layout);
    const std::size_t needed = temporary_memory::bytes_for(sized.bytes());
    if (storage == nullptr) bytes = needed;
    if (bytes < needed) return launch.refuse(refusal::invalid_value);
    if (storage == nullptr) return launch.status();
    temporary_memory memory(storage);
    const column_warp_workspace<T> in(memory, layout);
    clear_words<Rows>(in.zeroed, in.zeroed_words, launch, prepare_blocks);
    const std::uint64_t resident = std::uint64_t{launch.multiprocessors()} * sizes::blocks,
                        units = static_cast<std::uint64_t>(layout.units);
    launch(column_warps_kernel<Problem, Width>,
           block_shape{sizes::threads, sizeof(typename sizes::storage), true},
           launch_grid{units < resident ? units : resident, residency::none, true}, problem, layout,
           in.state);
    return launch.status();
  }

  template <class Problem>
  static column_layout layout_of(const axis &own, bool aligned) {
    auto layout = column_layout::of<Problem, Threads>(own, Band, aligned);
    // A unit reads words of the rows of its tile that are before it.
    const std::int64_t in_tile = Problem::shape::tile_rows / layout.rows;
    if (layout.carries() && layout.band * in_tile > 2 * Section)
      layout.set_band(2 * Section > in_tile ? 2 * Section / in_tile : 1);
    return layout;
  }
  template <class Problem>
  static std::size_t storage_of(const column_layout &layout) {
    temporary_memory sized;
    if (layout.carries())
      column_workspace<typename Problem::accumulator, Section>(
          sized, layout, layout.template carries_rows<Problem>());
    return temporary_memory::bytes_for(sized.bytes());
  }
  template <class Problem>
  static bool aligned([[maybe_unused]] const Problem &problem) {
    if constexpr (column_sizes<Problem, Threads>::own_columns > 1)
      return (reinterpret_cast<std::uintptr_t>(problem.input) |
              reinterpret_cast<std::uintptr_t>(problem.sink.output)) %
                 4 ==
             0;
    else
      return true;
  }
  static_assert(Section >= 32, "a tile has up to 32 units of a strip");
  /// Of a multiprocessor. Blocks that have no room start when no unit is left.
  static constexpr unsigned blocks_at_most = 4;
  static constexpr std::size_t prepare_blocks = 4 * Rows::prepare_blocks_at_most;

  template <class Problem, class Launch>
  static typename Launch::status_type scan_short(void *storage, std::size_t &bytes,
                                                 const Problem &problem, const axis &own,
                                                 Launch &launch) {
    constexpr int threads = short_columns<Problem>::threads;
    const std::int64_t blocks = (own.outer * own.inner - 1) / threads + 1;
    const std::size_t needed = temporary_memory::bytes_for(0);
    if (storage == nullptr) bytes = needed;
    if (blocks > INT_MAX || bytes < needed) return launch.refuse(refusal::invalid_value);
    if (storage != nullptr)
      launch(short_columns_kernel<Problem>, block_shape{threads, 0},
             launch_grid{static_cast<std::uint64_t>(blocks)}, problem, own);
    return launch.status();
  }

  template <bool Direct, bool Carries, class Problem, class Launch>
  static void enqueue(const Problem &problem, const column_layout &layout,
                      const column_state<typename Problem::accumulator, Section> &state,
                      std::uint64_t blocks, Launch &launch) {
    using sizes = column_sizes<Problem, Threads>;
    constexpr int bytes_at_most =
        rounded_up(static_cast<int>(sizeof(column_block)), sizes::alignment) +
        (sizes::lanes * sizes::pairs + sizes::values_of_column * sizes::columns_at_most) *
            static_cast<int>(sizeof(typename sizes::T)) +
        sizes::pairs * (sizes::row_elements + 1) * sizes::slot_bytes +
        (2 * sizes::pairs + 1) * sizes::alignment;
    static_assert(bytes_at_most <= 64 * 1024,
                  "lookback: elements or accumulators of scans along an axis on a GPU are too "
                  "large");
    launch(column_units_kernel<Problem, Threads, Direct, Carries, Section>,
           block_shape{Threads, static_cast<std::size_t>(layout.shared_bytes)},
           launch_grid{blocks, residency::none, Carries}, problem, layout, state);
  }
};
using column_scans = column_strategy<measured_tuning, 256, 1024, 128>;

/// Rows: of up to a tile by a few warps each, from registers; longer ones by a block for each tile;
/// of up to one row of the tree by lanes, if short_rows::fits(); others of up to two as segments
/// whose offsets are computed. A single row, and rows of full tiles without gaps, are scanned by
/// the strategy `Ahead` if they have at least `AheadTiles` tiles in all. `Band`: rows whose tiles
/// alternate.
template <class Rows, std::int64_t Band, class Ahead, std::int64_t AheadTiles, class Segmented>
struct row_strategy {
  /// As column_strategy::scan().
  template <class Problem, class Launch>
  static typename Launch::status_type scan(void *storage, std::size_t &bytes,
                                           const Problem &problem, const axis &own, Launch launch) {
    // In reverse, rows are those of the reversed array, the last row first.
    const std::int64_t in = (own.outer - 1) * own.input.outer, // where the last row begins
        out = (own.outer - 1) * own.output.outer;
    if (own.reverse)
      return scan_rows(storage, bytes, from_the_ends(problem, in + own.length, out + own.length),
                       {in, -own.input.outer}, {out, -own.output.outer}, own, launch);
    return scan_rows(storage, bytes, problem, {0, own.input.outer}, {0, own.output.outer}, own,
                     launch);
  }

private:
  template <class Problem, class Launch>
  static typename Launch::status_type
  scan_rows(void *storage, std::size_t &bytes, const Problem &problem, const stepped_offsets &input,
            const stepped_offsets &output, const axis &own, Launch &launch) {
    if constexpr (line_tiles<Problem>::possible) {
      const std::int64_t row = Problem::shape::row_elements;
      if (own.length > 2 * row) {
        const auto whole = [&](auto block) {
          return scan_whole<decltype(block)>(storage, bytes, problem, input, output, own, launch);
        };
        if (own.length <= 4 * row) return whole(whole_lines<Problem, 1, 4>{});
        if (own.length <= 8 * row) return whole(whole_lines<Problem, 1, 8>{});
        if (own.length <= 16 * row) return whole(whole_lines<Problem, 2, 8>{});
        if (own.length <= 32 * row) return whole(whole_lines<Problem, 4, 8>{});
        return scan_tiles(storage, bytes, problem, input, output, own, launch);
      }
    }
    const offset_segments<stepped_offsets, stepped_offsets, stepped_offsets> rows(
        input, {input.first + own.length, input.step}, output, own.outer);
    if constexpr (short_rows<Problem>::possible) {
      const bool no_gaps = own.input.outer == own.length && own.output.outer == own.length;
      if (no_gaps && short_rows<Problem>::fits(problem, own.length)) // mutant: short-gaps
        return scan_short(storage, bytes, problem, rows, own, launch);
    }
    return Segmented::scan(storage, bytes, problem, rows, launch);
  }
  /// The storage is what segments take: other arrays of the same size may not be aligned.
  template <class Problem, class Segments, class Launch>
  static typename Launch::status_type scan_short(void *storage, std::size_t &bytes,
                                                 const Problem &problem, const Segments &rows,
                                                 const axis &own, Launch &launch) {
    const std::int64_t items = own.outer * own.length,
                       blocks = short_rows<Problem>::blocks(items, own.length);
    std::size_t needed = 0;
    const auto sized = Segmented::scan(nullptr, needed, problem, rows, launch);
    if (sized != launch.status()) return sized;
    if (storage == nullptr) bytes = needed;
    if (blocks > INT_MAX || bytes < needed) return launch.refuse(refusal::invalid_value);
    if (storage != nullptr)
      launch(short_rows_kernel<Problem>, block_shape{short_rows<Problem>::threads, 0},
             launch_grid{static_cast<std::uint64_t>(blocks)}, problem, items,
             static_cast<int>(own.length));
    return launch.status();
  }
  template <class Block, class Problem, class Launch>
  static typename Launch::status_type
  scan_whole(void *storage, std::size_t &bytes, const Problem &problem,
             const stepped_offsets &input, const stepped_offsets &output, const axis &own,
             Launch &launch) {
    const std::int64_t blocks = (own.outer - 1) / Block::lines + 1;
    const std::size_t needed = temporary_memory::bytes_for(0);
    if (storage == nullptr) bytes = needed;
    if (blocks > INT_MAX || bytes < needed) return launch.refuse(refusal::invalid_value);
    if (storage != nullptr)
      launch(whole_lines_kernel<Problem, Block::warps, Block::rows>,
             block_shape{Block::threads, sizeof(typename Block::storage)},
             launch_grid{static_cast<std::uint64_t>(blocks)}, problem, input, output, own.outer,
             static_cast<int>(own.length));
    return launch.status();
  }
  template <class Problem, class Launch>
  static typename Launch::status_type
  scan_tiles(void *storage, std::size_t &bytes, const Problem &problem,
             const stepped_offsets &input, const stepped_offsets &output, const axis &own,
             Launch &launch) {
    using block = line_tiles<Problem>;
    const std::int64_t tiles = (own.length - 1) / Problem::shape::tile_elements + 1;
    if (own.outer > INT_MAX / tiles) return launch.refuse(refusal::invalid_value);
    const line_layout layout{input,
                             output,
                             own.length,
                             static_cast<unsigned>(own.outer),
                             static_cast<unsigned>(tiles),
                             static_cast<unsigned>(least(own.outer, Band))};
    temporary_memory sized;
    workspace<Problem>(sized, layout.all_tiles());
    const std::size_t room = std::max(sized.bytes(), ahead_bytes(problem, own, tiles)),
                      needed = temporary_memory::bytes_for(room);
    if (storage == nullptr) bytes = needed;
    if (bytes < needed) return launch.refuse(refusal::invalid_value);
    if (storage == nullptr) return launch.status();
    if (runs_ahead(problem, storage, own, tiles, launch)) return launch.status();
    temporary_memory memory(storage);
    const workspace<Problem> in(memory, layout.all_tiles());
    prepare_tiles<Rows>(problem, in, launch);
    launch(line_tiles_kernel<Problem>, block_shape{block::threads, sizeof(typename block::storage)},
           launch_grid{layout.all_tiles(), residency::none, true}, problem, layout, in.state);
    return launch.status();
  }
  /// Whether the tiles of all rows are adjacent, as those of one row are, and are at least
  /// `AheadTiles`.
  template <class Problem>
  static bool suits_ahead(const axis &own, std::int64_t tiles) {
    const bool no_gaps = own.length % Problem::shape::tile_elements == 0 && // mutant: row-tiles
                         own.input.outer == own.length &&
                         own.output.outer == own.length; // mutant: row-gaps
    return (own.outer == 1 || no_gaps) && own.outer * tiles >= AheadTiles;
  }
  template <class Problem>
  static auto in_tiles(const Problem &problem, const axis &own, std::int64_t tiles) {
    return problem.over(lines_of_tiles(static_cast<std::uint64_t>(own.outer * own.length),
                                       static_cast<unsigned>(tiles)));
  }
  /// The storage that `Ahead` takes, if it may scan the rows.
  template <class Problem>
  static std::size_t ahead_bytes(const Problem &problem, const axis &own, std::int64_t tiles) {
    if constexpr (Ahead::template supports<Problem>)
      if (suits_ahead<Problem>(own, tiles)) return Ahead::storage(in_tiles(problem, own, tiles));
    return 0;
  }
  /// Whether `Ahead` scans the rows.
  template <class Problem, class Launch>
  static bool runs_ahead(const Problem &problem, void *storage, const axis &own, std::int64_t tiles,
                         Launch &launch) {
    if constexpr (Ahead::template supports<Problem>) {
      if (!suits_ahead<Problem>(own, tiles)) return false;
      const auto rows = in_tiles(problem, own, tiles);
      if (Ahead::fits(rows, launch) != nullptr) return false;
      temporary_memory memory(storage);
      Ahead::run(rows, memory, launch);
      if (!launch.refused()) return true;
      launch.forgive();
    }
    return false;
  }
};
using row_scans =
    row_strategy<measured_tuning, 512, pipeline<measured_tuning>, 1024, segmented_scans>;

/// A scan along an axis: of rows, of lines that are columns, or of any other lines, which are
/// columns one by one.
template <class Rows, class Columns>
struct axis_strategy {
  /// As column_strategy::scan(). `lines` may be any: throws what checked_axis() throws.
  template <class Problem, class Launch>
  static typename Launch::status_type scan(void *storage, std::size_t &bytes,
                                           const Problem &problem, const axis &lines,
                                           Launch launch) {
    if (lines.outer <= 0 || lines.length <= 0 || lines.inner <= 0) {
      if (storage == nullptr) bytes = temporary_memory::bytes_for(0);
      return launch.status();
    }
    const axis own = with_columns(checked_axis(lines));
    if (own.inner == 1 && own.input.length == 1 && own.output.length == 1)
      return Rows::scan(storage, bytes, problem, own, launch);
    return Columns::scan(storage, bytes, problem, own, launch);
  }

private:
  /// If lines with consecutive outer indices are adjacent, these are columns.
  static axis with_columns(axis own) {
    if (own.inner == 1 && own.outer > 1 && own.input.outer == 1 && own.output.outer == 1) {
      own.inner = own.outer;
      own.outer = 1;
    }
    return own;
  }
};
using axis_scans = axis_strategy<row_scans, column_scans>;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
