// SPDX-License-Identifier: MIT
// One wave of tiles under ThreadSanitizer, and once for each mutation of it.
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

namespace {

/// Wide elements make tiles of one row a warp.
template <bool Inclusive, int Warps, class T, class Initial>
void wave(std::uint64_t count, std::size_t tiles, Initial initial, test::interval first) {
  namespace core = lookback::detail;
  constexpr std::size_t bytes = 512 / Warps;
  using element = test::widened<T, bytes>;
  const test::tree_sizes size(bytes, sizeof(T));
  const auto elements = test::interval_elements<element, T>(tiles * size.tile);
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, size, elements.size(), size.tile + 1);
    INFO("n = ", n, ", tile = ", size.tile);
    std::vector<T> output(n, test::make_interval<T>({77, 78})), expected;
    for (std::uint32_t i = 0; i < n; ++i)
      expected.push_back(test::make_interval<T>({first.begin, first.end + i}));
    test::scan_with<core::wave, Warps>(
        core::make_problem<Inclusive, T>(elements.data(), output.data(), test::join_neighbours{},
                                         initial),
        n, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}

} // namespace

TEST_CASE("a wave, cells of one word, 2 warps") {
  wave<false, 2, test::interval>(
      15, 35, lookback::detail::initial_value<test::interval>{test::interval_initial}, {0, 1});
}
TEST_CASE("a wave, cells with a flag, objects, 1 warp") {
  wave<true, 1, test::owned_interval>(60, 5, lookback::detail::no_initial{}, {1, 2});
  wave<true, 1, test::owned_interval>(15, 35, lookback::detail::no_initial{}, {1, 2});
}
/// The results go over the keys, and no key was saved: everyone must have read before anyone
/// writes.
TEST_CASE("a wave by key, over the keys") {
  namespace core = lookback::detail;
  using number = std::uint64_t;
  lookback::simt::neighbours_may_write = false;
  test::for_each_trial(20, [&](test::trial &one) {
    const test::tree_sizes size(8, 8);
    const std::size_t n = test::pick_size(one, size, 4 * size.tile, size.tile + 1);
    std::vector<number> keys, values, expected;
    for (number i = 0; i < n; ++i) {
      keys.push_back(i / 100 + 1);
      values.push_back(i);
      expected.push_back(i % 100 == 0 ? i : expected.back() + i);
    }
    test::scan_with<core::wave, 2>(
        core::make_inclusive_by_key<number>(static_cast<const number *>(keys.data()),
                                            static_cast<const number *>(values.data()), keys.data(),
                                            lookback::equal_to{}, lookback::plus{}),
        n, one.schedule);
    REQUIRE_EQ(test::first_difference(keys, expected), test::nowhere);
  });
  lookback::simt::neighbours_may_write = true;
}
