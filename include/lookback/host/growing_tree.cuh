// SPDX-License-Identifier: MIT
// The tree of core/tree.cuh as its parts arrive one after another: of each level, only what later
// elements need is kept.
#pragma once

#include <lookback/core/problem.cuh>
#include <lookback/host/row_network.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// An initial value whose existence is known only at run time. Only an inclusive scan may lack it.
template <class T>
struct maybe_initial {
  static constexpr bool exists = true;
  maybe<T> value;
};

/// The initial value of a scan as an accumulator: G(0).
template <class T>
maybe<T> initial_of(const no_initial &) {
  return {};
}
template <class T, class Value>
maybe<T> initial_of(const initial_value<Value> &initial) {
  maybe<T> converted;
  converted.set(static_cast<T>(initial.value));
  return converted;
}
template <class T>
maybe<T> initial_of(const maybe_initial<T> &initial) {
  return initial.value;
}

/// The units of a row, tile or group: the network over their aggregates, and the prefix of the next
/// unit.
template <class T>
class growing_part {
public:
  /// Begins a part with this prefix, which may not exist.
  void begin(const maybe<T> &prefix) {
    prefix_ = prefix;
    part_prefix_ = prefix_;
    within_.clear();
    units_ = 0;
  }
  const maybe<T> &prefix() const { return prefix_; }
  /// Units of the part so far.
  int units() const { return units_; }

  /// Adds a unit with this aggregate. Returns the aggregate of the part so far.
  template <class Operator>
  T push(const T &aggregate, Operator &op) {
    const T through = within_.push(aggregate, op);
    prefix_.set(extend_left_side(part_prefix_.get(), through, op));
    ++units_;
    return through;
  }

private:
  growing_network<T> within_;
  maybe<T> part_prefix_, prefix_;
  int units_ = 0;
};

/// A tile whose elements arrive in parts: its rows, the vectors of the current row, and the
/// elements of the current vector.
template <class T, class Shape>
class growing_tile {
  static constexpr int E = Shape::vector_elements;

public:
  /// Begins a tile with this prefix, which may not exist.
  void begin(const maybe<T> &prefix) {
    rows_.begin(prefix);
    begin_row();
  }
  /// The prefix of the next element. Requires a tile that is not full.
  const maybe<T> &prefix() const { return prefix_; }
  /// Sets that prefix alone, for integer sums, which have the same bits in any tree.
  void set_prefix(const T &prefix) { prefix_.set(prefix); }
  bool is_full() const { return rows_.units() == Shape::tile_rows; }
  /// Requires a full tile.
  const T &aggregate() const { return aggregate_.value(); }

  /// Adds the next `n` elements, at most up to the end of the tile. `item(i)` is element i as T,
  /// and `emit(i, scanned, item)` receives its inclusive or exclusive result. An exclusive scan
  /// requires a prefix.
  template <bool Inclusive, class Item, class Operator, class Emit>
  void scan(std::int64_t n, Item item, Operator &op, Emit emit) {
    for (std::int64_t first = 0; first < n;) {
      const auto count = static_cast<int>(std::min<std::int64_t>(E - vector_elements_, n - first));
      scan_vector<Inclusive, E, true>(
          prefix_, count, [&](int k) -> T { return item(first + k); }, op,
          [&](int k, const T &scanned, const T &x) {
            vector_.append(op, x);
            emit(first + k, scanned, x);
          });
      vector_elements_ += count;
      if (vector_elements_ == E) end_vector(op);
      first += count;
    }
  }
  /// Adds a full row with this aggregate. Requires that no row is begun.
  template <class Operator>
  void push_row(const T &aggregate, Operator &op) {
    const T through = rows_.push(aggregate, op);
    if (is_full())
      aggregate_.set(through);
    else
      begin_row();
  }

private:
  template <class Operator>
  void end_vector(Operator &op) {
    const T through = vectors_.push(vector_.value(), op);
    begin_vector(vectors_.prefix());
    if (vectors_.units() == Shape::row_vectors) push_row(through, op);
  }
  void begin_row() {
    vectors_.begin(rows_.prefix());
    begin_vector(rows_.prefix());
  }
  void begin_vector(const maybe<T> &prefix) {
    vector_ = maybe<T>();
    vector_elements_ = 0;
    prefix_ = prefix;
  }

  growing_part<T> rows_;    // of the tile
  growing_part<T> vectors_; // of the current row
  maybe<T> vector_;         // the aggregate of the current vector
  int vector_elements_ = 0; // of the current vector
  maybe<T> prefix_;         // of the next element
  maybe<T> aggregate_;      // of the full tile
};

/// The prefix of the next tile, extended tile by tile.
template <class T>
class tiles_before {
public:
  /// The next tile is the first of a group whose prefix, G, may not exist.
  explicit tiles_before(const maybe<T> &group_prefix) { begin_group(group_prefix); }
  void begin_group(const maybe<T> &prefix) { group_.begin(prefix); }
  const maybe<T> &prefix() const { return group_.prefix(); }
  /// Tiles of the group so far.
  int tiles() const { return group_.units(); }

  /// Extends the prefix by a tile with this aggregate.
  template <class Operator>
  void push(const T &aggregate, Operator &op) {
    group_.push(aggregate, op);
    if (group_.units() == tree_shape<sizeof(T)>::group_tiles) begin_group(group_.prefix());
  }

private:
  growing_part<T> group_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
