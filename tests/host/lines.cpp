// SPDX-License-Identifier: MIT
// Scans of segments by offsets and along axes on the CPU: every line against the scan of the line
// alone, bit for bit, and everything between the lines as it was.
#include <lookback/axis_scan.cuh>
#include <lookback/segmented_scan.cuh>

#include <support/guarded_vector.hpp>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/tree_reference.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using lookback::host;

struct segment {
  std::int64_t begin, end;
};

/// The same bytes: for floating-point numbers, the same bits. Values that are more than their bytes
/// are compared.
template <class T>
bool same_bits(const std::vector<T> &a, const std::vector<T> &b) {
  if constexpr (std::is_trivially_copyable<T>::value)
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
  else
    return a == b;
}

/// Segments over n items, in random order: short and long ones, empty ones, ones that end before
/// they begin, and gaps.
template <class Random>
std::vector<segment> random_segments(std::int64_t n, Random &random) {
  std::vector<segment> all;
  for (std::int64_t at = 0; at < n;) {
    const auto longest = std::int64_t{1} << random() % 19;
    const std::int64_t end =
        std::min<std::int64_t>(n, at + 1 + static_cast<std::int64_t>(random() % longest));
    if (random() % 8 != 0) all.push_back({at, end});
    if (random() % 8 == 0) all.push_back({at, at});
    if (random() % 8 == 0) all.push_back({end, at});
    at = end;
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

template <class Integer>
std::vector<Integer> begins_of(const std::vector<segment> &segments) {
  std::vector<Integer> begins;
  for (const segment &one : segments) begins.push_back(static_cast<Integer>(one.begin));
  return begins;
}
template <class Integer>
std::vector<Integer> ends_of(const std::vector<segment> &segments) {
  std::vector<Integer> ends;
  for (const segment &one : segments) ends.push_back(static_cast<Integer>(one.end));
  return ends;
}

/// Scans the segments of `x` by every function and compares with scans of each one alone.
template <class Offset, class T, class Operator>
void check_segments(const std::vector<T> &x, const std::vector<segment> &segments, const T &filler,
                    const T &initial, Operator op) {
  const auto begins = begins_of<Offset>(segments), ends = ends_of<Offset>(segments);
  const auto count = static_cast<std::int64_t>(segments.size());
  const auto check = [&](auto scan_all, auto scan_one) {
    std::vector<T> expected(x.size(), filler);
    for (const segment &one : segments)
      if (one.begin < one.end)
        scan_one(x.data() + one.begin, x.data() + one.end, expected.data() + one.begin);
    test::guarded_vector<T> y(x.size(), filler);
    scan_all(x.data(), y.data());
    CHECK(y.guards_intact());
    CHECK(same_bits(y.values(), expected));
    // In place, what is in no segment stays as it was.
    std::vector<T> z = x, in_place = x;
    for (const segment &one : segments)
      if (one.begin < one.end)
        scan_one(x.data() + one.begin, x.data() + one.end, in_place.data() + one.begin);
    scan_all(z.data(), z.data());
    CHECK(same_bits(z, in_place));
  };
  check(
      [&](const T *from, T *to) {
        lookback::inclusive_segmented_scan(host, from, begins.begin(), ends.begin(), count, to, op);
      },
      [&](const T *first, const T *last, T *to) {
        lookback::inclusive_scan(host, first, last, to, op);
      });
  check(
      [&](const T *from, T *to) {
        lookback::inclusive_segmented_scan(host, from, begins.begin(), ends.begin(), count, to,
                                           initial, op);
      },
      [&](const T *first, const T *last, T *to) {
        lookback::inclusive_scan(host, first, last, to, initial, op);
      });
  check(
      [&](const T *from, T *to) {
        lookback::exclusive_segmented_scan(host, from, begins.begin(), ends.begin(), count, to,
                                           initial, op);
      },
      [&](const T *first, const T *last, T *to) {
        lookback::exclusive_scan(host, first, last, to, initial, op);
      });
}

/// Four bytes that a copy constructor copies: not plain, and several in a vector.
struct copied {
  explicit copied(int value_ = 0) : value(value_) {}
  copied(const copied &other) : value(other.value) {}
  copied &operator=(const copied &other) {
    value = other.value;
    return *this;
  }
  friend bool operator==(const copied &a, const copied &b) { return a.value == b.value; }
  int value;
};

/// Segments of 1, 2, ... items, up to two rows and one item, against scans of each one alone and
/// against the definition of the tree.
template <class T, class Operator, class MakeItem>
void check_short_segments(const T &filler, const T &initial, Operator op, MakeItem make_item) {
  const auto longest =
      static_cast<std::int64_t>(2 * test::tree_sizes(sizeof(T), sizeof(T)).row + 1);
  std::vector<segment> segments;
  std::vector<T> x;
  std::vector<T> expected[3]; // inclusive, inclusive with an initial value, exclusive
  for (std::int64_t items = 1; items <= longest; ++items) {
    const auto first = static_cast<std::int64_t>(x.size());
    segments.push_back({first, first + items});
    for (std::int64_t i = 0; i < items; ++i) x.push_back(make_item());
    const std::vector<T> line(x.begin() + first, x.end());
    for (int kind = 0; kind < 3; ++kind) {
      const auto results =
          test::tree_scan<T>(line, op, kind == 0 ? std::nullopt : std::optional<T>(initial),
                             kind < 2, sizeof(T), sizeof(T));
      expected[kind].insert(expected[kind].end(), results.begin(), results.end());
    }
  }
  check_segments<int>(x, segments, filler, initial, op);
  const auto begins = begins_of<int>(segments), ends = ends_of<int>(segments);
  std::vector<T> y[3];
  for (const bool in_place : {false, true}) {
    for (auto &results : y) results = in_place ? x : std::vector<T>(x.size(), filler);
    const auto from = [&](int kind) { return in_place ? y[kind].data() : x.data(); };
    lookback::inclusive_segmented_scan(host, from(0), begins.begin(), ends.begin(), longest,
                                       y[0].data(), op);
    lookback::inclusive_segmented_scan(host, from(1), begins.begin(), ends.begin(), longest,
                                       y[1].data(), initial, op);
    lookback::exclusive_segmented_scan(host, from(2), begins.begin(), ends.begin(), longest,
                                       y[2].data(), initial, op);
    for (int kind = 0; kind < 3; ++kind) CHECK(same_bits(y[kind], expected[kind]));
  }
  // Each item is read by a call, not from memory.
  const auto called = thrust::make_transform_iterator(thrust::counting_iterator<std::size_t>(0),
                                                      [&](std::size_t i) { return x[i]; });
  lookback::exclusive_segmented_scan(host, called, begins.begin(), ends.begin(), longest,
                                     y[2].data(), initial, op);
  CHECK(same_bits(y[2], expected[2]));
}

std::vector<float> random_floats(std::size_t n, std::mt19937_64 &random) {
  std::vector<float> x;
  std::uniform_real_distribution<float> any(-1, 1);
  for (std::size_t i = 0; i < n; ++i) x.push_back(any(random));
  return x;
}
std::vector<test::affine> random_maps(std::size_t n, std::mt19937_64 &random) {
  std::vector<test::affine> x;
  for (std::size_t i = 0; i < n; ++i)
    x.push_back({static_cast<std::uint32_t>(random()) | 1, static_cast<std::uint32_t>(random())});
  return x;
}

/// Scans `x` along the axis by every function, and compares each line with the scan of a contiguous
/// copy of it.
template <class T, class Operator>
void check_axis(const lookback::axis &lines, std::size_t elements, const std::vector<T> &x,
                const T &filler, const T &initial, Operator op) {
  const auto at = [&](const lookback::axis::pitch &given, std::int64_t o, std::int64_t i,
                      std::int64_t k) {
    const std::int64_t along = given.length != 0 ? given.length : lines.inner;
    const std::int64_t across = given.outer != 0 ? given.outer : along * lines.length;
    const std::int64_t place = lines.reverse ? lines.length - 1 - i : i;
    return static_cast<std::size_t>(o * across + place * along + k);
  };
  const auto check = [&](auto scan_all, auto scan_one) {
    std::vector<T> expected(elements, filler);
    for (std::int64_t o = 0; o < lines.outer; ++o)
      for (std::int64_t k = 0; k < lines.inner; ++k) {
        std::vector<T> line, results(static_cast<std::size_t>(lines.length), filler);
        for (std::int64_t i = 0; i < lines.length; ++i) line.push_back(x[at(lines.input, o, i, k)]);
        scan_one(line.data(), line.data() + line.size(), results.data());
        for (std::int64_t i = 0; i < lines.length; ++i)
          expected[at(lines.output, o, i, k)] = results[static_cast<std::size_t>(i)];
      }
    test::guarded_vector<T> y(elements, filler);
    scan_all(x.data(), y.data());
    CHECK(y.guards_intact());
    CHECK(same_bits(y.values(), expected));
  };
  check([&](const T *from, T *to) { lookback::inclusive_axis_scan(host, from, lines, to, op); },
        [&](const T *first, const T *last, T *to) {
          lookback::inclusive_scan(host, first, last, to, op);
        });
  check([&](const T *from,
            T *to) { lookback::inclusive_axis_scan(host, from, lines, to, initial, op); },
        [&](const T *first, const T *last, T *to) {
          lookback::inclusive_scan(host, first, last, to, initial, op);
        });
  check([&](const T *from,
            T *to) { lookback::exclusive_axis_scan(host, from, lines, to, initial, op); },
        [&](const T *first, const T *last, T *to) {
          lookback::exclusive_scan(host, first, last, to, initial, op);
        });
}

struct throws_at {
  int value;
  int operator()(int a, int b) const {
    if (b == value) throw std::runtime_error("thrown by the operator");
    return a + b;
  }
};

} // namespace

TEST_CASE("segmented scans on the host: every segment as if it were alone") {
  TEST_RANDOM(random);
  for (const std::int64_t n : {0, 1, 2, 100, 4097, 3000000}) {
    INFO("n = ", n);
    const auto segments = random_segments(n, random);
    const auto size = static_cast<std::size_t>(n);
    check_segments<int>(random_floats(size, random), segments, -2.0f, 0.5f, lookback::plus{});
    check_segments<std::uint64_t>(random_maps(size, random), segments, test::affine{0, 0},
                                  test::affine{3, 5}, test::compose_affine{});
    check_segments<std::int16_t>(
        test::random_below<int>(std::min<std::size_t>(size, 30000), 100, random),
        random_segments(std::min<std::int64_t>(n, 30000), random), -1, 7, test::maximum<int>{});
  }
}

TEST_CASE("segmented scans on the host: short segments in the tree's order") {
  TEST_RANDOM(random);
  check_short_segments(-2.0f, 0.5f, lookback::plus{}, [&] { return random_floats(1, random)[0]; });
  check_short_segments(test::affine{0, 0}, test::affine{3, 5}, test::compose_affine{},
                       [&] { return random_maps(1, random)[0]; });
  check_short_segments(-2, 5, lookback::plus{}, [&] { return static_cast<int>(random() % 100); });
  // None of these commutes, and all show the order of association.
  using i16 = std::int16_t;
  check_short_segments(
      i16{-1}, i16{7}, [](i16 a, i16 b) { return static_cast<i16>(a * 3 + b * 5); },
      [&] { return static_cast<i16>(random() % 100); });
  check_short_segments(
      copied(-1), copied(7),
      [](const copied &a, const copied &b) { return copied((a.value * 3 + b.value * 5) % 10007); },
      [&] { return copied(static_cast<int>(random() % 100)); });
  check_short_segments(
      std::string("none"), std::string("0"),
      [](const std::string &a, const std::string &b) { return '(' + a + b + ')'; },
      [&] { return std::string(1, static_cast<char>('a' + random() % 26)); });
}

TEST_CASE("segmented scans on the host: one long segment among millions of short ones") {
  TEST_RANDOM(random);
  constexpr std::int64_t giant = 3 << 20, tiny = 2 << 20;
  std::vector<segment> segments;
  for (std::int64_t at = 0; at < tiny; ++at) segments.push_back({at, at + 1});
  segments.insert(segments.begin() + tiny / 2, {tiny, tiny + giant});
  check_segments<std::int32_t>(random_floats(static_cast<std::size_t>(tiny + giant), random),
                               segments, -2.0f, 0.5f, lookback::plus{});
}

TEST_CASE("segmented scans on the host: items in order, each once") {
  TEST_RANDOM(random);
  const auto segments = random_segments(1000000, random);
  const auto begins = begins_of<int>(segments), ends = ends_of<int>(segments);
  // Through an iterator that is no pointer, to elements of std::vector.
  const auto x = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                 test::to_interval{});
  std::vector<test::interval> y(1000000, test::interval_error);
  lookback::inclusive_segmented_scan(host, x, begins.begin(), ends.begin(),
                                     static_cast<std::int64_t>(segments.size()), y.begin(),
                                     test::join_intervals{});
  std::vector<test::interval> expected(y.size(), test::interval_error);
  for (const segment &one : segments)
    for (std::int64_t i = one.begin; i < one.end; ++i)
      expected[static_cast<std::size_t>(i)] = {test::to_interval{}(one.begin).begin,
                                               test::to_interval{}(i).end};
  CHECK(y == expected);
}

