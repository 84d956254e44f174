// SPDX-License-Identifier: MIT
// Random splits of one sequence over the ranks of any communicator, against one scan of the whole
// on one GPU or, by key, on the CPU, bit for bit.
#pragma once

#include <lookback/distributed.cuh>
#include <lookback/distributed_scan.cuh>
#include <lookback/execution_policy.cuh>

#include <distributed/ranks.hpp>
#include <support/random.hpp>
#include <support/tree_reference.hpp>

#include <cuda_runtime_api.h>
#include <thrust/device_vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace test {

/// Where the shards begin, and n: near the edges of tiles and groups, and anywhere.
template <class Random>
std::vector<std::size_t> random_cuts(std::size_t n, int ranks, const tree_sizes &size,
                                     Random &random) {
  std::vector<std::size_t> cuts{0, n};
  const std::size_t units[] = {size.row, size.tile, size.group, size.group};
  while (cuts.size() <= static_cast<std::size_t>(ranks)) {
    const std::size_t unit = units[random() % 4], near = random() % (n / unit + 1) * unit;
    const std::size_t choices[] = {random() % (n + 1), near, near + random() % 3,
                                   near - std::min<std::size_t>(near, random() % 3),
                                   cuts[random() % cuts.size()]};
    cuts.push_back(std::min(n, choices[random() % 5]));
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

/// Runs `of_shard(communicator, first, last, result)` on every rank over a copy of its shard, at a
/// random distance from a multiple of 16 bytes, in place or not, with known lengths or without.
/// `on_all_ranks(work)` calls `work(communicator)` in a thread for each rank, whose device is
/// current, and returns whether none has thrown. Returns how many elements differ from `expected`.
template <class T, class OnAllRanks, class OfShard>
std::size_t differing_elements(const std::vector<T> &values, const std::vector<T> &expected,
                               const std::vector<std::size_t> &cuts, std::uint64_t seed,
                               OnAllRanks on_all_ranks, OfShard of_shard) {
  std::vector<T> results(values.size());
  on_all_ranks([&](const auto &ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const std::size_t begin = cuts[rank], n = cuts[rank + 1] - begin;
    std::mt19937_64 random(seed + rank);
    const std::size_t shift = random() % 5;
    const bool in_place = random() % 2 == 0;
    thrust::device_vector<T> in(n + shift + 1), out(n + shift + 1);
    thrust::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin), n,
                   in.begin() + static_cast<std::ptrdiff_t>(shift));
    T *const from = in.data().get() + shift, *const to = in_place ? from : out.data().get() + shift;
    const T *const end = seed % 2 == 0 ? of_shard(ranks, from, from + n, to)
                                       : of_shard(known(ranks, cuts), from, from + n, to);
    REQUIRE_EQ(end, to + n);
    cudaMemcpy(results.data() + begin, to, n * sizeof(T), cudaMemcpyDeviceToHost);
  });
  std::size_t differing = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    differing += std::memcmp(&results[i], &expected[i], sizeof(T)) != 0;
  return differing;
}

/// x -> slope x + offset, and the composition of such maps, the left one first. It is not
/// commutative, and offsets are rounded. Slopes are 1 and -1, so that nothing overflows.
struct affine_map {
  float slope, offset;
  affine_map() = default;
  explicit affine_map(double x)
      : slope(std::fmod(x, 2) < 1 ? 1.f : -1.f), offset(static_cast<float>(x)) {}
  __host__ __device__ affine_map(float a, float b) : slope(a), offset(b) {}
};
struct then {
  __host__ __device__ affine_map operator()(affine_map a, affine_map b) const {
    return {a.slope * b.slope, b.slope * a.offset + b.offset};
  }
};

