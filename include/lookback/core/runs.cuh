// SPDX-License-Identifier: MIT
// Results for runs of equal keys: a scan of (value, number of runs) pairs that combines no values
// across the beginning of a run. The last element of a run has the reduction of the run's values,
// and the number of runs that have begun up to an element, less one, is the place of its run among
// the results.
#pragma once

#include <lookback/core/problem.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// An element with its value, and whether it is the first or the last one of its run.
template <class T>
struct run_element {
  T value;
  std::uint8_t sides; // a byte, so that a small value stays small
  LOOKBACK_HOST_DEVICE bool begins() const { return (sides & 1) != 0; }
  LOOKBACK_HOST_DEVICE bool ends() const { return (sides & 2) != 0; }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE explicit operator run_prefix<T>() const {
    return {value, static_cast<std::uint64_t>(sides & 1)};
  }
};
/// The tree over runs has the shape of the tree of a scan by key (core/segments.cuh): the bits of
/// the values are the same.
template <class T>
struct shaped_by<run_element<T>> {
  using type = T;
};

// Which runs have a result: all of them, or those of at least two elements. `begins(first, last)`
// and `ends(first, last)` take bits, one an element, that say whether it is the first and the last
// one of its run. They return which elements begin, and end, a run that has a result.

struct every_run {
  LOOKBACK_HOST_DEVICE static unsigned begins(unsigned first, unsigned) { return first; }
  LOOKBACK_HOST_DEVICE static unsigned ends(unsigned, unsigned last) { return last; }
};
/// (The element of a run of one has neither side: it writes nothing, and counts as one of the run
/// before it.)
struct long_runs {
  LOOKBACK_HOST_DEVICE static unsigned begins(unsigned first, unsigned last) {
    return first & ~last;
  }
  LOOKBACK_HOST_DEVICE static unsigned ends(unsigned first, unsigned last) { return last & ~first; }
};

/// Elements of runs, read from keys and values. `Equal` is called twice for every two neighbours;
/// in shared memory once, or twice across the end of a row. `TileElements`: of a tile of the tree.
template <class T, class Which, class Keys, class Values, class Equal, int TileElements>
class runs_input {
public:
  using key = value_t<Keys>;
  using value_type = run_element<T>;
  using difference_type = std::ptrdiff_t;

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE runs_input(Keys keys, Values values, Equal equal)
      : keys_(keys), values_(values), equal_(equal) {}

  /// The first `items` elements: the last of them ends its run.
  LOOKBACK_NO_EXECUTION_CHECK
  friend LOOKBACK_HOST_DEVICE runs_input for_items(const runs_input &all, std::uint64_t items) {
    runs_input some = all;
    some.last_ = static_cast<difference_type>(items) - 1; // mutant: runs-items
    return some;
  }

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE runs_input operator+(difference_type distance) const {
    runs_input moved = *this;
    moved.position_ += distance;
    return moved;
  }

  /// The loads of one element. No load depends on another, so all can be issued at once.
  struct fetched {
    key before, own, after;
    value_t<Values> value;
  };
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE fetched fetch(difference_type distance) const {
    const difference_type i = position_ + distance;
    const auto key_at = [&](difference_type at) { return static_cast<key>(keys_[at]); };
    return {key_at(i > 0 ? i - 1 : i), key_at(i), key_at(i < last_ ? i + 1 : i),
            static_cast<value_t<Values>>(values_[i])};
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE run_element<T> finish(const fetched &memory,
                                             difference_type distance) const {
    const difference_type i = position_ + distance;
    const bool is_last = i == last_; // mutant: run-last
    const unsigned first = i == 0 || differ(memory.before, memory.own) ? 1 : 0,
                   last = is_last || differ(memory.own, memory.after) ? 1 : 0;
    return {static_cast<T>(memory.value),
            static_cast<std::uint8_t>(Which::begins(first, last) | Which::ends(first, last) << 1)};
  }
  LOOKBACK_HOST_DEVICE run_element<T> operator[](difference_type distance) const {
    return finish(fetch(distance), distance);
  }

  LOOKBACK_HOST_DEVICE const Keys &keys() const { return keys_; }
  LOOKBACK_HOST_DEVICE const Values &values() const { return values_; }
  /// Index of the last element of all.
  LOOKBACK_HOST_DEVICE difference_type last() const { return last_; }
  /// Whether a run ends between two neighbours.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE bool differ(const key &left, const key &right) const {
    Equal equal = equal_;
    return !static_cast<bool>(equal(left, right));
  }

private:
  Keys keys_;
  Values values_;
  Equal equal_;
  difference_type last_ = -1, position_ = 0;
};

