// SPDX-License-Identifier: MIT
// Scans from the last item to the first: the same scan over iterators that count from the end.
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

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
