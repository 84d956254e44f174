// SPDX-License-Identifier: MIT
// Scans of host memory that may be larger than the memory of a GPU.
#pragma once

#include <lookback/core/chunks.cuh>
#include <lookback/host/host_chunks.cuh>
#include <lookback/host/separate_results.cuh>
#include <lookback/scan.cuh>
#if defined(__CUDACC__)
#include <lookback/dispatch/chunk_device.cuh>
#include <lookback/host/device_ring.cuh>
#endif

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Scans of host memory through a GPU (@ref out_of_core_scans).
namespace out_of_core {

/// The limits of a call's memory, and a function that it reports its progress to.
/// @ingroup out_of_core_scans
struct options {
  /// Limit of the device memory of each GPU in bytes. 0: no limit; the call takes at most about
  /// 66 MiB, or about 130 MiB if elements and results differ in type, unless chunk_bytes is set. No
  /// effect with lookback::host.
  std::size_t device_bytes = 0;
  /// Limit of the bytes of a chunk's elements, and of its results; rounded down to whole groups of
  /// lookback::tree_shape (about 512 KB), at least one. 0: chosen by the call, at most 16 MiB, or
  /// 64 MiB with lookback::host.
  std::size_t chunk_bytes = 0;
  /// Called by the calling thread when the first `done` of `total` results have been written, after
  /// every chunk. May throw: the call then ends with that exception.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  /// The GPUs that take chunks in turn, by their numbers in the CUDA runtime. Empty: the current
  /// GPU. One that is named twice takes two turns, and twice the memory. No effect with
  /// lookback::host.
  std::vector<int> devices = {};
};

} // namespace out_of_core

namespace detail {

/// Elements of a chunk: as many whole groups as `most_bytes` holds. Unless `is_exact`, no more than
/// about a sixteenth of n, since the first copy to the device and the last one back overlap with no
/// other.
template <class Shape>
std::int64_t chunk_length(std::int64_t n, std::size_t most_bytes, bool is_exact) {
  constexpr std::int64_t group = group_elements<Shape>;
  constexpr auto group_bytes = static_cast<std::size_t>(group) * Shape::element_bytes;
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(most_bytes / group_bytes, 1));
  if (is_exact) return most * group;
  const std::int64_t share = n / (16 * group), least = 4;
  return std::min(most, std::max(share, least)) * group;
}

/// The scan on the threads of the CPU.
template <class Call, class T, class Derived, class Input, class Output, class Initial,
          class... Arguments>
void scan_out_of_core(const host_execution_policy<Derived> &, const Input &first, std::int64_t n,
                      const Output &result, const out_of_core::options &options,
                      const Initial &initial, const Arguments &...arguments) {
  const auto scan = [&](const auto &problem) {
    using shape = typename std::decay_t<decltype(problem)>::shape;
    const std::size_t bytes = options.chunk_bytes > 0 ? options.chunk_bytes : std::size_t{64} << 20;
    const std::int64_t length = options.progress ? chunk_length<shape>(n, bytes, true) : n;
    scan_chunks_on_host(problem, chunk_list{n, length}, [&](std::int64_t done, std::int64_t total) {
      if (options.progress) options.progress(done, total);
    });
  };
  if constexpr (Initial::exists)
    scan(Call::problem(result, first, arguments..., initial.value));
  else
    scan(Call::problem(result, first, arguments...));
}

#if defined(__CUDACC__)

/// The elements or the results of a call, in host memory. Staged: they pass through pinned buffers,
/// since the GPU cannot copy them at the speed of the link.
template <class Value, class Iterator>
class pinned_side {
public:
  explicit pinned_side(Iterator first, std::int64_t n) : first_(first), is_staged_(true) {
    static_assert(std::is_trivially_copyable<Value>::value,
                  "lookback::out_of_core: elements and results must be trivially copyable, since "
                  "their bytes are copied to the GPU and back");
    if constexpr (std::is_pointer<Iterator>::value)
      is_staged_ = !std::is_same<value_t<Iterator>, Value>::value ||
                   !is_pinned(first, static_cast<std::size_t>(n) * sizeof(Value));
  }
  bool is_staged() const { return is_staged_; }
  /// Bytes of staging buffers.
  std::size_t bytes(int slots, std::int64_t length) const {
    return is_staged_ ? static_cast<std::size_t>(slots * length) * sizeof(Value) : 0;
  }
  host_side<Value, Iterator> over(const pinned_memory &buffers, std::int64_t length) const {
    return {first_, static_cast<Value *>(buffers.address()), length};
  }

private:
  Iterator first_;
  bool is_staged_;
};

