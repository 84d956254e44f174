// SPDX-License-Identifier: MIT
#include <lookback/device_scan.cuh>

#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

namespace {

using lookback::DeviceScan;

/// All edges of the tree, and a few lengths with more tiles than a GPU holds blocks.
template <class Random>
std::vector<std::size_t> lengths(std::size_t bytes, Random &random) {
  auto sizes = test::edge_sizes(bytes, bytes, std::size_t{1} << 21, random, 8);
  for (int i = 0; i < 3; ++i)
    sizes.push_back((std::size_t{1} << 22) + random() % (std::size_t{1} << 23));
  return test::to_try(sizes, random);
}

/// `call(temporary, bytes, n, out)` against the results of `expected(i)`.
template <class T, class Call, class Expected>
void check(const char *name, std::size_t n, Call call, Expected expected) {
  INFO(doctest::String(name), ", n = ", n);
  const test::guarded_buffer<T> out(n, n % 3);
  test::two_phases(
      [&](void *temporary, std::size_t &bytes) { return call(temporary, bytes, out.data()); });
  const std::vector<T> actual = out.download();
  std::size_t first_wrong = test::nowhere;
  for (std::size_t i = n; i-- != 0;)
    if (!(actual[i] == expected(i))) first_wrong = i;
  CHECK_EQ(first_wrong, test::nowhere);
  CHECK(out.guards_intact());
}

} // namespace

TEST_CASE("decoupled look-back: the interval monoid") {
  TEST_RANDOM(random);
  const test::join_intervals op{};
  for (std::size_t n : lengths(sizeof(test::interval), random)) {
    std::vector<test::interval> in;
    for (std::size_t i = 0; i < n; ++i) in.push_back(test::interval_element(i));
    const test::guarded_buffer<test::interval> device_in(in);
    const auto through = [](std::uint32_t first) {
      return [first](std::size_t i) {
        return test::interval{first, static_cast<std::uint32_t>(i) + 2};
      };
    };
    check<test::interval>(
        "inclusive", n,
        [&](void *temporary, std::size_t &bytes, test::interval *out) {
          return DeviceScan::InclusiveScan(temporary, bytes, device_in.data(), out, op, n);
        },
        through(1));
    check<test::interval>(
        "inclusive, init", n,
        [&](void *temporary, std::size_t &bytes, test::interval *out) {
          return DeviceScan::InclusiveScanInit(temporary, bytes, device_in.data(), out, op,
                                               test::interval_initial, n);
        },
        through(0));
    check<test::interval>(
        "exclusive", n,
        [&](void *temporary, std::size_t &bytes, test::interval *out) {
          return DeviceScan::ExclusiveScan(temporary, bytes, device_in.data(), out, op,
                                           test::interval_initial, n);
        },
        [](std::size_t i) {
          return test::interval{0, static_cast<std::uint32_t>(i) + 1};
        });
  }
}

TEST_CASE("decoupled look-back: the bicyclic monoid") {
  TEST_RANDOM(random);
  const test::concatenate_brackets op{};
  for (std::size_t n : lengths(sizeof(test::brackets), random)) {
    std::vector<test::brackets> in;
    for (std::size_t i = 0; i < n; ++i)
      in.push_back(
          {static_cast<std::uint32_t>(random() % 4), static_cast<std::uint32_t>(random() % 4)});
    const test::guarded_buffer<test::brackets> device_in(in);
    const auto expected = test::serial_inclusive(in, op);
    check<test::brackets>(
        "inclusive", n,
        [&](void *temporary, std::size_t &bytes, test::brackets *out) {
          return DeviceScan::InclusiveScan(temporary, bytes, device_in.data(), out, op, n);
        },
        [&](std::size_t i) { return expected[i]; });
  }
}

TEST_CASE("decoupled look-back: affine maps") {
  TEST_RANDOM(random);
  const test::compose_affine op{};
  for (std::size_t n : lengths(sizeof(test::affine), random)) {
    std::vector<test::affine> in;
    for (std::size_t i = 0; i < n; ++i)
      in.push_back(
          {static_cast<std::uint32_t>(random() | 1), static_cast<std::uint32_t>(random())});
    const test::guarded_buffer<test::affine> device_in(in);
    const test::affine init{7, 11};
    const auto expected = test::serial_exclusive(in, op, init);
    check<test::affine>(
        "exclusive", n,
        [&](void *temporary, std::size_t &bytes, test::affine *out) {
          return DeviceScan::ExclusiveScan(temporary, bytes, device_in.data(), out, op, init, n);
        },
        [&](std::size_t i) { return expected[i]; });
  }
}

TEST_CASE("decoupled look-back: maximum, and counting") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(sizeof(test::counted), random)) {
    const auto in = test::random_values<std::int32_t>(n, random);
    const test::guarded_buffer<std::int32_t> device_in(in);
    const auto expected = test::serial_inclusive(in, test::maximum<std::int32_t>{});
    check<std::int32_t>(
        "maximum", n,
        [&](void *temporary, std::size_t &bytes, std::int32_t *out) {
          return DeviceScan::InclusiveScan(temporary, bytes, device_in.data(), out,
                                           test::maximum<std::int32_t>{}, n);
        },
        [&](std::size_t i) { return expected[i]; });

    std::vector<test::counted> ones;
    for (std::size_t i = 0; i < n; ++i) ones.push_back({1, i + 1});
    const test::guarded_buffer<test::counted> device_ones(ones);
    check<test::counted>(
        "counting", n,
        [&](void *temporary, std::size_t &bytes, test::counted *out) {
          return DeviceScan::InclusiveScan(temporary, bytes, device_ones.data(), out, test::count{},
                                           n);
        },
        [](std::size_t i) {
          return test::counted{i + 1, i + 1};
        });
  }
}
