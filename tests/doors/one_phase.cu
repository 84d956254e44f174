// SPDX-License-Identifier: MIT
// One-phase calls with environments that need no CCCL: none at all, streams, objects that have one,
// memory resources.
#include <lookback/device_scan.cuh>

// The door has to be complete before CCCL's environments are: nothing of them may be in sight above
// this line.
#if defined(CUB_VERSION) || defined(THRUST_VERSION)
#error "lookback/device_scan.cuh includes CUB or Thrust"
#endif

#include <support/one_phase_calls.cuh>

namespace {

using lookback::DeviceScan;

struct converts_to_stream {
  cudaStream_t own;
  operator cudaStream_t() const { return own; }
};
struct raw_stream_inside {
  cudaStream_t own;
  cudaStream_t get() const { return own; }
};
struct has_stream {
  cudaStream_t own;
  raw_stream_inside stream() const { return {own}; }
};
struct has_get_stream {
  cudaStream_t own;
  cudaStream_t get_stream() const { return own; }
};
struct has_both {
  cudaStream_t own;
  test::logging_resource resource;
  cudaStream_t stream() const { return own; }
  test::logging_resource get_memory_resource() const noexcept { return resource; }
};
struct has_nothing {};

} // namespace

TEST_CASE("DeviceScan in one phase: the results of a serial scan") {
  TEST_RANDOM(random);
  const test::stream s;
  for (std::size_t n :
       test::to_try({1, 3000 + random() % 1000, 40000 + random() % 1000, 3000000}, random)) {
    test::one_phase_calls(n);
    test::one_phase_calls(n, static_cast<cudaStream_t>(s));
  }
  for (std::size_t n : {std::size_t{0}, std::size_t{100000}})
    test::one_phase_calls(n, has_nothing{});
}

TEST_CASE("DeviceScan in one phase: the environment's stream") {
  const test::stream s;
  const cudaStream_t stream = s;
  test::runs_on(s, stream);
  test::runs_on(s, converts_to_stream{s});
  test::runs_on(s, raw_stream_inside{s});
  test::runs_on(s, has_stream{s});
  test::runs_on(s, has_get_stream{s});
  test::resource_log log;
  test::runs_on(s, has_both{s, {&log}});
  CHECK_EQ(log.allocations, 0); // of one tile
}

TEST_CASE("DeviceScan in one phase: the environment's memory resource") {
  const test::stream s;
  test::resource_log log;
  SUBCASE("a resource is an environment") {
    test::one_phase_calls(100000, test::logging_resource{&log});
    CHECK_EQ(log.allocations, 16);
    CHECK_EQ(log.stream, nullptr);
    CHECK_EQ(log.live_bytes, 0);
  }
  SUBCASE("beside a stream, it allocates there") {
    test::one_phase_calls(100000, has_both{s, {&log}});
    CHECK_EQ(log.allocations, 16);
    CHECK_EQ(log.stream, s);
    CHECK_EQ(log.live_bytes, 0);
  }
  SUBCASE("one that throws is cudaErrorMemoryAllocation, and no output is written") {
    test::guarded_buffer<int> data(std::vector<int>(100000, 1));
    CHECK_EQ(DeviceScan::InclusiveSum(data.data(), data.size(), test::logging_resource{&log, true}),
             cudaErrorMemoryAllocation);
    CHECK_EQ(test::first_difference(data.download(), std::vector<int>(100000, 1)), test::nowhere);
    CHECK_EQ(log.allocations, 0);
  }
}

TEST_CASE("DeviceScan in one phase: bad input") {
  const test::guarded_buffer<int> data(std::vector<int>(10, 1));
  CHECK_EQ(DeviceScan::InclusiveSum(data.data(), -1), cudaErrorInvalidValue);
  CHECK_EQ(DeviceScan::InclusiveSum(data.data(), data.data(), UINT64_MAX), cudaErrorInvalidValue);
  CHECK_EQ(DeviceScan::ExclusiveSumByKey(data.data(), data.data(), data.data(), -5),
           cudaErrorInvalidValue);
  CHECK_CUDA(cudaDeviceSynchronize());
}
