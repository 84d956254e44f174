// SPDX-License-Identifier: MIT
// Sums of a sequence that is spread over the GPUs of this machine, over NCCL, with a thread for
// each, by lookback, by lookback with known lengths and by CUB over NCCL in turns; beside what one
// GPU takes for its shard: a scan, reading it once (CUB's reduction), and a copy. Host time from a
// meeting of all ranks to the end of the work on their streams; the slowest rank counts. Medians.
//
// CUB over NCCL is the textbook method, also of `cuda::experimental::inclusive_scan` for several
// GPUs: reduce the shard to one value, gather these, fold those of earlier ranks, scan the shard
// from there. It is given its temporary storage, has no wait of the host, and no agreement of the
// ranks on lengths or errors. Its floating-point results depend on the number of ranks and on the
// run. They are compared with lookback's, which have the bits of one GPU's scan of the whole
// sequence: integers must be equal, floating-point numbers close; results that differ are counted.
//
//   lookback_distributed_speed [GPUS]
#include <lookback/distributed.cuh>
#include <lookback/distributed/nccl_communicator.cuh>
#include <lookback/execution_policy.cuh>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/util_type.cuh>
#include <cuda/std/functional>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/tabulate.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
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

using series = std::vector<double>; // one value a run

/// Microseconds of each of `runs` runs of each call, the calls in turns, after three runs that do
/// not count. `before()` precedes each call.
std::vector<series> times(cudaStream_t stream, int runs, const std::function<void()> &before,
                          const std::vector<std::function<void()>> &calls) {
  std::vector<series> all(calls.size());
  for (int run = -3; run < runs; ++run)
    for (std::size_t i = 0; i < calls.size(); ++i) {
      check(cudaStreamSynchronize(stream));
      before();
      const auto begin = std::chrono::steady_clock::now();
      calls[i]();
      check(cudaStreamSynchronize(stream));
      const std::chrono::duration<double, std::micro> time =
          std::chrono::steady_clock::now() - begin;
      if (run >= 0) all[i].push_back(time.count());
    }
  return all;
}

double median(series values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The median of the slowest rank's times of a call.
double median_of_slowest(const std::vector<std::vector<series>> &ranks, std::size_t call) {
  series slowest = ranks[0][call];
  for (const std::vector<series> &own : ranks)
    for (std::size_t run = 0; run < slowest.size(); ++run)
      slowest[run] = std::max(slowest[run], own[call][run]);
  return median(slowest);
}

/// Elements of the sequence by index: integers from -7 to 7, whose sums stay small, or multiples of
/// 2^-24 in [0, 1), whose sums are rounded.
template <class T>
struct element {
  std::size_t first; // of the shard
  __device__ T operator()(std::size_t i) const {
    const unsigned bits = static_cast<unsigned>(first + i) * 2654435761u >> 8;
    if constexpr (std::is_integral_v<T>) return static_cast<T>(bits % 15) - 7;
    return static_cast<T>(bits) / (1 << 24);
  }
};

struct far_apart {
  double tolerance;
  template <class T>
  __device__ bool operator()(T actual, T expected) const { // true for a NaN, too
    const double wanted = static_cast<double>(expected);
    return !(std::abs(static_cast<double>(actual) - wanted) <= tolerance * std::abs(wanted));
  }
};

/// The number of results that differ. Throws if an integer does or a floating-point number is not
/// close: within the square root of its epsilon.
template <class T>
std::size_t differing(const thrust::device_vector<T> &actual,
                      const thrust::device_vector<T> &expected) {
  const auto count = [&](auto different) {
    return thrust::inner_product(actual.begin(), actual.end(), expected.begin(), std::size_t{0},
                                 thrust::plus<std::size_t>(), different);
  };
  const double tolerance = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
  if (const std::size_t wrong = count(far_apart{tolerance}))
    throw std::runtime_error("CUB over NCCL and lookback disagree on " + std::to_string(wrong) +
                             " results of a rank");
  return count(thrust::not_equal_to<T>());
}

template <class T>
__global__ void fold(const T *values, int count, T *prefix) {
  T sum{};
  for (int i = 0; i < count; ++i) sum += values[i];
  *prefix = sum;
}

/// CUB over NCCL: a call enqueues the scan of this rank's shard.
template <class T>
class cub_over_nccl {
public:
  cub_over_nccl(ncclComm_t comm, cudaStream_t stream, const thrust::device_vector<T> &in,
                thrust::device_vector<T> &out)
      : comm_(comm), stream_(stream), in_(in.data().get()), out_(out.data().get()), n_(in.size()) {
    int ranks = 0;
    check(ncclCommUserRank(comm, &rank_));
    check(ncclCommCount(comm, &ranks));
    values_.resize(static_cast<std::size_t>(ranks) + 1);
    std::size_t of_reduce = 0, of_scan = 0;
    check(reduce(nullptr, of_reduce));
    check(scan(nullptr, of_scan));
    storage_.resize(std::max(of_reduce, of_scan));
  }
  void operator()() {
    void *const storage = storage_.data().get();
    std::size_t bytes = storage_.size();
    check(reduce(storage, bytes));
    check(ncclAllGather(own(), values(), sizeof(T), ncclUint8, comm_, stream_)); // in place
    fold<<<1, 1, 0, stream_>>>(values(), rank_, prefix());
    check(cudaGetLastError());
    check(scan(storage, bytes));
  }

private:
  T *values() { return values_.data().get(); } // of each rank
  T *own() { return values() + rank_; }
  T *prefix() { return values() + values_.size() - 1; }
  cudaError_t reduce(void *storage, std::size_t &bytes) {
    return cub::DeviceReduce::Sum(storage, bytes, in_, own(), n_, stream_);
  }
  cudaError_t scan(void *storage, std::size_t &bytes) {
    return cub::DeviceScan::InclusiveScanInit(storage, bytes, in_, out_, cuda::std::plus<>{},
                                              cub::FutureValue<T>(prefix()), n_, stream_);
  }

  const ncclComm_t comm_;
  const cudaStream_t stream_;
  const T *const in_;
  T *const out_;
  const std::size_t n_;
  int rank_ = 0;
  thrust::device_vector<T> values_; // of each rank, then the prefix
  thrust::device_vector<char> storage_;
};

/// Medians of one GPU's scan, reduction and copy of its shard.
template <class T>
series alone(cudaStream_t stream, int runs, const thrust::device_vector<T> &in,
             thrust::device_vector<T> &out) {
  const auto policy = lookback::par_nosync.on(stream);
  const std::size_t n = in.size();
  thrust::device_vector<T> total(1);
  const T *const from = in.data().get();
  T *const to = out.data().get(), *const sum = total.data().get();
  std::size_t bytes = 0;
  check(cub::DeviceReduce::Sum(nullptr, bytes, from, sum, n, stream));
  thrust::device_vector<char> storage(bytes);
  void *const temporary = storage.data().get();
  const std::vector<series> all =
      times(stream, runs, [] {},
            {[&] { lookback::inclusive_scan(policy, in.begin(), in.end(), out.begin()); },
             [&] { check(cub::DeviceReduce::Sum(temporary, bytes, from, sum, n, stream)); },
             [&] { check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDefault, stream)); }});
  return {median(all[0]), median(all[1]), median(all[2])};
}

