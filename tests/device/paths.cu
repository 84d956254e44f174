// SPDX-License-Identifier: MIT
// Every path forced at every length, also where it would not be chosen: the same bits, from
// operators that tell.
#include <lookback/device_scan.cuh>

#include <support/check_paths.cuh>
#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <thrust/iterator/transform_iterator.h>

namespace {

namespace detail = lookback::detail;
using test::check_paths;
using test::lengths;
using test::path;
using test::paths;
using test::random_shift;
using test::supported;

struct odd_or_none {
  __host__ __device__ std::int32_t operator()(std::int32_t value) const {
    return value % 2 == 0 ? 0 : value;
  }
};

/// Not in place, over the keys, and over the values: a tile's results may lie where its neighbours
/// have to read.
template <class T, class Operator, class Random>
void check_by_key(const Operator &op, Random &random) {
  const lookback::equal_to equal{};
  const auto inclusive = [=](const T *keys, const T *values, T *out) {
    return detail::make_inclusive_by_key<T>(keys, values, out, equal, op);
  };
  const auto exclusive = [=](const T *keys, const T *values, T *out) {
    return detail::make_exclusive_by_key<T>(keys, values, out, T{3}, equal, op);
  };
  const auto check = [&](const auto &keys, const auto &values, const auto &expected, auto make) {
    const auto n = static_cast<std::int64_t>(keys.size());
    for (const path by : paths)
      for (const int where : {0, 1, 2}) {
        INFO(test::name_of(by), ", n = ", n, ", the results over: ",
             where == 0   ? "nothing"
             : where == 1 ? "keys"
                          : "values");
        const test::guarded_buffer<T> device_keys(keys, random_shift(random)),
            device_values(values, random_shift(random)),
            elsewhere(keys.size(), random_shift(random));
        const test::guarded_buffer<T> &out = where == 0   ? elsewhere
                                             : where == 1 ? device_keys
                                                          : device_values;
        const auto problem = make(device_keys.data(), device_values.data(), out.data());
        std::size_t bytes = 0;
        REQUIRE_CUDA(test::scan_by(by, nullptr, bytes, problem, n, nullptr));
        const test::guarded_buffer<unsigned char> temporary(bytes);
        if (!supported(problem, by, n,
                       test::scan_by(by, temporary.data(), bytes, problem, n, nullptr)))
          continue;
        CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
        CHECK(out.guards_intact());
        CHECK(temporary.guards_intact());
      }
  };
  const auto problem = inclusive(nullptr, nullptr, nullptr);
  const auto with_initial = exclusive(nullptr, nullptr, nullptr);
  for (const std::size_t n : lengths(sizeof(T), random, problem, with_initial)) {
    const auto keys = test::random_keys<T>(n, random, 1 + random() % 4);
    const auto values = test::random_values<T>(n, random);
    check(keys, values, test::serial_inclusive_by_key(keys, values, equal, test::plus<T>{}),
          inclusive);
    check(keys, values, test::serial_exclusive_by_key(keys, values, equal, test::plus<T>{}, T{3}),
          exclusive);
  }
}

} // namespace

TEST_CASE_TEMPLATE("paths: the bits of sums", T, float, double) {
  TEST_RANDOM(random);
  const test::plus<T> op{};
  const T init = T(0.3);
  const auto inclusive = [=](const T *x, T *y) {
    return detail::make_problem<true, T>(x, y, op, detail::no_initial{});
  };
  const auto exclusive = [=](const T *x, T *y) {
    return detail::make_problem<false, T>(x, y, op, detail::initial_value<T>{init});
  };
  for (const std::size_t n :
       lengths(sizeof(T), random, inclusive(nullptr, nullptr), exclusive(nullptr, nullptr))) {
    const auto in = test::random_values<T>(n, random);
    check_paths<T>(in, test::tree_scan<T>(in, op, {}, true, sizeof(T), sizeof(T)), random,
                   inclusive);
    check_paths<T>(in,
                   test::tree_scan<T>(in, op, std::optional<T>(init), false, sizeof(T), sizeof(T)),
                   random, exclusive);
  }
}

