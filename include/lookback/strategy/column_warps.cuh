// SPDX-License-Identifier: MIT
// Scans of columns by warps, for elements, accumulators and results of 2 or 4 bytes. A unit of work
// is 32 *pairs* of a row of the tree and a column: a row of 32 adjacent columns, or two rows of 16.
// A block is one warp, and each lane reduces and scans a pair alone: the network over a row's
// vectors needs no exchange, and V stays in registers. No barrier joins warps. While some of them
// wait for memory or for aggregates, others scan.
//
//   load       elements, to shared memory
//   reduce     V of each vector; the row's aggregate is published at once
//   gather     aggregates of the earlier rows of the tile, and G . T of the tile
//   scan       results, from shared memory to memory
//
// Units have dynamic ids, in the order of strategy/column_units.cuh. A unit waits only for units of
// smaller ids, which resident warps have drawn. A warp draws its next id when its own unit no
// longer waits for anything, so it always reaches that unit, and every wait ends.
//
// The unit that completes a tile publishes the tile's aggregate; then it waits for those of the
// group's earlier tiles and for G, and publishes G . T of the next tile. G of a group is G . T of
// its first tile.
#pragma once

#include <lookback/strategy/column_units.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The state in device memory. All of it is zero before the first use.
template <class T>
struct column_warp_state {
  unsigned *next_unit;
  tile_status<T> row_aggregates;  // (strips, tiles, rows of a tile, width)
  tile_status<T> tile_aggregates; // (strips, tiles, width)
  tile_status<T> tile_prefixes;   // (strips, tiles, width): G . T of all tiles but the first
};

/// `Width`: columns of a unit.
template <class Problem, int Width>
struct column_warp_sizes {
  using item = typename Problem::item;
  using shape = typename Problem::shape;
  static constexpr int rows = simt::warp_threads / Width; // of a unit
  static constexpr int slot = sizeof(item), line_bytes = Width * slot;
  /// Rows begin in different banks.
  static constexpr int row_pitch = shape::row_elements * line_bytes + (rows > 1 ? line_bytes : 0);
  static constexpr int bytes = rows * row_pitch;
  /// Blocks of a multiprocessor: three of each scheduler's, with 168 registers a thread. Thirteen
  /// would have room in shared memory, but 128 registers.
  static constexpr int blocks = 12;
};

/// For which problems and lines.
template <class Problem>
struct column_warps {
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  static constexpr bool possible = std::is_pointer<typename Problem::input_type>::value &&
                                   std::is_pointer<typename Problem::output_type>::value &&
                                   std::is_trivially_copyable<item>::value &&
                                   std::is_trivially_copyable<stored>::value &&
                                   (sizeof(item) == 2 || sizeof(item) == 4) &&
                                   sizeof(stored) == sizeof(item) && sizeof(T) == sizeof(item);
  static constexpr bool may_be_narrow = sizeof(item) == 4; // strips of 16: slower with 2 bytes
  /// Lines of whole strips of `width`, with no partial row or many full ones, in `units` units or
  /// more. Elements of 2 bytes need 16 full rows. (Shares of a copy's speed, H200, bf16, by units
  /// of column_units.cuh and by warps: 65536 x 1024 .61 and .70, 1024 x 65536 .67 and .65,
  /// 4194304 x 16 .55 and .50.)
  static bool fits(const axis &own, int width, std::int64_t units) {
    const std::int64_t rows = own.length / shape::row_elements;
    if (sizeof(item) == 2 && rows < 16) return false;
    const bool few_partial = own.length % shape::row_elements == 0 ? rows >= 2 : rows >= 16;
    return own.inner % width == 0 && few_partial &&
           own.outer * own.inner >= units * simt::warp_threads / rows;
  }
};

