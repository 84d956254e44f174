// SPDX-License-Identifier: MIT
// A scan on a Thrust CUDA policy: its stream, its memory, its synchronisation, its errors.
#pragma once

#include <lookback/dispatch/memory.cuh>
#include <lookback/dispatch/why_not.cuh>

#include <thrust/memory.h>
#include <thrust/system/cuda/detail/util.h>
#include <thrust/version.h>
// Thrust's plain policies. From 3.2 on they are beside their base class; the version decides and
// not __has_include, which also finds the older header of the toolkit behind a newer CCCL.
#if THRUST_VERSION < 300200
#include <thrust/system/cuda/detail/par.h>
#else
#include <thrust/system/cuda/detail/execution_policy.h>
#endif

#include <cstdint>
#include <string>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// Base of lookback's CUDA policies, for policies of a program's own.
///
/// It derives from Thrust's CUDA policy, so every algorithm that is neither a scan nor a selection
/// runs on Thrust's CUDA backend. For these, lookback's overloads are a better match than Thrust's.
/// @ingroup policies
template <class Derived>
struct execution_policy : thrust::cuda_cub::execution_policy<Derived> {};

namespace detail {

inline namespace LOOKBACK_DEFAULT_STREAM {

/// The stream that `stream` means in this translation unit: null is its default stream.
LOOKBACK_HOST_DEVICE inline cudaStream_t stream_here(cudaStream_t stream) {
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
  return stream == nullptr ? cudaStreamPerThread : stream;
#else
  return stream == nullptr ? cudaStreamLegacy : stream;
#endif
}

} // namespace LOOKBACK_DEFAULT_STREAM

/// What `policy.with(algorithm)` returns: scans by that algorithm, on the policy's stream and with
/// its memory; everything else as without it.
template <class Policy, class Algorithm>
class algorithm_policy : public lookback::execution_policy<algorithm_policy<Policy, Algorithm>> {
  static_assert(!std::is_same<Algorithm, reverse_t>::value,
                "lookback::reverse: pass reverse iterators to scans with a policy");

public:
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE algorithm_policy(const Policy &policy, const Algorithm &algorithm)
      : policy_(policy), algorithm_(algorithm) {}
  /// The same algorithm on another stream.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE auto on(cudaStream_t stream) const {
    return policy_.on(stream).with(algorithm_);
  }
  /// The same algorithm with temporary memory from `allocator`.
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Allocator>
  LOOKBACK_HOST_DEVICE auto operator()(Allocator &&allocator) const {
    return policy_(std::forward<Allocator>(allocator)).with(algorithm_);
  }
  const Policy &policy() const { return policy_; }
  const Algorithm &algorithm() const { return algorithm_; }

private:
  friend LOOKBACK_HOST_DEVICE cudaStream_t get_stream(const algorithm_policy &exec) {
    return thrust::cuda_cub::stream(const_cast<Policy &>(exec.policy_));
  }
  friend LOOKBACK_HOST_DEVICE bool
  must_perform_optional_stream_synchronization(const algorithm_policy &exec) {
    return thrust::cuda_cub::must_perform_optional_synchronization(
        const_cast<Policy &>(exec.policy_));
  }
  Policy policy_;
  Algorithm algorithm_;
};

template <class Policy>
inline constexpr bool has_algorithm = false;
template <class Policy, class Algorithm>
inline constexpr bool has_algorithm<algorithm_policy<Policy, Algorithm>> = true;

/// What Thrust's own algorithms call for memory: it comes from where the policy has it from without
/// an algorithm.
template <class T, class Policy, class Algorithm>
auto get_temporary_buffer(algorithm_policy<Policy, Algorithm> &exec, std::ptrdiff_t n) {
  return thrust::get_temporary_buffer<T>(exec.policy(), n);
}
template <class Pointer, class Policy, class Algorithm>
void return_temporary_buffer(algorithm_policy<Policy, Algorithm> &exec, Pointer address,
                             std::ptrdiff_t n) {
  thrust::return_temporary_buffer(exec.policy(), address, n);
}

/// A policy that says nothing of temporary memory: it takes from lookback's pool. Thrust's own
/// plain policies count, since what they would do is allocate and free on every call.
template <class Policy>
struct uses_pool : std::false_type {};
template <>
struct uses_pool<thrust::cuda_cub::par_t> : std::true_type {};
template <>
struct uses_pool<thrust::cuda_cub::par_nosync_t> : std::true_type {};
template <>
struct uses_pool<thrust::cuda_cub::execute_on_stream> : std::true_type {};
template <>
struct uses_pool<thrust::cuda_cub::execute_on_stream_nosync> : std::true_type {};

/// Storage from the allocator that the policy carries, or from whatever its owner has taught Thrust
/// to call for it.
template <class Policy>
class policy_storage {
  using buffer = decltype(thrust::get_temporary_buffer<std::uint8_t>(std::declval<Policy &>(),
                                                                     std::ptrdiff_t{}));

public:
  policy_storage(Policy &policy, cudaStream_t, cudaGraph_t, std::size_t bytes, bool = false)
      : policy_(policy) {
    if (bytes == 0) return;
    buffer_ =
        thrust::get_temporary_buffer<std::uint8_t>(policy, static_cast<std::ptrdiff_t>(bytes));
    // Null must not turn the scan into a silent size query.
    if (address() == nullptr)
      thrust::cuda_cub::throw_on_error(cudaErrorMemoryAllocation,
                                       "lookback: the policy's allocator returned a null pointer");
  }
  policy_storage(const policy_storage &) = delete;
  policy_storage &operator=(const policy_storage &) = delete;
  ~policy_storage() {
    if (address() != nullptr)
      thrust::return_temporary_buffer(policy_, buffer_.first, buffer_.second);
  }
  void *address() { return thrust::raw_pointer_cast(buffer_.first); }
  void end() {}

private:
  Policy &policy_;
  buffer buffer_{};
};

