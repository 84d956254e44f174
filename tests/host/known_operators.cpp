// SPDX-License-Identifier: MIT
#include <lookback/execution_policy.cuh>

#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <cuda/functional>
#include <thrust/functional.h>
#include <thrust/scan.h>

#include <cstring>
#include <functional>
#include <string>
#include <type_traits>

namespace {

namespace core = lookback::detail;

template <class T, class Operator>
using problem = decltype(core::make_problem<true, T>(std::declval<const T *>(), std::declval<T *>(),
                                                     std::declval<Operator>(), core::no_initial{}));
template <class T, class Equal, class Operator>
using problem_by_key =
    decltype(core::make_exclusive_by_key<T>(std::declval<const T *>(), std::declval<const T *>(),
                                            std::declval<T *>(), std::declval<T>(),
                                            std::declval<Equal>(), std::declval<Operator>()));

template <class Expected, class T, class... Operators>
inline constexpr bool
    all_become = (std::is_same<core::own_operator_t<Operators, T>, Expected>::value && ...);
template <class T, class... Operators>
inline constexpr bool
    one_sum = (std::is_same<problem<T, Operators>, problem<T, lookback::plus>>::value && ...);

// One problem, and so one kernel, for every spelling of a sum of numbers.
template <class T>
inline constexpr bool is_one_sum =
    one_sum<T, std::plus<>, std::plus<T>, cuda::std::plus<>, cuda::std::plus<T>>;
static_assert(is_one_sum<int> && is_one_sum<unsigned char> && is_one_sum<bool> &&
              is_one_sum<double> && is_one_sum<long double> && is_one_sum<core::int128>);
static_assert(std::is_same<problem_by_key<int, std::equal_to<int>, std::plus<int>>,
                           problem_by_key<int, lookback::equal_to, lookback::plus>>::value);
static_assert(std::is_same<problem_by_key<float, cuda::std::equal_to<>, cuda::std::plus<float>>,
                           problem_by_key<float, lookback::equal_to, lookback::plus>>::value);

#if THRUST_VERSION < 300200 // which deprecates these names
static_assert(one_sum<int, thrust::plus<>, thrust::plus<int>> &&
              all_become<lookback::equal_to, int, thrust::equal_to<>, thrust::equal_to<int>>);
#endif

// The fast paths, for every spelling.
template <class T, class... Operators>
inline constexpr bool take_integer_path = (core::is_integer_sum<problem<T, Operators>> && ...) &&
                                          (core::sums_integers<problem<T, Operators>> && ...);
template <class T, class... Operators>
inline constexpr bool take_float_path = ((core::is_float_sum<problem<T, Operators>> ==
                                          lookback::simt::sums_rows<T>)&&...);
static_assert(take_integer_path<int, lookback::plus, std::plus<>, std::plus<int>, cuda::std::plus<>,
                                cuda::std::plus<int>>);
static_assert(
    take_integer_path<std::uint8_t, std::plus<std::uint8_t>, cuda::std::plus<std::uint8_t>>);
static_assert(take_float_path<float, lookback::plus, std::plus<>, std::plus<float>,
                              cuda::std::plus<>, cuda::std::plus<float>>);
static_assert(take_float_path<double, std::plus<double>, cuda::std::plus<double>>);

// A sum that converts its operands to another type stays that.
static_assert(!core::is_sum<problem<double, std::plus<int>>> &&
              !core::is_sum<problem<double, cuda::std::plus<int>>> &&
              !core::is_sum<problem<int, std::plus<long>>>);

static_assert(all_become<core::multiplies, int, std::multiplies<>, std::multiplies<int>,
                         cuda::std::multiplies<>, cuda::std::multiplies<int>>);
static_assert(all_become<core::bit_and, int, std::bit_and<>, std::bit_and<int>,
                         cuda::std::bit_and<>, cuda::std::bit_and<int>>);
static_assert(all_become<core::bit_or, int, std::bit_or<>, std::bit_or<int>, cuda::std::bit_or<>,
                         cuda::std::bit_or<int>>);
static_assert(all_become<core::bit_xor, int, std::bit_xor<>, std::bit_xor<int>,
                         cuda::std::bit_xor<>, cuda::std::bit_xor<int>>);
static_assert(all_become<core::logical_and, bool, std::logical_and<>, std::logical_and<bool>,
                         cuda::std::logical_and<>, cuda::std::logical_and<bool>>);
static_assert(all_become<core::logical_or, bool, std::logical_or<>, std::logical_or<bool>,
                         cuda::std::logical_or<>, cuda::std::logical_or<bool>>);
static_assert(all_become<lookback::equal_to, int, std::equal_to<>, std::equal_to<int>,
                         cuda::std::equal_to<>, cuda::std::equal_to<int>>);

// Not in the table, and left as they are: a program's operators, also if derived from known ones.
struct derived : std::plus<int> {};
template <class T>
struct plus : std::plus<T> {};
template <class T, class Operator>
inline constexpr bool stays = std::is_same<core::own_operator_t<Operator, T>, Operator>::value;
static_assert(stays<int, derived> && stays<int, plus<int>> && stays<int, int (*)(int, int)> &&
              stays<int, cuda::maximum<int>> && stays<int, lookback::plus> &&
              stays<std::string, cuda::std::plus<std::string>>);

/// An element of no number type.
struct point {
  float x, y;
  friend point operator+(const point &a, const point &b) { return {a.x + b.x, a.y + b.y}; }
};

/// A key whose comparison the program has specialised.
struct key {
  int value;
};

} // namespace

