// SPDX-License-Identifier: MIT
// Scans of columns by warps. Elements, accumulators and results have 4 bytes; each may be a pair
// from two adjacent columns (tile/column_pairs.cuh). A unit of work is 32 *cells*, each of them a
// row of the tree in one column: a row of 32 adjacent columns, two rows of 16, or four of 8. A lane
// reduces and scans a cell alone: the network over a row's vectors needs no exchange.
//
// A block has two warps and, in shared memory, two rooms, which its units use alternately.
//
//   reducing warp   reduces the cells of a loaded room, publishes their aggregates, and hands over
//                   the room: while a unit waits for its prefixes, the next one is reduced
//   scanning warp   gathers the prefixes of the cells in a full room, and stores the results
//
// The scanning warp also *refills* the room: it draws the next unit when it has the prefixes, and
// loads that unit's elements into lines that it has read. At the start it fills both rooms. Not for
// pairs: their units are twice as large and half as many blocks are resident, and refilling was
// slower. There the scanning warp only releases the room, and the reducing warp draws and loads
// the next unit. (Shares of a copy's speed, H200, without refilling and with it:
// i32 4194304 x 16 0.73 and 0.84, 65536 x 1024 0.89 and 0.92; bf16 65536 x 1024 0.84 and 0.77.)
//
// Units have dynamic ids, in the order of strategy/column_units.cuh. A unit waits only for units of
// smaller ids, and a block reduces its units in the order of their ids. A unit is drawn for a room
// that is empty, or that its scanning warp will refill without another wait. So the smallest id
// that is not published waits for nothing that is not published, and every wait ends.
//
// The unit that completes a tile publishes the tile's aggregate; then it waits for those of the
// group's earlier tiles and for G, and publishes G . T of the next tile. G of a group is G . T of
// its first tile. (For pairs, only G is published: see column_warp::every_prefix.)
#pragma once

#include <lookback/arch/simt_sm90.cuh>
#include <lookback/strategy/column_units.cuh>
#include <lookback/tile/column_pairs.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The state in device memory. All of it is zero before the first use.
template <class T>
struct column_warp_state {
  unsigned *next_unit;
  tile_status<T> row_aggregates;  // (strips, tiles, column_layout::rows_of_tile, width)
  tile_status<T> tile_aggregates; // (strips, tiles, width); none if lines have one tile
  tile_status<T> tile_prefixes;   // the same: G . T of all tiles but the first, or (pairs) G
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
  static constexpr int unit_bytes = rows * row_pitch;
  static constexpr int rooms = 2, threads = 2 * simt::warp_threads;
  static constexpr bool refills = !is_column_pair<item>;
  /// Blocks of a multiprocessor: its shared memory holds the elements of 12 units of 16 KB.
  static constexpr int blocks = 6 * 16 * 1024 / (shape::row_elements * simt::warp_threads * slot);
  struct storage {
    alignas(16) char elements[rooms][unit_bytes];
    simt::barrier full[rooms];
    simt::barrier loaded[rooms]; // if the scanning warp refills rooms
    simt::barrier empty[rooms];  // if it does not
    unsigned units[rooms];
    uninitialized_array<typename Problem::accumulator, simt::warp_threads> aggregates[rooms];
  };
};

/// Which problems and lines these kernels take.
template <class Problem>
struct column_warps {
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  static constexpr bool possible = std::is_pointer<typename Problem::input_type>::value &&
                                   std::is_pointer<typename Problem::output_type>::value &&
                                   std::is_trivially_copyable<item>::value &&
                                   std::is_trivially_copyable<stored>::value && sizeof(item) == 4 &&
                                   sizeof(stored) == 4 && sizeof(T) == 4;
  /// Whether the lines are whole strips of `width`, of `units` units or more, without a partial row
  /// or with at least 16 full ones.
  static bool fits(const axis &own, int width, std::int64_t units) {
    const std::int64_t rows = own.length / shape::row_elements;
    const bool few_partial = own.length % shape::row_elements == 0 ? rows >= 2 : rows >= 16;
    return own.inner % width == 0 && few_partial &&
           own.outer * own.inner >= units * simt::warp_threads / rows;
  }
};

