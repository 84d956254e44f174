// SPDX-License-Identifier: MIT
#include <lookback/execution_policy.cuh>

#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <algorithm>
#include <numeric>

TEST_CASE("lookback::host: what is not a scan falls through to Thrust") {
  TEST_RANDOM(random);
  const auto in = test::random_values<std::uint32_t>(10000, random);
  auto data = in, expected = in;
  const auto twice = [](std::uint32_t x) { return 2 * x; };
  thrust::transform(lookback::host, data.begin(), data.end(), data.begin(), twice);
  std::transform(in.begin(), in.end(), expected.begin(), twice);
  CHECK_EQ(test::first_difference(data, expected), test::nowhere);
  CHECK_EQ(thrust::reduce(lookback::host, data.begin(), data.end()),
           std::accumulate(expected.begin(), expected.end(), std::uint32_t{0}));
  thrust::sort(lookback::host, data.begin(), data.end());
  std::sort(expected.begin(), expected.end());
  CHECK_EQ(test::first_difference(data, expected), test::nowhere);
  thrust::sequence(lookback::host, data.begin(), data.end());
  std::iota(expected.begin(), expected.end(), 0u);
  CHECK_EQ(test::first_difference(data, expected), test::nowhere);
}