/// n elements of type T on each GPU.
template <class T>
void measure(const char *type, const std::vector<ncclComm_t> &comms, std::size_t n, int runs) {
  const int gpus = static_cast<int>(comms.size());
  meeting all(gpus);
  // Of each rank: lookback, the same with known lengths, CUB.
  std::vector<std::vector<series>> together(comms.size());
  std::atomic<std::size_t> different{0};
  series one;
  const auto work = [&](int gpu) {
    check(cudaSetDevice(gpu));
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const auto policy = lookback::par_nosync.on(stream);
    thrust::device_vector<T> in(n), out(n), out_cub(n);
    thrust::tabulate(in.begin(), in.end(), element<T>{n * static_cast<std::size_t>(gpu)});
    const lookback::distributed::nccl ranks(comms[gpu], std::chrono::minutes(1));
    cub_over_nccl<T> cub_scan(comms[gpu], stream, in, out_cub);
    const lookback::distributed::known_shards shards(
        ranks, std::vector<std::int64_t>(comms.size(), static_cast<std::int64_t>(n)));
    const auto scan = [&](const auto &communicator) {
      lookback::distributed::inclusive_scan(communicator, policy, in.begin(), in.end(),
                                            out.begin());
    };
    together[gpu] = times(stream, runs, [&] { all.meet(); },
                          {[&] { scan(ranks); }, [&] { scan(shards); }, std::ref(cub_scan)});
    different += differing(out_cub, out);
    all.meet();
    if (gpu == 0) one = alone(stream, runs, in, out);
    check(cudaStreamDestroy(stream));
  };
  std::vector<std::thread> threads;
  for (int gpu = 0; gpu < gpus; ++gpu) threads.emplace_back(work, gpu); // an error ends the program
  for (std::thread &each : threads) each.join();
  const double us = median_of_slowest(together, 0), known_us = median_of_slowest(together, 1),
               cub_us = median_of_slowest(together, 2);
  const double scan = one[0], read = one[1], copy = one[2], both = read + copy;
  std::printf("%s,%zu,%d,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.3f,%.3f,%.3f,%zu\n", type, n, gpus, us,
              known_us, cub_us, scan, read, copy, us / both, known_us / both, cub_us / both,
              different.load());
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
  std::puts("type,n_of_a_rank,gpus,distributed_us,known_us,cub_over_nccl_us,scan_us,read_us,"
            "copy_us,of_read_and_copy,known_of_read_and_copy,cub_of_read_and_copy,cub_differing");
  for (const int log_n : {20, 24, 30}) {
    const int runs = log_n == 30 ? 15 : 101;
    measure<int>("i32", comms, std::size_t{1} << log_n, runs);
    measure<float>("f32", comms, std::size_t{1} << log_n, runs);
    measure<double>("f64", comms, std::size_t{1} << log_n, runs);
  }
}
