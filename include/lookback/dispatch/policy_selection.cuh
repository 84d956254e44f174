// SPDX-License-Identifier: MIT
// Selections on a Thrust CUDA policy. A call returns the end of its results, so it waits for their
// number, with lookback::par_nosync, too.
#pragma once

#include <lookback/core/candidates.cuh>
#include <lookback/core/runs.cuh>
#include <lookback/core/serial_selection.cuh>
#include <lookback/dispatch/scan_call.cuh>

#include <thrust/pair.h>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// `output[i] = items[i]`, for i < n.
template <class T, class Output>
LOOKBACK_KERNEL(256, 1)
copy_items_kernel(const T *items, LOOKBACK_KERNEL_PARAMETER Output output, std::uint64_t n) {
  const std::uint64_t step = std::uint64_t{simt::block_count()} * simt::block_threads();
  for (std::uint64_t i = std::uint64_t{simt::block_index()} * simt::block_threads() +
                         static_cast<unsigned>(simt::thread_index());
       i < n; i += step)
    output[static_cast<std::ptrdiff_t>(i)] = items[i];
}

/// An output that drops what is written.
struct no_output {
  using value_type = void;
  using difference_type = std::ptrdiff_t;
  struct element {
    template <class T>
    LOOKBACK_HOST_DEVICE void operator=(const T &) const {}
  };
  LOOKBACK_HOST_DEVICE element operator[](difference_type) const { return {}; }
};

/// The rule with its stencil as kernels read it.
template <class Predicate, bool Wanted>
auto for_kernels(const by_predicate<Predicate, Wanted> &which) {
  return which;
}
template <class Stencil, class Predicate, bool Wanted>
auto for_kernels(const by_stencil<Stencil, Predicate, Wanted> &which) {
  const auto stencil = plain_memory(unwrap(which.stencil));
  return by_stencil<std::decay_t<decltype(stencil)>, Predicate, Wanted>{which.predicate, stencil};
}