/// The block, for the launcher: for can_run(), and (below) for resident_blocks().
template <class Problem, int Width, class Rows>
struct column_warp_block {
  using rows = Rows;
  template <class>
  struct of {
    static constexpr block_shape shape() {
      using sizes = column_warp_sizes<Problem, Width>;
      return {sizes::threads, sizeof(typename sizes::storage)};
    }
  };
};
template <class Problem, int Width, class Rows>
struct column_warp_blocks : column_warp_block<Problem, Width, Rows> {};

#if LOOKBACK_TARGETS_SM_80
/// One warp of a block.
template <class Problem, int Width>
class column_warp {
  using sizes = column_warp_sizes<Problem, Width>;
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  using shape = typename Problem::shape;
  static constexpr int E = shape::vector_elements, vectors = network::lanes,
                       row_elements = shape::row_elements, tile_rows = shape::tile_rows,
                       group_tiles = shape::group_tiles, rows = sizes::rows, rooms = sizes::rooms;
  static constexpr bool refills = sizes::refills;
  /// Whether the unit that completes a tile publishes G . T of the next one. If not, only the unit
  /// that completes a group does, and every unit folds the aggregates of its group's tiles. For
  /// pairs, whose reducing warp also loads and should not wait. (Shares of a copy's speed, H200,
  /// with every prefix and without: bf16 4194304 x 16 0.72 and 0.79, 65536 x 1024 0.86 and 0.85;
  /// i32 0.87 and 0.81, 0.95 and 0.93.)
  static constexpr bool every_prefix = refills;
  using network_of_row = network_so_far<T, vectors, network::steps>;

public:
  using state_type = column_warp_state<T>;
  LOOKBACK_DEVICE column_warp(const Problem &problem, const column_layout &layout,
                              const state_type &state)
      : problem_(problem), layout_(layout), state_(state),
        shared_(simt::shared_memory<typename sizes::storage>()), row_(simt::lane_index() / Width),
        column_(simt::lane_index() % Width), op_(problem.op) {}

  LOOKBACK_DEVICE void run() {
    if (simt::thread_index() < rooms) {
      const int room = simt::thread_index();
      simt::initialize(shared_.full[room], simt::warp_threads);
      simt::initialize(shared_.loaded[room], 2 * simt::warp_threads); // mutant: refill-init
      simt::initialize(shared_.empty[room], simt::warp_threads);
    }
    simt::publish_barriers();
    simt::synchronize_block(); // mutant: strip-start
    prefetch();
    simt::wait_for_previous_kernel();
    // The compiler knows that a broadcast value is the same in all lanes.
    if (simt::broadcast(simt::warp_index(), 0) != 0)
      scan_units();
    else if constexpr (refills)
      reduce_loaded_units();
    else
      load_and_reduce_units();
  }

private:
  // The k-th unit of the block is in room k % rooms; each use of a room is a phase of its barriers.
  LOOKBACK_DEVICE static unsigned phase(int k) { return static_cast<unsigned>(k / rooms) % 2; }
  /// Whether the room of unit k is free: never used, or released by the scanning warp.
  LOOKBACK_DEVICE bool is_empty(int k) const {
    return k < rooms || simt::has_ended(shared_.empty[k % rooms], phase(k - rooms));
  }
  /// The id of the unit in a room. Only lane 0 reads it, so no late lane reads the next unit's id.
  LOOKBACK_DEVICE unsigned unit_in(int room) const {
    return simt::broadcast(simt::lane_index() == 0 ? shared_.units[room] : 0u, 0);
  }
  LOOKBACK_DEVICE unsigned all() const { return static_cast<unsigned>(layout_.units); }
  /// The id of the next unit, in lane 0.
  LOOKBACK_DEVICE unsigned draw() const { return simt::fetch_increment_of_warp(state_.next_unit); }
  /// Elements of this lane's row.
  LOOKBACK_DEVICE int items_of(const column_unit &unit) const {
    if (row_ >= unit.rows) return 0;
    return row_ + 1 == unit.rows ? unit.last_items : row_elements;
  }
  LOOKBACK_DEVICE static bool is_full(const column_unit &unit) {
    return unit.rows == rows && unit.last_items == row_elements;
  }

  // ---- loading ----------------------------------------------------------------------------------

  static constexpr int pieces = sizes::line_bytes / 16, // of a line
      set_lines = simt::warp_threads / pieces,          // that all lanes load at once
      sets = row_elements / set_lines;                  // of a row
  static_assert(row_elements % set_lines == 0, "a row must have whole sets of lines");

