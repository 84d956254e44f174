// SPDX-License-Identifier: MIT
// Selections on the CPU, against a loop: every call, at the edges of tiles, in place, through
// iterators that are no pointers, with items that own memory, and with a predicate that throws.
#include <lookback/execution_policy.cuh>

#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/copy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/unique.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using lookback::host;

/// Items of runs of up to three equal ones. The tag tells equal ones apart.
struct tagged {
  int value, tag;
};
bool operator==(tagged a, tagged b) { return a.value == b.value && a.tag == b.tag; }
struct same_value {
  bool operator()(const tagged &a, const tagged &b) const { return a.value == b.value; }
};
struct is_odd {
  bool operator()(const tagged &x) const { return x.value % 2 != 0; }
  bool operator()(int x) const { return x % 2 != 0; }
  bool operator()(const std::string &x) const { return x.size() % 2 != 0; }
};

constexpr std::size_t tile = 65536 / sizeof(tagged);
const std::vector<std::size_t> lengths{
    0, 1, 2, 3, tile - 1, tile, tile + 1, 2 * tile, 2 * tile + 1, 1000000};

template <class Random>
std::vector<tagged> tagged_values(std::size_t n, Random &random) {
  std::vector<tagged> all;
  for (int value = 0; all.size() < n; value += 1 + static_cast<int>(random() % 3))
    for (std::size_t length = 1 + random() % 3; length > 0 && all.size() < n; --length)
      all.push_back({value, static_cast<int>(all.size())});
  return all;
}

/// The items with `keeps(i)`.
template <class T, class Keeps>
std::vector<T> those(const std::vector<T> &x, Keeps keeps) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (keeps(i)) kept.push_back(x[i]);
  return kept;
}

/// A result of a call: `all` up to `end`, and what is behind must be as it was.
template <class T, class End>
std::vector<T> up_to(std::vector<T> all, End end, const std::vector<T> &before) {
  const auto count = static_cast<std::size_t>(end);
  REQUIRE(count <= all.size());
  for (std::size_t i = count; i < all.size(); ++i) REQUIRE(all[i] == before[i]);
  all.resize(count, before.empty() ? T{} : before[0]);
  return all;
}

} // namespace

TEST_CASE("selections on the host: copies") {
  TEST_RANDOM(random);
  for (const std::size_t n : lengths) {
    INFO("n = ", n);
    const auto x = tagged_values(n, random);
    const auto stencil = test::random_below<int>(n, 100, random);
    const std::vector<tagged> filler(n, tagged{-1, -1});
    const is_odd odd;
    const auto by_item = [&](std::size_t i) { return odd(x[i]); };
    const auto by_stencil = [&](std::size_t i) { return odd(stencil[i]); };
    const auto no_item = [&](std::size_t i) { return !odd(x[i]); };
    const auto no_stencil = [&](std::size_t i) { return !odd(stencil[i]); };

    auto y = filler;
    auto end = thrust::copy_if(host, x.begin(), x.end(), y.begin(), odd) - y.begin();
    CHECK(up_to(y, end, filler) == those(x, by_item));
    y = filler;
    end = thrust::copy_if(host, x.begin(), x.end(), stencil.begin(), y.begin(), odd) - y.begin();
    CHECK(up_to(y, end, filler) == those(x, by_stencil));
    y = filler;
    end = thrust::remove_copy_if(host, x.begin(), x.end(), y.begin(), odd) - y.begin();
    CHECK(up_to(y, end, filler) == those(x, no_item));
    y = filler;
    end = thrust::remove_copy_if(host, x.begin(), x.end(), stencil.begin(), y.begin(), odd) -
          y.begin();
    CHECK(up_to(y, end, filler) == those(x, no_stencil));
    y = filler;
    const tagged value = n > 0 ? x[n / 2] : tagged{};
    end = thrust::remove_copy(host, x.begin(), x.end(), y.begin(), value) - y.begin();
    CHECK(up_to(y, end, filler) == those(x, [&](std::size_t i) { return !(x[i] == value); }));

    auto z = filler;
    y = filler;
    auto ends = thrust::partition_copy(host, x.begin(), x.end(), y.begin(), z.begin(), odd);
    CHECK(up_to(y, ends.first - y.begin(), filler) == those(x, by_item));
    CHECK(up_to(z, ends.second - z.begin(), filler) == those(x, no_item));
    y = z = filler;
    ends = thrust::stable_partition_copy(host, x.begin(), x.end(), stencil.begin(), y.begin(),
                                         z.begin(), odd);
    CHECK(up_to(y, ends.first - y.begin(), filler) == those(x, by_stencil));
    CHECK(up_to(z, ends.second - z.begin(), filler) == those(x, no_stencil));
  }
}

