// SPDX-License-Identifier: MIT
// Continued scans on the CPU: chunks of all lengths against one scan of the whole sequence, bit for
// bit.
#include <lookback/continued_scan.cuh>

#include <support/guarded_vector.hpp>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/sizes.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

namespace {

using lookback::host;

/// The same bits; of objects that are more than bits, the same values.
template <class T>
bool same(const T *a, const T *b, std::size_t n) {
  if constexpr (std::is_trivially_copyable<T>::value)
    return n == 0 || std::memcmp(a, b, n * sizeof(T)) == 0;
  else
    return std::equal(a, a + n, b);
}

/// Lengths that add up to `n`: of the edges of the tree up to `longest`, and random ones below it;
/// empty ones, too. The first may reach close to an edge, whose other side short ones then find.
template <class Random>
std::vector<std::size_t> random_chunks(std::size_t n, std::size_t longest, std::size_t bytes,
                                       Random &random) {
  const auto near_edges = test::edge_sizes(bytes, bytes, n, random);
  const auto lengths = test::edge_sizes(bytes, bytes, longest, random);
  std::vector<std::size_t> chunks;
  const auto append = [&](std::size_t length) {
    chunks.push_back(std::min(length, n));
    n -= chunks.back();
  };
  const std::size_t edge = near_edges[random() % near_edges.size()];
  append(edge - std::min(edge, random() % (2 * longest)));
  while (n > 0) {
    const std::size_t most = std::size_t{1} << random() % 24;
    append(random() % 2 == 0 ? lengths[random() % lengths.size()]
                             : random() % std::min(longest + 1, most));
  }
  append(0);
  return chunks;
}

/// Every element's inclusive and exclusive results; none, where they are not known.
template <class T>
struct expected_results {
  std::vector<T> inclusive, exclusive;
};

/// Those of one scan of the whole sequence. Without an initial value, the exclusive ones are not
/// known.
template <class T, class Operator>
expected_results<T> scan_whole(const std::vector<T> &x, Operator op, const T *initial) {
  expected_results<T> whole;
  if (x.empty()) return whole;
  whole.inclusive.assign(x.size(), x[0]);
  const T *const first = x.data(), *const last = first + x.size();
  if (initial == nullptr) {
    lookback::inclusive_scan(host, first, last, whole.inclusive.data(), op);
  } else {
    whole.exclusive.assign(x.size(), x[0]);
    lookback::inclusive_scan(host, first, last, whole.inclusive.data(), *initial, op);
    lookback::exclusive_scan(host, first, last, whole.exclusive.data(), *initial, op);
  }
  return whole;
}

/// Scans the chunks of `x` by `running`. `is_inclusive()` chooses the call for each chunk.
template <class T, class Operator, class Choose>
void check_calls(lookback::continued_scan<T, Operator> running, const std::vector<T> &x,
                 const std::vector<std::size_t> &chunks, const expected_results<T> &whole,
                 bool in_place, const T &filler, Choose is_inclusive) {
  test::guarded_vector<T> y(x.size(), filler);
  std::vector<T> expected, in = x;
  expected.reserve(x.size());
  T *const to = in_place ? in.data() : y.data();
  for (const std::size_t n : chunks) {
    const std::size_t at = expected.size();
    const bool inclusive = is_inclusive(at);
    T *const end = inclusive ? running.inclusive(host, in.data() + at, in.data() + at + n, to + at)
                             : running.exclusive(host, in.data() + at, in.data() + at + n, to + at);
    REQUIRE(end == to + at + n);
    const auto from = (inclusive ? whole.inclusive : whole.exclusive).begin() + at;
    expected.insert(expected.end(), from, from + n);
    REQUIRE_EQ(running.position(), static_cast<std::int64_t>(at + n));
    if (at + n > 0 && at + n < whole.exclusive.size())
      CHECK(same(&running.prefix(), &whole.exclusive[at + n], 1));
  }
  REQUIRE_EQ(expected.size(), x.size());
  CHECK(y.guards_intact());
  CHECK(same(in_place ? in.data() : y.values().data(), expected.data(), x.size()));
}

/// Inclusive calls, exclusive calls and both, apart and in place, where results are known.
/// `make()` returns a new scan.
template <class T, class Make, class Random>
void check_chunks(Make make, const std::vector<T> &x, const std::vector<std::size_t> &chunks,
                  const expected_results<T> &whole, bool has_initial, const T &filler,
                  Random &random) {
  INFO(chunks.size(), " chunks of ", x.size(), " elements, the first of ", chunks[0]);
  const auto check = [&](const char *calls, auto is_inclusive) {
    const bool in_place = random() % 2 == 0;
    INFO(doctest::String(calls), in_place ? " in place" : " apart", has_initial ? ", initial" : "");
    check_calls(make(), x, chunks, whole, in_place, filler, is_inclusive);
  };
  check("inclusive", [](std::size_t) { return true; });
  if (whole.exclusive.empty()) return;
  check("exclusive", [&](std::size_t at) { return at == 0 && !has_initial; });
  check("mixed", [&](std::size_t at) { return (at == 0 && !has_initial) || random() % 2 == 0; });
}

/// Random values in chunks of all magnitudes, against one scan.
template <class T, class Operator>
void check_type(const char *name, Operator op, const T &filler, std::size_t most = 5000000) {
  TEST_RANDOM(random);
  INFO(doctest::String(name));
  using scan = lookback::continued_scan<T, Operator>;
  for (const std::size_t longest : {3, 40, 700, 20000, 300000, 4000000}) {
    if (longest > most) continue;
    const test::tree_sizes size(sizeof(T), sizeof(T));
    const std::size_t n =
        std::min(most, random() % (20 * longest) + (random() % 2) * (2 * size.group + 3));
    const auto x = test::random_values<T>(n, random);
    const T initial = test::random_value<T>::make(random);
    const auto chunks = random_chunks(n, longest, sizeof(T), random);
    check_chunks([&] { return scan(op); }, x, chunks, scan_whole<T>(x, op, nullptr), false, filler,
                 random);
    check_chunks([&] { return scan(op, initial); }, x, chunks, scan_whole<T>(x, op, &initial), true,
                 filler, random);
  }
}

/// A sum modulo a number that is elsewhere.
struct modular_sum {
  const std::uint64_t *modulus;
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return (a + b) % *modulus; }
};

