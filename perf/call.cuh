// SPDX-License-Identifier: MIT
// What a call of the comparison consists of, apart from any scan library.
#pragma once

#include "operands.cuh"

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace perf {

template <class T>
constexpr const char *type_name() {
  if constexpr (std::is_same_v<T, std::int8_t>)
    return "i8";
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return "i16";
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return "i32";
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return "i64";
  else if constexpr (std::is_same_v<T, __int128_t>)
    return "i128";
  else if constexpr (std::is_same_v<T, float>)
    return "f32";
  else {
    static_assert(std::is_same_v<T, double>, "a type without a name in the CSV");
    return "f64";
  }
}

/// What a call inherits, and what it may hide with its own: elements, names, a second array,
/// misalignment.
template <class In, class Out = In>
struct call {
  using input = In;
  using output = Out;
  using second = void; // whose `element` draws a second array of ints that the call reads, if any
  static constexpr int shift =
      0; // elements by which input and output are off their aligned address
  static constexpr bool has_run_to_run = false; // whether CUB's run-to-run mode is compared as well
  /// Bytes of the largest input that is measured.
  static constexpr long long largest_input = std::numeric_limits<long long>::max();

  static std::string type() { return type_name<In>(); }

  /// Small integers around zero: sums of up to 2^30 of them stay exact in every type and every
  /// order of evaluation, so that floating-point results can be compared bit for bit.
  static __device__ In element(long long, std::uint64_t random) {
    return static_cast<In>(static_cast<int>(random % 9) - 4);
  }
};

template <class Call>
constexpr bool has_second = !std::is_void_v<typename Call::second>;

} // namespace perf
