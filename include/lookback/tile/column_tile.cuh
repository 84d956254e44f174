// SPDX-License-Identifier: MIT
// Adjacent lines (columns) in shared memory. A unit of work has `width` adjacent columns, and one
// or several rows of the tree (core/tree.cuh) of each: 32 vectors, which are 32 E elements of the
// column. A row of one column is a *pair*. Each pair has several threads, and each of these every
// so many-th vector of it. Adjacent threads have adjacent columns, in memory and in shared memory,
// so no transposition is needed.
//
//   load                      elements, to shared memory
//   fold                      V of each vector, by all threads
//   combine                   the network of each row over its vectors, by one thread a pair
//   (the carry)               the prefix of each row
//   scan                      results in the place of the elements, by all threads
//   store
#pragma once

#include <lookback/block/network.cuh>
#include <lookback/block/network_so_far.cuh>
#include <lookback/block/transfer.cuh>
#include <lookback/core/problem.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class Int = int>
constexpr Int least(Int a, Int b) {
  return a < b ? a : b;
}
constexpr int most(int a, int b) { return a > b ? a : b; }
constexpr int rounded_up(int a, int unit) { return (a + unit - 1) / unit * unit; }

/// Sizes of units that depend on the types only.
template <class Problem, int Threads>
struct column_sizes {
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  using shape = typename Problem::shape;
  static constexpr int threads = Threads;
  static constexpr int alignment = most(most(16, alignof(T)), most(alignof(item), alignof(stored)));
  /// Bytes of an element in shared memory, where its result replaces it.
  static constexpr int slot_bytes =
      rounded_up(most(sizeof(item), sizeof(stored)), most(alignof(item), alignof(stored)));
  static constexpr int row_elements = shape::row_elements;
  /// The aggregates of a pair's vectors, and its prefix. Odd, so that adjacent pairs have them in
  /// different banks.
  static constexpr int lanes = network::lanes + 1;
  /// Accumulators of the carry for each column of a unit: the rows of a tile, the tiles of a group,
  /// and a prefix. Odd, for the same reason.
  static constexpr int values_of_column = shape::tile_rows + network::lanes + 1;
  /// Bytes of a pair: its elements, and these.
  static constexpr int pair_bytes = row_elements * slot_bytes + lanes * static_cast<int>(sizeof(T));
  /// Pairs of a unit, at most. 72 of 512 bytes for 256 threads: two rows of 33 to 36 columns.
  static constexpr int pairs = most(1, least(Threads * 9 / 32, 51 * 1024 / pair_bytes));
  /// Columns of a unit, at most: 10 KiB of accumulators of the carry.
  static constexpr int columns_at_most =
      most(1, least(pairs, 10240 / (values_of_column * static_cast<int>(sizeof(T)))));
  /// Adjacent columns of a thread whose elements are in registers: those in 4 bytes.
  static constexpr int own_columns =
      std::is_pointer<typename Problem::input_type>::value &&
              std::is_pointer<typename Problem::output_type>::value &&
              std::is_trivially_copyable<item>::value &&
              std::is_trivially_copyable<stored>::value && sizeof(item) == sizeof(stored) &&
              slot_bytes < 4 && 4 % slot_bytes == 0 && shape::vector_elements * slot_bytes == 16
          ? 4 / slot_bytes
          : 1;
  /// Vectors of each, in 32 registers.
  static constexpr int own_vectors =
      own_columns > 1 ? 32 / shape::vector_elements
      : sizeof(item)<4 || sizeof(item)> 16
          ? 1
          : 32 / (shape::vector_elements * (rounded_up(static_cast<int>(sizeof(item)), 4) / 4));
  /// Whether elements can go directly to registers, and the pairs and columns of such units. The
  /// threads of a pair have the same number of vectors: not elements of 12 bytes, for example.
  static constexpr bool may_be_direct =
      (own_columns > 1 || own_vectors >= 4) && network::lanes % own_vectors == 0 && sizeof(T) <= 16;
  static constexpr int direct_pairs = Threads * own_vectors * own_columns / network::lanes,
                       direct_width = least(direct_pairs, most(4, 128 / slot_bytes));
  /// The same, if lines of the array have more: 128 bytes of elements.
  static constexpr int width_at_most = least(columns_at_most, most(4, 128 / slot_bytes));
  /// Elements in 16 bytes, if elements can be copied in vectors of that size; otherwise 1.
  static constexpr int vector_slots = 16 % slot_bytes == 0 ? 16 / slot_bytes : 1;
};

