// SPDX-License-Identifier: MIT
// Scans of columns: of lines that are adjacent to each other, but whose elements are not.
//
// A strip is up to `width` adjacent lines. A unit of work has some rows of the tree of each line of
// a strip (tile/column_tile.cuh). If its lines are long, a strip has several units, one after the
// other. Units have dynamic ids, in an order that alternates between the strips of a band: a unit
// waits only for units of slightly smaller ids (carry/column_carry.cuh).
//
// Lines of at most one row need no carry. A unit then has lines of several outer indices, each
// index in the place of a row.
#pragma once

#include <lookback/carry/column_carry.cuh>
#include <lookback/core/checked_axis.cuh>
#include <lookback/core/divisor.cuh>
#include <lookback/strategy/workspace.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The elements of a unit's first column: the index of the first one in memory, and their number.
struct column_stretch {
  std::int64_t first;
  int items;
};

/// What a block knows of its unit, in shared memory: one thread finds it for all.
struct column_block {
  drawn_progress progress;
  unsigned unit;
  column_unit here;
  column_step step;
  column_stretch ahead; // of the unit to prefetch
};

/// The lines, and how they are divided into units.
struct column_layout {
  column_places input, output;
  std::int64_t outers, length, columns;
  int width, rows; // of a unit, at most
  int row_pitch;   // bytes between rows in shared memory
  int values, aggregates, elements,
      shared_bytes;   // where these begin in shared memory, and its size
  bool direct;        // elements go directly to registers
  bool whole_vectors; // by warps (column_warps.cuh): input lines are vectors of 16 bytes
  bool one_row;       // lines are one row at most, and rows of a unit have different outer indices
  std::int64_t strips_across;                   // strips that differ in their columns only
  std::int64_t strips;                          // of the array
  std::int64_t steps;                           // units of a strip
  std::int64_t band;                            // strips
  divisor by_across, by_band, by_units_of_band; // by strips_across, band, and a band's units
  int prefetch_step;          // elements of a column from one prefetch to the next
  std::int64_t tiles, groups; // of a line
  int rows_of_tile;           // or of the line, if it has fewer
  std::int64_t units;

  /// `aligned`: whether the arrays begin at multiples of the columns of a thread.
  template <class Problem, int Threads>
  static column_layout of(const axis &own, std::int64_t band_at_most, bool aligned) {
    using sizes = column_sizes<Problem, Threads>;
    column_layout all{};
    all.one_row = own.length <= sizes::row_elements;
    all.direct = aligned && goes_direct<sizes>(own);
    const int pairs = all.direct ? sizes::direct_pairs : sizes::pairs;
    std::int64_t widest = all.direct ? sizes::direct_width : sizes::width_at_most;
    if (all.one_row && own.outer < pairs / widest) widest = pairs / own.outer;
    all.width = width_of<sizes>(own, widest, all.direct);
    const std::int64_t rows = parts(own.length, sizes::row_elements), // of a line
        fit = pairs / all.width;
    all.rows = 1;
    if (all.one_row) {
      all.rows = static_cast<int>(least(fit, own.outer));
    } else {
      while (2 * all.rows <= fit && all.rows < rows && 2 * all.rows <= sizes::shape::tile_rows)
        all.rows *= 2;
    }
    // Rows begin in different banks.
    const int line = all.width * sizes::slot_bytes;
    all.row_pitch =
        rounded_up(static_cast<int>(least<std::int64_t>(own.length, sizes::row_elements)) * line,
                   sizes::alignment) +
        rounded_up(line, sizes::alignment);
    constexpr int T = static_cast<int>(sizeof(typename sizes::T));
    all.values = rounded_up(static_cast<int>(sizeof(column_block)), sizes::alignment);
    all.aggregates = all.values + (all.carries() ? all.width * sizes::values_of_column * T : 0);
    all.elements =
        rounded_up(all.aggregates + all.width * all.rows * sizes::lanes * T, sizes::alignment);
    all.shared_bytes = all.elements + (all.direct ? 0 : all.rows * all.row_pitch);
    // Narrow lines share 128 bytes.
    const std::int64_t line_bytes = own.input.length * std::int64_t{sizeof(typename sizes::item)};
    all.prefetch_step = line_bytes > 0 && line_bytes < 128 ? static_cast<int>(128 / line_bytes) : 1;
    all.divide<typename sizes::shape>(own, band_at_most);
    return all;
  }
  /// Of units of `rows_` rows of `width_` columns, which carry.
  template <class Problem>
  static column_layout of_rows(const axis &own, int width_, int rows_, std::int64_t band_at_most) {
    column_layout all{};
    all.width = width_, all.rows = rows_;
    all.divide<typename Problem::shape>(own, band_at_most);
    return all;
  }
  /// Requires `strips_across` and `steps`.
  void set_band(std::int64_t strips_of_band) {
    band = strips_of_band;
    by_across = divisor(strips_across);
    by_band = divisor(band);
    by_units_of_band = divisor(multiply_add(band, steps, 0));
  }
  LOOKBACK_HOST_DEVICE bool carries() const { return !one_row; }
  /// Whether a unit is less than a tile, so that units need the aggregates of earlier rows.
  template <class Problem>
  LOOKBACK_HOST_DEVICE bool carries_rows() const {
    return carries() && rows < Problem::shape::tile_rows;
  }

