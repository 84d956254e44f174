// SPDX-License-Identifier: MIT
// Scans of columns by warps, for elements, accumulators and results of 2 or 4 bytes. A unit of work
// is a row of the tree of 16 adjacent columns. A block is one warp, and two lanes share a column:
// lane c reduces the even vectors of the row, lane c + 16 the odd ones. The first step of the
// network combines a vector with the one before it, which the other lane has; in all further steps
// distances are even, and V stays in registers. In the end, each lane scans the vectors that follow
// those it has reduced. No barrier joins warps. While some of them wait for memory or for
// aggregates, others scan.
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

template <class Problem>
struct column_warp_sizes {
  using item = typename Problem::item;
  using shape = typename Problem::shape;
  static constexpr int width = simt::warp_threads / 2, // columns of a unit
      slot = sizeof(item), line_bytes = width * slot, bytes = shape::row_elements * line_bytes;
  /// Blocks of a multiprocessor: six of each scheduler's, with 80 registers a thread.
  static constexpr int blocks = 24;
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
  /// Lines of whole strips, with no partial row or many full ones, in `units` units or more.
  /// Elements of 2 bytes need 16 full rows.
  static bool fits(const axis &own, std::int64_t units) {
    constexpr int width = column_warp_sizes<Problem>::width;
    const std::int64_t rows = own.length / shape::row_elements;
    if (sizeof(item) == 2 && rows < 16) return false;
    const bool few_partial = own.length % shape::row_elements == 0 ? rows >= 2 : rows >= 16;
    return own.inner % width == 0 && few_partial && own.outer * own.inner >= units * width / rows;
  }
};

/// The block, for the launcher.
template <class Problem, class Rows>
struct column_warp_block {
  using rows = Rows;
  template <class>
  struct of {
    static constexpr block_shape shape() {
      return {simt::warp_threads, column_warp_sizes<Problem>::bytes};
    }
  };
};

template <class Problem>
class column_warp {
  using sizes = column_warp_sizes<Problem>;
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  using shape = typename Problem::shape;
  static constexpr int E = shape::vector_elements, row_elements = shape::row_elements,
                       tile_rows = shape::tile_rows, group_tiles = shape::group_tiles,
                       width = sizes::width, line_bytes = sizes::line_bytes,
                       own_vectors = network::lanes / 2;
  static_assert(E % 2 == 0, "neighbours of a vector's elements change places");
  using values = uninitialized_array<T, own_vectors>;

public:
  using state_type = column_warp_state<T>;
  LOOKBACK_DEVICE column_warp(const Problem &problem, const column_layout &layout,
                              const state_type &state)
      : problem_(problem), layout_(layout), state_(state), room_(&simt::shared_memory<char>()),
        half_(simt::lane_index() / width), op_(problem.op) {}

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

