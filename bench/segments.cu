#include "bench.cuh"
#include <lookback/device_segmented_scan.cuh>
#include <string>
const long long elements = 1ll << 27;
std::vector<long long> uniform(long long first, long long length) {
  std::vector<long long> o{0};
  if (first > 0) o.push_back(first);
  while (o.back() < elements) o.push_back(std::min(elements, o.back() + length));
  return o;
}
// As in perf/segmented_sum.cu.
std::vector<long long> power_law(double least, double most) {
  std::vector<long long> o{0};
  std::uint64_t x = 88172645463325252u;
  while (o.back() < elements) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    const double u = static_cast<double>(x >> 11) * 0x1p-53;
    o.push_back(std::min(elements, o.back() + static_cast<long long>(std::min(most, least / (u + 1e-6)))));
  }
  return o;
}
template <class T>
void one(const char *type, const char *name, const std::vector<long long> &host) {
  T *x = bench::filled<T>(elements, 7), *y = bench::filled<T>(elements, 7);
  long long *o;
  CHECK(cudaMalloc(&o, host.size() * 8));
  CHECK(cudaMemcpy(o, host.data(), host.size() * 8, cudaMemcpyHostToDevice));
  const auto n = static_cast<long long>(host.size()) - 1;
  bench::row((std::string(type) + " " + name).c_str(), 2 * elements * sizeof(T) + 8 * host.size(), y,
             elements * sizeof(T), [&](void *s, std::size_t &b) {
               return lookback::DeviceSegmentedScan::InclusiveSegmentedSum(s, b, const_cast<const T *>(x), y, o, o + 1, n);
             });
  CHECK(cudaFree(x)); CHECK(cudaFree(y)); CHECK(cudaFree(o));
}
template <class T>
void all(const char *type) {
  one<T>(type, "power law", power_law(8, 1e18));
  one<T>(type, "power law, none long", power_law(8, 2000));
  one<T>(type, "16", uniform(0, 16));
  one<T>(type, "17", uniform(0, 17));
  one<T>(type, "64", uniform(0, 64));
  one<T>(type, "65", uniform(0, 65));
  one<T>(type, "257", uniform(0, 257));
  one<T>(type, "1024", uniform(0, 1024));
  one<T>(type, "4096", uniform(0, 4096));
  one<T>(type, "4097", uniform(0, 4097));
  one<T>(type, "65536", uniform(0, 65536));
  one<T>(type, "65537", uniform(0, 65537));
  one<T>(type, "4", uniform(0, 4));
  one<T>(type, "half in one", uniform(elements / 2, 16));
}
int main() { all<float>("f32"); all<int>("i32"); all<double>("f64"); }
