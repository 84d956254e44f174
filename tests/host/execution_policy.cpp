// SPDX-License-Identifier: MIT
#include <lookback/execution_policy.cuh>

#include <support/guarded_vector.hpp>
#include <support/random.hpp>
#include <support/sizes.hpp>
#include <support/thrust_calls.hpp>

#include <thrust/scan.h>
#include <thrust/transform_scan.h>

#include <functional>
#include <vector>

namespace {

TEST_FUNCTIONS(through_thrust, thrust);
TEST_FUNCTIONS(free_functions, lookback);

using test::word;

template <class Functions>
void check_all(const char *door) {
  TEST_RANDOM(random);
  for (std::size_t n : test::edge_sizes(4, 4, std::size_t{1} << 18, random)) {
    INFO(door, ", n = ", n);
    const test::words in = test::random_values<word>(n, random),
                      keys = test::random_keys<word>(n, random);
    test::guarded_vector<word> out(n, 0xa5a5a5a5);
    const test::scan_arguments arguments{in.data(), in.data() + n, keys.data(), out.data()};
    const auto check = [&](const char *name, const test::words &expected, auto call) {
      INFO("call ", name);
      out.refill();
      CHECK_EQ(call(lookback::host, arguments), out.data() + n);
      CHECK_EQ(test::first_difference(out.values(), expected), test::nowhere);
      CHECK(out.guards_intact());
    };
    test::visit_scans<Functions>(in, check);
    test::visit_scans_by_key<Functions>(keys, in, check);
  }
}

} // namespace

TEST_CASE("lookback::host: the 16 scans of Thrust") {
  SUBCASE("called as Thrust's") { check_all<through_thrust>("thrust"); }
  SUBCASE("called as lookback's") { check_all<free_functions>("lookback"); }
}

TEST_CASE("lookback::host: n <= 0 returns the result untouched") {
  const std::vector<word> data(100, 7);
  std::vector<word> out(100, 9);
  const std::equal_to<word> equal{};
  const test::plus<word> op{};
  const test::triple_plus_one<word> f{};
  const word *const first = data.data() + 50;
  for (std::ptrdiff_t n : {0, -1, -50}) {
    INFO("n = ", n);
    const word *const last = first + n;
    word *const y = out.data();
    CHECK_EQ(thrust::inclusive_scan(lookback::host, first, last, y), y);
    CHECK_EQ(thrust::inclusive_scan(lookback::host, first, last, y, op), y);
    CHECK_EQ(thrust::inclusive_scan(lookback::host, first, last, y, 1u, op), y);
    CHECK_EQ(thrust::exclusive_scan(lookback::host, first, last, y), y);
    CHECK_EQ(thrust::exclusive_scan(lookback::host, first, last, y, 1u), y);
    CHECK_EQ(thrust::exclusive_scan(lookback::host, first, last, y, 1u, op), y);
    CHECK_EQ(thrust::transform_inclusive_scan(lookback::host, first, last, y, f, op), y);
    CHECK_EQ(thrust::transform_inclusive_scan(lookback::host, first, last, y, f, 1u, op), y);
    CHECK_EQ(thrust::transform_exclusive_scan(lookback::host, first, last, y, f, 1u, op), y);
    CHECK_EQ(thrust::inclusive_scan_by_key(lookback::host, first, last, first, y), y);
    CHECK_EQ(thrust::inclusive_scan_by_key(lookback::host, first, last, first, y, equal), y);
    CHECK_EQ(thrust::inclusive_scan_by_key(lookback::host, first, last, first, y, equal, op), y);
    CHECK_EQ(thrust::exclusive_scan_by_key(lookback::host, first, last, first, y), y);
    CHECK_EQ(thrust::exclusive_scan_by_key(lookback::host, first, last, first, y, 1u), y);
    CHECK_EQ(thrust::exclusive_scan_by_key(lookback::host, first, last, first, y, 1u, equal), y);
    CHECK_EQ(thrust::exclusive_scan_by_key(lookback::host, first, last, first, y, 1u, equal, op),
             y);
  }
  CHECK_EQ(test::first_difference(out, std::vector<word>(100, 9)), test::nowhere);
}

