// SPDX-License-Identifier: MIT
// Compiled with the CCCL of LOOKBACK_PERF_CCCL_DIR ahead of the toolkit's.
#include "calls.cuh"
#include "cub_new.cuh"
#include "segment_calls.cuh"
#include "selection_calls.cuh"

#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_scan.cuh>
#include <cub/device/device_select.cuh>

#include <cuda/execution>
#include <cuda/memory_resource>
#include <cuda/stream_ref>

static_assert(CUB_VERSION == PERF_CUB_NEW,
              "another CUB comes first on the include path than LOOKBACK_PERF_CCCL_DIR's");

namespace {

template <perf::door>
struct newer_cub;
template <>
struct newer_cub<perf::door::device_scan> {
  using type = cub::DeviceScan;
};
template <>
struct newer_cub<perf::door::device_select> {
  using type = cub::DeviceSelect;
};
template <>
struct newer_cub<perf::door::device_partition> {
  using type = cub::DevicePartition;
};
template <>
struct newer_cub<perf::door::device_reduce> {
  using type = cub::DeviceReduce;
};
template <>
struct newer_cub<perf::door::device_run_length_encode> {
  using type = cub::DeviceRunLengthEncode;
};
template <>
struct newer_cub<perf::door::device_segmented_scan> {
  using type = cub::DeviceSegmentedScan;
};
template <>
struct newer_cub<perf::door::offsets_from_counts> {
  using type = perf::offsets_by<cub::DeviceScan>;
};

/// A memory resource for CUB's calls with an environment, which ask it for temporary storage at
/// every call. It returns memory that is ready, so that no allocation is timed. Without memory it
/// returns a null pointer, which makes the call a query of the size.
struct ready_memory {
  void *temporary;
  std::size_t *size;

  void *allocate(cuda::stream_ref, std::size_t bytes, std::size_t) noexcept {
    return allocate_sync(bytes, 0);
  }
  void deallocate(cuda::stream_ref, void *, std::size_t, std::size_t) noexcept {}
  void *allocate_sync(std::size_t bytes, std::size_t) noexcept {
    *size = bytes;
    return temporary;
  }
  void deallocate_sync(void *, std::size_t, std::size_t) noexcept {}

  friend bool operator==(ready_memory a, ready_memory b) { return a.temporary == b.temporary; }
  friend bool operator!=(ready_memory a, ready_memory b) { return !(a == b); }
};

/// cub::DeviceScan's run-to-run mode in the two phases of its other calls.
struct run_to_run {
  static auto environment(void *temporary, std::size_t &size) {
    auto mode = cuda::execution::require(cuda::execution::determinism::run_to_run);
    auto memory =
        cuda::std::execution::prop{cuda::mr::get_memory_resource, ready_memory{temporary, &size}};
    return cuda::std::execution::env<decltype(mode), decltype(memory)>{mode, memory};
  }

  template <class T>
  static cudaError_t InclusiveSum(void *temporary, std::size_t &size, const T *in, T *out,
                                  long long n) {
    return cub::DeviceScan::InclusiveSum(in, out, n, environment(temporary, size));
  }

  template <class T>
  static cudaError_t ExclusiveSum(void *temporary, std::size_t &size, const T *in, T *out,
                                  long long n) {
    return cub::DeviceScan::ExclusiveSum(in, out, n, environment(temporary, size));
  }
};

} // namespace

template <class Call>
cudaError_t perf::cub_new<Call>::invoke(void *temporary, std::size_t &size, operands_of<Call> o) {
  return Call::template invoke<typename newer_cub<Call::through>::type>(temporary, size, o);
}

template <class Call>
cudaError_t perf::cub_run_to_run<Call>::invoke(void *temporary, std::size_t &size,
                                               operands_of<Call> o) {
  return Call::template invoke<run_to_run>(temporary, size, o);
}

