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

/// A number that no other launch of the program gets in its first 2^30 launches; each is greater
/// than those before. Its higher bits are a random number of the program: memory of any content
/// holds a certain tag with a probability of 2^-64.
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