/// The GPUs of a call.
inline std::vector<int> gpus_of(const out_of_core::options &options) {
  int count = 0, current = 0;
  thrust::cuda_cub::throw_on_error(cudaGetDeviceCount(&count), "lookback: counting the GPUs");
  thrust::cuda_cub::throw_on_error(cudaGetDevice(&current), "lookback: querying the device");
  for (const int gpu : options.devices)
    if (gpu < 0 || gpu >= count)
      throw std::invalid_argument("lookback::out_of_core: options.devices has " +
                                  std::to_string(gpu) + ", but the GPUs here are 0 to " +
                                  std::to_string(count - 1));
  return options.devices.empty() ? std::vector<int>{current} : options.devices;
}

/// The part of one GPU in a call, which is current when it is made: memory and queues.
template <class Device, class Storage>
struct part_of_gpu {
  template <class Policy, class Make>
  part_of_gpu(Policy &policy, cudaEvent_t before, std::size_t bytes, const Make &make, int slots,
              std::int64_t length, const typename Device::accumulator *initial)
      : storage(policy, begin_after(before), nullptr, bytes),
        device(make, slots, length, storage.address(), stream, initial) {}

  own_stream stream;
  Storage storage;
  Device device;

private:
  cudaStream_t begin_after(cudaEvent_t before) const {
    thrust::cuda_cub::throw_on_error(cudaStreamWaitEvent(stream, before, 0),
                                     "lookback::out_of_core: waiting for the policy's stream");
    return stream;
  }
};

struct chunk_plan {
  std::int64_t length; // of a chunk
  int gpus;            // that get a chunk
  int slots;           // of a GPU
  std::size_t bytes;   // of device memory, of a GPU
};

/// The chunks of n elements on at most `gpus` GPUs.
template <class Device, class Make>
chunk_plan plan_chunks(const Make &make, std::int64_t n, bool staged, std::size_t gpus,
                       const out_of_core::options &options) {
  using shape = typename Device::shape;
  constexpr std::int64_t group = group_elements<shape>;
  // H200, 4 GiB each way. Pinned memory: chunks of 8 to 128 MiB differ by less than two runs do.
  // Pageable memory: 11 GB/s with chunks of 4 MiB, 16 to 18 with 8 MiB, 15 with 16 MiB, 11 with 32.
  const std::size_t usual = std::size_t{staged ? 8u : 16u} << 20;
  std::int64_t length = chunk_length<shape>(n / static_cast<std::int64_t>(gpus),
                                            options.chunk_bytes > 0 ? options.chunk_bytes : usual,
                                            options.chunk_bytes > 0);
  length = std::min(length, (n + group - 1) / group * group);
  const auto chunks = [&] { return static_cast<std::size_t>(chunk_list{n, length}.count()); };
  gpus = std::min(gpus, chunks());
  const auto plan = [&] {
    const std::size_t turns = (chunks() - 1) / gpus + 1;
    const auto slots = static_cast<int>(std::min<std::size_t>(turns, chunks_in_flight));
    return chunk_plan{length, static_cast<int>(gpus), slots, Device::bytes(make, slots, length)};
  };
  chunk_plan chosen = plan();
  while (options.device_bytes > 0 && chosen.bytes > options.device_bytes) {
    if (length == group)
      throw std::invalid_argument("lookback::out_of_core: options.device_bytes is " +
                                  std::to_string(options.device_bytes) +
                                  ", and this call needs at least " + std::to_string(chosen.bytes) +
                                  " bytes of device memory");
    length -= group;
    chosen = plan();
  }
  return chosen;
}

/// Runs a call on GPUs: chooses the chunks, allocates the memory, and streams the chunks.
template <class T, class Make, class In, class Out, bool HasInitial, class Derived, class Source,
          class Results>
void stream_through_device(const thrust::cuda_cub::execution_policy<Derived> &exec,
                           cudaStream_t stream, const Make &make, std::int64_t n,
                           const pinned_side<In, Source> &source,
                           const pinned_side<Out, Results> &results, const T *initial,
                           const out_of_core::options &options) {
  using device_type = chunk_device<Make, In, Out, T, HasInitial>;
  using part = part_of_gpu<device_type, storage_of_policy<Derived>>;
  using thrust::cuda_cub::throw_on_error;
  refuse_capture(stream, "lookback::out_of_core: a call waits for its results, so it cannot be "
                         "captured");
  const bool staged = source.is_staged() || results.is_staged();
  const std::vector<int> gpus = gpus_of(options);
  const chunk_plan plan = plan_chunks<device_type>(make, n, staged, gpus.size(), options);
  const std::int64_t length = plan.length;
  const int all_slots = plan.gpus * plan.slots;
  const pinned_memory in_buffers(source.bytes(all_slots, length)),
      out_buffers(results.bytes(all_slots, length));
  const host_side<In, Source> from = source.over(in_buffers, length);
  const host_side<Out, Results> to = results.over(out_buffers, length);
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  copy_team team(!staged || !separate_results<Results>::value ? 1
                                                              : std::min<std::size_t>(cores, 16));
  const auto progress = [&](std::int64_t done, std::int64_t total) {
    if (options.progress) options.progress(done, total);
  };
  auto &policy = thrust::detail::derived_cast(thrust::detail::strip_const(exec));
  const own_event before;
  throw_on_error(cudaEventRecord(before, stream), "lookback::out_of_core: recording an event");
  std::vector<std::unique_ptr<part>> parts;
  std::vector<device_type *> devices;
  for (int i = 0; i < plan.gpus; ++i) {
    const device_here here(gpus[static_cast<std::size_t>(i)]);
    parts.push_back(
        std::make_unique<part>(policy, before, plan.bytes, make, plan.slots, length, initial));
    devices.push_back(&parts.back()->device);
  }
  device_ring<device_type> ring(std::move(devices));
  chunk_stream<device_ring<device_type>, host_side<In, Source>, host_side<Out, Results>,
               decltype(progress)>(ring, chunk_list{n, length}, all_slots, from, to, team, progress)
      .run();
}

