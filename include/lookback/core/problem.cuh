// SPDX-License-Identifier: MIT
// One scan, for every strategy on the GPU and on the CPU: extent, source, monoid and sink.
#pragma once

#include <lookback/core/extent.cuh>
#include <lookback/core/known_operators.cuh>
#include <lookback/core/sink.cuh>
#include <lookback/core/tree.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class Iterator, class Fallback>
struct output_value {
  using declared = value_t<Iterator>;
  using type = std::conditional_t<std::is_void<declared>::value, Fallback, declared>;
};
/// The type whose size shapes the tree on the input side: the element's type; by key, the value's.
template <class Item>
struct shaped_by {
  using type = Item;
};
template <class T>
struct size_of : std::integral_constant<std::size_t, sizeof(T)> {};

/// Output memory whose elements are assigned results of another type. It is not a pointer, so every
/// strategy writes `output[i] = result`; through a pointer, a strategy may copy the bytes of
/// converted results instead.
template <class Value>
class assigned_output {
public:
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  LOOKBACK_HOST_DEVICE explicit assigned_output(Value *memory) : memory_(memory) {}
  LOOKBACK_HOST_DEVICE Value &operator*() const { return *memory_; }
  LOOKBACK_HOST_DEVICE Value &operator[](difference_type i) const { return memory_[i]; }
  LOOKBACK_HOST_DEVICE assigned_output operator+(difference_type distance) const {
    return assigned_output(memory_ + distance);
  }

private:
  Value *memory_;
};

/// The iterator that kernels receive. A pointer to volatile elements loses the qualifier: during a
/// scan, only the scan itself changes elements.
template <class Iterator>
Iterator plain_memory(Iterator iterator) {
  return iterator;
}
template <class T>
T *plain_memory(volatile T *memory) {
  return const_cast<T *>(memory);
}

/// The output iterator for results of type Result: `iterator`, or an assigned_output if it is a
/// pointer whose elements must be assigned. It stays a pointer if it points to Result, if both
/// types are numbers, or if a Result cannot be assigned to its elements.
template <class Result, class Iterator>
auto output_of(Iterator iterator) {
  static_assert(!has_total<Iterator>, "lookback::with_total: scans by key have no total");
  const auto output = plain_memory(iterator);
  using plain = std::decay_t<decltype(output)>;
  if constexpr (std::is_pointer<plain>::value) {
    using value = std::remove_pointer_t<plain>;
    constexpr bool converts =
        std::is_same<value, Result>::value || (is_number<value> && is_number<Result>);
    if constexpr (!converts && std::is_assignable<value &, const Result &>::value)
      return assigned_output<value>(output);
    else
      return output;
  } else {
    return output;
  }
}

/// Whether a problem is a sum in its accumulator type.
template <class Problem>
inline constexpr bool is_sum = std::is_same<decltype(Problem::op), plus>::value;
/// Whether a problem is a sum of integers: its results have the same bits in any order of addition.
template <class Problem>
inline constexpr bool sums_integers = is_sum<Problem> &&is_integer<typename Problem::accumulator>;

/// An input, or a sink, for `items` items. One that depends on their number has an overload.
LOOKBACK_NO_EXECUTION_CHECK
template <class Part>
LOOKBACK_HOST_DEVICE Part for_items(const Part &part, std::uint64_t) {
  return part;
}

/// A problem: an extent, a source of items, a monoid and a sink. Over `Accumulator`,
///
///     y(i) = init . x(0) . x(1) ... x(i), or without the last factor when exclusive.
///
/// Kernels receive a copy, so every member must be usable on the device.
template <bool Inclusive, class Accumulator, class Input, class Operator, class Initial, class Sink,
          class Extent = linear>
struct scan_problem {
  static_assert(Inclusive || Initial::exists, "an exclusive scan needs an initial value");

  using accumulator = Accumulator;
  using item = value_t<Input>; // as loaded; converts to the accumulator
  using initial_type = Initial;
  using input_type = Input;
  using sink_type = Sink;
  using output_type = typename Sink::output_type;
  using stored = typename Sink::template stored<Accumulator, item>;
  using shaping = typename shaped_by<item>::type;
  using shape = tree_shape<sizeof(shaping),
                           size_of<typename output_value<output_type, shaping>::type>::value>;
  static constexpr bool inclusive = Inclusive;

  Input input;
  Operator op;
  Initial initial;
  Sink sink;
  Extent extent;

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE scan_problem(Input input_, Operator op_, Initial initial_, Sink sink_,
                                    Extent extent_ = {})
      : input(input_), op(op_), initial(initial_), sink(sink_), extent(extent_) {}

  /// The same problem over `what`, an extent of any kind.
  LOOKBACK_NO_EXECUTION_CHECK
  template <class What = Extent>
  LOOKBACK_HOST_DEVICE scan_problem<Inclusive, Accumulator, Input, Operator, Initial, Sink, What>
  over(const What &what) const {
    return {for_items(input, what.items), op, initial, for_items(sink, what.items), what};
  }
  /// Tiles of the tree.
  LOOKBACK_HOST_DEVICE std::uint64_t tiles() const { return extent.tiles(shape::tile_elements); }
};

/// The sink of results of type Result: each goes to its own place in `output`.
template <class Result, class Output>
auto sink_of(Output output) {
  const auto to = output_of<Result>(output);
  return dense<std::decay_t<decltype(to)>>{to, {}};
}
template <class Result, class Output, class Total>
auto sink_of(output_with_total<Output, Total> output) {
  const auto sink = sink_of<Result>(output.output);
  const auto total = output_of<Result>(output.total);
  return total_sink<std::decay_t<decltype(sink)>, std::decay_t<decltype(total)>>{sink, total};
}

/// A problem without keys: replaces known operators, and adapts the iterators for kernels.
template <bool Inclusive, class Accumulator, class Input, class Output, class Operator,
          class Initial>
auto make_problem(Input input, Output output, Operator op, Initial initial) {
  const auto from = plain_memory(input);
  const auto sink = sink_of<Accumulator>(output);
  return scan_problem<Inclusive, Accumulator, std::decay_t<decltype(from)>,
                      own_operator_t<Operator, Accumulator>, Initial, std::decay_t<decltype(sink)>>(
      from, to_own_operator<Accumulator>(op), initial, sink);
}

/// The type of offsets, in which they are added up.
template <class Counts, class Offsets>
struct offset_type {
  using type = typename output_value<Offsets, accumulator_t<plus, value_t<Counts>>>::type;
  static_assert(is_integer<type>, "lookback: offsets must have an integer type");
};
template <class Counts, class Offsets>
using offset_t = typename offset_type<Counts, Offsets>::type;
/// Offsets from counts: an exclusive sum whose total is the last offset, which goes to `*last`.
template <class Counts, class Offsets>
auto make_offsets(Counts counts, Offsets offsets, Offsets last) {
  using T = offset_t<Counts, Offsets>;
  return make_problem<false, T>(counts, output_with_total<Offsets, Offsets>{offsets, last}, plus{},
                                initial_value<T>{T{}});
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