TEST_CASE("segmented scans on the host: no segments, results in bits, other types, exceptions") {
  const std::vector<int> x(3000000, 1), offsets{0, 5, 5, 1500000, 3000000};
  std::vector<int> y(x.size(), -1);
  for (const std::int64_t none : {0, -1}) {
    lookback::inclusive_segmented_scan(host, x.begin(), offsets.begin(), offsets.begin() + 1, none,
                                       y.begin());
    CHECK(y == std::vector<int>(x.size(), -1));
  }
  std::vector<std::int64_t> wide(x.size(), -1);
  lookback::exclusive_segmented_scan(host, x.begin(), offsets.begin(), offsets.begin() + 1, 4,
                                     wide.begin(), std::int64_t{1} << 40);
  CHECK_EQ(wide[5], std::int64_t{1} << 40);
  CHECK_EQ(wide[1499999], (std::int64_t{1} << 40) + 1499994);
  CHECK_EQ(wide[2999999], (std::int64_t{1} << 40) + 1499999);

  // Bits of one word are written by one thread.
  std::vector<bool> bits(x.size(), false);
  std::vector<int> pairs;
  for (int at = 0; at <= 3000000; at += 2) pairs.push_back(at);
  std::atomic<int> elsewhere{0};
  lookback::inclusive_segmented_scan(host, x.begin(), pairs.begin(), pairs.begin() + 1,
                                     static_cast<std::int64_t>(pairs.size()) - 1, bits.begin(),
                                     [&, caller = std::this_thread::get_id()](int a, int b) {
                                       if (std::this_thread::get_id() != caller) ++elsewhere;
                                       return a * b;
                                     });
  CHECK_EQ(elsewhere.load(), 0);
  CHECK(bits == std::vector<bool>(x.size(), true));

  std::vector<int> with_seven = x;
  with_seven[2000000] = 7;
  CHECK_THROWS_AS(lookback::inclusive_segmented_scan(host, with_seven.begin(), offsets.begin(),
                                                     offsets.begin() + 1, 4, y.begin(),
                                                     throws_at{7}),
                  std::runtime_error);
}

