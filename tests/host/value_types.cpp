// SPDX-License-Identifier: MIT
// What lookback::host reads and writes through: volatile pointers, iterators without nested types,
// classes that take a result by assignment alone.
#include <lookback/scan.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/value_types.hpp>

namespace {

using number = std::int32_t;
const test::plus<number> sum{};

/// Numbers whose prefix sums fit into 32 bits.
template <class Random>
std::vector<number> small_numbers(std::size_t n, Random &random) {
  return test::random_below<number>(n, 1000, random);
}

/// What is expected of an output whose labels are its indices.
std::vector<test::assigned_number> labelled(const std::vector<number> &values) {
  std::vector<test::assigned_number> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    result[i].value = values[i], result[i].label = static_cast<number>(i);
  return result;
}

} // namespace

TEST_CASE(
    "lookback::host: results are assigned, not constructed, where the output is of another class") {
  TEST_RANDOM(random);
  for (std::size_t n : {std::size_t{1}, std::size_t{1000}, 100000 + random() % 1000}) {
    INFO("n = ", n);
    const auto in = small_numbers(n, random);
    const auto keys = test::random_keys<number>(n, random);
    auto out = labelled(std::vector<number>(n, 0));
    lookback::inclusive_scan(lookback::host, in.begin(), in.end(), out.data());
    CHECK(out == labelled(test::serial_inclusive(in, sum)));
    lookback::exclusive_scan(lookback::host, in.begin(), in.end(), out.data(), 5);
    CHECK(out == labelled(test::serial_exclusive(in, sum, 5)));
    lookback::exclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), in.begin(),
                                    out.data(), 5);
    CHECK(out ==
          labelled(test::serial_exclusive_by_key(keys, in, std::equal_to<number>{}, sum, 5)));
  }
}

TEST_CASE("lookback::host: pointers to volatile elements") {
  TEST_RANDOM(random);
  const auto in = small_numbers(10000, random);
  std::vector<number> data = in;
  volatile number *const first = data.data();
  lookback::inclusive_scan(lookback::host, first, first + data.size(), first);
  CHECK_EQ(test::first_difference(data, test::serial_inclusive(in, sum)), test::nowhere);
  const auto keys = test::random_keys<number>(in.size(), random);
  const volatile number *const k = keys.data(), *const x = in.data();
  lookback::inclusive_scan_by_key(lookback::host, k, k + keys.size(), x, data.data());
  CHECK_EQ(test::first_difference(
               data, test::serial_inclusive_by_key(keys, in, std::equal_to<number>{}, sum)),
           test::nowhere);
}

TEST_CASE("lookback::host: an iterator whose value type stands in std::iterator_traits alone") {
  TEST_RANDOM(random);
  const auto in = small_numbers(10000, random);
  std::vector<number> out(in.size());
  const test::untyped_iterator<const number> first{in.data()};
  const test::untyped_iterator<number> result{out.data()};
  const std::ptrdiff_t n = 10000;
  CHECK(lookback::inclusive_scan(lookback::host, first, first + n, result) == result + n);
  CHECK_EQ(test::first_difference(out, test::serial_inclusive(in, sum)), test::nowhere);
}
