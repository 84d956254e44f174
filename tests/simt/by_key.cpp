// SPDX-License-Identifier: MIT
// Scans by key: the same kernels over (value, head) pairs, with the keys at the tiles' boundaries saved before.
#include <lookback/device/decoupled_look_back.cuh>

#include <simt/problems.hpp>

namespace {

/// A key that makes a tile of pairs small is the value's affair; this one compares by its quotient by 8 alone.
using key = std::uint32_t;

/// Values are intervals that are numbered within their segment, from 1; [0, 1) is the initial value.
template <int Warps, class T>
void intervals_by_key(std::uint64_t count, std::size_t tiles) {
  const test::tree_sizes size(sizeof(T), sizeof(T)); // as over the values
  const std::size_t tile = size.tile;
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, size, tiles * tile);
    std::vector<key> keys;
    std::vector<T> values, inclusive, exclusive;
    key now = 0;
    const std::size_t longest = one.random() % 2 == 0 ? 5 : 4 * tile;
    for (std::size_t left = 0, i = 0; keys.size() < n; --left, ++i) {
      if (left == 0) {
        left = 1 + one.random() % longest;
        now += 8;
        i = 0;
      }
      keys.push_back(now + one.random() % 8);
      const auto end = static_cast<std::uint32_t>(i);
      values.push_back(test::make_interval<T>(test::interval_element(i)));
      inclusive.push_back(test::make_interval<T>({1, end + 2}));
      exclusive.push_back(test::make_interval<T>({0, end + 1}));
    }
    const bool in_place = one.random() % 2 == 0;
    const T filler = test::make_interval<T>({77, 78});
    test::guarded_buffer<T> input(n, one.random() % 2, filler), output(n, one.random() % 2, filler);
    std::copy(values.begin(), values.end(), input.data());
    test::guarded_buffer<T> &written = in_place ? input : output;
    const T *const from = input.data();
    const key *const named = keys.data();
    INFO("n = ", n, ", tile = ", tile, ", in place: ", in_place);
    namespace core = lookback::detail;
    const bool is_inclusive = one.random() % 2 == 0;
    if (is_inclusive)
      test::scan<Warps>(core::make_inclusive_by_key<T>(named, from, written.data(), test::same_octave{}, test::join_neighbours{}), n,
                        one.schedule);
    else
      test::scan<Warps>(core::make_exclusive_by_key<T>(named, from, written.data(), test::make_interval<T>(test::interval_initial),
                                                       test::same_octave{}, test::join_neighbours{}),
                        n, one.schedule);
    REQUIRE_EQ(test::first_difference(written.results(), is_inclusive ? inclusive : exclusive), test::nowhere);
    REQUIRE(written.intact());
  });
}

} // namespace

TEST_CASE("by key, 12-byte pairs") { intervals_by_key<4, test::interval>(100, 6); }
TEST_CASE("by key, objects") { intervals_by_key<4, test::owned_interval>(100, 6); }
TEST_CASE("by key, floats against the tree") {
  test::for_each_trial(40, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, test::tree_sizes(4, 4), 4 * 4096);
    std::vector<float> values, output(n);
    std::vector<key> keys;
    for (std::size_t i = 0; i < n; ++i) {
      values.push_back(static_cast<float>(one.random() % 1000) / 7);
      keys.push_back(static_cast<key>(one.random() % 100 == 0 ? one.random() : i == 0 ? 0 : keys.back()));
    }
    using core = test::plus<float>;
    const std::equal_to<key> equal;
    test::scan<2>(lookback::detail::make_inclusive_by_key<float>(static_cast<const key *>(keys.data()), static_cast<const float *>(values.data()),
                                                                 output.data(), equal, core{}),
                  n, one.schedule);
    const auto expected = test::tree_scan_by_key<float>(keys, values, equal, core{}, std::nullopt, sizeof(float));
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}