TEST_CASE("selections on the host: in place") {
  TEST_RANDOM(random);
  for (const std::size_t n : lengths) {
    INFO("n = ", n);
    const auto x = tagged_values(n, random);
    const auto stencil = test::random_below<int>(n, 100, random);
    const is_odd odd;
    const auto check_kept = [&](const std::vector<tagged> &y, std::size_t end, auto keeps) {
      CHECK(std::vector<tagged>(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(end)) ==
            those(x, keeps));
    };
    const auto check_parted = [&](const std::vector<tagged> &y, std::size_t end, auto keeps) {
      check_kept(y, end, keeps);
      CHECK(std::vector<tagged>(y.begin() + static_cast<std::ptrdiff_t>(end), y.end()) ==
            those(x, [&](std::size_t i) { return !keeps(i); }));
    };
    const auto by_item = [&](std::size_t i) { return odd(x[i]); };
    const auto by_stencil = [&](std::size_t i) { return odd(stencil[i]); };
    const auto place = [](const auto &y, auto end) {
      return static_cast<std::size_t>(end - y.begin());
    };

    auto y = x;
    check_kept(y, place(y, thrust::remove_if(host, y.begin(), y.end(), odd)),
               [&](std::size_t i) { return !by_item(i); });
    y = x;
    check_kept(y, place(y, thrust::remove_if(host, y.begin(), y.end(), stencil.begin(), odd)),
               [&](std::size_t i) { return !by_stencil(i); });
    y = x;
    const tagged value = n > 0 ? x[n / 2] : tagged{};
    check_kept(y, place(y, thrust::remove(host, y.begin(), y.end(), value)),
               [&](std::size_t i) { return !(x[i] == value); });
    y = x;
    check_parted(y, place(y, thrust::partition(host, y.begin(), y.end(), odd)), by_item);
    y = x;
    check_parted(y, place(y, thrust::stable_partition(host, y.begin(), y.end(), odd)), by_item);
    y = x;
    check_parted(y, place(y, thrust::partition(host, y.begin(), y.end(), stencil.begin(), odd)),
                 by_stencil);
    y = x;
    check_parted(y,
                 place(y, thrust::stable_partition(host, y.begin(), y.end(), stencil.begin(), odd)),
                 by_stencil);
  }
}

TEST_CASE("selections on the host: the first of equal ones") {
  TEST_RANDOM(random);
  for (const std::size_t n : lengths) {
    INFO("n = ", n);
    const auto x = tagged_values(n, random);
    const std::vector<tagged> filler(n, tagged{-1, -1});
    std::vector<int> values(n);
    for (auto &one : values) one = static_cast<int>(random());
    const same_value same;
    const auto first = [&](std::size_t i) { return i == 0 || !same(x[i - 1], x[i]); };
    const auto expected = those(x, first);
    const auto expected_values = those(values, first);

    auto y = filler;
    const auto end = thrust::unique_copy(host, x.begin(), x.end(), y.begin(), same) - y.begin();
    CHECK(up_to(y, end, filler) == expected);
    y = x;
    y.erase(thrust::unique(host, y.begin(), y.end(), same), y.end());
    CHECK(y == expected);
    CHECK(static_cast<std::size_t>(thrust::unique_count(host, x.begin(), x.end(), same)) ==
          expected.size());
    y = x;
    auto v = values;
    const auto ends = thrust::unique_by_key(host, y.begin(), y.end(), v.begin(), same);
    y.erase(ends.first, y.end());
    v.erase(ends.second, v.end());
    CHECK(y == expected);
    CHECK(v == expected_values);
    y = filler;
    v.assign(n, -1);
    const auto copied = thrust::unique_by_key_copy(host, x.begin(), x.end(), values.begin(),
                                                   y.begin(), v.begin(), same);
    CHECK(up_to(y, copied.first - y.begin(), filler) == expected);
    v.erase(copied.second, v.end());
    CHECK(v == expected_values);
  }
}

namespace {

/// reduce_by_key, of values of type T, against inclusive_scan_by_key.
template <class T, class Random>
void check_reductions(std::size_t n, T divisor, Random &random) {
  INFO("n = ", n);
  const auto keys = tagged_values(n, random);
  std::vector<T> values(n), scanned(n), expected;
  for (auto &one : values) one = static_cast<T>(static_cast<T>(random() % 1000) / divisor);
  const same_value same;
  thrust::inclusive_scan_by_key(host, keys.begin(), keys.end(), values.begin(), scanned.begin(),
                                same);
  const auto first = [&](std::size_t i) { return i == 0 || !same(keys[i - 1], keys[i]); };
  for (std::size_t i = 0; i < n; ++i)
    if (i + 1 == n || first(i + 1)) expected.push_back(scanned[i]);
  std::vector<tagged> heads(n);
  std::vector<T> sums(n);
  const auto ends = thrust::reduce_by_key(host, keys.begin(), keys.end(), values.begin(),
                                          heads.begin(), sums.begin(), same);
  heads.erase(ends.first, heads.end());
  sums.erase(ends.second, sums.end());
  CHECK(heads == those(keys, first));
  CHECK(sums == expected);
}

} // namespace

