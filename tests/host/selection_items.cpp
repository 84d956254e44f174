// SPDX-License-Identifier: MIT
// Selections on the CPU of items that are not plain words: items that own memory, on one thread and
// on several; items larger than a vector, and larger than a tile; runs longer than a tile; copies
// and comparisons that throw; results that are bits of words.
#include <lookback/execution_policy.cuh>

#include <support/constant_iterator.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/copy.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/system/cpp/execution_policy.h>
#include <thrust/unique.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using lookback::host;

/// Counts its objects, and throws when the copies run out, or the comparisons.
struct owner {
  static std::atomic<long> alive, copies_left, comparisons_left;
  static constexpr long unlimited = std::numeric_limits<long>::max() / 2;
  static void limit(long copies, long comparisons) {
    copies_left = copies;
    comparisons_left = comparisons;
  }
  static void spend(std::atomic<long> &left) {
    if (left.fetch_sub(1, std::memory_order_relaxed) <= 0) throw std::runtime_error("the item's");
  }

  explicit owner(int x = 0) : text(std::to_string(x) + ", too long to be stored in place") {
    ++alive;
  }
  owner(const owner &other) : text((spend(copies_left), other.text)) { ++alive; }
  owner(owner &&other) : text(std::move(other.text)) { ++alive; }
  owner &operator=(const owner &other) {
    spend(copies_left);
    text = other.text;
    return *this;
  }
  ~owner() { --alive; }
  friend bool operator==(const owner &a, const owner &b) {
    spend(comparisons_left);
    return a.text == b.text;
  }
  bool is_odd() const { return text[text.find(',') - 1] % 2 != 0; }

  std::string text;
};
std::atomic<long> owner::alive{0}, owner::copies_left{owner::unlimited},
    owner::comparisons_left{owner::unlimited};

struct is_odd {
  bool operator()(const owner &x) const { return x.is_odd(); }
  template <class T>
  bool operator()(const T &x) const {
    return x % 2 != 0;
  }
};

/// Runs of up to three equal ones.
template <class Random>
std::vector<owner> owners(std::size_t n, Random &random) {
  std::vector<owner> all;
  all.reserve(n);
  while (all.size() < n) {
    const int value = static_cast<int>(random() % 1000);
    for (std::size_t i = 1 + random() % 3; i > 0 && all.size() < n; --i) all.emplace_back(value);
  }
  return all;
}

template <std::size_t Bytes>
struct wide {
  explicit wide(int x = 0) { words.fill(x); }
  friend bool operator==(const wide &a, const wide &b) { return a.words == b.words; }
  std::array<int, Bytes / sizeof(int)> words;
};

/// copy_if, remove in place, both partitions and unique, of `x`, against those of std.
template <class T, class Predicate>
void check_all(const std::vector<T> &x, Predicate predicate) {
  std::vector<T> y(x), expected;
  std::copy_if(x.begin(), x.end(), std::back_inserter(expected), predicate);
  const std::size_t kept = expected.size();
  y.erase(thrust::copy_if(host, x.begin(), x.end(), y.begin(), predicate), y.end());
  CHECK(y == expected);

  std::remove_copy_if(x.begin(), x.end(), std::back_inserter(expected), predicate);
  y = x;
  CHECK(thrust::partition(host, y.begin(), y.end(), predicate) ==
        y.begin() + static_cast<std::ptrdiff_t>(kept));
  CHECK(y == expected);
  std::vector<T> rejected(x);
  y = x;
  const auto ends =
      thrust::partition_copy(host, x.begin(), x.end(), y.begin(), rejected.begin(), predicate);
  y.erase(ends.first, y.end());
  y.insert(y.end(), rejected.begin(), ends.second);
  CHECK(y == expected);

  // The value lies in the range, and is overwritten while the others are compared with it.
  if (!x.empty()) {
    expected = y = x;
    expected.erase(std::remove(expected.begin(), expected.end(), T(x[0])), expected.end());
    y.erase(thrust::remove(host, y.begin(), y.end(), y[0]), y.end());
    CHECK(y == expected);
  }
  expected = y = x;
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  y.erase(thrust::unique(host, y.begin(), y.end()), y.end());
  CHECK(y == expected);
}

