// SPDX-License-Identifier: MIT
// Adjacent lines (columns) in shared memory. A unit of work has `width` adjacent columns, and one
// or several rows of the tree (core/tree.cuh) of each: 32 vectors, which are 32 E elements of the
// column. Each thread has one row of one column. Adjacent threads have adjacent columns, in memory
// and in shared memory, so no transposition is needed; the network of the row is evaluated in the
// thread's registers.
#pragma once

#include <lookback/block/network.cuh>
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

/// Sizes of units that depend on the types only. Up to 32 KiB of elements: every architecture has
/// room for them without opting in.
template <class Problem>
struct column_sizes {
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  using shape = typename Problem::shape;
  static constexpr int threads = 64;
  static constexpr int alignment = most(16, most(alignof(item), alignof(stored)));
  /// Bytes of an element in shared memory, where its result replaces it.
  static constexpr int slot_bytes =
      rounded_up(most(sizeof(item), sizeof(stored)), most(alignof(item), alignof(stored)));
  static constexpr int row_elements = shape::row_elements;
  static constexpr int row_bytes = row_elements * slot_bytes;
  /// Pairs of a row and a column in a unit, at most: each has a thread.
  static constexpr int pairs =
      most(1, least(threads, (slot_bytes <= 128 ? 32768 : 16384) / row_bytes));
  /// Columns of a unit, at most: 128 bytes of elements, 64 if they are narrow, and 12 KiB of
  /// accumulators, of which a column has 32.
  static constexpr int width_at_most =
      most(1, least(least(pairs, most(4, (slot_bytes >= 4 ? 128 : 64) / slot_bytes)),
                    12288 / (32 * static_cast<int>(sizeof(T)))));
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

/// A unit in shared memory: element i of column c of row r is slot r * row_pitch + i * width + c,
/// where row_pitch is given in bytes.
template <class Problem>
class column_tile {
  using sizes = column_sizes<Problem>;
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using stored = typename Problem::stored;
  using input_type = typename Problem::input_type;
  using output_type = typename Problem::output_type;
  static constexpr int E = Problem::shape::vector_elements, slot = sizes::slot_bytes,
                       vectors = network::lanes;
  template <class Iterator, class Value>
  static constexpr bool
      moves_vectors = std::is_pointer<Iterator>::value &&std::is_trivially_copyable<Value>::value &&
                      sizeof(Value) == slot && 16 % slot == 0;

public:
  /// Aggregates of a row's vectors, after reduce(): V of the tree.
  using row_values = uninitialized_array<T, vectors>;

  LOOKBACK_DEVICE column_tile(const Problem &problem, int width, int row_pitch, unsigned char *room)
      : problem_(problem), width_(width), row_pitch_(row_pitch), room_(room),
        row_(simt::thread_index() / width), column_(simt::thread_index() % width) {}

  /// The row and the column of this thread.
  LOOKBACK_DEVICE int row() const { return row_; }
  LOOKBACK_DEVICE int column() const { return column_; }
  /// Elements of this thread's row, 0 if it has none.
  LOOKBACK_DEVICE int items(const column_unit &unit) const {
    if (row_ >= unit.rows || column_ >= unit.columns) return 0;
    return row_ + 1 == unit.rows ? unit.last_items : unit.row_items;
  }

