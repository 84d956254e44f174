// SPDX-License-Identifier: MIT
// The pipeline under ThreadSanitizer.
#include <lookback/device/look_ahead.cuh>

#include <simt/problems.hpp>

/// The pipeline: 16-byte elements make 1024 a tile.
TEST_CASE("pipeline, 16-byte elements") {
  namespace core = lookback::detail;
  using element = test::widened<test::interval, 16>;
  const auto elements = test::interval_elements<element, test::interval>(20 * 1024);
  test::for_each_trial(20, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, test::tree_sizes(16, 8), elements.size());
    std::vector<test::interval> output(n), expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back({1, i + 2});
    test::scan_ahead<test::look_ahead_by<3, 1, 2, 2>>(
        core::make_problem<true, test::interval>(elements.data(), output.data(), test::join_neighbours{}, core::no_initial{}), n,
        1 + one.random() % 4, true, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}
