// SPDX-License-Identifier: MIT
// Distributed scans of sequences that are split at random, against one scan of the whole, bit for
// bit.
#include <lookback/distributed.cuh>

#include <distributed/ranks.hpp>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/sizes.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cstring>

namespace {

using lookback::host;
namespace distributed = lookback::distributed;

/// Where the shards begin; behind the last, n.
using split = std::vector<std::size_t>;

/// Cuts near the edges of the tree and anywhere, some next to another or at the same place.
template <class Random>
split random_split(std::size_t n, int ranks, const test::tree_sizes &size, Random &random) {
  split cuts{0, n};
  const std::size_t units[] = {size.vector, size.row, size.tile, size.tile, size.group};
  while (cuts.size() <= static_cast<std::size_t>(ranks)) {
    const std::size_t unit = units[random() % 5], near = random() % (n / unit + 1) * unit;
    const std::size_t choices[] = {random() % (n + 1), near, near + random() % 3,
                                   near - std::min<std::size_t>(near, random() % 3),
                                   cuts[random() % cuts.size()] + random() % 2};
    cuts.push_back(std::min(n, choices[random() % 5]));
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

/// The calls for the whole sequence, and those for a shard: tests are written once for both.
struct whole_calls {
  template <class... A>
  auto inclusive_scan(A... a) const {
    return lookback::inclusive_scan(host, a...);
  }
  template <class... A>
  auto exclusive_scan(A... a) const {
    return lookback::exclusive_scan(host, a...);
  }
  template <class... A>
  auto transform_inclusive_scan(A... a) const {
    return lookback::transform_inclusive_scan(host, a...);
  }
  template <class... A>
  auto transform_exclusive_scan(A... a) const {
    return lookback::transform_exclusive_scan(host, a...);
  }
  template <class... A>
  auto inclusive_scan_by_key(A... a) const {
    return lookback::inclusive_scan_by_key(host, a...);
  }
  template <class... A>
  auto exclusive_scan_by_key(A... a) const {
    return lookback::exclusive_scan_by_key(host, a...);
  }
};
template <class Communicator>
struct shard_calls {
  const Communicator &ranks;
  template <class... A>
  auto inclusive_scan(A... a) const {
    return distributed::inclusive_scan(ranks, host, a...);
  }
  template <class... A>
  auto exclusive_scan(A... a) const {
    return distributed::exclusive_scan(ranks, host, a...);
  }
  template <class... A>
  auto transform_inclusive_scan(A... a) const {
    return distributed::transform_inclusive_scan(ranks, host, a...);
  }
  template <class... A>
  auto transform_exclusive_scan(A... a) const {
    return distributed::transform_exclusive_scan(ranks, host, a...);
  }
  template <class... A>
  auto inclusive_scan_by_key(A... a) const {
    return distributed::inclusive_scan_by_key(ranks, host, a...);
  }
  template <class... A>
  auto exclusive_scan_by_key(A... a) const {
    return distributed::exclusive_scan_by_key(ranks, host, a...);
  }
};

/// The calls of a rank: as they are, or with the lengths of all shards known.
struct unknown_lengths {
  template <class Communicator, class Scan>
  auto operator()(const Communicator &ranks, const split &, Scan scan) const {
    return scan(shard_calls<Communicator>{ranks});
  }
};
struct known_lengths {
  template <class Communicator, class Scan>
  auto operator()(const Communicator &ranks, const split &cuts, Scan scan) const {
    const auto shards = test::known(ranks, cuts);
    return scan(shard_calls<distributed::known_shards<Communicator>>{shards});
  }
};

std::size_t splits_checked = 0;

/// `scan(calls, begin, end, y)` scans the elements from `begin` to `end` by a call of `calls`, and
/// writes their results to y[begin] and those after it. `y` has the elements of `before` at first.
template <class Lengths = unknown_lengths, class Out, class Scan, class Random>
void check_splits(const std::vector<Out> &before, int ranks, std::size_t splits, std::size_t bytes,
                  Random &random, Scan scan) {
  const std::size_t n = before.size();
  std::vector<Out> expected = before;
  scan(whole_calls{}, std::size_t{0}, n, expected.data());
  std::vector<split> all;
  for (std::size_t i = 0; i < test::trials(splits); ++i)
    all.push_back(random_split(n, ranks, test::tree_sizes(bytes, bytes), random));
  std::vector<std::vector<Out>> y(all.size(), before);
  distributed::threads group(ranks);
  const auto errors = test::on_all_ranks(group, [&](const auto &communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t begin = all[i][rank], end = all[i][rank + 1];
      if (Lengths{}(communicator, all[i], [&](auto calls) {
            return scan(calls, begin, end, y[i].data());
          }) != y[i].data() + end)
        throw std::logic_error("the call returns another end of its results");
    }
  });
  for (const std::string &error : errors) REQUIRE_EQ(error, "");
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string cuts;
    for (const std::size_t cut : all[i]) cuts += " " + std::to_string(cut);
    INFO(n, " elements, cut at", cuts);
    REQUIRE((n == 0 || std::memcmp(y[i].data(), expected.data(), n * sizeof(Out)) == 0));
  }
  splits_checked += all.size();
}

/// Groups of 1 to 64 ranks, with lengths of all magnitudes. `check(n, ranks, splits)`.
template <class Random, class Check>
void for_lengths(std::size_t bytes, Random &random, Check check) {
  const test::tree_sizes size(bytes, bytes);
  const std::size_t most[] = {3, 2 * size.row, 3 * size.tile, 40 * size.tile, 3 * size.group};
  for (const int ranks : {1, 2, 3, 6, 17, 64}) check(random() % most[random() % 5], ranks, 10);
  check(2 * size.group + random() % size.group, 2 + static_cast<int>(random() % 20), 10);
}

/// Inclusive and exclusive scans, with and without an initial value, apart and in place.
template <class T, class Operator>
void check_type(const char *name, Operator op, const T &filler) {
  TEST_RANDOM(random);
  INFO(doctest::String(name));
  const T init = test::random_value<T>::make(random);
  for_lengths(sizeof(T), random, [&](std::size_t n, int ranks, std::size_t splits) {
    const auto x = test::random_values<T>(n, random);
    const std::vector<T> apart(n, filler);
    check_splits(apart, ranks, splits, sizeof(T), random, [&](auto on, auto b, auto e, T *y) {
      return on.inclusive_scan(x.data() + b, x.data() + e, y + b, op);
    });
    check_splits(x, ranks, splits, sizeof(T), random, [&](auto on, auto b, auto e, T *y) {
      return on.inclusive_scan(y + b, y + e, y + b, init, op);
    });
    check_splits(x, ranks, splits, sizeof(T), random, [&](auto on, auto b, auto e, T *y) {
      return on.exclusive_scan(y + b, y + e, y + b, init, op);
    });
  });
}

} // namespace

