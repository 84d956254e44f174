// SPDX-License-Identifier: MIT
// Scans of host memory through a GPU, or several, beside plain copies over the same links, in the
// same run.
//
//   lookback_out_of_core_speed [--devices 0,1,...]
//
// A row is the median time of a pass over 4 GiB and its bytes per second. `both at once` copies
// 4 GiB in each direction, as a scan does. A result in 2^18 is compared with a serial sum.
#include <lookback/execution_policy.cuh>
#include <lookback/out_of_core.cuh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "failed: %s\n", cudaGetErrorString(status));
  std::exit(1);
}
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct gpu {
  char *memory[2]; // of a part each
  cudaStream_t streams[2];
};
struct machine {
  std::size_t bytes = std::size_t{4} << 30;
  int repetitions = 5;
  char *in, *out; // pinned host memory
  char *pageable_in, *pageable_out;
  std::size_t part = std::size_t{256} << 20;
  std::vector<int> devices{0};
  std::vector<gpu> gpus; // of `devices`
};

template <class Pass>
double measure(const machine &m, const char *name, Pass pass) {
  std::vector<double> seconds;
  pass();
  for (int i = 0; i < m.repetitions; ++i) {
    const double begin = now();
    pass();
    seconds.push_back(now() - begin);
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  std::printf("%-34s %9.1f ms %7.2f GB/s each way (%.1f to %.1f ms)\n", name, median * 1e3,
              static_cast<double>(m.bytes) * 1e-9 / median, seconds.front() * 1e3,
              seconds.back() * 1e3);
  std::fflush(stdout);
  return median;
}

/// Parts in turn over all GPUs.
void copies(const machine &m, bool to_device, bool to_host) {
  for (std::size_t at = 0; at < m.bytes; at += m.part) {
    const std::size_t some = std::min(m.part, m.bytes - at);
    const gpu &own = m.gpus[at / m.part % m.gpus.size()];
    if (to_device)
      check(cudaMemcpyAsync(own.memory[0], m.in + at, some, cudaMemcpyDefault, own.streams[0]));
    if (to_host)
      check(cudaMemcpyAsync(m.out + at, own.memory[1], some, cudaMemcpyDefault, own.streams[1]));
  }
  for (const gpu &each : m.gpus)
    for (const cudaStream_t stream : each.streams) check(cudaStreamSynchronize(stream));
}

/// Small integers, whose sums are exact: i32 wraps, f32 stays below 2^24 by alternating signs.
template <class T>
void fill(T *x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<T>(i % 2 == 0 ? static_cast<int>(i / 2 % 7) : -static_cast<int>(i / 2 % 7));
}
template <class T>
void verify(const char *name, const T *x, const T *y, std::size_t n) {
  T sum{};
  for (std::size_t i = 0; i < n; ++i) {
    sum = static_cast<T>(sum + x[i]);
    if ((i % (1 << 18) == 0 || i + 1 == n) && !(y[i] == sum)) {
      std::fprintf(stderr, "failed: %s: result %zu is wrong\n", name, i);
      std::exit(1);
    }
  }
}

template <class T>
void scans(const machine &m, const char *type, double slower_copy, double both) {
  namespace out_of_core = lookback::out_of_core;
  const std::size_t n = m.bytes / sizeof(T);
  T *const in = reinterpret_cast<T *>(m.in), *const out = reinterpret_cast<T *>(m.out);
  fill(in, n);
  const auto pinned = [&](std::size_t mib, std::size_t device_bytes) {
    out_of_core::options limits;
    limits.chunk_bytes = mib << 20;
    limits.device_bytes = device_bytes;
    limits.devices = m.devices;
    const std::string name = std::string(type) + " pinned, " +
                             (mib == 0 ? "default" : "chunks " + std::to_string(mib) + " MiB") +
                             (device_bytes > 0 ? ", 16 MiB on the GPU" : "");
    std::fill_n(out, n, T{77});
    const double seconds = measure(m, name.c_str(), [&] {
      out_of_core::inclusive_scan(lookback::par, in, in + n, out, lookback::plus{}, limits);
    });
    verify(name.c_str(), in, out, n);
    std::printf("%34s %.3f of the slower copy, %.3f of both copies at once\n", "",
                slower_copy / seconds, both / seconds);
  };
  for (const std::size_t mib : {0, 8, 16, 32, 64, 128}) pinned(mib, 0);
  pinned(0, std::size_t{16} << 20);

  T *const from = reinterpret_cast<T *>(m.pageable_in), *const to =
                                                            reinterpret_cast<T *>(m.pageable_out);
  std::copy(in, in + n, from);
  std::fill_n(to, n, T{77});
  for (const std::size_t mib : {0, 2, 4, 16}) {
    out_of_core::options limits;
    limits.chunk_bytes = mib << 20;
    limits.devices = m.devices;
    const std::string name = std::string(type) + " pageable, " +
                             (mib == 0 ? "default" : "chunks " + std::to_string(mib) + " MiB");
    measure(m, name.c_str(), [&] {
      out_of_core::inclusive_scan(lookback::par, from, from + n, to, lookback::plus{}, limits);
    });
    verify(name.c_str(), from, to, n);
  }
  out_of_core::options all_gpus;
  all_gpus.devices = m.devices;
  measure(m, (std::string(type) + " pageable, registered").c_str(), [&] {
    check(cudaHostRegister(from, m.bytes, cudaHostRegisterDefault));
    check(cudaHostRegister(to, m.bytes, cudaHostRegisterDefault));
    out_of_core::inclusive_scan(lookback::par, from, from + n, to, all_gpus);
    check(cudaHostUnregister(from));
    check(cudaHostUnregister(to));
  });
  measure(m, (std::string(type) + " lookback::host").c_str(),
          [&] { lookback::inclusive_scan(lookback::host, from, from + n, to); });
}

/// "0,2" -> {0, 2}
std::vector<int> numbers_of(const std::string &list) {
  std::vector<int> numbers;
  std::istringstream in(list);
  for (std::string each; std::getline(in, each, ',');) numbers.push_back(std::atoi(each.c_str()));
  return numbers;
}

} // namespace

