// SPDX-License-Identifier: MIT
// Every path of a scan that also writes its total, forced at every length: offsets from counts, and
// lookback::with_total; and of scans from the last item to the first.
#include <lookback/device_scan.cuh>

#include <support/check_paths.cuh>
#include <support/one_phase_calls.cuh>
#include <support/operators.hpp>
#include <support/serial_reference.hpp>
#include <support/tree_reference.hpp>

namespace {

namespace detail = lookback::detail;

template <class Count, class Offset>
struct offsets {
  using count = Count;
  using offset = Offset;
};

} // namespace

TEST_CASE_TEMPLATE("totals: offsets from counts", Types, offsets<std::int32_t, std::int64_t>,
                   offsets<std::uint8_t, std::uint32_t>, offsets<std::int64_t, std::int64_t>,
                   offsets<std::uint16_t, std::uint16_t>) {
  TEST_RANDOM(random);
  using Count = typename Types::count;
  using Offset = typename Types::offset;
  std::int64_t n = 0;
  const auto from_counts = [&](const Count *counts, Offset *out) {
    return detail::device_problem::offsets(counts, out, n);
  };
  const std::size_t widest = std::max(sizeof(Count), sizeof(Offset));
  for (const std::size_t length : test::lengths(widest, random, from_counts(nullptr, nullptr))) {
    n = static_cast<std::int64_t>(length);
    const auto counts = test::random_values<Count>(length, random);
    auto wide = test::converted<Offset>(counts);
    wide.push_back(0);
    test::check_paths<Offset>(counts, test::serial_exclusive(wide, test::plus<Offset>{}, Offset{0}),
                              random, from_counts);
  }
}

/// The bits of the last result, or of the last result and the last item.
TEST_CASE_TEMPLATE("totals: of inclusive and exclusive scans", T, std::int8_t, float) {
  TEST_RANDOM(random);
  const lookback::plus op{};
  const T init = T(3);
  std::int64_t n = 0;
  const auto inclusive = [&](const T *x, T *y) {
    return detail::device_problem::scan_from<true>(x, lookback::with_total(y, y + n), op, init);
  };
  const auto exclusive = [&](const T *x, T *y) {
    return detail::device_problem::scan_from<false>(x, lookback::with_total(y, y + n), op, init);
  };
  using accumulator = typename decltype(inclusive(nullptr, nullptr))::accumulator;
  const test::plus<accumulator> sum{};
  for (const std::size_t length : test::lengths(sizeof(T), random, inclusive(nullptr, nullptr))) {
    n = static_cast<std::int64_t>(length);
    const auto in = test::random_values<T>(length, random);
    const auto items = test::converted<accumulator>(in);
    auto expected = test::tree_scan<accumulator>(items, sum, init, true, sizeof(T), sizeof(T));
    expected.push_back(length == 0 ? init : expected.back());
    test::check_paths<T>(in, test::converted<T>(expected), random, inclusive);
    expected = test::tree_scan<accumulator>(items, sum, init, false, sizeof(T), sizeof(T));
    expected.push_back(length == 0 ? init : sum(expected.back(), items.back()));
    test::check_paths<T>(in, test::converted<T>(expected), random, exclusive);
  }
}

TEST_CASE("lookback::with_total: to memory of the host, and without an initial value") {
  TEST_RANDOM(random);
  std::int64_t *total = nullptr;
  REQUIRE_CUDA(cudaMallocHost(&total, sizeof(*total)));
  for (const std::size_t n : test::to_try({0, 1, 5000 + random() % 1000000}, random)) {
    INFO("n = ", n);
    const auto in = test::random_values<std::int32_t>(n, random);
    const auto expected = test::serial_inclusive(in, test::plus<std::int32_t>{});
    const test::guarded_buffer<std::int32_t> from(in), to(n);
    *total = 77;
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return lookback::DeviceScan::InclusiveSum(temporary, bytes, from.data(),
                                                lookback::with_total(to.data(), total), n);
    });
    CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
    CHECK(to.guards_intact());
    CHECK_EQ(*total, n == 0 ? 77 : expected.back());
  }
  REQUIRE_CUDA(cudaFreeHost(total));
}

TEST_CASE_TEMPLATE("reverse: every path", T, std::int8_t, float, double) {
  TEST_RANDOM(random);
  const test::plus<T> op{};
  const lookback::plus sum{};
  const T init = T(3);
  std::int64_t n = 0;
  const auto inclusive = [&](const T *x, T *y) {
    return detail::from_the_end(detail::make_problem<true, T>(x, y, sum, detail::no_initial{}), n);
  };
  const auto exclusive = [&](const T *x, T *y) {
    return detail::from_the_end(
        detail::make_problem<false, T>(x, y, sum, detail::initial_value<T>{init}), n);
  };
  for (const std::size_t length : test::lengths(sizeof(T), random, inclusive(nullptr, nullptr))) {
    n = static_cast<std::int64_t>(length);
    const auto in = test::random_values<T>(length, random);
    const std::vector<T> items(in.rbegin(), in.rend());
    auto expected = test::tree_scan<T>(items, op, {}, true, sizeof(T), sizeof(T));
    std::reverse(expected.begin(), expected.end());
    test::check_paths<T>(in, expected, random, inclusive);
    expected = test::tree_scan<T>(items, op, init, false, sizeof(T), sizeof(T));
    std::reverse(expected.begin(), expected.end());
    test::check_paths<T>(in, expected, random, exclusive);
  }
}

