// SPDX-License-Identifier: MIT
// The 16 scans of lookback::host, for every compiler that can be found (CMakeLists.txt).
#include <lookback/lookback.cuh>

#include <support/thrust_calls.hpp>

#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/transform_scan.h>
#include <thrust/unique.h>

#include <algorithm>

namespace {

TEST_FUNCTIONS(through_thrust, thrust);

} // namespace

TEST_CASE("lookback::host: the 16 scans") {
  TEST_RANDOM(random);
  // A vector, a row, a tile, tiles of several groups, in part each.
  for (std::size_t n :
       {std::size_t{3}, std::size_t{77}, std::size_t{3001}, 150000 + random() % 1000}) {
    INFO("n = ", n);
    const test::words in = test::random_values<test::word>(n, random),
                      keys = test::random_keys<test::word>(n, random);
    test::words out(n);
    const test::scan_arguments arguments{in.data(), in.data() + n, keys.data(), out.data()};
    const auto check = [&](const char *name, const test::words &expected, auto call) {
      INFO("call ", name);
      out.assign(n, 0xa5a5a5a5);
      CHECK_EQ(call(lookback::host, arguments), out.data() + n);
      CHECK_EQ(test::first_difference(out, expected), test::nowhere);
    };
    test::visit_scans<through_thrust>(in, check);
    test::visit_scans_by_key<through_thrust>(keys, in, check);
  }
}

TEST_CASE("lookback::host: selections") {
  TEST_RANDOM(random);
  const test::words in = test::random_values<test::word>(700000 + random() % 1000, random);
  const auto is_odd = [](test::word x) { return x % 2 != 0; };
  test::words out(in), expected(in);
  expected.erase(std::remove_if(expected.begin(), expected.end(), is_odd), expected.end());
  out.erase(thrust::remove_if(lookback::host, out.begin(), out.end(), is_odd), out.end());
  CHECK_EQ(test::first_difference(out, expected), test::nowhere);
  const test::words keys = test::random_keys<test::word>(in.size(), random);
  test::words heads(in.size());
  expected = out = keys;
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  out.erase(thrust::unique(lookback::host, out.begin(), out.end()), out.end());
  CHECK_EQ(test::first_difference(out, expected), test::nowhere);
  out.resize(in.size());
  heads.erase(thrust::reduce_by_key(lookback::host, keys.begin(), keys.end(), in.begin(),
                                    heads.begin(), out.begin())
                  .first,
              heads.end());
  CHECK_EQ(test::first_difference(heads, expected), test::nowhere);
}