/// Where the elements of an array are. Element i of line (o, c) has the index
/// first + o * outer + i * line + c. In reverse, `line` is negative.
struct column_places {
  std::int64_t first, outer, line;
};

/// Where a unit begins in memory, and its extents. A row has the elements 0 to row_items - 1 of
/// every column, the last row those up to last_items - 1.
struct column_unit {
  std::int64_t input, output; // indices of the first elements
  int columns, rows, row_items, last_items;
};

/// Where a piece of a unit is: in shared memory, in bytes, and in memory, in elements.
struct piece_place {
  int shared;
  std::ptrdiff_t memory;
};

/// The pieces of a unit, dealt out to the threads of the block in the order of memory. A piece is
/// an element or a vector; `pieces` of them, at most `threads`, are a line, and `row_lines` lines a
/// row. A thread has the same piece of each of its lines, so the distance to its next piece is
/// constant within a row.
class unit_pieces {
public:
  /// `row`, `line`, `piece`: distances between neighbours.
  LOOKBACK_DEVICE unit_pieces(int threads, int lines, int row_lines, int pieces,
                              const piece_place &row, const piece_place &line,
                              const piece_place &piece)
      : row_lines_(row_lines),
        step_lines_(threads / pieces), step_{step_lines_ * line.shared, step_lines_ * line.memory},
        next_row_{row.shared - row_lines * line.shared, row.memory - row_lines * line.memory},
        line_(simt::thread_index() / pieces) {
    const int own = simt::thread_index() % pieces;
    left_ = line_ < step_lines_ ? lines - line_ : 0;
    place_ = {line_ * line.shared + own * piece.shared, line_ * line.memory + own * piece.memory};
    carry();
  }
  LOOKBACK_DEVICE bool exists() const { return left_ > 0; }
  LOOKBACK_DEVICE const piece_place &place() const { return place_; }
  LOOKBACK_DEVICE void next() {
    left_ -= step_lines_;
    line_ += step_lines_;
    move(step_);
    carry();
  }

private:
  LOOKBACK_DEVICE void move(const piece_place &by) {
    place_.shared += by.shared;
    place_.memory += by.memory;
  }
  LOOKBACK_DEVICE void carry() {
    for (; line_ >= row_lines_; line_ -= row_lines_) move(next_row_);
  }
  const int row_lines_, step_lines_;
  const piece_place step_, next_row_;
  int left_, line_;
  piece_place place_;
};

/// Threads and rows of a unit. A *pair* is one row of one column.
template <class Problem, int Threads>
class column_rows {
public:
  using sizes = column_sizes<Problem, Threads>;
  using T = typename Problem::accumulator;
  static constexpr int vectors = network::lanes;

  /// `rows`, `width`: of every unit. `threads`: of a pair. `aggregates`: (rows, width,
  /// sizes::lanes).
  LOOKBACK_DEVICE column_rows(const Problem &problem, int rows, int width, int threads,
                              T *aggregates)
      : problem_(problem), width_(width), pair_(simt::thread_index() % (rows * width)),
        first_(simt::thread_index() / (rows * width)), threads_(threads), row_(pair_ / width),
        column_(pair_ % width), all_(aggregates), aggregates_(aggregates + pair_ * sizes::lanes) {}

  /// The row and the column of this thread, and their index.
  LOOKBACK_DEVICE int row() const { return row_; }
  LOOKBACK_DEVICE int column() const { return column_; }
  LOOKBACK_DEVICE int pair() const { return pair_; }
  /// Whether this is the first thread of its row and column.
  LOOKBACK_DEVICE bool leads() const { return first_ == 0; }
  /// Threads of the pair, and which of them this is.
  LOOKBACK_DEVICE int threads() const { return threads_; }
  LOOKBACK_DEVICE int index() const { return first_; }
  /// Whether this is the second thread of its pair, or the only one.
  LOOKBACK_DEVICE bool is_second() const { return threads_ > 1 ? first_ == 1 : first_ == 0; }
  /// Elements of this thread's row and column, 0 if there are none, or if there is no vector for
  /// this thread.
  LOOKBACK_DEVICE int items(const column_unit &unit) const {
    return first_ < threads_ ? items(unit, row_, column_) : 0;
  }

