// SPDX-License-Identifier: MIT
// Scans of lookback::host over types of every temper, for every compiler that can be found
// (CMakeLists.txt).
#include <lookback/execution_policy.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/scan.h>

#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace {

/// Lengths of a row in part, of a tile, and of so many that there are several threads.
constexpr std::size_t lengths[] = {37, 3000, 600000};

template <class T, class Operator>
void check_inclusive(const char *name, const std::vector<T> &in, Operator op) {
  INFO(doctest::String(name), ", n = ", in.size());
  std::vector<T> out(in);
  thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), op);
  CHECK_EQ(test::first_difference(out, test::serial_inclusive(in, op)), test::nowhere);
}

} // namespace

TEST_CASE("lookback::host: sums that the CPU's vectors add") {
  TEST_RANDOM(random);
  for (const std::size_t n : lengths) {
    check_inclusive("float", test::random_below<float>(n, 8, random), std::plus<float>{});
    check_inclusive("double", test::random_below<double>(n, 8, random), std::plus<double>{});
    check_inclusive("int", test::random_below<int>(n, 8, random), std::plus<>{});
  }
}

TEST_CASE("lookback::host: over-aligned, objects, strings, deques") {
  TEST_RANDOM(random);
  using wide = test::sized<128, 128>;
  for (const std::size_t n : {std::size_t{37}, std::size_t{3000}, std::size_t{40000}}) {
    check_inclusive("128 bytes, aligned to as many", test::random_values<wide>(n, random),
                    test::compose{});
    check_inclusive("objects", test::random_values<test::self_copied>(n, random), test::compose{});
  }
  check_inclusive("strings", std::vector<std::string>(700, "ab"), std::plus<>{});

  const auto in = test::random_values<std::uint32_t>(3000, random);
  const std::deque<std::uint32_t> from(in.begin(), in.end());
  std::vector<std::uint32_t> out(in.size());
  thrust::exclusive_scan(lookback::host, from.begin(), from.end(), out.begin(), 5u,
                         test::compose_words{});
  CHECK_EQ(test::first_difference(out, test::serial_exclusive(in, test::compose_words{}, 5u)),
           test::nowhere);
}

TEST_CASE("lookback::host: std::vector<bool>") {
  TEST_RANDOM(random);
  const auto odd = [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a ^ b); };
  for (const std::size_t n : lengths) {
    INFO("n = ", n);
    const auto in = test::random_below<std::uint8_t>(n, 2, random);
    const auto expected = test::serial_inclusive(in, odd);
    std::vector<bool> out(n);
    thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), odd);
    CHECK(out == std::vector<bool>(expected.begin(), expected.end()));
  }
}