  /// Returns what lane 0 has drawn meanwhile.
  LOOKBACK_DEVICE unsigned scan_unit(unsigned unit) {
    column_step step;
    const column_unit here = layout_.find<Problem, true>(unit, step);
    // Lanes without a column of their own repeat what the last one does, but store nothing.
    const bool exists = simt::lane_index() % width < here.columns,
               full = here.last_items == row_elements;
    column_ = exists ? simt::lane_index() % width : here.columns - 1;
    const int items = here.last_items;
    if (full && layout_.whole_vectors && here.columns * sizes::slot % 16 == 0)
      load_vectors(here);
    else if (exists)
      load(here, items);
    simt::wait_for_copies();
    simt::synchronize_warp(); // mutant: strip-loaded
    values of_vectors;        // V, inclusive, of this lane's vectors
    if (LOOKBACK_LIKELY(full))
      reduce<true>(items, of_vectors);
    else
      reduce<false>(items, of_vectors);
    const maybe<T> prefix = find_prefix(step, full, exists, of_vectors[own_vectors - 1]);
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

  // ---- elements in shared memory ----------------------------------------------------------------
  // A line's place is its index, but in odd vectors neighbours change places: the two lanes of a
  // column read lines of an even and of an odd vector, which are in different banks.

  /// Where line i of the row begins.
  LOOKBACK_DEVICE static int place(int i) { return (i ^ (i / E & 1)) * line_bytes; }

  /// Loads a full unit, in vectors of 16 bytes.
  LOOKBACK_DEVICE void load_vectors(const column_unit &unit) const {
    constexpr int pieces = line_bytes / 16,  // of a line
        lines = simt::warp_threads / pieces; // at once
    static_assert(lines == 2 * E, "an even and an odd vector");
    const int piece = simt::lane_index() % pieces, first = simt::lane_index() / pieces;
    if (piece * 16 >= unit.columns * sizes::slot) return;
    const auto line = static_cast<std::ptrdiff_t>(layout_.input.line);
    auto from = problem_.input + static_cast<std::ptrdiff_t>(unit.input) + first * line +
                piece * (16 / sizes::slot);
    char *const to = room_ + place(first) + piece * 16;
    LOOKBACK_UNROLL
    for (int i = 0; i < row_elements; i += lines, from = from + lines * line)
      simt::copy_vector_async(to + i * line_bytes, from);
  }
  /// Loads every other element of this lane's column.
  LOOKBACK_DEVICE void load(const column_unit &unit, int items) const {
    const auto line = static_cast<std::ptrdiff_t>(layout_.input.line);
    auto from = problem_.input + static_cast<std::ptrdiff_t>(unit.input) + half_ * line + column_;
    for (int i = half_; i < items; i += 2, from = from + 2 * line) {
      char *const to = room_ + place(i) + column_ * sizes::slot;
      if constexpr (sizeof(item) == 4) // an asynchronous copy has at least 4 bytes
        simt::copy_vector_async<4>(to, from);
      else
        std::memcpy(to, from, sizeof(item));
    }
  }
  /// The elements of this lane's column in every other vector: the even ones if `odd` is 0, the odd
  /// ones if it is 1.
  class elements {
  public:
    LOOKBACK_DEVICE elements(const char *column, int odd)
        : even_lines_(column + odd * (E + 1) * line_bytes),
          odd_lines_(column + odd * (E - 1) * line_bytes) {}
    /// Element k of the j-th of these vectors.
    LOOKBACK_DEVICE const item &operator()(int j, int k) const {
      const int line = 2 * j * E + k;
      return *reinterpret_cast<const item *>((k % 2 == 0 ? even_lines_ : odd_lines_) +
                                             line * line_bytes);
    }

  private:
    const char *const even_lines_, *const odd_lines_;
  };
  LOOKBACK_DEVICE elements elements_of(int odd) const {
    return elements(room_ + column_ * sizes::slot, odd);
  }

  // ---- a row of a column, by two lanes ----------------------------------------------------------

  /// Value j if `own` is 1 or there is no other, else value j - 1. (Of two values: to select one of
  /// two elements of an array, the compiler puts the array in local memory.)
  LOOKBACK_DEVICE static T own_or_before(const values &all, int j, int own) {
    const T here = all[j], before = all[j > 0 ? j - 1 : 0];
    return own > 0 ? here : before;
  }

  /// V of this lane's vectors that are full.
  template <bool Full>
  LOOKBACK_DEVICE void reduce(int items, values &of_vectors) {
    const elements own = elements_of(half_);
    network_so_far<T, own_vectors, network::steps - 1> so_far;
    values folded, of_other; // the second, of the vectors of the other lane
    LOOKBACK_UNROLL
    for (int j = 0; j < own_vectors; ++j) {
      // Otherwise the compiler loads so much at once that it spills.
      if (Full && j % 4 == 0 && j > 0) simt::synchronize_warp();
      const bool exists = Full || (2 * j + half_ + 1) * E <= items;
      if (exists)
        construct(folded[j],
                  fold_vector<E, T>([&](int k) -> const item & { return own(j, k); }, op_));
      construct(of_other[j], simt::rotate_up(folded[j], width));
      if (exists) {
        if (j > 0 || half_ > 0) // mutant: strip-left
          construct(folded[j], static_cast<T>(op_(own_or_before(of_other, j, half_), folded[j])));
        so_far.append(j, folded[j], op_);
        construct(of_vectors[j], so_far.through(j));
      }
    }
  }

  /// Stores the results of the vectors after those that this lane has reduced.
  template <bool Full>
  LOOKBACK_DEVICE void scan(const column_unit &here, int items, const maybe<T> &prefix,
                            const values &of_vectors) {
    const elements own = elements_of(1 - half_);
    constexpr int at_once = 8 / E, batch = at_once * E; // vectors, elements
    static_assert(batch == 8 && own_vectors % at_once == 0, "as many as simt::store_eight() has");
    const auto line = static_cast<std::ptrdiff_t>(layout_.output.line);
    // A store reads its address late, so the next ones have addresses in other registers.
    decltype(problem_.sink.output + line) to[batch] = {};
    LOOKBACK_UNROLL
    for (int i = 0; i < batch; ++i)
      to[i] = problem_.sink.output + static_cast<std::ptrdiff_t>(here.output) +
              ((1 - half_) * E + i / E * 2 * E + i % E) * line + column_;
    LOOKBACK_UNROLL
    for (int first = 0; first < own_vectors; first += at_once) {
      uninitialized_array<item, batch> loaded;
      [[maybe_unused]] std::uint32_t words[batch];
      constexpr bool in_words = Full && sizeof(stored) == 4;
      LOOKBACK_UNROLL
      for (int i = 0; i < batch; ++i)
        if (Full || (2 * (first + i / E) + 1 - half_) * E + i % E < items)
          construct(loaded[i], own(first + i / E, i % E));
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int j = first + i, left = items - (2 * j + 1 - half_) * E;
        if (!Full && left <= 0) continue;
        maybe<T> before = prefix;
        if (j > 0 || half_ == 0) before.append(op_, own_or_before(of_vectors, j, 1 - half_));
        scan_vector<Problem::inclusive, E, false>(
            before, Full || left > E ? E : left,
            [&](int k) -> const item & { return loaded[i * E + k]; }, op_,
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
      for (int i = 0; i < batch; ++i) to[i] = to[i] + 2 * batch * line;
    }
  }

  // ---- the carry --------------------------------------------------------------------------------

  LOOKBACK_DEVICE std::size_t tile_word(const column_step &step, std::int64_t tile) const {
    return static_cast<std::size_t>(step.first_tile + tile * width + column_);
  }
  LOOKBACK_DEVICE std::size_t row_word(const column_step &step) const {
    return static_cast<std::size_t>((step.first_tile + step.tile * width) * tile_rows +
                                    step.row * width + column_);
  }

  /// (G . T) . R of the row. `aggregate`: of the row, if it is full; in the upper lanes, which have
  /// its last vector.
  LOOKBACK_DEVICE maybe<T> find_prefix(const column_step &step, bool full, bool exists,
                                       const T &aggregate) {
    const std::size_t own_word = row_word(step), of_tile = tile_word(step, step.tile);
    if (exists && half_ > 0 && full && !step.ends_line && step.row + 1 < tile_rows)
      state_.row_aggregates.publish(own_word, aggregate);
    if (step.ends_tile)
      publish_tile(step,
                   fold_words<1>(state_.row_aggregates, own_word + width, tile_rows, aggregate));
    // Both are asked for at once.
    typename tile_status<T>::reading outer;
    if (step.tile > 0) outer = state_.tile_prefixes.read(of_tile);
    maybe<T> prefix, inner;
    if (step.row > 0)
      inner.set(fold_words<0>(state_.row_aggregates, own_word, step.row, aggregate));
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
  /// Kogge-Stone over the last `count` > 0 of 32 lanes of the network: the value of the last one,
  /// for both lanes of each column. Waits for the values, whose words are before word `end`; if
  /// `Own` is 1, the last one is `last` of the upper lane instead. Each lane has half of the words.
  template <int Own>
  LOOKBACK_DEVICE T fold_words(const tile_status<T> &words, std::size_t end, int count,
                               const T &last) {
    constexpr int lanes = network::lanes, half = lanes / 2;
    const int absent = lanes - count,  // mutant: strip-first
        first = absent - half_ * half, // of this lane's half
        others = half_ > 0 ? half - Own : half;
    const std::size_t begin = end - (lanes - half_ * half) * width; // the word of its lane 0
    typename tile_status<T>::reading seen[half];
    for (simt::spin_bound bound;; bound.count("aggregate", end), simt::back_off()) {
      bool ready = true;
      LOOKBACK_UNROLL
      for (int l = 0; l < half; ++l)
        if (l >= first && l < others && !seen[l].ready()) seen[l] = words.read(begin + l * width);
      LOOKBACK_UNROLL
      for (int l = 0; l < half; ++l)
        ready = ready && (l < first || l >= others || seen[l].ready()); // mutant: strip-ready
      if (ready) break;
    }
    uninitialized_array<T, half> x;
    LOOKBACK_UNROLL
    for (int l = 0; l < half; ++l) construct(x[l], seen[l].value());
    if (Own > 0 && half_ > 0) construct(x[half - 1], last);
    LOOKBACK_UNROLL
    for (int l = 1; l < half; ++l) {
      LOOKBACK_UNROLL
      for (int distance = 1; (l + 1) % (2 * distance) == 0; distance *= 2)
        if (l - distance >= first) construct(x[l], network::combined<T>(x, l, distance, op_));
    }
    const T own = x[half - 1], other = simt::rotate_up(own, width);
    if (absent >= half) return half_ > 0 ? own : other;
    return half_ > 0 ? static_cast<T>(op_(other, own)) : static_cast<T>(op_(own, other));
  }
  LOOKBACK_DEVICE T await(const tile_status<T> &words, std::size_t i) const {
    for (simt::spin_bound bound;; bound.count("prefix of tile", i), simt::back_off()) {
      const auto seen = words.read(i);
      if (seen.ready()) return seen.value();
    }
  }
  /// Of the unit that completes a tile. The upper lanes publish.
  LOOKBACK_DEVICE void publish_tile(const column_step &step, const T &aggregate) {
    const std::size_t of_tile = tile_word(step, step.tile);
    if (half_ > 0) state_.tile_aggregates.publish(of_tile, aggregate);
    const int tile = static_cast<int>(step.tile % group_tiles); // of the group
    const std::size_t of_group = tile_word(step, step.tile - tile);
    typename tile_status<T>::reading outer; // G
    if (step.tile >= group_tiles) outer = state_.tile_prefixes.read(of_group);
    const T inner = fold_words<1>(state_.tile_aggregates, of_tile + width, tile + 1, aggregate);
    maybe<T> next; // G . T of the next tile
    if (step.tile >= group_tiles)
      next.set(outer.ready() ? outer.value() : await(state_.tile_prefixes, of_group));
    else if constexpr (Problem::initial_type::exists)
      next.set(static_cast<T>(problem_.initial.value));
    next.append(op_, inner);
    if (half_ > 0) state_.tile_prefixes.publish(of_tile + width, next.value());
  }

  const Problem &problem_;
  const column_layout &layout_;
  const state_type &state_;
  char *const room_;
  const int half_; // 1 in the upper lanes
  int column_ = 0;
  std::decay_t<decltype(Problem::op)> op_;
};

template <class Problem>
LOOKBACK_KERNEL(simt::warp_threads, (column_warp_sizes<Problem>::blocks))
column_warps_kernel(
    LOOKBACK_KERNEL_PARAMETER Problem problem, LOOKBACK_KERNEL_PARAMETER column_layout layout,
    LOOKBACK_KERNEL_PARAMETER column_warp_state<typename Problem::accumulator> state) {
  column_warp<Problem>(problem, layout, state).run();
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