/// The block, for the launcher.
template <class Problem, int Width, class Rows>
struct column_warp_block {
  using rows = Rows;
  template <class>
  struct of {
    static constexpr block_shape shape() {
      return {simt::warp_threads, column_warp_sizes<Problem, Width>::bytes};
    }
  };
};

template <class Problem, int Width>
class column_warp {
  using sizes = column_warp_sizes<Problem, Width>;
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  using shape = typename Problem::shape;
  static constexpr int E = shape::vector_elements, vectors = network::lanes,
                       row_elements = shape::row_elements, tile_rows = shape::tile_rows,
                       group_tiles = shape::group_tiles, rows = sizes::rows;
  using values = uninitialized_array<T, network::lanes>;

public:
  using state_type = column_warp_state<T>;
  LOOKBACK_DEVICE column_warp(const Problem &problem, const column_layout &layout,
                              const state_type &state)
      : problem_(problem), layout_(layout), state_(state), room_(&simt::shared_memory<char>()),
        row_(simt::lane_index() / Width), op_(problem.op) {}

  LOOKBACK_DEVICE void run() {
    simt::wait_for_previous_kernel();
    const auto all = static_cast<unsigned>(layout_.units);
    for (unsigned unit = simt::broadcast(draw(), 0); unit < all;) {
      const unsigned drawn = scan_unit(unit);
      simt::synchronize_warp(); // the elements have been read // mutant: strip-read
      unit = simt::broadcast(drawn, 0);
    }
  }

private:
  /// The id of the next unit, in lane 0.
  LOOKBACK_DEVICE unsigned draw() const { return simt::fetch_increment_of_warp(state_.next_unit); }
  /// Elements of this lane's row.
  LOOKBACK_DEVICE int items_of(const column_unit &unit) const {
    if (row_ >= unit.rows) return 0;
    return row_ + 1 == unit.rows ? unit.last_items : row_elements;
  }

  /// Returns what lane 0 has drawn meanwhile.
  LOOKBACK_DEVICE unsigned scan_unit(unsigned unit) {
    column_step step;
    const column_unit here = layout_.find<Problem, true>(unit, step);
    // Lanes without a column of their own repeat what the last one does, but store nothing.
    const bool exists = simt::lane_index() % Width < here.columns,
               full = here.rows == rows && here.last_items == row_elements;
    column_ = exists ? simt::lane_index() % Width : here.columns - 1;
    const int items = items_of(here);
    if (full && layout_.whole_vectors && here.columns * sizes::slot % 16 == 0)
      load_vectors(here);
    else if (exists)
      load(here, items);
    simt::wait_for_copies();
    simt::synchronize_warp(); // mutant: strip-loaded
    values of_vectors;        // V, inclusive
    if (LOOKBACK_LIKELY(full))
      reduce<true>(items, of_vectors);
    else
      reduce<false>(items, of_vectors);
    const maybe<T> prefix = find_prefix(step, items, exists, of_vectors[vectors - 1]);
    // Not earlier: from now on, other units wait for that one.
    const unsigned drawn = draw();
    if (exists) {
      if (LOOKBACK_LIKELY(full))
        scan<true>(here, items, prefix, of_vectors);
      else
        scan<false>(here, items, prefix, of_vectors);
    }
    return drawn;
  }