  /// Starts to load the unit; finish_load() and a barrier complete it.
  LOOKBACK_DEVICE void load(const column_unit &unit, std::int64_t row_step, std::int64_t step) {
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

  /// Reduces this thread's row of `items` elements. If the row is full, the last of `values` is its
  /// aggregate.
  LOOKBACK_DEVICE void reduce(int items, row_values &values) const {
    if constexpr (in_registers) {
      if (items == sizes::row_elements) reduce_row<true>(items, values);
    } else {
      reduce_row<false>(items, values);
    }
  }
  /// Replaces the elements of this thread's row by their results. `prefix`: (G . T) . R of the row.
  LOOKBACK_DEVICE void scan(int items, const maybe<T> &prefix, const row_values &values) const {
    if constexpr (in_registers) {
      if (LOOKBACK_LIKELY(items == sizes::row_elements)) {
        scan_row<true>(items, prefix, values);
      } else if (items > 0) {
        row_values own;
        reduce_row<false>(items, own);
        scan_row<false>(items, prefix, own);
      }
    } else {
      scan_row<false>(items, prefix, values);
    }
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

  LOOKBACK_DEVICE unsigned char *slots_of_row() const {
    return room_ + row_ * row_pitch_ + column_ * slot;
  }
  LOOKBACK_DEVICE item read(const unsigned char *slots, int i) const {
    return *reinterpret_cast<const item *>(slots + i * width_ * slot);
  }

  /// Elements that a thread reads at once.
  static constexpr int vectors_at_once = E >= 16 || sizeof(item) > 16 ? 1 : 16 / E;
  /// Whether full rows have code of their own, unrolled, with values in registers. That code is
  /// long. Other rows are scanned by loops, with values in local memory.
  static constexpr bool in_registers = sizeof(T) <= 8 && E <= 8;

  template <bool Full>
  LOOKBACK_DEVICE void reduce_row(int items, row_values &values) const {
    [[maybe_unused]] constexpr int together = Full ? vectors : 1;
    const unsigned char *const slots = slots_of_row();
    auto op = problem_.op;
    const int full = Full ? vectors : items / E;
    LOOKBACK_UNROLL_BY(together)
    for (int first = 0; first < vectors; first += vectors_at_once) {
      LOOKBACK_UNROLL
      for (int v = first; v < first + vectors_at_once; ++v)
        if (v < full)
          construct(values[v],
                    fold_vector<E, T>([&](int k) -> item { return read(slots, v * E + k); }, op));
    }
    LOOKBACK_UNROLL_BY(together)
    for (int distance = 1; distance < vectors; distance *= 2) {
      LOOKBACK_UNROLL_BY(together)
      for (int v = vectors - 1; v > 0; --v) // downwards: the operands are of the step before
        if (v >= distance && v < full)
          construct(values[v], static_cast<T>(op(values[v - distance], values[v])));
    }
  }

  template <bool Full>
  LOOKBACK_DEVICE void scan_row(int items, const maybe<T> &prefix, const row_values &values) const {
    [[maybe_unused]] constexpr int together = Full ? vectors : 1;
    unsigned char *const slots = slots_of_row();
    auto op = problem_.op;
    LOOKBACK_UNROLL_BY(together)
    for (int first = 0; first < vectors; first += vectors_at_once) {
      // All are read before the first result is written: the compiler must assume that a result may
      // overwrite an element that it reads later.
      uninitialized_array<item, vectors_at_once * E> own;
      LOOKBACK_UNROLL
      for (int i = 0; i < vectors_at_once * E; ++i)
        if (Full || first * E + i < items) construct(own[i], read(slots, first * E + i));
      LOOKBACK_UNROLL
      for (int i = 0; i < vectors_at_once; ++i) {
        const int v = first + i, left = items - v * E;
        if (!Full && left <= 0) continue;
        maybe<T> before = prefix;
        if (v > 0) before.append(op, values[v - 1]);
        scan_vector<Problem::inclusive, E, false>(
            before, Full || left > E ? E : left,
            [&](int k) -> const item & { return own[i * E + k]; }, op,
            [&](int k, const T &scanned, const item &x) {
              construct(*reinterpret_cast<stored *>(slots + (v * E + k) * width_ * slot),
                        static_cast<stored>(problem_.sink.project(scanned, x)));
            });
      }
    }
  }

  const Problem &problem_;
  const int width_, row_pitch_; // elements, bytes
  unsigned char *const room_;
  const int row_, column_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
