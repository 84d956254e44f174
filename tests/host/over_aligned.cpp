// SPDX-License-Identifier: MIT
// Types aligned to more than a cache line. UBSan checks the alignment of every object that a scan
// reads or constructs.
#include <lookback/execution_policy.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <thrust/scan.h>

#include <cstdint>
#include <vector>

namespace {

using word = std::uint32_t;

/// Not trivial to copy.
struct alignas(128) aligned_object {
  explicit aligned_object(word map_ = 1) : map(map_) {}
  aligned_object(const aligned_object &other) : map(other.map) {}
  aligned_object &operator=(const aligned_object &other) = default;
  friend bool operator==(const aligned_object &a, const aligned_object &b) {
    return a.map == b.map;
  }
  word map;
};
struct compose_objects {
  aligned_object operator()(const aligned_object &f, const aligned_object &g) const {
    return aligned_object(test::compose_packed(f.map, g.map));
  }
};

/// A result that is converted from a word, and trivial to copy.
template <std::size_t Alignment>
struct alignas(Alignment) aligned_result {
  aligned_result() = default;
  aligned_result(word value_) : value(value_) {}
  word value;
};

template <class T, class Operator>
void check_scans(const char *name, Operator op) {
  TEST_RANDOM(random);
  for (std::size_t n :
       test::edge_sizes(sizeof(T), sizeof(T), (std::size_t{5} << 20) / sizeof(T), random)) {
    INFO(doctest::String(name), ", n = ", n);
    const auto in = test::random_values<T>(n, random);
    const T init = test::random_value<T>::make(random);
    std::vector<T> out(n);
    thrust::inclusive_scan(lookback::host, in.data(), in.data() + n, out.data(), op);
    CHECK_EQ(test::first_difference(out, test::serial_inclusive(in, op)), test::nowhere);
    thrust::exclusive_scan(lookback::host, in.rbegin(), in.rend(), out.begin(), init, op);
    const std::vector<T> reversed(in.rbegin(), in.rend());
    CHECK_EQ(test::first_difference(out, test::serial_exclusive(reversed, op, init)),
             test::nowhere);
  }
}

/// Stores past the caches, as scans of more results than the caches hold do.
template <std::size_t Alignment, class Operator>
void check_stored_past_the_caches(Operator op) {
  TEST_RANDOM(random);
  const std::size_t n = 20000 + random() % 1000;
  const auto in = test::random_values<word>(n, random);
  std::vector<aligned_result<Alignment>> out(n);
  const auto problem = lookback::detail::make_problem<true, word>(in.data(), out.data(), op,
                                                                  lookback::detail::no_initial{});
  lookback::detail::threaded_scan<std::decay_t<decltype(problem)>>(problem.over({n}), true).run(2);
  std::vector<word> values;
  for (const auto &result : out) values.push_back(result.value);
  CHECK_EQ(test::first_difference(values, test::serial_inclusive(in, op)), test::nowhere);
}

} // namespace

TEST_CASE("lookback::host: types aligned to more than a cache line") {
  check_scans<test::sized<128, 128>>("128 bytes", test::compose{});
  check_scans<test::sized<1024, 1024>>("1 KB", test::compose{});
  check_scans<aligned_object>("objects of 128 bytes", compose_objects{});
}

TEST_CASE("lookback::host: results aligned to more than a cache line, stored past the caches") {
  check_stored_past_the_caches<128>(test::compose_words{});
  check_stored_past_the_caches<128>(lookback::plus{});
  check_stored_past_the_caches<1024>(test::compose_words{});
  check_stored_past_the_caches<1024>(lookback::plus{});
}