  /// The place of a unit. `Carries`: whether lines have several of them.
  template <class Problem, bool Carries>
  LOOKBACK_DEVICE column_unit find(unsigned unit, column_step &step) const {
    constexpr int row_elements = Problem::shape::row_elements;
    // No number here exceeds that of units, which is less than 2^31.
    const auto narrow = [](std::int64_t x) { return static_cast<unsigned>(x); };
    unsigned strip = unit, i = 0; // the i-th unit of the strip
    if constexpr (Carries) {
      const unsigned most = narrow(band), first = by_units_of_band.quotient(unit),
                     left = narrow(strips) - first * most, stride = left < most ? left : most,
                     within = unit - first * most * narrow(steps);
      // The last band may have fewer strips.
      i = stride == most ? by_band.quotient(within) : within / stride; // mutant: last-band
      strip = first * most + (within - i * stride);
      step.stride = stride;
    }
    const unsigned down = by_across.quotient(strip);
    const std::int64_t column = (strip - down * strips_across) * width,
                       columns_left = columns - column, row = std::int64_t{i} * rows,
                       outer = std::int64_t{down} * (one_row ? rows : 1);
    column_unit here;
    here.columns = columns_left < width ? static_cast<int>(columns_left) : width;
    here.input = index(input, outer, row * row_elements) + column;
    here.output = index(output, outer, row * row_elements) + column;
    const std::int64_t items = length - row * row_elements; // from here to the end
    const std::int64_t rows_left = one_row ? outers - outer : (items - 1) / row_elements + 1;
    const bool is_followed = rows_left > rows; // by another unit of the lines
    here.rows = rows_left < rows ? static_cast<int>(rows_left) : rows;
    here.row_items = one_row ? static_cast<int>(items) : row_elements;
    here.last_items = is_followed || one_row
                          ? here.row_items
                          : static_cast<int>(items - std::int64_t{here.rows - 1} * row_elements);
    if constexpr (Carries) {
      constexpr int tile_rows = Problem::shape::tile_rows;
      step.unit = unit;
      step.columns = here.columns;
      step.row = static_cast<int>(row % tile_rows);
      step.tile = row / tile_rows;
      step.first_tile = std::int64_t{strip} * tiles * width;
      step.first_group = std::int64_t{strip} * groups * width;
      step.ends_line = !is_followed;
      step.ends_tile = is_followed && step.row + rows == tile_rows;
    }
    return here;
  }

private:
  /// Divides the array into units, from `width`, `rows` and `one_row`.
  template <class Shape>
  void divide(const axis &own, std::int64_t band_at_most) {
    input = places(own, own.input), output = places(own, own.output);
    outers = own.outer, length = own.length, columns = own.inner;
    const std::int64_t line_rows = parts(length, Shape::row_elements);
    strips_across = parts(columns, width);
    strips = strips_across * (one_row ? parts(outers, rows) : outers);
    steps = one_row ? 1 : parts(line_rows, rows);
    set_band(least(band_at_most, strips));
    tiles = parts(line_rows, Shape::tile_rows);
    rows_of_tile = static_cast<int>(least<std::int64_t>(line_rows, Shape::tile_rows));
    groups = parts(tiles, Shape::group_tiles);
    units = multiply_add(strips, steps, 0);
  }
  LOOKBACK_DEVICE static std::int64_t index(const column_places &places, std::int64_t outer,
                                            std::int64_t element) {
    return places.first + outer * places.outer + element * places.line;
  }
  static std::int64_t parts(std::int64_t all, std::int64_t part) { return (all - 1) / part + 1; }

