// SPDX-License-Identifier: MIT
// The host driver: lookback::host and other scans on the CPU.
#include "comparison.hpp"

#include <lookback/execution_policy.cuh>
#include <thrust/scan.h>
#include <thrust/system/omp/execution_policy.h>
#include <thrust/system/tbb/execution_policy.h>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_scan.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace {

using perf::cell;
using perf::timed_run;

/// Memory that grows and never shrinks, so that all contenders use the same addresses, already
/// mapped.
class buffer {
public:
  template <class T>
  T *reserve(long long n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes > bytes_) {
      data_.reset(new unsigned char[bytes]);
      bytes_ = bytes;
    }
    return reinterpret_cast<T *>(data_.get());
  }

private:
  std::unique_ptr<unsigned char[]> data_;
  std::size_t bytes_ = 0;
};
buffer source, target, expected;

/// Small integers around zero: their sums are exact in every type and every order of evaluation.
template <class T>
void fill(T *values, long long n) {
  tbb::parallel_for(0LL, n, [values, start = perf::seed()](long long i) {
    std::uint64_t bits = (start + i) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 31)) * 0x94d049bb133111ebu;
    values[i] = static_cast<T>(static_cast<int>((bits >> 32) % 9) - 4);
  });
}

/// A copy by all threads, since one thread does not reach the memory's bandwidth; small copies use
/// one.
void threaded_memcpy(void *to, const void *from, std::size_t bytes) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, bytes, 1 << 18), [=](const auto &part) {
    std::memcpy(static_cast<char *>(to) + part.begin(),
                static_cast<const char *>(from) + part.begin(), part.size());
  });
}

template <class T>
void tbb_scan(const T *in, T *out, long long n) {
  using range = tbb::blocked_range<long long>;
  tbb::parallel_scan(
      range(0, n), T{},
      [=](const range &part, T sum, bool is_final) {
        for (long long i = part.begin(); i < part.end(); ++i) {
          sum = static_cast<T>(sum + in[i]);
          if (is_final) out[i] = sum;
        }
        return sum;
      },
      [](T left, T right) { return static_cast<T>(left + right); });
}

/// A cell of `scan(in, out, n)`, checked against a serial sum in every repetition, then timed by
/// the host's clock. Short calls are timed a thousand at a time, since reading the clock takes
/// longer than one of them.
template <class T, class Scan>
cell inclusive_sum(const char *contender, const char *type, long long n, Scan scan,
                   bool copies = false) {
  const auto prepare = [=]() -> timed_run {
    T *in = source.reserve<T>(n), *out = target.reserve<T>(n), *reference = expected.reserve<T>(n);
    fill(in, n);
    if (copies)
      std::copy(in, in + n, reference);
    else
      std::partial_sum(in, in + n, reference, [](T a, T b) { return static_cast<T>(a + b); });
    std::memset(static_cast<void *>(out), 0x5a, n * sizeof(T));
    scan(in, out, n);
    const long long wrong = std::mismatch(out, out + n, reference).first - out;
    if (wrong < n)
      throw std::runtime_error(
          "wrong output at element " + std::to_string(wrong) + " of " + std::to_string(n) +
          "; LOOKBACK_PERF_SEED=" + std::to_string(perf::seed()) + " repeats the input");
    return [=] {
      const int calls = n < 1024 ? 1000 : 1;
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < calls; ++i) {
        scan(in, out, n);
        benchmark::ClobberMemory();
      }
      const auto end = std::chrono::steady_clock::now();
      return std::chrono::duration<double, std::micro>(end - start).count() / calls;
    };
  };
  const long long bytes = 2 * n * static_cast<long long>(sizeof(T));
  const bool large = bytes > (32 << 20);
  return {contender, "inclusive_sum", type, n, bytes, prepare, large ? 3 : 5, large ? 3 : 9};
}

template <class T>
void add_inclusive_sum(std::vector<cell> &cells, const char *type) {
  std::vector<int> exponents = perf::exponents(0, 8, 1);
  for (const int e : perf::exponents(10, 26, 4)) exponents.push_back(e);
  for (const int e : exponents) {
    const long long n = 1LL << e;
    const auto add = [&](const char *contender, auto scan) {
      cells.push_back(inclusive_sum<T>(contender, type, n, scan));
    };
    const auto add_policy = [&](const char *contender, const auto &policy) {
      add(contender, [policy](const T *in, T *out, long long n) {
        thrust::inclusive_scan(policy, in, in + n, out);
      });
    };
    add_policy("lookback", lookback::host);
    add("std", [](const T *in, T *out, long long n) { std::inclusive_scan(in, in + n, out); });
    // Serial: the OpenMP system of CCCL 3.0 has no scan of its own.
    add_policy("thrust_omp", thrust::omp::par);
    // With thrust::tbb::par CCCL 3.0 runs its serial scan: the overload for TBB takes only the
    // system's tag.
    add_policy("thrust_tbb", thrust::tbb::tag{});
    add("tbb", tbb_scan<T>);
    cells.push_back(inclusive_sum<T>(
        "memcpy", type, n,
        [](const T *in, T *out, long long n) { threaded_memcpy(out, in, n * sizeof(T)); }, true));
  }
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(": ") + 2);
  return "CPU";
}

} // namespace

int main(int argc, char **argv) {
  std::vector<cell> cells;
  add_inclusive_sum<std::int8_t>(cells, "i8");
  add_inclusive_sum<std::int32_t>(cells, "i32");
  add_inclusive_sum<std::int64_t>(cells, "i64");
  add_inclusive_sum<float>(cells, "f32");
  add_inclusive_sum<double>(cells, "f64");
  return perf::compare(std::move(cells), processor(), argc, argv);
}
