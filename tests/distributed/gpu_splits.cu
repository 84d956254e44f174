// SPDX-License-Identifier: MIT
// Distributed scans of threads that share one GPU: random splits against one scan, and errors.
#include <lookback/distributed.cuh>

#include <distributed/on_gpus.hpp>
#include <distributed/ranks.hpp>
#include <support/operators.hpp>

#include <thrust/iterator/counting_iterator.h>

#include <memory>
#include <numeric>
#include <utility>

namespace {

namespace distributed = lookback::distributed;

/// One to five threads as ranks.
struct some_threads {
  template <class Random>
  auto operator()(Random &random) const {
    const int ranks = 1 + static_cast<int>(random() % 5);
    return std::make_pair(ranks, [ranks](auto work) {
      distributed::threads group(ranks, std::chrono::minutes(1));
      for (const std::string &error : test::on_all_ranks(group, work)) REQUIRE_EQ(error, "");
    });
  }
};

struct twice {
  __host__ __device__ long long operator()(int x) const { return 2LL * x; }
};

} // namespace

TEST_CASE("splits over threads of one GPU: int") {
  test::check_random_splits<int>(60, 6, some_threads{});
}
TEST_CASE("splits over threads of one GPU: float") {
  test::check_random_splits<float>(60, 6, some_threads{});
}
TEST_CASE("splits over threads of one GPU: double, exclusive") {
  test::check_random_splits<double, false>(60, 6, some_threads{});
}

/// Many groups: the body of a shard is scanned by the pipeline.
TEST_CASE("a long sequence over threads of one GPU") {
  test::check_random_splits<float>(3, 300, some_threads{});
}

/// Elements narrower than results, from an iterator, on a stream, without the wait.
TEST_CASE("a transformed counting iterator over threads of one GPU") {
  const int ranks = 3, n = 700000;
  const int cuts[] = {0, 300001, 300007, n};
  distributed::threads group(ranks, std::chrono::minutes(1));
  std::vector<long long> results(n);
  const auto errors = test::on_all_ranks(group, [&](const auto &communicator) {
    const int begin = cuts[communicator.rank()], end = cuts[communicator.rank() + 1];
    cudaStream_t stream{};
    REQUIRE_EQ(cudaStreamCreate(&stream), cudaSuccess);
    thrust::device_vector<long long> out(static_cast<std::size_t>(end - begin));
    const thrust::counting_iterator<int> first(begin);
    distributed::transform_inclusive_scan(communicator, lookback::par_nosync.on(stream), first,
                                          first + (end - begin), out.begin(), twice{},
                                          lookback::plus{});
    cudaMemcpyAsync(results.data() + begin, out.data().get(), out.size() * sizeof(long long),
                    cudaMemcpyDeviceToHost, stream);
    REQUIRE_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    cudaStreamDestroy(stream);
  });
  for (const std::string &error : errors) REQUIRE_EQ(error, "");
  for (long long i = 0; i < n; ++i) REQUIRE_EQ(results[static_cast<std::size_t>(i)], i * (i + 1));
}

TEST_CASE("calls that differ") {
  distributed::threads group(2, std::chrono::minutes(1));
  const auto errors = test::on_all_ranks(group, [](const auto &communicator) {
    thrust::device_vector<int> values(10, 1);
    if (communicator.rank() == 0)
      distributed::inclusive_scan(communicator, lookback::par, values.begin(), values.end(),
                                  values.begin());
    else
      distributed::exclusive_scan(communicator, lookback::par, values.begin(), values.end(),
                                  values.begin());
  });
  for (const std::string &error : errors)
    REQUIRE_NE(error.find("differ in inclusive or exclusive"), std::string::npos);
}

TEST_CASE("a captured stream") {
  distributed::threads group(1);
  cudaStream_t stream{};
  REQUIRE_EQ(cudaStreamCreate(&stream), cudaSuccess);
  thrust::device_vector<int> values(10, 1);
  REQUIRE_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  REQUIRE_THROWS_AS(distributed::inclusive_scan(group.communicator(0), lookback::par.on(stream),
                                                values.begin(), values.end(), values.begin()),
                    thrust::system_error);
  cudaGraph_t graph{};
  cudaStreamEndCapture(stream, &graph);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}
