// SPDX-License-Identifier: MIT
// A sequence in chunks, and the queues of a device through which they pass.
#pragma once

#include <lookback/core/standard.cuh>
#include <lookback/core/tree.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// n elements as chunks of `length` elements; the last may be shorter. If there are several, all
/// begin at groups of the tree: then a chunk needs of those before it only the group's prefix, G.
struct chunk_list {
  std::int64_t n, length;
  std::int64_t count() const { return n / length + (n % length != 0); }
  std::int64_t first(std::int64_t k) const { return k * length; }
  std::int64_t items(std::int64_t k) const { return std::min(length, n - first(k)); }
};

/// What a continued scan keeps elsewhere than on the CPU.
struct continued_elsewhere {
  virtual ~continued_elsewhere() = default;
  virtual std::int64_t position() const = 0; // elements of all chunks so far
};

/// The queues of a device, which work at the same time, each in order.
enum class chunk_queue { input, scan, output };
inline constexpr int chunk_queues = 3;

/// Chunks that are in the queues at once: one for each queue, and one that the host prepares.
inline constexpr int chunks_in_flight = 4;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