  /// Whether elements go directly to registers: if the lines of several rows are wide, or consist
  /// of segments of 64 bytes, and consist of whole sets of columns of a thread.
  template <class Sizes>
  static bool goes_direct(const axis &own) {
    constexpr int together = Sizes::own_columns;
    const auto whole = [](const axis::pitch &pitch) {
      return pitch.length % together == 0 && pitch.outer % together == 0;
    };
    return Sizes::may_be_direct && own.length > Sizes::row_elements &&
           (own.inner >= 2 * Sizes::direct_width || own.inner * Sizes::slot_bytes % 64 == 0) &&
           own.inner % together == 0 && whole(own.input) && whole(own.output);
  }
  /// Columns of a unit: about the same number in each, of whole vectors, if memory has them.
  template <class Sizes>
  static int width_of(const axis &own, std::int64_t widest, bool direct) {
    constexpr int vector = Sizes::vector_slots;
    // Lines without gaps between them are contiguous, if a unit has all of them.
    if (!direct && own.inner <= Sizes::columns_at_most && own.inner % vector != 0 &&
        own.input.length == own.inner && own.output.length == own.inner)
      return static_cast<int>(own.inner);
    const bool in_vectors = own.input.length % vector == 0 || own.output.length % vector == 0;
    const std::int64_t balanced = parts(own.inner, parts(own.inner, widest)),
                       unit = in_vectors ? vector
                              : direct   ? Sizes::own_columns
                                         : 1;
    return static_cast<int>(least(least(widest, own.inner), parts(balanced, unit) * unit));
  }
  static column_places places(const axis &own, const axis::pitch &pitch) {
    if (!own.reverse) return {0, pitch.outer, pitch.length};
    return {(own.length - 1) * pitch.length, pitch.outer, -pitch.length};
  }
};

/// A block that scans units, with the carry if lines have several of them.
template <class Problem, int Threads, bool Direct, bool Carries, unsigned Section>
class column_units {
  using sizes = column_sizes<Problem, Threads>;
  using T = typename Problem::accumulator;
  using tile =
      std::conditional_t<Direct, direct_columns<Problem, Threads>, column_tile<Problem, Threads>>;
  using carry = column_carry<Problem, Threads, Section>;
  static constexpr int row_elements = sizes::row_elements;
  /// Units: as many as an H200 has multiprocessors. (Shares of a copy's speed there, i32, without
  /// and with 33, 66, 132 and 264: 65536 x 1024 0.64, 0.65, 0.69, 0.71 and 0.67; 4194304 x 16 0.55,
  /// 0.56, 0.58, 0.59 and 0.55.)
  static constexpr unsigned prefetch_distance = 132;
  static constexpr bool prefetches =
      Carries && std::is_pointer<typename Problem::input_type>::value;

public:
  using state_type = column_state<T, Section>;
  LOOKBACK_DEVICE column_units(const Problem &problem, const column_layout &layout,
                               const state_type &state)
      : problem_(problem), layout_(layout), state_(state) {}

  LOOKBACK_DEVICE void run() {
    auto *const memory = &simt::shared_memory<unsigned char>();
    T *const values = reinterpret_cast<T *>(memory + layout_.values);
    tile own(problem_, layout_.rows, layout_.width, layout_.row_pitch,
             reinterpret_cast<T *>(memory + layout_.aggregates), memory + layout_.elements);
    auto &block = simt::shared_memory<column_block>();
    const bool leads = simt::thread_index() == 0;
    if (leads) construct(block, column_block{});
    if constexpr (!Carries) {
      // There is a block for each unit.
      if (leads) block.here = layout_.find<Problem, Carries>(simt::block_index(), block.step);
      simt::synchronize_block(); // mutant: column-found
      scan_unit(block, own, values);
    } else {
      simt::wait_for_previous_kernel(); // mutant: column-previous
      const auto all = static_cast<unsigned>(layout_.units);
      for (;;) {
        if (leads) {
          block.unit = drawn(block).next(all);
          if (block.unit < all) block.here = layout_.find<Problem, Carries>(block.unit, block.step);
        }
        simt::synchronize_block();
        if (block.unit >= all) return;
        scan_unit(block, own, values);
        if (own.leads() && layout_.carries_rows<Problem>())
          state_.clear_rows_behind(block.unit, all, layout_.rows * layout_.width, own.pair());
        simt::synchronize_block(); // all words are cleared before the unit ends
      }
    }
  }

private:
  LOOKBACK_DEVICE auto drawn(column_block &block) const {
    return drawn_units<state_type, drawn_progress &>(state_, block.progress);
  }

  LOOKBACK_DEVICE void scan_unit(column_block &block, tile &own, [[maybe_unused]] T *values) {
    const column_unit &here = block.here;
    const auto row_step = [&](const column_places &places) {
      return layout_.one_row ? places.outer : places.line * row_elements;
    };
    // Before the loads are issued: later, registers that wait for elements would be spilled.
    if constexpr (prefetches)
      if (simt::thread_index() == simt::warp_threads) block.ahead = stretch_ahead(block.unit);
    own.load(here, row_step(layout_.input), layout_.input.line);
    own.finish_load();
    if constexpr (tile::is_staged) simt::synchronize_block(); // mutant: column-loaded

    own.fold(here);
    simt::synchronize_block(); // mutant: column-folded
    if constexpr (prefetches) prefetch(block.ahead);
    const int items = own.items(here);
    if (own.leads()) own.combine(items);
    const auto store = [&](auto prefix) {
      own.scan(here, prefix, row_step(layout_.output), layout_.output.line);
      if constexpr (tile::is_staged) simt::synchronize_block(); // mutant: column-results
      own.store(here, row_step(layout_.output), layout_.output.line);
    };
    if constexpr (Carries) {
      carry carried(problem_, state_, layout_.rows, layout_.width, values);
      carried.find_prefixes(block.step, own, items);
      unsigned next = 0;
      if (simt::thread_index() == 0) next = drawn(block).ask();
      store([&](int row, int column) { return carried.prefix(block.step, own, row, column); });
      if (simt::thread_index() == 0) drawn(block).keep(next);
    } else {
      simt::synchronize_block(); // mutant: column-combined
      store([&](int, int) {
        maybe<T> prefix;
        if constexpr (Problem::initial_type::exists)
          prefix.set(static_cast<T>(problem_.initial.value));
        return prefix;
      });
    }
  }