  /// Prefetches the first units, while the previous kernel clears the state: one for each block of
  /// the first quarter, a half by each warp. Another block may draw it. (If more elements are asked
  /// for at once, even the first of them come late, and with them the first prefixes. Shares of a
  /// copy's speed, H200, i32, with two units for each block and both rooms filled at once, and as
  /// it is: 4194304 x 16 0.86 and 0.87, 1048576 x 32 0.87 and 0.89, 65536 x 1024 0.94 and 0.95,
  /// 4096 x 4096 0.90 and 0.92.)
  LOOKBACK_DEVICE void prefetch() const {
    const unsigned unit = simt::block_index();
    if (unit >= all() || unit >= simt::block_count() / 4) return;
    column_step step;
    const column_unit there = layout_.find<Problem, true>(unit, step);
    const int lines = (there.rows - 1) * row_elements + there.last_items;
    const auto line = static_cast<std::ptrdiff_t>(layout_.input.line);
    const auto from = problem_.input + static_cast<std::ptrdiff_t>(there.input);
    for (int i = simt::thread_index(); i < lines; i += sizes::threads)
      simt::prefetch(from + i * line);
  }
  /// Whether lines that are copied in vectors are the last to leave the L2 cache. Share of a
  /// copy's speed (H200): i32 65536 x 1024 .92, .94; 1024 x 65536 .87, .89; 4194304 x 16 .85, .86;
  /// pairs of bf16, 4194304 x 16 .72, .69.
  static constexpr bool keeps_lines = !is_column_pair<item>;
  LOOKBACK_DEVICE static char *own_address(char *shared) {
    return keeps_lines ? simt::address_of_lane(shared) : shared;
  }
  LOOKBACK_DEVICE static void copy_vector(char *to, const void *from) {
    if constexpr (keeps_lines)
      simt::copy_vector_async(to, from, simt::cache_policy_of(true));
    else
      simt::copy_vector_async(to, from);
  }
  /// Loads a full unit whose lines consist of vectors of 16 bytes.
  LOOKBACK_DEVICE void load_vectors(const column_unit &unit, char *elements) const {
    const int lane = simt::lane_index();
    const auto line = static_cast<std::ptrdiff_t>(layout_.input.line);
    auto from = problem_.input + static_cast<std::ptrdiff_t>(unit.input) + lane / pieces * line +
                lane % pieces * (16 / sizes::slot);
    char *const to = own_address(elements + lane * 16);
    LOOKBACK_UNROLL
    for (int k = 0; k < rows * sets; ++k, from = from + set_lines * line) {
      const int row = k / sets, in_row = k % sets * set_lines;
      copy_vector(to + row * sizes::row_pitch + in_row * sizes::line_bytes, from);
    }
  }
  /// Loads this lane's cell.
  LOOKBACK_DEVICE void load(const column_unit &unit, char *elements) const {
    const auto line = static_cast<std::ptrdiff_t>(layout_.input.line);
    auto from = problem_.input + static_cast<std::ptrdiff_t>(unit.input) +
                row_ * row_elements * line + column_;
    char *to = elements + cell();
    for (int i = items_of(unit); i > 0; --i, from = from + line, to += sizes::line_bytes)
      simt::copy_vector_async<sizes::slot>(to, from);
  }

  // ---- the reducing warp ------------------------------------------------------------------------

