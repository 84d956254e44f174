#include "bench.cuh"
#include <cuda_bf16.h>
#include <lookback/device_axis_scan.cuh>
template <class T>
void shape(const char *type, long long outer, long long length, long long inner) {
  const std::size_t n = static_cast<std::size_t>(outer * length * inner);
  T *x = bench::filled<T>(n, 7), *y = bench::filled<T>(n, 7);
  lookback::axis a;
  a.outer = outer, a.length = length, a.inner = inner;
  char name[80];
  std::snprintf(name, sizeof name, "%s %lldx%lldx%lld", type, outer, length, inner);
  bench::row(name, 2 * n * sizeof(T), y, n * sizeof(T), [&](void *storage, std::size_t &bytes) {
    return lookback::DeviceAxisScan::InclusiveSum(storage, bytes, const_cast<const T *>(x), y, a);
  });
  CHECK(cudaFree(x)); CHECK(cudaFree(y));
}
template <class T>
void all(const char *type) {
  const long long K = 1 << 10, M = 1 << 20;
  shape<T>(type, 1, M, 32);
  shape<T>(type, 1, 64 * K, K);
  shape<T>(type, 1, K, 64 * K);
  shape<T>(type, 1, 4 * M, 16);
  shape<T>(type, 1, 4 * K, 4 * K);
  shape<T>(type, 16, 4 * K, K);
  shape<T>(type, 1, 512, 128 * K);
  shape<T>(type, 1, 256 * K, 48);
}
int main() { all<int>("i32"); all<float>("f32"); all<__nv_bfloat16>("bf16"); }
