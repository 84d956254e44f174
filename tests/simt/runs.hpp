// SPDX-License-Identifier: MIT
// One trial of results for runs of equal keys, or of a partition into three parts.
#pragma once

#include <simt/problems.hpp>

#include <lookback/core/candidates.cuh>
#include <lookback/core/runs.cuh>
#include <lookback/core/three_parts.cuh>

namespace test {

/// Up to `most` tiles, and at most two items more or less.
inline std::size_t some_tiles(trial &one, std::size_t tile, std::size_t most) {
  const std::size_t edge = one.random() % (most + 1) * tile, items = edge + one.random() % 5;
  return items > 2 ? items - 2 : 1;
}

/// `before`, whose first elements became `wanted`.
template <class T>
std::vector<T> over(const std::vector<T> &wanted, std::vector<T> before) {
  std::copy(wanted.begin(), wanted.end(), before.begin());
  return before;
}

/// Reduces the values of runs, whose operator reports operands from different runs. `run(problem,
/// n, trial)` scans.
template <class T, class Run>
void reduce_runs(std::uint64_t count, std::size_t tiles, Run run) {
  using key = std::uint32_t;
  const tree_sizes size(sizeof(T), sizeof(T));
  for_each_trial(count, [&](trial &one) {
    const std::size_t n = some_tiles(one, size.tile, tiles),
                      longest = one.random() % 2 == 0 ? 5 : 3 * size.tile;
    const segments<key, T> all(one, n, longest);
    std::vector<key> first_keys;
    std::vector<T> reductions;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == 0 || !same_octave{}(all.keys[i - 1], all.keys[i])) first_keys.push_back(all.keys[i]);
      if (i + 1 == n || !same_octave{}(all.keys[i], all.keys[i + 1]))
        reductions.push_back(all.inclusive[i]);
    }
    const bare_input<key> keys(all.keys, one.random() % 2 == 0 ? 0 : any_shift<key>(one));
    guarded_buffer<T> values(n, one.random() % 2, make_interval<T>({77, 78}));
    std::copy(all.values.begin(), all.values.end(), values.data());
    const T filler = make_interval<T>({77, 78});
    guarded_buffer<key> keys_output(n, 1, 99);
    guarded_buffer<T> output(n, 1, filler);
    const auto keys_before = keys_output.results();
    const auto before = output.results();
    std::int64_t number = -1;
    INFO("n = ", n, ", tile = ", size.tile, ", longest run ", longest);
    run(core::make_reduction_by_key<T>(keys.data(), static_cast<const T *>(values.data()),
                                       keys_output.data(), output.data(), same_octave{},
                                       join_neighbours{}, &number),
        n, one);
    REQUIRE_EQ(number, static_cast<std::int64_t>(first_keys.size()));
    REQUIRE_EQ(first_difference(keys_output.results(), over(first_keys, keys_before)), nowhere);
    REQUIRE_EQ(first_difference(output.results(), over(reductions, before)), nowhere);
    REQUIRE(keys_output.intact());
    REQUIRE(output.intact());
  });
}