  /// Reduces the units that the scanning warp loads.
  LOOKBACK_DEVICE void reduce_loaded_units() {
    for (int k = 0;; ++k) {
      const int room = k % rooms;
      simt::wait(shared_.loaded[room], phase(k)); // mutant: refill-loaded
      const unsigned unit = unit_in(room);
      if (unit >= all()) return simt::arrive(shared_.full[room]);
      reduce_unit(unit, room);
    }
  }
  /// Loads and reduces units, if the scanning warp does not refill rooms. If the next room is
  /// already empty, its unit is drawn while this one's elements are on their way, and its elements
  /// are asked for before this one is reduced.
  LOOKBACK_DEVICE void load_and_reduce_units() {
    unsigned unit = begin(0, draw());
    int k = 0;
    for (; unit < all(); ++k) {
      const bool ahead = simt::all_of_warp(is_empty(k + 1)); // mutant: strip-empty
      unsigned next = ahead ? draw() : 0;
      simt::wait_for_copies();
      simt::synchronize_warp(); // mutant: strip-loaded
      if (ahead) next = begin(k + 1, next);
      reduce_unit(unit, k % rooms);
      if (!ahead) {
        simt::wait(shared_.empty[(k + 1) % rooms], phase(k + 1 - rooms)); // mutant: strip-read
        next = begin(k + 1, draw());
      }
      unit = next;
    }
    simt::arrive(shared_.full[k % rooms]); // no unit is left
  }
  /// Begins to load the k-th unit of the block, which lane 0 has drawn, and returns its id.
  LOOKBACK_DEVICE unsigned begin(int k, unsigned drawn) {
    const unsigned unit = simt::broadcast(drawn, 0);
    if (simt::lane_index() == 0) shared_.units[k % rooms] = unit;
    if (unit >= all()) return unit;
    column_step step;
    const column_unit here = layout_.find<Problem, true>(unit, step);
    char *const elements = shared_.elements[k % rooms];
    if (is_full(here) && layout_.whole_vectors)
      load_vectors(here, elements);
    else
      load(here, elements);
    return unit;
  }
  /// Reduces a unit: only full rows have aggregates.
  LOOKBACK_DEVICE void reduce_unit(unsigned unit, int room) {
    column_step step;
    const column_unit here = layout_.find<Problem, true>(unit, step);
    const int items = items_of(here);
    T &aggregate = shared_.aggregates[room][simt::lane_index()];
    if (items == row_elements) {
      network_of_row so_far;
      LOOKBACK_UNROLL
      for (int v = 0; v < vectors; ++v)
        so_far.append(v, fold_vector<E, T>([&](int k) { return element(room, v * E + k); }, op_),
                      op_);
      construct(aggregate, so_far.through(vectors - 1));
    }
    simt::arrive(shared_.full[room]);
    publish(step, items, aggregate);
  }

  // ---- the scanning warp ------------------------------------------------------------------------

  LOOKBACK_DEVICE void scan_units() {
    if constexpr (refills) {
      for (int room = 0; room < rooms; ++room) {
        simt::wait_for_copies(); // not both rooms at once: see prefetch()
        load_rest(room, next_loads(room, draw()));
      }
    }
    for (int k = 0;; ++k) {
      const int room = k % rooms;
      simt::wait(shared_.full[room], phase(k)); // mutant: strip-full
      const unsigned unit = unit_in(room);
      if (unit >= all()) return;
      column_step step;
      const column_unit here = layout_.find<Problem, true>(unit, step);
      const int items = items_of(here);
      const maybe<T> prefix =
          find_prefix(step, items, shared_.aggregates[room][simt::lane_index()]);
      // Not before the prefixes are there: other units wait for the one that is drawn, and it is
      // loaded only now.
      const unsigned drawn = refills ? draw() : 0;
      loads next{};
      if (LOOKBACK_LIKELY(is_full(here)))
        scan<true>(here, room, items, prefix, drawn, next);
      else
        scan<false>(here, room, items, prefix, drawn, next);
      if constexpr (refills)
        load_rest(room, next);
      else
        simt::arrive(shared_.empty[room]); // mutant: strip-scanned
    }
  }