TEST_CASE("lookback::reverse: every call without keys, with a strategy and with a total") {
  TEST_RANDOM(random);
  using lookback::DeviceScan;
  using lookback::reverse;
  using word = std::uint32_t;
  const test::compose_words op{};
  const word init = 0x30005;
  for (const std::size_t n : test::to_try({0, 1, 5000 + random() % 1000000}, random)) {
    INFO("n = ", n);
    const auto in = test::random_values<word>(n, random);
    const std::vector<word> items(in.rbegin(), in.rend());
    const test::guarded_buffer<word> from(in, random() % 4);
    test::guarded_buffer<word> to(n, random() % 4), total(1);
    word *const x = from.data(), *const y = to.data();
    const auto check = [&](const char *name, std::vector<word> expected, auto call) {
      INFO(doctest::String(name));
      std::reverse(expected.begin(), expected.end());
      to.upload(in);
      test::two_phases(call);
      CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
      CHECK(to.guards_intact());
    };
    const test::plus<word> sum{};
    const auto exclusive = test::serial_exclusive(items, op, init);
    check("InclusiveSum", test::serial_inclusive(items, sum),
          [&](void *storage, std::size_t &bytes) {
            return DeviceScan::InclusiveSum(storage, bytes, x, y, n, nullptr, reverse);
          });
    check("ExclusiveSum, in place", test::serial_exclusive(items, sum, 0u),
          [&](void *storage, std::size_t &bytes) {
            return DeviceScan::ExclusiveSum(storage, bytes, y, n, nullptr, reverse);
          });
    check("ExclusiveScan", exclusive, [&](void *storage, std::size_t &bytes) {
      return DeviceScan::ExclusiveScan(storage, bytes, x, y, op, init, n, nullptr, reverse,
                                       lookback::look_ahead{});
    });
    check("ExclusiveScan, total", exclusive, [&](void *storage, std::size_t &bytes) {
      return DeviceScan::ExclusiveScan(storage, bytes, x, lookback::with_total(y, total.data()), op,
                                       init, n, nullptr, reverse);
    });
    CHECK_EQ(total.download()[0], n == 0 ? init : op(exclusive.back(), items.back()));
  }
}

TEST_CASE("lookback::reverse: by key, in place, and in one phase") {
  TEST_RANDOM(random);
  using lookback::DeviceScan;
  using lookback::reverse;
  using word = std::uint32_t;
  const test::compose_words op{};
  const std::equal_to<word> equal{};
  const test::stream stream;
  const cudaStream_t own = stream;
  for (const std::size_t n : test::to_try({0, 1, 5000 + random() % 1000000}, random)) {
    INFO("n = ", n);
    const auto in = test::random_values<word>(n, random), keys = test::random_keys<word>(n, random);
    const std::vector<word> items(in.rbegin(), in.rend()), labels(keys.rbegin(), keys.rend());
    const test::guarded_buffer<word> device_keys(keys, random() % 4);
    test::guarded_buffer<word> to(n, random() % 4);
    word *const k = device_keys.data(), *const y = to.data();
    const auto check = [&](const char *name, std::vector<word> expected, auto call) {
      INFO(doctest::String(name));
      std::reverse(expected.begin(), expected.end());
      to.upload(in);
      call();
      CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
      CHECK(to.guards_intact());
    };
    const auto by_key = test::serial_inclusive_by_key(labels, items, equal, op);
    check("InclusiveScanByKey", by_key, [&] {
      test::two_phases([&](void *storage, std::size_t &bytes) {
        return DeviceScan::InclusiveScanByKey(storage, bytes, k, y, y, op, n, equal, nullptr,
                                              reverse);
      });
    });
    check("InclusiveScanByKey, one phase", by_key,
          [&] { REQUIRE_CUDA(DeviceScan::InclusiveScanByKey(k, y, y, op, n, equal, reverse)); });
    check("InclusiveScanByKey, one phase on a stream", by_key, [&] {
      REQUIRE_CUDA(DeviceScan::InclusiveScanByKey(k, y, y, op, n, equal, reverse.in(own)));
    });
    check("InclusiveSum, one phase", test::serial_inclusive(items, test::plus<word>{}),
          [&] { REQUIRE_CUDA(DeviceScan::InclusiveSum(y, n, reverse)); });
  }
  test::runs_on(own, reverse.in(own));
}
