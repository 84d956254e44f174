// Medians of 15 runs with a cold L2 cache, and a hash of the results.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
  std::printf("%s: %s\n", #x, cudaGetErrorString(e_)); std::exit(1); } } while (0)
namespace bench {
inline void evict() {
  static void *room = [] { void *p; CHECK(cudaMalloc(&p, 256 << 20)); return p; }();
  CHECK(cudaMemsetAsync(room, 1, 256 << 20));
}
template <class F>
double median(F call, int runs = 15) {
  static cudaEvent_t a = nullptr, b = nullptr;
  if (!a) { CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b)); }
  call();
  std::vector<float> all;
  for (int i = 0; i < runs; ++i) {
    evict();
    CHECK(cudaEventRecord(a));
    call();
    CHECK(cudaEventRecord(b));
    CHECK(cudaEventSynchronize(b));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, a, b));
    all.push_back(ms * 1e3f);
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}
__global__ void hash_words(const std::uint32_t *x, std::size_t n, unsigned long long *h) {
  unsigned long long own = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    own += (x[i] + 0x9e3779b97f4a7c15ull) * (2 * i + 1);
  atomicAdd(h, own);
}
inline unsigned long long hash(const void *x, std::size_t bytes) {
  unsigned long long *h, host;
  CHECK(cudaMalloc(&h, 8));
  CHECK(cudaMemset(h, 0, 8));
  hash_words<<<1024, 256>>>(static_cast<const std::uint32_t *>(x), bytes / 4, h);
  CHECK(cudaMemcpy(&host, h, 8, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(h));
  return host;
}
/// Bytes of pseudo-random words below `range`, of type T.
template <class T>
__global__ void fill_kernel(T *x, std::size_t n, unsigned range) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned v = static_cast<unsigned>(i) * 2654435761u;
    v ^= v >> 15; v *= 2246822519u; v ^= v >> 13;
    x[i] = static_cast<T>(static_cast<float>(v % range));
  }
}
template <class T>
T *filled(std::size_t n, unsigned range) {
  T *x;
  CHECK(cudaMalloc(&x, n * sizeof(T)));
  fill_kernel<<<1024, 256>>>(x, n, range);
  return x;
}
/// `call(storage, bytes)`; `moved`: bytes that must move, `out`: the results.
template <class Call>
void row(const char *name, std::size_t moved, void *out, std::size_t out_bytes, Call call) {
  std::size_t bytes = 0;
  CHECK(call(nullptr, bytes));
  void *storage, *from, *to;
  CHECK(cudaMalloc(&storage, bytes + 1));
  CHECK(cudaMalloc(&from, moved / 2));
  CHECK(cudaMalloc(&to, moved / 2));
  CHECK(cudaMemset(out, 0x7f, out_bytes));
  const double us = median([&] { CHECK(call(storage, bytes)); });
  const double copy =
      median([&] { CHECK(cudaMemcpyAsync(to, from, moved / 2, cudaMemcpyDeviceToDevice)); });
  CHECK(cudaDeviceSynchronize());
  std::printf("%-34s %9.1f us  copy %9.1f  share %.3f  %016llx\n", name, us, copy, copy / us,
              hash(out, out_bytes));
  std::fflush(stdout);
  CHECK(cudaFree(storage)); CHECK(cudaFree(from)); CHECK(cudaFree(to));
}
} // namespace bench