  /// The network over the row's vectors, by the thread that leads().
  LOOKBACK_DEVICE void combine(int items) const {
    auto op = problem_.op;
    if (in_registers && items == sizes::row_elements) {
      // The values after four steps are those of the lanes below 16, which are there already when
      // the others need them for the last step.
      network_so_far<T, vectors, network::steps - 1> so_far;
      constexpr int half = vectors / 2;
      LOOKBACK_UNROLL
      for (int v = 0; v < vectors; ++v) {
        so_far.append(v, aggregates_[v], op);
        construct(aggregates_[v],
                  v < half ? so_far.through(v)
                           : static_cast<T>(op(aggregates_[v - half], so_far.through(v))));
      }
      return;
    }
    const int full = items / Problem::shape::vector_elements;
    for (int distance = 1; distance < full; distance *= 2)
      for (int v = full - 1; v >= distance; --v)
        construct(aggregates_[v], network::combined<T>(aggregates_, v, distance, op));
  }
  /// The aggregate of this thread's row, which is full.
  LOOKBACK_DEVICE const T &aggregate() const { return aggregates_[vectors - 1]; }
  /// The place of the prefix of a row.
  LOOKBACK_DEVICE T &prefix(int row, int column) const {
    return all_[(row * width_ + column) * sizes::lanes + vectors];
  }

protected:
  /// Elements of a row and column of the unit, 0 if there are none.
  LOOKBACK_DEVICE static int items(const column_unit &unit, int row, int column) {
    if (row >= unit.rows || column >= unit.columns) return 0;
    return row + 1 == unit.rows ? unit.last_items : unit.row_items;
  }
  /// Whether the network of a full row has its values in registers.
  static constexpr bool in_registers = sizeof(T) <= 8;

  const Problem &problem_;
  const int width_, pair_, first_, threads_; // threads of the pair, and which of them this is
  const int row_, column_;
  T *const all_, *const aggregates_; // of all pairs, and of this one
};

/// A unit in shared memory: element i of column c of row r is slot r * row_pitch + i * width + c,
/// where row_pitch is given in bytes. A thread has every so many-th vector of its pair.
template <class Problem, int Threads>
class column_tile : public column_rows<Problem, Threads> {
  using base = column_rows<Problem, Threads>;
  using sizes = typename base::sizes;
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  using input_type = typename Problem::input_type;
  using output_type = typename Problem::output_type;
  static constexpr int E = Problem::shape::vector_elements, slot = sizes::slot_bytes;
  using base::aggregates_;
  using base::first_;
  using base::problem_;
  using base::threads_;
  using base::width_;
  template <class Iterator, class Value>
  static constexpr bool
      moves_vectors = std::is_pointer<Iterator>::value &&std::is_trivially_copyable<Value>::value &&
                      sizeof(Value) == slot && 16 % slot == 0;

public:
  static constexpr bool is_staged = true;
  /// `room`: the elements.
  LOOKBACK_DEVICE column_tile(const Problem &problem, int rows, int width, int row_pitch,
                              T *aggregates, unsigned char *room)
      : base(problem, rows, width, Threads / (rows * width), aggregates), row_pitch_(row_pitch),
        line_bytes_(width * slot), room_(room),
        slots_(room + base::row_ * row_pitch + base::column_ * slot) {}

  /// Starts to load the unit; finish_load() and a barrier complete it.
  LOOKBACK_DEVICE void load(const column_unit &unit, std::int64_t row_step,
                            std::int64_t step) const {
    const auto from = problem_.input + static_cast<std::ptrdiff_t>(unit.input);
    if constexpr (moves_vectors<input_type, item>) {
      if (by_vectors(from, unit, row_step, step))
        return for_each_vector(unit, row_step, step, [&](const piece_place &own) {
          simt::copy_vector_async(room_ + own.shared, from + own.memory);
        });
    }
    constexpr int at_once = sizeof(item) <= 16 ? 8 : 1; // loads in flight
    unit_pieces read = elements(unit, row_step, step), write = read;
    while (read.exists()) {
      uninitialized_array<item, at_once> loaded;
      LOOKBACK_UNROLL
      for (int k = 0; k < at_once; ++k) {
        if (!read.exists()) continue;
        construct(loaded[k], static_cast<item>(from[read.place().memory]));
        read.next();
      }
      LOOKBACK_UNROLL
      for (int k = 0; k < at_once; ++k) {
        if (!write.exists()) continue;
        construct(*reinterpret_cast<item *>(room_ + write.place().shared), loaded[k]);
        write.next();
      }
    }
  }
  LOOKBACK_DEVICE static void finish_load() { simt::wait_for_copies(); }

