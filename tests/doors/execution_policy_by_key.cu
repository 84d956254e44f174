// SPDX-License-Identifier: MIT
#include <lookback/execution_policy.cuh>

#include <support/policies.cuh>
#include <support/thrust_calls.hpp>

#include <thrust/scan.h>
#include <thrust/transform_scan.h>

// Compiled with --default-stream=per-thread: only so can the stream of plain `par` be captured.
namespace {

TEST_FUNCTIONS(through_thrust, thrust);

} // namespace

TEST_CASE("lookback::par, lookback::par_nosync: the seven scans by key") {
  TEST_RANDOM(random);
  for (std::size_t n : test::to_try({1, 2 + random() % 1000, 4097 + random() % 100000, 1 << 21}, random)) {
    const test::words in = test::random_values<test::word>(n, random), keys = test::random_keys<test::word>(n, random);
    const test::guarded_buffer<test::word> device_in(in), device_keys(keys);
    test::guarded_buffer<test::word> out(n);
    const test::scan_arguments arguments{device_in.data(), device_in.data() + n, device_keys.data(), out.data()};
    test::visit_scans_by_key<through_thrust>(keys, in, [&](const char *name, const test::words &expected, auto call) {
      test::check_every_policy(name, out, expected, [&](const auto &policy) { return call(policy, arguments); });
    });
  }
}
