// SPDX-License-Identifier: MIT
// Elements that make tiles small, operators that accuse, and the check of one trial.
#pragma once

#include <simt/scan.hpp>
#include <simt/schedules.hpp>

#include <support/operators.hpp>
#include <support/serial_reference.hpp>
#include <support/tree_reference.hpp>

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

namespace test {

/// A T that takes `Bytes` bytes: wide elements make small tiles (512 bytes: one row of 32), so that
/// groups are cheap.
template <class T, std::size_t Bytes>
struct alignas(16) widened {
  T value;
  unsigned char rest[Bytes - sizeof(T)];
  operator T() const { return value; }
};

/// An interval that copies itself by its own code and knows whether it was ever constructed, where
/// it lies: reading a place that holds no object, or bytes that were moved, is reported at once.
class owned_interval {
public:
  explicit owned_interval(interval value) : value_(value), self_(this) {}
  owned_interval(const owned_interval &other) : value_(other.value()), self_(this) {}
  owned_interval &operator=(const owned_interval &other) {
    value_ = other.value();
    (void)value();
    return *this;
  }
  ~owned_interval() {}
  interval value() const {
    if (self_ != this) emulator::fail("a value is read where none was constructed");
    return value_;
  }

private:
  interval value_;
  const owned_interval *self_;
};
inline bool operator==(const owned_interval &a, const owned_interval &b) {
  return a.value() == b.value();
}

/// An interval in 24 bytes: too wide for a cell of one word, yet nothing but bytes.
struct long_interval {
  interval value;
  std::uint64_t tag[2];
};
inline bool operator==(const long_interval &a, const long_interval &b) {
  return a.value == b.value && a.tag[0] == b.tag[0] && a.tag[1] == b.tag[1];
}
/// An interval in 12 bytes or more; all others tell it, too.
template <std::size_t Bytes>
struct marked_interval {
  interval value;
  std::uint32_t marks[Bytes / 4 - 2];
};
template <std::size_t Bytes>
bool operator==(const marked_interval<Bytes> &a, const marked_interval<Bytes> &b) {
  return a.value == b.value && std::equal(std::begin(a.marks), std::end(a.marks), b.marks);
}
/// An interval in 16 bytes, half of it in either word of its cell.
struct split_interval {
  std::uint64_t begin, end;
};
inline bool operator==(split_interval a, split_interval b) {
  return a.begin == b.begin && a.end == b.end;
}

/// Sums in floating point: the order of association shows.
template <std::size_t Bytes>
struct floats {
  static constexpr int count = Bytes / sizeof(float);
  float at[count];
  floats() = default;
  explicit floats(double value) {
    for (int i = 0; i < count; ++i) at[i] = static_cast<float>(value + i % 7);
  }
  friend bool operator==(const floats &a, const floats &b) {
    return std::equal(a.at, a.at + count, b.at);
  }
};
struct add_floats {
  template <std::size_t Bytes>
  floats<Bytes> operator()(const floats<Bytes> &a, const floats<Bytes> &b) const {
    floats<Bytes> sum;
    for (int i = 0; i < floats<Bytes>::count; ++i) sum.at[i] = a.at[i] + b.at[i];
    return sum;
  }
};
inline interval interval_of(interval a) { return a; }
inline interval interval_of(const owned_interval &a) { return a.value(); }
inline interval interval_of(const long_interval &a) {
  if (a.tag[0] != a.value.begin + 7u || a.tag[1] != a.value.end + 9u)
    emulator::fail("a value is torn");
  return a.value;
}
inline std::uint32_t mark_of(interval value, std::size_t i) {
  return value.begin + 3 * value.end + static_cast<std::uint32_t>(7 * i);
}
template <std::size_t Bytes>
interval interval_of(const marked_interval<Bytes> &a) {
  for (std::size_t i = 0; i < std::size(a.marks); ++i)
    if (a.marks[i] != mark_of(a.value, i)) emulator::fail("a value is torn");
  return a.value;
}
inline interval interval_of(split_interval a) {
  if ((a.begin | a.end) >> 32 != 0x11) emulator::fail("an operand was never written");
  return {static_cast<std::uint32_t>(a.begin), static_cast<std::uint32_t>(a.end)};
}
template <class T>
inline constexpr bool is_marked = false;
template <std::size_t Bytes>
inline constexpr bool is_marked<marked_interval<Bytes>> = true;
template <class T>
T marked(interval value) {
  T result{value, {}};
  for (std::size_t i = 0; i < std::size(result.marks); ++i) result.marks[i] = mark_of(value, i);
  return result;
}
template <class T>
T make_interval(interval value) {
  if constexpr (std::is_same<T, long_interval>::value)
    return {value, {value.begin + 7u, value.end + 9u}};
  else if constexpr (std::is_same<T, split_interval>::value)
    return {value.begin | std::uint64_t{0x11} << 32, value.end | std::uint64_t{0x11} << 32};
  else if constexpr (is_marked<T>)
    return marked<T>(value);
  else
    return T(value);
}

/// Joins neighbours, and reports the very call that has an invalid, repeated or misplaced operand:
/// there are to be none.
struct join_neighbours {
  template <class T>
  T operator()(const T &a, const T &b) const {
    const interval left = interval_of(a), right = interval_of(b);
    if (!(left.begin < left.end && left.end == right.begin && right.begin < right.end))
      emulator::fail("operator applied to [" + std::to_string(left.begin) + ", " +
                     std::to_string(left.end) + ") and [" + std::to_string(right.begin) + ", " +
                     std::to_string(right.end) + ")");
    return make_interval<T>({left.begin, right.end});
  }
};

/// Reads through a class, not a pointer.
template <class T>
class reading_iterator {
public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;
  explicit reading_iterator(const T *at) : at_(at) {}
  reading_iterator operator+(difference_type distance) const {
    return reading_iterator(at_ + distance);
  }
  T operator[](difference_type distance) const { return at_[distance]; }

private:
  const T *at_;
};
/// A function over what stands behind a pointer, taken apart as Thrust's transform_iterator can be.
template <class Function, class Base>
class transforming_iterator {
  using T = std::remove_cv_t<std::remove_pointer_t<Base>>;

public:
  using value_type = std::decay_t<decltype(std::declval<Function &>()(std::declval<const T &>()))>;
  using difference_type = std::ptrdiff_t;
  using reference = value_type;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;
  transforming_iterator(Base at, Function function) : at_(at), function_(function) {}
  transforming_iterator operator+(difference_type distance) const {
    return {at_ + distance, function_};
  }
  value_type operator[](difference_type distance) const { return functor()(at_[distance]); }
  Function functor() const { return function_; }
  const Base &base() const { return at_; }

private:
  Base at_;
  Function function_;
};
/// Writes through a class that declares no value type.
template <class T>
class writing_iterator {
public:
  class place {
  public:
    explicit place(T *at) : at_(at) {}
    const place &operator=(const T &value) const {
      *at_ = value;
      return *this;
    }

