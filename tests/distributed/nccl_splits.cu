// SPDX-License-Identifier: MIT
// Distributed scans over NCCL: two GPUs of this machine, with a thread each. With one GPU, a
// communicator of one rank, and the cases that need two are skipped.
#include <lookback/distributed/nccl_communicator.cuh>

#include <distributed/on_gpus.hpp>
#include <support/skip.hpp>

#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

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
    std::vector<std::thread> started;
    for (int gpu = 0; gpu < gpus(); ++gpu)
      started.emplace_back([&, gpu] {
        cudaSetDevice(gpu);
        try {
          work(*ranks_[gpu]);
        } catch (const std::exception &error) {
          errors[static_cast<std::size_t>(gpu)] = error.what();
        }
      });
    for (std::thread &each : started) each.join();
    return errors;
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
