// SPDX-License-Identifier: MIT
#include <doors/selection_calls.cuh>

#include <thrust/copy.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/unique.h>

#include <cuda/std/functional>

using test::check_selection_call;
using test::counts;
using test::same_quotient;

TEST_CASE("lookback's policies: the first elements of runs") {
  check_selection_call("unique_copy", [](const auto &policy, auto a) -> counts {
    return {thrust::unique_copy(policy, a.x, a.end(), a.kept) - a.kept};
  });
  check_selection_call("unique_copy(equal)", [](const auto &policy, auto a) -> counts {
    return {thrust::unique_copy(policy, a.x, a.end(), a.kept, same_quotient{}) - a.kept};
  });
  check_selection_call("unique", [](const auto &policy, auto a) -> counts {
    return {thrust::unique(policy, a.x, a.end()) - a.x};
  });
  check_selection_call("unique(equal)", [](const auto &policy, auto a) -> counts {
    return {thrust::unique(policy, a.x, a.end(), same_quotient{}) - a.x};
  });
  check_selection_call("unique_count", [](const auto &policy, auto a) -> counts {
    return {thrust::unique_count(policy, a.x, a.end())};
  });
  check_selection_call("unique_count(equal)", [](const auto &policy, auto a) -> counts {
    return {thrust::unique_count(policy, a.x, a.end(), same_quotient{})};
  });
}

TEST_CASE("lookback's policies: the first elements of runs, with values") {
  const auto in_place = [](const auto &ends, const auto &a) -> counts {
    return {ends.first - a.x, ends.second - a.values};
  };
  const auto apart = [](const auto &ends, const auto &a) -> counts {
    return {ends.first - a.kept, ends.second - a.sums};
  };
  check_selection_call("unique_by_key", [=](const auto &policy, auto a) {
    return in_place(thrust::unique_by_key(policy, a.x, a.end(), a.values), a);
  });
  check_selection_call("unique_by_key(equal)", [=](const auto &policy, auto a) {
    return in_place(thrust::unique_by_key(policy, a.x, a.end(), a.values, same_quotient{}), a);
  });
  check_selection_call("unique_by_key_copy", [=](const auto &policy, auto a) {
    return apart(thrust::unique_by_key_copy(policy, a.x, a.end(), a.values, a.kept, a.sums), a);
  });
  check_selection_call("unique_by_key_copy(equal)", [=](const auto &policy, auto a) {
    return apart(
        thrust::unique_by_key_copy(policy, a.x, a.end(), a.values, a.kept, a.sums, same_quotient{}),
        a);
  });
  // Sums of floats: the bits of the CPU.
  check_selection_call("reduce_by_key", [=](const auto &policy, auto a) {
    return apart(thrust::reduce_by_key(policy, a.x, a.end(), a.values, a.kept, a.sums), a);
  });
  check_selection_call("reduce_by_key(equal)", [=](const auto &policy, auto a) {
    return apart(
        thrust::reduce_by_key(policy, a.x, a.end(), a.values, a.kept, a.sums, same_quotient{}), a);
  });
  check_selection_call("reduce_by_key(equal, op)", [=](const auto &policy, auto a) {
    return apart(thrust::reduce_by_key(policy, a.x, a.end(), a.values, a.kept, a.sums,
                                       same_quotient{}, cuda::std::multiplies<float>{}),
                 a);
  });
}

namespace {

/// Every kind of call, one after another, in one thread.
struct all_calls {
  template <class Policy>
  __host__ __device__ void operator()(const Policy &policy, test::selection_arrays a) const {
    const auto half = a.n / 2;
    thrust::remove_copy(policy, a.x, a.end(), a.rejected, test::word{5});
    auto *const kept =
        thrust::copy_if(policy, a.x, a.x + half, a.stencil, a.kept, test::is_marked{});
    thrust::partition_copy(policy, a.x + half, a.end(), kept, a.rejected, test::is_marked{});
    thrust::partition(policy, a.stencil, a.stencil + half, test::is_marked{});
    thrust::reduce_by_key(policy, a.x, a.end(), a.stencil, a.rejected, a.kept, same_quotient{});
    thrust::unique_by_key(policy, a.x, a.end(), a.values);
    const auto runs = static_cast<float>(thrust::unique_count(policy, a.kept, a.kept + half));
    if (a.n > 0) a.sums[0] = runs;
  }
};
__global__ void call_all(test::selection_arrays a) { all_calls{}(lookback::par, a); }

} // namespace

TEST_CASE("lookback's policies in device code: selections in one thread") {
  TEST_RANDOM(random);
  for (const std::size_t n : {std::size_t{0}, std::size_t{2}, 200 + random() % 300}) {
    INFO("n = ", n);
    test::host_arrays arrays(n, random);
    const test::device_arrays on_device(arrays);
    call_all<<<1, 1>>>(on_device.pointers());
    all_calls{}(lookback::host, arrays.pointers());
    REQUIRE_CUDA(cudaDeviceSynchronize());
    on_device.check(arrays);
  }
}
