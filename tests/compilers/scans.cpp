// SPDX-License-Identifier: MIT
// The 16 scans of lookback::host, for every compiler that can be found (CMakeLists.txt).
#include <lookback/lookback.cuh>

#include <support/thrust_calls.hpp>

#include <thrust/scan.h>
#include <thrust/transform_scan.h>

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