inline namespace LOOKBACK_DEFAULT_STREAM {

/// The scan through GPUs.
template <class Call, class T, class Derived, class Input, class Output, class Initial,
          class... Arguments>
void scan_out_of_core(const thrust::cuda_cub::execution_policy<Derived> &exec, const Input &first,
                      std::int64_t n, const Output &result, const out_of_core::options &options,
                      const Initial &initial, const Arguments &...arguments) {
  static_assert(!has_algorithm<Derived>,
                "lookback::out_of_core: policies with a strategy are not supported");
  const auto source = plain_memory(unwrap(first));
  const auto results = plain_memory(unwrap(result));
  using source_type = std::decay_t<decltype(source)>;
  using results_type = std::decay_t<decltype(results)>;
  using In = value_t<source_type>;
  using Out = typename output_value<results_type, T>::type;
  static_assert(std::is_trivially_copyable<T>::value,
                "lookback::out_of_core: the accumulator must be trivially copyable");
  const auto make = [&](const In *in, Out *out, auto... prefix) {
    return Call::problem(out, in, arguments..., prefix...);
  };
  auto &policy = thrust::detail::derived_cast(thrust::detail::strip_const(exec));
  const cudaStream_t stream = stream_here(thrust::cuda_cub::stream(policy));
  const pinned_side<In, source_type> from(source, n);
  const pinned_side<Out, results_type> to(results, n);
  if constexpr (Initial::exists) {
    const T prefix = static_cast<T>(initial.value);
    stream_through_device<T, decltype(make), In, Out, true>(exec, stream, make, n, from, to,
                                                            &prefix, options);
  } else {
    stream_through_device<T, decltype(make), In, Out, false>(
        exec, stream, make, n, from, to, static_cast<const T *>(nullptr), options);
  }
}

} // namespace LOOKBACK_DEFAULT_STREAM

#endif