  /// How much of a room's next unit is loaded. A full unit whose lines consist of vectors of 16
  /// bytes is loaded in sets of lines of each row.
  struct loads {
    bool in_vectors;
    int begun;                     // sets
    decltype(Problem::input) from; // this lane's next vector
  };
  /// Assigns the unit that lane 0 has drawn to a room.
  LOOKBACK_DEVICE loads next_loads(int room, unsigned drawn) {
    const unsigned unit = simt::broadcast(drawn, 0);
    if (simt::lane_index() == 0) shared_.units[room] = unit;
    loads next{false, 0, problem_.input};
    if (unit >= all()) return next;
    column_step step;
    const column_unit there = layout_.find<Problem, true>(unit, step);
    next.in_vectors = is_full(there) && layout_.whole_vectors;
    const auto line = static_cast<std::ptrdiff_t>(layout_.input.line);
    next.from =
        next.from + (static_cast<std::ptrdiff_t>(there.input) + simt::lane_index() / pieces * line +
                     simt::lane_index() % pieces * (16 / sizes::slot));
    return next;
  }
  /// Vectors that are scanned before loading begins: the drawn id arrives meanwhile.
  static constexpr int vectors_first = vectors / 4;
  /// Sets of each row that are loaded after `read` vectors: only lines that all lanes have read,
  /// and two for each line scanned, until loading has caught up.
  LOOKBACK_DEVICE static constexpr int sets_after(int read) {
    const int most = read * E / set_lines, twice = 2 * (read - vectors_first) * E / set_lines;
    return most < twice ? most : twice; // mutant: refill-sets
  }
  /// Loads sets `begin` to `end` of each row.
  LOOKBACK_DEVICE void load_sets(int room, loads &next, int begin, int end) const {
    const auto line = static_cast<std::ptrdiff_t>(layout_.input.line);
    char *const to = own_address(shared_.elements[room] + simt::lane_index() * 16);
    LOOKBACK_UNROLL
    for (int i = begin; i < end; ++i, next.from = next.from + set_lines * line) {
      LOOKBACK_UNROLL
      for (int row = 0; row < rows; ++row)
        copy_vector(to + row * sizes::row_pitch + i * set_lines * sizes::line_bytes,
                    next.from + row * row_elements * line);
    }
    next.begun = end;
  }
  /// Loads the rest of the next unit of a room that has been read, and hands it over.
  LOOKBACK_DEVICE void load_rest(int room, loads next) {
    const unsigned unit = unit_in(room);
    if (next.in_vectors) {
      LOOKBACK_ROLLED
      for (int i = next.begun; i < sets; ++i) load_sets(room, next, i, i + 1);
    } else if (unit < all()) {
      column_step step;
      load(layout_.find<Problem, true>(unit, step), shared_.elements[room]);
    }
    simt::arrive_when_copied(shared_.loaded[room]); // mutant: refill-copied
    simt::arrive(shared_.loaded[room]);             // makes the unit's id visible
  }