struct throws_at {
  int value;
  int operator()(int a, int b) const {
    if (b == value) throw std::runtime_error("thrown by the operator");
    return a > b ? a : b;
  }
};

} // namespace

TEST_CASE("continued scans on the host: sums of floats") {
  check_type<float>("float", lookback::plus{}, -2.0f);
  check_type<double>("double", lookback::plus{}, -2.0, 2000000);
}

TEST_CASE("continued scans on the host: sums of integers") {
  check_type<std::uint32_t>("32 bits", lookback::plus{}, 7);
  check_type<std::uint8_t>("8 bits", lookback::plus{}, 7, 3000000);
}

TEST_CASE("continued scans on the host: operators that do not commute, on types of all sizes") {
  const test::compose op{};
  check_type<test::sized<1>>("1 byte", op, {});
  check_type<test::sized<8>>("8 bytes", op, {}, 2000000);
  check_type<test::sized<24>>("24 bytes", op, {}, 400000);
  check_type<test::sized<512>>("512 bytes", op, {}, 30000);
  check_type<test::no_default>("no default constructor", op, test::no_default(0xdead), 300000);
  check_type<test::self_copied>("not trivially copyable", op, test::self_copied(0xdead), 2000000);
}

TEST_CASE("continued scans on the host: the tree's definition, with and without initial value") {
  TEST_RANDOM(random);
  for (const std::size_t longest : {3, 200, 5000, 100000}) {
    const std::size_t n = 1 + random() % 300000;
    const auto x = test::random_values<float>(n, random);
    const auto chunks = random_chunks(n, longest, sizeof(float), random);
    for (const bool has_initial : {false, true}) {
      const std::optional<float> initial =
          has_initial ? std::optional<float>(0.3f) : std::optional<float>();
      const auto tree = test::scan_tree<float>(x, test::plus<float>{}, initial,
                                               test::tree_sizes(sizeof(float), sizeof(float)));
      expected_results<float> whole;
      for (std::size_t i = 0; i < n; ++i) {
        whole.inclusive.push_back(*tree.through[i]);
        whole.exclusive.push_back(tree.before[i].value_or(0.0f));
      }
      const auto make = [&] {
        return has_initial ? lookback::continued_scan<float>({}, *initial)
                           : lookback::continued_scan<float>();
      };
      // The first call without an initial value is inclusive, so it must not be empty.
      auto not_empty = chunks;
      not_empty.erase(std::remove(not_empty.begin(), not_empty.end(), 0u), not_empty.end());
      check_chunks(make, x, has_initial ? chunks : not_empty, whole, has_initial, -2.0f, random);
    }
  }
}

TEST_CASE("continued scans on the host: items in order, each once") {
  TEST_RANDOM(random);
  // Through an iterator that is no pointer, to elements of another container.
  const auto x = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                 test::to_interval{});
  for (const std::size_t longest : {5, 1000, 50000, 2000000}) {
    const std::size_t n = std::min<std::size_t>(3000000, 30 * longest);
    std::deque<test::interval> y(n, test::interval_error);
    lookback::continued_scan<test::interval, test::join_intervals> running({},
                                                                           test::interval_initial);
    auto to = y.begin();
    std::int64_t at = 0;
    for (const std::size_t length : random_chunks(n, longest, sizeof(test::interval), random)) {
      const auto end = at + static_cast<std::int64_t>(length);
      const bool inclusive = random() % 2 == 0;
      to = inclusive ? running.inclusive(host, x + at, x + end, to)
                     : running.exclusive(host, x + at, x + end, to);
      std::size_t wrong = 0;
      for (; at < end; ++at) {
        const auto last = test::interval_element(static_cast<std::uint64_t>(at));
        const test::interval expected{0, inclusive ? last.end : last.begin};
        wrong += !(y[static_cast<std::size_t>(at)] == expected);
      }
      REQUIRE_EQ(wrong, 0);
    }
    CHECK(to == y.end());
  }
}

