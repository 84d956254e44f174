// SPDX-License-Identifier: MIT
// The selections that are compared, each as CUB and lookback spell it, and for each source file the
// function that adds its cells.
#pragma once

#include "calls.cuh"

#include <cuda/std/functional>

#include <cstdint>
#include <vector>

namespace perf {

/// Base of the calls that write the number of results. `Values` draws the elements.
template <class Values>
struct selection : Values {
  static constexpr door through = door::device_select;
  static constexpr bool has_count = true;
  static constexpr bool is_compacted = true;
  static constexpr long long largest_input = 1LL << 31;
};

/// Odd numbers, at random, in `Percent` of all places; even ones in the others.
template <class T, int Percent>
struct odd_at_random : call<T> {
  static __device__ T element(long long, std::uint64_t random) {
    const bool odd = static_cast<int>(random % 100) < Percent;
    return static_cast<T>(random >> 32 << 1 | odd);
  }
  static long long results(long long n) { return n * Percent / 100; }
};

/// 0, 0, ..., 1, 1, ...: one segment ends in every `Length` elements, at a random place. Segments
/// have 1 to 2 Length - 1 elements, Length on average.
template <int Length>
struct random_segments : call<int> {
  static constexpr int drawn_together = Length;
  static __device__ int element(long long i, std::uint64_t random) {
    return static_cast<int>(i / Length + (i % Length >= static_cast<long long>(random % Length)));
  }
  static long long results(long long n) { return n / Length; }
};

/// Clusters of about a thousand odd numbers between clusters of as many even ones.
template <class T>
struct odd_in_clusters : call<T> {
  using clusters = random_segments<1000>;
  static constexpr int drawn_together = clusters::drawn_together;
  static __device__ T element(long long i, std::uint64_t random) {
    const bool odd = clusters::element(i, random) & 1;
    return static_cast<T>(i << 1 | odd);
  }
  static long long results(long long n) { return n / 2; }
};

/// Keeps the odd numbers.
template <class Values>
struct select_if : selection<Values> {
  template <class Device>
  static cudaError_t invoke(void *temporary, std::size_t &size, const operands_of<Values> &o) {
    return Device::If(temporary, size, o.in, o.out, o.count, o.n, is_odd{});
  }
};

template <class T>
struct select_if_0 : select_if<odd_at_random<T, 0>> {
  static constexpr const char *name = "select_if_0";
};

template <class T>
struct select_if_50 : select_if<odd_at_random<T, 50>> {
  static constexpr const char *name = "select_if_50";
};

template <class T>
struct select_if_100 : select_if<odd_at_random<T, 100>> {
  static constexpr const char *name = "select_if_100";
};

template <class T>
struct select_if_50_clustered : select_if<odd_in_clusters<T>> {
  static constexpr const char *name = "select_if_50_clustered";
};

/// Writes the rejected elements, too.
template <class T>
struct partition_if_50 : select_if<odd_at_random<T, 50>> {
  static constexpr const char *name = "partition_if_50";
  static constexpr door through = door::device_partition;
  static constexpr bool is_compacted = false;
  static long long results(long long n) { return n; }
};

struct random_flags : call<bool> {
  static __device__ bool element(long long, std::uint64_t random) { return random & 1; }
};

template <class T>
struct select_flagged_50 : selection<call<T>> {
  static constexpr const char *name = "select_flagged_50";
  using second = random_flags;
  static long long results(long long n) { return n / 2; }

  template <class Device>
  static cudaError_t invoke(void *temporary, std::size_t &size, const operands<T, T, bool> &o) {
    return Device::Flagged(temporary, size, o.in, o.second, o.out, o.count, o.n);
  }
};

template <int Length>
struct unique : selection<random_segments<Length>> {
  template <class Device>
  static cudaError_t invoke(void *temporary, std::size_t &size, const operands<int, int> &o) {
    return Device::Unique(temporary, size, o.in, o.out, o.count, o.n);
  }
};

struct unique_7 : unique<7> {
  static constexpr const char *name = "unique_7";
};

struct unique_1000 : unique<1000> {
  static constexpr const char *name = "unique_1000";
};

/// The sum of the values of each segment, and its key.
template <int Length>
struct reduce_by_key : selection<call<int>> {
  using second = random_segments<Length>;
  static constexpr door through = door::device_reduce;
  static constexpr bool has_second_output = true;
  static long long results(long long n) { return second::results(n); }

  template <class Device>
  static cudaError_t invoke(void *temporary, std::size_t &size, const operands<int, int> &o) {
    return Device::ReduceByKey(temporary, size, o.second, o.second_out, o.in, o.out, o.count,
                               cuda::std::plus<>{}, o.n);
  }
};

struct reduce_by_key_7 : reduce_by_key<7> {
  static constexpr const char *name = "reduce_by_key_7";
};

struct reduce_by_key_1000 : reduce_by_key<1000> {
  static constexpr const char *name = "reduce_by_key_1000";
};

/// Each number and its count. CUB 3.0 takes an int for the number of items.
template <int Length>
struct run_length_encode : selection<random_segments<Length>> {
  static constexpr door through = door::device_run_length_encode;
  static constexpr bool has_second_output = true;

  template <class Device>
  static cudaError_t invoke(void *temporary, std::size_t &size, const operands<int, int> &o) {
    return Device::Encode(temporary, size, o.in, o.out, o.second_out, o.count,
                          static_cast<int>(o.n));
  }
};

struct run_length_encode_7 : run_length_encode<7> {
  static constexpr const char *name = "run_length_encode_7";
};

struct run_length_encode_1000 : run_length_encode<1000> {
  static constexpr const char *name = "run_length_encode_1000";
};

void add_select_if(std::vector<cell> &cells);
void add_select_flagged(std::vector<cell> &cells);
void add_partition_if(std::vector<cell> &cells);
void add_unique(std::vector<cell> &cells);
void add_reduce_by_key(std::vector<cell> &cells);
void add_run_length_encode(std::vector<cell> &cells);

} // namespace perf