inline namespace LOOKBACK_DEFAULT_STREAM {

/// Runs the selection `make(count, items)` from n items, where kernels write the number of results
/// to `*count`, and `items` is memory for n elements of type T (void: none). Then calls
/// `finish(number, items, stream)`, and returns the number. Throws thrust::system_error with CUDA's
/// status. Temporary storage goes back to where the policy has it from, as after a scan.
template <class T, class Derived, class Make, class Finish>
std::int64_t selection_on(const thrust::cuda_cub::execution_policy<Derived> &exec, std::int64_t n,
                          Make make, Finish finish) {
  using thrust::cuda_cub::throw_on_error;
  if (n == 0) return 0;
  using scratch = std::conditional_t<std::is_void<T>::value, char, T>;
  auto &policy = thrust::detail::derived_cast(thrust::detail::strip_const(exec));
  const cudaStream_t stream = stream_here(thrust::cuda_cub::stream(policy));
  refuse_capture(stream,
                 "lookback: this call returns the end of its results, for which it must wait, but "
                 "the stream is being captured. lookback::DeviceSelect, DevicePartition and "
                 "DeviceReduce write the number of results to device memory instead");

  std::uint64_t *count = nullptr;
  scratch *items = nullptr;
  std::size_t bytes = 0;
  const cudaError_t sized =
      strategies<>::scan(nullptr, bytes, make(count, items), n, launcher(stream));
  throw_on_error(sized, sized == cudaErrorInvalidValue
                            ? "lookback: too many elements: a selection has at most 2^31 - 1 "
                              "tiles, by default of 16 KB"
                            : "lookback: computing the size of the temporary storage");
  const auto lay_out = [&](temporary_memory memory) {
    count = memory.take<std::uint64_t>(1);
    items = memory.take<scratch>(std::is_void<T>::value ? 0 : static_cast<std::uint64_t>(n));
    void *const rest = memory.take<char>(bytes);
    return std::make_pair(rest, memory.bytes());
  };
  // What finish() enqueues may still use the items when a call returns that does not wait.
  const bool waits =
      std::is_void<T>::value || thrust::cuda_cub::must_perform_optional_synchronization(policy);
  storage_of_policy<Derived> storage(
      policy, stream, nullptr, temporary_memory::bytes_for(lay_out(temporary_memory()).second),
      waits);
  void *const address = lay_out(temporary_memory(storage.address())).first;
  throw_on_error(strategies<>::scan(address, bytes, make(count, items), n, launcher(stream)),
                 "lookback: launching the selection");
  std::uint64_t number = 0;
  throw_on_error(cudaMemcpyAsync(&number, count, sizeof(number), cudaMemcpyDeviceToHost, stream),
                 "lookback: reading the number of results");
  throw_on_error(cudaStreamSynchronize(stream),
                 "lookback: waiting for the stream of the selection");
  finish(static_cast<std::int64_t>(number), items, stream);
  if (!waits) return static_cast<std::int64_t>(number);
  if (!std::is_void<T>::value)
    throw_on_error(cudaStreamSynchronize(stream),
                   "lookback: waiting for the stream of the selection");
  storage.end();
  return static_cast<std::int64_t>(number);
}

/// The policy's strategy is one for scans.
template <class T, class Policy, class Algorithm, class Make, class Finish>
std::int64_t selection_on(const algorithm_policy<Policy, Algorithm> &exec, std::int64_t n,
                          Make make, Finish finish) {
  return selection_on<T>(exec.policy(), n, make, finish);
}
/// A selection that needs no memory for items.
template <class Policy, class Make>
std::int64_t selection_on(const Policy &policy, std::int64_t n, Make make) {
  return selection_on<void>(
      policy, n, [&](std::uint64_t *count, char *) { return make(count); },
      [](std::int64_t, char *, cudaStream_t) {});
}

/// The selections of Thrust on the policy's stream.
template <class Policy>
struct policy_selections {
  const Policy &policy;

  template <bool Wanted, class Input, class Output, class... Rule>
  Output operator()(kept_copy<Wanted>, std::ptrdiff_t n, const Input &first, const Output &result,
                    const Rule &...rule) const {
    using item = value_t<Input>;
    return result + selection_on(policy, n, [&](std::uint64_t *count) {
             return make_selection(plain_memory(unwrap(first)),
                                   for_kernels(rule_t<Wanted, Rule...>{rule...}),
                                   output_of<item>(unwrap(result)), dropped{}, count);
           });
  }

  template <class Input, class Kept, class Rejected, class... Rule>
  thrust::pair<Kept, Rejected> operator()(parted_copy, std::ptrdiff_t n, const Input &first,
                                          const Kept &result, const Rejected &rejected,
                                          const Rule &...rule) const {
    using item = value_t<Input>;
    const auto others = output_of<item>(unwrap(rejected));
    const std::int64_t kept = selection_on(policy, n, [&](std::uint64_t *count) {
      return make_selection(plain_memory(unwrap(first)),
                            for_kernels(rule_t<true, Rule...>{rule...}),
                            output_of<item>(unwrap(result)),
                            rejected_to<std::decay_t<decltype(others)>>{others}, count);
    });
    return {result + kept, rejected + (n - kept)};
  }

  /// In place: the rejected items wait in temporary memory, until the kept ones have their places.
  template <class Iterator, class... Rule>
  Iterator operator()(parting, std::ptrdiff_t n, const Iterator &first, const Rule &...rule) const {
    using T = value_t<Iterator>;
    const auto items = plain_memory(unwrap(first));
    const auto finish = [&](std::int64_t kept, T *rejected, cudaStream_t stream) {
      copy_back(rejected, static_cast<std::uint64_t>(n - kept), items + kept, stream);
    };
    return first + selection_on<T>(
                       policy, n,
                       [&](std::uint64_t *count, T *rejected) {
                         return make_selection(items, for_kernels(rule_t<true, Rule...>{rule...}),
                                               output_of<T>(items), rejected_to<T *>{rejected},
                                               count);
                       },
                       finish);
  }

  template <class Keys, class Output, class Equal>
  Output operator()(heads_copy, std::ptrdiff_t n, const Keys &keys, const Output &result,
                    const Equal &equal) const {
    return result + selection_on(policy, n, [&](std::uint64_t *count) {
             const auto items = plain_memory(unwrap(keys));
             return make_selection(items, heads_of_runs<true>(items, equal),
                                   output_of<value_t<Keys>>(unwrap(result)), dropped{}, count);
           });
  }
  template <class Keys, class Equal>
  std::ptrdiff_t operator()(heads_count, std::ptrdiff_t n, const Keys &keys,
                            const Equal &equal) const {
    return selection_on(policy, n, [&](std::uint64_t *count) {
      const auto items = plain_memory(unwrap(keys));
      return make_selection(items, heads_of_runs<true>(items, equal), no_output{}, dropped{},
                            count);
    });
  }
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal>
  thrust::pair<KeysOut, ValuesOut>
  operator()(head_pairs_copy, std::ptrdiff_t n, const Keys &keys, const Values &values,
             const KeysOut &keys_result, const ValuesOut &values_result, const Equal &equal) const {
    const std::int64_t kept = selection_on(policy, n, [&](std::uint64_t *count) {
      return make_unique_by_key(unwrap(keys), unwrap(values), unwrap(keys_result),
                                unwrap(values_result), equal, count);
    });
    return {keys_result + kept, values_result + kept};
  }

  template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal, class Operator>
  thrust::pair<KeysOut, ValuesOut> operator()(runs_reduction, std::ptrdiff_t n, const Keys &keys,
                                              const Values &values, const KeysOut &keys_result,
                                              const ValuesOut &values_result, const Equal &equal,
                                              const Operator &op) const {
    const std::int64_t runs = selection_on(policy, n, [&](std::uint64_t *count) {
      return make_reduction_by_key<value_t<Values>>(unwrap(keys), unwrap(values),
                                                    unwrap(keys_result), unwrap(values_result),
                                                    equal, op, count);
    });
    return {keys_result + runs, values_result + runs};
  }

private:
  template <class T, class Output>
  static void copy_back(const T *items, std::uint64_t n, const Output &output,
                        cudaStream_t stream) {
    cudaError_t status = cudaSuccess;
    if (n == 0) return;
    if constexpr (std::is_same<Output, T *>::value) {
      status = cudaMemcpyAsync(output, items, n * sizeof(T), cudaMemcpyDeviceToDevice, stream);
    } else {
      launcher launch(stream);
      constexpr std::uint64_t threads = 256, blocks_at_most = 4096;
      const std::uint64_t blocks = std::min((n - 1) / threads + 1, blocks_at_most);
      launch(copy_items_kernel<T, Output>, block_shape{threads, 0}, launch_grid{blocks}, items,
             output, n);
      status = launch.status();
    }
    thrust::cuda_cub::throw_on_error(status, "lookback: moving the rejected elements back");
  }
};

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
