// SPDX-License-Identifier: MIT
// Random splits of one sequence over the ranks of any communicator, against one scan of the whole
// on one GPU, bit for bit.
#pragma once

#include <lookback/distributed.cuh>
#include <lookback/execution_policy.cuh>

#include <support/random.hpp>
#include <support/tree_reference.hpp>

#include <cuda_runtime_api.h>
#include <thrust/device_vector.h>

#include <algorithm>
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
/// random distance from a multiple of 16 bytes, in place or not. `on_all_ranks(work)` calls
/// `work(communicator)` in a thread for each rank, whose device is current, and returns whether
/// none has thrown. Returns how many elements differ from `expected`.
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
    const T *const end = of_shard(ranks, from, from + n, to);
    REQUIRE_EQ(end, to + n);
    cudaMemcpy(results.data() + begin, to, n * sizeof(T), cudaMemcpyDeviceToHost);
  });
  std::size_t differing = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    differing += std::memcmp(&results[i], &expected[i], sizeof(T)) != 0;
  return differing;
}

/// Random splits of sums in T, inclusive or exclusive with an initial value. `on_ranks(random)`
/// returns a number of ranks and an `on_all_ranks` for them.
template <class T, bool Inclusive = true, class OnRanks>
void check_random_splits(std::size_t count, std::size_t groups, OnRanks on_ranks) {
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
      lookback::inclusive_scan(lookback::par, in.begin(), in.end(), out.begin());
    else
      lookback::exclusive_scan(lookback::par, in.begin(), in.end(), out.begin(), init);
    thrust::copy(out.begin(), out.end(), expected.begin());
    const std::size_t differing = differing_elements(
        values, expected, cuts, random(), chosen.second,
        [&](const auto &communicator, const T *first, const T *last, T *result) {
          if constexpr (Inclusive)
            return distributed::inclusive_scan(communicator, lookback::par, first, last, result);
          else
            return distributed::exclusive_scan(communicator, lookback::par, first, last, result,
                                               init);
        });
    INFO("n = ", n, ", ranks = ", ranks, ", first cut = ", cuts[1]);
    REQUIRE_EQ(differing, 0);
  }
}

} // namespace test
