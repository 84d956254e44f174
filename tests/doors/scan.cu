// SPDX-License-Identifier: MIT
#include <lookback/scan.cuh>

#include <support/policies.cuh>
#include <support/thrust_calls.hpp>

#include <thrust/execution_policy.h>

namespace {

TEST_FUNCTIONS(free_functions, lookback);

__global__ void offsets_in_kernel(const test::word *first, const test::word *last,
                                  test::word *result) {
  lookback::offsets_from_counts(lookback::par, first, last, result);
}

/// With each policy: the results, and in a captured stream whose kernels they came from.
template <class Call>
void check_policies(const char *call_name, test::guarded_buffer<test::word> &out,
                    const test::words &expected, Call call) {
  INFO("call ", call_name, ", n = ", expected.size());
  test::stream s;
  test::arena_allocator arena;
  const auto check = [&](const char *policy_name, const auto &policy, bool can_be_captured) {
    INFO("policy ", policy_name);
    out.poison();
    CHECK_EQ(call(policy), out.data() + expected.size());
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    CHECK(out.guards_intact());
    if (!can_be_captured) return;
    out.poison();
    test::captured graph(s, [&] { call(policy); });
    const auto kernels = graph.kernels();
    CHECK(!kernels.empty());
    for (const auto &kernel : kernels) CHECK_MESSAGE(test::is_lookback_kernel(kernel), kernel);
    graph.launch(s);
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
  };
  check("thrust::cuda::par", thrust::cuda::par, false);
  check("thrust::cuda::par.on(s)", thrust::cuda::par.on(s), true);
  check("thrust::cuda::par(alloc).on(s)", thrust::cuda::par(arena).on(s), true);
  check("thrust::cuda::par_nosync", thrust::cuda::par_nosync, false);
  check("thrust::cuda::par_nosync.on(s)", thrust::cuda::par_nosync.on(s), true);
  check("thrust::device", thrust::device, false);
  check("lookback::par", lookback::par, false);
  check("lookback::par.on(s)", lookback::par.on(s), true);
  check("lookback::par(alloc).on(s)", lookback::par(arena).on(s), true);
  check("lookback::par_nosync.on(s)", lookback::par_nosync.on(s), true);
  if (expected.size() > 1000000) CHECK_GT(arena.allocations(), 0);
  CHECK_EQ(arena.outstanding(), 0u);
}

} // namespace

TEST_CASE(
    "lookback::inclusive_scan and the other free functions: lookback's policies and Thrust's own") {
  TEST_RANDOM(random);
  for (std::size_t n : test::to_try({1, 2 + random() % 100000, 1 << 20 | 1}, random)) {
    const test::words in = test::random_values<test::word>(n, random),
                      keys = test::random_keys<test::word>(n, random);
    const test::guarded_buffer<test::word> device_in(in), device_keys(keys);
    test::guarded_buffer<test::word> out(n);
    const test::scan_arguments arguments{device_in.data(), device_in.data() + n, device_keys.data(),
                                         out.data()};
    const auto check = [&](const char *name, const test::words &expected, auto call) {
      check_policies(name, out, expected,
                     [&](const auto &policy) { return call(policy, arguments); });
    };
    test::visit_scans<free_functions>(in, check);
    test::visit_scans_by_key<free_functions>(keys, in, check);
  }
}

TEST_CASE("lookback::offsets_from_counts: every policy, the CPU, and a kernel") {
  TEST_RANDOM(random);
  for (const std::size_t n : test::to_try({0, 1, 2 + random() % 100000, 1 << 20 | 1}, random)) {
    const test::words counts = test::random_values<test::word>(n, random);
    test::words expected(1, 0);
    for (const test::word count : counts) expected.push_back(expected.back() + count);
    const test::guarded_buffer<test::word> device_counts(counts);
    test::guarded_buffer<test::word> out(n + 1);
    const test::word *const first = device_counts.data(), *const last = first + n;
    check_policies("offsets_from_counts", out, expected, [&](const auto &policy) {
      return lookback::offsets_from_counts(policy, first, last, out.data());
    });
    test::words on_host(n + 1);
    CHECK(lookback::offsets_from_counts(lookback::host, counts.begin(), counts.end(),
                                        on_host.begin()) == on_host.end());
    CHECK_EQ(test::first_difference(on_host, expected), test::nowhere);
    if (n > 100000) continue;
    out.poison();
    offsets_in_kernel<<<1, 1>>>(first, last, out.data());
    REQUIRE_CUDA(cudaGetLastError());
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    CHECK(out.guards_intact());
  }
}

TEST_CASE("lookback::inclusive_scan and the other free functions: lookback::host") {
  TEST_RANDOM(random);
  const std::size_t n = 1 + random() % 200000;
  const test::words in = test::random_values<test::word>(n, random),
                    keys = test::random_keys<test::word>(n, random);
  const auto check = [&](const char *name, const test::words &expected, auto call) {
    INFO("call ", name, ", n = ", n);
    test::words out(n);
    CHECK_EQ(call(lookback::host,
                  test::scan_arguments{in.data(), in.data() + n, keys.data(), out.data()}),
             out.data() + n);
    CHECK_EQ(test::first_difference(out, expected), test::nowhere);
  };
  test::visit_scans<free_functions>(in, check);
  test::visit_scans_by_key<free_functions>(keys, in, check);
}
