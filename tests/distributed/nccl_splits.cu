// SPDX-License-Identifier: MIT
// Distributed scans over NCCL: two GPUs of this machine, with a thread each. With one GPU, a
// communicator of one rank, and the cases that need two are skipped.
#include <lookback/distributed/nccl_communicator.cuh>

#include <distributed/on_gpus.hpp>
#include <distributed/ranks.hpp>
#include <support/skip.hpp>

#include <cuda_fp16.h>

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace distributed = lookback::distributed;

/// The GPUs that are used: 1 or 2.
int gpus() {
  static const int used = [] {
    int devices = 0;
    cudaGetDeviceCount(&devices);
    return devices < 2 ? 1 : 2;
  }();
  return used;
}
bool has_gpus(const char *name) {
  if (gpus() == 2) return true;
  test::skip(name, "fewer than two GPUs");
  return false;
}

/// The communicators of all GPUs, made once: that takes NCCL longer than a scan.
class nccl_group {
public:
  explicit nccl_group(std::chrono::milliseconds deadline) {
    REQUIRE_EQ(ncclCommInitAll(comms_, gpus(), nullptr), ncclSuccess);
    for (int gpu = 0; gpu < gpus(); ++gpu) {
      cudaSetDevice(gpu);
      ranks_[gpu] = std::make_unique<distributed::nccl>(comms_[gpu], deadline);
    }
    cudaSetDevice(0);
  }
  ~nccl_group() {
    const bool aborts = ranks_[0]->aborted() || ranks_[gpus() - 1]->aborted();
    for (int gpu = 0; gpu < gpus(); ++gpu) {
      cudaSetDevice(gpu);
      if (aborts) ranks_[gpu]->abort();
      ranks_[gpu].reset();
      if (!aborts) ncclCommDestroy(comms_[gpu]);
    }
    cudaSetDevice(0);
  }
  /// The messages of exceptions, empty where there was none.
  template <class Work>
  std::vector<std::string> on_all_ranks(Work work) {
    std::vector<std::string> errors(static_cast<std::size_t>(gpus()));
    distributed::on_all(all(), [&](const distributed::nccl &ranks) {
      try {
        work(ranks);
      } catch (const std::exception &error) {
        errors[static_cast<std::size_t>(ranks.rank())] = error.what();
      }
    });
    return errors;
  }
  std::vector<const distributed::nccl *> all() const {
    std::vector<const distributed::nccl *> ranks;
    for (int gpu = 0; gpu < gpus(); ++gpu) ranks.push_back(ranks_[gpu].get());
    return ranks;
  }
  const distributed::nccl &of(int gpu) const { return *ranks_[gpu]; }
  ncclComm_t comm(int gpu) const { return comms_[gpu]; }

private:
  ncclComm_t comms_[2];
  std::unique_ptr<distributed::nccl> ranks_[2];
};

struct all_gpus {
  nccl_group &group;
  template <class Random>
  auto operator()(Random &) const {
    return std::make_pair(gpus(), [this](auto work) {
      for (const std::string &error : group.on_all_ranks(work)) REQUIRE_EQ(error, "");
    });
  }
};

} // namespace

TEST_CASE("splits over GPUs") {
  nccl_group group(std::chrono::minutes(1));
  const all_gpus on_all{group};
  test::check_random_splits<int>(60, 6, on_all);
  test::check_random_splits<float>(70, 6, on_all);
  test::check_random_splits<double>(70, 6, on_all);
  test::check_random_splits<__half>(60, 6, on_all);
  test::check_random_splits<test::affine_map>(60, 6, on_all, test::then{});
  test::check_random_splits<float>(3, 300, on_all);
  test::check_random_splits_by_key<int>(60, 6, test::exclusive_by_key{}, on_all);
  test::check_random_splits_by_key<float>(60, 6, test::inclusive_by_key{}, on_all);
  test::check_random_splits_by_key<float>(4, 300, test::inclusive_by_key{}, on_all);
}

/// A constructor that throws leaves the caller's communicator as it is.
TEST_CASE("an NCCL communicator of another GPU than the current device") {
  REQUIRE_THROWS_AS(distributed::nccl(nullptr), std::invalid_argument);
  if (!has_gpus("an NCCL communicator of another GPU than the current device")) return;
  nccl_group group(std::chrono::minutes(1));
  REQUIRE_THROWS_AS(distributed::nccl(group.comm(0), std::chrono::seconds(0)),
                    std::invalid_argument);
  cudaSetDevice(1);
  REQUIRE_THROWS_WITH(distributed::nccl(group.comm(0)),
                      "lookback: the NCCL communicator of rank 0 is of GPU 0, but the current "
                      "device is 1; call cudaSetDevice(0) first");
  cudaSetDevice(0);
  test::check_random_splits<int>(2, 6, all_gpus{group});
}

