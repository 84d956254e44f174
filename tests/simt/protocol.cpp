// SPDX-License-Identifier: MIT
// The look-back under many schedules: every kind of cell, tiles as small as the tree allows, more than one group of them.
#include <lookback/device/decoupled_look_back.cuh>

#include <simt/problems.hpp>

namespace {

/// T in elements of Bytes bytes, up to `tiles` tiles.
template <class T, std::size_t Bytes, int Warps>
void explore(std::uint64_t count, std::size_t tiles) {
  using element = test::widened<T, Bytes>;
  const auto elements = test::interval_elements<element, T>(tiles * test::tree_sizes(Bytes, sizeof(T)).tile);
  test::for_each_trial(count, [&](test::trial &one) { test::check_intervals<Warps, T>(one, elements); });
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
    const std::size_t at_least = (more ? 256 : 128) * size.tile, n = at_least + 1 + one.random() % (32 * size.tile);
    INFO("n = ", n);
    std::vector<test::interval> output(n, {77, 78}), expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back({1, i + 2});
    const auto problem =
        core::make_problem<true, test::interval>(elements.data(), output.data(), test::join_neighbours{}, core::no_initial{});
    test::scan_tiles<1, core::look::over_wave>(problem, n, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}

namespace {

/// What is reported of a run that must fail.
template <class Run>
std::string report_of(Run run) {
  try {
    run();
  } catch (const std::runtime_error &report) {
    return report.what();
  }
  return "nothing";
}
void check_report(const std::string &report, const std::string &expected) {
  INFO(report);
  CHECK_NE(report.find(expected), std::string::npos);
}

} // namespace

TEST_CASE("without the cooperative guarantee a wave locks up, and that is reported") {
  namespace core = lookback::detail;
  const auto elements = test::interval_elements<test::interval, test::interval>(3 * 2048);
  std::vector<test::interval> output(elements.size());
  const std::string report = report_of([&] {
    test::scan_tiles<2, core::look::over_wave>(
        core::make_problem<true, test::interval>(elements.data(), output.data(), test::join_neighbours{}, core::no_initial{}),
        elements.size(), {emulator::mode::one_slot, 1}, false);
  });
  CHECK_EQ(report.find("deadlock"), 0);
  check_report(report, "waits for the grid barrier, 1 of 3 blocks have arrived");
  check_report(report, "2 of 3 blocks have not started");
}

TEST_CASE("the grid barrier: what is wrong is reported") {
  namespace simt = lookback::simt;
  const auto run = [](bool cooperative, void (*body)()) {
    emulator::kernel code{2, 64, 0, body};
    code.cooperative = cooperative;
    code.resident = code.blocks;
    return report_of([&] { emulator::run({emulator::mode::random, 1}, {code}); });
  };
  const auto twice = [] {
    simt::wait_for_grid(simt::arrive_at_grid());
    simt::wait_for_grid(simt::arrive_at_grid());
  };
  check_report(run(true, twice), "nothing");
  check_report(run(false, twice), "arrives at the grid barrier of a launch that is not cooperative");
  check_report(run(true, [] { simt::arrive_at_grid(), simt::arrive_at_grid(); }), "twice without waiting");
  check_report(run(true, [] { simt::wait_for_grid({}); }), "waits for the grid barrier without having arrived");
  check_report(run(true, [] {
                 if (simt::thread_index() < 32)
                   simt::arrive_at_grid();
                 else
                   simt::synchronize_block();
               }),
               "but others of the block wait in");
  check_report(run(true, [] {
                 if (simt::block_index() == 0) simt::wait_for_grid(simt::arrive_at_grid());
               }),
               "waits for the grid barrier, 1 of 2 blocks have arrived");
}
