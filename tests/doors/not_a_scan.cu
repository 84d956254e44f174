// SPDX-License-Identifier: MIT
#include <lookback/catalogue.cuh>
#include <lookback/execution_policy.cuh>

#include <support/allocator.cuh>
#include <support/buffers.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace {

struct twice {
  __host__ __device__ std::uint32_t operator()(std::uint32_t x) const { return 2 * x; }
};

template <class Policy>
void check_falls_through(const char *name, const Policy &policy) {
  INFO("policy ", name);
  TEST_RANDOM(random);
  std::vector<std::uint32_t> values = test::random_values<std::uint32_t>(100000, random);
  test::guarded_buffer<std::uint32_t> data(values);
  std::uint32_t *const first = data.data();
  std::uint32_t *const last = first + values.size();

  thrust::transform(policy, first, last, first, twice{});
  for (auto &value : values) value *= 2;
  CHECK_EQ(test::first_difference(data.download(), values), test::nowhere);
  CHECK_EQ(thrust::reduce(policy, first, last),
           std::accumulate(values.begin(), values.end(), std::uint32_t{0}));
  thrust::sort(policy, first, last);
  std::sort(values.begin(), values.end());
  CHECK_EQ(test::first_difference(data.download(), values), test::nowhere);
  thrust::sequence(policy, first, last);
  std::iota(values.begin(), values.end(), 0u);
  CHECK_EQ(test::first_difference(data.download(), values), test::nowhere);
  CHECK(data.guards_intact());
}

} // namespace

TEST_CASE("lookback::par, lookback::par_nosync: what is not a scan falls through to Thrust") {
  test::stream s;
  test::arena_allocator arena;
  check_falls_through("par", lookback::par);
  check_falls_through("par.on(s)", lookback::par.on(s));
  check_falls_through("par(alloc).on(s)", lookback::par(arena).on(s));
  const auto allocations = arena.allocations();
  CHECK_GT(allocations, 0);
  check_falls_through("par.with(chained)", lookback::par.with(lookback::chained<>{}));
  check_falls_through("par(alloc).on(s).with(chained)",
                      lookback::par(arena).on(s).with(lookback::chained<>{}));
  CHECK_EQ(arena.allocations(), 2 * allocations);
  check_falls_through("par_nosync", lookback::par_nosync);
  check_falls_through("par_nosync.on(s)", lookback::par_nosync.on(s));
}
