// SPDX-License-Identifier: MIT
#include <lookback/execution_policy.cuh>

#include <support/in_kernel.cuh>
#include <support/policies.cuh>
#include <support/thrust_calls.hpp>

#include <thrust/scan.h>
#include <thrust/transform_scan.h>

// Compiled with --default-stream=per-thread: only so can the stream of plain `par` be captured.
namespace {

TEST_FUNCTIONS(through_thrust, thrust);

/// In the order of test::visit_scans_by_key.
struct calls_in_kernel {
  static constexpr int count = 7;
  template <class Policy>
  __device__ void operator()(const Policy &policy, test::scan_arguments a, std::size_t n) const {
    const test::compose_words op{};
    const test::same_octave same{};
    const test::word init = test::initial, *const end = a.keys + n;
    thrust::inclusive_scan_by_key(policy, a.keys, end, a.in, a.out);
    thrust::inclusive_scan_by_key(policy, a.keys, end, a.in, a.out += n, same);
    thrust::inclusive_scan_by_key(policy, a.keys, end, a.in, a.out += n, same, op);
    thrust::exclusive_scan_by_key(policy, a.keys, end, a.in, a.out += n);
    thrust::exclusive_scan_by_key(policy, a.keys, end, a.in, a.out += n, init);
    thrust::exclusive_scan_by_key(policy, a.keys, end, a.in, a.out += n, init, same);
    thrust::exclusive_scan_by_key(policy, a.keys, end, a.in, a.out += n, init, same, op);
  }
};

} // namespace

TEST_CASE("lookback::par, lookback::par_nosync: the seven scans by key") {
  TEST_RANDOM(random);
  for (std::size_t n :
       test::to_try({1, 2 + random() % 1000, 4097 + random() % 100000, 1 << 21}, random)) {
    const test::words in = test::random_values<test::word>(n, random),
                      keys = test::random_keys<test::word>(n, random);
    const test::guarded_buffer<test::word> device_in(in), device_keys(keys);
    test::guarded_buffer<test::word> out(n);
    const test::scan_arguments arguments{device_in.data(), device_in.data() + n, device_keys.data(),
                                         out.data()};
    test::visit_scans_by_key<through_thrust>(
        keys, in, [&](const char *name, const test::words &expected, auto call) {
          test::check_every_policy(name, out, expected,
                                   [&](const auto &policy) { return call(policy, arguments); });
        });
  }
}

TEST_CASE("lookback's policies in device code: the seven scans by key, in one thread") {
  TEST_RANDOM(random);
  const auto check = [](const test::words &keys, const test::words &in) {
    test::check_calls_in_kernels<calls_in_kernel>(in, keys, [&](auto compare) {
      test::visit_scans_by_key<through_thrust>(keys, in, compare);
    });
  };
  check(test::words(10, 3), test::words(10, 1));
  for (std::size_t n : {0u, 1u, 1000u})
    check(test::random_keys<test::word>(n, random), test::random_values<test::word>(n, random));
}