TEST_CASE("continued scans on the host: operators with state, narrower results, no results") {
  TEST_RANDOM(random);
  const std::uint64_t modulus = 1000003;
  check_type<std::uint64_t>("modular sum", modular_sum{&modulus}, 7, 300000);

  // The maximum so far as bytes, and then as the bits of whole words, by this thread alone.
  std::vector<int> x(3000000);
  for (int &each : x) each = static_cast<int>(random() % 2);
  std::atomic<int> elsewhere{0};
  const auto op = [&, caller = std::this_thread::get_id()](int a, int b) {
    if (std::this_thread::get_id() != caller) ++elsewhere;
    return a > b ? a : b;
  };
  lookback::continued_scan<int, std::decay_t<decltype(op)>> running(op, 0);
  std::vector<std::int8_t> bytes(1000001);
  std::vector<bool> bits(1500000);
  running.inclusive(host, x.begin(), x.begin() + 1000001, bytes.begin());
  elsewhere = 0;
  running.exclusive(host, x.begin() + 1000001, x.begin() + 2500001, bits.begin());
  CHECK_EQ(elsewhere.load(), 0);
  const auto one = static_cast<std::size_t>(std::find(x.begin(), x.end(), 1) - x.begin());
  for (std::size_t i = 0; i < bytes.size(); ++i) REQUIRE_EQ(bytes[i], i >= one ? 1 : 0);
  CHECK(bits == std::vector<bool>(bits.size(), true));

  // The scan moves on by chunks whose results are dropped, too.
  lookback::continued_scan<std::int32_t> sum;
  const std::vector<std::int32_t> ones(3000000, 1);
  for (int call = 0; call < 3; ++call)
    sum.inclusive(host, ones.begin(), ones.end() - call, thrust::make_discard_iterator());
  CHECK_EQ(sum.prefix(), 3 * 3000000 - 3);
}

TEST_CASE("continued scans on the host: values that own memory") {
  std::string text, all;
  for (int i = 0; i < 3000; ++i) text += static_cast<char>('a' + i % 26);
  std::vector<std::string> x;
  for (const char each : text) x.emplace_back(1, each);
  std::vector<std::string> y(x.size());
  lookback::continued_scan<std::string> running({}, ">");
  auto to = y.begin();
  for (std::size_t at = 0, n = 1; at < x.size(); at += n, n = 2 * n + 1) {
    n = std::min(n, x.size() - at);
    to = running.inclusive(host, x.begin() + at, x.begin() + at + n, to);
  }
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE_EQ(y[i], ">" + text.substr(0, i + 1));
  CHECK_EQ(running.prefix(), ">" + text);
}

TEST_CASE("continued scans on the host: no initial value, exceptions, a new start") {
  std::vector<int> x(3000000, 1), y(x.size(), -1);
  using scan = lookback::continued_scan<int, throws_at>;
  scan running(throws_at{7});
  CHECK_THROWS_AS(running.prefix(), std::logic_error);
  CHECK_THROWS_AS(running.exclusive(host, x.begin(), x.begin() + 10, y.begin()), std::logic_error);
  CHECK_EQ(running.exclusive(host, x.begin(), x.begin(), y.begin()) - y.begin(), 0);
  CHECK_EQ(running.exclusive(host, x.begin() + 5, x.begin(), y.begin()) - y.begin(), 0);
  CHECK_EQ(running.position(), 0);
  CHECK(y == std::vector<int>(x.size(), -1));

  for (const std::ptrdiff_t place : {1, 2, 5, 300, 5000, 200000, 2900000}) {
    running = scan(throws_at{7});
    running.inclusive(host, x.begin(), x.begin() + 1, y.begin());
    x[static_cast<std::size_t>(place)] = 7;
    CHECK_THROWS_AS(running.inclusive(host, x.begin() + 1, x.end(), y.begin()), std::runtime_error);
    x[static_cast<std::size_t>(place)] = 1;
  }
  running = scan(throws_at{7}, 5);
  CHECK_EQ(running.position(), 0);
  CHECK_EQ(running.prefix(), 5);
  running.exclusive(host, x.begin(), x.end(), y.begin());
  CHECK(y == std::vector<int>(x.size(), 5));
}
