// SPDX-License-Identifier: MIT
// The calls that are compared, each as CUB's and lookback's DeviceScan spell it, and for each
// source file the function that adds its cells.
#pragma once

#include "call.cuh"
#include "comparison.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <vector>

namespace perf {

template <class T>
struct inclusive_sum : call<T> {
  static constexpr const char *name = "inclusive_sum";
  static constexpr bool has_run_to_run = std::is_floating_point_v<T>;

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<T, T> o) {
    return DeviceScan::InclusiveSum(temporary, size, o.in, o.out, o.n);
  }
};

struct inclusive_sum_misaligned : inclusive_sum<int> {
  static constexpr const char *name = "inclusive_sum_misaligned";
  static constexpr int shift = 1;
};

/// n + 1 offsets from n counts.
struct offsets_from_counts : call<int> {
  static constexpr const char *name = "offsets_from_counts";
  static constexpr door through = door::offsets_from_counts;
  static constexpr int further_results = 1;
  static constexpr long long largest_input = 1LL << 30;

  static __device__ int element(long long, std::uint64_t random) {
    return static_cast<int>(random % 8);
  }

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<int, int> o) {
    return DeviceScan::OffsetsFromCounts(temporary, size, o.in, o.out, o.n);
  }
};

/// Offsets by a library without that call: a zero, and the sums behind it.
template <class DeviceScan>
struct offsets_by {
  static cudaError_t OffsetsFromCounts(void *temporary, std::size_t &size, const int *counts,
                                       int *offsets, long long n) {
    if (temporary != nullptr) {
      const cudaError_t status = cudaMemsetAsync(offsets, 0, sizeof *offsets);
      if (status != cudaSuccess) return status;
    }
    return DeviceScan::InclusiveSum(temporary, size, counts, offsets + 1, n);
  }
};

/// For lookback, only the device knows the number of items; for CUB, the host does.
struct inclusive_sum_device_count : inclusive_sum<int> {
  static constexpr const char *name = "inclusive_sum_device_count";
  static constexpr long long largest_input = 1LL << 30; // of 2^28 items, the bound
};

/// What a whole call costs the host: synchronisation and, in Thrust's calls, temporary memory
/// included.
struct wall_inclusive_sum : inclusive_sum<int> {
  static constexpr const char *name = "wall_inclusive_sum";
};

template <class In, class Out = In>
struct exclusive_sum : call<In, Out> {
  static constexpr const char *name = "exclusive_sum";
  static constexpr bool has_run_to_run = std::is_floating_point_v<In>;

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<In, Out> o) {
    return DeviceScan::ExclusiveSum(temporary, size, o.in, o.out, o.n);
  }
};

struct exclusive_sum_i8_to_i32 : exclusive_sum<std::int8_t, std::int32_t> {
  static constexpr const char *name = "exclusive_sum_i8_to_i32";
};

struct maximum {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

struct inclusive_max : call<int> {
  static constexpr const char *name = "inclusive_max";

  // Rising with noise: the running maximum changes all along, so that a lost tile shows.
  static __device__ int element(long long i, std::uint64_t random) {
    return static_cast<int>(i / 4) + static_cast<int>(random % 4096);
  }

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<int, int> o) {
    return DeviceScan::InclusiveScan(temporary, size, o.in, o.out, maximum{}, o.n);
  }
};

/// x -> slope x + offset
struct affine {
  float slope, offset;
};

/// `a` first, then `b`: not commutative.
struct composition {
  __host__ __device__ affine operator()(affine a, affine b) const {
    return {a.slope * b.slope, a.offset * b.slope + b.offset};
  }
};

struct inclusive_affine : call<affine> {
  static constexpr const char *name = "inclusive_affine";
  static std::string type() { return "f32x2"; }

  // Slopes of 1 and -1 and small integer offsets: every composition is exact, so every order of
  // evaluation agrees.
  static __device__ affine element(long long, std::uint64_t random) {
    return {random & 1 ? 1.0f : -1.0f, static_cast<float>(static_cast<int>((random >> 1) % 9) - 4)};
  }

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<affine, affine> o) {
    return DeviceScan::InclusiveScan(temporary, size, o.in, o.out, composition{}, o.n);
  }
};

/// 0, 0, ..., 1, 1, ...: each number `Length` times.
template <int Length>
struct segments : call<int> {
  static __device__ int element(long long i, std::uint64_t) { return static_cast<int>(i / Length); }
};

template <int Length>
struct inclusive_sum_by_key : call<int> {
  using second = segments<Length>;

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<int, int> o) {
    return DeviceScan::InclusiveSumByKey(temporary, size, o.second, o.in, o.out, o.n);
  }
};

struct inclusive_sum_by_key_7 : inclusive_sum_by_key<7> {
  static constexpr const char *name = "inclusive_sum_by_key_7";
};

struct inclusive_sum_by_key_1000 : inclusive_sum_by_key<1000> {
  static constexpr const char *name = "inclusive_sum_by_key_1000";
};

struct is_odd {
  template <class T>
  __host__ __device__ T operator()(T value) const {
    return value & 1;
  }
};