  /// Reduces every full vector of this thread. A barrier must follow.
  LOOKBACK_DEVICE void fold(const column_unit &unit) const {
    const int full = base::items(unit) / E;
    int v = first_;
    for (; v + (at_once - 1) * threads_ < full; v += at_once * threads_) fold_vectors<at_once>(v);
    if constexpr (at_once > 1)
      for (; v < full; v += threads_) fold_vectors<1>(v);
  }
  /// Replaces the elements of this thread's vectors by their results. `prefix_of(row, column)`:
  /// (G . T) . R of a row.
  template <class Prefix>
  LOOKBACK_DEVICE void scan(const column_unit &unit, Prefix prefix_of, std::int64_t,
                            std::int64_t) const {
    const int items = base::items(unit);
    if (items == 0) return;
    const maybe<T> prefix = prefix_of(base::row_, base::column_);
    int v = first_;
    for (; (v + (at_once - 1) * threads_) * E + E <= items; v += at_once * threads_)
      scan_vectors<at_once>(v, E, prefix);
    for (; v * E < items; v += threads_)
      scan_vectors<1>(v, items - v * E < E ? items - v * E : E, prefix);
  }

  /// Stores the results of the unit.
  LOOKBACK_DEVICE void store(const column_unit &unit, std::int64_t row_step,
                             std::int64_t step) const {
    const auto to = problem_.sink.output + static_cast<std::ptrdiff_t>(unit.output);
    if constexpr (moves_vectors<output_type, stored>) {
      if (by_vectors(to, unit, row_step, step))
        return for_each_vector(unit, row_step, step, [&](const piece_place &own) {
          simt::store_vector<16>(to + own.memory, simt::load_vector<16>(room_ + own.shared));
        });
    }
    for (unit_pieces own = elements(unit, row_step, step); own.exists(); own.next())
      to[own.place().memory] = *reinterpret_cast<const stored *>(room_ + own.place().shared);
  }

private:
  LOOKBACK_DEVICE static int lines(const column_unit &unit) {
    return (unit.rows - 1) * unit.row_items + unit.last_items;
  }
  LOOKBACK_DEVICE unit_pieces elements(const column_unit &unit, std::int64_t row_step,
                                       std::int64_t step) const {
    return {sizes::threads,
            lines(unit),
            unit.row_items,
            unit.columns,
            {row_pitch_, static_cast<std::ptrdiff_t>(row_step)},
            {width_ * slot, static_cast<std::ptrdiff_t>(step)},
            {slot, 1}};
  }

  /// Whether the rows of a unit are contiguous, in memory and in shared memory.
  LOOKBACK_DEVICE bool rows_are_lines(const column_unit &unit, std::int64_t step) const {
    return unit.columns == width_ && step == width_ && unit.last_items == unit.row_items;
  }
  /// Whether all lines of the unit are vectors of 16 bytes.
  template <class Value>
  LOOKBACK_DEVICE bool by_vectors(const Value *memory, const column_unit &unit,
                                  std::int64_t row_step, std::int64_t step) const {
    constexpr std::int64_t all = sizes::vector_slots;
    const bool as_rows = rows_are_lines(unit, step);
    const int line = as_rows ? width_ * unit.row_items : unit.columns;
    return reinterpret_cast<std::uintptr_t>(memory) % 16 == 0 && line % all == 0 &&
           (unit.rows == 1 || row_step % all == 0) &&
           (as_rows || (step % all == 0 && width_ % all == 0));
  }
  template <class Move>
  LOOKBACK_DEVICE void for_each_vector(const column_unit &unit, std::int64_t row_step,
                                       std::int64_t step, Move move) const {
    constexpr int all = sizes::vector_slots;
    const piece_place row{row_pitch_, static_cast<std::ptrdiff_t>(row_step)},
        line{width_ * slot, static_cast<std::ptrdiff_t>(step)}, vector{all * slot, all};
    const int row_vectors = width_ * unit.row_items / all;
    unit_pieces own = rows_are_lines(unit, step)
                          ? unit_pieces(sizes::threads, unit.rows * row_vectors, row_vectors, 1,
                                        row, vector, vector)
                          : unit_pieces(sizes::threads, lines(unit), unit.row_items,
                                        unit.columns / all, row, line, vector);
    for (; own.exists(); own.next()) move(own.place());
  }