  /// Of the unit that lies prefetch_distance behind `unit`. Empty if there is none.
  LOOKBACK_DEVICE column_stretch stretch_ahead(unsigned unit) const {
    if (static_cast<unsigned>(layout_.units) - unit <= prefetch_distance) return {0, 0};
    column_step step;
    const column_unit ahead = layout_.find<Problem, Carries>(unit + prefetch_distance, step);
    return {ahead.input, (ahead.rows - 1) * row_elements + ahead.last_items};
  }
  /// Prefetches the first element of every row of memory in the unit, or one for each 128 bytes
  /// where rows are narrower. Of a row in several cache lines, only the first is prefetched.
  LOOKBACK_DEVICE void prefetch(const column_stretch &ahead) const {
    const auto first = problem_.input + static_cast<std::ptrdiff_t>(ahead.first);
    const int step = layout_.prefetch_step;
    for (int i = simt::thread_index() * step; i < ahead.items; i += Threads * step)
      simt::prefetch(first + i * static_cast<std::ptrdiff_t>(layout_.input.line));
  }

  const Problem &problem_;
  const column_layout &layout_;
  const state_type &state_;
};

/// Blocks of a multiprocessor. If more have room, elements that have just been asked for are
/// spilled, and each load waits for the one before (share of a copy's speed, 65536 x 1024, H100:
/// direct f32 0.47 with four and 0.84 with three, bf16 0.68 with three and 0.70 with two).
template <class Problem, int Threads, bool Direct>
struct column_blocks {
  using sizes = column_sizes<Problem, Threads>;
  static constexpr bool wide = sizeof(typename Problem::accumulator) > 4;
  static constexpr int direct = wide || sizes::own_columns > 1 ? 2 : 3, staged = wide ? 3 : 4,
                       count = Direct ? direct : staged;
};

template <class Problem, int Threads, bool Direct, bool Carries, unsigned Section>
LOOKBACK_KERNEL(Threads, (column_blocks<Problem, Threads, Direct>::count))
column_units_kernel(
    LOOKBACK_KERNEL_PARAMETER Problem problem, LOOKBACK_KERNEL_PARAMETER column_layout layout,
    LOOKBACK_KERNEL_PARAMETER column_state<typename Problem::accumulator, Section> state) {
  column_units<Problem, Threads, Direct, Carries, Section>(problem, layout, state).run();
}

/// The state of units that carry, in temporary memory.
template <class T, unsigned Section>
struct column_workspace {
  using state_type = column_state<T, Section>;

  column_workspace(temporary_memory &memory, const column_layout &layout, bool carries_rows) {
    using status_words = tile_status<T>;
    const auto words = [&](std::int64_t parts) {
      return static_cast<std::size_t>(parts > 1 ? layout.strips * parts * layout.width : 0);
    };
    const auto units = static_cast<std::uint64_t>(layout.units);
    const status_bytes of_rows = status_words::bytes(
        !carries_rows ? 0
                      : (units < state_type::ring_units ? units : state_type::ring_units) *
                            static_cast<std::size_t>(layout.rows * layout.width));
    const status_bytes of_tiles = status_words::bytes(words(layout.tiles)),
                       of_groups = status_words::bytes(words(layout.groups));
    const std::size_t before = memory.bytes();
    state.next_unit = memory.take<unsigned>(1);
    zeroed = reinterpret_cast<std::uint64_t *>(state.next_unit);
    state.completed = ended_steps<>(memory.take<std::uint32_t>(state_type::sections));
    const std::size_t end =
        take_status<status_words>(memory, {of_rows, of_tiles, of_groups, of_groups},
                                  {&state.row_aggregates, &state.tile_aggregates,
                                   &state.group_aggregates, &state.group_prefixes});
    zeroed_words = (end - before) / sizeof(std::uint64_t);
  }

  state_type state;
  std::uint64_t *zeroed;
  std::size_t zeroed_words;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
