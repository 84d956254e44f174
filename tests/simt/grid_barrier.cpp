// SPDX-License-Identifier: MIT
// The barrier of a cooperative launch: what is wrong with its use is reported, and so is a wave
// without its guarantee. Threads that fail are abandoned with what they own, so this is not for a
// sanitizer that looks for leaks.
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

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
  test::device without_guarantee;
  without_guarantee.guaranteed = false;
  const std::string report = report_of([&] {
    test::scan_with<core::wave, 2>(
        core::make_problem<true, test::interval>(elements.data(), output.data(),
                                                 test::join_neighbours{}, core::no_initial{}),
        elements.size(), {emulator::mode::one_slot, 1}, without_guarantee);
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
    if (simt::thread_index() != 0) return;
    simt::wait_for_grid(simt::arrive_at_grid());
    simt::wait_for_grid(simt::arrive_at_grid());
  };
  check_report(run(true, twice), "nothing");
  check_report(run(false, twice),
               "arrives at the grid barrier of a launch that is not cooperative");
  check_report(run(true, [] { simt::arrive_at_grid(), simt::arrive_at_grid(); }),
               "twice without waiting");
  check_report(run(true, [] { simt::wait_for_grid({}); }),
               "waits for the grid barrier without having arrived");
  check_report(run(true,
                   [] {
                     if (simt::thread_index() == 0 && simt::block_index() == 0)
                       simt::wait_for_grid(simt::arrive_at_grid());
                   }),
               "waits for the grid barrier, 1 of 2 blocks have arrived");
}
