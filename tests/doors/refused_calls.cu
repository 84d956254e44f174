// SPDX-License-Identifier: MIT
// Calls that must not compile: each gives one error, by the message that refused_calls.cmake
// counts.
#include <lookback/device_scan.cuh>
#include <lookback/device_select.cuh>
#include <lookback/execution_policy.cuh>

#include <thrust/system/cuda/execution_policy.h>

#define DEVICE_SUM [] __device__(int a, int b) { return a + b; }
#define DEVICE_WIDEN [] __device__(int a) { return static_cast<long>(a); }

using lookback::DeviceScan;

void lambdas_at_the_cub_door(void *storage, std::size_t &bytes, const int *in, int *out, int n) {
  DeviceScan::InclusiveScan(storage, bytes, in, out, DEVICE_SUM, n);             // 1
  DeviceScan::ExclusiveScan(storage, bytes, in, out, DEVICE_SUM, 0, n);          // 2
  DeviceScan::InclusiveScanInit(storage, bytes, in, out, DEVICE_SUM, 0, n);      // 3
  DeviceScan::InclusiveScanByKey(storage, bytes, in, in, out, DEVICE_SUM, n);    // 4
  DeviceScan::ExclusiveScanByKey(storage, bytes, in, in, out, DEVICE_SUM, 0, n); // 5
  (void)DeviceScan::InclusiveScan(in, out, DEVICE_SUM, n);                       // 6
}

void lambdas_at_the_thrust_door(const int *in, int *out, int n) {
  const thrust::plus<long> sum{};
  lookback::inclusive_scan(thrust::cuda::par, in, in + n, out, 0, DEVICE_SUM);               // 7
  lookback::transform_inclusive_scan(thrust::cuda::par, in, in + n, out, DEVICE_WIDEN, sum); // 8
  lookback::transform_inclusive_scan(thrust::cuda::par, in, in + n, out, DEVICE_WIDEN, 0L,
                                     sum); // 9
}

void initial_values_by_key(void *storage, std::size_t &bytes, const int *in, int *out,
                           long *later) {
  const lookback::plus sum{};
  const lookback::FutureValue<int> of_int(out);
  const lookback::FutureValue<long> of_long(later);
  DeviceScan::ExclusiveScanByKey(storage, bytes, in, in, out, sum, of_int, 5); // 1
  // Not converted to the type that the call spells out, which would read it on the host.
  DeviceScan::ExclusiveScanByKey<const int *, const int *, int *, lookback::plus, long>(
      storage, bytes, in, in, out, sum, of_long, 5); // 2
}

void initial_values_of_another_type(void *storage, std::size_t &bytes, const int *in, int *out) {
  const lookback::FutureValue<int> later(out);
  DeviceScan::ExclusiveScan<const int *, int *, lookback::plus, long>(storage, bytes, in, out, {},
                                                                      later, 5); // 1
  DeviceScan::InclusiveScanInit<const int *, int *, lookback::plus, short>(storage, bytes, in, out,
                                                                           {}, later, 5); // 2
}

void totals_by_key(void *storage, std::size_t &bytes, const int *in, int *out) {
  DeviceScan::InclusiveSumByKey(storage, bytes, in, in, lookback::with_total(out, out), 5); // 1
}

void offsets(void *storage, std::size_t &bytes, const int *in, float *numbers, long *out) {
  DeviceScan::OffsetsFromCounts(storage, bytes, in, numbers, 5);                         // 1
  DeviceScan::OffsetsFromCounts(storage, bytes, in, out, 5, nullptr, lookback::reverse); // 1
  (void)DeviceScan::OffsetsFromCounts(in, out, 5, lookback::reverse);                    // 2
}

void reverse_of_selections(void *storage, std::size_t &bytes, const int *in, int *out) {
  lookback::DeviceSelect::Unique(storage, bytes, in, out, out, 5, nullptr, lookback::reverse); // 1
  (void)lookback::DeviceSelect::Unique(in, out, out, 5, lookback::reverse);                    // 2
}

void reverse_by_policy() { (void)lookback::par.with(lookback::reverse); } // 1

// Counts of different types, because nvcc reports one function once.
void counts_on_the_device(void *storage, std::size_t &bytes, const int *in, int *out) {
  const lookback::device_count<int> a(in, 5);
  const lookback::device_count<char> b(nullptr, 5);
  DeviceScan::OffsetsFromCounts(storage, bytes, in, out, a);                        // 1
  (void)DeviceScan::OffsetsFromCounts(in, out, b);                                  // 2
  DeviceScan::InclusiveSum(storage, bytes, in, out, a, nullptr, lookback::reverse); // 1
}
