// SPDX-License-Identifier: MIT
// The GPU driver for sums of segments and of the lines of arrays. Their results are known: they are
// drawn first, and the elements of a line are the differences of consecutive ones.
#pragma once

#include "device.cuh"
#include "segment_calls.cuh"

namespace perf {

/// Result i: a small integer. So is every element and the sum of any consecutive elements of a
/// line, which is exact in every type, of 8 significant bits as well.
inline __device__ int result_at(long long i, std::uint64_t seed) {
  return call<int>::element(i, random_bits(seed, static_cast<std::uint64_t>(i)));
}

template <class T>
__global__ void write_results(T *results, long long n, std::uint64_t seed) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < n;
       i += stride)
    results[i] = static_cast<T>(result_at(i, seed));
}

/// Lines of `length` elements, `inner` apart.
template <class T>
__global__ void draw_lines(T *values, long long n, long long length, long long inner,
                           std::uint64_t seed) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < n;
       i += stride) {
    const int before = i / inner % length == 0 ? 0 : result_at(i - inner, seed);
    values[i] = static_cast<T>(result_at(i, seed) - before);
  }
}

/// Lets a line begin at each of the offsets.
template <class T>
__global__ void begin_lines(T *values, const long long *offsets, long long segments,
                            std::uint64_t seed) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long s = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; s < segments;
       s += stride)
    values[offsets[s]] = static_cast<T>(result_at(offsets[s], seed));
}

/// A contender whose `phase(temporary, size, operands)` is the call in CUB's two phases, on what
/// `prepare()` returns.
template <class Call, class Phase, class Prepare>
std::function<timed_run()> call_on_lines(Phase phase, Prepare prepare) {
  return [phase, prepare] {
    const auto known = [](const operands_of<Call> &o) {
      write_results<<<1024, 256>>>(o.out, o.n, seed());
      check(cudaGetLastError());
    };
    const auto checks = [known](const operands_of<Call> &o, const auto &invoke) {
      check_against<Call>(known, o, invoke);
    };
    return two_phase_runs(phase, prepare(), checks, event_microseconds);
  };
}

/// Operands without their second array. The elements are those of lines of `length` elements,
/// `inner` apart, at every place.
template <class Call>
operands_of<Call> prepare_lines(long long n, long long length, long long inner) {
  using T = typename Call::input;
  const places inputs(n * static_cast<long long>(sizeof(T))), one(0);
  T *in = static_cast<T *>(memory().source.reserve(inputs.bytes()));
  for (int p = 0; p < inputs.count(); ++p) {
    draw_lines<<<1024, 256>>>(inputs.of_run(in, p), n, length, inner, seed());
    check(cudaGetLastError());
  }
  operands_of<Call> o{nullptr, in, nullptr, nullptr, nullptr, n, inputs, one};
  set_output<Call>(o, memory().target);
  return o;
}

/// Adds lookback's contender, a newer CUB's where it has the call, and a memcpy. CUB's runs are
/// those of one repetition: the longest take 0.2 s each.
template <class Call, class Phase, class Prepare>
void add_lines(std::vector<cell> &cells, const std::string &call_name, long long n, long long bytes,
               Phase by_lookback, [[maybe_unused]] bool has_cub, Prepare prepare) {
  using T = typename Call::input;
  if (!fits(bytes)) {
    std::fprintf(stderr, "%s/%s is left out, it does not fit the device's memory\n",
                 call_name.c_str(), Call::type().c_str());
    return;
  }
  std::vector<contender> all{{"lookback", call_on_lines<Call>(by_lookback, prepare)}};
#if defined(PERF_CUB_NEW)
  if (has_cub) all.push_back({"cub_new", call_on_lines<Call>(cub_new<Call>::invoke, prepare), 1});
#endif
  all.push_back({"memcpy", memcpy_of<call<T>>(bytes, event_microseconds)});
  add_contenders(cells, call_name, Call::type(), n, bytes, all);
}

} // namespace perf