  private:
    T *at_;
  };
  using value_type = void;
  using difference_type = std::ptrdiff_t;
  using reference = place;
  using pointer = void;
  using iterator_category = std::output_iterator_tag;
  explicit writing_iterator(T *at) : at_(at) {}
  writing_iterator operator+(difference_type distance) const {
    return writing_iterator(at_ + distance);
  }
  place operator[](difference_type distance) const { return place(at_ + distance); }

private:
  T *at_;
};

/// `n` elements and their filler behind them, `shift` elements from the start of an allocation that
/// ends with the filler.
template <class T>
class guarded_buffer {
public:
  guarded_buffer(std::size_t n, std::size_t shift, const T &filler)
      : n_(n), shift_(shift), values_(shift + n + behind, filler) {}
  T *data() { return values_.data() + shift_; }
  std::vector<T> results() const {
    return {values_.begin() + shift_, values_.begin() + shift_ + n_};
  }
  bool intact() const {
    const auto is_filler = [&](const T &value) { return value == values_.back(); };
    return std::all_of(values_.begin(), values_.begin() + shift_, is_filler) &&
           std::all_of(values_.end() - behind, values_.end(), is_filler);
  }

private:
  static constexpr std::size_t behind = 3;
  std::size_t n_, shift_;
  std::vector<T> values_;
};

/// Elements that are only read, `shift` of them from a multiple of 16 bytes. AddressSanitizer
/// allows nothing before them (but up to 7 bytes) or behind.
template <class T>
class bare_input {
public:
  bare_input(const std::vector<T> &values, std::size_t shift)
      : shift_(shift), values_(shift + values.size()) {
    std::copy(values.begin(), values.end(), values_.begin() + shift);
    ASAN_POISON_MEMORY_REGION(values_.data(), shift * sizeof(T));
  }
  ~bare_input() { ASAN_UNPOISON_MEMORY_REGION(values_.data(), shift_ * sizeof(T)); }
  bare_input(const bare_input &) = delete;
  bare_input &operator=(const bare_input &) = delete;
  const T *data() const { return values_.data() + shift_; }
  T *data() { return values_.data() + shift_; }

private:
  std::size_t shift_;
  std::vector<T> values_;
};

/// Any number of elements by which an array of T can begin behind a multiple of 16 bytes.
template <class T>
std::size_t any_shift(trial &one) {
  return one.random() % std::max<std::size_t>(1, 16 / sizeof(T));
}

/// Segments by same_octave, at most `longest` elements long. Values are intervals that are numbered
/// within their segment, from 1; [0, 1) is the initial value.
template <class Key, class T>
struct segments {
  std::vector<Key> keys;
  std::vector<T> values, inclusive, exclusive;