/// The values of a sum of runs: in memory, or ones.
template <bool Ones, class T>
auto values_of(const bare_input<T> &memory) {
  if constexpr (Ones)
    return core::ones<T>{};
  else
    return memory.data();
}
/// Sums of integers, with other keys than their neighbours; of `Ones`, the lengths of the runs.
template <class Key, class T, bool Ones = false, class Value = T, class Run>
void sum_runs(std::uint64_t count, std::size_t tiles, Run run) {
  const tree_sizes size(sizeof(T), sizeof(T));
  for_each_trial(count, [&](trial &one) {
    const std::size_t all_longest[] = {1, 2, 2, 2, 40, 3 * size.tile};
    const std::size_t n = some_tiles(one, size.tile, tiles),
                      longest = all_longest[one.random() % 6];
    std::vector<Key> keys, first_keys;
    std::vector<Value> values(n);
    std::vector<T> sums;
    // The sum of all must fit a signed type.
    const std::uint64_t limit = Ones ? 1 : std::is_signed<T>::value ? 1000 : ~std::uint64_t{0};
    for (Value &value : values) value = static_cast<Value>(Ones ? 1 : one.random() % limit);
    while (keys.size() < n) {
      // Pairs alone need one place more than there is room for.
      const std::size_t drawn = longest == 2 ? 2 : 1 + one.random() % longest,
                        length = std::min(drawn, n - keys.size());
      first_keys.push_back(static_cast<Key>(first_keys.size() % 100));
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < length; ++i)
        sum += static_cast<std::uint64_t>(values[keys.size() + i]);
      sums.push_back(static_cast<T>(sum));
      keys.insert(keys.end(), length, first_keys.back());
    }
    const bare_input<Key> from(keys, one.random() % 2);
    const bare_input<Value> values_from(values, one.random() % 2);
    guarded_buffer<Key> to(n, one.random() % 4, static_cast<Key>(101));
    guarded_buffer<T> sums_to(n, one.random() % 4, static_cast<T>(77));
    const auto before = to.results();
    const auto sums_before = sums_to.results();
    std::int64_t number = -1;
    INFO("n = ", n, ", tile = ", size.tile, ", longest run ", longest);
    run(core::make_reduction_by_key<T>(from.data(), values_of<Ones>(values_from), to.data(),
                                       sums_to.data(), lookback::equal_to{}, lookback::plus{},
                                       &number),
        n, one);
    REQUIRE_EQ(number, static_cast<std::int64_t>(sums.size()));
    REQUIRE_EQ(first_difference(to.results(), over(first_keys, before)), nowhere);
    REQUIRE_EQ(first_difference(sums_to.results(), over(sums, sums_before)), nowhere);
    REQUIRE(to.intact());
    REQUIRE(sums_to.intact());
  });
}

/// Offsets and lengths of the runs of at least two keys.
template <class Run>
void find_long_runs(std::uint64_t count, std::size_t tiles, Run run) {
  const tree_sizes size(sizeof(std::int64_t), sizeof(std::int64_t));
  for_each_trial(count, [&](trial &one) {
    const std::size_t n = some_tiles(one, size.tile, tiles),
                      longest = one.random() % 2 == 0 ? 2 : 2 * size.tile;
    std::vector<std::uint8_t> keys;
    std::vector<std::int64_t> offsets, lengths;
    while (keys.size() < n) {
      const std::size_t length = std::min(1 + one.random() % longest, n - keys.size());
      if (length > 1) {
        offsets.push_back(static_cast<std::int64_t>(keys.size()));
        lengths.push_back(static_cast<std::int64_t>(length));
      }
      keys.insert(keys.end(), length,
                  static_cast<std::uint8_t>(keys.empty() ? 0 : keys.back() + 1));
    }
    // The same key behind the last item does not belong to its run.
    if (one.random() % 2 == 0) keys.push_back(keys.back());
    const bare_input<std::uint8_t> input(keys, one.random() % 16);
    guarded_buffer<std::int64_t> firsts(n, 1, -5), counts(n, 1, -6);
    const auto firsts_before = firsts.results(), counts_before = counts.results();
    std::int64_t number = -1;
    INFO("n = ", n, ", tile = ", size.tile, ", longest run ", longest);
    run(core::make_long_runs(input.data(), firsts.data(), counts.data(), lookback::equal_to{},
                             &number),
        n, one);
    REQUIRE_EQ(number, static_cast<std::int64_t>(offsets.size()));
    REQUIRE_EQ(first_difference(firsts.results(), over(offsets, firsts_before)), nowhere);
    REQUIRE_EQ(first_difference(counts.results(), over(lengths, counts_before)), nowhere);
    REQUIRE(firsts.intact());
    REQUIRE(counts.intact());
  });
}