  /// Stores the results. If the scanning warp refills the room, lane 0 has drawn its next unit.
  template <bool Full>
  LOOKBACK_DEVICE void scan(const column_unit &here, int room, int items, const maybe<T> &prefix,
                            unsigned drawn, loads &next) {
    constexpr int at_once = E >= 8 ? 1 : 8 / E, batch = at_once * E; // vectors, elements
    const auto line = static_cast<std::ptrdiff_t>(layout_.output.line);
    // A store reads its address late, so the next ones have addresses in other registers.
    decltype(problem_.sink.output + line) to[batch] = {};
    LOOKBACK_UNROLL
    for (int i = 0; i < batch; ++i)
      to[i] = problem_.sink.output + static_cast<std::ptrdiff_t>(here.output) +
              (row_ * row_elements + i) * line + column_;
    network_of_row so_far;
    LOOKBACK_UNROLL
    for (int first = 0; first < vectors; first += at_once) {
      if (!Full && first * E >= items) continue;
      uninitialized_array<item, batch> own;
      LOOKBACK_UNROLL
      for (int i = 0; i < batch; ++i)
        if (Full || first * E + i < items) construct(own[i], element(room, first * E + i));
      if constexpr (refills && Full) {
        if (first == vectors_first) next = next_loads(room, drawn);
        if (first >= vectors_first && next.in_vectors) {
          simt::synchronize_warp(); // mutant: refill-read
          load_sets(room, next, sets_after(first), sets_after(first + at_once));
        }
      }
      [[maybe_unused]] std::uint32_t words[8];
      constexpr bool in_words = Full && batch == 8;
      LOOKBACK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int v = first + i, left = items - v * E;
        if (!Full && left <= 0) continue;
        maybe<T> before = prefix;
        if (v > 0) before.append(op_, so_far.through(v - 1));
        const auto element_of = [&](int k) -> const item & { return own[i * E + k]; };
        if (Full || left >= E) so_far.append(v, fold_vector<E, T>(element_of, op_), op_);
        scan_vector<Problem::inclusive, E, false>(
            before, Full || left > E ? E : left, element_of, op_,
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
    if constexpr (refills && !Full) {
      simt::synchronize_warp(); // mutant: refill-all-read
      next = next_loads(room, drawn);
    }
  }

  // ---- both -------------------------------------------------------------------------------------

  /// Where this lane's cell begins in a room.
  LOOKBACK_DEVICE int cell() const { return row_ * sizes::row_pitch + column_ * sizes::slot; }
  /// Element i of this lane's cell. It is read as one word: its type may be aligned to less.
  LOOKBACK_DEVICE item element(int room, int i) const {
    const void *const at = shared_.elements[room] + cell() + i * sizes::line_bytes;
    const std::uint32_t word = *static_cast<const std::uint32_t *>(at);
    uninitialized_array<item, 1> read;
    std::memcpy(static_cast<void *>(&read[0]), &word, sizeof(word));
    return read[0];
  }

  // ---- the carry --------------------------------------------------------------------------------

  LOOKBACK_DEVICE std::size_t tile_word(const column_step &step, std::int64_t tile) const {
    return static_cast<std::size_t>(step.first_tile + tile * Width + column_);
  }
  LOOKBACK_DEVICE std::size_t row_word(const column_step &step, int row) const {
    return static_cast<std::size_t>((step.first_tile + step.tile * Width) * layout_.rows_of_tile +
                                    row * Width + column_);
  }

  /// Publishes the aggregate of this lane's row, and what else the unit completes. `aggregate`: of
  /// the row, if it is full.
  LOOKBACK_DEVICE void publish(const column_step &step, int items, const T &aggregate) {
    const int row = step.row + row_; // of the tile
    const std::size_t own_word = row_word(step, row);
    if (items == row_elements && !step.ends_line && step.row + rows < tile_rows)
      state_.row_aggregates.publish(own_word, aggregate);
    if (!step.ends_tile) return;
    const uninitialized_array<T, rows> of_unit = rows_of_unit(aggregate);
    if (row + 1 == tile_rows)
      publish_tile(
          step, fold_words<0>(state_.row_aggregates, own_word + Width, tile_rows, rows, of_unit));
  }
  /// The aggregates of this lane's row, and of those before it in the unit. Called by all lanes.
  LOOKBACK_DEVICE static uninitialized_array<T, rows> rows_of_unit(const T &aggregate) {
    uninitialized_array<T, rows> of_unit;
    construct(of_unit[0], aggregate);
    LOOKBACK_UNROLL
    for (int j = 1; j < rows; ++j) construct(of_unit[j], simt::shuffle_up(aggregate, j * Width));
    return of_unit;
  }

  /// (G . T) . R of this lane's row.
  LOOKBACK_DEVICE maybe<T> find_prefix(const column_step &step, int items, const T &aggregate) {
    const int row = step.row + row_;                                  // of the tile
    const int tiles = static_cast<int>(step.tile % group_tiles);      // before it in its group
    const std::int64_t tile = step.tile - (every_prefix ? 0 : tiles); // whose prefix is published
    const std::size_t own_word = row_word(step, row), of_tile = tile_word(step, tile);
    const uninitialized_array<T, rows> of_unit = rows_of_unit(aggregate);
    // Both are asked for at once.
    typename tile_status<T>::reading outer;
    if (tile > 0) outer = state_.tile_prefixes.read(of_tile);
    maybe<T> prefix, inner;
    if (items > 0 && row > 0)
      inner.set(fold_words<1>(state_.row_aggregates, own_word, row, row_, of_unit));
    if (tile > 0) {
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
    if constexpr (!every_prefix) {
      const std::size_t end = tile_word(step, step.tile);
      if (tiles > 0) // mutant: strip-tiles
        prefix.append(op_, fold_words<0>(state_.tile_aggregates, end, tiles, 0, of_unit));
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
    if (!every_prefix && tile + 1 < group_tiles) return;
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
  typename sizes::storage &shared_;
  const int row_, column_; // of the unit
  std::decay_t<decltype(Problem::op)> op_;
};
#endif

template <class Problem, int Width>
LOOKBACK_KERNEL((column_warp_sizes<Problem, Width>::threads),
                (column_warp_sizes<Problem, Width>::blocks))
column_warps_kernel(
    LOOKBACK_KERNEL_PARAMETER Problem problem, LOOKBACK_KERNEL_PARAMETER column_layout layout,
    LOOKBACK_KERNEL_PARAMETER column_warp_state<typename Problem::accumulator> state) {
#if LOOKBACK_TARGETS_SM_80
  column_warp<Problem, Width>(problem, layout, state).run();
#endif
}

/// The state, in temporary memory.
template <class T>
struct column_warp_workspace {
  column_warp_workspace(temporary_memory &memory, const column_layout &layout) {
    using status_words = tile_status<T>;
    // All words are cleared, so lines of one tile have none for tiles or for rows that they lack.
    const auto tiles = static_cast<std::size_t>(layout.strips * layout.tiles * layout.width);
    const status_bytes of_rows = status_words::bytes(tiles * layout.rows_of_tile),
                       of_tiles = status_words::bytes(layout.tiles > 1 ? tiles : 0);
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