  segments(trial &one, std::size_t n, std::size_t longest) {
    Key now = 0;
    for (std::size_t left = 0, i = 0; keys.size() < n; --left, ++i) {
      if (left == 0) {
        left = 1 + one.random() % longest;
        now = static_cast<Key>(now + 8);
        i = 0;
      }
      keys.push_back(static_cast<Key>(now + one.random() % 8));
      const auto end = static_cast<std::uint32_t>(i);
      values.push_back(make_interval<T>(interval_element(i)));
      inclusive.push_back(make_interval<T>({1, end + 2}));
      exclusive.push_back(make_interval<T>({0, end + 1}));
    }
  }
};

/// Segments of numbers, at most `longest` elements long, and their sums.
template <class Number>
struct keyed_numbers {
  std::vector<Number> keys, values, inclusive, exclusive;
  const Number initial;

  keyed_numbers(trial &one, std::size_t n, std::size_t longest)
      : initial(static_cast<Number>(one.random())) {
    Number sum{};
    for (std::size_t i = 0, left = 0; i < n; ++i, --left) {
      const bool head = left == 0;
      if (head) left = 1 + one.random() % longest;
      keys.push_back(static_cast<Number>(i == 0 ? one.random() : keys.back() + (head ? 1 : 0)));
      values.push_back(static_cast<Number>(one.random()));
      if (head) sum = Number{};
      exclusive.push_back(static_cast<Number>(initial + sum));
      sum = static_cast<Number>(sum + values.back());
      inclusive.push_back(sum);
    }
  }
};

/// The edges of row, tile and group with their neighbours, from `smallest` to `largest`, in turn;
/// every other trial any length.
inline std::size_t pick_size(trial &one, const tree_sizes &size, std::size_t largest,
                             std::size_t smallest = 1) {
  const std::uint64_t turn = one.index / emulator::mode_count;
  const std::size_t any = smallest + one.random() % (largest - smallest + 1);
  if (turn % 2 == 1) return any;
  std::vector<std::size_t> sizes;
  for (std::size_t edge :
       {size.vector, size.row, size.tile, 2 * size.tile, 5 * size.tile, size.group,
        size.group + size.tile, 2 * size.group, 2 * size.group + size.tile,
        3 * size.group + size.tile, 4 * size.group + size.tile})
    for (std::size_t n : {edge - 1, edge, edge + 1})
      if (n >= smallest && n <= largest) sizes.push_back(n);
  return sizes[turn / 2 % sizes.size()];
}

/// One scan of the first `n` of `elements`; `expected` are the results that the tree defines.
enum class kind { inclusive, inclusive_from_initial, exclusive };

template <kind Kind, int Warps, class T, class Input, class Output, class Operator>
void scan_as(Input input, Output output, const T &initial, Operator op, std::size_t n,
             const emulator::schedule &chosen) {
  namespace core = lookback::detail;
  if constexpr (Kind == kind::inclusive)
    scan<Warps>(core::make_problem<true, T>(input, output, op, core::no_initial{}), n, chosen);
  else
    scan<Warps>(core::make_problem<Kind == kind::inclusive_from_initial, T>(
                    input, output, op, core::initial_value<T>{initial}),
                n, chosen);
}

/// `In` as it lies in memory, `T` as it is accumulated and written. `expected(n, bytes_out)` are
/// the results.
template <kind Kind, int Warps, bool AnyIterator, class T, class In, class Operator, class Expected>
void check_scan(trial &one, const std::vector<In> &elements, const T &initial, Operator op,
                const T &filler, Expected expected, std::size_t smallest = 1) {
  const tree_sizes size(sizeof(In), sizeof(T));
  const std::size_t n = pick_size(one, size, elements.size(), smallest);
  guarded_buffer<In> input(n, one.random() % 2, elements.back());
  std::copy(elements.begin(), elements.begin() + n, input.data());
  const In *const from = input.data();
  guarded_buffer<T> output(n, one.random() % 2, filler);
  const auto how = one.random() % 8;
  INFO("n = ", n, ", tile = ", size.tile, ", iterators ", how);
  const auto require = [&](const auto &written, std::size_t bytes_out) {
    REQUIRE_EQ(first_difference(written.results(), expected(n, bytes_out)), nowhere);
    REQUIRE(written.intact());
  };
  if constexpr (AnyIterator) {
    if (how == 0) {
      scan_as<Kind, Warps>(reading_iterator<In>(from), output.data(), initial, op, n, one.schedule);
      return require(output, sizeof(T));
    }
    if (how == 1) {
      scan_as<Kind, Warps>(from, writing_iterator<T>(output.data()), initial, op, n, one.schedule);
      return require(output, sizeof(In)); // an output without a value type has no part in the tree
    }
  }
  if constexpr (std::is_same<In, T>::value) {
    if (how < 4) { // in place
      scan_as<Kind, Warps>(from, input.data(), initial, op, n, one.schedule);
      return require(input, sizeof(T));
    }
  }
  scan_as<Kind, Warps>(from, output.data(), initial, op, n, one.schedule);
  require(output, sizeof(T));
}

/// What a scan of consecutive intervals makes of them: [begin, first_end), [begin, first_end + 1),
/// ...
template <class T>
auto interval_results(std::uint32_t begin, std::uint32_t first_end) {
  return [=](std::size_t n, std::size_t) {
    std::vector<T> results;
    for (std::size_t i = 0; i < n; ++i)
      results.push_back(make_interval<T>({begin, first_end + static_cast<std::uint32_t>(i)}));
    return results;
  };
}
/// Intervals: one run proves the length right for every associative operator.
template <int Warps, class T, bool AnyIterator = false, class In>
void check_intervals(trial &one, const std::vector<In> &elements) {
  const T initial = make_interval<T>(interval_initial), filler = make_interval<T>({77, 78});
  switch (one.random() % 3) {
  case 0:
    return check_scan<kind::inclusive, Warps, AnyIterator, T>(
        one, elements, initial, join_neighbours{}, filler, interval_results<T>(1, 2));
  case 1:
    return check_scan<kind::inclusive_from_initial, Warps, AnyIterator, T>(
        one, elements, initial, join_neighbours{}, filler, interval_results<T>(0, 2));
  default:
    return check_scan<kind::exclusive, Warps, AnyIterator, T>(
        one, elements, initial, join_neighbours{}, filler, interval_results<T>(0, 1));
  }
}
template <class In, class T>
std::vector<In> interval_elements(std::size_t n) {
  std::vector<In> elements;
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_same<In, T>::value)
      elements.push_back(make_interval<T>(interval_element(i)));
    else
      elements.push_back(In{make_interval<T>(interval_element(i)), {}});
  }
  return elements;
}
/// `count` scans of at most `tiles` tiles of intervals, and more than `tiles_at_least`.
template <kind Kind, int Warps, class T, class In>
void scan_intervals(std::uint64_t count, std::size_t tiles, std::size_t tiles_at_least = 0) {
  const std::size_t tile = tree_sizes(sizeof(In), sizeof(T)).tile;
  const auto elements = interval_elements<In, T>(tiles * tile);
  const auto expected =
      interval_results<T>(Kind == kind::inclusive ? 1 : 0, Kind == kind::exclusive ? 1 : 2);
  for_each_trial(count, [&](trial &one) {
    check_scan<Kind, Warps, false, T>(one, elements, make_interval<T>(interval_initial),
                                      join_neighbours{}, make_interval<T>({77, 78}), expected,
                                      1 + tiles_at_least * tile);
  });
}

/// Runs a call in two phases, scan(storage, bytes, launcher), on an emulated device, with storage
/// full of garbage.
template <class Scan>
void run_in_two_phases(trial &one, const device &on, Scan scan) {
  std::vector<emulator::kernel> stream;
  const emulated_launcher launch(on, one.schedule, stream);
  std::size_t bytes = 0;
  REQUIRE(scan(nullptr, bytes, launch) == outcome::launched);
  // A counter of 0xff that is not cleared makes waits endless.
  const std::uint64_t content = one.random() % 4 == 0 ? 0xff : one.random();
  std::vector<unsigned char> storage(bytes + 3, static_cast<unsigned char>(content));
  REQUIRE(scan(storage.data() + one.random() % 3, bytes, launch) == outcome::launched);
  emulator::run(one.schedule, stream);
}

} // namespace test
