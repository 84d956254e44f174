// SPDX-License-Identifier: MIT
// Many schedules of one test case, each of them a function of one number that replays it.
#pragma once

#include <simt/emulator.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace test {

/// What one run of a test case is made of. Everything that it draws, it draws from `random`.
struct trial {
  std::uint64_t index;
  emulator::schedule schedule;
  std::mt19937_64 random;
};

/// The test case that runs, and the command that replays its present trial: for reports that cannot
/// wait for doctest's.
struct present {
  std::string test_case, replay;
  static present &get() {
    static present &one = *new present; // a sanitizer's last words come after the destructors
    return one;
  }
};

/// Calls `body` for `count` trials, of which LOOKBACK_SIMT_PERCENT in the environment asks for a
/// part or a multiple; or for the one of LOOKBACK_SIMT_SEED. A seed's low bits are the trial's
/// index: what goes in turn is replayed as well.
template <class Body>
void for_each_trial(std::uint64_t count, Body body) {
  const auto once = [&](std::uint64_t seed) {
    trial one{seed % 65536, {}, std::mt19937_64(seed)};
    one.schedule = {static_cast<emulator::mode>(one.index % emulator::mode_count), one.random()};
    present &now = present::get();
    now.replay = "LOOKBACK_SIMT_SEED=" + std::to_string(seed) + " " + program_invocation_name +
                 " -tc='" + now.test_case + "'";
    INFO("replay: ", now.replay, "  (", std::string(emulator::name_of(one.schedule.which)), ")");
    body(one);
  };
  if (const char *given = std::getenv("LOOKBACK_SIMT_SEED"))
    return once(std::strtoull(given, nullptr, 0));
  if (const char *percent = std::getenv("LOOKBACK_SIMT_PERCENT"))
    count = count * std::strtoull(percent, nullptr, 0) / 100 + 1;
  std::random_device fresh;
  for (std::uint64_t i = 0; i < count; ++i)
    once((std::uint64_t{fresh()} << 32 | fresh()) / 65536 * 65536 + i);
}

} // namespace test
