// SPDX-License-Identifier: MIT
// The host driver: lookback::host and other scans and selections on the CPU.
#include "comparison.hpp"

#include <lookback/execution_policy.cuh>
#include <thrust/copy.h>
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

/// Integers from -4 to 4 but 0, half of them even: their sums are exact in every type and every
/// order of evaluation.
template <class T>
void fill(T *values, long long n) {
  tbb::parallel_for(0LL, n, [values, start = perf::seed()](long long i) {
    std::uint64_t bits = (start + i) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 31)) * 0x94d049bb133111ebu;
    const int value = static_cast<int>((bits >> 32) % 8) - 4;
    values[i] = static_cast<T>(value < 0 ? value : value + 1);
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
T *tbb_scan(const T *in, T *out, long long n) {
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
  return out + n;
}

/// A cell of `run(in, out, n)`, checked in every repetition against `expect(in, reference, n)`,
/// then timed by the host's clock. Both return the end of what they write. Short calls are timed a
/// thousand at a time, since reading the clock takes longer than one of them.
template <class T, class Run, class Expect>
cell cell_of(const char *contender, const char *call, const char *type, long long n,
             long long bytes, Run run, Expect expect) {
  const auto prepare = [=]() -> timed_run {
    T *in = source.reserve<T>(n), *out = target.reserve<T>(n), *reference = expected.reserve<T>(n);
    fill(in, n);
    const long long results = expect(in, reference, n) - reference;
    std::memset(static_cast<void *>(out), 0x5a, n * sizeof(T));
    const auto end = run(in, out, n);
    if (end != out + results) throw std::runtime_error("wrong end of the output");
    const long long wrong = std::mismatch(out, out + results, reference).first - out;
    if (wrong < results)
      throw std::runtime_error(
          "wrong output at element " + std::to_string(wrong) + " of " + std::to_string(results) +
          "; LOOKBACK_PERF_SEED=" + std::to_string(perf::seed()) + " repeats the input");
    return [=] {
      const int calls = n < 1024 ? 1000 : 1;
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < calls; ++i) {
        run(in, out, n);
        benchmark::ClobberMemory();
      }
      const auto end = std::chrono::steady_clock::now();
      return std::chrono::duration<double, std::micro>(end - start).count() / calls;
    };
  };
  const bool large = bytes > (32 << 20);
  return {contender, call, type, n, bytes, prepare, large ? 3 : 5, large ? 3 : 9};
}

/// A copy of the bytes that a call must move, half of which are read.
template <class T>
cell memcpy_cell(const char *call, const char *type, long long n, long long bytes) {
  const auto items = bytes / 2 / static_cast<long long>(sizeof(T));
  return cell_of<T>(
      "memcpy", call, type, n, bytes,
      [=](const T *in, T *out, long long) {
        return threaded_memcpy(out, in, items * sizeof(T)), out + items;
      },
      [=](const T *in, T *out, long long) { return std::copy(in, in + items, out); });
}

template <class T>
void add_inclusive_sum(std::vector<cell> &cells, const char *type) {
  const auto expect = [](const T *in, T *out, long long n) {
    return std::partial_sum(in, in + n, out, [](T a, T b) { return static_cast<T>(a + b); });
  };
  std::vector<int> exponents = perf::exponents(0, 8, 1);
  for (const int e : perf::exponents(10, 26, 4)) exponents.push_back(e);
  for (const int e : exponents) {
    const long long n = 1LL << e, bytes = 2 * n * static_cast<long long>(sizeof(T));
    const auto add = [&](const char *contender, auto scan) {
      cells.push_back(cell_of<T>(contender, "inclusive_sum", type, n, bytes, scan, expect));
    };
    const auto add_policy = [&](const char *contender, const auto &policy) {
      add(contender, [policy](const T *in, T *out, long long n) {
        return thrust::inclusive_scan(policy, in, in + n, out);
      });
    };
    add_policy("lookback", lookback::host);
    add("std",
        [](const T *in, T *out, long long n) { return std::inclusive_scan(in, in + n, out); });
    // Serial: the OpenMP system of CCCL 3.0 has no scan of its own.
    add_policy("thrust_omp", thrust::omp::par);
    // With thrust::tbb::par CCCL 3.0 runs its serial scan: the overload for TBB takes only the
    // system's tag.
    add_policy("thrust_tbb", thrust::tbb::tag{});
    add("tbb", tbb_scan<T>);
    cells.push_back(memcpy_cell<T>("inclusive_sum", type, n, bytes));
  }
}

/// Half of the items are kept, at random: no branch can be predicted.
template <class T>
void add_select_if_50(std::vector<cell> &cells, const char *type) {
  const auto is_even = [](T x) { return x % 2 == 0; };
  const auto expect = [=](const T *in, T *out, long long n) {
    return std::copy_if(in, in + n, out, is_even);
  };
  for (const int e : perf::exponents(10, 26, 4)) {
    const long long n = 1LL << e, bytes = (n + n / 2) * static_cast<long long>(sizeof(T));
    const auto add = [&](const char *contender, auto select) {
      cells.push_back(cell_of<T>(contender, "select_if_50", type, n, bytes, select, expect));
    };
    const auto add_policy = [&](const char *contender, const auto &policy) {
      add(contender, [=](const T *in, T *out, long long n) {
        return thrust::copy_if(policy, in, in + n, out, is_even);
      });
    };
    add_policy("lookback", lookback::host);
    add("std", expect);
    add_policy("thrust_omp", thrust::omp::par);
    add_policy("thrust_tbb", thrust::tbb::tag{}); // as above
    cells.push_back(memcpy_cell<T>("select_if_50", type, n, bytes));
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
  add_select_if_50<std::int8_t>(cells, "i8");
  add_select_if_50<std::int16_t>(cells, "i16");
  add_select_if_50<std::int32_t>(cells, "i32");
  add_select_if_50<std::int64_t>(cells, "i64");
  return perf::compare(std::move(cells), processor(), argc, argv);
}
