// SPDX-License-Identifier: MIT
// Every path of a scan that also writes its total, forced at every length: offsets from counts.
#include <lookback/device_scan.cuh>

#include <support/check_paths.cuh>
#include <support/operators.hpp>

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
