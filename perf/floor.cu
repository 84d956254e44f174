// SPDX-License-Identifier: MIT
// What a scan in one launch costs without its scan: the launch, reading, a word from every block to
// the left, writing. Measured in the same process as lookback, CUB and a memcpy, for inputs whose
// blocks are all resident at once.
#include "calls.cuh"
#include "device.cuh"

#include <cuda/atomic>

#include <climits>

namespace {

using sum = perf::inclusive_sum<int>;
constexpr int threads = 512;

__global__ void launch() {}

/// A copy of which each block writes only after every block to the left has published that it has
/// read no INT_MIN; the input has none. So results depend on the whole prefix, as a scan's do,
/// without a sum. The number of the launch is part of each word, so words of earlier launches need
/// not be cleared.
template <int Vectors>
__global__ void __launch_bounds__(threads) agree(const int4 *in, int4 *out, long long vectors,
                                                 unsigned long long *words, unsigned number) {
  const long long first = blockIdx.x * static_cast<long long>(Vectors * threads) + threadIdx.x;
  int4 items[Vectors];
  int found = 0;
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
    if (first + v * threads >= vectors) break;
    items[v] = in[first + v * threads];
    found |= items[v].x == INT_MIN || items[v].y == INT_MIN || items[v].z == INT_MIN ||
             items[v].w == INT_MIN;
  }
  found = __syncthreads_or(found);
  using word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
  if (threadIdx.x == 0)
    word(words[blockIdx.x])
        .store(static_cast<unsigned long long>(number) << 32 | static_cast<unsigned>(found),
               cuda::memory_order_relaxed);
  for (unsigned block = threadIdx.x; block < blockIdx.x; block += threads) {
    unsigned long long told = 0;
    do told = word(words[block]).load(cuda::memory_order_relaxed);
    while (told >> 32 != number);
    found |= static_cast<int>(told);
  }
  found = __syncthreads_or(found);
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
    if (first + v * threads >= vectors) break;
    items[v].x += found;
    out[first + v * threads] = items[v];
  }
}

template <int Vectors>
long long blocks_of(long long n) {
  constexpr long long elements = 4 * Vectors * threads;
  return (n + elements - 1) / elements;
}

/// Whether all blocks for n elements are resident at once.
template <int Vectors>
bool is_resident(long long n) {
  int device = 0, multiprocessors = 0, blocks = 0;
  perf::check(cudaGetDevice(&device));
  perf::check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  perf::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, agree<Vectors>, threads, 0));
  return blocks_of<Vectors>(n) <= static_cast<long long>(blocks) * multiprocessors;
}

template <int Vectors>
perf::timed_run prepare_agreement(long long n) {
  const auto o = perf::prepare_operands<sum>(n);
  const std::size_t bytes = n * sizeof(int);
  const long long blocks = blocks_of<Vectors>(n);
  auto *const words = static_cast<unsigned long long *>(
      perf::memory().temporary.reserve(blocks * sizeof(long long)));
  perf::check(cudaMemset(words, 0, blocks * sizeof(long long)));
  const auto copy = [=] {
    static unsigned number = 0;
    auto in = reinterpret_cast<const int4 *>(o.in);
    auto out = reinterpret_cast<int4 *>(o.out);
    auto vectors = n / 4;
    auto into = words;
    ++number;
    void *arguments[] = {&in, &out, &vectors, &into, &number};
    // A cooperative launch guarantees that all blocks are resident.
    perf::check(cudaLaunchCooperativeKernel(agree<Vectors>, static_cast<unsigned>(blocks), threads,
                                            arguments));
  };
  void *const expected = perf::memory().expected.reserve(bytes);
  perf::check_output(
      0, bytes, [=] { perf::check(cudaMemcpy(expected, o.in, bytes, cudaMemcpyDeviceToDevice)); },
      copy);
  return [copy] { return perf::event_microseconds(copy); };
}

void add_floor(std::vector<perf::cell> &cells) {
  for (const int e : perf::exponents(10, 22, 1)) {
    const long long n = 1LL << e, bytes = perf::bytes_moved<sum>(n);
    const auto add = [&](const char *contender, std::function<perf::timed_run()> prepare) {
      cells.push_back({contender, sum::name, sum::type(), n, bytes, std::move(prepare), 5, 9});
    };
    add("lookback", perf::device_call<sum, lookback::DeviceScan>(n));
    add("cub", perf::device_call<sum, cub::DeviceScan>(n));
    add("memcpy", perf::memcpy_of<sum>(bytes, perf::event_microseconds));
    add("launch",
        [] { return [] { return perf::event_microseconds([] { launch<<<1, threads>>>(); }); }; });
    if (is_resident<2>(n)) add("agreement:16k", [n] { return prepare_agreement<2>(n); });
    if (is_resident<4>(n)) add("agreement:32k", [n] { return prepare_agreement<4>(n); });
  }
}

} // namespace

int main(int argc, char **argv) { return perf::compare_on_device(add_floor, argc, argv); }
