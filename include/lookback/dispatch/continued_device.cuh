// SPDX-License-Identifier: MIT
// A continued scan with a CUDA policy: its memory between chunks, and the order of its calls.
#pragma once

#include <lookback/core/chunks.cuh>
#include <lookback/dispatch/continued_chunk.cuh>
#include <lookback/dispatch/own_handles.cuh>
#include <lookback/dispatch/scan_call.cuh>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// What a continued scan keeps on the GPU that is current at the first chunk. A chunk's work begins
/// after that of the chunk before, on whatever streams they are.
template <class T, class Operator>
class continued_on_gpu : public continued_elsewhere {
public:
  /// Enqueues the beginning of a scan from *initial, or without an initial value.
  continued_on_gpu(cudaStream_t stream, const T *initial) {
    check(cudaGetDevice(&device_));
    cudaMemPool_t pool{};
    check(memory_pool(pool));
    check(cudaMallocFromPoolAsync(&memory_, group_.bytes(), pool, stream));
    launcher launch(stream);
    group_.begin(memory_, initial, launch);
    cudaError_t status = launch.status();
    if (status == cudaSuccess) status = cudaEventRecord(reached_, stream);
    if (status != cudaSuccess) cudaFreeAsync(memory_, stream);
    check(status);
  }
  continued_on_gpu(const continued_on_gpu &) = delete;
  continued_on_gpu &operator=(const continued_on_gpu &) = delete;
  /// Waits for the last chunk. Its stream may have been destroyed, so the memory is not freed in
  /// stream order.
  ~continued_on_gpu() override {
    const capture_is_unharmed relaxed;
    cudaEventSynchronize(reached_);
    cudaFree(memory_);
  }
  std::int64_t position() const override { return group_.position; }

  /// Scans the next n > 0 elements; make(at) describes those from `at` on.
  template <class Derived, class Make>
  void scan(const thrust::cuda_cub::execution_policy<Derived> &exec, cudaStream_t stream,
            std::int64_t n, const Make &make) {
    int device = 0;
    check(cudaGetDevice(&device));
    if (device != device_)
      throw std::logic_error("lookback: a continued scan must stay on the GPU where it began");
    check(cudaStreamWaitEvent(stream, reached_, 0));
    using rows = measured_tuning;
    continued_chunk<Make, Operator, fastest_strategies<rows>, head_strategies<rows>, rows> chunk(
        make, group_, n);
    run_in_two_phases(
        exec,
        [&](void *storage, std::size_t &bytes, launcher launch) {
          if (storage == nullptr) {
            bytes = chunk.bytes(launch);
            return launch.status();
          }
          chunk.bind(storage);
          const cudaError_t status = chunk.scan(launch);
          // Also after a failure: the destructor waits for what has been enqueued.
          const cudaError_t recorded = cudaEventRecord(reached_, stream);
          return status != cudaSuccess ? status : recorded;
        },
        "lookback: a chunk has too many elements: a scan has at most 2^31 - 1 tiles of 16 KB",
        [](cudaError_t) {
          return std::string("lookback: launching a kernel of a continued scan");
        });
  }

private:
  static void check(cudaError_t status) {
    thrust::cuda_cub::throw_on_error(status, "lookback: a continued scan on a GPU");
  }

  open_group<T, Operator> group_;
  own_event reached_; // the end of the last chunk
  void *memory_ = nullptr;
  int device_ = 0;
};

inline namespace LOOKBACK_DEFAULT_STREAM {

/// Scans the next n > 0 elements on the policy's stream. `state` is null before the first chunk.
template <bool Inclusive, class T, class Operator, class Derived, class Input, class Output>
void continue_on_gpu(const thrust::cuda_cub::execution_policy<Derived> &exec,
                     std::unique_ptr<continued_elsewhere> &state, const Operator &op,
                     const T *initial, const Input &first, std::int64_t n, const Output &result) {
  static_assert(!has_algorithm<Derived>, "lookback: a continued scan follows the reduction tree, "
                                         "so its policy must not choose a strategy");
  auto &policy = thrust::detail::derived_cast(thrust::detail::strip_const(exec));
  const cudaStream_t stream = stream_here(thrust::cuda_cub::stream(policy));
  refuse_capture(stream, "lookback: a continued scan cannot be captured, since a replay would not "
                         "go on behind the chunk before");
  using scan = continued_on_gpu<T, Operator>;
  if (state == nullptr) state = std::make_unique<scan>(stream, initial);
  const auto from = unwrap(first);
  const auto to = unwrap(result);
  using future = FutureValue<T, const T *>;
  const auto make = [&](std::int64_t at) {
    return make_problem<Inclusive, T>(from + at, to + at, op,
                                      initial_value<future>{future(nullptr)});
  };
  static_cast<scan &>(*state).scan(exec, stream, n, make);
}

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