struct transform_inclusive_sum : call<int> {
  static constexpr const char *name = "transform_inclusive_sum";

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<int, int> o) {
    return DeviceScan::InclusiveSum(temporary, size,
                                    thrust::make_transform_iterator(o.in, is_odd{}), o.out, o.n);
  }
};

/// Base of the sums whose iterator is more than a function of one pointer.
struct inclusive_sum_through_iterator : call<int> {
  static constexpr long long largest_input = 1LL << 30;
};

/// Reads memory by the index that it is given.
struct element_at {
  const int *memory;
  __host__ __device__ int operator()(long long i) const { return memory[i]; }
};

struct inclusive_sum_counting_transform : inclusive_sum_through_iterator {
  static constexpr const char *name = "inclusive_sum_counting_transform";

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<int, int> o) {
    const auto indices = thrust::make_counting_iterator(0LL);
    return DeviceScan::InclusiveSum(
        temporary, size, thrust::make_transform_iterator(indices, element_at{o.in}), o.out, o.n);
  }
};

struct sum_of_pair {
  template <class Pair>
  __host__ __device__ int operator()(const Pair &pair) const {
    return thrust::get<0>(pair) + thrust::get<1>(pair);
  }
};

struct inclusive_sum_zip_transform : inclusive_sum_through_iterator {
  static constexpr const char *name = "inclusive_sum_zip_transform";
  using second = call<int>;

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<int, int> o) {
    const auto pairs = thrust::make_zip_iterator(o.in, o.second);
    return DeviceScan::InclusiveSum(
        temporary, size, thrust::make_transform_iterator(pairs, sum_of_pair{}), o.out, o.n);
  }
};

struct inclusive_sum_reverse : inclusive_sum_through_iterator {
  static constexpr const char *name = "inclusive_sum_reverse";

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<int, int> o) {
    return DeviceScan::InclusiveSum(temporary, size, thrust::make_reverse_iterator(o.in + o.n),
                                    o.out, o.n);
  }
};

struct inclusive_sum_permutation : inclusive_sum_through_iterator {
  static constexpr const char *name = "inclusive_sum_permutation";
  using second = segments<1>; // 0, 1, 2, ...: reads are consecutive, which no scan can know

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size, operands<int, int> o) {
    return DeviceScan::InclusiveSum(temporary, size,
                                    thrust::make_permutation_iterator(o.in, o.second), o.out, o.n);
  }
};

/// A user's type, aligned as a single integer.
template <int Count>
struct integers {
  std::int32_t values[Count];
};

struct componentwise_sum {
  template <int Count>
  __host__ __device__ integers<Count> operator()(integers<Count> a, integers<Count> b) const {
    for (int k = 0; k < Count; ++k) a.values[k] += b.values[k];
    return a;
  }
};

template <int Count>
struct inclusive_scan_of_integers : call<integers<Count>> {
  static constexpr long long largest_input = 1LL << 31;
  static std::string type() { return call<std::int32_t>::type() + "x" + std::to_string(Count); }

  static __device__ integers<Count> element(long long i, std::uint64_t random) {
    integers<Count> drawn;
    for (int k = 0; k < Count; ++k)
      drawn.values[k] = call<std::int32_t>::element(i, random >> (64 / Count * k));
    return drawn;
  }

  template <class DeviceScan>
  static cudaError_t invoke(void *temporary, std::size_t &size,
                            operands<integers<Count>, integers<Count>> o) {
    return DeviceScan::InclusiveScan(temporary, size, o.in, o.out, componentwise_sum{}, o.n);
  }
};

struct inclusive_scan_12_bytes : inclusive_scan_of_integers<3> {
  static constexpr const char *name = "inclusive_scan_12_bytes";
};

struct inclusive_scan_24_bytes : inclusive_scan_of_integers<6> {
  static constexpr const char *name = "inclusive_scan_24_bytes";
};

struct inclusive_scan_32_bytes : inclusive_scan_of_integers<8> {
  static constexpr const char *name = "inclusive_scan_32_bytes";
};

struct inclusive_scan_64_bytes : inclusive_scan_of_integers<16> {
  static constexpr const char *name = "inclusive_scan_64_bytes";
};

void add_inclusive_sum(std::vector<cell> &cells);
void add_exclusive_sum(std::vector<cell> &cells);
void add_inclusive_max(std::vector<cell> &cells);
void add_inclusive_affine(std::vector<cell> &cells);
void add_inclusive_sum_by_key(std::vector<cell> &cells);
void add_exclusive_sum_i8_to_i32(std::vector<cell> &cells);
void add_transform_inclusive_sum(std::vector<cell> &cells);
void add_inclusive_sum_device_count(std::vector<cell> &cells);
void add_offsets_from_counts(std::vector<cell> &cells);
void add_inclusive_sum_through_iterators(std::vector<cell> &cells);
void add_inclusive_scan_of_integers(std::vector<cell> &cells);
void add_wall_inclusive_sum(std::vector<cell> &cells);

} // namespace perf
