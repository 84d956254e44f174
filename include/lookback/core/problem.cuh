// SPDX-License-Identifier: MIT
// The description of one scan for every strategy, on the GPU and on the CPU: input, operator,
// initial value, projection and output.
#pragma once

#include <lookback/core/known_operators.cuh>
#include <lookback/core/tree.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The default projection: an element's result is its scanned value. `needs_item`: whether a
/// projection also reads the element.
struct scanned_itself {
  static constexpr bool needs_item = false;
  template <class T, class Item>
  LOOKBACK_HOST_DEVICE const T &operator()(const T &scanned, const Item &) const {
    return scanned;
  }
};

/// The type that a store converts a result to. Only a pointer determines it: an assignment through
/// any other iterator may do more than a store.
template <class Iterator, class Fallback>
struct stored_value {
  using type = Fallback;
};
template <class Value, class Fallback>
struct stored_value<Value *, Fallback> {
  using type = Value;
};

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

/// y(i) = project(x(0) . x(1) ... x(i), x(i)), or without the last factor when exclusive, over
/// `Accumulator`.
///
/// Kernels receive a copy, so every member must be usable on the device.
template <bool Inclusive, class Accumulator, class Input, class Output, class Operator,
          class Initial, class Project = scanned_itself>
struct scan_problem {
  static_assert(Inclusive || Initial::exists, "an exclusive scan needs an initial value");

  using accumulator = Accumulator;
  using item = value_t<Input>; // as loaded; converts to the accumulator
  using initial_type = Initial;
  using input_type = Input;
  using output_type = Output;
  using result = std::decay_t<decltype(std::declval<const Project &>()(
      std::declval<const Accumulator &>(), std::declval<const item &>()))>;
  using stored = typename stored_value<Output, result>::type;
  using shaping = typename shaped_by<item>::type;
  using shape =
      tree_shape<sizeof(shaping), size_of<typename output_value<Output, shaping>::type>::value>;
  static constexpr bool inclusive = Inclusive;

  Input input;
  Output output;
  Operator op;
  Initial initial;
  Project project;

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE scan_problem(Input input_, Output output_, Operator op_, Initial initial_,
                                    Project project_)
      : input(input_), output(output_), op(op_), initial(initial_), project(project_) {}
};

/// A problem without keys: replaces known operators, and adapts the iterators for kernels.
template <bool Inclusive, class Accumulator, class Input, class Output, class Operator,
          class Initial>
auto make_problem(Input input, Output output, Operator op, Initial initial) {
  const auto from = plain_memory(input);
  const auto to = output_of<Accumulator>(output);
  return scan_problem<Inclusive, Accumulator, std::decay_t<decltype(from)>,
                      std::decay_t<decltype(to)>, own_operator_t<Operator, Accumulator>, Initial>(
      from, to, to_own_operator<Accumulator>(op), initial, scanned_itself{});
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
