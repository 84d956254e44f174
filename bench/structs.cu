#include "bench.cuh"
#include <lookback/device_scan.cuh>
template <int N> struct words { int x[N]; };
struct add {
  template <int N> __host__ __device__ words<N> operator()(const words<N> &a, const words<N> &b) const {
    words<N> c;
    for (int i = 0; i < N; ++i) c.x[i] = a.x[i] + b.x[i];
    return c;
  }
};
template <int N> void size(long long total) {
  const std::size_t n = static_cast<std::size_t>(total) / (4 * N);
  auto *x = reinterpret_cast<words<N> *>(bench::filled<int>(n * N, 1000));
  auto *y = reinterpret_cast<words<N> *>(bench::filled<int>(n * N, 1000));
  char name[80];
  std::snprintf(name, sizeof name, "%d bytes, %lld MiB", 4 * N, total >> 20);
  bench::row(name, 2 * n * 4 * N, y, n * 4 * N, [&](void *storage, std::size_t &bytes) {
    return lookback::DeviceScan::InclusiveScan(storage, bytes, const_cast<const words<N> *>(x), y,
                                               add{}, static_cast<long long>(n));
  });
  CHECK(cudaFree(x)); CHECK(cudaFree(y));
}
template <int N> void sizes() { for (int e : {24, 27, 30}) size<N>(1ll << e); }
int main() { sizes<SIZES>(); }
