// SPDX-License-Identifier: MIT
// Sums of a sequence that is spread over the GPUs of this machine, over NCCL, with a thread for
// each, beside what one GPU takes for its shard: a scan, reading it once (CUB's reduction), and a
// copy. Host time from a meeting of all ranks to the end of the work on their streams; the slowest
// rank counts. Medians.
//
//   lookback_distributed_speed [GPUS]
#include <lookback/distributed.cuh>
#include <lookback/distributed/nccl_communicator.cuh>
#include <lookback/execution_policy.cuh>

#include <cub/device/device_reduce.cuh>
#include <thrust/device_vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
void check(ncclResult_t error) {
  if (error != ncclSuccess) throw std::runtime_error(ncclGetErrorString(error));
}

/// Where all threads meet. They spin: to be woken takes longer than a small scan.
class meeting {
public:
  explicit meeting(int threads) : threads_(threads) {}
  void meet() {
    const int turn = turn_.load();
    if (arrived_.fetch_add(1) + 1 == threads_) {
      arrived_ = 0;
      turn_ = turn + 1;
    } else {
      while (turn_.load() == turn) {
      }
    }
  }

private:
  const int threads_;
  std::atomic<int> arrived_{0}, turn_{0};
};

/// Microseconds of each of `runs` calls, after three that do not count. `before()` precedes each.
template <class Before, class Call>
std::vector<double> times(cudaStream_t stream, int runs, Before before, Call call) {
  std::vector<double> all;
  for (int run = -3; run < runs; ++run) {
    check(cudaStreamSynchronize(stream));
    before();
    const auto begin = std::chrono::steady_clock::now();
    call();
    check(cudaStreamSynchronize(stream));
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    if (run >= 0) all.push_back(time.count());
  }
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// n elements of type T on each GPU.
template <class T>
void measure(const char *type, const std::vector<ncclComm_t> &comms, std::size_t n, int runs) {
  const int gpus = static_cast<int>(comms.size());
  meeting all(gpus);
  std::vector<std::vector<double>> distributed(comms.size());
  double scan = 0, read = 0, copy = 0;
  const auto work = [&](int gpu) {
    check(cudaSetDevice(gpu));
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const auto policy = lookback::par_nosync.on(stream);
    thrust::device_vector<T> in(n, T{1}), out(n), total(1);
    const lookback::distributed::nccl ranks(comms[gpu], std::chrono::minutes(1));
    distributed[gpu] = times(
        stream, runs, [&] { all.meet(); },
        [&] {
          lookback::distributed::inclusive_scan(ranks, policy, in.begin(), in.end(), out.begin());
        });
    all.meet();
    if (gpu != 0) return check(cudaStreamDestroy(stream));
    const auto alone = [&](auto call) {
      return median(times(
          stream, runs, [] {}, call));
    };
    scan = alone([&] { lookback::inclusive_scan(policy, in.begin(), in.end(), out.begin()); });
    const T *const from = in.data().get();
    T *const to = out.data().get(), *const sum = total.data().get();
    std::size_t bytes = 0;
    check(cub::DeviceReduce::Sum(nullptr, bytes, from, sum, n, stream));
    thrust::device_vector<char> storage(bytes);
    void *const temporary = storage.data().get();
    read = alone([&] { check(cub::DeviceReduce::Sum(temporary, bytes, from, sum, n, stream)); });
    copy =
        alone([&] { check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDefault, stream)); });
    check(cudaStreamDestroy(stream));
  };
  std::vector<std::thread> threads;
  for (int gpu = 0; gpu < gpus; ++gpu) threads.emplace_back(work, gpu); // an error ends the program
  for (std::thread &each : threads) each.join();
  std::vector<double> slowest = distributed[0];
  for (const std::vector<double> &own : distributed)
    for (std::size_t run = 0; run < own.size(); ++run)
      slowest[run] = std::max(slowest[run], own[run]);
  const double us = median(slowest);
  std::printf("%s,%zu,%d,%.1f,%.1f,%.1f,%.1f,%.3f\n", type, n, gpus, us, scan, read, copy,
              us / (read + copy));
}

} // namespace

int main(int argc, char **argv) {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::puts("no CUDA device");
    return 3;
  }
  if (argc > 1) gpus = std::clamp(std::atoi(argv[1]), 1, gpus);
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(gpus));
  check(ncclCommInitAll(comms.data(), gpus, nullptr));
  std::puts("type,n_of_a_rank,gpus,distributed_us,scan_us,read_us,copy_us,of_read_and_copy");
  for (const int log_n : {20, 24, 30}) {
    const int runs = log_n == 30 ? 15 : 101;
    measure<int>("i32", comms, std::size_t{1} << log_n, runs);
    measure<float>("f32", comms, std::size_t{1} << log_n, runs);
    measure<double>("f64", comms, std::size_t{1} << log_n, runs);
  }
}
