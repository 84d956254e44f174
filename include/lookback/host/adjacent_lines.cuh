// SPDX-License-Identifier: MIT
// Adjacent lines of an array on one CPU thread: each in the tree's order, and all of them together,
// one element of every line after another, so that memory is read and written as it lies and
// compilers use CPU vectors across the lines.
//
// The tree is built from the left as its elements arrive: of each level, only its last aggregates
// are kept.
#pragma once

#include <lookback/core/axis.cuh>
#include <lookback/core/problem.cuh>
#include <lookback/host/host_storage.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A value of each of `Width` lines.
template <class T, int Width>
using value_of_lines = uninitialized_array<T, Width>;

/// The network of core/tree.cuh over aggregates that arrive one after another.
template <class T, int Width>
class network_of_lines {
public:
  int count() const { return count_; }
  void clear() { count_ = 0; }
  /// Of all aggregates so far, inclusive. Requires count() > 0.
  const value_of_lines<T, Width> &through() const { return through_; }

  /// Adds the next aggregate of the first `lines` lines.
  template <class Operator>
  void push(const value_of_lines<T, Width> &aggregates, int lines, Operator &op) {
    switch (count_) {
    case 0:
      push<0>(aggregates, lines, op);
      break;
    case 1:
      push<1>(aggregates, lines, op);
      break;
    case 2:
    case 3:
      push<2>(aggregates, lines, op);
      break;
    default:
      if (count_ < 8)
        push<3>(aggregates, lines, op);
      else if (count_ < 16)
        push<4>(aggregates, lines, op);
      else
        push<5>(aggregates, lines, op);
    }
    ++count_;
  }

private:
  /// `Steps`: how many of the network's steps combine this lane with one before it.
  template <int Steps, class Operator>
  void push(const value_of_lines<T, Width> &aggregates, int lines, Operator op) {
    value_of_lines<T, Width> *before[network::steps];
    for (int step = 0, distance = 1; step < network::steps; ++step, distance *= 2)
      before[step] = &before_[distance - 1 + count_ % distance];
    LOOKBACK_INDEPENDENT
    for (int k = 0; k < lines; ++k) {
      T value = aggregates[k];
      for (int step = 0; step < network::steps; ++step) {
        T &waiting = (*before[step])[k];
        const T combined = step < Steps ? static_cast<T>(op(waiting, value)) : value;
        construct(waiting, value);
        value = combined;
      }
      construct(through_[k], value);
    }
  }

  int count_ = 0;
  value_of_lines<T, Width> through_;
  // Step by step, the values before it that lanes further on need: 1, 2, 4, 8 and 16 of them, that
  // of lane l at l modulo the step's distance.
  value_of_lines<T, Width> before_[network::lanes - 1];
};

/// Scans up to `Width` adjacent lines. `Problem` is that of one of them.
template <class Problem, int Width>
class adjacent_lines {
  using T = typename Problem::accumulator;
  using stored = typename Problem::stored;
  using shape = typename Problem::shape;
  static constexpr int E = shape::vector_elements;
  template <bool Value>
  using constant = std::integral_constant<bool, Value>;

public:
  explicit adjacent_lines(const Problem &problem) : problem_(problem), op_(problem.op) {}