/// Whether every run has a result, and it is a sum of integers.
template <class Input, class Operator>
inline constexpr bool adds_integers_of_runs = false;
template <class T, class Keys, class Values, class Equal, int TileElements>
inline constexpr bool
    adds_integers_of_runs<runs_input<T, every_run, Keys, Values, Equal, TileElements>,
                          run_operator<T, plus>> = is_integer<T> && sizeof(T) <= 8;

/// The value 1 of every element: the reduction of a run is its length.
template <class T>
struct ones {
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  LOOKBACK_HOST_DEVICE T operator[](difference_type) const { return T{1}; }
};
/// The index of every element.
struct indices {
  using value_type = std::int64_t;
  using difference_type = std::ptrdiff_t;
  LOOKBACK_HOST_DEVICE std::int64_t operator[](difference_type i) const { return i; }
};
/// Keeps the left operand: the value of a run is that of its first element.
struct leftmost {
  template <class T>
  LOOKBACK_HOST_DEVICE T operator()(const T &left, const T &) const {
    return left;
  }
};

// ---- where they go ------------------------------------------------------------------------------

/// A scanned element of a run.
template <class T>
struct scanned_run {
  run_prefix<T> prefix;
  std::uint8_t sides;
};
struct with_sides {
  static constexpr bool needs_item = true;
  LOOKBACK_NO_EXECUTION_CHECK
  template <class T>
  LOOKBACK_HOST_DEVICE scanned_run<T> operator()(const run_prefix<T> &scanned,
                                                 const run_element<T> &item) const {
    return {scanned, item.sides};
  }
};

// What is written of a run: of its first element, `first(i)`, or `first(i, key)` if the key has
// been read; of its last one, `last(i, value)`.

/// The first key, and the reduction of the values.
template <class Keys>
struct keys_and_values {
  Keys keys;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE decltype(auto) first(std::ptrdiff_t i) const { return keys[i]; }
  template <class Key>
  LOOKBACK_HOST_DEVICE const Key &first(std::ptrdiff_t, const Key &own) const {
    return own;
  }
  template <class T>
  LOOKBACK_HOST_DEVICE const T &last(std::ptrdiff_t, const T &value) const {
    return value;
  }
};
/// The index of the first element, which is the reduction of the indices, and the number of
/// elements.
struct offsets_and_lengths {
  LOOKBACK_HOST_DEVICE std::int64_t first(std::ptrdiff_t i) const { return i; }
  template <class Key>
  LOOKBACK_HOST_DEVICE std::int64_t first(std::ptrdiff_t i, const Key &) const {
    return i;
  }
  LOOKBACK_HOST_DEVICE std::int64_t last(std::ptrdiff_t i, std::int64_t begin) const {
    return i - begin + 1;
  }
};

/// The output of a scan over runs: of the run of rank r, the first element writes to firsts[r], and
/// the last one to lasts[r]. Others write nothing.
template <class T, class Firsts, class Lasts, class Written>
class run_output {
public:
  using value_type = typename output_value<Lasts, T>::type;
  using difference_type = std::ptrdiff_t;

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE run_output(Firsts firsts, Lasts lasts, Written written)
      : firsts_(firsts), lasts_(lasts), written_(written) {}
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE run_output operator+(difference_type distance) const {
    run_output moved = *this;
    moved.position_ += distance;
    return moved;
  }

