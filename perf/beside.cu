// SPDX-License-Identifier: MIT
// i32 sums beside a kernel that keeps a part of the GPU, by lookback and by CUB in turns: idle;
// beside one block of 32 threads; beside 16 blocks of 128 threads and 48 KB of shared memory;
// beside blocks that fill half of the multiprocessors. Medians of event times with a cold L2 cache,
// in microseconds, and the time over what the free multiprocessors would take: idle time x all /
// free. The other kernel stays for 3 ms, so a scan that waited for its end would take as long.
//
//   lookback_beside
#include <lookback/device_scan.cuh>

#include <cub/device/device_scan.cuh>
#include <thrust/device_vector.h>
#include <thrust/equal.h>
#include <thrust/tabulate.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

constexpr auto stay_nanoseconds = 3'000'000ull;
__global__ void stay() {
  unsigned long long begin = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < stay_nanoseconds);
}

/// Blocks of `stay`, and the multiprocessors that they take from a scan whose blocks need all of
/// the shared memory.
struct company {
  const char *name;
  int blocks, threads, shared_bytes;
};

struct value {
  __host__ __device__ int operator()(long long i) const {
    return static_cast<int>((static_cast<unsigned long long>(i) * 2654435761u) >> 7);
  }
};

using call = cudaError_t (*)(void *, std::size_t &, const int *, int *, long long, cudaStream_t);

class bench {
public:
  explicit bench(long long most)
      : in_(most), flush_(std::size_t{256} << 20), temporary_(std::size_t{64} << 20) {
    thrust::tabulate(in_.begin(), in_.end(), value{});
    for (auto &out : out_) out.resize(most);
    for (cudaStream_t *stream : {&own_, &other_})
      check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (cudaEvent_t *event : {&begin_, &end_}) check(cudaEventCreate(event));
    check(cudaDeviceSynchronize());
  }
  double microseconds(call scan, int which, const company &beside, long long n) {
    std::size_t bytes = temporary_.size();
    check(cudaMemsetAsync(flush_.data().get(), which, flush_.size(), own_));
    check(cudaStreamSynchronize(own_));
    if (beside.blocks > 0) {
      stay<<<beside.blocks, beside.threads, beside.shared_bytes, other_>>>();
      check(cudaGetLastError());
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
      while (std::chrono::steady_clock::now() < until) { // until its blocks are there
      }
    }
    check(cudaEventRecord(begin_, own_));
    check(
        scan(temporary_.data().get(), bytes, in_.data().get(), out_[which].data().get(), n, own_));
    check(cudaEventRecord(end_, own_));
    check(cudaDeviceSynchronize());
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1e3;
  }
  bool results_agree(long long n) const {
    return thrust::equal(out_[0].begin(), out_[0].begin() + n, out_[1].begin());
  }

private:
  thrust::device_vector<int> in_, out_[2];
  thrust::device_vector<char> flush_, temporary_;
  cudaStream_t own_ = nullptr, other_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
  return all[all.size() / 2];
}

void run() {
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, 0));
  constexpr int most = 200 * 1024;
  check(cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  const int all = gpu.multiProcessorCount;
  const company companies[] = {{"idle", 0, 0, 0},
                               {"1 x 32", 1, 32, 0},
                               {"16 x 128, 48 KB", 16, 128, 48 * 1024},
                               {"half", all / 2, 128, most}};
  const call calls[] = {[](auto... given) { return lookback::DeviceScan::InclusiveSum(given...); },
                        [](auto... given) { return cub::DeviceScan::InclusiveSum(given...); }};
  bench of(1ll << 28);
  std::printf("gpu,beside,elements,lookback_us,cub_us,of_free,cub_of_free\n");
  for (const int exponent : {22, 24, 28}) {
    const long long n = 1ll << exponent;
    double idle[2] = {};
    for (const company &beside : companies) {
      std::vector<double> times[2];
      for (int turn = 0; turn < 31; ++turn)
        for (int i = 0; i < 2; ++i) times[i].push_back(of.microseconds(calls[i], i, beside, n));
      if (!of.results_agree(n)) throw std::runtime_error("the results differ");
      const double free_share = static_cast<double>(all - beside.blocks) / all;
      const double us[2] = {median(times[0]), median(times[1])};
      for (int i = 0; i < 2 && beside.blocks == 0; ++i) idle[i] = us[i];
      std::printf("%s,\"%s\",%lld,%.1f,%.1f,%.2f,%.2f\n", gpu.name, beside.name, n, us[0], us[1],
                  us[0] / idle[0] * free_share, us[1] / idle[1] * free_share);
      std::fflush(stdout);
    }
  }
}

} // namespace

int main() try {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fputs("no CUDA device\n", stderr);
    return 3;
  }
  run();
} catch (const std::exception &error) {
  std::fprintf(stderr, "failed: %s\n", error.what());
  return 1;
}
