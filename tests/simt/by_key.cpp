// SPDX-License-Identifier: MIT
// Scans by key: the same kernels over (value, head) pairs, with the keys at the tiles' boundaries
// saved before.
#include <lookback/core/reversed.cuh>
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

namespace {

/// A key that makes a tile of pairs small is the value's affair; this one compares by its quotient
/// by 8 alone.
using key = std::uint32_t;

template <int Warps, class T>
void intervals_by_key(std::uint64_t count, std::size_t tiles) {
  const test::tree_sizes size(sizeof(T), sizeof(T)); // as over the values
  const std::size_t tile = size.tile;
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, size, tiles * tile);
    const test::segments<key, T> all(one, n, one.random() % 2 == 0 ? 5 : 4 * tile);
    const test::bare_input<key> keys(all.keys, test::any_shift<key>(one));
    const bool in_place = one.random() % 2 == 0;
    const T filler = test::make_interval<T>({77, 78});
    test::guarded_buffer<T> input(n, one.random() % 2, filler), output(n, one.random() % 2, filler);
    std::copy(all.values.begin(), all.values.end(), input.data());
    test::guarded_buffer<T> &written = in_place ? input : output;
    const T *const from = input.data();
    const key *const named = keys.data();
    INFO("n = ", n, ", tile = ", tile, ", in place: ", in_place);
    namespace core = lookback::detail;
    const bool is_inclusive = one.random() % 2 == 0;
    if (is_inclusive)
      test::scan<Warps>(core::make_inclusive_by_key<T>(named, from, written.data(),
                                                       test::same_octave{},
                                                       test::join_neighbours{}),
                        n, one.schedule);
    else
      test::scan<Warps>(
          core::make_exclusive_by_key<T>(named, from, written.data(),
                                         test::make_interval<T>(test::interval_initial),
                                         test::same_octave{}, test::join_neighbours{}),
          n, one.schedule);
    REQUIRE_EQ(
        test::first_difference(written.results(), is_inclusive ? all.inclusive : all.exclusive),
        test::nowhere);
    REQUIRE(written.intact());
  });
}

/// Sums over the keys: with saved keys, or by a wave or cluster that has read them all before it
/// writes.
template <class Number>
void sums_over_keys(std::uint64_t count) {
  test::for_each_trial(count, [&](test::trial &one) {
    const test::tree_sizes size(sizeof(Number), sizeof(Number));
    const std::size_t n = test::pick_size(one, size, 4 * size.tile);
    const std::size_t longest = one.random() % 2 == 0 ? 3 : 2 * size.tile;
    const test::keyed_numbers<Number> all(one, n, longest);
    const auto &keys = all.keys;
    const auto &values = all.values;
    const bool is_inclusive = one.random() % 2 == 0;
    const test::bare_input<Number> from(values, test::any_shift<Number>(one));
    const std::size_t shift = test::any_shift<Number>(one);
    test::guarded_buffer<Number> written(n, shift, static_cast<Number>(one.random()));
    std::copy(keys.begin(), keys.end(), written.data());
    INFO("n = ", n, ", tile = ", size.tile, ", keys shifted by ", shift,
         ", inclusive: ", is_inclusive);
    const auto *const named = static_cast<const Number *>(written.data());
    if (is_inclusive)
      test::scan<2>(lookback::detail::make_inclusive_by_key<Number>(
                        named, from.data(), written.data(), lookback::equal_to{}, lookback::plus{}),
                    n, one.schedule);
    else
      test::scan<2>(lookback::detail::make_exclusive_by_key<Number>(
                        named, from.data(), written.data(), all.initial, lookback::equal_to{},
                        lookback::plus{}),
                    n, one.schedule);
    REQUIRE_EQ(
        test::first_difference(written.results(), is_inclusive ? all.inclusive : all.exclusive),
        test::nowhere);
    REQUIRE(written.intact());
  });
}

} // namespace

TEST_CASE("by key, over the keys, 1 byte") { sums_over_keys<std::uint8_t>(40); }
TEST_CASE("by key, over the keys, 4 bytes") { sums_over_keys<std::uint32_t>(60); }
TEST_CASE("by key, over the keys, 8 bytes") { sums_over_keys<std::uint64_t>(60); }
TEST_CASE("by key, over the keys, 16 bytes") { sums_over_keys<lookback::detail::uint128>(40); }
TEST_CASE("by key, 12-byte pairs") { intervals_by_key<4, test::interval>(100, 6); }
TEST_CASE("by key, objects") { intervals_by_key<4, test::owned_interval>(100, 6); }
TEST_CASE("by key, floats against the tree, and from the end") {
  test::for_each_trial(40, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, test::tree_sizes(4, 4), 4 * 4096);
    std::vector<float> values, output(n);
    std::vector<key> keys;
    for (std::size_t i = 0; i < n; ++i) {
      values.push_back(static_cast<float>(one.random() % 1000) / 7);
      keys.push_back(static_cast<key>(one.random() % 100 == 0 ? one.random()
                                      : i == 0                ? 0
                                                              : keys.back()));
    }
    using sum = test::plus<float>;
    const std::equal_to<key> equal;
    auto expected =
        test::tree_scan_by_key<float>(keys, values, equal, sum{}, std::nullopt, sizeof(float));
    const bool reverse = one.random() % 2 == 0;
    if (reverse) {
      std::reverse(keys.begin(), keys.end());
      std::reverse(values.begin(), values.end());
      std::reverse(expected.begin(), expected.end());
    }
    namespace core = lookback::detail;
    const auto problem = core::make_inclusive_by_key<float>(
        static_cast<const key *>(keys.data()), static_cast<const float *>(values.data()),
        output.data(), equal, sum{});
    INFO("n = ", n, ", reverse: ", reverse);
    if (reverse)
      test::scan<2>(core::from_the_end(problem, static_cast<std::int64_t>(n)), n, one.schedule);
    else
      test::scan<2>(problem, n, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}
