// SPDX-License-Identifier: MIT
// Numbers of items that only the device knows, by every strategy, under many schedules.
#include <lookback/strategy/pipeline.cuh>

#include <simt/counts.hpp>
#include <simt/selections.hpp>

using test::interval;
using medium = test::widened<interval, 64>; // 8 rows a tile
using wide = test::widened<interval, 512>;  // one row a tile

namespace {

/// Selections by `Strategies` from up to `tiles` tiles of at most twice as many.
template <class Strategies>
void select_counted(std::uint64_t trials, std::size_t tiles) {
  using T = std::uint32_t;
  const test::tree_sizes size(sizeof(T), sizeof(T));
  test::for_each_trial(trials, [&](test::trial &one) {
    const std::size_t n = one.random() % (tiles * size.tile) + 1;
    const std::size_t bound = n + size.tile + one.random() % (tiles * size.tile);
    INFO("at most ", bound, ", count ", n);
    const std::vector<T> items = test::marked_items<T>(one, n, one.random() % 257, 9);
    std::vector<T> expected(n, 202);
    const auto end = std::copy_if(items.begin(), items.end(), expected.begin(), test::is_odd{});
    const test::bare_input<T> input(items, 0);
    test::guarded_buffer<T> output(n, 0, 202);
    const auto count = static_cast<std::int64_t>(n);
    std::int64_t number = -1;
    const auto problem =
        test::core::make_selection(input.data(), test::core::by_predicate<test::is_odd, true>{},
                                   output.data(), test::core::dropped{}, &number);
    test::device on;
    on.multiprocessors = 1 + one.random() % 4;
    test::enqueued(Strategies{}, problem, lookback::device_count{&count, bound}, one.schedule, on)
        .run(one.schedule);
    REQUIRE_EQ(number, end - expected.begin());
    REQUIRE_EQ(test::first_difference(output.results(), expected), test::nowhere);
    REQUIRE(output.intact());
  });
}

} // namespace

TEST_CASE("counts on the device: one tile") { test::count_one_tile<interval, medium>(80); }
TEST_CASE("counts on the device: a cluster") { test::count_cluster<interval, medium>(60); }
TEST_CASE("counts on the device: a wave") { test::count_wave<interval, medium>(60, 12); }
TEST_CASE("counts on the device: the pipeline") {
  test::count_ahead<test::look_ahead_by<3, 2, 1, 2, 2>, interval, test::widened<interval, 16>>(40,
                                                                                               9);
}
TEST_CASE("counts on the device: the look-back") {
  test::count_drawn<lookback::detail::tree_look_back, interval, medium>(60, 40);
  test::count_drawn<lookback::detail::tree_look_back, test::long_interval,
                    test::widened<test::long_interval, 64>>(40, 40);
}
TEST_CASE("counts on the device: large elements") {
  using huge = test::widened<interval, 2048>;
  test::count_drawn<lookback::detail::warp_tiles, interval, huge>(20, 40);
}
TEST_CASE("counts on the device: selections") {
  using namespace lookback::detail;
  using rows = test::counted_rows;
  using ahead = test::pipeline_rows<test::look_ahead_by<5, 2, 3, 8, 2>>;
  select_counted<first_of<wave<rows>, tree_look_back<rows>>>(30, 4);
  select_counted<first_of<pipeline<ahead>>>(30, 9);
}
