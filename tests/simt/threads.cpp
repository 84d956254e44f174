// SPDX-License-Identifier: MIT
// The cells between threads of the operating system, under ThreadSanitizer, with delays where they
// hurt: without them a weakened order goes unnoticed, since the write has long arrived when the
// flag is seen. Selections in place, too: which tile may write when.
#include <lookback/host/host_look_back.cuh>
#include <lookback/host/host_selection.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

/// Gives up the core, wastes some time, or does nothing.
void jitter() {
  static std::atomic<std::uint64_t> threads{0};
  thread_local std::mt19937_64 random(test::run_seed() + threads++);
  const auto die = random() % 8;
  if (die < 3) std::this_thread::yield();
  if (die == 3)
    for (std::atomic<int> i{static_cast<int>(random() % 1024)};
         i.load(std::memory_order_relaxed) > 0;)
      i.store(i.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

/// lookback::host's memory, slower.
struct jittery_memory : lookback::detail::host_memory {
  template <class Word>
  static Word load_relaxed(const Word *address) {
    jitter();
    return host_memory::load_relaxed(address);
  }
  template <class Word>
  static void store_relaxed(Word *address, Word value) {
    jitter();
    host_memory::store_relaxed(address, value);
    jitter();
  }
  static std::uint32_t load_acquire(const std::uint32_t *address) {
    jitter();
    return host_memory::load_acquire(address);
  }
  static void store_release(std::uint32_t *address, std::uint32_t value) {
    jitter();
    host_memory::store_release(address, value);
    jitter();
  }
};

constexpr std::size_t tiles = 64;
constexpr unsigned threads = 4;

/// Calls `work(tile)` once for each tile, in ticket order, from several threads.
template <class Work>
void by_ticket(Work work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> crew;
  for (unsigned t = 0; t < threads; ++t)
    crew.emplace_back([&] {
      for (std::size_t tile; (tile = next.fetch_add(1, std::memory_order_relaxed)) < tiles;)
        work(tile);
    });
  for (std::thread &one : crew) one.join();
}

/// Every tile publishes its total and reads those of all tiles before it.
template <class T, class Make>
void all_totals_arrive(Make make) {
  using cells = lookback::detail::tile_status<T, jittery_memory>;
  for (int repetition = 0; repetition < 20; ++repetition) {
    const lookback::detail::status_bytes bytes = cells::bytes(tiles);
    std::vector<std::uint64_t> zeroed(bytes.zeroed / 8 + 1), payload(bytes.payload / 8 + 1);
    const cells totals(zeroed.data(), payload.data());
    std::atomic<int> wrong{0};
    by_ticket([&](std::size_t tile) {
      totals.publish(tile, make(tile));
      for (std::size_t before = tile; before-- > 0;) {
        auto seen = totals.read(before);
        while (!seen.ready()) seen = totals.read(before);
        if (!(seen.value() == make(before))) wrong.fetch_add(1, std::memory_order_relaxed);
      }
    });
    REQUIRE_EQ(wrong.load(), 0);
  }
}

/// Joins intervals, slowly.
struct join_with_jitter {
  test::interval operator()(test::interval a, test::interval b) const {
    if (a.end % 64 == 0) jitter();
    return test::join_intervals{}(a, b);
  }
};

} // namespace

TEST_CASE("packed_status between threads") {
  TEST_RANDOM(random);
  (void)random;
  all_totals_arrive<std::uint32_t>(
      [](std::size_t tile) { return static_cast<std::uint32_t>(tile * 3 + 1); });
}
TEST_CASE("flagged_status between threads") {
  TEST_RANDOM(random);
  (void)random;
  all_totals_arrive<test::interval>([](std::size_t tile) { return test::interval_element(tile); });
  all_totals_arrive<test::self_copied>(
      [](std::size_t tile) { return test::self_copied(static_cast<std::uint32_t>(tile)); });
}
TEST_CASE("the walk of lookback::host") {
  TEST_RANDOM(random);
  namespace core = lookback::detail;
  std::vector<test::interval> input, output;
  for (int repetition = 0; repetition < 10; ++repetition) {
    const std::size_t n = 2048 * (64 + random() % 64) + random() % 2048; // 2048 elements a tile
    input.clear();
    for (std::size_t i = 0; i < n; ++i) input.push_back(test::interval_element(i));
    output.assign(n, test::interval_error);
    auto problem = core::make_problem<true, test::interval>(
        static_cast<const test::interval *>(input.data()), output.data(), join_with_jitter{},
        core::no_initial{});
    core::threaded_scan<decltype(problem)>(problem.over({n})).run(threads);
    bool right = true;
    for (std::size_t i = 0; i < n; ++i)
      right = right && output[i] == test::interval{1, static_cast<std::uint32_t>(i) + 2};
    REQUIRE(right);
  }
}
/// Equal quotients; now and then it takes long.
struct equal_with_jitter {
  std::uint32_t divisor;
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    if (a % 4096 == 0) jitter();
    return a / divisor == b / divisor;
  }
};
/// With divisor 1, nothing is removed: every tile writes its own items, the last of which its right
/// neighbour compares with.
TEST_CASE("the first of equal ones, in place, on several threads") {
  TEST_RANDOM(random);
  namespace core = lookback::detail;
  using number = std::uint32_t;
  constexpr std::ptrdiff_t tile = core::selection_tile<number>();
  for (number repetition = 0; repetition < 6; ++repetition) {
    const number divisor = repetition % 2 == 0 ? 1 : 3;
    const auto n = static_cast<std::ptrdiff_t>(tile * (8 + random() % 8) + random() % tile);
    std::vector<number> values;
    for (number i = 0; i < static_cast<number>(n); ++i) values.push_back(i + divisor);
    using which = core::by_predecessor<number *, equal_with_jitter, number>;
    using rule = core::kept_to<number *, which, number *>;
    number *const first = values.data();
    const which differs(first, n, {divisor});
    const auto kept = core::threaded_selection<rule>(rule{{first, differs}, first}, n).run(threads);
    REQUIRE_EQ(kept, (n - 1) / divisor + 1);
    for (std::ptrdiff_t i = 0; i < kept; ++i)
      REQUIRE_EQ(values[static_cast<std::size_t>(i)], (static_cast<number>(i) + 1) * divisor);
  }
}
