// SPDX-License-Identifier: MIT
// What tells the launches of a program apart.
#pragma once

#include <lookback/core/tile_status.cuh>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A number that tells a launch from all others: each is greater than those before. The first is
/// random, one of 2^58: a word that has nothing to do with this counter holds a certain tag with a
/// probability of 2^-58. (Each library of a process may have a counter of its own.) The highest
/// bits are set, so that most other content is less (see roll_call).
inline std::uint64_t launch_tag() {
  static std::atomic<std::uint64_t> next{[] {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    const std::uint64_t random =
        (static_cast<std::uint64_t>(now) ^ reinterpret_cast<std::uintptr_t>(&next)) *
        0x9e3779b97f4a7c15; // 2^64 over the golden ratio
    return std::uint64_t{0xf} << 60 | random >> 4;
  }()};
  constexpr std::uint64_t step = roll_call<>::tag_step;
  return next.fetch_add(step, std::memory_order_relaxed) / step * step;
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