TEST_CASE("reduce_by_key on the host: the bits of the scan by key") {
  TEST_RANDOM(random);
  for (const std::size_t n : lengths) {
    check_reductions<float>(n, 7, random);
    check_reductions<std::int8_t>(n, 1, random);
    check_reductions<std::uint64_t>(n, 1, random);
  }
  // Around the ends of the tiles of a sum of integers.
  constexpr std::size_t items = 4096;
  for (const std::size_t n : {items - 1, items, items + 1, 2 * items, 2 * items + 1})
    check_reductions<int>(n, 1, random);
}

TEST_CASE("reduce_by_key on the host: values that own memory, an operator that does not commute") {
  const std::vector<int> keys{4, 4, 4, 7, 9, 9};
  const std::vector<std::string> values{"a", "b", "c", "d", "e", "f"};
  std::vector<int> heads(6);
  std::vector<std::string> joined(6);
  const auto ends =
      lookback::reduce_by_key(host, keys.begin(), keys.end(), values.begin(), heads.begin(),
                              joined.begin(), std::equal_to<int>{}, std::plus<std::string>{});
  heads.erase(ends.first, heads.end());
  joined.erase(ends.second, joined.end());
  CHECK(heads == std::vector<int>{4, 7, 9});
  CHECK(joined == std::vector<std::string>{"abc", "d", "ef"});
}

TEST_CASE("selections on the host: items that own memory, a deque, bits of words, no memory") {
  std::deque<std::string> words;
  for (int i = 0; i < 30000; ++i)
    words.push_back(std::string(static_cast<std::size_t>(i) % 23, 'x'));
  const std::deque<std::string> given = words;
  const is_odd odd;
  words.erase(thrust::remove_if(host, words.begin(), words.end(), odd), words.end());
  std::deque<std::string> expected;
  for (const auto &word : given)
    if (!odd(word)) expected.push_back(word);
  CHECK(words == expected);

  const auto squares = thrust::make_transform_iterator(thrust::make_counting_iterator(0),
                                                       [](int i) { return i % 11 * i % 11; });
  constexpr int n = 2000000;
  std::vector<bool> bits(n);
  const auto is_small =
      thrust::make_transform_output_iterator(bits.begin(), [](int x) { return x < 4; });
  const auto end = thrust::copy_if(host, squares, squares + n, is_small, odd);
  std::vector<bool> small;
  for (int i = 0; i < n; ++i)
    if (odd(squares[i])) small.push_back(squares[i] < 4);
  CHECK(end - is_small == static_cast<std::ptrdiff_t>(small.size()));
  bits.resize(small.size());
  CHECK(bits == small);
  int runs = 1;
  for (int i = 1; i < n; ++i) runs += squares[i] != squares[i - 1] ? 1 : 0;
  CHECK(thrust::unique_count(host, squares, squares + n) == runs);
}

TEST_CASE("selections on the host: one call of the predicate an item, on several threads") {
  constexpr int n = 3000000;
  std::atomic<int> calls{0}, elsewhere{0};
  const auto caller = std::this_thread::get_id();
  std::vector<int> out(n);
  const auto counting = thrust::make_counting_iterator(0);
  const auto end = thrust::copy_if(host, counting, counting + n, out.begin(), [&](int i) {
    ++calls;
    if (std::this_thread::get_id() != caller) ++elsewhere;
    if (i % 16384 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    return i % 3 == 0;
  });
  CHECK(calls == n);
  CHECK(end - out.begin() == n / 3);
  for (int i = 0; i < n / 3; ++i) REQUIRE(out[static_cast<std::size_t>(i)] == 3 * i);
  if (std::thread::hardware_concurrency() > 1) CHECK(elsewhere > 0);
}

TEST_CASE("selections on the host: a predicate that throws") {
  std::vector<int> x(3000000, 1);
  for (const int at : {0, 20000, 2999999}) {
    std::atomic<int> calls{0};
    const auto throws = [&](int) -> bool {
      if (calls++ == at) throw std::runtime_error("the predicate's own");
      return true;
    };
    CHECK_THROWS_WITH(thrust::remove_if(host, x.begin(), x.end(), throws), "the predicate's own");
    calls = 0;
    CHECK_THROWS_WITH(thrust::partition(host, x.begin(), x.end(), throws), "the predicate's own");
  }
}