TEST_CASE("lookback::host: in place") {
  TEST_RANDOM(random);
  const test::compose_words op{};
  const std::equal_to<word> equal{};
  for (std::size_t n : test::edge_sizes(4, 4, std::size_t{1} << 18, random)) {
    INFO("n = ", n);
    const test::words in = test::random_values<word>(n, random),
                      keys = test::random_keys<word>(n, random);
    test::words data = in, key_data = keys;
    thrust::inclusive_scan(lookback::host, data.begin(), data.end(), data.begin(), op);
    CHECK_EQ(test::first_difference(data, test::serial_inclusive(in, op)), test::nowhere);

    data = in;
    thrust::exclusive_scan(lookback::host, data.begin(), data.end(), data.begin(), 0x10001u, op);
    CHECK_EQ(test::first_difference(data, test::serial_exclusive(in, op, 0x10001u)), test::nowhere);

    data = in;
    thrust::inclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), data.begin(),
                                  data.begin(), equal, op);
    CHECK_EQ(test::first_difference(data, test::serial_inclusive_by_key(keys, in, equal, op)),
             test::nowhere);

    // Over the keys: what says where a run begins is overwritten while others still ask.
    thrust::exclusive_scan_by_key(lookback::host, key_data.begin(), key_data.end(), in.begin(),
                                  key_data.begin(), 3u, equal, op);
    CHECK_EQ(
        test::first_difference(key_data, test::serial_exclusive_by_key(keys, in, equal, op, 3u)),
        test::nowhere);
  }
}

TEST_CASE("lookback::host: accumulates in Thrust's types") {
  TEST_RANDOM(random);
  const std::size_t n = 100000 + random() % 1000;
  const auto in = test::random_values<std::uint8_t>(n, random);
  const auto keys = test::random_keys<std::int32_t>(n, random);
  const auto same = [&](const char *name, auto call) {
    INFO(doctest::String(name));
    std::vector<std::int64_t> actual(n), expected(n);
    call(lookback::host, actual.data());
    call(thrust::seq, expected.data());
    CHECK_EQ(test::first_difference(actual, expected), test::nowhere);
  };
  const auto *const first = in.data(), *const last = first + n;
  same("inclusive",
       [&](auto &policy, auto out) { thrust::inclusive_scan(policy, first, last, out); });
  same("inclusive, wider initial", [&](auto &policy, auto out) {
    thrust::inclusive_scan(policy, first, last, out, std::int64_t{1} << 40, std::plus<>{});
  });
  same("exclusive",
       [&](auto &policy, auto out) { thrust::exclusive_scan(policy, first, last, out); });
  same("exclusive, wider initial", [&](auto &policy, auto out) {
    thrust::exclusive_scan(policy, first, last, out, std::int64_t{1} << 40);
  });
  same("transform", [&](auto &policy, auto out) {
    thrust::transform_inclusive_scan(policy, first, last, out,
                                     test::triple_plus_one<std::int16_t>{}, std::plus<>{});
  });
  same("by key", [&](auto &policy, auto out) {
    thrust::inclusive_scan_by_key(policy, keys.data(), keys.data() + n, first, out);
  });
  same("by key, wider initial", [&](auto &policy, auto out) {
    thrust::exclusive_scan_by_key(policy, keys.data(), keys.data() + n, first, out,
                                  std::int64_t{1} << 40);
  });
}

TEST_CASE_TEMPLATE("lookback::offsets_from_counts on the host", Count, std::uint8_t, std::int32_t,
                   std::int64_t) {
  TEST_RANDOM(random);
  using Offset = std::int64_t;
  for (const std::size_t n : test::edge_sizes(8, 8, std::size_t{1} << 18, random)) {
    INFO("n = ", n);
    const auto counts = test::random_values<Count>(n, random);
    std::vector<Offset> expected(1, 0);
    for (const Count count : counts)
      expected.push_back(static_cast<Offset>(static_cast<std::uint64_t>(expected.back()) +
                                             static_cast<std::uint64_t>(count)));
    test::guarded_vector<Offset> offsets(n + 1, 77);
    CHECK_EQ(
        lookback::offsets_from_counts(lookback::host, counts.begin(), counts.end(), offsets.data()),
        offsets.data() + n + 1);
    CHECK_EQ(test::first_difference(offsets.values(), expected), test::nowhere);
    CHECK(offsets.guards_intact());
  }
  const std::vector<Count> counts(10, 3);
  std::vector<Offset> offsets(2, 77);
  CHECK(lookback::offsets_from_counts(lookback::host, counts.end(), counts.begin(),
                                      offsets.begin()) == offsets.begin() + 1);
  CHECK(offsets == std::vector<Offset>{0, 77});
}
