// SPDX-License-Identifier: MIT
// The pipeline under many schedules: rings of stages that go round, blocks with a partial last tile, more than one group.
#include <lookback/device/look_ahead.cuh>

#include <simt/problems.hpp>

namespace {

/// Intervals of `T`, up to `tiles` tiles of them on up to 5 blocks.
template <class Tuning, class T, class In>
void pipeline(std::uint64_t count, std::size_t tiles) {
  namespace core = lookback::detail;
  const test::tree_sizes size(sizeof(In), sizeof(T));
  const auto elements = test::interval_elements<In, T>(tiles * size.tile);
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, size, elements.size(), size.tile + 1); // one tile alone has no state
    const unsigned blocks = 1 + one.random() % 5;
    const std::vector<In> input(elements.begin(), elements.begin() + n);
    test::guarded_buffer<T> output(n, one.random() % 2, test::make_interval<T>({77, 78}));
    const bool has_initial = one.random() % 2 == 0;
    INFO("n = ", n, ", tile = ", size.tile, ", blocks = ", blocks, ", initial value: ", has_initial);
    if (has_initial)
      test::scan_ahead<Tuning>(core::make_problem<false, T>(input.data(), output.data(), test::join_neighbours{},
                                                            core::initial_value<T>{test::make_interval<T>(test::interval_initial)}),
                               n, blocks, one.schedule);
    else
      test::scan_ahead<Tuning>(core::make_problem<true, T>(input.data(), output.data(), test::join_neighbours{}, core::no_initial{}),
                               n, blocks, one.schedule);
    std::vector<T> expected;
    for (std::uint32_t i = 0; i < n; ++i)
      expected.push_back(test::make_interval<T>(has_initial ? test::interval{0, i + 1} : test::interval{1, i + 2}));
    REQUIRE_EQ(test::first_difference(output.results(), expected), test::nowhere);
    REQUIRE(output.intact());
  });
}

} // namespace

// 16-byte elements: 1024 a tile.
using wide = test::widened<test::interval, 16>;
TEST_CASE("pipeline, 3 stages, 1 look-ahead warp") { pipeline<test::look_ahead_by<3, 2, 2, 2, 1>, test::interval, wide>(200, 35); }
TEST_CASE("pipeline, 4 stages, 2 look-ahead warps") { pipeline<test::look_ahead_by<4, 2, 2, 4, 2>, test::interval, wide>(100, 70); }
TEST_CASE("pipeline, vectors of two elements") { pipeline<test::look_ahead_by<3, 3, 1, 2, 2>, test::interval, test::interval>(60, 34); }

TEST_CASE("without the cooperative guarantee the pipeline locks up, and that is reported") {
  namespace core = lookback::detail;
  const auto elements = test::interval_elements<wide, test::interval>(4 * 1024);
  std::vector<test::interval> output(elements.size());
  try {
    test::scan_ahead<test::look_ahead_by<3, 2, 2, 2, 1>>(
        core::make_problem<true, test::interval>(elements.data(), output.data(), test::join_neighbours{}, core::no_initial{}),
        elements.size(), 2, {emulator::mode::one_slot, 1}, false);
    FAIL("not noticed");
  } catch (const std::runtime_error &report) {
    INFO(report.what());
    const std::string text = report.what();
    CHECK_EQ(text.find("deadlock"), 0);
    CHECK_NE(text.find("waits for the grid barrier, 1 of 2 blocks have arrived"), std::string::npos);
    CHECK_NE(text.find("1 of 2 blocks have not started"), std::string::npos);
  }
}
