// SPDX-License-Identifier: MIT
// Adjacent segments as a scan by key: the key of an item is a flag, whether a segment begins with
// it.
#pragma once

#include <lookback/core/offset_segments.cuh>
#include <lookback/core/segments.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Compares the flags of two neighbouring items: the second is in the segment of the first.
struct goes_on {
  LOOKBACK_HOST_DEVICE bool operator()(unsigned char, unsigned char head) const {
    return head == 0;
  }
};

/// Whether the heads of a problem by key are given by offsets.
template <class Input>
inline constexpr bool has_segment_heads = false;
template <class T, class Offset, class Values, class Equal, class Operator, class Initial,
          int TileElements>
inline constexpr bool has_segment_heads<
    keyed_input<T, segment_heads<Offset>, Values, Equal, Operator, Initial, TileElements>> = true;
template <class Problem>
inline constexpr bool marks_heads = has_segment_heads<typename Problem::input_type>;

/// Whether a scan of segments may be done by their heads: a sum of integers, whose bits do not
/// depend on where a segment's tree begins, from array to array. Only of 4 bytes: others leave no
/// registers for as many tiles as hide the latency of the prefixes (H200, i64, segments of 16 and
/// of 65536: shares of a copy's speed of 0.74, where the units reach 0.81 and 0.85); 1 and 2 bytes
/// have not been tried.
template <class Problem>
struct can_mark_heads : std::false_type {};
template <bool Inclusive, class T, class Value, class Initial, class Stored>
struct can_mark_heads<
    scan_problem<Inclusive, T, Value *, plus, Initial, dense<Stored *, scanned_itself>>>
    : std::bool_constant<is_integer<T> && is_integer<std::remove_cv_t<Value>> &&
                         is_integer<Stored> && sizeof(T) == 4 && sizeof(Value) == 4 &&
                         sizeof(Stored) == 4> {};

/// The sum of the segments `heads`, as a problem by key.
template <bool Inclusive, class T, class Value, class Initial, class Stored, class Offset>
auto sum_by_heads(const scan_problem<Inclusive, T, Value *, plus, Initial,
                                     dense<Stored *, scanned_itself>> &problem,
                  const segment_heads<Offset> &heads) {
  const auto from = make_keyed_input<T>(heads, static_cast<const Value *>(problem.input),
                                        problem.sink.output, goes_on{}, plus{}, problem.initial);
  using input = std::decay_t<decltype(from)>;
  using op = segmented_operator<T, plus>;
  if constexpr (Inclusive) {
    using sink = dense<Stored *, inclusive_by_key>;
    return scan_problem<true, keyed<T>, input, op, no_initial, sink>(from, {plus{}}, {},
                                                                     {problem.sink.output, {}});
  } else {
    const T initial = static_cast<T>(problem.initial.value);
    using sink = dense<Stored *, exclusive_by_key<T>>;
    return scan_problem<false, keyed<T>, input, op, initial_value<keyed<T>>, sink>(
        from, {plus{}}, {keyed<T>{initial, true}}, {problem.sink.output, {initial}});
  }
}

/// Items `begin` to `begin` + `items` - 1 of a problem by heads, as a problem of its own.
template <class Problem>
LOOKBACK_DEVICE Problem items_of_heads(const Problem &all, std::int64_t begin,
                                       std::uint64_t items) {
  const auto first = static_cast<std::ptrdiff_t>(begin);
  return Problem(all.input.of(all.input.keys(), all.input.values() + first), all.op, all.initial,
                 {all.sink.output + first, all.sink.project}, {items});
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
