// SPDX-License-Identifier: MIT
// Results for runs of equal keys, and partitions into three parts, by every path.
#include <lookback/core/candidates.cuh>
#include <lookback/core/runs.cuh>
#include <lookback/core/three_parts.cuh>
#include <lookback/dispatch/dispatch.cuh>
#include <lookback/selection.cuh>

#include <support/check_paths.cuh>
#include <support/operators.hpp>

#include <algorithm>
#include <iterator>
#include <random>

namespace {

namespace core = lookback::detail;

/// Keys in runs of up to `longest` equal ones.
template <class Key, class Random>
std::vector<Key> keys_in_runs(std::size_t n, std::uint64_t longest, Random &random) {
  std::vector<Key> keys;
  for (Key key{}; keys.size() < n; key = static_cast<Key>(key + 1))
    keys.insert(keys.end(), std::min<std::size_t>(1 + random() % longest, n - keys.size()), key);
  return keys;
}

/// `make(first output, second output, count)` by every path: `first` and `second` are the results,
/// and what is behind them must be left alone.
template <class First, class Second, class Make>
void check_two_outputs(std::size_t n, const std::vector<First> &first,
                       const std::vector<Second> &second, Make make) {
  test::guarded_buffer<std::int64_t> count(1);
  test::guarded_buffer<First> first_output(n, 1);
  test::guarded_buffer<Second> second_output(n, 1);
  const auto problem = make(first_output.data(), second_output.data(), count.data());
  const auto with = [](auto all, const auto &results) {
    std::copy(results.begin(), results.end(), all.begin());
    return all;
  };
  for (const test::path by : test::paths) {
    INFO(doctest::String(test::name_of(by)), ", n = ", n, ", results ", first.size());
    count.poison();
    first_output.poison();
    second_output.poison();
    const auto first_before = first_output.download();
    const auto second_before = second_output.download();
    std::size_t bytes = 0;
    const auto length = static_cast<std::int64_t>(n);
    REQUIRE_CUDA(test::scan_by(by, nullptr, bytes, problem, length, nullptr));
    const test::guarded_buffer<unsigned char> temporary(bytes);
    if (!test::supported(problem, by, length,
                         test::scan_by(by, temporary.data(), bytes, problem, length, nullptr)))
      continue;
    CHECK_EQ(count.download()[0], static_cast<std::int64_t>(first.size()));
    CHECK_EQ(test::first_difference(first_output.download(), with(first_before, first)),
             test::nowhere);
    CHECK_EQ(test::first_difference(second_output.download(), with(second_before, second)),
             test::nowhere);
    CHECK(first_output.guards_intact());
    CHECK(second_output.guards_intact());
    CHECK(count.guards_intact());
    CHECK(temporary.guards_intact());
  }
}

/// Some of the edges of a problem with values of `bytes` bytes.
template <class Random, class Problem>
std::vector<std::size_t> some_lengths(std::size_t bytes, Random &random, const Problem &problem) {
  const auto all = test::lengths(bytes, random, problem);
  std::vector<std::size_t> some;
  std::sample(all.begin(), all.end(), std::back_inserter(some), 20, random);
  some.erase(std::remove(some.begin(), some.end(), std::size_t{0}), some.end());
  return some;
}

/// Reductions of runs: the bits of the CPU.
template <class T, class Operator, class Values>
void check_reductions(Operator op, Values any_value) {
  TEST_RANDOM(random);
  using key = std::uint16_t;
  const auto make = [&](const key *keys, const T *values) {
    return [=](key *keys_output, T *output, std::int64_t *count) {
      return core::make_reduction_by_key<T>(keys, values, keys_output, output, lookback::equal_to{},
                                            op, count);
    };
  };
  for (const std::size_t n :
       some_lengths(sizeof(T), random, make(nullptr, nullptr)(nullptr, nullptr, nullptr))) {
    const auto keys = keys_in_runs<key>(n, std::uint64_t{1} << random() % 14, random);
    std::vector<T> values, reductions(n, any_value(random));
    for (std::size_t i = 0; i < n; ++i) values.push_back(any_value(random));
    std::vector<key> first_keys(n);
    const auto ends =
        lookback::reduce_by_key(lookback::host, keys.data(), keys.data() + n, values.data(),
                                first_keys.data(), reductions.data(), lookback::equal_to{}, op);
    first_keys.resize(static_cast<std::size_t>(ends.first - first_keys.data()));
    reductions.resize(first_keys.size(), any_value(random));
    const test::guarded_buffer<key> device_keys(keys, random() % 8);
    const test::guarded_buffer<T> device_values(values, 1);
    check_two_outputs(n, first_keys, reductions, make(device_keys.data(), device_values.data()));
  }
}

} // namespace

TEST_CASE("reductions by key: sums of floats") {
  check_reductions<float>(lookback::plus{}, [](auto &random) {
    return std::uniform_real_distribution<float>(-1, 1)(random);
  });
}
TEST_CASE("reductions by key: maps that do not commute") {
  check_reductions<test::affine>(test::compose_affine{}, [](auto &random) {
    return test::affine{static_cast<std::uint32_t>(random()) | 1,
                        static_cast<std::uint32_t>(random())};
  });
}
TEST_CASE("reductions by key: 1 byte") {
  check_reductions<std::uint8_t>(test::plus<std::uint8_t>{},
                                 [](auto &random) { return static_cast<std::uint8_t>(random()); });
}