TEST_CASE("axis scans on the host: every line as if it were alone") {
  TEST_RANDOM(random);
  const auto up_to = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  std::vector<lookback::axis> shapes{{1, 1, 1},       {3, 5000, 1},    {1, 5000, 3}, {2, 300, 70},
                                     {900, 1100, 1},  {1, 1100, 900},  {1, 1, 4000}, {4000, 1, 1},
                                     {1, 2000000, 1}, {1, 1200000, 2}, {300, 4, 700}};
  for (int more = 0; more < 20; ++more) shapes.push_back({up_to(20), up_to(5000), up_to(20)});
  for (lookback::axis lines : shapes) {
    lines.reverse = random() % 2 == 0;
    if (random() % 2 == 0) {
      lines.input.length = lines.inner + up_to(3);
      lines.input.outer = lines.input.length * lines.length + up_to(3);
    }
    if (random() % 2 == 0) lines.output.length = lines.inner + up_to(3);
    if (random() % 2 == 0)
      lines.output.outer = std::max(lines.output.length, lines.inner) * lines.length + up_to(3);
    INFO("axis ", lines.outer, " x ", lines.length, " x ", lines.inner, " reverse ", lines.reverse,
         " input ", lines.input.outer, " ", lines.input.length, " output ", lines.output.outer, " ",
         lines.output.length);
    const auto elements =
        static_cast<std::size_t>(lines.outer * ((lines.inner + 3) * lines.length + 3));
    check_axis(lines, elements, random_floats(elements, random), -2.0f, 0.5f, lookback::plus{});
    check_axis(lines, elements, random_maps(elements, random), test::affine{0, 0},
               test::affine{3, 5}, test::compose_affine{});
  }
}