  /// Loads a full unit, in vectors of 16 bytes.
  LOOKBACK_DEVICE void load_vectors(const column_unit &unit) const {
    constexpr int pieces = sizes::line_bytes / 16, // of a line
        lines = simt::warp_threads / pieces,       // at once
        times = rows * row_elements / lines;
    static_assert(row_elements % lines == 0, "a row must have whole sets of lines");
    const int lane = simt::lane_index();
    if (lane % pieces * 16 >= unit.columns * sizes::slot) return;
    const auto line = static_cast<std::ptrdiff_t>(layout_.input.line);
    auto from = problem_.input + static_cast<std::ptrdiff_t>(unit.input) + lane / pieces * line +
                lane % pieces * (16 / sizes::slot);
    LOOKBACK_UNROLL
    for (int k = 0; k < times; ++k, from = from + lines * line) {
      const int row = k * lines / row_elements, in_row = k * lines % row_elements;
      simt::copy_vector_async(
          room_ + lane * 16 + row * sizes::row_pitch + in_row * sizes::line_bytes, from);
    }
  }
  /// Loads the elements of this lane's pair.
  LOOKBACK_DEVICE void load(const column_unit &unit, int items) const {
    const auto line = static_cast<std::ptrdiff_t>(layout_.input.line);
    auto from = problem_.input + static_cast<std::ptrdiff_t>(unit.input) +
                row_ * row_elements * line + column_;
    for (int i = 0; i < items; ++i, from = from + line)
      if constexpr (sizeof(item) == 4) // an asynchronous copy has at least 4 bytes
        simt::copy_vector_async<4>(slots() + i * sizes::line_bytes, from);
      else
        std::memcpy(slots() + i * sizes::line_bytes, from, sizeof(item));
  }
  /// The elements of the pair.
  LOOKBACK_DEVICE char *slots() const {
    return room_ + row_ * sizes::row_pitch + column_ * sizes::slot;
  }
  LOOKBACK_DEVICE const item &element(int i) const {
    return *reinterpret_cast<const item *>(slots() + i * sizes::line_bytes);
  }

  /// V of all full vectors.
  template <bool Full>
  LOOKBACK_DEVICE void reduce(int items, values &of_vectors) {
    network_so_far<T, vectors, network::steps> so_far;
    LOOKBACK_UNROLL
    for (int v = 0; v < vectors; ++v) {
      // Otherwise the compiler loads so much at once that it spills.
      if (Full && v % 8 == 0 && v > 0) simt::synchronize_warp();
      if (!Full && v * E + E > items) continue;
      so_far.append(
          v, fold_vector<E, T>([&](int k) -> const item & { return element(v * E + k); }, op_),
          op_);
      construct(of_vectors[v], so_far.through(v));
    }
  }

