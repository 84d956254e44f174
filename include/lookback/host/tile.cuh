// SPDX-License-Identifier: MIT
// One tile in the tree's order on one CPU thread: read once from memory, reduced, and scanned while it is still in cache.
// The 32 lanes of a row stand side by side in arrays, so that a step of the network is one loop that compilers vectorise.
#pragma once

#include <lookback/core/problem.cuh>

#include <algorithm>

namespace lookback::detail {

/// A value that is nothing but bytes: it can be written over without being ended first.
template <class T>
inline constexpr bool is_plain = std::is_trivially_copyable<T>::value;

/// Room for at most `Capacity` values, filled in order from place 0. What is there is ended with the room.
template <class T, int Capacity>
class ordered_room {
public:
  ordered_room() = default;
  ordered_room(const ordered_room &) = delete;
  ordered_room &operator=(const ordered_room &) = delete;
  ~ordered_room() { clear(); }

  const T &operator[](int i) const { return items_[i]; }
  template <class Value>
  void set(int i, Value &&value) {
    construct(items_[i], std::forward<Value>(value));
    if constexpr (!is_plain<T>) size_ = i + 1;
  }
  void clear() {
    if constexpr (!is_plain<T>)
      while (size_ > 0) items_[--size_].~T();
  }

private:
  uninitialized_array<T, Capacity> items_;
  int size_ = 0; // counted only where it matters
};

inline constexpr int lane_count = 32;
/// One value a lane: (32)
template <class T>
using lanes = ordered_room<T, lane_count>;
/// A number of lanes that the compiler knows.
using all_lanes = std::integral_constant<int, lane_count>;

template <int Distance, class T, class Count, class Room, class Operator>
void network_step(const lanes<T> &from, Room &to, Count count, Operator &op) {
  to.clear();
  const int kept = std::min<int>(Distance, count);
  for (int l = 0; l < kept; ++l) to.set(l, from[l]);
  for (int l = Distance; l < count; ++l) to.set(l, static_cast<T>(op(from[l - Distance], from[l])));
}

/// The tree's network over lanes 0 .. count - 1 of `totals`, which it uses up. Five steps of at most 31 applications.
template <class T, class Count, class Operator>
void kogge_stone(lanes<T> &totals, lanes<T> &scanned, Count count, Operator &op) {
  network_step<1>(totals, scanned, count, op);
  network_step<2>(scanned, totals, count, op);
  network_step<4>(totals, scanned, count, op);
  network_step<8>(scanned, totals, count, op);
  network_step<16>(totals, scanned, count, op);
}

/// The elements of a tile as accumulators. Behind a pointer they are read where they are, twice; any other iterator is
/// asked once for each element, before anything is written, and the answers are kept.
template <class Problem, int Capacity>
class tile_items {
  using T = typename Problem::accumulator;
  using item = typename Problem::item;
  using input = typename Problem::input_type;
  static constexpr bool stays = std::is_pointer<input>::value;

public:
  explicit tile_items(const Problem &problem) : input_(problem.input) {}

  /// Elements `first` to `first + count` are those of the tile.
  void open(std::ptrdiff_t first, int count) {
    if constexpr (stays) {
      tile_ = input_ + first;
    } else {
      kept_.clear();
      const input tile = input_ + first;
      for (int i = 0; i < count; ++i) kept_.set(i, static_cast<T>(static_cast<item>(tile[i])));
    }
  }
  decltype(auto) operator[](int i) const {
    if constexpr (!stays)
      return static_cast<const T &>(kept_[i]);
    else if constexpr (std::is_same<T, item>::value)
      return static_cast<const T &>(tile_[i]);
    else
      return static_cast<T>(static_cast<item>(tile_[i]));
  }

private:
  struct nothing {
    void clear() {}
  };
  input input_;
  std::conditional_t<stays, input, nothing> tile_{};
  std::conditional_t<stays, nothing, ordered_room<T, Capacity>> kept_;
};

/// One tile of at most `Rows` rows. `reduce` first; then `total`, if the tile is full; then `scan`, once what is to its
/// left is known.
template <class Problem, int Rows = Problem::shape::tile_rows>
class tree_tile {
  using T = typename Problem::accumulator;
  using shape = typename Problem::shape;
  using stored = typename Problem::stored;
  static constexpr int E = shape::vector_elements;
  static constexpr int row_elements = shape::row_elements;

public:
  static constexpr int capacity = Rows * row_elements;

  explicit tree_tile(const Problem &problem) : items_(problem), output_(problem.output), project_(problem.project), op_(problem.op) {}

