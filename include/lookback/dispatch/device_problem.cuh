// SPDX-License-Identifier: MIT
// What a call at the CUB door asks for, as a problem: accumulators by CUB's rule, initial values of
// every kind.
#pragma once

#include <lookback/core/device_count.cuh>
#include <lookback/core/segments.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// An initial value as the kernels take it: `value_type` is its type, `kept` what the problem
/// keeps. Of a value that the host knows both are its own type.
template <class Init, class = void>
struct door_initial {
  static constexpr bool deferred = false;
  using value_type = Init;
  using kept = Init;
  static kept keep(Init init) { return init; }
};
/// lookback::FutureValue or cub::FutureValue: converts to the value where that is read, on the
/// device.
template <class Init>
struct door_initial<Init, std::void_t<typename Init::value_type, typename Init::iterator_type>> {
  static constexpr bool deferred = true;
  using value_type = typename Init::value_type;
  using kept = Init;
  static kept keep(Init init) { return init; }
};
/// cuda::args::deferred<Iterator, Bounds>, recognised without CCCL's headers: it has an element
/// type, and its own namespace unwraps the iterator that the value is behind.
template <template <class, class> class Deferred, class Iterator, class Bounds>
struct door_initial<
    Deferred<Iterator, Bounds>,
    std::void_t<typename Deferred<Iterator, Bounds>::__element_type,
                decltype(*__unwrap(std::declval<const Deferred<Iterator, Bounds> &>()))>> {
  static constexpr bool deferred = true;
  using value_type = typename Deferred<Iterator, Bounds>::__element_type;
  using kept = FutureValue<value_type, Iterator>;
  static kept keep(const Deferred<Iterator, Bounds> &init) { return kept(__unwrap(init)); }
};

/// Whether only the device knows Future<A, B>. `Spelled` is void, or a template argument of the
/// call.
template <class Future, class Spelled>
struct deferred_as_spelled;
template <template <class, class> class Future, class A, class B, class Spelled>
struct deferred_as_spelled<Future<A, B>, Spelled>
    : std::bool_constant<door_initial<Future<A, B>>::deferred> {
  static_assert(!door_initial<Future<A, B>>::deferred || std::is_void<Spelled>::value ||
                    std::is_same<A, Spelled>::value || std::is_same<Future<A, B>, Spelled>::value,
                "lookback::DeviceScan: the initial value is a FutureValue of another type than the "
                "template argument, and the conversion would read it on the host. Omit the "
                "template argument, or pass a FutureValue of its type.");
};

/// Selects the overloads for an initial value that only the device knows. They exist so that
/// template arguments that a caller spells out, as for CUB's overloads (T and I here), never
/// convert one to its value on the host: whatever they are, the value is deduced.
template <class Init, class Spelled = void>
using if_deferred = std::enable_if_t<deferred_as_spelled<Init, Spelled>::value, int>;
template <class Init>
struct is_template_of_two : std::false_type {};
template <template <class, class> class Future, class A, class B>
struct is_template_of_two<Future<A, B>> : std::true_type {};
/// Selects the others, for every initial value that those do not take: any other class with the
/// members of a FutureValue is read on the device, too.
template <class Init>
using if_known =
    std::enable_if_t<!(is_template_of_two<Init>::value && door_initial<Init>::deferred), int>;

/// Selects the overloads in place: their number of items stands where others have their output, and
/// their environment where others have the number.
template <class Count, class Env = void>
using if_count = std::enable_if_t<is_count<Count> && !is_count<Env>, int>;
/// Selects the overloads that are not in place: where they have the number of items, a two-phase
/// call in place has its stream.
template <class Count>
using if_no_stream =
    std::enable_if_t<!std::is_pointer<Count>::value && !std::is_null_pointer<Count>::value, int>;

/// Selects the one-phase calls, whose second argument is an iterator: in two-phase calls it is the
/// size of the storage.
template <class Iterator>
using if_sequence =
    std::enable_if_t<std::is_class<Iterator>::value || (std::is_pointer<Iterator>::value &&
                                                        !std::is_same<Iterator, void *>::value),
                     int>;
/// Selects the overloads with a comparison of keys, or those with an environment in its place.
template <class Equal, class Keys>
inline constexpr bool compares =
    std::is_invocable_r<bool, Equal &, const value_t<Keys> &, const value_t<Keys> &>::value;
template <class Equal, class Keys>
using if_compares = std::enable_if_t<compares<Equal, Keys>, int>;
template <class Env, class Keys>
using if_environment = std::enable_if_t<!compares<Env, Keys>, int>;

/// The problems of DeviceScan's calls. `a . b` is op(a, b).
struct device_problem {
  template <class Iterator>
  using value = value_t<Iterator>;
  template <class Operator, class Iterator, class Init = value<Iterator>>
  using accumulator = accumulator_t<Operator, value<Iterator>, Init>;

  /// y(i) = init . x(0) ... x(i), or without x(i) when exclusive.
  template <bool Inclusive, class Input, class Output, class Operator, class Init>
  static auto scan_from(Input in, Output out, Operator op, Init init) {
    using initial = door_initial<Init>;
    using kept = initial_value<typename initial::kept>;
    return make_problem<Inclusive, accumulator<Operator, Input, typename initial::value_type>>(
        in, out, op, kept{initial::keep(init)});
  }
  /// y(i) = x(0) ... x(i)
  template <class Input, class Output, class Operator>
  static auto inclusive_scan(Input in, Output out, Operator op) {
    return make_problem<true, accumulator<Operator, Input>>(in, out, op, no_initial{});
  }
  /// y(i) = x(0) + ... + x(i - 1), y(0) = 0 of the input's value type.
  template <class Input, class Output>
  static auto exclusive_sum(Input in, Output out) {
    return scan_from<false>(in, out, plus{}, value<Input>{});
  }
  /// y(i) = x(0) + ... + x(i - 1) for i <= n
  template <class Counts, class Offsets>
  static auto offsets(Counts counts, Offsets out, std::int64_t n) {
    return make_offsets(counts, out, out + (n > 0 ? n : 0));
  }
  /// y(i) = x(s) ... x(i), s the start of i's run of equal keys.
  template <class Keys, class Values, class Output, class Equal, class Operator>
  static auto inclusive_by_key(Keys keys, Values values, Output out, Equal equal, Operator op) {
    return make_inclusive_by_key<accumulator<Operator, Values>>(keys, values, out, equal, op);
  }
  /// y(i) = init . x(s) ... x(i - 1)
  template <class Keys, class Values, class Output, class Equal, class Operator, class Init>
  static auto exclusive_by_key(Keys keys, Values values, Output out, Equal equal, Operator op,
                               Init init) {
    static_assert(!door_initial<Init>::deferred,
                  "lookback::DeviceScan::ExclusiveScanByKey: the initial value must be a value "
                  "that the host knows. Only scans without keys accept FutureValue and "
                  "cuda::args::deferred.");
    using T = accumulator<Operator, Values, Init>;
    return make_exclusive_by_key<T>(keys, values, out, static_cast<T>(init), equal, op);
  }
  /// y(i) = x(s) + ... + x(i - 1), y(s) = 0 of the values' type.
  template <class Keys, class Values, class Output, class Equal>
  static auto exclusive_sum_by_key(Keys keys, Values values, Output out, Equal equal) {
    using T = accumulator<plus, Values>;
    return make_exclusive_by_key<T>(keys, values, out, static_cast<T>(value<Values>{}), equal,
                                    plus{});
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
