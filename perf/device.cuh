// SPDX-License-Identifier: MIT
// The GPU driver: prepares, checks and times the calls of calls.cuh.
#pragma once

#include "comparison.hpp"
#include "cub_new.cuh"

#include <cub/device/device_scan.cuh>
#include <lookback/device_scan.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace perf {

/// Throws std::runtime_error with the runtime's message unless `error` is cudaSuccess.
void check(cudaError_t error);

/// Device memory that grows and never shrinks, so that all contenders use the same addresses.
class device_buffer {
public:
  void *reserve(std::size_t bytes);

private:
  void *data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The toolkit's CUB and lookback behind a door.
template <door>
struct libraries;
template <>
struct libraries<door::device_scan> {
  using cub = ::cub::DeviceScan;
  using lookback = ::lookback::DeviceScan;
};

struct device_memory {
  device_buffer second, source, target, expected, temporary, reference_temporary;
};
device_memory &memory();

/// The time between CUDA events around `work`, with a cold L2 cache.
double event_microseconds(const std::function<void()> &work);

/// The time by the host's clock around `work` and a stream synchronisation, with a cold L2 cache.
double wall_microseconds(const std::function<void()> &work);

/// Compares bytes [first, last) of `target`, which `contender` fills, with those of `expected`,
/// which `reference` fills. Throws if they differ or if the contender has written outside. Both
/// buffers are filled with different values before, so an output that is not written is an error.
void check_output(std::size_t first, std::size_t last, const std::function<void()> &reference,
                  const std::function<void()> &contender);

/// Whether a cell of that many bytes read and written, its reference and its temporary storage fit
/// the device's memory.
bool fits(long long bytes);

/// 64 random bits, others for each number.
inline __device__ std::uint64_t random_bits(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t bits = seed + number * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

template <class Values>
__global__ void fill(typename Values::input *values, long long n, std::uint64_t seed) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < n;
       i += stride) {
    const auto number = static_cast<std::uint64_t>(i / Values::drawn_together);
    values[i] = Values::element(i, random_bits(seed, number));
  }
}

/// Arrays of different numbers receive different random values.
template <class Values>
void fill_values(typename Values::input *values, long long n, std::uint64_t number = 0) {
  fill<Values><<<1024, 256>>>(values, n, seed() + number);
  check(cudaGetLastError());
}

/// Bytes of the results of n elements, or of as many as are kept.
template <class Call>
constexpr std::size_t result_bytes(long long n) {
  return (n + Call::further_results) *
         (sizeof(typename Call::output) + (Call::has_second_output ? sizeof(int) : 0));
}

/// Bytes of the output of n elements.
template <class Call>
constexpr std::size_t output_bytes(long long n) {
  return Call::shift * sizeof(typename Call::output) + result_bytes<Call>(n) +
         (Call::has_count ? sizeof(long long) : 0);
}

/// Lets `o` write to `buffer`: its results, those of the second array, their number. All are
/// aligned, since n is a power of two of at least 2^10.
template <class Call>
void set_output(operands_of<Call> &o, device_buffer &buffer) {
  o.out = static_cast<typename Call::output *>(buffer.reserve(output_bytes<Call>(o.n)));
  o.out += Call::shift;
  void *behind = o.out + o.n;
  if constexpr (Call::has_second_output) {
    o.second_out = static_cast<int *>(behind);
    behind = o.second_out + o.n;
  }
  if constexpr (Call::has_count) o.count = static_cast<long long *>(behind);
}

/// Sets what is unspecified, the output behind the last result, to zero.
template <class Call>
void clear_unspecified(const operands_of<Call> &o) {
  if constexpr (Call::is_compacted) {
    long long count = 0;
    check(cudaMemcpy(&count, o.count, sizeof count, cudaMemcpyDeviceToHost));
    if (count < 0 || count > o.n) return; // which the comparison reports
    const auto unspecified = static_cast<std::size_t>(o.n - count);
    check(cudaMemset(o.out + count, 0, unspecified * sizeof(*o.out)));
    if constexpr (Call::has_second_output)
      check(cudaMemset(o.second_out + count, 0, unspecified * sizeof(*o.second_out)));
  }
}

