// SPDX-License-Identifier: MIT
#include <lookback/execution_policy.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>

#include <string>

namespace {

/// All edges of the tree, and a few lengths of many tiles.
template <class Random>
std::vector<std::size_t> lengths(std::size_t bytes, Random &random) {
  auto sizes = test::edge_sizes(bytes, bytes, std::size_t{1} << 19, random, 8);
  for (int i = 0; i < 2; ++i)
    sizes.push_back((std::size_t{1} << 20) + random() % (std::size_t{1} << 20));
  return sizes;
}

struct concatenate {
  std::string operator()(const std::string &a, const std::string &b) const { return a + b; }
};

} // namespace

TEST_CASE("lookback::host: the interval monoid") {
  TEST_RANDOM(random);
  const test::join_intervals op{};
  for (std::size_t n : lengths(sizeof(test::interval), random)) {
    INFO("n = ", n);
    const auto in = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                    test::to_interval{});
    std::vector<test::interval> out(n, test::interval_error);
    const auto first_wrong = [&](std::uint32_t begin, std::uint32_t end_of_first) {
      for (std::size_t i = 0; i < n; ++i)
        if (!(out[i] == test::interval{begin, static_cast<std::uint32_t>(i) + end_of_first}))
          return i;
      return test::nowhere;
    };
    thrust::inclusive_scan(lookback::host, in, in + n, out.begin(), op);
    CHECK_EQ(first_wrong(1, 2), test::nowhere);
    thrust::inclusive_scan(lookback::host, in, in + n, out.begin(), test::interval_initial, op);
    CHECK_EQ(first_wrong(0, 2), test::nowhere);
    thrust::exclusive_scan(lookback::host, in, in + n, out.begin(), test::interval_initial, op);
    CHECK_EQ(first_wrong(0, 1), test::nowhere);
  }
}

TEST_CASE("lookback::host: intervals by key") {
  TEST_RANDOM(random);
  const test::join_intervals op{};
  const std::equal_to<std::int32_t> equal{};
  for (std::size_t n : lengths(sizeof(test::interval), random)) {
    INFO("n = ", n);
    const auto keys = test::random_keys<std::int32_t>(n, random);
    std::vector<test::interval> in, out(n, test::interval_error);
    for (std::size_t i = 0, run = 0; i < n; ++i) {
      run = i != 0 && keys[i - 1] == keys[i] ? run + 1 : 0;
      in.push_back(test::interval_element(run));
    }
    thrust::inclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), in.begin(), out.begin(),
                                  equal, op);
    CHECK_EQ(test::first_difference(out, test::serial_inclusive_by_key(keys, in, equal, op)),
             test::nowhere);
    thrust::exclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), in.begin(), out.begin(),
                                  test::interval_initial, equal, op);
    CHECK_EQ(test::first_difference(
                 out, test::serial_exclusive_by_key(keys, in, equal, op, test::interval_initial)),
             test::nowhere);
  }
}

TEST_CASE("lookback::host: the bicyclic monoid, affine maps, counting") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(8, random)) {
    INFO("n = ", n);
    std::vector<test::brackets> brackets;
    std::vector<test::affine> maps;
    std::vector<test::counted> ones;
    for (std::size_t i = 0; i < n; ++i) {
      brackets.push_back(
          {static_cast<std::uint32_t>(random() % 4), static_cast<std::uint32_t>(random() % 4)});
      maps.push_back(
          {static_cast<std::uint32_t>(random() | 1), static_cast<std::uint32_t>(random())});
      ones.push_back({1, i + 1});
    }
    const auto check = [&](const auto &in, auto op) {
      auto out = in;
      thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), op);
      CHECK_EQ(test::first_difference(out, test::serial_inclusive(in, op)), test::nowhere);
    };
    check(brackets, test::concatenate_brackets{});
    check(maps, test::compose_affine{});
    check(ones, test::count{});
  }
}

TEST_CASE("lookback::host: strings, which own memory") {
  TEST_RANDOM(random);
  // Most are empty: the results of n letters would take n * n / 2 bytes.
  for (std::size_t n : {std::size_t{1}, std::size_t{700}, std::size_t{20000}}) {
    INFO("n = ", n);
    std::vector<std::string> in(n), out(n);
    for (int letter = 0; letter < 40; ++letter)
      in[random() % n] += static_cast<char>('a' + letter % 26);
    thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), concatenate{});
    CHECK_EQ(test::first_difference(out, test::serial_inclusive(in, concatenate{})), test::nowhere);
    thrust::exclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), std::string("<"),
                           concatenate{});
    CHECK_EQ(
        test::first_difference(out, test::serial_exclusive(in, concatenate{}, std::string("<"))),
        test::nowhere);
  }
}