  /// Vectors of which a thread reads the elements at once.
  static constexpr int at_once = E >= 8 || sizeof(item) > 16 ? 1 : E == 1 ? 4 : 8 / E;

  /// Reduces `Count` vectors of this thread from vector `first` on.
  template <int Count>
  LOOKBACK_DEVICE void fold_vectors(int first) const {
    auto op = problem_.op;
    uninitialized_array<item, Count * E> own;
    LOOKBACK_UNROLL
    for (int i = 0; i < Count * E; ++i)
      construct(own[i], *slot_of<const item>(first + i / E * threads_, i % E));
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i)
      construct(aggregates_[first + i * threads_],
                fold_vector<E, T>([&](int k) -> const item & { return own[i * E + k]; }, op));
  }
  /// Scans `Count` vectors of this thread from vector `first` on, of each `count` elements.
  template <int Count>
  LOOKBACK_DEVICE void scan_vectors(int first, int count, const maybe<T> &prefix) const {
    auto op = problem_.op;
    // All are read before the first result is written: the compiler must assume that a result may
    // overwrite an element that it reads later.
    uninitialized_array<item, Count * E> own;
    LOOKBACK_UNROLL
    for (int i = 0; i < Count * E; ++i)
      if (Count > 1 || i < count)
        construct(own[i], *slot_of<const item>(first + i / E * threads_, i % E));
    LOOKBACK_UNROLL
    for (int i = 0; i < Count; ++i) {
      const int v = first + i * threads_;
      maybe<T> before = prefix;
      if (v > 0) before.append(op, aggregates_[v - 1]);
      scan_vector<Problem::inclusive, E, false>(
          before, Count > 1 ? E : count, [&](int k) -> const item & { return own[i * E + k]; }, op,
          [&](int k, const T &scanned, const item &x) {
            construct(*slot_of<stored>(v, k),
                      static_cast<stored>(problem_.sink.project(scanned, x)));
          });
    }
  }
  /// The place of element k of vector v of this thread's row.
  template <class Value>
  LOOKBACK_DEVICE Value *slot_of(int v, int k) const {
    return reinterpret_cast<Value *>(slots_ + (v * E + k) * line_bytes_);
  }

  const int row_pitch_, line_bytes_;
  unsigned char *const room_, *const slots_; // of the unit, and of the pair
};

/// A unit whose elements go from memory to registers and back. A thread has some consecutive
/// vectors of a row, of one column or of those in 4 bytes.
template <class Problem, int Threads>
class direct_columns : public column_rows<Problem, Threads> {
  using base = column_rows<Problem, Threads>;
  using sizes = typename base::sizes;
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  static constexpr int E = Problem::shape::vector_elements, own_vectors = sizes::own_vectors,
                       columns = sizes::own_columns, own_lines = own_vectors * E;
  using pack = std::conditional_t<columns == 1, item, simt::vector_words<4>>;
  using base::problem_;

public:
  static constexpr bool is_staged = false;
  LOOKBACK_DEVICE direct_columns(const Problem &problem, int rows, int width, int, T *aggregates,
                                 unsigned char *)
      : base(problem, rows, width, Threads / (rows * width), aggregates),
        begin_(simt::thread_index() / (rows * width / columns) * own_vectors),
        row_(simt::thread_index() % (rows * width / columns) / (width / columns)),
        column_(simt::thread_index() % (rows * width / columns) % (width / columns) * columns),
        own_aggregates_(aggregates + (row_ * width + column_) * sizes::lanes) {}

  /// Loads this thread's elements.
  LOOKBACK_DEVICE void load(const column_unit &unit, std::int64_t row_step, std::int64_t step) {
    auto from = problem_.input + place(unit.input, row_step, step);
    const auto distance = static_cast<std::ptrdiff_t>(step);
    const int items = own_items(unit);
    if (LOOKBACK_LIKELY(items == sizes::row_elements)) {
      LOOKBACK_UNROLL
      for (int i = 0; i < own_lines; ++i) {
        fetch(own_[i], from);
        from = from + distance;
      }
    } else if (items > 0) {
      // The last one again if there are no more: otherwise the compiler keeps the registers' old
      // values.
      LOOKBACK_UNROLL
      for (int i = 0; i < own_lines; ++i) {
        fetch(own_[i], from);
        if (begin_ * E + i + 1 < items) from = from + distance;
      }
    }
  }
  LOOKBACK_DEVICE static void finish_load() {}

