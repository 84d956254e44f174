// SPDX-License-Identifier: MIT
// The look-back under many schedules: every kind of cell, tiles as small as the tree allows, more
// than one group of them.
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

namespace {

/// T in elements of Bytes bytes, up to `tiles` tiles.
template <class T, std::size_t Bytes, int Warps>
void explore(std::uint64_t count, std::size_t tiles) {
  using element = test::widened<T, Bytes>;
  const auto elements =
      test::interval_elements<element, T>(tiles * test::tree_sizes(Bytes, sizeof(T)).tile);
  test::for_each_trial(count,
                       [&](test::trial &one) { test::check_intervals<Warps, T>(one, elements); });
}

} // namespace

TEST_CASE("cells of one word, 1 warp") { explore<test::interval, 512, 1>(4000, 101); }
TEST_CASE("cells of two words, 1 warp") { explore<test::split_interval, 512, 1>(4000, 101); }
TEST_CASE("cells with a flag, 1 warp") { explore<test::long_interval, 512, 1>(2000, 101); }
TEST_CASE("cells with a flag, objects, 1 warp") { explore<test::owned_interval, 512, 1>(1000, 35); }
TEST_CASE("cells with a flag, objects, 4 warps") { explore<test::owned_interval, 128, 4>(500, 35); }

/// More groups than a warp reads at once, which are 4: two rounds of reading, and three.
TEST_CASE("a wave of five groups and more") {
  namespace core = lookback::detail;
  using element = test::widened<test::interval, 512>;
  const test::tree_sizes size(512, sizeof(test::interval));
  const auto elements = test::interval_elements<element, test::interval>(290 * size.tile);
  test::for_each_trial(40, [&](test::trial &one) {
    const bool more = one.index / emulator::mode_count % 2 == 1;
    const std::size_t at_least = (more ? 256 : 128) * size.tile,
                      n = at_least + 1 + one.random() % (32 * size.tile);
    INFO("n = ", n);
    std::vector<test::interval> output(n, {77, 78}), expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back({1, i + 2});
    const auto problem = core::make_problem<true, test::interval>(
        elements.data(), output.data(), test::join_neighbours{}, core::no_initial{});
    test::scan_with<core::wave, 1>(problem, n, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}
