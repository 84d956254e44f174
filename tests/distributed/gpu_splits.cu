// SPDX-License-Identifier: MIT
// Distributed scans of threads that share one GPU: random splits against one scan, and errors.
#include <lookback/distributed.cuh>

#include <distributed/on_gpus.hpp>
#include <distributed/ranks.hpp>
#include <support/operators.hpp>

#include <thrust/iterator/counting_iterator.h>

#include <chrono>
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

TEST_CASE("splits over threads of one GPU: int by key, exclusive") {
  test::check_random_splits_by_key<int>(20, 6, test::exclusive_by_key{}, some_threads{});
}
TEST_CASE("splits over threads of one GPU: float by key") {
  test::check_random_splits_by_key<float>(20, 6, test::inclusive_by_key{}, some_threads{});
  test::check_random_splits_by_key<float>(1, 300, test::inclusive_by_key{}, some_threads{});
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

/// A rank whose stream is being captured says so: the others do not wait for it, and the group can
/// be used on.
TEST_CASE("a captured stream") {
  distributed::threads group(2, std::chrono::minutes(1));
  const auto errors = test::on_all_ranks(group, [](const auto &communicator) {
    cudaStream_t stream{};
    // Otherwise work of the other rank on the default stream would end the capture.
    REQUIRE_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    thrust::device_vector<int> values(10, 1);
    const auto scan = [&] {
      distributed::inclusive_scan(communicator, lookback::par.on(stream), values.begin(),
                                  values.end(), values.begin());
    };
    if (communicator.rank() == 0) {
      REQUIRE_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
      REQUIRE_THROWS_AS(scan(), thrust::system_error);
      cudaGraph_t graph{};
      REQUIRE_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
      cudaGraphDestroy(graph);
    } else {
      REQUIRE_THROWS_WITH(scan(), "lookback: rank 0 of a distributed scan cannot take part: its "
                                  "stream is being captured");
    }
    scan();
    REQUIRE_EQ(values[9], communicator.rank() == 0 ? 10 : 20);
    cudaStreamDestroy(stream);
  });
  for (const std::string &error : errors) REQUIRE_EQ(error, "");
}

/// This communicator exchanges through host memory, so the host waits even with known lengths.
TEST_CASE("a captured stream, with known lengths") {
  distributed::threads group(2, std::chrono::minutes(1));
  const auto errors = test::on_all_ranks(group, [](const auto &communicator) {
    cudaStream_t stream{};
    REQUIRE_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    thrust::device_vector<int> values(10, 1);
    if (communicator.rank() == 0)
      REQUIRE_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    REQUIRE_THROWS(distributed::inclusive_scan(test::known(communicator, {0, 10, 20}),
                                               lookback::par.on(stream), values.begin(),
                                               values.end(), values.begin()));
    if (communicator.rank() == 0) {
      cudaGraph_t graph{};
      REQUIRE_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
      cudaGraphDestroy(graph);
    }
    cudaStreamDestroy(stream);
  });
  for (const std::string &error : errors) REQUIRE_EQ(error, "");
}

/// Calls of two ranks in two phases: `usual(of)` on rank 0 and `other(of)` on rank 1, where `of`
/// makes a sum of 10 elements with some storage, of a number of bytes, on a stream.
template <class Usual, class Other>
std::vector<cudaError_t> statuses(distributed::threads &group, Usual usual, Other other) {
  std::vector<cudaError_t> results(2);
  for (const std::string &error : test::on_all_ranks(group, [&](const auto &ranks) {
         thrust::device_vector<int> values(10, 1);
         const auto of = [&](void *storage, std::size_t &bytes, int n = 10,
                             cudaStream_t stream = nullptr) {
           int *const data = values.data().get();
           return distributed::DistributedScan::InclusiveSum(storage, bytes, data, data, n, ranks,
                                                             stream);
         };
         results[static_cast<std::size_t>(ranks.rank())] =
             ranks.rank() == 0 ? usual(of) : other(of);
       }))
    REQUIRE_EQ(error, "");
  return results;
}

/// With known lengths, the first phase involves no other rank, and an error in it none either.
TEST_CASE("DistributedScan: known lengths") {
  distributed::threads group(2, std::chrono::minutes(1));
  const auto errors = test::on_all_ranks(group, [](const auto &ranks) {
    const auto shards = test::known(ranks, {0, 10, 20});
    thrust::device_vector<int> values(10, 1);
    int *const data = values.data().get();
    const auto scan = [&](void *storage, std::size_t &bytes, int n) {
      return distributed::DistributedScan::InclusiveSum(storage, bytes, data, data, n, shards);
    };
    std::size_t bytes = 0;
    for (const int n : {9, -1})
      if (ranks.rank() == 0) REQUIRE_EQ(scan(nullptr, bytes, n), cudaErrorInvalidValue);
    REQUIRE_EQ(test::in_two_phases(
                   [&](void *storage, std::size_t &size) { return scan(storage, size, 10); }),
               cudaSuccess);
    REQUIRE_EQ(values[9], ranks.rank() == 0 ? 10 : 20);
  });
  for (const std::string &error : errors) REQUIRE_EQ(error, "");
}

TEST_CASE("DistributedScan: statuses") {
  distributed::threads group(2, std::chrono::minutes(1));
  using statuses_type = std::vector<cudaError_t>;
  const auto usual = [](auto of) {
    return test::in_two_phases(
        [&](void *storage, std::size_t &bytes) { return of(storage, bytes); });
  };
  const auto size_only = [](auto of) {
    std::size_t bytes = 0;
    return of(nullptr, bytes);
  };
  const auto with_storage = [](auto of) {
    thrust::device_vector<char> storage(1 << 20);
    std::size_t bytes = storage.size();
    return of(storage.data().get(), bytes);
  };
  const statuses_type good{cudaSuccess, cudaSuccess},
      invalid{cudaErrorInvalidValue, cudaErrorInvalidValue};
  REQUIRE_EQ(statuses(group, usual, usual), good);
  REQUIRE_EQ(statuses(group, with_storage, with_storage), good);
  REQUIRE_EQ(statuses(group, size_only, with_storage), invalid); // another phase
  REQUIRE_EQ(statuses(group, size_only,
                      [](auto of) {
                        std::size_t bytes = 0;
                        return of(nullptr, bytes, -1);
                      }),
             invalid);
  const auto captured = statuses(group, size_only, [](auto of) {
    cudaStream_t stream{};
    REQUIRE_EQ(cudaStreamCreate(&stream), cudaSuccess);
    REQUIRE_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    std::size_t bytes = 0;
    const cudaError_t status = of(nullptr, bytes, 10, stream);
    cudaGraph_t graph{};
    REQUIRE_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    return status;
  });
  REQUIRE_EQ(captured, statuses_type{cudaErrorInvalidValue, cudaErrorStreamCaptureUnsupported});
  REQUIRE_EQ(statuses(group, usual, usual), good); // the group can be used on
  const auto too_small = [](auto of) {
    thrust::device_vector<char> storage(1);
    std::size_t bytes = 0;
    return of(storage.data().get(), bytes);
  };
  const auto small = statuses(group, with_storage, too_small);
  REQUIRE_EQ(small[1], cudaErrorInvalidValue);
  REQUIRE_EQ(small[0], cudaErrorUnknown); // rank 1 has called abort()
  REQUIRE_EQ(statuses(group, usual, usual), statuses_type{cudaErrorUnknown, cudaErrorUnknown});
}