/// Keys that are the first of their run, with their values.
template <class Run>
void unique_pairs(std::uint64_t count, std::size_t tiles, Run run) {
  using T = std::uint32_t;
  const tree_sizes size(sizeof(core::key_and_value<T, T>), sizeof(core::key_and_value<T, T>));
  for_each_trial(count, [&](trial &one) {
    const std::size_t n = some_tiles(one, size.tile, tiles),
                      longest = 1 + one.random() % (one.random() % 2 == 0 ? 3 : size.tile);
    std::vector<T> keys, values, kept_keys, kept_values;
    for (std::size_t left = 0; keys.size() < n; --left) {
      if (left == 0) {
        left = 1 + one.random() % longest;
        kept_keys.push_back(static_cast<T>(keys.size()));
        kept_values.push_back(static_cast<T>(one.random() % 1000));
        keys.push_back(kept_keys.back());
        values.push_back(kept_values.back());
      } else {
        keys.push_back(keys.back());
        values.push_back(static_cast<T>(one.random() % 1000));
      }
    }
    const bare_input<T> from(keys, 0), values_from(values, 1);
    guarded_buffer<T> to(n, 1, 5), values_to(n, 1, 6);
    const auto before = to.results(), values_before = values_to.results();
    std::int64_t number = -1;
    INFO("n = ", n, ", tile = ", size.tile, ", longest run ", longest);
    run(core::make_unique_by_key(from.data(), values_from.data(), to.data(), values_to.data(),
                                 lookback::equal_to{}, &number),
        n, one);
    REQUIRE_EQ(number, static_cast<std::int64_t>(kept_keys.size()));
    REQUIRE_EQ(first_difference(to.results(), over(kept_keys, before)), nowhere);
    REQUIRE_EQ(first_difference(values_to.results(), over(kept_values, values_before)), nowhere);
    REQUIRE(to.intact());
    REQUIRE(values_to.intact());
  });
}

template <class T>
struct is_below {
  T limit;
  bool operator()(const T &x) const { return x < limit; }
};

/// Items in three parts, each of any size.
template <class T, class Run>
void part_in_three(std::uint64_t count, std::size_t tiles, Run run) {
  const tree_sizes size(sizeof(T), sizeof(T));
  for_each_trial(count, [&](trial &one) {
    const std::size_t n = some_tiles(one, size.tile, tiles);
    const auto limit = static_cast<T>(one.random() % 101),
               second_limit = static_cast<T>(one.random() % 101);
    std::vector<T> items, parts[3];
    for (std::size_t i = 0; i < n; ++i) {
      items.push_back(static_cast<T>(one.random() % 100));
      parts[items[i] < limit ? 0 : items[i] < second_limit ? 1 : 2].push_back(items[i]);
    }
    const bare_input<T> input(items, any_shift<T>(one));
    guarded_buffer<T> first(n, 1, 101), second(n, 1, 102), rest(n, 1, 103);
    guarded_buffer<T> *const outputs[] = {&first, &second, &rest};
    std::vector<T> expected[3];
    for (int part = 0; part < 3; ++part)
      expected[part] = over(parts[part], outputs[part]->results());
    std::int64_t numbers[] = {-1, -1};
    INFO("n = ", n, ", tile = ", size.tile, ", limits ", +limit, ", ", +second_limit);
    run(core::make_three_parts(input.data(), is_below<T>{limit}, is_below<T>{second_limit},
                               first.data(), second.data(), rest.data(), +numbers),
        n, one);
    for (int part = 0; part < 3; ++part) {
      INFO("part ", part);
      if (part < 2) REQUIRE_EQ(numbers[part], static_cast<std::int64_t>(parts[part].size()));
      REQUIRE_EQ(first_difference(outputs[part]->results(), expected[part]), nowhere);
      REQUIRE(outputs[part]->intact());
    }
  });
}

/// Scans a trial's problem by the pipeline, on up to 4 blocks.
template <class Tuning>
struct by_pipeline {
  template <class Problem>
  void operator()(const Problem &problem, std::size_t n, trial &one) const {
    if (n > Problem::shape::tile_elements)
      scan_ahead<Tuning>(problem, n, 1 + one.random() % 4, one.schedule);
    else
      scan<8>(problem, n, one.schedule);
  }
};
/// Scans a trial's problem by the strategies of one tile a block, `Warps` warps each.
template <int Warps>
struct by_tiles {
  template <class Problem>
  void operator()(const Problem &problem, std::size_t n, trial &one) const {
    scan<Warps>(problem, n, one.schedule);
  }
};

} // namespace test
