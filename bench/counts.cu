#include "bench.cuh"
#include <lookback/device_scan.cuh>
int main() {
  const long long most = 1ll << 28;
  int *x = bench::filled<int>(most, 9), *y = bench::filled<int>(most, 9);
  long long *n;
  CHECK(cudaMalloc(&n, 8));
  for (int e = 10; e <= 24; e += 2) {
    const long long items = 1ll << e;
    CHECK(cudaMemcpy(n, &items, 8, cudaMemcpyHostToDevice));
    char name[80];
    std::snprintf(name, sizeof name, "count on the device 2^%d", e);
    bench::row(name, 8 * items, y, 4 * items, [&](void *s, std::size_t &b) {
      return lookback::DeviceScan::InclusiveSum(s, b, const_cast<const int *>(x), y,
                                                lookback::device_count<long long>(n, most));
    });
  }
}