namespace perf {

template struct cub_new<inclusive_sum<std::int8_t>>;
template struct cub_new<inclusive_sum<std::int16_t>>;
template struct cub_new<inclusive_sum<std::int32_t>>;
template struct cub_new<inclusive_sum<std::int64_t>>;
template struct cub_new<inclusive_sum<__int128_t>>;
template struct cub_new<inclusive_sum<float>>;
template struct cub_new<inclusive_sum<double>>;
template struct cub_new<inclusive_sum_misaligned>;
template struct cub_new<exclusive_sum<std::int8_t>>;
template struct cub_new<exclusive_sum<std::int16_t>>;
template struct cub_new<exclusive_sum<std::int32_t>>;
template struct cub_new<exclusive_sum<std::int64_t>>;
template struct cub_new<exclusive_sum<__int128_t>>;
template struct cub_new<exclusive_sum<float>>;
template struct cub_new<exclusive_sum<double>>;
template struct cub_new<inclusive_max>;
template struct cub_new<inclusive_affine>;
template struct cub_new<inclusive_sum_by_key_7>;
template struct cub_new<inclusive_sum_by_key_1000>;
template struct cub_new<inclusive_sum_device_count>;
template struct cub_new<offsets_from_counts>;
template struct cub_new<exclusive_sum_i8_to_i32>;
template struct cub_new<transform_inclusive_sum>;
template struct cub_new<inclusive_sum_counting_transform>;
template struct cub_new<inclusive_sum_zip_transform>;
template struct cub_new<inclusive_sum_reverse>;
template struct cub_new<inclusive_sum_permutation>;
template struct cub_new<inclusive_scan_12_bytes>;
template struct cub_new<inclusive_scan_24_bytes>;
template struct cub_new<inclusive_scan_32_bytes>;
template struct cub_new<inclusive_scan_64_bytes>;
template struct cub_new<wall_inclusive_sum>;
template struct cub_new<select_if_0<std::int8_t>>;
template struct cub_new<select_if_0<std::int16_t>>;
template struct cub_new<select_if_0<std::int32_t>>;
template struct cub_new<select_if_0<std::int64_t>>;
template struct cub_new<select_if_50<std::int8_t>>;
template struct cub_new<select_if_50<std::int16_t>>;
template struct cub_new<select_if_50<std::int32_t>>;
template struct cub_new<select_if_50<std::int64_t>>;
template struct cub_new<select_if_100<std::int8_t>>;
template struct cub_new<select_if_100<std::int16_t>>;
template struct cub_new<select_if_100<std::int32_t>>;
template struct cub_new<select_if_100<std::int64_t>>;
template struct cub_new<select_if_50_clustered<std::int8_t>>;
template struct cub_new<select_if_50_clustered<std::int16_t>>;
template struct cub_new<select_if_50_clustered<std::int32_t>>;
template struct cub_new<select_if_50_clustered<std::int64_t>>;
template struct cub_new<select_flagged_50<std::int8_t>>;
template struct cub_new<select_flagged_50<std::int16_t>>;
template struct cub_new<select_flagged_50<std::int32_t>>;
template struct cub_new<select_flagged_50<std::int64_t>>;
template struct cub_new<partition_if_50<std::int8_t>>;
template struct cub_new<partition_if_50<std::int16_t>>;
template struct cub_new<partition_if_50<std::int32_t>>;
template struct cub_new<partition_if_50<std::int64_t>>;
template struct cub_new<unique_7>;
template struct cub_new<unique_1000>;
template struct cub_new<reduce_by_key_7>;
template struct cub_new<reduce_by_key_1000>;
template struct cub_new<run_length_encode_7>;
template struct cub_new<run_length_encode_1000>;
template struct cub_new<segmented_sum<std::int32_t>>;
template struct cub_new<segmented_sum<float>>;
template struct cub_new<segmented_sum<double>>;
template struct cub_new<axis_sum<std::int32_t>>;
template struct cub_new<axis_sum<float>>;
template struct cub_new<axis_sum<__nv_bfloat16>>;

template struct cub_run_to_run<inclusive_sum<float>>;
template struct cub_run_to_run<inclusive_sum<double>>;
template struct cub_run_to_run<exclusive_sum<float>>;
template struct cub_run_to_run<exclusive_sum<double>>;

} // namespace perf
