#include "bench.cuh"
#include <lookback/device_partition.cuh>
#include <lookback/device_reduce.cuh>
#include <lookback/device_run_length_encode.cuh>
#include <lookback/device_select.cuh>
__global__ void keys(int *x, std::size_t n, int length) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    x[i] = static_cast<int>(i / length);
}
struct odd { __host__ __device__ bool operator()(signed char x) const { return x % 2 != 0; } };
int main() {
  const long long n = 1ll << 28;
  int *x = bench::filled<int>(n, 9), *v = bench::filled<int>(n, 9), *u = bench::filled<int>(n, 9),
      *w = bench::filled<int>(n, 9), *count = bench::filled<int>(1, 1);
  for (int length : {7, 1000}) {
    keys<<<1024, 256>>>(x, n, length);
    const std::size_t out = 8 * (n / length);
    char name[80];
    std::snprintf(name, sizeof name, "run_length_encode %d", length);
    bench::row(name, 4 * n + out, w, out / 2, [&](void *s, std::size_t &b) {
      return lookback::DeviceRunLengthEncode::Encode(s, b, x, u, w, count, n);
    });
    std::snprintf(name, sizeof name, "reduce_by_key %d", length);
    bench::row(name, 8 * n + out, w, out / 2, [&](void *s, std::size_t &b) {
      return lookback::DeviceReduce::ReduceByKey(s, b, x, u, v, w, count, lookback::plus{}, n);
    });
    std::snprintf(name, sizeof name, "unique %d", length);
    bench::row(name, 4 * n + out / 2, u, out / 2, [&](void *s, std::size_t &b) {
      return lookback::DeviceSelect::Unique(s, b, x, u, count, n);
    });
  }
  auto *c = bench::filled<signed char>(n, 100);
  bench::row("partition i8", 2 * n, u, n, [&](void *s, std::size_t &b) {
    return lookback::DevicePartition::If(s, b, c, reinterpret_cast<signed char *>(u), count, n, odd{});
  });
}