TEST_CASE("distributed scans: sums") {
  check_type<float>("float", lookback::plus{}, -2.0f);
  check_type<double>("double", lookback::plus{}, -2.0);
  check_type<std::uint32_t>("32 bits", lookback::plus{}, 7);
}

TEST_CASE("distributed scans: operators that do not commute, on types of several sizes") {
  check_type<test::sized<24>>("24 bytes", test::compose{}, {});
  check_type<test::no_default>("no default constructor", test::compose{}, test::no_default(7));
}

TEST_CASE("distributed scans: a large type") {
  TEST_RANDOM(random);
  using T = test::sized<512>;
  const auto x = test::random_values<T>(3000, random);
  for (const int ranks : {2, 9})
    check_splits(x, ranks, 10, sizeof(T), random, [&](auto on, auto b, auto e, T *y) {
      return on.inclusive_scan(y + b, y + e, y + b, test::compose{});
    });
}

TEST_CASE("distributed scans: items in order, each once, from an iterator that is no pointer") {
  TEST_RANDOM(random);
  using test::interval;
  const auto x = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                 test::to_interval{});
  const test::join_intervals op;
  for_lengths(sizeof(interval), random, [&](std::size_t n, int ranks, std::size_t splits) {
    const std::vector<interval> apart(n, test::interval_error);
    const auto check = [&](auto scan) {
      check_splits(apart, ranks, splits, sizeof(interval), random, scan);
    };
    check([&](auto on, auto b, auto e, interval *y) {
      return on.inclusive_scan(x + b, x + e, y + b, test::interval_initial, op);
    });
    check([&](auto on, auto b, auto e, interval *y) {
      return on.exclusive_scan(x + b, x + e, y + b, test::interval_initial, op);
    });
  });
}

TEST_CASE("distributed scans: every other call without keys, mixed types") {
  TEST_RANDOM(random);
  const test::triple_plus_one<float> f;
  for_lengths(sizeof(float), random, [&](std::size_t n, int ranks, std::size_t splits) {
    const auto x = test::random_values<float>(n, random);
    const std::vector<float> y(n, -2.0f);
    const std::vector<double> wide(n, -2.0);
    const auto check = [&](const auto &before, auto scan) {
      check_splits(before, ranks, splits, sizeof(before[0]), random, scan);
    };
    check(y, [&](auto on, auto b, auto e, float *to) {
      return on.inclusive_scan(x.data() + b, x.data() + e, to + b);
    });
    check(y, [&](auto on, auto b, auto e, float *to) {
      return on.exclusive_scan(x.data() + b, x.data() + e, to + b);
    });
    check(y, [&](auto on, auto b, auto e, float *to) { // accumulates in double
      return on.exclusive_scan(x.data() + b, x.data() + e, to + b, 0.1);
    });
    check(wide, [&](auto on, auto b, auto e, double *to) { // accumulates in float
      return on.inclusive_scan(x.data() + b, x.data() + e, to + b, lookback::plus{});
    });
    check(y, [&](auto on, auto b, auto e, float *to) {
      return on.transform_inclusive_scan(x.data() + b, x.data() + e, to + b, f, lookback::plus{});
    });
    check(y, [&](auto on, auto b, auto e, float *to) {
      return on.transform_inclusive_scan(x.data() + b, x.data() + e, to + b, f, 0.1,
                                         lookback::plus{});
    });
    check(y, [&](auto on, auto b, auto e, float *to) {
      return on.transform_exclusive_scan(x.data() + b, x.data() + e, to + b, f, 0.1f,
                                         lookback::plus{});
    });
  });
}

