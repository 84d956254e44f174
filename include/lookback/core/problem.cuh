// SPDX-License-Identifier: MIT
// One scan, as every path on every system sees it: where elements come from, how they combine, where results go.
#pragma once

#include <lookback/core/tree.cuh>

// The CUDA headers' half-precision numbers, whose headers are not needed here.
struct __half;
struct __nv_bfloat16;

namespace lookback::detail {

/// The result of an element is what was scanned. `needs_item` says whether a projection looks at the element too.
struct scanned_itself {
  static constexpr bool needs_item = false;
  template <class T>
  LOOKBACK_HOST_DEVICE const T &operator()(const T &scanned, const T &) const {
    return scanned;
  }
};

template <class Iterator, class Fallback>
struct stored_value {
  using type = Fallback;
};
/// Only a pointer says what a store makes of a value; behind any other iterator an assignment may compute.
template <class Value, class Fallback>
struct stored_value<Value *, Fallback> {
  using type = Value;
};

template <class Iterator, class Fallback>
struct output_value {
  using declared = value_t<Iterator>;
  using type = std::conditional_t<std::is_void<declared>::value, Fallback, declared>;
};
/// The type whose size shapes the tree on the input side: the element's own, unless it says otherwise (by key).
template <class Item>
struct shaped_by {
  using type = Item;
};
template <class T>
struct size_of : std::integral_constant<std::size_t, sizeof(T)> {};

/// Integers, those of 16 bytes among them, which <type_traits> knows with some compilers alone.
template <class T>
inline constexpr bool is_integer = std::is_integral<T>::value && !std::is_same<T, bool>::value;
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
template <>
inline constexpr bool is_integer<int128> = true;
template <>
inline constexpr bool is_integer<uint128> = true;
#endif
/// The types of num_items.
template <class T>
inline constexpr bool is_count = std::is_integral<T>::value || is_integer<T>;

/// Numbers, which an assignment and a cast convert alike.
template <class T>
inline constexpr bool is_number = std::is_arithmetic<T>::value || is_integer<T>;
template <>
inline constexpr bool is_number<__half> = true;
template <>
inline constexpr bool is_number<__nv_bfloat16> = true;

/// Memory whose elements are assigned results of another type. No pointer, so that every strategy
/// writes `output[i] = result`, where it would move the bytes of converted results to a pointer.
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

/// An iterator as kernels take it. A pointer to volatile elements loses the qualifier: no element
/// changes during a scan but by the scan.
template <class Iterator>
Iterator plain_memory(Iterator iterator) {
  return iterator;
}
template <class T>
T *plain_memory(volatile T *memory) {
  return const_cast<T *>(memory);
}

/// Where results of type Result go: `output`, unless it is a pointer through which they must be
/// assigned. A pointer to Result or from number to number stays one, and so does one through which
/// nothing can be assigned.
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

/// Whether a problem's results have the same bits in whatever order its elements are added.
template <class Problem>
inline constexpr bool sums_integers =
    is_integer<typename Problem::accumulator> &&std::is_same<decltype(Problem::op), plus>::value;

/// y(i) = project(x(0) . x(1) ... x(i), x(i)), or without the last factor when exclusive, over `Accumulator`.
///
/// Copied to the kernel as it is, so everything in it must be usable on the device.
template <bool Inclusive, class Accumulator, class Input, class Output, class Operator, class Initial,
          class Project = scanned_itself>
struct scan_problem {
  static_assert(Inclusive || Initial::exists, "an exclusive scan needs an initial value");

  using accumulator = Accumulator;
  using item = value_t<Input>; // as loaded; converts to the accumulator
  using initial_type = Initial;
  using input_type = Input;
  using output_type = Output;
  using result = std::decay_t<decltype(std::declval<const Project &>()(std::declval<const Accumulator &>(),
                                                                       std::declval<const Accumulator &>()))>;
  using stored = typename stored_value<Output, result>::type;
  using shaping = typename shaped_by<item>::type;
  using shape = tree_shape<sizeof(shaping), size_of<typename output_value<Output, shaping>::type>::value>;
  static constexpr bool inclusive = Inclusive;

  Input input;
  Output output;
  Operator op;
  Initial initial;
  Project project;

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE scan_problem(Input input_, Output output_, Operator op_, Initial initial_, Project project_)
      : input(input_), output(output_), op(op_), initial(initial_), project(project_) {}
};

/// A problem with its accumulator and tree deduced from the parts.
template <bool Inclusive, class Accumulator, class Input, class Output, class Operator, class Initial>
auto make_problem(Input input, Output output, Operator op, Initial initial) {
  const auto from = plain_memory(input);
  const auto to = output_of<Accumulator>(output);
  return scan_problem<Inclusive, Accumulator, std::decay_t<decltype(from)>,
                      std::decay_t<decltype(to)>, Operator, Initial>(from, to, op, initial,
                                                                     scanned_itself{});
}

} // namespace lookback::detail