TEST_CASE("axis scans on the host: pitches of dimensions with one index") {
  TEST_RANDOM(random);
  // An outer pitch of 0 is `length` times the pitch along the axis, of one element as of many.
  lookback::axis single{400, 1, 1};
  single.output = {0, 2};
  // No line has a next one, and no element: these distances lead nowhere.
  lookback::axis alone{1, 400, 1}, element{1, 1, 1};
  alone.input.outer = alone.output.outer = element.output.outer = 3;
  element.input.length = std::numeric_limits<std::int64_t>::max();
  element.input.outer = 1;
  const auto x = random_floats(800, random);
  for (lookback::axis lines : {single, alone, element})
    for (const bool reverse : {false, true}) {
      lines.reverse = reverse;
      check_axis(lines, x.size(), x, -2.0f, 0.5f, lookback::plus{});
    }
}

TEST_CASE("axis scans on the host: a transposed output, and in place") {
  TEST_RANDOM(random);
  // Rows of a 700 x 900 matrix, whose results are columns of a 900 x 700 matrix.
  lookback::axis rows{700, 900, 1};
  rows.output = {1, 700};
  const auto x = random_floats(700 * 900, random);
  check_axis(rows, x.size(), x, -2.0f, 0.5f, lookback::plus{});
  for (lookback::axis lines : {lookback::axis{700, 900, 1}, lookback::axis{1, 900, 700}}) {
    for (const bool reverse : {false, true}) {
      lines.reverse = reverse;
      std::vector<float> apart(x.size()), in_place = x;
      lookback::inclusive_axis_scan(host, x.begin(), lines, apart.begin());
      lookback::inclusive_axis_scan(host, in_place.begin(), lines, in_place.begin());
      CHECK(same_bits(apart, in_place));
    }
  }
}

