// SPDX-License-Identifier: MIT
// out_of_core with lookback::host: the bits of one scan in chunks, and the arguments of a call.
#include <lookback/out_of_core.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/tree_reference.hpp>

#include <cstring>
#include <stdexcept>

namespace {

namespace out_of_core = lookback::out_of_core;
using lookback::host;

template <class T, class Out>
void check_bits(const char *name) {
  TEST_RANDOM(random);
  INFO(doctest::String(name));
  const test::tree_sizes size(sizeof(T), sizeof(Out));
  for (const std::size_t n : {std::size_t{1}, size.group - 1, size.group, size.group + 1,
                              7 * size.group + 1, random() % (20 * size.group) + 1}) {
    const auto x = test::random_values<T>(n, random);
    std::vector<Out> y(n), expected(n);
    out_of_core::options limits;
    limits.chunk_bytes = (1 + random() % 5) * size.group * std::max(sizeof(T), sizeof(Out));
    std::int64_t calls = 0, last = 0;
    limits.progress = [&](std::int64_t done, std::int64_t total) {
      CHECK_EQ(total, static_cast<std::int64_t>(n));
      CHECK_GT(done, last);
      last = done;
      ++calls;
    };
    const Out initial = static_cast<Out>(3);
    lookback::inclusive_scan(host, x.begin(), x.end(), expected.begin(), lookback::plus{});
    auto end = out_of_core::inclusive_scan(host, x.begin(), x.end(), y.begin(), limits);
    CHECK(end == y.end());
    CHECK_EQ(std::memcmp(y.data(), expected.data(), n * sizeof(Out)), 0);
    last = 0;
    lookback::exclusive_scan(host, x.begin(), x.end(), expected.begin(), initial);
    out_of_core::exclusive_scan(host, x.begin(), x.end(), y.begin(), initial, limits);
    CHECK_EQ(std::memcmp(y.data(), expected.data(), n * sizeof(Out)), 0);
    CHECK_EQ(last, static_cast<std::int64_t>(n));
    lookback::inclusive_scan(host, x.begin(), x.end(), expected.begin(), initial, lookback::plus{});
    out_of_core::inclusive_scan(host, x.begin(), x.end(), y.begin(), initial, lookback::plus{});
    CHECK_EQ(std::memcmp(y.data(), expected.data(), n * sizeof(Out)), 0);
  }
}

struct is_odd {
  std::uint64_t operator()(unsigned char x) const { return x % 2; }
};

} // namespace

TEST_CASE("out_of_core on the CPU: the bits of one scan, whatever the chunks") {
  check_bits<float, float>("float");
  check_bits<double, double>("double");
  check_bits<int, int>("int");
  check_bits<float, double>("float to double");
}

TEST_CASE("out_of_core on the CPU: transforms, results in bits, operators that do not commute") {
  TEST_RANDOM(random);
  const std::size_t n = 3000001;
  out_of_core::options limits;
  limits.chunk_bytes = 1;
  limits.progress = [](std::int64_t, std::int64_t) {};
  const auto x = test::random_values<unsigned char>(n, random);
  std::vector<std::uint64_t> y(n), expected(n);
  lookback::transform_exclusive_scan(host, x.begin(), x.end(), expected.begin(), is_odd{},
                                     std::uint64_t{9}, lookback::plus{});
  out_of_core::transform_exclusive_scan(host, x.begin(), x.end(), y.begin(), is_odd{},
                                        std::uint64_t{9}, lookback::plus{}, limits);
  CHECK(y == expected);

  const auto exclusive_or = [](bool a, bool b) { return a != b; };
  std::vector<bool> odd(n), odd_expected(n);
  for (std::size_t i = 0; i < n; ++i) odd[i] = x[i] % 2 != 0;
  lookback::inclusive_scan(host, odd.begin(), odd.end(), odd_expected.begin(), exclusive_or);
  out_of_core::inclusive_scan(host, odd.begin(), odd.end(), odd.begin(), exclusive_or, limits);
  CHECK(odd == odd_expected);

  std::vector<test::interval> intervals(n);
  for (std::size_t i = 0; i < n; ++i) intervals[i] = test::interval_element(i);
  out_of_core::inclusive_scan(host, intervals.begin(), intervals.end(), intervals.begin(),
                              test::interval_initial, test::join_intervals{}, limits);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i)
    wrong += !(intervals[i] == test::interval{0, static_cast<std::uint32_t>(i) + 2});
  CHECK_EQ(wrong, 0u);
}

TEST_CASE("out_of_core on the CPU: no elements, and a progress that throws") {
  int x[3] = {1, 2, 3};
  CHECK_EQ(out_of_core::inclusive_scan(host, x + 1, x + 1, x), x);
  CHECK_EQ(out_of_core::exclusive_scan(host, x + 1, x, x, 5), x);
  CHECK_EQ(x[0], 1);
  out_of_core::options limits;
  limits.progress = [](std::int64_t, std::int64_t) { throw std::runtime_error("enough"); };
  CHECK_THROWS_AS(out_of_core::inclusive_scan(host, x, x + 3, x, limits), std::runtime_error);
}