/// The other rank does not wait for one whose stream is being captured.
TEST_CASE("a captured stream over NCCL") {
  if (!has_gpus("a captured stream over NCCL")) return;
  nccl_group group(std::chrono::minutes(1));
  const auto errors = group.on_all_ranks([](const distributed::nccl &ranks) {
    cudaStream_t stream{};
    REQUIRE_EQ(cudaStreamCreate(&stream), cudaSuccess);
    thrust::device_vector<int> values(10, 1);
    const auto scan = [&] {
      distributed::inclusive_scan(ranks, lookback::par.on(stream), values.begin(), values.end(),
                                  values.begin());
    };
    if (ranks.rank() == 0) {
      REQUIRE_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
      REQUIRE_THROWS_AS(scan(), thrust::system_error);
      cudaGraph_t graph{};
      REQUIRE_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
      cudaGraphDestroy(graph);
    } else {
      REQUIRE_THROWS_AS(scan(), std::invalid_argument);
    }
    scan();
    cudaStreamDestroy(stream);
  });
  for (const std::string &error : errors) REQUIRE_EQ(error, "");
}

/// With known lengths, a scan can be captured: each launch scans the current values.
TEST_CASE("a graph over NCCL") {
  nccl_group group(std::chrono::minutes(1));
  const std::size_t n = 700001; // a rank: two groups and more
  std::vector<std::size_t> cuts{0};
  while (cuts.size() <= static_cast<std::size_t>(gpus())) cuts.push_back(cuts.size() * n);
  const auto errors = group.on_all_ranks([&](const distributed::nccl &ranks) {
    cudaStream_t stream{};
    REQUIRE_EQ(cudaStreamCreate(&stream), cudaSuccess);
    const auto shards = test::known(ranks, cuts);
    thrust::device_vector<int> values(n), results(n);
    const auto scan = [&](auto policy) {
      distributed::inclusive_scan(shards, policy, values.begin(), values.end(), results.begin());
    };
    scan(lookback::par.on(stream)); // connects the GPUs
    for (const bool waits : {false, true}) {
      REQUIRE_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
      if (waits)
        scan(lookback::par.on(stream));
      else
        scan(lookback::par_nosync.on(stream));
      cudaGraph_t graph{};
      cudaGraphExec_t launched{};
      REQUIRE_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
      REQUIRE_EQ(cudaGraphInstantiate(&launched, graph, 0), cudaSuccess);
      for (const int value : {1, 3}) {
        thrust::fill(values.begin(), values.end(), value);
        thrust::fill(results.begin(), results.end(), -1);
        REQUIRE_EQ(cudaDeviceSynchronize(), cudaSuccess);
        REQUIRE_EQ(cudaGraphLaunch(launched, stream), cudaSuccess);
        REQUIRE_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        const int before = value * static_cast<int>(n) * ranks.rank();
        REQUIRE_EQ(static_cast<int>(results[0]), before + value);
        REQUIRE_EQ(static_cast<int>(results[n - 1]), before + value * static_cast<int>(n));
      }
      cudaGraphExecDestroy(launched);
      cudaGraphDestroy(graph);
    }
    cudaStreamDestroy(stream);
  });
  for (const std::string &error : errors) REQUIRE_EQ(error, "");
}

/// A rank that does not arrive: the other's wait ends at the deadline, and its communicator is
/// gone.
TEST_CASE("a rank that does not arrive") {
  if (!has_gpus("a rank that does not arrive")) return;
  nccl_group group(std::chrono::seconds(2));
  const auto scan = [](const distributed::nccl &ranks) {
    thrust::device_vector<int> values(10, 1);
    distributed::inclusive_scan(ranks, lookback::par, values.begin(), values.end(), values.begin());
  };
  for (const std::string &error : group.on_all_ranks(scan)) REQUIRE_EQ(error, "");
  const auto errors = group.on_all_ranks([&](const distributed::nccl &ranks) {
    if (ranks.rank() == 0) scan(ranks);
  });
  REQUIRE_NE(errors[0].find("has waited until the deadline"), std::string::npos);
  REQUIRE(group.of(0).aborted());
  const auto later = group.on_all_ranks([&](const distributed::nccl &ranks) {
    if (ranks.rank() == 0) scan(ranks);
  });
  REQUIRE_NE(later[0].find("after it has been aborted"), std::string::npos);
}
