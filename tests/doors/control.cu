// SPDX-License-Identifier: MIT
// What no_cub_kernels.cmake must find: scans and selections that do land in CUB.
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/unique.h>

namespace {

struct is_odd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};

} // namespace

int *scan_by_thrust(int *first, int *last, int *result) {
  thrust::inclusive_scan_by_key(thrust::cuda::par, first, last, first, result);
  return thrust::inclusive_scan(thrust::cuda::par, first, last, result);
}

int *select_by_thrust(int *first, int *last, int *result) {
  thrust::copy_if(thrust::cuda::par, first, last, result, is_odd{});
  thrust::partition(thrust::cuda::par, first, last, is_odd{});
  thrust::unique_by_key(thrust::cuda::par, first, last, result);
  thrust::reduce_by_key(thrust::cuda::par, first, last, first, result, result);
  return thrust::unique_copy(thrust::cuda::par, first, last, result);
}