  /// Reads elements `first` to `first + existing`, and reduces vectors and rows.
  void reduce(std::ptrdiff_t first, int existing) {
    first_ = first;
    existing_ = existing;
    items_.open(first, existing);
    vectors_.clear();
    lanes<T> row_totals;
    const int whole_rows = existing / row_elements;
    for (int r = 0; r < whole_rows; ++r) {
      reduce_row(r, all_lanes{});
      row_totals.set(r, vectors_[r * lane_count + lane_count - 1]);
    }
    if (existing % row_elements != 0) reduce_row(whole_rows, existing % row_elements / E);
    rows_.clear();
    kogge_stone(row_totals, rows_, whole_rows, op_);
  }

  /// Requires a full tile.
  const T &total() const { return rows_[Rows - 1]; }

  /// Writes the results; `prefix` is everything left of the tile.
  void scan(const maybe<T> &prefix) {
    for (int r = 0; r * row_elements < existing_; ++r) {
      if (r == 0) {
        scan_row(r, prefix.exists() ? &prefix.value() : nullptr);
      } else if (prefix.exists()) {
        const T base = static_cast<T>(op_(prefix.value(), rows_[r - 1]));
        scan_row(r, &base);
      } else {
        scan_row(r, &rows_[r - 1]);
      }
    }
  }

private:
  /// V of row r: vector totals through the network.
  template <class Count>
  void reduce_row(int r, Count whole_vectors) {
    lanes<T> totals, scanned;
    for (int l = 0; l < whole_vectors; ++l)
      totals.set(l, fold_vector<E, T>([&](int k) -> decltype(auto) { return items_[r * row_elements + l * E + k]; }, op_));
    kogge_stone(totals, scanned, whole_vectors, op_);
    for (int l = 0; l < whole_vectors; ++l) vectors_.set(r * lane_count + l, scanned[l]);
  }

  /// Results of row r; `base` is everything left of it, or null.
  void scan_row(int r, const T *base) {
    const int count = std::min(existing_ - r * row_elements, row_elements);
    if constexpr (is_plain<T> && std::is_trivially_copyable<stored>::value) {
      if (base != nullptr && count == row_elements) return scan_whole_row(r, *base);
    }
    for (int l = 0; l * E < count; ++l) {
      if (l == 0)
        scan_vector(r, l, base, count);
      else if (base == nullptr)
        scan_vector(r, l, &vectors_[r * lane_count + l - 1], count);
      else
        scan_vector(r, l, address_of_temporary(static_cast<T>(op_(*base, vectors_[r * lane_count + l - 1]))), count);
    }
  }
  static const T *address_of_temporary(const T &value) { return &value; }

  /// Results of vector l of row r, one after the other.
  void scan_vector(int r, int l, const T *base, int count) {
    const auto row = output_ + (first_ + r * row_elements);
    ordered_room<T, E + 1> left; // of elements begin, begin + 1, ...
    int k = l * E;
    const auto write = [&](const T &scanned, const T &item) { row[k] = static_cast<stored>(project_(scanned, item)); };
    if (base != nullptr) {
      left.set(0, *base);
    } else { // the very first element is its own result
      const T item = items_[r * row_elements + k];
      write(item, item);
      left.set(0, item);
      ++k;
    }
    for (int i = 0; k < std::min(count, (l + 1) * E); ++k, ++i) {
      const T item = items_[r * row_elements + k];
      if constexpr (!Problem::inclusive) write(left[i], item);
      left.set(i + 1, static_cast<T>(op_(left[i], item)));
      if constexpr (Problem::inclusive) write(left[i + 1], item);
    }
  }

  /// All lanes side by side, element k of every vector at once.
  void scan_whole_row(int r, const T &base) {
    uninitialized_array<T, lane_count> scanned;
    construct(scanned[0], base);
    for (int l = 1; l < lane_count; ++l) construct(scanned[l], static_cast<T>(op_(base, vectors_[r * lane_count + l - 1])));
    uninitialized_array<stored, row_elements> results;
    for (int l = 0; l < lane_count; ++l)
      for (int k = 0; k < E; ++k) {
        const T item = items_[r * row_elements + l * E + k];
        const T left = scanned[l];
        construct(scanned[l], static_cast<T>(op_(left, item)));
        construct(results[l * E + k], static_cast<stored>(project_(Problem::inclusive ? scanned[l] : left, item)));
      }
    const auto row = output_ + (first_ + r * row_elements);
    for (int i = 0; i < row_elements; ++i) row[i] = results[i];
  }

  tile_items<Problem, capacity> items_;
  decltype(Problem::output) output_;
  decltype(Problem::project) project_;
  decltype(Problem::op) op_;
  std::ptrdiff_t first_ = 0;
  int existing_ = 0;
  ordered_room<T, Rows * lane_count> vectors_; // V, inclusive: (rows, 32)
  lanes<T> rows_;                              // R, inclusive
};

} // namespace lookback::detail