/// By lookback's own operator, which is known to add: several elements at a time where they are
/// narrow.
TEST_CASE_TEMPLATE("paths: sums of integers", T, std::int8_t, std::uint8_t, std::int16_t,
                   std::uint16_t, std::int32_t, std::int64_t) {
  TEST_RANDOM(random);
  const lookback::plus op{};
  const auto sum = [=](const T *x, T *y) {
    return detail::make_problem<true, T>(x, y, op, detail::no_initial{});
  };
  for (const std::size_t n : lengths(sizeof(T), random, sum(nullptr, nullptr))) {
    const auto in = test::random_values<T>(n, random);
    check_paths<T>(in, test::serial_inclusive(in, test::plus<T>{}), random, sum);
  }
}

/// The pipeline gives each lane a run of them.
TEST_CASE("paths: sums of integers of 16 bytes") {
  TEST_RANDOM(random);
  using T = unsigned __int128;
  const auto inclusive = [=](const T *x, T *y) {
    return detail::make_problem<true, T>(x, y, lookback::plus{}, detail::no_initial{});
  };
  const auto exclusive = [=](const T *x, T *y) {
    return detail::make_problem<false, T>(x, y, lookback::plus{}, detail::initial_value<T>{T{7}});
  };
  for (const std::size_t n :
       lengths(sizeof(T), random, inclusive(nullptr, nullptr), exclusive(nullptr, nullptr))) {
    std::vector<T> in;
    for (std::size_t i = 0; i < n; ++i) in.push_back(T{random()} << 64 | random());
    check_paths<T>(in, test::serial_inclusive(in, test::plus<T>{}), random, inclusive);
    check_paths<T>(in, test::serial_exclusive(in, test::plus<T>{}, T{7}), random, exclusive);
  }
}

TEST_CASE_TEMPLATE("paths: narrow elements into a wider accumulator, and wide results", T,
                   std::int8_t, std::uint16_t) {
  TEST_RANDOM(random);
  using Sum = std::conditional_t<std::is_signed<T>::value, std::int32_t,
                                 std::uint32_t>; // the unsigned one may wrap
  const auto sum = [=](const T *x, Sum *y) {
    return detail::make_problem<false, Sum>(x, y, lookback::plus{}, detail::initial_value<Sum>{5});
  };
  for (const std::size_t n : lengths(sizeof(Sum), random, sum(nullptr, nullptr))) {
    const auto in = test::random_values<T>(n, random);
    const auto wide = test::converted<Sum>(in);
    check_paths<Sum>(in, test::serial_exclusive(wide, test::plus<Sum>{}, Sum{5}), random, sum);
  }
}

TEST_CASE_TEMPLATE("paths: transformed on the way in", T, std::int16_t, std::int32_t) {
  TEST_RANDOM(random);
  const test::plus<std::int32_t> op{};
  const auto sum = [=](const T *x, std::int32_t *y) {
    return detail::make_problem<true, std::int32_t>(
        thrust::make_transform_iterator(x, odd_or_none{}), y, op, detail::no_initial{});
  };
  static_assert(detail::can_look_ahead<decltype(sum(nullptr, nullptr))>::value,
                "what is read is plain memory");
  for (const std::size_t n : lengths(sizeof(std::int32_t), random, sum(nullptr, nullptr))) {
    const auto in = test::random_values<T>(n, random);
    std::vector<std::int32_t> odd;
    for (const T value : in) odd.push_back(odd_or_none{}(value));
    check_paths<std::int32_t>(in, test::serial_inclusive(odd, op), random, sum);
  }
}

TEST_CASE("paths: the interval monoid") {
  TEST_RANDOM(random);
  using test::interval;
  const test::join_intervals op{};
  const auto make_inclusive = [=](const interval *x, interval *y) {
    return detail::make_problem<true, interval>(x, y, op, detail::no_initial{});
  };
  const auto make_exclusive = [=](const interval *x, interval *y) {
    return detail::make_problem<false, interval>(
        x, y, op, detail::initial_value<interval>{test::interval_initial});
  };
  for (const std::size_t n : lengths(sizeof(interval), random, make_inclusive(nullptr, nullptr),
                                     make_exclusive(nullptr, nullptr))) {
    std::vector<interval> in, inclusive, exclusive;
    for (std::size_t i = 0; i < n; ++i) {
      in.push_back(test::interval_element(i));
      inclusive.push_back(interval{1, static_cast<std::uint32_t>(i) + 2});
      exclusive.push_back(interval{0, static_cast<std::uint32_t>(i) + 1});
    }
    check_paths<interval>(in, inclusive, random, make_inclusive);
    check_paths<interval>(in, exclusive, random, make_exclusive);
  }
}

