// SPDX-License-Identifier: MIT
// Selections by every strategy, under many schedules.
#include <lookback/strategy/pipeline.cuh>

#include <simt/selections.hpp>

using test::look_ahead_by;
TEST_CASE("selection by tiles: 1 byte") { test::select_by_tiles<16, std::uint8_t>(40, 4); }
TEST_CASE("selection in half tiles") {
  test::select_in_half_tiles<8, std::uint8_t>(40, 4);
  test::select_in_half_tiles<8, std::uint16_t>(40, 4);
}
TEST_CASE("selection by tiles: 4 bytes") { test::select_by_tiles<8, std::uint32_t>(60, 5); }
TEST_CASE("selection by tiles: 8 bytes, through an iterator") {
  test::select_by_tiles<4, std::uint64_t, test::reading_iterator<std::uint64_t>>(40, 5);
}
TEST_CASE("selection in the pipeline: 1 byte") {
  test::select_ahead<look_ahead_by<4, 2, 2, 16, 2>, std::uint8_t>(40, 7);
}
TEST_CASE("selection in the pipeline: 4 bytes") {
  test::select_ahead<look_ahead_by<5, 2, 3, 8, 2>, std::uint32_t>(60, 9);
  test::select_ahead<look_ahead_by<5, 2, 4, 8, 3, 3, 2, 2>, std::uint32_t>(40, 9);
}
TEST_CASE("selection in the pipeline: 8 bytes that warps load") {
  test::select_ahead<test::load_ahead_by<3, 2, 8, 1, 4, 2>, std::uint64_t,
                     test::reading_iterator<std::uint64_t>>(40, 7);
}
TEST_CASE("selection of large items") {
  using T = test::widened<std::uint32_t, 2048>;
  const std::size_t n = 67;
  test::for_each_trial(12, [&](test::trial &one) {
    std::vector<T> items(n), output(n), kept;
    for (T &x : items) {
      x.value = static_cast<std::uint32_t>(one.random());
      if (test::is_odd{}(x)) kept.push_back(x);
    }
    std::int64_t number = -1;
    test::scan<1>(test::core::make_selection(static_cast<const T *>(items.data()),
                                             test::core::by_predicate<test::is_odd, true>{},
                                             output.data(), test::core::dropped{}, &number),
                  n, one.schedule);
    REQUIRE_EQ(number, static_cast<std::int64_t>(kept.size()));
    for (std::size_t i = 0; i < kept.size(); ++i) REQUIRE_EQ(output[i].value, kept[i].value);
  });
}
