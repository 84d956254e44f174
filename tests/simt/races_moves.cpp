// SPDX-License-Identifier: MIT
// Rows on their way through shared memory, and keys that results are written over: under
// ThreadSanitizer, and once for each mutation.
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

using test::kind;

/// Results for an iterator go out through the place of their row in shared memory; narrower ones
/// than elements through other places of it than their own elements had.
TEST_CASE("4 bytes to 1, to an iterator or misaligned") {
  test::for_each_trial(20, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, test::tree_sizes(4, 4), 2 * 4096),
                      shift = one.random() % 4;
    std::vector<std::uint32_t> input;
    std::vector<std::uint8_t> output(n + shift), expected(shift);
    for (std::uint32_t i = 0, sum = 0; i < n; ++i) {
      input.push_back(static_cast<std::uint32_t>(one.random()));
      expected.push_back(static_cast<std::uint8_t>(sum += input.back()));
    }
    const auto scan = [&](auto to) {
      test::scan_as<kind::inclusive, 4, std::uint8_t>(
          static_cast<const std::uint32_t *>(input.data()), to, std::uint8_t{0}, lookback::plus{},
          n, one.schedule);
    };
    if (one.random() % 2 == 0)
      scan(test::writing_iterator<std::uint8_t>(output.data() + shift));
    else
      scan(output.data() + shift);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}
/// The results go over the keys: a tile may overwrite the key that its right neighbour has to
/// compare with.
TEST_CASE("by key, over the keys") {
  using number = std::uint64_t;
  test::for_each_trial(40, [&](test::trial &one) {
    const test::tree_sizes size(8, 8);
    const std::size_t n = test::pick_size(one, size, 3 * size.tile, size.tile + 1);
    std::vector<number> keys, values, expected;
    for (number i = 0; i < n; ++i) {
      keys.push_back(i / 100 + 1);
      values.push_back(i);
      expected.push_back(i % 100 == 0 ? i : expected.back() + i);
    }
    const auto scan = [&](auto from) {
      test::scan<2>(lookback::detail::make_inclusive_by_key<number>(
                        static_cast<const number *>(keys.data()), from, keys.data(),
                        lookback::equal_to{}, lookback::plus{}),
                    n, one.schedule);
    };
    if (one.random() % 2 == 0) // bytes wait in shared memory
      scan(static_cast<const number *>(values.data()));
    else // pairs do
      scan(test::reading_iterator<number>(values.data()));
    REQUIRE_EQ(test::first_difference(keys, expected), test::nowhere);
  });
}
