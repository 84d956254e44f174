// SPDX-License-Identifier: MIT
// Structs by every path forced, at every length: the same bits. The pipeline takes those that are
// aligned to 16 bytes.
#include <lookback/device_scan.cuh>

#include <support/check_paths.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/types.hpp>

namespace {

namespace detail = lookback::detail;

/// Sums in floating point: the order of association shows.
template <int Count>
struct floats {
  float at[Count];
};
template <int Count>
bool operator==(const floats<Count> &a, const floats<Count> &b) {
  return std::equal(a.at, a.at + Count, b.at);
}
struct add_floats {
  template <int Count>
  __host__ __device__ floats<Count> operator()(const floats<Count> &a,
                                               const floats<Count> &b) const {
    floats<Count> sum{};
    for (int i = 0; i < Count; ++i) sum.at[i] = a.at[i] + b.at[i];
    return sum;
  }
};

template <class T, class Operator, class Random, class Expected>
void check(const std::vector<T> &in, const T &init, const Operator &op, Random &random,
           Expected expected) {
  test::check_paths<T>(in, expected(in, std::optional<T>(), true), random, [=](const T *x, T *y) {
    return detail::make_problem<true, T>(x, y, op, detail::no_initial{});
  });
  test::check_paths<T>(
      in, expected(in, std::optional<T>(init), false), random, [=](const T *x, T *y) {
        return detail::make_problem<false, T>(x, y, op, detail::initial_value<T>{init});
      });
}

} // namespace

TEST_CASE_TEMPLATE("paths: structs of floats", T, floats<3>, floats<6>, floats<8>, floats<16>) {
  TEST_RANDOM(random);
  const add_floats op{};
  const auto problem = detail::make_problem<true, T>(
      static_cast<const T *>(nullptr), static_cast<T *>(nullptr), op, detail::no_initial{});
  static_assert(detail::blocks_structs<decltype(problem)>::value, "the pipeline takes structs");
  for (const std::size_t n : test::lengths(sizeof(T), random, problem)) {
    const auto drawn = test::random_values<float>(n + sizeof(T) / sizeof(float), random);
    std::vector<T> in(n);
    for (std::size_t i = 0; i < n; ++i)
      std::copy(drawn.begin() + i, drawn.begin() + i + sizeof(T) / sizeof(float), in[i].at);
    T init;
    std::copy(drawn.begin(), drawn.begin() + sizeof(T) / sizeof(float), init.at);
    check(in, init, op, random, [&](const auto &values, auto init, bool inclusive) {
      return test::tree_scan<T>(values, op, init, inclusive, sizeof(T), sizeof(T));
    });
  }
}

/// An operator that does not commute.
TEST_CASE("paths: structs, not commutative") {
  using T = test::sized<20>;
  TEST_RANDOM(random);
  const test::compose op{};
  const auto problem = detail::make_problem<true, T>(
      static_cast<const T *>(nullptr), static_cast<T *>(nullptr), op, detail::no_initial{});
  for (const std::size_t n : test::lengths(sizeof(T), random, problem)) {
    const auto in = test::random_values<T>(n, random);
    check(in, test::random_value<T>::make(random), op, random,
          [&](const auto &values, auto init, bool inclusive) {
            return inclusive ? test::serial_inclusive(values, op)
                             : test::serial_exclusive(values, op, *init);
          });
  }
}
