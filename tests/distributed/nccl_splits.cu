// SPDX-License-Identifier: MIT
// Distributed scans over NCCL: two GPUs of this machine, with a thread each.
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
constexpr int gpus = 2;

bool has_gpus(const char *name) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices >= gpus) return true;
  test::skip(name, "fewer than two GPUs");
  return false;
}

/// The communicators of all GPUs, made once: that takes NCCL longer than a scan.
class nccl_group {
public:
  explicit nccl_group(std::chrono::milliseconds deadline) {
    REQUIRE_EQ(ncclCommInitAll(comms_, gpus, nullptr), ncclSuccess);
    for (int gpu = 0; gpu < gpus; ++gpu) {
      cudaSetDevice(gpu);
      ranks_[gpu] = std::make_unique<distributed::nccl>(comms_[gpu], deadline);
    }
    cudaSetDevice(0);
  }
  ~nccl_group() {
    const bool aborts = ranks_[0]->aborted() || ranks_[1]->aborted();
    for (int gpu = 0; gpu < gpus; ++gpu) {
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
    std::vector<std::string> errors(gpus);
    std::vector<std::thread> started;
    for (int gpu = 0; gpu < gpus; ++gpu)
      started.emplace_back([&, gpu] {
        cudaSetDevice(gpu);
        try {
          work(*ranks_[gpu]);
        } catch (const std::exception &error) {
          errors[gpu] = error.what();
        }
      });
    for (std::thread &each : started) each.join();
    return errors;
  }
  const distributed::nccl &of(int gpu) const { return *ranks_[gpu]; }

private:
  ncclComm_t comms_[gpus];
  std::unique_ptr<distributed::nccl> ranks_[gpus];
};

struct both_gpus {
  nccl_group &group;
  template <class Random>
  auto operator()(Random &) const {
    return std::make_pair(gpus, [this](auto work) {
      for (const std::string &error : group.on_all_ranks(work)) REQUIRE_EQ(error, "");
    });
  }
};

} // namespace

TEST_CASE("splits over two GPUs") {
  if (!has_gpus("splits over two GPUs")) return;
  nccl_group group(std::chrono::minutes(1));
  test::check_random_splits<int>(60, 6, both_gpus{group});
  test::check_random_splits<float>(70, 6, both_gpus{group});
  test::check_random_splits<double>(70, 6, both_gpus{group});
  test::check_random_splits<float>(3, 300, both_gpus{group});
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