template <>
struct std::equal_to<key> {
  bool operator()(const key &a, const key &b) const { return a.value / 10 == b.value / 10; }
};

namespace {

template <class T>
std::size_t first_other_bits(const std::vector<T> &a, const std::vector<T> &b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) return i;
  return test::nowhere;
}

/// Scans by `op`, and by a function object of the program that computes the same: the same bits.
template <class T, class Operator>
void check_like_own(const std::vector<T> &in, Operator op) {
  const auto own = [op](const T &a, const T &b) { return static_cast<T>(op(a, b)); };
  std::vector<T> expected(in.size()), out(in.size());
  thrust::inclusive_scan(lookback::host, in.begin(), in.end(), expected.begin(), own);
  thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), op);
  CHECK_EQ(first_other_bits(out, expected), test::nowhere);
  thrust::exclusive_scan(lookback::host, in.begin(), in.end(), expected.begin(), in[0], own);
  thrust::exclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), in[0], op);
  CHECK_EQ(first_other_bits(out, expected), test::nowhere);

  std::vector<int> keys(in.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i / 100 % 2);
  const auto scan = [&](auto &result, auto equal, auto by) {
    thrust::inclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), in.begin(),
                                  result.begin(), equal, by);
  };
  scan(
      expected, [](int a, int b) { return a == b; }, own);
  scan(out, std::equal_to<int>{}, op);
  CHECK_EQ(first_other_bits(out, expected), test::nowhere);
  scan(out, std::equal_to<>{}, op);
  CHECK_EQ(first_other_bits(out, expected), test::nowhere);
  scan(out, cuda::std::equal_to<int>{}, op);
  CHECK_EQ(first_other_bits(out, expected), test::nowhere);
}

template <class T>
void check_sums(const std::vector<T> &in) {
  check_like_own(in, lookback::plus{});
  check_like_own(in, std::plus<T>{});
  check_like_own(in, std::plus<>{});
  check_like_own(in, cuda::std::plus<T>{});
  check_like_own(in, cuda::std::plus<>{});
}

std::vector<std::size_t> lengths() { return {1, 17, 1000, 30000, std::size_t{1} << 20}; }

} // namespace

TEST_CASE("known operators: sums, in the bits of the program's own operator") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths()) {
    INFO("n = ", n);
    check_sums(test::random_values<std::uint32_t>(n, random));
    check_sums(test::random_values<std::uint8_t>(n, random));
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<point> points;
    for (std::size_t i = 0; i < n; ++i) {
      floats.push_back(static_cast<float>(random() % 1000) * 1e-3f);
      doubles.push_back(static_cast<double>(random() % 1000) * 1e-3);
      points.push_back({floats.back(), 1.0f - floats.back()});
    }
    check_sums(floats);
    check_sums(doubles);
    check_like_own(points, std::plus<point>{});
    check_like_own(points, std::plus<>{});
    check_like_own(points, cuda::std::plus<point>{});
    // Rounded to int before each addition.
    for (double &value : doubles) value *= 10;
    check_like_own(doubles, std::plus<int>{});
    check_like_own(doubles, cuda::std::plus<int>{});
  }
}

TEST_CASE("known operators: products, bits and truth values") {
  TEST_RANDOM(random);
  using word = std::uint32_t;
  for (std::size_t n : lengths()) {
    INFO("n = ", n);
    auto in = test::random_values<word>(n, random);
    for (word &value : in) value |= 1;
    check_like_own(in, std::multiplies<word>{});
    check_like_own(in, std::multiplies<>{});
    check_like_own(in, std::bit_and<word>{});
    check_like_own(in, std::bit_and<>{});
    check_like_own(in, std::bit_or<word>{});
    check_like_own(in, std::bit_or<>{});
    check_like_own(in, std::bit_xor<word>{});
    check_like_own(in, cuda::std::bit_xor<word>{});
    check_like_own(in, std::logical_and<word>{});
    check_like_own(in, std::logical_and<>{});
    check_like_own(in, std::logical_or<word>{});
    check_like_own(in, cuda::std::logical_or<word>{});
  }
}

TEST_CASE("known operators: minimum and maximum are the program's, NaN and -0.0 included") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> in{0.0f, -0.0f, 1.0f, nan, -1.0f, 2.0f};
  std::vector<float> many;
  for (int i = 0; i < 5000; ++i) many.push_back(in[i * 7 % in.size()]);
  check_like_own(many, cuda::minimum<float>{});
  check_like_own(many, cuda::maximum<float>{});
  check_like_own(many, cuda::maximum<>{});
}

TEST_CASE("known operators: objects are moved as by std::plus<>") {
  const std::vector<std::string> in(500, "a");
  std::vector<std::string> out(in.size());
  thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), std::plus<>{});
  CHECK_EQ(test::first_difference(out, test::serial_inclusive(in, lookback::plus{})),
           test::nowhere);
  thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(),
                         std::plus<std::string>{});
  CHECK_EQ(test::first_difference(out, test::serial_inclusive(in, lookback::plus{})),
           test::nowhere);
}

TEST_CASE("known operators: std::equal_to that the program has specialised") {
  const std::vector<key> keys{{1}, {2}, {11}, {12}, {20}};
  const std::vector<int> in(keys.size(), 1);
  std::vector<int> out(keys.size());
  thrust::inclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), in.begin(), out.begin(),
                                std::equal_to<key>{}, std::plus<int>{});
  CHECK_EQ(out, std::vector<int>{1, 2, 1, 2, 1});
}
