// SPDX-License-Identifier: MIT
// Memory that is counted from its end: for scans from the last item to the first, and behind a
// reverse_iterator.
#pragma once

#include <lookback/core/segments.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The elements before `end`: element i is end[-1 - i].
template <class Iterator>
class reversed {
public:
  using value_type = value_t<Iterator>;
  using difference_type = std::ptrdiff_t;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE explicit reversed(const Iterator &end) : end_(end) {}

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE decltype(auto) operator[](difference_type i) const { return end_[-1 - i]; }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE reversed operator+(difference_type distance) const {
    return reversed(end_ + -distance);
  }
  /// `end`: element 0 is directly before it in memory.
  LOOKBACK_HOST_DEVICE const Iterator &base() const { return end_; }

private:
  Iterator end_;
};
template <class Value, class Fallback>
struct stored_value<reversed<Value *>, Fallback> {
  using type = Value;
};

/// Whether an iterator counts elements of memory from their end.
template <class Iterator>
inline constexpr bool counts_from_end = false;
template <class T>
inline constexpr bool counts_from_end<reversed<T *>> = true;
/// Whether an iterator counts elements of memory, from their begin or from their end.
template <class Iterator>
inline constexpr bool is_memory = std::is_pointer<Iterator>::value || counts_from_end<Iterator>;
/// The begin or end that such an iterator counts from.
template <class T>
LOOKBACK_HOST_DEVICE T *address_of(T *memory) {
  return memory;
}
template <class T>
LOOKBACK_HOST_DEVICE T *address_of(const reversed<T *> &memory) {
  return memory.base();
}

/// The first n items, from the last one to the first.
template <class Input>
auto reversed_input(const Input &input, std::ptrdiff_t n) {
  return reversed<Input>(input + n);
}
template <class T, class Keys, class Values, class Equal, class Operator, class Initial,
          int TileElements>
auto reversed_input(
    const keyed_input<T, Keys, Values, Equal, Operator, Initial, TileElements> &input,
    std::ptrdiff_t n) {
  return input.of(reversed<Keys>(input.keys() + n), reversed<Values>(input.values() + n));
}

template <class Output, class Project>
auto reversed_sink(const dense<Output, Project> &sink, std::ptrdiff_t n) {
  return dense<reversed<Output>, Project>{reversed<Output>(sink.output + n), sink.project};
}
template <class Sink, class Total>
auto reversed_sink(const total_sink<Sink, Total> &sink, std::ptrdiff_t n) {
  const auto from_end = reversed_sink(static_cast<const Sink &>(sink), n);
  return total_sink<std::decay_t<decltype(from_end)>, Total>{from_end, sink.total};
}

/// The problem of a scan from the last item to the first, of `in` items at the input's and `out` at
/// the output's iterator.
template <bool Inclusive, class T, class Input, class Operator, class Initial, class Sink,
          class Extent>
auto from_the_ends(
    const scan_problem<Inclusive, T, Input, Operator, Initial, Sink, Extent> &problem,
    std::int64_t in, std::int64_t out) {
  const auto input = reversed_input(problem.input, static_cast<std::ptrdiff_t>(in));
  const auto sink = reversed_sink(problem.sink, static_cast<std::ptrdiff_t>(out));
  return scan_problem<Inclusive, T, std::decay_t<decltype(input)>, Operator, Initial,
                      std::decay_t<decltype(sink)>, Extent>(input, problem.op, problem.initial,
                                                            sink, problem.extent);
}
/// The problem of a scan of n items from the last one to the first.
template <class Problem>
auto from_the_end(const Problem &problem, std::int64_t n) {
  const std::int64_t items = n > 0 ? n : 0;
  return from_the_ends(problem, items, items);
}

/// Whether an iterator is a reverse_iterator over a pointer: std's, Thrust's or that of libcu++. It
/// is known by make_reverse_iterator() of its namespace, which returns the same template over it.
/// (Not if that of the element's namespace fits as well: the call is then ambiguous, and the
/// iterator is used as it is.)
template <class Iterator, class = void>
struct is_reverse_iterator : std::false_type {};
template <template <class> class Reverse, class T>
struct is_reverse_iterator<
    Reverse<T *>, std::void_t<decltype(make_reverse_iterator(std::declval<Reverse<T *>>()))>>
    : std::is_same<decltype(make_reverse_iterator(std::declval<Reverse<T *>>())),
                   Reverse<Reverse<T *>>> {};

/// A reverse_iterator over a pointer as what it is, memory from its end; any other input as it is.
template <class Input>
auto known_input(const Input &input) {
  if constexpr (is_reverse_iterator<Input>::value) {
    const auto end = plain_memory(input.base());
    return reversed<std::decay_t<decltype(end)>>(end);
  } else {
    return input;
  }
}
/// The same of the output for results of type T, unless a pointer would not stay one there.
template <class T, class Output, class Project>
auto known_sink(const dense<Output, Project> &sink) {
  if constexpr (is_reverse_iterator<Output>::value) {
    const auto end = output_of<T>(sink.output.base());
    using pointer = std::decay_t<decltype(end)>;
    if constexpr (std::is_pointer<pointer>::value)
      return dense<reversed<pointer>, Project>{reversed<pointer>(end), sink.project};
    else
      return sink;
  } else {
    return sink;
  }
}
template <class T, class Sink, class Total>
auto known_sink(const total_sink<Sink, Total> &sink) {
  const auto known = known_sink<T>(static_cast<const Sink &>(sink));
  return total_sink<std::decay_t<decltype(known)>, Total>{known, sink.total};
}

/// Whether a sink stores every result in its own place: dense, with or without a total.
template <class Sink>
inline constexpr bool is_dense_sink = false;
template <class Output, class Project>
inline constexpr bool is_dense_sink<dense<Output, Project>> = true;
template <class Sink, class Total>
inline constexpr bool is_dense_sink<total_sink<Sink, Total>> = is_dense_sink<Sink>;

/// The same problem; with a dense sink, known_input() and known_sink() have replaced its iterators.
template <bool Inclusive, class T, class Input, class Operator, class Initial, class Sink,
          class Extent>
auto with_known_iterators(
    const scan_problem<Inclusive, T, Input, Operator, Initial, Sink, Extent> &problem) {
  if constexpr (is_dense_sink<Sink>) {
    const auto input = known_input(problem.input);
    const auto sink = known_sink<T>(problem.sink);
    return scan_problem<Inclusive, T, std::decay_t<decltype(input)>, Operator, Initial,
                        std::decay_t<decltype(sink)>, Extent>(input, problem.op, problem.initial,
                                                              sink, problem.extent);
  } else {
    return problem;
  }
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
