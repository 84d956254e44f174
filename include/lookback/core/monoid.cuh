// SPDX-License-Identifier: MIT
// Operator, accumulator type and initial value of a scan, and a value that may not exist yet. No
// identity is ever assumed: a missing operand is skipped.
#pragma once

#include <lookback/core/standard.cuh>
#include <lookback/core/storage.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// The operator of sums: a + b, with the type of that expression, as std::plus<>.
/// @ingroup tree
struct plus {
  /// Returns a + b.
  LOOKBACK_NO_EXECUTION_CHECK
  template <class A, class B>
  LOOKBACK_HOST_DEVICE constexpr auto operator()(A &&a, B &&b) const
      -> decltype(static_cast<A &&>(a) + static_cast<B &&>(b)) {
    return static_cast<A &&>(a) + static_cast<B &&>(b);
  }
};

/// The default comparison of keys: a == b.
/// @ingroup tree
struct equal_to {
  /// Returns a == b.
  LOOKBACK_NO_EXECUTION_CHECK
  template <class A, class B>
  LOOKBACK_HOST_DEVICE constexpr bool operator()(const A &a, const B &b) const {
    return a == b;
  }
};

namespace detail {

/// The decayed type of `function(arguments...)`, as the host knows it. Every scan that accumulates
/// in the return type of a user's function takes the type from here, so that a function whose
/// return type is unknown on the host is refused.
template <class Function, class... Arguments>
struct returned {
  static_assert(!LOOKBACK_HIDES_RETURN_TYPE(Function),
                "lookback: this scan accumulates in the return type of the operator (or of the "
                "transform), which is unknown on the host for an extended __device__ lambda. "
                "Pass a function object, a __host__ __device__ lambda, or "
                "cuda::proclaim_return_type<T>(lambda) instead.");
  using type = std::decay_t<decltype(std::declval<Function &>()(std::declval<Arguments>()...))>;
};

/// The accumulator type of a scan, after P2322: the decayed type of op(Init, Value).
template <class Operator, class Value, class Init = Value>
using accumulator_t = typename returned<Operator, Init, Value>::type;

/// The value type of an iterator: its own `value_type`, or that of std::iterator_traits if it has
/// none.
template <class Iterator, class = void>
struct value_of {
  using type = typename std::iterator_traits<Iterator>::value_type;
};
template <class Iterator>
struct value_of<Iterator, std::void_t<typename Iterator::value_type>> {
  using type = typename Iterator::value_type;
};
template <class T>
struct value_of<T *, void> {
  using type = T;
};
template <class Iterator>
using value_t = std::remove_cv_t<typename value_of<Iterator>::type>;

/// A number of items, less than 2^63.
struct tally {
  std::uint64_t items;
  friend LOOKBACK_HOST_DEVICE tally operator+(tally a, tally b) { return {a.items + b.items}; }
};

/// Consecutive elements of runs: how many runs begin among them, and the reduction of the values of
/// the last run.
template <class T>
struct run_prefix {
  T value;
  std::uint64_t runs;
};
template <class T, class Operator>
struct run_operator {
  Operator op;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE run_prefix<T> operator()(const run_prefix<T> &left,
                                                const run_prefix<T> &right) {
    if (right.runs != 0) return {right.value, left.runs + right.runs}; // mutant: run-operator
    return {static_cast<T>(op(left.value, right.value)), left.runs};
  }
};
/// Whether accumulators of a type count runs.
template <class T>
inline constexpr bool counts_runs = false;
template <class T>
inline constexpr bool counts_runs<run_prefix<T>> = true;

/// No initial value: the first result is the first element.
struct no_initial {
  static constexpr bool exists = false;
};

/// The scan starts from `value`, which is an accumulator or converts to one (a FutureValue does so
/// on the device).
template <class Value>
struct initial_value {
  static constexpr bool exists = true;
  Value value;
};

/// A value that may not exist yet, such as the prefix of an element. `append(op, x)` makes it
/// op(value, x), or x if there is no value. T needs a copy constructor only.
template <class T>
class maybe {
public:
  LOOKBACK_HOST_DEVICE maybe() {}
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE maybe(const maybe &other) { assign(other); }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE ~maybe() { clear(); }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE maybe &operator=(const maybe &other) {
    if (this != &other) {
      clear();
      assign(other);
    }
    return *this;
  }

  LOOKBACK_HOST_DEVICE bool exists() const { return exists_; }
  LOOKBACK_HOST_DEVICE const T &value() const { return place_[0]; }
  /// Address of the value, or null.
  LOOKBACK_HOST_DEVICE const T *get() const { return exists_ ? &place_[0] : nullptr; }

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE void set(const T &value) {
    clear();
    construct(place_[0], value);
    exists_ = true;
  }
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Operator>
  LOOKBACK_HOST_DEVICE void append(Operator &op, const T &right) {
    if (exists_)
      set(static_cast<T>(op(place_[0], right)));
    else
      set(right);
  }

private:
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE void assign(const maybe &other) {
    if (other.exists_) construct(place_[0], other.place_[0]);
    exists_ = other.exists_;
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE void clear() {
    if (exists_) place_[0].~T();
    exists_ = false;
  }

  uninitialized_array<T, 1> place_;
  bool exists_ = false;
};

} // namespace detail

/// An initial value that is computed on the device: `*iterator`, read by the scan in stream order.
///
/// lookback::DeviceScan accepts it where `cub::DeviceScan` accepts a `cub::FutureValue`. The value
/// is read before the scan writes any result, so it may be an element of the output.
///
/// @tparam T         type of the initial value
/// @tparam Iterator  readable on the device; its value converts to T
/// @ingroup cub_scans
template <class T, class Iterator = T *>
struct FutureValue {
  /// Type of the initial value.
  using value_type = T;
  /// Type of the iterator.
  using iterator_type = Iterator;
  /// Keeps `iterator`, which is not read here.
  LOOKBACK_HOST_DEVICE explicit FutureValue(Iterator iterator) : iterator_(iterator) {}
  /// Reads the value, on the device.
  LOOKBACK_HOST_DEVICE operator T() const { return *iterator_; }

private:
  Iterator iterator_;
};
/// The initial value has the iterator's value type.
/// @relates FutureValue
template <class Iterator>
FutureValue(Iterator) -> FutureValue<detail::value_t<Iterator>, Iterator>;

} // namespace LOOKBACK_ABI
} // namespace lookback