  /// Stores the results.
  template <bool Full>
  LOOKBACK_DEVICE void scan(const column_unit &here, int items, const maybe<T> &prefix,
                            const values &of_vectors) {
    constexpr int at_once = E >= 8 ? 1 : 8 / E, batch = at_once * E; // vectors, elements
    const auto line = static_cast<std::ptrdiff_t>(layout_.output.line);
    // A store reads its address late, so the next ones have addresses in other registers.
    decltype(problem_.sink.output + line) to[batch] = {};
    LOOKBACK_UNROLL
    for (int i = 0; i < batch; ++i)
      to[i] = problem_.sink.output + static_cast<std::ptrdiff_t>(here.output) +
              (row_ * row_elements + i) * line + column_;
    LOOKBACK_UNROLL
    for (int first = 0; first < vectors; first += at_once) {
      if (!Full && first * E >= items) continue;
      uninitialized_array<item, batch> own;
      LOOKBACK_UNROLL
      for (int i = 0; i < batch; ++i)
        if (Full || first * E + i < items) construct(own[i], element(first * E + i));
      [[maybe_unused]] std::uint32_t words[8];
      constexpr bool in_words = Full && batch == 8 && sizeof(stored) == 4;
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int v = first + i, left = items - v * E;
        if (!Full && left <= 0) continue;
        maybe<T> before = prefix;
        if (v > 0) before.append(op_, of_vectors[v - 1]);
        scan_vector<Problem::inclusive, E, false>(
            before, Full || left > E ? E : left,
            [&](int k) -> const item & { return own[i * E + k]; }, op_,
            [&](int k, const T &scanned, const item &x) {
              const auto result = static_cast<stored>(problem_.sink.project(scanned, x));
              if constexpr (in_words)
                std::memcpy(&words[i * E + k], static_cast<const void *>(&result), 4);
              else
                to[i * E + k][0] = result;
            });
      }
      if constexpr (in_words) simt::store_eight(to, words);
      LOOKBACK_UNROLL
      for (int i = 0; i < batch; ++i) to[i] = to[i] + batch * line;
    }
  }

  // ---- the carry --------------------------------------------------------------------------------

  LOOKBACK_DEVICE std::size_t tile_word(const column_step &step, std::int64_t tile) const {
    return static_cast<std::size_t>(step.first_tile + tile * Width + column_);
  }
  LOOKBACK_DEVICE std::size_t row_word(const column_step &step, int row) const {
    return static_cast<std::size_t>((step.first_tile + step.tile * Width) * tile_rows +
                                    row * Width + column_);
  }

  /// (G . T) . R of this lane's row. `aggregate`: of the row, if it is full.
  LOOKBACK_DEVICE maybe<T> find_prefix(const column_step &step, int items, bool exists,
                                       const T &aggregate) {
    const int row = step.row + row_; // of the tile
    const std::size_t own_word = row_word(step, row), of_tile = tile_word(step, step.tile);
    if (exists && items == row_elements && !step.ends_line && step.row + rows < tile_rows)
      state_.row_aggregates.publish(own_word, aggregate);
    uninitialized_array<T, rows> of_unit; // of this row, and of those before it in the unit
    construct(of_unit[0], aggregate);
    LOOKBACK_UNROLL
    for (int j = 1; j < rows; ++j) construct(of_unit[j], simt::shuffle_up(aggregate, j * Width));
    if (items > 0 && step.ends_tile && row + 1 == tile_rows)
      publish_tile(
          step, fold_words<0>(state_.row_aggregates, own_word + Width, tile_rows, rows, of_unit));
    // Both are asked for at once.
    typename tile_status<T>::reading outer;
    if (step.tile > 0) outer = state_.tile_prefixes.read(of_tile);
    maybe<T> prefix, inner;
    if (items > 0 && row > 0)
      inner.set(fold_words<1>(state_.row_aggregates, own_word, row, row_, of_unit));
    if (step.tile > 0) {
      // All lanes together, or those of one unit would poll one after the other.
      for (simt::spin_bound bound;; bound.count("prefix of tile", of_tile)) {
        const bool ready = simt::all_of_warp(outer.ready()); // mutant: strip-outer
        if (ready) break;
        simt::back_off();
        if (!outer.ready()) outer = state_.tile_prefixes.read(of_tile);
      }
      prefix.set(outer.value());
    } else if constexpr (Problem::initial_type::exists) {
      prefix.set(static_cast<T>(problem_.initial.value));
    }
    if (inner.exists()) prefix.append(op_, inner.value());
    return prefix;
  }
  /// Kogge-Stone over the last `count` > 0 of 32 lanes: the value of the last one. Waits for the
  /// values, whose words are before word `end`, but has the last `own` of them: from `last[Skip]`
  /// backwards.
  template <int Skip, int Own>
  LOOKBACK_DEVICE T fold_words(const tile_status<T> &words, std::size_t end, int count, int own,
                               const uninitialized_array<T, Own> &last) {
    constexpr int lanes = network::lanes;
    const int first = lanes - count, others = lanes - own; // mutant: strip-first
    const std::size_t begin = end - lanes * Width;         // the word of lane 0, if there is one
    typename tile_status<T>::reading seen[lanes];
    for (simt::spin_bound bound;; bound.count("aggregate", end), simt::back_off()) {
      bool ready = true;
      LOOKBACK_UNROLL
      for (int l = 0; l < lanes; ++l)
        if (l >= first && l < others && !seen[l].ready()) seen[l] = words.read(begin + l * Width);
      LOOKBACK_UNROLL
      for (int l = 0; l < lanes; ++l)
        ready = ready && (l < first || l >= others || seen[l].ready()); // mutant: strip-ready
      if (ready) break;
    }
    uninitialized_array<T, lanes> x;
    LOOKBACK_UNROLL
    for (int l = 0; l < lanes; ++l) construct(x[l], seen[l].value());
    LOOKBACK_UNROLL
    for (int j = Skip; j < Own; ++j)
      if (j - Skip < own) construct(x[lanes - 1 - (j - Skip)], last[j]);
    LOOKBACK_UNROLL
    for (int l = 1; l < lanes; ++l) {
      LOOKBACK_UNROLL
      for (int distance = 1; (l + 1) % (2 * distance) == 0; distance *= 2)
        if (l - distance >= first) construct(x[l], network::combined<T>(x, l, distance, op_));
    }
    return x[lanes - 1];
  }
  LOOKBACK_DEVICE T await(const tile_status<T> &words, std::size_t i) const {
    for (simt::spin_bound bound;; bound.count("prefix of tile", i), simt::back_off()) {
      const auto seen = words.read(i);
      if (seen.ready()) return seen.value();
    }
  }
  /// By the lane that has the last row of a tile.
  LOOKBACK_DEVICE void publish_tile(const column_step &step, const T &aggregate) {
    const std::size_t of_tile = tile_word(step, step.tile);
    state_.tile_aggregates.publish(of_tile, aggregate);
    uninitialized_array<T, 1> own;
    construct(own[0], aggregate);
    const int tile = static_cast<int>(step.tile % group_tiles); // of the group
    const std::size_t of_group = tile_word(step, step.tile - tile);
    typename tile_status<T>::reading outer; // G
    if (step.tile >= group_tiles) outer = state_.tile_prefixes.read(of_group);
    const T inner = fold_words<0>(state_.tile_aggregates, of_tile + Width, tile + 1, 1, own);
    maybe<T> next; // G . T of the next tile
    if (step.tile >= group_tiles)
      next.set(outer.ready() ? outer.value() : await(state_.tile_prefixes, of_group));
    else if constexpr (Problem::initial_type::exists)
      next.set(static_cast<T>(problem_.initial.value));
    next.append(op_, inner);
    state_.tile_prefixes.publish(of_tile + Width, next.value());
  }

  const Problem &problem_;
  const column_layout &layout_;
  const state_type &state_;
  char *const room_;
  const int row_; // of the unit
  int column_ = 0;
  std::decay_t<decltype(Problem::op)> op_;
};

