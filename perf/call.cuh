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

/// The class of CUB and of lookback that has a call, or the call where they differ.
enum class door {
  device_scan,
  device_select,
  device_partition,
  device_reduce,
  device_run_length_encode,
  device_segmented_scan,
  offsets_from_counts
};

/// What a call inherits, and what it may hide with its own: elements, names, second arrays,
/// misalignment.
template <class In, class Out = In>
struct call {
  using input = In;
  using output = Out;
  using second = void; // whose `element` draws a second array that the call reads, if any
  static constexpr door through = door::device_scan;
  /// Whether the call writes a second array, of ints, with as many results as the first.
  static constexpr bool has_second_output = false;
  static constexpr bool has_count = false; // whether the call writes the number of results
  /// Whether the call specifies only as many results as the number that it writes.
  static constexpr bool is_compacted = false;
  static constexpr int further_results = 0; // beyond one for each element
  static constexpr int shift =
      0; // elements by which input and output are off their aligned address
  static constexpr bool has_run_to_run = false; // whether CUB's run-to-run mode is compared as well
  /// Bytes of the largest input that is measured.
  static constexpr long long largest_input = std::numeric_limits<long long>::max();

  static std::string type() { return type_name<In>(); }

  /// The number of results that n elements have on average.
  static long long results(long long n) { return n; }

  /// Consecutive elements whose `element` is given the same random number.
  static constexpr int drawn_together = 1;

  /// Small integers around zero: sums of up to 2^30 of them stay exact in every type and every
  /// order of evaluation, so that floating-point results can be compared bit for bit.
  static __device__ In element(long long, std::uint64_t random) {
    return static_cast<In>(static_cast<int>(random % 9) - 4);
  }
};

template <class Call>
constexpr bool has_second = !std::is_void_v<typename Call::second>;

/// The type of the elements that `Values` draws; int for a call without a second array.
template <class Values>
struct drawn {
  using type = typename Values::input;
};
template <>
struct drawn<void> {
  using type = int;
};

template <class Call>
using operands_of = operands<typename Call::input, typename Call::output,
                             typename drawn<typename Call::second>::type>;

} // namespace perf