template <class Call>
operands_of<Call> prepare_operands(long long n) {
  using In = typename Call::input;
  using Second = typename drawn<typename Call::second>::type;
  const places inputs((n + Call::shift) * static_cast<long long>(sizeof(In)));
  const places seconds(n * static_cast<long long>(sizeof(Second)));
  Second *second = nullptr;
  if constexpr (has_second<Call>) {
    second = static_cast<Second *>(memory().second.reserve(seconds.bytes()));
    for (int p = 0; p < seconds.count(); ++p)
      fill_values<typename Call::second>(seconds.of_run(second, p), n, 1);
  }
  In *in = static_cast<In *>(memory().source.reserve(inputs.bytes())) + Call::shift;
  for (int p = 0; p < inputs.count(); ++p) fill_values<Call>(inputs.of_run(in, p), n);
  operands_of<Call> o{second, in, nullptr, nullptr, nullptr, n, inputs, seconds};
  set_output<Call>(o, memory().target);
  return o;
}

/// Checks `contender(operands)` against `reference(operands)` on the same input.
template <class Call, class Reference, class Contender>
void check_against(Reference reference, const operands_of<Call> &o, Contender contender) {
  operands_of<Call> expected = o;
  set_output<Call>(expected, memory().expected);
  check_output(
      Call::shift * sizeof(*o.out), output_bytes<Call>(o.n),
      [reference, expected] {
        reference(expected);
        clear_unspecified<Call>(expected);
      },
      [contender, o] {
        contender(o);
        clear_unspecified<Call>(o);
      });
}

/// Checks `contender(operands)` against the toolkit's CUB on the same input.
template <class Call, class Contender>
void check_against_cub(const operands_of<Call> &o, Contender contender) {
  using cub = typename libraries<Call::through>::cub;
  check_against<Call>(
      [](const operands_of<Call> &expected) {
        std::size_t size = 0;
        check(Call::template invoke<cub>(nullptr, size, expected));
        void *temporary = memory().reference_temporary.reserve(size);
        check(Call::template invoke<cub>(temporary, size, expected));
      },
      o, contender);
}

using timer = double (*)(const std::function<void()> &);

/// Timed runs of `invoke`, each on the next place of the input; the check before them has used
/// place 0.
template <class Invoke, class Operands>
timed_run in_turn(Invoke invoke, const Operands &o, timer time) {
  return [invoke, o, time, run = 0u]() mutable {
    const Operands turned = o.of_run(++run);
    return time([&] { invoke(turned); });
  };
}

/// Timed runs on `o` of `phase(temporary, size, operands)`, the call in CUB's two phases, after
/// `checks(operands, invoke)` has checked it.
template <class Phase, class Operands, class Check>
timed_run two_phase_runs(Phase phase, const Operands &o, Check checks, timer time) {
  std::size_t size = 0;
  check(phase(nullptr, size, o));
  void *temporary = memory().temporary.reserve(size);
  const auto invoke = [phase, temporary, size](const Operands &operands) {
    std::size_t given = size;
    check(phase(temporary, given, operands));
  };
  checks(o, invoke);
  return in_turn(invoke, o, time);
}

/// A contender whose `phase(temporary, size, operands)` is the call in CUB's two phases.
template <class Call, class Phase>
std::function<timed_run()> two_phase_call(Phase phase, long long n,
                                          timer time = event_microseconds) {
  return [phase, n, time] {
    return two_phase_runs(
        phase, prepare_operands<Call>(n),
        [](const operands_of<Call> &o, const auto &invoke) { check_against_cub<Call>(o, invoke); },
        time);
  };
}

template <class Call, class Device>
std::function<timed_run()> device_call(long long n, timer time = event_microseconds) {
  return two_phase_call<Call>(Call::template invoke<Device>, n, time);
}

/// A copy that reads and writes `bytes` in all, as many as the call. Rounded up to vectors, so that
/// the copy is aligned at both ends.
template <class Call>
std::function<timed_run()> memcpy_of(long long bytes, timer time) {
  return [bytes, time]() -> timed_run {
    using In = typename Call::input;
    const std::size_t half = (static_cast<std::size_t>(bytes / 2) + 15) / 16 * 16;
    const places inputs(static_cast<long long>(half));
    In *const source = static_cast<In *>(memory().source.reserve(inputs.bytes()));
    void *target = memory().target.reserve(half);
    for (int p = 0; p < inputs.count(); ++p)
      fill_values<Call>(inputs.of_run(source, p), static_cast<long long>(half / sizeof(In)));
    const auto copy = [half](void *to, const In *from) {
      check(cudaMemcpyAsync(to, from, half, cudaMemcpyDeviceToDevice));
    };
    void *expected = memory().expected.reserve(half);
    check_output(
        0, half, [&] { copy(expected, source); }, [&] { copy(target, source); });
    return [copy, target, inputs, source, time, run = 0u]() mutable {
      const In *const from = inputs.of_run(source, ++run);
      return time([&] { copy(target, from); });
    };
  };
}

