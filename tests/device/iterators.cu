// SPDX-License-Identifier: MIT
// Iterators that are no pointers: computed, permuted, zipped, discarded, transformed on the way
// out.
#include <lookback/execution_policy.cuh>

#include <support/buffers.cuh>
#include <support/constant_iterator.hpp>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/scan.h>
#include <thrust/tuple.h>

#include <algorithm>
#include <numeric>

namespace {

using word = std::uint32_t;
const test::compose_words op{};

struct swap_halves {
  __host__ __device__ word operator()(word x) const { return x << 16 | x >> 16; }
};

using pair = thrust::tuple<word, std::uint8_t>;
struct compose_pairs {
  __host__ __device__ pair operator()(const pair &f, const pair &g) const {
    return {test::compose_packed(thrust::get<0>(f), thrust::get<0>(g)),
            test::compose_packed(thrust::get<1>(f), thrust::get<1>(g))};
  }
};

template <class Random>
std::vector<std::size_t> lengths(Random &random) {
  return test::to_try(test::edge_sizes(4, 4, std::size_t{3} << 17, random), random);
}

} // namespace

TEST_CASE("iterators: counting, and a transform of it, in") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const thrust::counting_iterator<std::int64_t> first(0);
    const test::guarded_buffer<std::int64_t> sums(n);
    CHECK_EQ(thrust::inclusive_scan(lookback::par, first, first + n, sums.data()), sums.data() + n);
    const auto actual = sums.download();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += actual[i] != std::int64_t(i * (i + 1) / 2);
    CHECK_EQ(wrong, 0u);

    const auto elements = thrust::make_transform_iterator(first, test::to_interval{});
    const test::guarded_buffer<test::interval> intervals(n);
    thrust::exclusive_scan(lookback::par, elements, elements + n, intervals.data(),
                           test::interval_initial, test::join_intervals{});
    const auto joined = intervals.download();
    for (std::size_t i = 0; i < n; ++i)
      wrong += !(joined[i] == test::interval{0, static_cast<word>(i) + 1});
    CHECK_EQ(wrong, 0u);
    CHECK(intervals.guards_intact());
  }
}

TEST_CASE("iterators: permutation in and out, reverse") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const auto in = test::random_values<word>(n, random);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<word> permuted(n), expected(n);
    for (std::size_t i = 0; i < n; ++i) permuted[i] = in[order[i]];
    const auto scanned = test::serial_inclusive(permuted, op);
    for (std::size_t i = 0; i < n; ++i) expected[order[i]] = scanned[i];

    const test::guarded_buffer<word> device_in(in);
    const test::guarded_buffer<int> device_order(order);
    test::guarded_buffer<word> out(n);
    const auto from = thrust::make_permutation_iterator(device_in.data(), device_order.data());
    thrust::inclusive_scan(lookback::par, from, from + n,
                           thrust::make_permutation_iterator(out.data(), device_order.data()), op);
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    CHECK(out.guards_intact());

    out.poison();
    const auto backwards = thrust::make_reverse_iterator(device_in.data() + n);
    thrust::inclusive_scan(lookback::par, backwards, backwards + n,
                           thrust::make_reverse_iterator(out.data() + n), op);
    std::vector<word> reversed =
        test::serial_inclusive(std::vector<word>(in.rbegin(), in.rend()), op);
    std::reverse(reversed.begin(), reversed.end());
    CHECK_EQ(test::first_difference(out.download(), reversed), test::nowhere);
  }
}

TEST_CASE("iterators: zip in and out, of different widths, in place too") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const auto first = test::random_values<word>(n, random);
    std::vector<std::uint8_t> second;
    for (std::size_t i = 0; i < n; ++i) second.push_back(test::random_packed<std::uint8_t>(random));
    const auto expected_first = test::serial_inclusive(first, op);
    const auto expected_second = test::serial_inclusive(
        second, [](std::uint8_t f, std::uint8_t g) { return test::compose_packed(f, g); });
    const test::guarded_buffer<word> device_first(first), out_first(n);
    const test::guarded_buffer<std::uint8_t> device_second(second, 1), out_second(n, 3);
    const auto in = thrust::make_zip_iterator(device_first.data(), device_second.data());
    for (const auto &out : {thrust::make_zip_iterator(out_first.data(), out_second.data()), in}) {
      thrust::inclusive_scan(lookback::par, in, in + n, out, compose_pairs{});
      const bool in_place = out == in;
      INFO("in place: ", in_place);
      CHECK_EQ(
          test::first_difference((in_place ? device_first : out_first).download(), expected_first),
          test::nowhere);
      CHECK_EQ(test::first_difference((in_place ? device_second : out_second).download(),
                                      expected_second),
               test::nowhere);
    }
    CHECK(out_first.guards_intact());
    CHECK(out_second.guards_intact());
  }
}

TEST_CASE("iterators: an output that computes, one that discards, one of proxies") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const auto in = test::random_values<word>(n, random);
    auto expected = test::serial_inclusive(in, op);
    const test::guarded_buffer<word> device_in(in), out(n);

    thrust::device_vector<word> proxies(n);
    CHECK(thrust::inclusive_scan(lookback::par, device_in.data(), device_in.data() + n,
                                 proxies.begin(), op) == proxies.end());
    std::vector<word> from_proxies(n);
    REQUIRE_CUDA(cudaMemcpy(from_proxies.data(), thrust::raw_pointer_cast(proxies.data()), 4 * n,
                            cudaMemcpyDeviceToHost));
    CHECK_EQ(test::first_difference(from_proxies, expected), test::nowhere);

    // Thrust's other writers have no value type of their own: what they are given is the
    // accumulator.
    thrust::inclusive_scan(lookback::par, device_in.data(), device_in.data() + n,
                           thrust::make_transform_output_iterator(out.data(), swap_halves{}), op);
    for (auto &value : expected) value = swap_halves{}(value);
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    CHECK(out.guards_intact());

    const auto nothing = thrust::make_discard_iterator();
    CHECK(thrust::inclusive_scan(lookback::par, device_in.data(), device_in.data() + n, nothing,
                                 op) == nothing + n);
    CHECK_EQ(test::first_difference(device_in.download(), in), test::nowhere);
  }
}

TEST_CASE("iterators: computed keys and values by key") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const thrust::counting_iterator<std::int64_t> index(0);
    const auto one = test::constant_iterator(std::int32_t{1});
    const test::guarded_buffer<std::int32_t> ranks(n);
    thrust::inclusive_scan_by_key(lookback::par, index, index + n, one, ranks.data(),
                                  test::same_octave{});
    const auto actual = ranks.download();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += actual[i] != std::int32_t(i % 8 + 1);
    CHECK_EQ(wrong, 0u);
    CHECK(ranks.guards_intact());
  }
}