template <class Problem, int Width>
LOOKBACK_KERNEL(simt::warp_threads, (column_warp_sizes<Problem, Width>::blocks))
column_warps_kernel(
    LOOKBACK_KERNEL_PARAMETER Problem problem, LOOKBACK_KERNEL_PARAMETER column_layout layout,
    LOOKBACK_KERNEL_PARAMETER column_warp_state<typename Problem::accumulator> state) {
  column_warp<Problem, Width>(problem, layout, state).run();
}

/// The state, in temporary memory.
template <class T>
struct column_warp_workspace {
  column_warp_workspace(temporary_memory &memory, const column_layout &layout, int tile_rows) {
    using status_words = tile_status<T>;
    const auto tiles = static_cast<std::size_t>(layout.strips * layout.tiles * layout.width);
    const status_bytes of_rows = status_words::bytes(tiles * tile_rows),
                       of_tiles = status_words::bytes(tiles);
    const std::size_t before = memory.bytes();
    state.next_unit = memory.take<unsigned>(1);
    zeroed = reinterpret_cast<std::uint64_t *>(state.next_unit);
    const std::size_t end = take_status<status_words>(
        memory, {of_rows, of_tiles, of_tiles},
        {&state.row_aggregates, &state.tile_aggregates, &state.tile_prefixes});
    zeroed_words = (end - before) / sizeof(std::uint64_t);
  }

  column_warp_state<T> state;
  std::uint64_t *zeroed;
  std::size_t zeroed_words;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
