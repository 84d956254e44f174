// SPDX-License-Identifier: MIT
// The pipeline under ThreadSanitizer, and once for each mutation of it.
#include <lookback/device/look_ahead.cuh>

#include <simt/problems.hpp>

namespace {

/// 16-byte elements make 1024 a tile.
template <bool Inclusive, class Initial>
void pipeline(Initial initial, test::interval first) {
  using element = test::widened<test::interval, 16>;
  const auto elements = test::interval_elements<element, test::interval>(20 * 1024);
  test::for_each_trial(20, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, test::tree_sizes(16, 8), elements.size(), 1025); // more than one tile
    std::vector<test::interval> output(n), expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back({first.begin, first.end + i});
    test::scan_ahead<test::look_ahead_by<3, 2, 1, 2, 2>>(
        lookback::detail::make_problem<Inclusive, test::interval>(elements.data(), output.data(),
                                                                  test::join_neighbours{}, initial),
        n, 1 + one.random() % 4, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}

} // namespace

TEST_CASE("pipeline, 16-byte elements") { pipeline<true>(lookback::detail::no_initial{}, {1, 2}); }
/// Look-ahead warps hand an initial value on from the very first tile; without one, what they hand on begins with a group.
TEST_CASE("pipeline, an initial value") {
  pipeline<false>(lookback::detail::initial_value<test::interval>{test::interval_initial}, {0, 1});
}
