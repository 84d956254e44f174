// SPDX-License-Identifier: MIT
// One fresh seed a run; a failure prints it, and LOOKBACK_TEST_SEED in the environment replays it.
// LOOKBACK_TEST_TRIALS there makes runs short, for tools under which a program takes a hundred
// times as long: no more lengths, repetitions or trials than it says.
#pragma once

#include <support/types.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <vector>

namespace test {

inline std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    if (const char *given = std::getenv("LOOKBACK_TEST_SEED"))
      return std::uint64_t{std::strtoull(given, nullptr, 0)};
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }();
  return seed;
}

/// `wanted` of something, or as many as LOOKBACK_TEST_TRIALS allows.
inline std::size_t trials(std::size_t wanted) {
  static const char *const most = std::getenv("LOOKBACK_TEST_TRIALS");
  return most != nullptr ? std::min<std::size_t>(wanted, std::strtoull(most, nullptr, 0)) : wanted;
}

/// Whether LOOKBACK_TEST_TRIALS allows but a few.
inline bool runs_short() { return trials(8) < 8; }

/// Of what could be tried, in its order, as much as is to be.
template <class T = std::size_t, class Random>
std::vector<T> to_try(const std::vector<T> &all, Random &random) {
  std::vector<T> some;
  std::sample(all.begin(), all.end(), std::back_inserter(some), trials(all.size()), random);
  return some;
}

template <class T, class Random>
std::vector<T> random_values(std::size_t n, Random &random) {
  std::vector<T> values;
  values.reserve(n);
  for (std::size_t i = 0; i < n; ++i) values.push_back(random_value<T>::make(random));
  return values;
}

/// Random numbers from [0, bound).
template <class T, class Random>
std::vector<T> random_below(std::size_t n, std::uint64_t bound, Random &random) {
  std::vector<T> values;
  values.reserve(n);
  for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<T>(random() % bound));
  return values;
}

/// Keys in runs of random length, most short and a few across many tiles; neighbouring runs differ
/// by `step`.
template <class Key, class Random>
std::vector<Key> random_keys(std::size_t n, Random &random, std::uint64_t step = 1) {
  std::vector<Key> keys;
  keys.reserve(n);
  std::uint64_t key = random() % 64;
  while (keys.size() < n) {
    const std::uint64_t longest = std::uint64_t{1} << (random() % 18);
    for (std::uint64_t left = 1 + random() % longest; left != 0 && keys.size() < n; --left)
      keys.push_back(static_cast<Key>(key));
    key += step;
  }
  return keys;
}

} // namespace test

/// Declares the generator `name` of this test case, and the line that a failure in its scope
/// prints.
#define TEST_RANDOM(name)                                                                          \
  std::mt19937_64 name(::test::run_seed());                                                        \
  INFO("replay with LOOKBACK_TEST_SEED=" << ::test::run_seed())
