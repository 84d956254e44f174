// SPDX-License-Identifier: MIT
// What is scanned: types and operators whose results depend on the order of association, with
// elements small enough that nothing overflows over 2^30 of them.
#pragma once

#include <lookback/core/problem.cuh>

#include <support/operators.hpp>

#include <cuda/std/complex>

// The half-precision types compute on the host too, given the CUDA toolkit's headers.
#if __has_include(<cuda_fp16.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <cmath>
#include <cstdint>
#include <optional>

namespace bits {

/// 64 bits that look random, for element `i` of the input that `seed` stands for.
TEST_HOST_DEVICE inline std::uint64_t noise(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The upper half of the noise as a number in [-1/2, 1/2), and the lower half.
TEST_HOST_DEVICE inline float first_fraction(std::uint64_t noise) {
  return static_cast<float>(static_cast<std::int64_t>(noise) >> 40) * 0x1p-24f;
}
TEST_HOST_DEVICE inline float second_fraction(std::uint64_t noise) {
  return first_fraction(noise << 32);
}

/// An inclusive scan without an initial value; what differs between the kinds is overridden below.
template <class T, class Operator>
struct inclusive_kind {
  using type = T;
  using operation = Operator;
  static constexpr bool inclusive = true;
  /// Whether the operator's own arithmetic has the same bits on the CPU and on the GPU.
  static constexpr bool same_everywhere = true;
  static std::optional<T> initial() { return {}; }
  static auto problem(const T *in, T *out) {
    return lookback::detail::make_problem<true, T>(in, out, Operator{},
                                                   lookback::detail::no_initial{});
  }
};

template <class T>
struct sums : inclusive_kind<T, test::plus<T>> {
  static constexpr const char *operation_name = "plus";
  TEST_HOST_DEVICE static T element(std::uint64_t noise) {
    if constexpr (sizeof(T) == sizeof(double))
      return static_cast<T>(static_cast<std::int64_t>(noise) >> 11) * T(0x1p-53);
    else
      return static_cast<T>(first_fraction(noise));
  }
};
struct f32_sums : sums<float> {
  static constexpr const char *type_name = "f32";
};
struct f64_sums : sums<double> {
  static constexpr const char *type_name = "f64";
};
struct f32_exclusive_sums : sums<float> {
  static constexpr const char *type_name = "f32";
  static constexpr const char *operation_name = "plus, exclusive, from 0.3";
  static constexpr bool inclusive = false;
  static std::optional<float> initial() { return 0.3f; }
  static auto problem(const float *in, float *out) {
    using initial_value = lookback::detail::initial_value<float>;
    return lookback::detail::make_problem<false, float>(in, out, operation{},
                                                        initial_value{*initial()});
  }
};
#if __has_include(<cuda_fp16.h>)
struct half_sums : sums<__half> {
  static constexpr const char *type_name = "half";
};
struct bfloat16_sums : sums<__nv_bfloat16> {
  static constexpr const char *type_name = "bfloat16";
};
#endif

struct multiplies {
  template <class T>
  TEST_HOST_DEVICE T operator()(const T &a, const T &b) const {
    return a * b;
  }
};
struct complex_products : inclusive_kind<cuda::std::complex<float>, multiplies> {
  static constexpr const char *type_name = "complex<float>";
  static constexpr const char *operation_name = "multiplies";
  /// A point of the unit circle.
  TEST_HOST_DEVICE static type element(std::uint64_t noise) {
    const float t = 2 * first_fraction(noise), square = t * t;
    return type((1 - square) / (1 + square), 2 * t / (1 + square));
  }
};

/// x -> scale x + shift. Composition does not commute.
struct affine {
  float scale, shift;
};
struct compose_affine {
  TEST_HOST_DEVICE affine operator()(affine f, affine g) const {
    return {f.scale * g.scale, g.scale * f.shift + g.shift};
  }
};
struct affine_maps : inclusive_kind<affine, compose_affine> {
  static constexpr const char *type_name = "affine pair";
  static constexpr const char *operation_name = "f, then g";
  TEST_HOST_DEVICE static affine element(std::uint64_t noise) {
    const float scale = 1 + first_fraction(noise) * 0x1p-12f;
    return {noise & 1 ? scale : -scale, second_fraction(noise)};
  }
};

/// The largest of some numbers, and the sum of the exponentials of their distances from it.
struct softmax {
  float largest, sum;
};
struct join_softmax {
  TEST_HOST_DEVICE softmax operator()(softmax a, softmax b) const {
    const float largest = a.largest < b.largest ? b.largest : a.largest;
    return {largest, a.sum * std::exp(a.largest - largest) + b.sum * std::exp(b.largest - largest)};
  }
};
struct softmax_sums : inclusive_kind<softmax, join_softmax> {
  static constexpr const char *type_name = "softmax pair";
  static constexpr const char *operation_name = "max, sum of exp";
  static constexpr bool same_everywhere = false;
  TEST_HOST_DEVICE static softmax element(std::uint64_t noise) {
    return {8 * first_fraction(noise), 1};
  }
};

} // namespace bits

#if __has_include(<cuda_fp16.h>)
#define BITS_KINDS                                                                                 \
  bits::f32_sums, bits::f64_sums, bits::half_sums, bits::bfloat16_sums, bits::f32_exclusive_sums,  \
      bits::complex_products, bits::affine_maps, bits::softmax_sums
#else
#define BITS_KINDS                                                                                 \
  bits::f32_sums, bits::f64_sums, bits::f32_exclusive_sums, bits::complex_products,                \
      bits::affine_maps, bits::softmax_sums
#endif