TEST_CASE("axis scans on the host: wider results, items that own memory, exceptions") {
  // Lines of 4 MB of results: one thread each, of 1 MB of elements.
  const lookback::axis lines{5, 1 << 20, 1};
  const std::vector<std::uint8_t> bytes(5 << 20, 3);
  std::vector<std::int32_t> sums(bytes.size());
  lookback::inclusive_axis_scan(host, bytes.begin(), lines, sums.begin(), 0, lookback::plus{});
  for (std::size_t i = 0; i < sums.size(); ++i)
    REQUIRE_EQ(sums[i], 3 * (static_cast<std::int32_t>(i % (1 << 20)) + 1));

  const std::vector<std::string> words{"a", "b", "c", "d", "e", "f"};
  std::vector<std::string> joined(6);
  lookback::inclusive_axis_scan(host, words.begin(), lookback::axis{1, 3, 2}, joined.begin());
  CHECK(joined == std::vector<std::string>{"a", "b", "ac", "bd", "ace", "bdf"});

  struct metres {
    metres() = default;
    explicit metres(int value_) : value(value_) {}
    int value = -1;
  };
  const std::vector<int> x(6, 1);
  std::vector<metres> converted(6);
  lookback::inclusive_axis_scan(host, x.data(), lookback::axis{1, 3, 2}, converted.data());
  CHECK_EQ(converted[5].value, 3);

  std::vector<int> with_seven(3000000, 1), y(3000000);
  with_seven[2000000] = 7;
  for (const lookback::axis &shape : {lookback::axis{1, 3000, 1000}, {1000, 3000, 1}})
    CHECK_THROWS_AS(
        lookback::inclusive_axis_scan(host, with_seven.begin(), shape, y.begin(), throws_at{7}),
        std::runtime_error);
}

TEST_CASE("axis scans on the host: bad lines are refused, and nothing is written") {
  const std::vector<int> x(100, 1);
  std::vector<int> y(100, -1);
  const auto refused = [&](lookback::axis lines) {
    std::string message;
    try {
      lookback::inclusive_axis_scan(host, x.begin(), lines, y.begin());
    } catch (const std::invalid_argument &error) {
      message = error.what();
    }
    CHECK(y == std::vector<int>(100, -1));
    return message;
  };
  lookback::axis lines{5, 4, 5};
  lines.input.length = -5;
  CHECK_NE(refused(lines).find("negative"), std::string::npos);
  lines = {5, 4, 5};
  lines.output.length = 4;
  CHECK_NE(refused(lines).find("overlap"), std::string::npos);
  lines = {5, 4, 5};
  lines.output.outer = 19;
  CHECK_NE(refused(lines).find("overlap"), std::string::npos);
  const auto most = std::numeric_limits<std::int64_t>::max();
  CHECK_NE(refused({most, 1, 2}).find("2^63"), std::string::npos);
  CHECK_NE(refused({1, most, 2}).find("2^63"), std::string::npos);
  lines = {2, 4, 5};
  lines.output.outer = most;
  CHECK_NE(refused(lines).find("2^63"), std::string::npos);
  for (const lookback::axis &empty : {lookback::axis{0, 4, 5}, {5, 0, 5}, {5, 4, 0}, {-1, 4, 5}})
    CHECK_EQ(refused(empty), "");
}