TEST_CASE("distributed scans: by key, apart, in the values and in the keys") {
  TEST_RANDOM(random);
  const test::compose_words op;
  using word = std::uint32_t;
  for_lengths(sizeof(word), random, [&](std::size_t n, int ranks, std::size_t splits) {
    const auto x = test::random_values<word>(n, random);
    const auto keys = test::random_keys<word>(n, random, 1 + random() % 8);
    const std::vector<word> apart(n, 7);
    const auto check = [&](const std::vector<word> &before, auto scan) {
      check_splits(before, ranks, splits, sizeof(word), random, scan);
    };
    check(apart, [&](auto on, auto b, auto e, word *y) {
      return on.inclusive_scan_by_key(keys.data() + b, keys.data() + e, x.data() + b, y + b);
    });
    check(apart, [&](auto on, auto b, auto e, word *y) {
      return on.exclusive_scan_by_key(keys.data() + b, keys.data() + e, x.data() + b, y + b);
    });
    check(x, [&](auto on, auto b, auto e, word *y) {
      return on.inclusive_scan_by_key(keys.data() + b, keys.data() + e, y + b, y + b,
                                      test::same_octave{}, op);
    });
    check(keys, [&](auto on, auto b, auto e, word *y) {
      return on.inclusive_scan_by_key(y + b, y + e, x.data() + b, y + b, test::same_octave{}, op);
    });
    check(keys, [&](auto on, auto b, auto e, word *y) {
      return on.exclusive_scan_by_key(y + b, y + e, x.data() + b, y + b, word{5},
                                      lookback::equal_to{}, op);
    });
  });
}

TEST_CASE("distributed scans: lengths that are known") {
  TEST_RANDOM(random);
  for_lengths(sizeof(float), random, [&](std::size_t n, int ranks, std::size_t splits) {
    const auto x = test::random_values<float>(n, random);
    check_splits<known_lengths>(
        x, ranks, splits, sizeof(float), random,
        [&](auto on, auto b, auto e, float *y) { return on.inclusive_scan(y + b, y + e, y + b); });
  });
}

TEST_CASE("distributed scans: shards that several threads scan") {
  TEST_RANDOM(random);
  const std::size_t n = 5000000 + random() % 1000;
  const auto floats = test::random_values<float>(n, random);
  check_splits(floats, 3, 3, sizeof(float), random, [&](auto on, auto b, auto e, float *y) {
    return on.exclusive_scan(y + b, y + e, y + b, 0.3f);
  });
  const auto words = test::random_values<std::uint32_t>(n, random);
  check_splits(words, 2, 3, sizeof(float), random, [&](auto on, auto b, auto e, std::uint32_t *y) {
    return on.inclusive_scan(y + b, y + e, y + b, lookback::plus{});
  });
  const auto keys = test::random_keys<std::uint32_t>(n, random);
  check_splits(keys, 3, 3, sizeof(float), random, [&](auto on, auto b, auto e, std::uint32_t *y) {
    return on.inclusive_scan_by_key(y + b, y + e, words.data() + b, y + b, lookback::equal_to{},
                                    test::compose_words{});
  });
  // Before and after one long shard, which begins and ends within a group.
  const test::compose_words op;
  for (const std::size_t cut : {std::size_t{4097}, 33 * std::size_t{4096}}) {
    std::vector<std::uint32_t> expected(n), y(n);
    lookback::inclusive_scan(host, words.data(), words.data() + n, expected.data(), op);
    const std::size_t cuts[] = {0, cut, n - 3 * cut, n};
    distributed::threads group(3);
    const auto errors = test::on_all_ranks(group, [&](const auto &on) {
      const std::uint32_t *const first = words.data() + cuts[on.rank()];
      distributed::inclusive_scan(on, host, first, words.data() + cuts[on.rank() + 1],
                                  y.data() + cuts[on.rank()], op);
    });
    for (const std::string &error : errors) REQUIRE_EQ(error, "");
    REQUIRE(y == expected);
  }
}

TEST_CASE("distributed scans: the number of splits") { MESSAGE(splits_checked, " splits"); }
