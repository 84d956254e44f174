// SPDX-License-Identifier: MIT
// Threads around a scan and inside it: callers at the same time, an operator that dawdles, one that
// throws.
#include <lookback/execution_policy.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/scan.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace {

using word = std::uint32_t;

/// Now and then takes as long as many tiles: the tiles after it overtake, and must wait.
struct dawdling {
  word operator()(word f, word g) const {
    static std::atomic<unsigned> calls{0};
    if (calls.fetch_add(1, std::memory_order_relaxed) % 30011 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return test::compose_packed(f, g);
  }
};

struct throwing {
  std::atomic<int> *calls_left;
  word operator()(word a, word b) const {
    if (calls_left->fetch_sub(1, std::memory_order_relaxed) <= 0)
      throw std::runtime_error("the operator's own");
    return a + b;
  }
};

} // namespace

TEST_CASE("lookback::host: several callers at once") {
  TEST_RANDOM(random);
  const auto in = test::random_values<word>(300000 + random() % 100000, random);
  const auto expected = test::serial_inclusive(in, test::compose_words{});
  std::vector<std::vector<word>> outs(4, std::vector<word>(in.size()));
  std::vector<std::thread> callers;
  for (auto &out : outs)
    callers.emplace_back([&in, &out] {
      for (int call = 0; call < 10; ++call) {
        std::fill(out.begin(), out.end(), 0u);
        thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(),
                               test::compose_words{});
      }
    });
  for (auto &caller : callers) caller.join();
  for (const auto &out : outs) CHECK_EQ(test::first_difference(out, expected), test::nowhere);
}

TEST_CASE("lookback::host: an operator that dawdles") {
  TEST_RANDOM(random);
  for (int trial = 0; trial < 5; ++trial) {
    const auto in = test::random_values<word>(100000 + random() % 200000, random);
    std::vector<word> out(in.size());
    thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), dawdling{});
    CHECK_EQ(test::first_difference(out, test::serial_inclusive(in, test::compose_words{})),
             test::nowhere);
  }
}

TEST_CASE("lookback::host: an operator that throws, at any call") {
  TEST_RANDOM(random);
  const std::vector<word> in(200000, 1);
  std::vector<word> out(in.size());
  for (int before :
       {0, 1, 100, static_cast<int>(random() % 100000), static_cast<int>(random() % 100000)}) {
    INFO("calls before it throws: ", before);
    std::atomic<int> calls_left{before};
    CHECK_THROWS_AS(thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(),
                                           throwing{&calls_left}),
                    std::runtime_error);
    thrust::inclusive_scan(lookback::host, in.begin(), in.end(), out.begin());
    CHECK_EQ(out.back(), in.size());
  }
}
