// SPDX-License-Identifier: MIT
// The launcher of all strategies, and its queries of the device: asked once for each kernel and
// device, not for each call.
#pragma once

#include <lookback/carry/cluster_carry.cuh>
#include <lookback/core/standard.cuh>
#include <lookback/dispatch/device.cuh>
#include <lookback/dispatch/first_of.cuh>
#include <lookback/dispatch/launch_tag.cuh>

#include <cuda_runtime_api.h>

#include <limits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

// Every translation unit has its own kernels, built for its own architectures, so the answers about
// a kernel below have internal linkage.
template <int First, int... Rest>
struct architecture_list { // sorted
  static constexpr int first = First;
};
#if defined(__CUDA_ARCH_LIST__)
using built_architectures = architecture_list<__CUDA_ARCH_LIST__>;
#else
using built_architectures = architecture_list<0>;
#endif
namespace {
struct this_translation_unit;
}

/// Whether the code for every architecture in this binary waits for the previous kernel, so that
/// the scan's launch may overlap the initialisation of its state. If a device could run older code,
/// which does not wait, launches must not overlap.
constexpr bool launches_may_overlap = built_architectures::first >= 900;

/// Whether a launch whose blocks must be resident together failed for lack of room: the caller may
/// use fewer multiprocessors than the device has.
inline bool is_too_large(cudaError_t status) {
  return status == cudaErrorCooperativeLaunchTooLarge || status == cudaErrorLaunchOutOfResources ||
         status == cudaErrorInvalidClusterSize || status == cudaErrorInvalidConfiguration;
}

/// A question about a kernel and its block on the current device.
using question = cudaError_t(const void *kernel, const block_shape &block,
                             const device_facts &device, unsigned &answer);

/// The architecture of the kernel's code that the device runs, 900 for sm_90.
inline cudaError_t ask_for_code(const void *kernel, const block_shape &, const device_facts &,
                                unsigned &architecture) {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel);
  if (status == cudaSuccess) architecture = static_cast<unsigned>(attributes.ptxVersion) * 10;
  return status;
}

/// Blocks of the kernel's largest cluster.
inline cudaError_t ask_for_cluster(const void *kernel, const block_shape &block,
                                   const device_facts &device, unsigned &blocks) {
  unsigned code = 0;
  if (!device.pipelines) return cudaSuccess;
  cudaError_t status = ask_for_code(kernel, block, device, code);
  if (code < 900) return status;
  status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (status != cudaSuccess) return status;
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(cluster_tiles_at_most);
  launch.blockDim = dim3(static_cast<unsigned>(block.threads));
  launch.dynamicSmemBytes = block.shared_bytes;
  int size = 1;
  status = cudaOccupancyMaxPotentialClusterSize(&size, kernel, &launch);
  if (status == cudaSuccess)
    blocks = std::min(static_cast<unsigned>(std::max(size, 1)), cluster_tiles_at_most);
  return status;
}

/// Blocks that the device holds at once.
inline cudaError_t ask_for_resident(const void *kernel, const block_shape &block,
                                    const device_facts &device, unsigned &blocks) {
  if (!device.cooperates) return cudaSuccess;
  int of_one = 0; // blocks of one multiprocessor
  const cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &of_one, kernel, block.threads, block.shared_bytes);
  blocks = static_cast<unsigned>(of_one * device.multiprocessors);
  return status;
}