template <std::size_t Bytes>
void check_wide(std::initializer_list<std::size_t> lengths) {
  TEST_RANDOM(random);
  for (const std::size_t n : lengths) {
    INFO("items of ", Bytes, " bytes, n = ", n);
    std::vector<wide<Bytes>> x;
    while (x.size() < n) x.emplace_back(static_cast<int>(random() % 4));
    check_all(x, [](const wide<Bytes> &item) { return item.words.back() % 2 != 0; });
  }
}

} // namespace

TEST_CASE("selections on the host: items that own memory, on one thread and on several") {
  TEST_RANDOM(random);
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{3000},
                              (std::size_t{5} << 20) / sizeof(owner)}) {
    INFO("n = ", n);
    check_all(owners(n, random), is_odd{});
    REQUIRE(owner::alive == 0);
  }
}

TEST_CASE("selections on the host: wide items, also larger than a tile") {
  check_wide<260>({1, 251, 252, 253, 40000});
  check_wide<70000>({1, 2, 150});
}

TEST_CASE("selections on the host: all kept, none kept, one kept, on several threads") {
  TEST_RANDOM(random);
  const auto n = static_cast<std::size_t>((std::size_t{6} << 20) / sizeof(int) + random() % 1000);
  std::vector<int> x(n);
  std::iota(x.begin(), x.end(), 0);
  const auto one = static_cast<int>(random() % n);
  check_all(x, [](int) { return true; });
  check_all(x, [](int) { return false; });
  check_all(x, [one](int i) { return i == one; });
}

TEST_CASE("selections on the host: last before first") {
  std::vector<int> x{1, 2, 3}, y{4, 5, 6};
  const auto first = x.begin() + 2, last = x.begin();
  CHECK(thrust::copy_if(host, first, last, y.begin(), is_odd{}) == y.begin());
  CHECK(thrust::remove(host, first, last, 3) == first);
  CHECK(thrust::partition(host, first, last, is_odd{}) == first);
  CHECK(thrust::unique(host, first, last) == first);
  CHECK(thrust::unique_count(host, first, last) == 0);
  const auto ends = thrust::reduce_by_key(host, first, last, x.begin(), y.begin(), y.begin());
  CHECK(ends.first == y.begin());
  CHECK(ends.second == y.begin());
  CHECK(x == std::vector<int>{1, 2, 3});
  CHECK(y == std::vector<int>{4, 5, 6});
}

TEST_CASE("selections on the host: runs longer than a tile, on several threads") {
  TEST_RANDOM(random);
  std::vector<int> keys;
  std::vector<std::uint32_t> values, sums;
  std::vector<int> heads;
  // A tile of keys is 16,384 of them.
  for (int key = 0; keys.size() < (6 << 20) / sizeof(int); ++key) {
    const std::size_t length = 1 + random() % 70000;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < length; ++i) {
      keys.push_back(key);
      values.push_back(static_cast<std::uint32_t>(random()));
      sum += values.back();
    }
    heads.push_back(key);
    sums.push_back(sum);
  }
  CHECK(thrust::unique_count(host, keys.begin(), keys.end()) ==
        static_cast<std::ptrdiff_t>(heads.size()));
  std::vector<int> own_heads(keys.size());
  std::vector<std::uint32_t> own_sums(keys.size());
  const auto ends = thrust::reduce_by_key(host, keys.begin(), keys.end(), values.begin(),
                                          own_heads.begin(), own_sums.begin());
  own_heads.erase(ends.first, own_heads.end());
  own_sums.erase(ends.second, own_sums.end());
  CHECK(own_heads == heads);
  CHECK(own_sums == sums);
  keys.erase(thrust::unique(host, keys.begin(), keys.end()), keys.end());
  CHECK(keys == heads);
}