TEST_CASE("runs of at least two keys") {
  TEST_RANDOM(random);
  const auto make = [](const char *keys) {
    return [=](std::int32_t *offsets, std::int32_t *lengths, std::int64_t *count) {
      return core::make_long_runs(keys, offsets, lengths, lookback::equal_to{}, count);
    };
  };
  for (const std::size_t n : some_lengths(8, random, make(nullptr)(nullptr, nullptr, nullptr))) {
    const auto keys = keys_in_runs<char>(n, std::uint64_t{1} << random() % 12, random);
    std::vector<std::int32_t> offsets, lengths;
    for (std::size_t i = 0, end = 0; i < n; i = end) {
      while (end < n && keys[end] == keys[i]) ++end;
      if (end - i < 2) continue;
      offsets.push_back(static_cast<std::int32_t>(i));
      lengths.push_back(static_cast<std::int32_t>(end - i));
    }
    const test::guarded_buffer<char> device_keys(keys, random() % 16);
    check_two_outputs(n, offsets, lengths, make(device_keys.data()));
  }
}

TEST_CASE("the first keys of runs, with their values") {
  TEST_RANDOM(random);
  using word = std::uint32_t;
  const auto make = [](const word *keys, const double *values) {
    return [=](word *keys_output, double *values_output, std::int64_t *count) {
      return core::make_unique_by_key(keys, values, keys_output, values_output,
                                      lookback::equal_to{}, count);
    };
  };
  for (const std::size_t n :
       some_lengths(16, random, make(nullptr, nullptr)(nullptr, nullptr, nullptr))) {
    const auto keys = keys_in_runs<word>(n, std::uint64_t{1} << random() % 12, random);
    const auto values = test::random_values<double>(n, random);
    std::vector<word> kept_keys;
    std::vector<double> kept_values;
    for (std::size_t i = 0; i < n; ++i)
      if (i == 0 || keys[i] != keys[i - 1]) {
        kept_keys.push_back(keys[i]);
        kept_values.push_back(values[i]);
      }
    const test::guarded_buffer<word> device_keys(keys, 1);
    const test::guarded_buffer<double> device_values(values, 1);
    check_two_outputs(n, kept_keys, kept_values, make(device_keys.data(), device_values.data()));
  }
}

namespace {
struct is_below {
  std::uint16_t limit;
  __host__ __device__ bool operator()(std::uint16_t x) const { return x < limit; }
};
} // namespace

TEST_CASE("partitions into three parts") {
  TEST_RANDOM(random);
  using T = std::uint16_t;
  test::guarded_buffer<std::int64_t> counts(2);
  is_below first{0}, second{0};
  const auto make = [&](const T *x, T *rest) {
    return [=, &counts](T *first_output, T *second_output, std::int64_t *) {
      return core::make_three_parts(x, first, second, first_output, second_output, rest,
                                    counts.data());
    };
  };
  for (const std::size_t n :
       some_lengths(sizeof(T), random, make(nullptr, nullptr)(nullptr, nullptr, nullptr))) {
    first.limit = static_cast<T>(random() % 1001);
    second.limit = static_cast<T>(random() % 1001);
    const auto x = test::random_below<T>(n, 1000, random);
    std::vector<T> parts[3];
    for (const T item : x) parts[first(item) ? 0 : second(item) ? 1 : 2].push_back(item);
    const test::guarded_buffer<T> input(x, random() % 8);
    test::guarded_buffer<T> outputs[] = {test::guarded_buffer<T>(n, 1),
                                         test::guarded_buffer<T>(n, 2),
                                         test::guarded_buffer<T>(n, 3)};
    const auto problem =
        make(input.data(), outputs[2].data())(outputs[0].data(), outputs[1].data(), nullptr);
    for (const test::path by : test::paths) {
      INFO(doctest::String(test::name_of(by)), ", n = ", n, ", limits ", first.limit, ", ",
           second.limit);
      counts.poison();
      std::vector<T> expected[3];
      for (int part = 0; part < 3; ++part) {
        outputs[part].poison();
        expected[part] = outputs[part].download();
        std::copy(parts[part].begin(), parts[part].end(), expected[part].begin());
      }
      std::size_t bytes = 0;
      const auto length = static_cast<std::int64_t>(n);
      REQUIRE_CUDA(test::scan_by(by, nullptr, bytes, problem, length, nullptr));
      const test::guarded_buffer<unsigned char> temporary(bytes);
      if (!test::supported(problem, by, length,
                           test::scan_by(by, temporary.data(), bytes, problem, length, nullptr)))
        continue;
      CHECK(temporary.guards_intact());
      CHECK(counts.guards_intact());
      const auto numbers = counts.download();
      CHECK_EQ(numbers[0], static_cast<std::int64_t>(parts[0].size()));
      CHECK_EQ(numbers[1], static_cast<std::int64_t>(parts[1].size()));
      for (int part = 0; part < 3; ++part) {
        CHECK_EQ(test::first_difference(outputs[part].download(), expected[part]), test::nowhere);
        CHECK(outputs[part].guards_intact());
      }
    }
  }
}