/// 1 if the device runs code of the kernel for sm_80 or newer and has enough shared memory,
/// otherwise 0. If 1, raises the kernel's limit of shared memory.
inline cudaError_t ask_for_pipeline(const void *kernel, const block_shape &block,
                                    const device_facts &device, unsigned &can) {
  const int bytes = static_cast<int>(block.shared_bytes);
  unsigned code = 0;
  if (!device.pipelines || device.shared_bytes < bytes) return cudaSuccess;
  const cudaError_t status = ask_for_code(kernel, block, device, code);
  if (code < 800) return status;
  can = 1;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

/// The answers to a question about a kernel, one for each device.
struct answers {
  std::atomic<unsigned> known[device_facts::remembered]; // the answer + 1
};
/// The answers about the kernel with this Block, in this translation unit.
template <class Block, class = this_translation_unit>
answers &answers_of() {
  static answers all;
  return all;
}
/// Asks once for each device. Concurrent first calls may ask twice, and get the same answer. A
/// question that failed is answered by `worst`, and asked again at the next call.
LOOKBACK_HOST_NOINLINE inline unsigned ask_once(answers &all, question *ask, unsigned worst,
                                                const void *kernel, const block_shape &block,
                                                const device_facts &device) {
  const bool remembers = device.ordinal < device_facts::remembered;
  const unsigned found = remembers ? all.known[device.ordinal].load(std::memory_order_relaxed) : 0;
  if (found != 0) return found - 1;
  unsigned answer = worst;
  if (ask(kernel, block, device, answer) != cudaSuccess) {
    cudaGetLastError(); // the caller must not see this error
    return worst;
  }
  if (remembers) all.known[device.ordinal].store(answer + 1, std::memory_order_relaxed);
  return answer;
}

/// A stream of the current device, as strategies see it (strategy/strategy.cuh). Kernels are
/// launched one after the other until a launch fails.
///
/// Each translation unit has a launcher of its own, and with it its own instances of every strategy
/// and of the dispatch: units differ in their kernels, in the architectures of these, and in the
/// default stream that the CUDA runtime's launch function uses. The linker must not keep one for
/// all.
template <class = this_translation_unit>
class unit_launcher {
public:
  using status_type = cudaError_t;
  unit_launcher(cudaStream_t stream) : stream_(stream) {}

  cudaError_t status() const { return status_; }
  bool refused() const { return refused_; }
  cudaError_t refuse(refusal why) {
    if (status_ == cudaSuccess)
      status_ = why == refusal::invalid_value ? cudaErrorInvalidValue : cudaErrorNotSupported;
    return status_;
  }
  /// Clears the error of a refused launch, before the next strategy is tried.
  LOOKBACK_HOST_NOINLINE void forgive() {
    if (left_error_) cudaGetLastError();
    status_ = cudaSuccess;
    left_error_ = refused_ = false;
  }
  const launch_record &latest() const { return latest_; }

  /// The arguments have the types of the kernel's parameters; only a pointer may differ, by const.
  template <class... Parameters, class... Arguments>
  void operator()(void (*kernel)(Parameters...), const block_shape &block, const launch_grid &grid,
                  const Arguments &...arguments) {
    static_assert(((std::is_same<Parameters, Arguments>::value ||
                    (std::is_pointer<Parameters>::value &&
                     std::is_convertible<Arguments, Parameters>::value)) &&
                   ...),
                  "an argument has another type than the kernel's parameter");
    const void *const addresses[] = {static_cast<const void *>(&arguments)..., nullptr};
    launch(reinterpret_cast<const void *>(kernel), block, grid,
           const_cast<void **>(static_cast<const void *const *>(addresses)));
  }

  template <class Block, class Kernel>
  block_shape shape(Kernel kernel) {
    return shape_by<Block>(reinterpret_cast<const void *>(kernel), built_architectures{});
  }
  /// A member, since this class is each unit's own: units may differ in their default stream.
  bool is_captured() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream_, &status) != cudaSuccess) cudaGetLastError();
    return status != cudaStreamCaptureStatusNone;
  }
  std::uint64_t tag() const { return launch_tag(); }
  unsigned multiprocessors() { return static_cast<unsigned>(device().multiprocessors); }
  template <class Block, class Kernel>
  unsigned cluster_blocks(Kernel kernel) {
    return ask<Block>(ask_for_cluster, 1, reinterpret_cast<const void *>(kernel));
  }
  template <class Block, class Kernel>
  unsigned resident_blocks(Kernel kernel) {
    return ask<Block>(ask_for_resident, 0, reinterpret_cast<const void *>(kernel));
  }
  template <class Block, class Kernel>
  bool can_run(Kernel kernel) {
    return ask<Block>(ask_for_pipeline, 0, reinterpret_cast<const void *>(kernel)) != 0;
  }

