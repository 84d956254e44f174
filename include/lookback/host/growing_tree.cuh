// SPDX-License-Identifier: MIT
// The tree of core/tree.cuh as its parts arrive one after another: of each level, only what later
// elements need is kept.
#pragma once

#include <lookback/core/problem.cuh>
#include <lookback/host/row_network.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// An initial value that is known to exist only at run time: of an inclusive scan, it may not.
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