/// Bytes of n elements and of as many results of each kind as `results`.
template <class Call>
long long bytes_of(long long n, long long results) {
  const std::size_t each =
      sizeof(typename Call::input) +
      (has_second<Call> ? sizeof(typename drawn<typename Call::second>::type) : 0);
  return static_cast<long long>(n * each + result_bytes<Call>(results));
}

/// Bytes that every contender must read and write, of results their mean number. Indices are read;
/// those that a counting_iterator computes are not.
template <class Call>
long long bytes_moved(long long n) {
  return bytes_of<Call>(n, Call::results(n));
}

struct contender {
  std::string name;
  std::function<timed_run()> prepare;
  int most_repetitions = 5;
};

/// The contenders of one call, type and size, in which `bytes` are read and written.
inline void add_contenders(std::vector<cell> &cells, const std::string &call,
                           const std::string &type, long long n, long long bytes,
                           const std::vector<contender> &all, timer time = event_microseconds) {
  // The longer a run, the less it scatters; of the longest, drawing and checking the input takes
  // most of the time.
  // Times of whole calls scatter with what else the host does: by 2 us of 20, as a median of 45.
  const int runs = (bytes < (64 << 20) ? 9 : 3) * (time == wall_microseconds ? 5 : 1);
  const int repetitions = bytes < (1LL << 30) ? 5 : 3;
  for (const contender &c : all)
    cells.push_back(
        {c.name, call, type, n, bytes, c.prepare, std::min(repetitions, c.most_repetitions), runs});
}

/// The contenders of LOOKBACK_PERF_CCCL_DIR; none where that is not set.
template <class Call>
std::vector<contender> newer_cub([[maybe_unused]] long long n, [[maybe_unused]] timer time) {
  std::vector<contender> all;
#if defined(PERF_CUB_NEW)
  all.push_back({"cub_new", two_phase_call<Call>(cub_new<Call>::invoke, n, time)});
  if constexpr (Call::has_run_to_run)
    all.push_back({"cub_run_to_run", two_phase_call<Call>(cub_run_to_run<Call>::invoke, n, time)});
#endif
  return all;
}

/// Every size of one call, for the contenders that `contenders(n)` returns, the newer CUB's and a
/// memcpy beside them.
template <class Call, class Contenders>
void add_sizes(std::vector<cell> &cells, timer time, Contenders contenders) {
  constexpr std::size_t widest =
      std::max(sizeof(typename Call::input), sizeof(typename Call::output));
  for (const int e : exponents(10, widest <= 4 || Call::has_run_to_run ? 30 : 28, 2)) {
    const long long n = 1LL << e;
    if (n > Call::largest_input / static_cast<long long>(sizeof(typename Call::input))) return;
    const long long bytes = bytes_moved<Call>(n);
    if (!fits(bytes_of<Call>(n, n))) {
      std::fprintf(stderr,
                   "%s/%s: sizes from 2^%d on are left out, they do not fit the device's memory\n",
                   Call::name, Call::type().c_str(), e);
      return;
    }
    std::vector<contender> all = contenders(n);
    for (contender &c : newer_cub<Call>(n, time)) all.push_back(std::move(c));
    all.push_back({"memcpy", memcpy_of<Call>(bytes, time)});
    add_contenders(cells, Call::name, Call::type(), n, bytes, all, time);
  }
}

/// The main function of a driver: measures the cells that `add_cells` adds; returns perf::no_device
/// without a device.
int compare_on_device(void (*add_cells)(std::vector<cell> &), int argc, char **argv);

/// A call in two phases: lookback's, CUB's and a memcpy.
template <class Call>
void add(std::vector<cell> &cells) {
  using library = libraries<Call::through>;
  add_sizes<Call>(cells, event_microseconds, [](long long n) {
    return std::vector<contender>{{"lookback", device_call<Call, typename library::lookback>(n)},
                                  {"cub", device_call<Call, typename library::cub>(n)}};
  });
}

} // namespace perf