TEST_CASE("reduce_by_key on the host: without an operator, added in the type of the results") {
  const std::vector<int> keys{1, 1, 1, 2, 3, 3};
  const std::vector<float> halves{1.5f, 1.5f, 1.5f, 2.5f, 3.5f, 0.5f};
  std::vector<int> heads(6), sums(6), expected(6);
  const auto ends = thrust::reduce_by_key(host, keys.begin(), keys.end(), halves.begin(),
                                          heads.begin(), sums.begin());
  thrust::reduce_by_key(thrust::cpp::par, keys.begin(), keys.end(), halves.begin(), heads.begin(),
                        expected.begin());
  CHECK(ends.second - sums.begin() == 3);
  CHECK(sums == expected);
  CHECK(sums == std::vector<int>{3, 2, 3, 0, 0, 0});
  // Values of a byte overflow as those of a byte do, as in Thrust.
  const std::vector<signed char> bytes{100, 100, 100, 2, 3, 4};
  thrust::reduce_by_key(host, keys.begin(), keys.end(), bytes.begin(), heads.begin(), sums.begin());
  thrust::reduce_by_key(thrust::cpp::par, keys.begin(), keys.end(), bytes.begin(), heads.begin(),
                        expected.begin());
  CHECK(sums == expected);
  CHECK(sums[0] == 44);
}

TEST_CASE("selections on the host: a copy or a comparison that throws, and nothing leaks") {
  TEST_RANDOM(random);
  const auto x = owners((std::size_t{5} << 20) / sizeof(owner), random);
  const auto n = static_cast<long>(x.size());
  for (const long before : {0l, 1l, n / 3, n - 1}) {
    INFO("copies before one throws: ", before);
    auto y = x;
    const long alive = owner::alive;
    const auto throws = [&](auto call) {
      owner::limit(before, owner::unlimited);
      CHECK_THROWS_WITH(call(), "the item's");
      owner::limit(owner::unlimited, owner::unlimited);
      REQUIRE(owner::alive == alive);
    };
    throws([&] {
      return thrust::copy_if(host, x.begin(), x.end(), y.begin(),
                             [](const owner &) { return true; });
    });
    throws([&] { return thrust::partition(host, y.begin(), y.end(), is_odd{}); });
    throws([&] { return thrust::unique(host, y.begin(), y.end()); });
  }
  for (const long before : {0l, 1l, n / 3, n - 2}) {
    INFO("comparisons before one throws: ", before);
    auto y = x;
    const long alive = owner::alive;
    owner::limit(owner::unlimited, before);
    CHECK_THROWS_WITH(thrust::unique_count(host, y.begin(), y.end()), "the item's");
    owner::limit(owner::unlimited, before);
    CHECK_THROWS_WITH(thrust::unique(host, y.begin(), y.end()), "the item's");
    owner::limit(owner::unlimited, owner::unlimited);
    REQUIRE(owner::alive == alive);
  }
}

TEST_CASE("partition on the host: items that can only be moved are Thrust's") {
  std::vector<std::unique_ptr<int>> x;
  for (int i = 0; i < 10; ++i) x.push_back(std::make_unique<int>(i));
  const auto end = thrust::partition(host, x.begin(), x.end(),
                                     [](const std::unique_ptr<int> &i) { return *i % 2 != 0; });
  CHECK(end - x.begin() == 5);
  for (auto it = x.begin(); it != x.end(); ++it) CHECK((**it % 2 != 0) == (it < end));
}

TEST_CASE("reduce_by_key on the host: lengths of runs, from a constant") {
  TEST_RANDOM(random);
  std::vector<int> keys, lengths;
  while (keys.size() < 100000) {
    lengths.push_back(1 + static_cast<int>(random() % 5000));
    keys.insert(keys.end(), static_cast<std::size_t>(lengths.back()),
                static_cast<int>(lengths.size()));
  }
  std::vector<int> counted(keys.size());
  const auto ends =
      thrust::reduce_by_key(host, keys.begin(), keys.end(), test::constant_iterator(1),
                            thrust::make_discard_iterator(), counted.begin());
  counted.erase(ends.second, counted.end());
  CHECK(counted == lengths);
}
