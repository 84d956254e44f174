// SPDX-License-Identifier: MIT
#include <lookback/core/serial_scan.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace {

using word = std::uint32_t;
using words = std::vector<word>;
using lookback::detail::serial_scan;
using lookback::detail::serial_scan_by_key;

const test::compose_words op{};
const test::same_octave same{};

} // namespace

TEST_CASE("serial_scan: inclusive and exclusive, in place and not") {
  TEST_RANDOM(random);
  for (std::size_t n : {0u, 1u, 2u, 10u, 1000u}) {
    INFO("n = ", n);
    const words in = test::random_values<word>(n, random);
    const auto check = [&](const words &expected, auto scan) {
      words out(n);
      scan(in.data(), out.data());
      CHECK_EQ(test::first_difference(out, expected), test::nowhere);
      words in_place = in;
      scan(in_place.data(), in_place.data());
      CHECK_EQ(test::first_difference(in_place, expected), test::nowhere);
    };
    const word init = 7;
    check(test::serial_inclusive(in, op),
          [&](const word *from, word *to) { serial_scan<true, word>(n, to, from, op, nullptr); });
    check(test::serial_inclusive<word>(in, op, init),
          [&](const word *from, word *to) { serial_scan<true, word>(n, to, from, op, &init); });
    check(test::serial_exclusive<word>(in, op, init),
          [&](const word *from, word *to) { serial_scan<false, word>(n, to, from, op, &init); });
  }
}

TEST_CASE("serial_scan_by_key, into the keys, the values and elsewhere") {
  TEST_RANDOM(random);
  for (std::size_t n : {0u, 1u, 2u, 10u, 10000u}) {
    INFO("n = ", n);
    const words in = test::random_values<word>(n, random),
                keys = test::random_keys<word>(n, random);
    const auto check = [&](const words &expected, auto scan) {
      for (const int place : {0, 1, 2}) {
        INFO("into ", place == 0 ? "the keys" : place == 1 ? "the values" : "elsewhere");
        words own_keys = keys, own_values = in, elsewhere(n);
        words &out = place == 0 ? own_keys : place == 1 ? own_values : elsewhere;
        const word *const from_keys = own_keys.data(), *const from_values = own_values.data();
        scan(from_keys, from_values, out.data());
        CHECK_EQ(test::first_difference(out, expected), test::nowhere);
      }
    };
    const word init = 7;
    check(test::serial_inclusive_by_key(keys, in, same, op),
          [&](const word *named, const word *from, word *to) {
            serial_scan_by_key<true, word>(n, to, named, from, same, op, nullptr);
          });
    check(test::serial_exclusive_by_key<word>(keys, in, same, op, init),
          [&](const word *named, const word *from, word *to) {
            serial_scan_by_key<false, word>(n, to, named, from, same, op, &init);
          });
  }
}

TEST_CASE("serial_scan: an accumulator that can only be copied") {
  struct only_copied {
    explicit only_copied(word v) : value(v) {}
    only_copied(const only_copied &) = default;
    only_copied &operator=(const only_copied &) = delete;
    word value;
  };
  struct add {
    only_copied operator()(const only_copied &a, const only_copied &b) const {
      return only_copied(a.value + b.value);
    }
  };
  struct sink { // assigns the value alone
    struct place {
      word &to;
      void operator=(const only_copied &from) { to = from.value; }
    };
    word *to;
    place operator[](std::ptrdiff_t i) const { return {to[i]}; }
  };
  const std::vector<only_copied> in(10, only_copied(1));
  words out(10);
  serial_scan<true, only_copied>(10, sink{out.data()}, in.data(), add{}, nullptr);
  CHECK_EQ(out, words{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
}