  /// Reduces every full vector of this thread. A barrier must follow.
  LOOKBACK_DEVICE void fold(const column_unit &unit) const {
    auto op = problem_.op;
    const int items = own_items(unit);
    LOOKBACK_UNROLL
    for (int c = 0; c < columns; ++c) {
      LOOKBACK_UNROLL
      for (int i = 0; i < own_vectors; ++i)
        if ((begin_ + i) * E + E <= items)
          construct(own_aggregates_[c * sizes::lanes + begin_ + i],
                    fold_vector<E, T>([&](int k) { return element(i * E + k, c); }, op));
    }
  }

  /// Stores the results of this thread's elements. `prefix_of(row, column)`: (G . T) . R of a row.
  template <class Prefix>
  LOOKBACK_DEVICE void scan(const column_unit &unit, Prefix prefix_of, std::int64_t row_step,
                            std::int64_t step) const {
    const int items = own_items(unit);
    if (items == 0) return;
    maybe<T> prefixes[columns];
    LOOKBACK_UNROLL
    for (int c = 0; c < columns; ++c) prefixes[c] = prefix_of(row_, column_ + c);
    if (LOOKBACK_LIKELY(items == sizes::row_elements))
      scan_vectors<true>(items, prefixes, unit, row_step, step);
    else
      scan_vectors<false>(items, prefixes, unit, row_step, step);
  }
  LOOKBACK_DEVICE static void store(const column_unit &, std::int64_t, std::int64_t) {}

private:
  /// Elements of this thread's row, or 0 if none of them is this thread's.
  LOOKBACK_DEVICE int own_items(const column_unit &unit) const {
    const int items = begin_ < network::lanes ? base::items(unit, row_, column_) : 0;
    return begin_ * E < items ? items : 0;
  }
  /// The index of this thread's first element.
  LOOKBACK_DEVICE std::ptrdiff_t place(std::int64_t unit, std::int64_t row_step,
                                       std::int64_t step) const {
    return static_cast<std::ptrdiff_t>(unit + row_ * row_step + column_ + begin_ * E * step);
  }
  template <class Iterator>
  LOOKBACK_DEVICE static void fetch(pack &to, const Iterator &from) {
    if constexpr (columns == 1)
      construct(to, static_cast<item>(from[0]));
    else
      to = simt::load_vector<4>(from);
  }
  LOOKBACK_DEVICE item element(int i, int column) const {
    if constexpr (columns == 1) {
      return own_[i];
    } else {
      uninitialized_array<item, columns> items;
      std::memcpy(static_cast<void *>(&items[0]), &own_[i], 4);
      return items[column];
    }
  }
  template <bool Full>
  LOOKBACK_DEVICE void scan_vectors(int items, const maybe<T> *prefixes, const column_unit &unit,
                                    std::int64_t row_step, std::int64_t step) const {
    auto op = problem_.op;
    auto to = problem_.sink.output + place(unit.output, row_step, step);
    LOOKBACK_UNROLL
    for (int i = 0; i < own_vectors; ++i) {
      const int v = begin_ + i, left = items - v * E;
      if (!Full && left <= 0) continue;
      uninitialized_array<stored, E * columns> results;
      LOOKBACK_UNROLL
      for (int c = 0; c < columns; ++c) {
        maybe<T> before = prefixes[c];
        if (v > 0) before.append(op, own_aggregates_[c * sizes::lanes + v - 1]);
        scan_vector<Problem::inclusive, E, false>(
            before, Full || left > E ? E : left, [&](int k) { return element(i * E + k, c); }, op,
            [&](int k, const T &scanned, const item &x) {
              const auto result = static_cast<stored>(problem_.sink.project(scanned, x));
              if constexpr (columns == 1) {
                to[0] = result;
                to = to + static_cast<std::ptrdiff_t>(step);
              } else {
                construct(results[k * columns + c], result);
              }
            });
      }
      if constexpr (columns > 1) {
        LOOKBACK_UNROLL
        for (int k = 0; k < E; ++k) {
          if (!Full && k >= left) continue;
          simt::vector_words<4> words;
          std::memcpy(&words, static_cast<const void *>(&results[k * columns]), 4);
          simt::store_vector<4>(to, words);
          to = to + static_cast<std::ptrdiff_t>(step);
        }
      }
    }
  }

  const int begin_, row_, column_; // the first vector, and where it is
  T *const own_aggregates_;        // of the row and column, then of the next column
  uninitialized_array<pack, own_lines> own_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
