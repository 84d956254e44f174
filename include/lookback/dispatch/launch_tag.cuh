// SPDX-License-Identifier: MIT
// The tag of a launch, which marks what its blocks publish.
#pragma once

#include <lookback/core/tile_status.cuh>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A number that no other launch of the program has, so that the blocks of a launch can tell what
/// they publish from any earlier content of memory. (A captured graph repeats its launches with
/// their tags; it clears the memory first.) Tags are the multiples of roll_call::tag_step from a
/// random one of 2^58 on: content that does not come from this counter equals a certain tag with a
/// probability of 2^-58. (Each library of a process may have a counter of its own.) The highest
/// bits are set: most other content is less, and roll_call::answer() replaces that in one step.
inline std::uint64_t launch_tag() {
  static std::atomic<std::uint64_t> next{[] {
    std::timespec now{}; // (<chrono> would add 3 % to the time in which a call compiles)
    (void)std::timespec_get(&now, TIME_UTC);
    const std::uint64_t nanoseconds = static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
                                      static_cast<std::uint64_t>(now.tv_nsec);
    const std::uint64_t random = (nanoseconds ^ reinterpret_cast<std::uintptr_t>(&next)) *
                                 0x9e3779b97f4a7c15; // 2^64 over the golden ratio
    return std::uint64_t{0xf} << 60 | random >> 4;
  }()};
  constexpr std::uint64_t step = roll_call<>::tag_step;
  return next.fetch_add(step, std::memory_order_relaxed) / step * step;
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
