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

/// In the order of test::visit_scans.
struct calls_in_kernel {
  static constexpr int count = 9;
  template <class Policy>
  __device__ void operator()(const Policy &policy, test::scan_arguments a, std::size_t n) const {
    const test::compose_words op{};
    const test::triple_plus_one<test::word> f{};
    const test::word init = test::initial;
    thrust::inclusive_scan(policy, a.in, a.in_end, a.out);
    thrust::inclusive_scan(policy, a.in, a.in_end, a.out += n, op);
    thrust::inclusive_scan(policy, a.in, a.in_end, a.out += n, init, op);
    thrust::exclusive_scan(policy, a.in, a.in_end, a.out += n);
    thrust::exclusive_scan(policy, a.in, a.in_end, a.out += n, init);
    thrust::exclusive_scan(policy, a.in, a.in_end, a.out += n, init, op);
    thrust::transform_inclusive_scan(policy, a.in, a.in_end, a.out += n, f, op);
    thrust::transform_inclusive_scan(policy, a.in, a.in_end, a.out += n, f, init, op);
    thrust::transform_exclusive_scan(policy, a.in, a.in_end, a.out += n, f, init, op);
  }
};

} // namespace

TEST_CASE("lookback::par, lookback::par_nosync: the nine scans without keys") {
  TEST_RANDOM(random);
  for (std::size_t n :
       test::to_try({1, 2 + random() % 1000, 4097 + random() % 100000, 1 << 21}, random)) {
    const test::words in = test::random_values<test::word>(n, random);
    const test::guarded_buffer<test::word> device_in(in);
    test::guarded_buffer<test::word> out(n);
    const test::scan_arguments arguments{device_in.data(), device_in.data() + n, nullptr,
                                         out.data()};
    test::visit_scans<through_thrust>(
        in, [&](const char *name, const test::words &expected, auto call) {
          test::check_every_policy(name, out, expected,
                                   [&](const auto &policy) { return call(policy, arguments); });
        });
  }
}

TEST_CASE("lookback's policies in device code: the nine scans without keys, in one thread") {
  TEST_RANDOM(random);
  const auto check = [](const test::words &in) {
    test::check_calls_in_kernels<calls_in_kernel>(
        in, in, [&](auto compare) { test::visit_scans<through_thrust>(in, compare); });
  };
  check(test::words(10, 1));
  for (std::size_t n : {0u, 1u, 1000u}) check(test::random_values<test::word>(n, random));
}
