// SPDX-License-Identifier: MIT
#include <lookback/core/divisor.cuh>

#include <support/random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace {

constexpr unsigned most = (1u << 31) - 1;

void check(unsigned n, unsigned d) {
  INFO(n, " / ", d);
  REQUIRE_EQ(lookback::detail::divisor(d).quotient(n), n / d);
}
/// Where quotients change, and at both ends.
void check_edges(unsigned d) {
  check(0, d);
  check(most, d);
  const unsigned last = most / d * d; // the last multiple of d
  for (const unsigned multiple : {d, last, last / 2 / d * d}) {
    if (multiple > 0) check(multiple - 1, d);
    check(multiple, d);
    if (multiple < most) check(multiple + 1, d);
  }
}

} // namespace

TEST_CASE("divisor: small divisors, and powers of two and their neighbours") {
  for (unsigned d = 1; d <= 5000; ++d) check_edges(d);
  for (int bits = 1; bits < 31; ++bits)
    for (const unsigned d : {(1u << bits) - 1, 1u << bits, (1u << bits) + 1}) check_edges(d);
  check_edges(most);
}
TEST_CASE("divisor: random numbers") {
  TEST_RANDOM(random);
  for (int i = 0; i < 200000; ++i) {
    check_edges(std::max(1u, static_cast<unsigned>(random() >> (33 + random() % 31))));
    check(static_cast<unsigned>(random() >> 33),
          std::max(1u, static_cast<unsigned>(random() >> (33 + random() % 31))));
  }
}
TEST_CASE("divisor: greater than all numbers, and the default, 1") {
  for (const int bits : {31, 40}) {
    const lookback::detail::divisor huge(std::int64_t{1} << bits);
    CHECK_EQ(huge.quotient(0), 0);
    CHECK_EQ(huge.quotient(most), 0);
  }
  CHECK_EQ(lookback::detail::divisor().quotient(0), 0);
  CHECK_EQ(lookback::detail::divisor().quotient(most), most);
}
