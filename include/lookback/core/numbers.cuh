// SPDX-License-Identifier: MIT
// Number types, including those that <type_traits> does not know.
#pragma once

#include <lookback/core/config.cuh>

#include <cstdint>
#include <type_traits>

// Half-precision numbers of the CUDA headers. The headers themselves are not needed here.
struct __half;
struct __nv_bfloat16;

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Integers except bool, including those of 16 bytes, which <type_traits> knows in some language
/// modes only.
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
/// The type of sums of integers T: they may overflow on the way.
template <class T>
using unsigned_sum = std::make_unsigned_t<T>;
/// The types of num_items.
template <class T>
inline constexpr bool is_count = std::is_integral<T>::value || is_integer<T>;

/// Unsigned, with room for every value of the integer type Int that is not negative.
template <class Int>
struct widest {
  using type = std::uint64_t;
};
#if defined(__SIZEOF_INT128__)
template <>
struct widest<int128> {
  using type = uint128;
};
template <>
struct widest<uint128> {
  using type = uint128;
};
#endif
template <class Int>
using widest_for = typename widest<std::remove_cv_t<Int>>::type;

/// The number of items as the dispatch takes it: -1, which it refuses, for what no 64-bit size can
/// hold.
template <class Count>
constexpr std::int64_t item_count(Count num_items) {
  static_assert(is_count<Count>, "lookback: num_items must have an integer type");
  return static_cast<widest_for<Count>>(num_items) > static_cast<std::uint64_t>(INT64_MAX)
             ? -1
             : static_cast<std::int64_t>(num_items);
}

/// Number types: an assignment converts them as a cast does.
template <class T>
inline constexpr bool is_number = std::is_arithmetic<T>::value || is_integer<T>;
template <>
inline constexpr bool is_number<__half> = true;
template <>
inline constexpr bool is_number<__nv_bfloat16> = true;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
