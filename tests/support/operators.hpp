// SPDX-License-Identifier: MIT
// Monoids that notice what a sum cannot: operands that are missing, repeated, out of order or not
// there at all. The namespace is not lookback's, so that no kernel bears the project's name only
// because of its operator.
#pragma once

#include <support/host_device.hpp>
#include <support/types.hpp>

#include <cstdint>
#include <vector>

namespace test {

/// The half-open interval [begin, end) of element numbers. One scan over [i, i + 1) that gives the
/// expected intervals is right for this length under every associative operator: N. Chong, A. F.
/// Donaldson, J. Ketema, "A sound and complete abstraction for reasoning about parallel prefix
/// sums", POPL 2014.
struct interval {
  std::uint32_t begin, end;
};
TEST_HOST_DEVICE constexpr bool operator==(interval a, interval b) {
  return a.begin == b.begin && a.end == b.end;
}

/// What any wrong combination gives, and what any combination with it gives.
inline constexpr interval interval_error{1, 0};

/// Joins neighbours. An empty interval is an error too: zeroed memory is not an operand.
struct join_intervals {
  TEST_HOST_DEVICE constexpr interval operator()(interval a, interval b) const {
    const bool adjacent = a.begin < a.end && a.end == b.begin && b.begin < b.end;
    return adjacent ? interval{a.begin, b.end} : interval{1, 0};
  }
};

/// Element `i` counts from 1: [0, 1) is left for the initial value.
TEST_HOST_DEVICE constexpr interval interval_element(std::uint64_t i) {
  return {static_cast<std::uint32_t>(i) + 1, static_cast<std::uint32_t>(i) + 2};
}
inline constexpr interval interval_initial{0, 1};

struct to_interval {
  TEST_HOST_DEVICE constexpr interval operator()(std::int64_t i) const {
    return interval_element(static_cast<std::uint64_t>(i));
  }
};

/// b^close a^open in the bicyclic monoid, where ab = 1: a bracket string with its matched pairs
/// struck out. Associative, not commutative, and no element but (0, 0) is an identity.
struct brackets {
  std::uint32_t close, open;
};
TEST_HOST_DEVICE constexpr bool operator==(brackets a, brackets b) {
  return a.close == b.close && a.open == b.open;
}

struct concatenate_brackets {
  TEST_HOST_DEVICE constexpr brackets operator()(brackets a, brackets b) const {
    const std::uint32_t matched = a.open < b.close ? a.open : b.close;
    return {a.close + b.close - matched, a.open + b.open - matched};
  }
};

/// x -> scale x + shift modulo 2^32. Composition is associative and not commutative; an odd scale
/// loses nothing.
struct affine {
  std::uint32_t scale, shift;
};
TEST_HOST_DEVICE constexpr bool operator==(affine a, affine b) {
  return a.scale == b.scale && a.shift == b.shift;
}

/// The map `f`, then the map `g`.
struct compose_affine {
  TEST_HOST_DEVICE constexpr affine operator()(affine f, affine g) const {
    return {f.scale * g.scale, g.scale * f.shift + g.shift};
  }
};

/// The sum in one stated type, whatever C++ makes of the operands.
template <class T>
struct plus {
  TEST_HOST_DEVICE constexpr T operator()(T a, T b) const { return static_cast<T>(a + b); }
};

template <class T>
struct maximum {
  TEST_HOST_DEVICE constexpr T operator()(T a, T b) const { return a < b ? b : a; }
};

/// How many elements a result stands for, and the number of the last one: 1 + 1 + ... with the
/// order checked at every step.
struct counted {
  std::uint64_t elements, last;
};
TEST_HOST_DEVICE constexpr bool operator==(counted a, counted b) {
  return a.elements == b.elements && a.last == b.last;
}
struct count {
  TEST_HOST_DEVICE constexpr counted operator()(counted a, counted b) const {
    return {a.elements + b.elements, a.last < b.last ? b.last : ~std::uint64_t{0}};
  }
};

/// An equality of keys that is none of C++'s: numbers with the same quotient by 8 are one key.
struct same_octave {
  template <class Key>
  TEST_HOST_DEVICE constexpr bool operator()(const Key &a, const Key &b) const {
    return a / 8 == b / 8;
  }
};

/// An affine map in each word (support/types.hpp): not commutative on plain integers.
struct compose_words {
  TEST_HOST_DEVICE constexpr std::uint32_t operator()(std::uint32_t f, std::uint32_t g) const {
    return compose_packed(f, g);
  }
};

template <class T>
struct triple_plus_one {
  template <class Value>
  TEST_HOST_DEVICE constexpr T operator()(Value x) const {
    return static_cast<T>(static_cast<T>(x) * 3 + 1);
  }
};

} // namespace test
