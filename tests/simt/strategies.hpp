// SPDX-License-Identifier: MIT
// A scan by a strategy of the catalogue, on emulated blocks.
#pragma once

#include <lookback/strategy/auxiliary_block.cuh>
#include <lookback/strategy/chained.cuh>
#include <lookback/strategy/decoupled_look_back.cuh>
#include <lookback/strategy/reduce_then_scan.cuh>
#include <lookback/strategy/scan_then_add.cuh>

#include <simt/problems.hpp>

namespace test {

/// Blocks that must be resident at once for a strategy to end.
template <class Strategy>
constexpr unsigned resident_at_least = 1;
template <class Network, int Threads, int Items>
constexpr unsigned resident_at_least<lookback::auxiliary_block<Network, Threads, Items>> = 2;

template <class Strategy, class Problem>
void scan_by_textbook(const Problem &problem, std::uint64_t n, const emulator::schedule &chosen) {
  device on;
  on.resident = resident_at_least<Strategy>;
  scan_by<core::strategies<Strategy>>(problem, n, chosen, on);
}

} // namespace test