int main(int argc, char **argv) {
  machine m{};
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no CUDA device");
    return 3;
  }
  if (argc == 3 && std::string(argv[1]) == "--devices") {
    m.devices = numbers_of(argv[2]);
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: %s [--devices 0,1,...]\n", argv[0]);
    return 2;
  }
  for (const int device : m.devices) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device));
    std::printf("GPU %d: %s\n", device, properties.name);
    check(cudaSetDevice(device));
    gpu own{};
    for (int i = 0; i < 2; ++i) {
      check(cudaMalloc(&own.memory[i], m.part));
      check(cudaStreamCreateWithFlags(&own.streams[i], cudaStreamNonBlocking));
    }
    m.gpus.push_back(own);
  }
  std::printf("%.1f GiB, median of %d\n", static_cast<double>(m.bytes) / (1 << 30), m.repetitions);
  check(cudaMallocHost(&m.in, m.bytes));
  check(cudaMallocHost(&m.out, m.bytes));
  m.pageable_in = static_cast<char *>(std::aligned_alloc(4096, m.bytes));
  m.pageable_out = static_cast<char *>(std::aligned_alloc(4096, m.bytes));
  if (m.pageable_in == nullptr || m.pageable_out == nullptr) return 1;
  const double to_device = measure(m, "copy, host to device", [&] { copies(m, true, false); });
  const double to_host = measure(m, "copy, device to host", [&] { copies(m, false, true); });
  const double both = measure(m, "copies, both at once", [&] { copies(m, true, true); });
  scans<int>(m, "i32", std::max(to_device, to_host), both);
  scans<float>(m, "f32", std::max(to_device, to_host), both);
}