inline namespace LOOKBACK_DEFAULT_STREAM {

/// Runs a call: `initial` is no_initial or an initial_value. Returns the end of the results.
template <class Call, class T, class Policy, class Input, class Output, class Initial,
          class... Arguments>
Output out_of_core_call(const Policy &policy, const Input &first, const Input &last,
                        const Output &result, const out_of_core::options &options,
                        const Initial &initial, const Arguments &...arguments) {
  const std::int64_t n = last - first;
  if (n <= 0) return result;
  scan_out_of_core<Call, T>(policy, first, n, result, options, initial, arguments...);
  return result + n;
}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace detail

namespace out_of_core {
inline namespace LOOKBACK_DEFAULT_STREAM {

/// @addtogroup out_of_core_scans
/// Scans of host memory through a GPU, or several, in chunks: copies to the GPU, scans and copies
/// back overlap. The bits are those of one scan.
///
/// @code
/// lookback::out_of_core::inclusive_scan(lookback::par, first, last, result, op);
/// @endcode
///
/// Notation: `a . b` is `op(a, b)`; x(0) to x(n - 1) are the elements of [`first`, `last`); y(i)
/// are the results.
///
/// **Common to all calls**
///
/// - `policy`: a CUDA policy without a strategy, for the current GPU or `limits.devices`; or
///   lookback::host, which scans on the threads of the CPU and needs no GPU.
/// - *Memory*: pinned host memory (`cudaHostAlloc`, `cudaHostRegister`) and managed memory are
///   copied at the speed of the link. Elements and results in other memory, or of iterators that
///   are not pointers, pass through pinned buffers of the call, which up to 16 host threads fill
///   and empty. That is slower than lookback::host on as many threads: pin memory that is scanned
///   more than once, or scan it on the CPU.
/// - *Iterators*: random access, used by the host. `result` may equal `first`; any other overlap is
///   undefined. With a CUDA policy, elements, results and accumulators are trivially copyable and
///   have fewer than 512 bytes.
/// - *Operator*, *accumulator*: as for @ref thrust_scans.
/// - `limits`: see lookback::out_of_core::options.
/// - *Return value*: the end of the results. If `last - first` is zero or negative, `result`.
/// - *Stream behaviour*: the call begins after the work in the policy's stream, runs in streams of
///   its own, and returns when the results are written, even with lookback::par_nosync. It cannot
///   be captured.
/// - *Several GPUs*: they take chunks in turn, so that the links of all of them copy at once. A
///   chunk's prefix passes from GPU to GPU when the chunk has been reduced; no peer access is
///   needed. The results are the same.
/// - *Device memory*: from lookback's pool, or from the policy's allocator, which is called while
///   the GPU is the current one. Each GPU has four chunks of at most 16 MiB (twice that, if
///   elements and results differ in type), or `limits.device_bytes`.
/// - *Errors*: `std::invalid_argument`, before anything is written, if elements or results are in
///   the memory of a device, if `limits.devices` names a GPU that does not exist, or if
///   `limits.device_bytes` is too small; the message then has the limit and the least possible
///   value. `thrust::system_error` with the CUDA status. Exceptions of iterators and of
///   `limits.progress` are rethrown. In all cases the call has freed its memory and left nothing
///   running on the GPUs; the results may be written in part.
/// - *Determinism*: the bits of one lookback::inclusive_scan() or lookback::exclusive_scan() of all
///   elements, whatever the options (lookback::tree_shape).
/// - *Complexity*: n elements to the GPU and n results back, at the same time; on the GPU, 3 n
///   elements of traffic.
///
/// @{

/// y(i) = x(0) + x(1) + ... + x(i)
template <class Policy, class Input, class Output, detail::if_policy<Policy> = 0>
Output inclusive_scan(const Policy &policy, Input first, Input last, Output result,
                      const options &limits = {}) {
  using T = detail::value_t<Input>;
  return detail::out_of_core_call<detail::plain_scan<true, T>, T>(
      policy, first, last, result, limits, detail::no_initial{}, plus{});
}
/// y(i) = x(0) . x(1) ... x(i)
template <class Policy, class Input, class Output, class Operator, detail::if_policy<Policy> = 0>
Output inclusive_scan(const Policy &policy, Input first, Input last, Output result, Operator op,
                      const options &limits = {}) {
  using T = detail::value_t<Input>;
  return detail::out_of_core_call<detail::plain_scan<true, T>, T>(policy, first, last, result,
                                                                  limits, detail::no_initial{}, op);
}
/// y(i) = init . x(0) . x(1) ... x(i)
template <class Policy, class Input, class Output, class Init, class Operator,
          detail::if_policy<Policy> = 0>
Output inclusive_scan(const Policy &policy, Input first, Input last, Output result, Init init,
                      Operator op, const options &limits = {}) {
  using T = detail::accumulator_t<Operator, detail::value_t<Input>, Init>;
  return detail::out_of_core_call<detail::plain_scan<true, T>, T>(
      policy, first, last, result, limits, detail::initial_value<Init>{init}, op);
}
/// y(i) = init + x(0) + x(1) + ... + x(i - 1)
template <class Policy, class Input, class Output, class Init, detail::if_policy<Policy> = 0>
Output exclusive_scan(const Policy &policy, Input first, Input last, Output result, Init init,
                      const options &limits = {}) {
  return detail::out_of_core_call<detail::plain_scan<false, Init>, Init>(
      policy, first, last, result, limits, detail::initial_value<Init>{init}, plus{});
}
/// y(i) = init . x(0) . x(1) ... x(i - 1)
template <class Policy, class Input, class Output, class Init, class Operator,
          detail::if_policy<Policy> = 0>
Output exclusive_scan(const Policy &policy, Input first, Input last, Output result, Init init,
                      Operator op, const options &limits = {}) {
  return detail::out_of_core_call<detail::plain_scan<false, Init>, Init>(
      policy, first, last, result, limits, detail::initial_value<Init>{init}, op);
}
/// y(i) = init . f(x(0)) . f(x(1)) ... f(x(i - 1)); the x(i) are copied to the GPU, and f is called
/// there
template <class Policy, class Input, class Output, class Transform, class Init, class Operator,
          detail::if_policy<Policy> = 0>
Output transform_exclusive_scan(const Policy &policy, Input first, Input last, Output result,
                                Transform f, Init init, Operator op, const options &limits = {}) {
  return detail::out_of_core_call<detail::transform_scan<false, Init, Init>, Init>(
      policy, first, last, result, limits, detail::initial_value<Init>{init}, f, op);
}

/// @}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace out_of_core
} // namespace LOOKBACK_ABI
} // namespace lookback
