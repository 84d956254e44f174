// SPDX-License-Identifier: MIT
// Iterators that are no pointers: computed, permuted, zipped, discarded, transformed on the way
// out, and a deque's.
#include <lookback/execution_policy.cuh>

#include <support/constant_iterator.hpp>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/scan.h>
#include <thrust/tuple.h>

#include <algorithm>
#include <deque>
#include <numeric>

namespace {

using word = std::uint32_t;
const test::compose_words op{};

struct swap_halves {
  word operator()(word x) const { return x << 16 | x >> 16; }
};

using pair = thrust::tuple<word, std::uint8_t>;
struct compose_pairs {
  pair operator()(const pair &f, const pair &g) const {
    return {test::compose_packed(thrust::get<0>(f), thrust::get<0>(g)),
            test::compose_packed(thrust::get<1>(f), thrust::get<1>(g))};
  }
};

template <class Random>
std::vector<std::size_t> lengths(Random &random) {
  return test::edge_sizes(4, 4, std::size_t{3} << 16, random);
}

} // namespace

TEST_CASE("lookback::host: a deque, a host_vector, reversed") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const auto in = test::random_values<word>(n, random);
    const auto expected = test::serial_inclusive(in, op);
    const std::deque<word> from(in.begin(), in.end());
    thrust::host_vector<word> to(n);
    CHECK(thrust::inclusive_scan(lookback::host, from.begin(), from.end(), to.begin(), op) ==
          to.end());
    CHECK_EQ(test::first_difference({to.begin(), to.end()}, expected), test::nowhere);

    std::deque<word> in_place = from;
    thrust::inclusive_scan(lookback::host, in_place.rbegin(), in_place.rend(), in_place.rbegin(),
                           op);
    const auto reversed = test::serial_inclusive(std::vector<word>(in.rbegin(), in.rend()), op);
    CHECK_EQ(test::first_difference({in_place.rbegin(), in_place.rend()}, reversed), test::nowhere);
  }
}

TEST_CASE("lookback::host: permutation, zip in and out") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const auto in = test::random_values<word>(n, random);
    std::vector<std::uint8_t> second;
    for (std::size_t i = 0; i < n; ++i) second.push_back(test::random_packed<std::uint8_t>(random));
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<word> permuted(n), expected(n), out(n);
    for (std::size_t i = 0; i < n; ++i) permuted[i] = in[order[i]];
    const auto scanned = test::serial_inclusive(permuted, op);
    for (std::size_t i = 0; i < n; ++i) expected[order[i]] = scanned[i];

    const auto from = thrust::make_permutation_iterator(in.begin(), order.begin());
    thrust::inclusive_scan(lookback::host, from, from + n,
                           thrust::make_permutation_iterator(out.begin(), order.begin()), op);
    CHECK_EQ(test::first_difference(out, expected), test::nowhere);

    std::vector<std::uint8_t> second_out(n);
    const auto zipped = thrust::make_zip_iterator(in.begin(), second.begin());
    thrust::inclusive_scan(lookback::host, zipped, zipped + n,
                           thrust::make_zip_iterator(out.begin(), second_out.begin()),
                           compose_pairs{});
    CHECK_EQ(test::first_difference(out, test::serial_inclusive(in, op)), test::nowhere);
    const auto compose_bytes = [](std::uint8_t f, std::uint8_t g) {
      return test::compose_packed(f, g);
    };
    CHECK_EQ(test::first_difference(second_out, test::serial_inclusive(second, compose_bytes)),
             test::nowhere);
  }
}

TEST_CASE("lookback::host: an output that computes, one that discards, computed keys and values") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const auto in = test::random_values<word>(n, random);
    auto expected = test::serial_inclusive(in, op);
    std::vector<word> out(n);
    thrust::inclusive_scan(lookback::host, in.begin(), in.end(),
                           thrust::make_transform_output_iterator(out.begin(), swap_halves{}), op);
    for (auto &value : expected) value = swap_halves{}(value);
    CHECK_EQ(test::first_difference(out, expected), test::nowhere);

    const auto nothing = thrust::make_discard_iterator();
    CHECK(thrust::inclusive_scan(lookback::host, in.begin(), in.end(), nothing, op) == nothing + n);

    const thrust::counting_iterator<std::int64_t> index(0);
    const auto one = test::constant_iterator(word{1});
    thrust::inclusive_scan_by_key(lookback::host, index, index + n, one, out.begin(),
                                  test::same_octave{});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += out[i] != i % 8 + 1;
    CHECK_EQ(wrong, 0u);
  }
}

TEST_CASE("lookback::host: results that share a word with their neighbours, and so many that "
          "threads would share the work") {
  TEST_RANDOM(random);
  const std::size_t n = (std::size_t{5} << 20) + random() % 1000, begin = 1 + random() % 63;
  std::vector<std::uint8_t> in(n);
  for (auto &bit : in) bit = random() % 2;
  std::vector<bool> out(begin + n), expected(begin, false);
  bool parity = false;
  for (const bool bit : in) expected.push_back(parity = parity != bit);
  const auto odd = [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a ^ b); };
  thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin() + begin, odd);
  CHECK(out == expected);
}

TEST_CASE("lookback::host: results that own memory, of plain elements") {
  TEST_RANDOM(random);
  struct owner { // leaks are for AddressSanitizer, and for the count
    static int &alive() {
      static int count = 0;
      return count;
    }
    owner(word x = 0) : value(x) { ++alive(); }
    owner(const owner &other) : value(other.value) { ++alive(); }
    owner &operator=(const owner &) = default;
    ~owner() { --alive(); }
    word value;
  };
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const auto in = test::random_values<word>(n, random);
    const auto expected = test::serial_inclusive(in, op);
    {
      std::vector<owner> out(n);
      thrust::inclusive_scan(lookback::host, in.data(), in.data() + n, out.data(), op);
      std::vector<word> values;
      for (const owner &one : out) values.push_back(one.value);
      CHECK_EQ(test::first_difference(values, expected), test::nowhere);
    }
    REQUIRE_EQ(owner::alive(), 0);
  }
}
