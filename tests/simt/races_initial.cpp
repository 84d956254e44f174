// SPDX-License-Identifier: MIT
// An initial value that stands in the output, as a future value may: every path has read it before
// anything is written. Under ThreadSanitizer, and once for each mutation.
#include <lookback/strategy/pipeline.cuh>
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

namespace {

namespace core = lookback::detail;
using test::interval;

/// `run(problem, n, schedule)` scans intervals, the initial value in any element of the output;
/// inclusive and exclusive in turn.
template <class T, class In, class Run>
void initial_in_output(std::uint64_t count, std::size_t smallest, std::size_t largest, Run run) {
  const auto elements = test::interval_elements<In, T>(largest);
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n =
        test::pick_size(one, test::tree_sizes(sizeof(In), sizeof(T)), largest, smallest);
    const std::size_t place = one.random() % 2 == 0 ? 0 : one.random() % n;
    const bool inclusive = one.random() % 2 == 0;
    INFO("n = ", n, ", the initial value in element ", place,
         inclusive ? ", inclusive" : ", exclusive");
    std::vector<T> output(n, test::make_interval<T>({77, 78})), expected;
    for (std::uint32_t i = 0; i < n; ++i)
      expected.push_back(test::make_interval<T>({0, i + (inclusive ? 2 : 1)}));
    output[place] = test::make_interval<T>(test::interval_initial);
    using future = lookback::FutureValue<T>;
    const core::initial_value<future> initial{future(output.data() + place)};
    const In *const input = elements.data();
    const test::join_neighbours op{};
    if (inclusive)
      run(core::make_problem<true, T>(input, output.data(), op, initial), n, one.schedule);
    else
      run(core::make_problem<false, T>(input, output.data(), op, initial), n, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}

/// 512 bytes make tiles of one row, 256 of two.
using wide = test::widened<interval, 512>;
using two_rows = test::widened<interval, 256>;
template <template <class> class Strategy>
const auto by_tiles = [](const auto &problem, std::size_t n, const emulator::schedule &chosen) {
  constexpr int warps = std::decay_t<decltype(problem)>::shape::tile_rows;
  test::scan_with<Strategy, warps>(problem, n, chosen);
};

} // namespace

TEST_CASE("an initial value in the output, one tile") {
  initial_in_output<interval, two_rows>(40, 1, 64, by_tiles<core::one_tile>);
}
TEST_CASE("an initial value in the output, a cluster") {
  initial_in_output<interval, two_rows>(30, 65, 5 * 64, by_tiles<core::cluster>);
}
TEST_CASE("an initial value in the output, a wave") {
  initial_in_output<interval, two_rows>(30, 65, 5 * 64, by_tiles<core::wave>);
}
TEST_CASE("an initial value in the output, the look-back") {
  initial_in_output<interval, wide>(30, 33, 5 * 32, by_tiles<core::tree_look_back>);
  initial_in_output<test::owned_interval, test::widened<test::owned_interval, 512>>(
      12, 33, 5 * 32, by_tiles<core::tree_look_back>);
}
TEST_CASE("an initial value in the output, the pipeline") {
  initial_in_output<interval, test::widened<interval, 16>>(
      16, 1025, 5 * 1024, [](const auto &problem, std::size_t n, const emulator::schedule &chosen) {
        test::scan_ahead<test::look_ahead_by<3, 2, 2, 2, 1>>(
            problem, n, 1 + static_cast<unsigned>(chosen.seed % 3), chosen);
      });
}
