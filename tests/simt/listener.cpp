// SPDX-License-Identifier: MIT
// Knows which test case runs, prints the replay command when a sanitizer or a signal ends the
// program, and counts.
#include <simt/schedules.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
static void on_death() {
  std::fprintf(stderr, "replay: %s\n", test::present::get().replay.c_str());
}
static void expect_death() { __sanitizer_set_death_callback(on_death); }
#else
static void expect_death() {}
#endif

namespace {

struct listener : doctest::IReporter {
  explicit listener(const doctest::ContextOptions &options) : options_(options) {}
  void test_run_start() override { expect_death(); }
  void test_case_start(const doctest::TestCaseData &data) override {
    std::string &filter = test::present::get().test_case;
    filter = data.m_name;
    std::replace(filter.begin(), filter.end(), ',', '?'); // a comma would begin another filter
  }
  void test_run_end(const doctest::TestRunStats &) override {
    const emulator::statistics totals = emulator::totals();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
    std::printf("simt: %llu schedules, %llu million switches, %.1f s\n",
                static_cast<unsigned long long>(totals.schedules),
                static_cast<unsigned long long>(totals.resumptions / 1000000), took.count());
  }

  void report_query(const doctest::QueryData &) override {}
  void test_case_reenter(const doctest::TestCaseData &) override {}
  /// doctest's --abort-after counts failed assertions: here a test case that ends with an exception
  /// is one, too.
  void test_case_end(const doctest::CurrentTestCaseStats &stats) override {
    if (options_.abort_after == 0 || stats.failure_flags == 0) return;
    std::fflush(nullptr);
    std::_Exit(EXIT_FAILURE);
  }
  void test_case_exception(const doctest::TestCaseException &exception) override {
    if (exception.is_crash)
      std::fprintf(stderr, "replay: %s\n", test::present::get().replay.c_str());
  }
  void subcase_start(const doctest::SubcaseSignature &) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData &) override {}
  void log_message(const doctest::MessageData &) override {}
  void test_case_skipped(const doctest::TestCaseData &) override {}

private:
  const doctest::ContextOptions &options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};
REGISTER_LISTENER("simt", 1, listener);

} // namespace