/// Random splits of scans in T, inclusive or exclusive with an initial value. `on_ranks(random)`
/// returns a number of ranks and an `on_all_ranks` for them.
template <class T, bool Inclusive = true, class OnRanks, class Operator = lookback::plus>
void check_random_splits(std::size_t count, std::size_t groups, OnRanks on_ranks,
                         Operator op = {}) {
  namespace distributed = lookback::distributed;
  std::mt19937_64 random(run_seed());
  INFO("LOOKBACK_TEST_SEED=", run_seed());
  const tree_sizes size(sizeof(T), sizeof(T));
  for (std::size_t trial = 0; trial < trials(count); ++trial) {
    const std::size_t n = random() % (groups * size.group + 1);
    std::vector<T> values(n);
    for (T &value : values) value = static_cast<T>(static_cast<double>(random() % 20001) / 7 - 99);
    const auto chosen = on_ranks(random);
    const int ranks = chosen.first;
    const auto cuts = random_cuts(n, ranks, size, random);
    const thrust::device_vector<T> in(values.begin(), values.end());
    thrust::device_vector<T> out(n);
    std::vector<T> expected(n);
    const T init = static_cast<T>(3);
    if constexpr (Inclusive)
      lookback::inclusive_scan(lookback::par, in.begin(), in.end(), out.begin(), op);
    else
      lookback::exclusive_scan(lookback::par, in.begin(), in.end(), out.begin(), init, op);
    thrust::copy(out.begin(), out.end(), expected.begin());
    const std::size_t differing =
        differing_elements(values, expected, cuts, random(), chosen.second,
                           [&](const auto &communicator, const T *first, const T *last, T *result) {
                             if constexpr (Inclusive)
                               return distributed::inclusive_scan(communicator, lookback::par,
                                                                  first, last, result, op);
                             else
                               return distributed::exclusive_scan(communicator, lookback::par,
                                                                  first, last, result, init, op);
                           });
    INFO("n = ", n, ", ranks = ", ranks, ", first cut = ", cuts[1]);
    REQUIRE_EQ(differing, 0);
  }
}

/// Calls `scan(storage, bytes)` in the two phases of CUB, with exactly as much storage as it asks
/// for, and returns the status of the phase that failed or of the second.
template <class Scan>
cudaError_t in_two_phases(Scan scan) {
  std::size_t bytes = 0;
  const cudaError_t sized = scan(nullptr, bytes);
  if (sized != cudaSuccess) return sized;
  thrust::device_vector<unsigned char> storage(bytes + 1, static_cast<unsigned char>(0xa5));
  const cudaError_t status = scan(storage.data().get(), bytes);
  if (status != cudaSuccess) return status;
  const bool intact = storage.back() == 0xa5; // the copy waits for the scan
  return intact ? cudaSuccess : cudaErrorIllegalAddress;
}

/// Inclusive sums by key on the default stream, by either door.
struct inclusive_by_key {
  template <class Communicator, class T>
  T *operator()(const Communicator &ranks, bool in_phases, const T *keys, const T *values,
                std::ptrdiff_t n, T *result) const {
    namespace distributed = lookback::distributed;
    if (!in_phases)
      return distributed::inclusive_scan_by_key(ranks, lookback::par, keys, keys + n, values,
                                                result);
    REQUIRE_EQ(in_two_phases([&](void *storage, std::size_t &bytes) {
                 return distributed::DistributedScan::InclusiveSumByKey(storage, bytes, keys,
                                                                        values, result, n, ranks);
               }),
               cudaSuccess);
    return result + n;
  }
  template <class T>
  void whole(const std::vector<T> &keys, const std::vector<T> &values, T *result) const {
    lookback::inclusive_scan_by_key(lookback::host, keys.data(), keys.data() + keys.size(),
                                    values.data(), result);
  }
};
/// Exclusive ones, from an initial value.
struct exclusive_by_key {
  template <class Communicator, class T>
  T *operator()(const Communicator &ranks, bool in_phases, const T *keys, const T *values,
                std::ptrdiff_t n, T *result) const {
    namespace distributed = lookback::distributed;
    const T init = 3;
    const lookback::plus op;
    if (!in_phases)
      return distributed::exclusive_scan_by_key(ranks, lookback::par, keys, keys + n, values,
                                                result, init, lookback::equal_to{}, op);
    REQUIRE_EQ(in_two_phases([&](void *storage, std::size_t &bytes) {
                 return distributed::DistributedScan::ExclusiveScanByKey(
                     storage, bytes, keys, values, result, op, init, n, ranks);
               }),
               cudaSuccess);
    return result + n;
  }
  template <class T>
  void whole(const std::vector<T> &keys, const std::vector<T> &values, T *result) const {
    lookback::exclusive_scan_by_key(lookback::host, keys.data(), keys.data() + keys.size(),
                                    values.data(), result, T{3}, lookback::equal_to{},
                                    lookback::plus{});
  }
};

