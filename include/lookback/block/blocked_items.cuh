// SPDX-License-Identifier: MIT
// Sums of 16-byte integers that wait in shared memory, several consecutive ones a lane: lanes
// exchange one value for all of them, where they would exchange one for each if they had an element
// of every row. Any order gives the same bits.
#pragma once

#include <lookback/block/lane_scan.cuh>
#include <lookback/block/staged.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

template <class T>
inline constexpr bool is_wide_integer = is_integer<T> && sizeof(T) == 16;
/// Whether a problem adds up integers of 16 bytes, from one array of them to another.
template <class Problem, class Input = staged_input<typename Problem::input_type>, class = void>
inline constexpr bool adds_blocked = false;
template <class Problem, class Input>
inline constexpr bool
    adds_blocked<Problem, Input, std::void_t<typename Input::template element<0>>> =
        sums_integers<Problem> &&Input::arrays == 1 &&
        !counts_from_end<typename Problem::input_type> &&
        is_wide_integer<typename Input::template element<0>> &&
        is_wide_integer<typename Problem::accumulator> &&
        is_wide_integer<typename Problem::stored> && !Problem::sink_type::needs_item &&
        !Problem::sink_type::wants_total;

/// A lane's `Elements` (1, 2, 4 or 8) consecutive integers T, among the 32 * Elements of its warp.
///
/// Eight lanes read 16 bytes each at once, without bank conflicts if their addresses modulo 128
/// differ. If a lane has 4 elements, 64 bytes, the first elements of all lanes have only two such
/// addresses. So a lane begins with its element `first` and wraps around, here for 4 elements:
///
///   lane            0  1  2  3  4  5  6  7
///   place, step k   k  k  k+1  k+1  k+2  k+2  k+3  k+3
///
/// Even lanes read in the lower half of 128 bytes, odd lanes in the upper half.
template <class T, int Elements>
class blocked_items {
  static_assert(
      Elements <= 8 && (Elements & (Elements - 1)) == 0,
      "the number of blocked items must be a power of two, at most 8: more cause bank conflicts");

public:
  LOOKBACK_DEVICE blocked_items() : first_(simt::lane_index() * Elements * 16 / 128 % Elements) {}
  /// The element, counted from the warp's first, that the lane reads in step k.
  LOOKBACK_DEVICE int element(int k) const {
    return simt::lane_index() * Elements + (first_ + k) % Elements;
  }

  /// Sum of the lane's items.
  LOOKBACK_DEVICE static T sum(const T (&x)[Elements]) {
    T all = x[0];
    LOOKBACK_UNROLL
    for (int k = 1; k < Elements; ++k) all = add(all, x[k]);
    return all;
  }

  /// x[k], the element of step k, becomes its result; `left` is the sum of all items before the
  /// lane's.
  template <bool Inclusive>
  LOOKBACK_DEVICE void scan(T left, T (&x)[Elements]) const {
    T running = left; // through the elements before `first`, which come last
    LOOKBACK_UNROLL
    for (int k = 1; k < Elements; ++k) running = add(running, goes_round(k) ? x[k] : T{});
    LOOKBACK_UNROLL
    for (int k = 0; k < Elements; ++k) {
      if (k > 0 && first_ + k == Elements) running = left;
      const T through = add(running, x[k]);
      x[k] = Inclusive ? through : running;
      running = through;
    }
  }
  LOOKBACK_DEVICE static T add(T a, T b) {
    return static_cast<T>(static_cast<uint128>(a) + static_cast<uint128>(b));
  }
  LOOKBACK_DEVICE static T subtract(T a, T b) {
    return static_cast<T>(static_cast<uint128>(a) - static_cast<uint128>(b));
  }

private:
  LOOKBACK_DEVICE bool goes_round(int k) const { return first_ + k >= Elements; }
  const int first_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
