// SPDX-License-Identifier: MIT
// Element types of every width and temper, each with an associative operator that is not
// commutative.
#pragma once

#include <support/host_device.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>

namespace test {

/// x -> scale x + shift in one word, modulo 2^(half its bits): the scale in the low half, the shift
/// in the high half. Composes `f`, then `g`.
template <class Word>
TEST_HOST_DEVICE constexpr Word compose_packed(Word f, Word g) {
  constexpr unsigned half = 4 * sizeof(Word);
  constexpr std::uint32_t mask = (std::uint32_t{1} << half) - 1;
  const std::uint32_t f_scale = f & mask, f_shift = static_cast<std::uint32_t>(f) >> half;
  const std::uint32_t g_scale = g & mask, g_shift = static_cast<std::uint32_t>(g) >> half;
  return static_cast<Word>(((f_scale * g_scale) & mask) |
                           (((g_scale * f_shift + g_shift) & mask) << half));
}

/// Odd scales only: an even one forgets what came before it.
template <class Word, class Random>
Word random_packed(Random &random) {
  return static_cast<Word>(random() | 1);
}

constexpr std::size_t natural_alignment(std::size_t bytes) {
  std::size_t alignment = 1;
  while (alignment < 16 && bytes % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

/// `Bytes` bytes, none of them padding, all of them part of the value.
template <std::size_t Bytes, std::size_t Alignment = natural_alignment(Bytes)>
struct alignas(Alignment) sized {
  using word = std::conditional_t<Bytes % 4 == 0, std::uint32_t, std::uint8_t>;
  static constexpr int words = Bytes / sizeof(word);
  word maps[words];
};
template <std::size_t Bytes, std::size_t Alignment>
TEST_HOST_DEVICE constexpr bool operator==(const sized<Bytes, Alignment> &a,
                                           const sized<Bytes, Alignment> &b) {
  for (int w = 0; w < sized<Bytes, Alignment>::words; ++w)
    if (a.maps[w] != b.maps[w]) return false;
  return true;
}

/// Has no value until it is given one.
class no_default {
public:
  TEST_HOST_DEVICE explicit constexpr no_default(std::uint32_t map_) : map(map_) {}
  std::uint32_t map;
};
TEST_HOST_DEVICE constexpr bool operator==(no_default a, no_default b) { return a.map == b.map; }

/// Copies itself by its own code, and knows whether it was ever constructed: reading storage that
/// holds no object, or assigning to it, makes the result broken for good.
class self_copied {
public:
  TEST_HOST_DEVICE explicit self_copied(std::uint32_t map_) : map(map_), magic(alive) {}
  TEST_HOST_DEVICE self_copied(const self_copied &other)
      : map(other.map), magic(other.magic == alive ? alive : broken) {}
  TEST_HOST_DEVICE self_copied &operator=(const self_copied &other) {
    magic = magic == alive && other.magic == alive ? alive : broken;
    map = other.map;
    return *this;
  }
  TEST_HOST_DEVICE ~self_copied() {}
  TEST_HOST_DEVICE bool intact() const { return magic == alive; }

  std::uint32_t map;

private:
  static constexpr std::uint32_t alive = 0x600dc0de, broken = 0x0bad0bad;
  std::uint32_t magic;
};
TEST_HOST_DEVICE inline bool operator==(const self_copied &a, const self_copied &b) {
  return a.intact() && b.intact() && a.map == b.map;
}
static_assert(!std::is_trivially_copyable<self_copied>::value &&
                  !std::is_default_constructible<self_copied>::value,
              "");

struct compose {
  template <std::size_t Bytes, std::size_t Alignment>
  TEST_HOST_DEVICE constexpr sized<Bytes, Alignment>
  operator()(const sized<Bytes, Alignment> &f, const sized<Bytes, Alignment> &g) const {
    sized<Bytes, Alignment> result{};
    for (int w = 0; w < sized<Bytes, Alignment>::words; ++w)
      result.maps[w] = compose_packed(f.maps[w], g.maps[w]);
    return result;
  }
  TEST_HOST_DEVICE constexpr no_default operator()(no_default f, no_default g) const {
    return no_default(compose_packed(f.map, g.map));
  }
  TEST_HOST_DEVICE self_copied operator()(const self_copied &f, const self_copied &g) const {
    // An operand that is not an object must not be washed clean by the result's constructor.
    if (!f.intact()) return f;
    if (!g.intact()) return g;
    return self_copied(compose_packed(f.map, g.map));
  }
};

template <class T>
struct random_value {
  template <class Random>
  static T make(Random &random) {
    if constexpr (std::is_floating_point<T>::value)
      return std::uniform_real_distribution<T>(-1, 1)(random);
    else if constexpr (std::is_integral<T>::value)
      return static_cast<T>(random());
    else
      return T(random_packed<std::uint32_t>(random));
  }
};
template <std::size_t Bytes, std::size_t Alignment>
struct random_value<sized<Bytes, Alignment>> {
  template <class Random>
  static sized<Bytes, Alignment> make(Random &random) {
    sized<Bytes, Alignment> value{};
    for (auto &map : value.maps)
      map = random_packed<typename sized<Bytes, Alignment>::word>(random);
    return value;
  }
};

} // namespace test