  /// Lines k = 0, 1, ..., `lines` - 1 have the elements from[i * from_step + k], and their results
  /// go to[i * to_step + k]. Both may be the same memory.
  template <class Input, class Output>
  void scan(Input from, std::int64_t from_step, Output to, std::int64_t to_step,
            std::int64_t length, int lines) {
    begin(lines);
    for (std::int64_t i = 0; i < length; i += E) {
      if (i == 0 || begins_row()) begin_row();
      const auto scan_vector = [&](auto... exists) {
        const auto row = from + i * from_step;
        const auto results = to + i * to_step;
        if (length - i >= E)
          this->scan_vector(row, from_step, results, to_step, std::integral_constant<int, E>{},
                            exists...);
        else
          this->scan_vector(row, from_step, results, to_step, static_cast<int>(length - i),
                            exists...);
      };
      if (has_row_prefix_)
        vectors_.count() > 0 ? scan_vector(constant<true>{}, constant<true>{})
                             : scan_vector(constant<true>{}, constant<false>{});
      else
        vectors_.count() > 0 ? scan_vector(constant<false>{}, constant<true>{})
                             : scan_vector(constant<false>{}, constant<false>{});
      if constexpr (sums_integers<Problem>)
        has_row_prefix_ = true;
      else
        end_vector();
    }
  }

private:
  void begin(int lines) {
    lines_ = lines;
    vectors_.clear(), rows_.clear(), tiles_.clear();
    has_groups_ = Problem::initial_type::exists;
    if constexpr (Problem::initial_type::exists)
      for (int k = 0; k < lines; ++k) construct(groups_[k], static_cast<T>(problem_.initial.value));
  }
  /// Integers have the same sums in any order, so everything to the left of a vector is then one
  /// row.
  bool begins_row() const { return !sums_integers<Problem> && vectors_.count() == 0; }
  /// row_prefix_ <- (G . T) . R
  void begin_row() {
    has_row_prefix_ = has_groups_;
    for (int k = 0; k < lines_ && has_groups_; ++k) construct(row_prefix_[k], groups_[k]);
    if (tiles_.count() > 0) append_to(row_prefix_, has_row_prefix_, tiles_.through());
    if (rows_.count() > 0) append_to(row_prefix_, has_row_prefix_, rows_.through());
  }
  /// The next `count` elements of every line, at most a vector: their results from the prefix of
  /// the vector, of which both parts may not exist, and their aggregate.
  template <class Input, class Output, class Count, class HasRow, class HasVector>
  void scan_vector(Input from, std::int64_t from_step, Output to, std::int64_t to_step, Count count,
                   HasRow, HasVector) {
    auto op = op_;
    const auto project = problem_.sink.project;
    const auto &vectors = vectors_.through();
    const int lines = lines_; // a compiler must assume that a result may overwrite the member
    LOOKBACK_INDEPENDENT
    for (int k = 0; k < lines; ++k) {
      // All are read before the first is written: rows are often 4096 bytes apart, and CPUs take a
      // load for dependent on an earlier store with the same last 12 bits of the address.
      uninitialized_array<T, E> items;
      const auto read = [&](int e) {
        construct(items[e],
                  static_cast<T>(static_cast<typename Problem::item>(from[e * from_step + k])));
      };
      read(0); // by itself, so that a compiler knows that there is a first item
      for (int e = 1; e < count; ++e) read(e);
      const auto write = [&](int e, const T &scanned, const T &x) {
        to[e * to_step + k] = static_cast<stored>(project(scanned, x));
      };
      const T first = items[0];
      T aggregate = first, through = first;
      if constexpr (HasRow::value || HasVector::value) {
        T prefix = HasRow::value ? row_prefix_[k] : vectors[k];
        if (HasRow::value && HasVector::value) prefix = static_cast<T>(op(prefix, vectors[k]));
        through = static_cast<T>(op(prefix, first));
        write(0, Problem::inclusive ? through : prefix, first);
      } else {
        write(0, first, first); // the very first element is its own result
      }
      for (int e = 1; e < count; ++e) {
        const T x = items[e], before = through;
        aggregate = static_cast<T>(op(aggregate, x));
        through = static_cast<T>(op(through, x));
        write(e, Problem::inclusive ? through : before, x);
      }
      if constexpr (sums_integers<Problem>)
        construct(row_prefix_[k], through);
      else
        construct(aggregates_[k], aggregate);
    }
  }
  /// Passes the vector's aggregate on, and those of the parts that it completes. The last vector
  /// may be partial: nothing comes after it.
  void end_vector() {
    vectors_.push(aggregates_, lines_, op_);
    if (vectors_.count() < shape::row_vectors) return;
    rows_.push(vectors_.through(), lines_, op_);
    vectors_.clear();
    if (rows_.count() < shape::tile_rows) return;
    tiles_.push(rows_.through(), lines_, op_);
    rows_.clear();
    if (tiles_.count() < shape::group_tiles) return;
    append_to(groups_, has_groups_, tiles_.through());
    tiles_.clear();
  }

  template <class Values>
  void append_to(value_of_lines<T, Width> &left, bool &exists, const Values &right) {
    for (int k = 0; k < lines_; ++k)
      construct(left[k], exists ? static_cast<T>(op_(left[k], right[k])) : right[k]);
    exists = true;
  }

  const Problem &problem_;
  decltype(Problem::op) op_;
  int lines_ = 0;
  // Sums of integers use none of the networks.
  network_of_lines<T, sums_integers<Problem> ? 1 : Width> vectors_, rows_, tiles_;
  value_of_lines<T, Width> groups_;     // G of the current group, if has_groups_
  value_of_lines<T, Width> row_prefix_; // of the current row, if has_row_prefix_
  value_of_lines<T, Width> aggregates_; // of the latest vector
  bool has_groups_ = false, has_row_prefix_ = false;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