  class element {
  public:
    LOOKBACK_HOST_DEVICE element(const run_output &output, difference_type i)
        : output_(output), i_(i) {}
    LOOKBACK_NO_EXECUTION_CHECK
    LOOKBACK_HOST_DEVICE void operator=(const scanned_run<T> &scanned) const {
      const auto rank = static_cast<difference_type>(scanned.prefix.runs) - 1; // mutant: run-rank
      if ((scanned.sides & 1) != 0) output_.firsts_[rank] = output_.written_.first(i_);
      if ((scanned.sides & 2) != 0)
        output_.lasts_[rank] = output_.written_.last(i_, scanned.prefix.value);
    }

  private:
    const run_output &output_;
    const difference_type i_;
  };
  LOOKBACK_HOST_DEVICE element operator[](difference_type distance) const {
    return {*this, position_ + distance};
  }
  LOOKBACK_HOST_DEVICE const Firsts &firsts() const { return firsts_; }
  LOOKBACK_HOST_DEVICE const Lasts &lasts() const { return lasts_; }
  LOOKBACK_HOST_DEVICE const Written &written() const { return written_; }

private:
  Firsts firsts_;
  Lasts lasts_;
  Written written_;
  difference_type position_ = 0;
};

/// `*count` becomes the number of results.
template <class Output, class Project, class Count>
struct counted_runs : dense<Output, Project> {
  static constexpr bool wants_total = true, scatters = true;
  Count count;
  LOOKBACK_NO_EXECUTION_CHECK
  template <class T>
  LOOKBACK_HOST_DEVICE void set_total(const run_prefix<T> &total) const {
    set_number(total.runs);
  }
  LOOKBACK_HOST_DEVICE void set_nothing() const { set_number(0); }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE void set_number(std::uint64_t runs) const {
    *count = static_cast<typename output_value<Count, std::uint64_t>::type>(runs);
  }
};

/// A scan over the runs of keys, for kernels.
template <class T, class Which, class Keys, class Values, class Firsts, class Lasts, class Written,
          class Equal, class Operator, class Count>
auto make_scan_of_runs(Keys keys, Values values, Firsts firsts, Lasts lasts, Written written,
                       Equal equal, Operator op, Count count) {
  using key = value_t<Keys>;
  using output = run_output<T, Firsts, Lasts, Written>;
  using shape = tree_shape<sizeof(T), sizeof(typename output::value_type)>;
  using input =
      runs_input<T, Which, Keys, Values, own_operator_t<Equal, key>, shape::tile_elements>;
  using sink = counted_runs<output, with_sides, Count>;
  return scan_problem<true, run_prefix<T>, input, run_operator<T, Operator>, no_initial, sink>(
      input(keys, values, to_own_operator<key>(equal)), {op}, {},
      sink{{output(firsts, lasts, written), {}}, count});
}

/// Of every run of equal keys: the first key, and the reduction of its values in the type T.
template <class T, class Keys, class Values, class KeysOut, class ValuesOut, class Equal,
          class Operator, class Count>
auto make_reduction_by_key(Keys keys, Values values, KeysOut keys_output, ValuesOut values_output,
                           Equal equal, Operator op, Count count) {
  const auto from = plain_memory(keys);
  using written = keys_and_values<std::decay_t<decltype(from)>>;
  return make_scan_of_runs<T, every_run>(
      from, plain_memory(values), output_of<value_t<Keys>>(keys_output),
      output_of<T>(values_output), written{from}, equal, to_own_operator<T>(op), count);
}

/// Of every run of at least two equal keys: the index of its first element, and its length.
template <class Keys, class Offsets, class Lengths, class Equal, class Count>
auto make_long_runs(Keys keys, Offsets offsets, Lengths lengths, Equal equal, Count count) {
  return make_scan_of_runs<std::int64_t, long_runs>(
      plain_memory(keys), indices{}, output_of<std::int64_t>(offsets),
      output_of<std::int64_t>(lengths), offsets_and_lengths{}, equal, leftmost{}, count);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