/// Storage from what lookback keeps, or of the graph that the stream is being captured into.
/// `waits`: the call waits for its work, and then calls end().
template <class Policy>
class pool_storage {
public:
  pool_storage(Policy &, cudaStream_t stream, cudaGraph_t graph, std::size_t bytes,
               bool waits = false)
      : memory_(stream) {
    if (bytes == 0) return;
    thrust::cuda_cub::throw_on_error(
        memory_.allocate(bytes, graph, waits),
        graph == nullptr ? "lookback: allocating temporary storage"
                         : "lookback: allocating temporary storage for the captured graph; "
                           "par(allocator).on(stream) uses your allocator instead");
  }
  void *address() { return memory_.address(); }
  void end() { memory_.end(); }

private:
  pooled_storage memory_;
};

/// Temporary storage where a policy has it from.
template <class Policy>
using storage_of_policy =
    std::conditional_t<uses_pool<Policy>::value, pool_storage<Policy>, policy_storage<Policy>>;

/// Throws if the stream is being captured; `message` says why the call cannot be.
inline void refuse_capture(cudaStream_t stream, const char *message) {
  using thrust::cuda_cub::throw_on_error;
  cudaGraph_t graph = nullptr;
  throw_on_error(graph_of(stream, graph),
                 "lookback: querying whether the stream is being captured");
  if (graph != nullptr) throw_on_error(cudaErrorStreamCaptureUnsupported, message);
}

/// Calls `scan(storage, bytes, launcher)` in the two phases of CUB, on the policy's stream and with
/// its temporary memory. Throws thrust::system_error with CUDA's status: `refused` says why a size
/// is refused, `why_not(status)` why a launch is. Whatever was allocated is freed or kept for the
/// next call either way, when the work has ended.
template <class Derived, class Scan, class WhyNot>
LOOKBACK_HOST_INLINE void run_in_two_phases(const thrust::cuda_cub::execution_policy<Derived> &exec,
                                            Scan scan, const char *refused, WhyNot why_not) {
  using thrust::cuda_cub::throw_on_error;
  auto &policy = thrust::detail::derived_cast(thrust::detail::strip_const(exec));
  const cudaStream_t stream = stream_here(thrust::cuda_cub::stream(policy));
  std::size_t bytes = 0;
  const cudaError_t sized = scan(nullptr, bytes, launcher(stream));
  throw_on_error(sized, sized == cudaErrorInvalidValue
                            ? refused
                            : "lookback: computing the size of the temporary storage");

  // One tile needs no storage: then nothing is allocated, and any address will do.
  char unused;
  const bool allocates = bytes > sizeof(unused);
  const bool synchronizes = thrust::cuda_cub::must_perform_optional_synchronization(policy);
  cudaGraph_t graph = nullptr;
  if (allocates || synchronizes)
    throw_on_error(graph_of(stream, graph),
                   "lookback: querying whether the stream is being captured");
  // In a capture there is nothing to wait for, and asking would end it.
  const bool waits = synchronizes && graph == nullptr;
  storage_of_policy<Derived> storage(policy, stream, graph, allocates ? bytes : 0, waits);
  void *const address = allocates ? storage.address() : &unused;
  const cudaError_t status = scan(address, bytes, launcher(stream));
  if (status != cudaSuccess) throw_on_error(status, why_not(status).c_str());
  if (!waits) return;
  throw_on_error(cudaStreamSynchronize(stream), "lookback: waiting for the stream of the scan");
  storage.end();
}

/// Runs the problem that `make()` describes over n elements by `algorithm`. Returns result + n. For
/// n <= 0 returns `result`, having called nothing, except that a sink that wants the total takes
/// that of no elements.
template <class Algorithm, class Derived, class Output, class Make>
LOOKBACK_HOST_INLINE Output run_by(const Algorithm &algorithm,
                                   const thrust::cuda_cub::execution_policy<Derived> &exec,
                                   std::int64_t n, Output result, Make make) {
  constexpr bool wants_total = decltype(make())::sink_type::wants_total;
  if (n < 0 || (n == 0 && !wants_total)) return result;
  const auto problem = make();
  run_in_two_phases(
      exec,
      [&](void *storage, std::size_t &bytes, const launcher &launch) {
        return strategies<Algorithm>::scan(storage, bytes, problem, n, launch);
      },
      "lookback: too many elements: a scan has at most 2^31 - 1 tiles, by default of 16 KB",
      [&](cudaError_t status) { return why_not(algorithm, status, problem, n); });
  return result + n;
}

template <class Derived, class Output, class Make>
Output run(const thrust::cuda_cub::execution_policy<Derived> &exec, std::int64_t n, Output result,
           Make make) {
  return run_by(fastest{}, exec, n, result, make);
}
template <class Policy, class Algorithm, class Output, class Make>
Output run(const algorithm_policy<Policy, Algorithm> &exec, std::int64_t n, Output result,
           Make make) {
  return run_by(exec.algorithm(), exec.policy(), n, result, make);
}

template <class Policy>
using is_cuda_policy = std::is_base_of<thrust::cuda_cub::execution_policy<Policy>, Policy>;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