/// Blocks have 25 or 26 tiles, and so use every stage of the pipeline's ring (of 12) twice and the
/// first ones three times: one length, short enough for the tools of compute-sanitizer.
TEST_CASE_TEMPLATE("paths: the ring comes round", T, std::int8_t, std::int32_t, std::int64_t,
                   __int128) {
  TEST_RANDOM(random);
  const auto sum = [=](const T *x, T *y) {
    return detail::make_problem<true, T>(x, y, lookback::plus{}, detail::no_initial{});
  };
  cudaDeviceProp device{};
  REQUIRE_CUDA(cudaGetDeviceProperties(&device, 0));
  const std::size_t tiles = 25 * device.multiProcessorCount + random() % device.multiProcessorCount;
  std::vector<T> in;
  for (std::size_t i = 0; i < tiles * test::tree_sizes(sizeof(T), sizeof(T)).tile - 1; ++i)
    in.push_back(static_cast<T>(random()));
  check_paths<T>(in, test::serial_inclusive(in, test::plus<T>{}), random, sum);
}

TEST_CASE("paths: in place") {
  TEST_RANDOM(random);
  const test::plus<std::int32_t> op{};
  const auto sum = [=](std::int32_t *data) {
    return detail::make_problem<true, std::int32_t>(data, data, op, detail::no_initial{});
  };
  for (const std::size_t n : lengths(sizeof(std::int32_t), random, sum(nullptr))) {
    const auto in = test::random_values<std::int32_t>(n, random);
    const auto expected = test::serial_inclusive(in, op);
    for (const path by : paths) {
      INFO(test::name_of(by), ", n = ", n);
      const test::guarded_buffer<std::int32_t> data(in);
      const auto problem = sum(data.data());
      std::size_t bytes = 0;
      REQUIRE_CUDA(
          test::scan_by(by, nullptr, bytes, problem, static_cast<std::int64_t>(n), nullptr));
      const test::guarded_buffer<unsigned char> temporary(bytes);
      const auto length = static_cast<std::int64_t>(n);
      if (!supported(problem, by, length,
                     test::scan_by(by, temporary.data(), bytes, problem, length, nullptr)))
        continue;
      CHECK_EQ(test::first_difference(data.download(), expected), test::nowhere);
      CHECK(data.guards_intact());
    }
  }
}

TEST_CASE_TEMPLATE("paths: by key", T, std::uint32_t, std::uint64_t) {
  TEST_RANDOM(random);
  check_by_key<T>(test::plus<T>{}, random);
}
/// By lookback's own operator, which is known to add: differences of prefix sums.
TEST_CASE_TEMPLATE("paths: sums of integers by key", T, std::uint8_t, std::int32_t) {
  TEST_RANDOM(random);
  check_by_key<T>(lookback::plus{}, random);
}

TEST_CASE("paths: one that cannot take a call says so and launches nothing") {
  const std::vector<std::int32_t> ones(100000, 1);
  const test::guarded_buffer<std::int32_t> keys(ones), values(ones);
  const auto problem = detail::make_inclusive_by_key<std::int32_t>(
      keys.data(), values.data(), keys.data(), // over the keys
      lookback::equal_to{}, test::plus<std::int32_t>{});
  std::size_t bytes = 0;
  const auto n = static_cast<std::int64_t>(ones.size());
  REQUIRE_CUDA(test::scan_by(path::look_ahead, nullptr, bytes, problem, n, nullptr));
  const test::guarded_buffer<unsigned char> temporary(bytes);
  CHECK_EQ(test::scan_by(path::look_ahead, temporary.data(), bytes, problem, n, nullptr),
           cudaErrorNotSupported);
  CHECK(keys.download() == ones);
}
