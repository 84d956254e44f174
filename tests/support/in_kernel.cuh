// SPDX-License-Identifier: MIT
// Scans that a thread of a kernel calls, with every policy of the Thrust door.
#pragma once

#include <support/policies.cuh>
#include <support/thrust_calls.hpp>

namespace test {

/// Each thread makes every call of `Calls`, call c on its own part of the output:
/// a.out + (thread * Calls::count + c) * n.
template <class Calls, class Policy>
__global__ void call_with(Policy policy, scan_arguments a, std::size_t n) {
  a.out += threadIdx.x * Calls::count * n;
  Calls{}(policy, a, n);
}

/// The same with policies that the kernel names and makes itself; block b with policy b.
template <class Calls>
__global__ void call_with_own_policies(scan_arguments a, std::size_t n, cudaStream_t s) {
  a.out += blockIdx.x * Calls::count * n;
  if (blockIdx.x == 0) Calls{}(lookback::par, a, n);
  if (blockIdx.x == 1) Calls{}(lookback::par_nosync, a, n);
  if (blockIdx.x == 2) Calls{}(lookback::par.on(s), a, n);
  if (blockIdx.x == 3) Calls{}(lookback::par_nosync.on(s).with(lookback::fastest{}), a, n);
}
inline constexpr int own_policies = 4;

/// `visit(compare)` calls compare(name, expected, call) for each call of `Calls`, in its order.
template <class Calls, class Visit>
void check_calls_in_kernels(const words &in, const words &keys, Visit visit) {
  const std::size_t n = in.size();
  constexpr int threads = 5, rows = threads > own_policies ? threads : own_policies;
  const guarded_buffer<word> device_in(in), device_keys(keys);
  guarded_buffer<word> out(rows * Calls::count * n);
  const scan_arguments a{device_in.data(), device_in.data() + n, device_keys.data(), out.data()};
  const auto check = [&](int rows_written) {
    REQUIRE_CUDA(cudaDeviceSynchronize());
    const words results = out.download();
    CHECK(out.guards_intact());
    for (int row = 0; row < rows_written; ++row) {
      INFO("row ", row, ", n = ", n);
      std::size_t at = row * Calls::count * n;
      visit([&](const char *name, const words &expected, auto) {
        INFO("call ", name);
        const words result(results.begin() + at, results.begin() + at + n);
        CHECK_EQ(first_difference(result, expected), nowhere);
        at += n;
      });
      CHECK_EQ(at, (row + 1) * Calls::count * n); // no call was left out
    }
  };
  const auto check_policy = [&](const auto &policy) {
    out.poison();
    call_with<Calls><<<1, threads>>>(policy, a, n);
    REQUIRE_CUDA(cudaGetLastError());
    check(threads);
  };
  for_each_policy([&](const char *name, const auto &policy, cudaStream_t, bool, arena_allocator *) {
    INFO("policy ", name);
    check_policy(policy);
    check_policy(policy.with(lookback::fastest{}));
  });
  INFO("policies of the kernel's own");
  stream s;
  out.poison();
  call_with_own_policies<Calls><<<own_policies, 1>>>(a, n, s);
  REQUIRE_CUDA(cudaGetLastError());
  check(own_policies);
}

} // namespace test