/// A copy of a shard in device memory, from `shift` elements behind a multiple of 16 bytes on, with
/// a guard on either side.
template <class T>
class shard_copy {
public:
  shard_copy(const T *values, std::size_t n, std::size_t shift)
      : shift_(shift + 1), memory_(n + shift_ + 1, guard) {
    thrust::copy_n(values, n, memory_.begin() + static_cast<std::ptrdiff_t>(shift_));
  }
  T *data() { return memory_.data().get() + shift_; }
  /// Copies what is there now; returns whether the guards are intact.
  bool copy_to(T *results) const {
    std::vector<T> now(memory_.size());
    thrust::copy(memory_.begin(), memory_.end(), now.begin());
    std::copy(now.begin() + static_cast<std::ptrdiff_t>(shift_), now.end() - 1, results);
    return now[shift_ - 1] == guard && now.back() == guard;
  }

private:
  static constexpr T guard = 77;
  std::size_t shift_;
  thrust::device_vector<T> memory_;
};

/// Random splits of sums by key: segments of at most 1, 7, 1000 or all elements, in the memory of
/// the keys, of the values, or apart, by either door. `calls` is one of the two above.
template <class T, class Calls, class OnRanks>
void check_random_splits_by_key(std::size_t count, std::size_t groups, Calls calls,
                                OnRanks on_ranks) {
  std::mt19937_64 random(run_seed());
  INFO("LOOKBACK_TEST_SEED=", run_seed());
  const tree_sizes size(sizeof(T), sizeof(T));
  for (std::size_t trial = 0; trial < trials(count); ++trial) {
    const std::size_t n = random() % (groups * size.group + 1);
    const std::size_t longest[] = {1, 7, 1000, n + 1}, most = longest[trial % 4];
    std::vector<T> keys, values, expected(n), results(n);
    for (std::size_t i = 0, left = 0; i < n; ++i, --left) {
      const bool head = left == 0;
      if (head) left = most > n ? most : 1 + random() % most;
      keys.push_back(static_cast<T>((i == 0 ? 0 : keys.back()) + head));
      values.push_back(static_cast<T>(static_cast<double>(random() % 20001) / 7 - 99));
    }
    calls.whole(keys, values, expected.data());
    const auto chosen = on_ranks(random);
    const auto cuts = random_cuts(n, chosen.first, size, random);
    const std::uint64_t seed = random();
    const bool in_phases = random() % 2 == 0, with_known = random() % 2 == 0;
    chosen.second([&](const auto &ranks) {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      const std::size_t begin = cuts[rank], items = cuts[rank + 1] - begin;
      std::mt19937_64 own(seed + rank);
      shard_copy<T> shard_keys(keys.data() + begin, items, own() % 5),
          shard_values(values.data() + begin, items, own() % 5),
          apart(results.data() + begin, items, own() % 5);
      shard_copy<T> *const written[] = {&shard_keys, &shard_values, &apart};
      shard_copy<T> &to = *written[own() % 3];
      const auto call = [&](const auto &communicator) {
        return calls(communicator, in_phases, shard_keys.data(), shard_values.data(),
                     static_cast<std::ptrdiff_t>(items), to.data());
      };
      const T *const end = with_known ? call(known(ranks, cuts)) : call(ranks);
      REQUIRE_EQ(end, to.data() + items);
      REQUIRE(to.copy_to(results.data() + begin));
    });
    INFO("n = ", n, ", ranks = ", chosen.first, ", first cut = ", cuts[1],
         ", longest segment = ", most, ", in phases: ", in_phases,
         ", with known lengths: ", with_known);
    std::size_t differing = 0;
    for (std::size_t i = 0; i < n; ++i)
      differing += std::memcmp(&results[i], &expected[i], sizeof(T)) != 0;
    REQUIRE_EQ(differing, 0);
  }
}

} // namespace test