private:
  LOOKBACK_HOST_NOINLINE const device_facts &device() {
    if (!asked_ && status_ == cudaSuccess) status_ = current_device(device_);
    asked_ = true;
    return device_;
  }

  /// Each Block is used for one question only: answers_of<Block>() holds its answers.
  template <class Block>
  unsigned ask(question *what, unsigned worst, const void *kernel) {
    const device_facts &facts = device();
    if (status_ != cudaSuccess && !refused_) return worst;
    const block_shape block = shape_by<Block>(kernel, built_architectures{});
    return ask_once(answers_of<Block>(), what, worst, kernel, block, facts);
  }

  template <class Block>
  struct code_of {};
  /// Asks the device which architecture's code it runs, but only if the rows for this binary's
  /// architectures differ.
  template <class Block, int First, int... Rest>
  block_shape shape_by([[maybe_unused]] const void *kernel, architecture_list<First, Rest...>) {
    block_shape chosen = shape_for<Block, First>;
    if constexpr (!((shape_for<Block, First> == shape_for<Block, Rest>)&&...)) {
      const unsigned code =
          ask_once(answers_of<code_of<Block>>(), ask_for_code, First, kernel, chosen, device());
      ((code == Rest ? void(chosen = shape_for<Block, Rest>) : void()), ...);
    }
    return chosen;
  }
  template <class Block, int Architecture>
  static constexpr block_shape
      shape_for = Block::template of<typename Block::rows::template at<Architecture>>::shape();

  LOOKBACK_HOST_NOINLINE void launch(const void *kernel, const block_shape &block,
                                     const launch_grid &grid, void **arguments) {
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config;
    if (!begin(kernel, block, grid, config, attribute)) return;
    status_ = cudaLaunchKernelExC(&config, kernel, arguments);
    left_error_ = status_ != cudaSuccess;
    refused_ = is_too_large(status_);
  }
  /// Whether the kernel can be launched. `launch` receives the configuration, which points to
  /// `attribute`.
  bool begin(const void *kernel, const block_shape &block, const launch_grid &grid,
             cudaLaunchConfig_t &launch, cudaLaunchAttribute &attribute) {
    if (status_ != cudaSuccess) return false;
    if (grid.blocks > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
      status_ = cudaErrorInvalidValue;
    else if (grid.together != residency::none && captures_for_a_part(stream_))
      status_ = cudaErrorCooperativeLaunchTooLarge;
    else if (block.shared_bytes > default_shared_bytes && !block.asked_for)
      status_ = ask_for_shared(kernel, block.shared_bytes);
    latest_ = {block, grid};
    if (logs_calls() && ask_for_code(kernel, block, device_, latest_.architecture) != cudaSuccess)
      cudaGetLastError();
    launch = {};
    attribute = {};
    launch.stream = stream_;
    launch.gridDim = dim3(static_cast<unsigned>(grid.blocks));
    launch.blockDim = dim3(static_cast<unsigned>(block.threads));
    launch.dynamicSmemBytes = block.shared_bytes;
    launch.attrs = &attribute;
    launch.numAttrs = 1;
    if (grid.together == residency::cluster) {
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = static_cast<unsigned>(grid.blocks);
      attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    } else if (grid.together == residency::grid) {
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = 1;
    } else if (grid.may_overlap && launches_may_overlap) {
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
    } else {
      launch.numAttrs = 0;
    }
    refused_ = is_too_large(status_);
    return status_ == cudaSuccess;
  }
  cudaError_t ask_for_shared(const void *kernel, std::size_t bytes) {
    if (device().shared_bytes < static_cast<int>(bytes))
      return status_ != cudaSuccess ? status_ : cudaErrorInvalidConfiguration;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(bytes));
  }

  cudaStream_t stream_;
  cudaError_t status_ = cudaSuccess;
  bool refused_ = false;
  bool left_error_ = false; // whether the latest launch set CUDA's last error
  bool asked_ = false;      // whether device_ has been queried
  device_facts device_;
  launch_record latest_;
};
using launcher = unit_launcher<>;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
