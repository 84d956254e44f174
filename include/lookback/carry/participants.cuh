// SPDX-License-Identifier: MIT
// Which blocks of a launch take part in a scan whose blocks wait for each other. A plain launch
// does not guarantee that all of its blocks are resident at once: another kernel may keep a part of
// the device for as long as it likes. So the blocks settle among themselves which of them take
// part: those that start within a few microseconds. A block that starts later scans no tile. (After
// the occupancy discovery of Sorensen, Donaldson, Batty, Gopalakrishnan and Rakamaric: Portable
// Inter-workgroup Barrier Synchronisation for GPUs, OOPSLA 2016.)
#pragma once

#include <lookback/arch/device_memory.cuh>
#include <lookback/core/tile_status.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Blocks that a launch may have, at most.
inline constexpr unsigned participants_at_most = 256;

/// The place of a block among those that take part, and their number. A block that takes no part
/// has no place.
struct participant {
  static constexpr unsigned nowhere = ~0u;
  unsigned mine, all;
};

/// The blocks that take part, as bits, in the shared memory of a block. A part is 32 blocks, one
/// for each lane of the warp that waits for them.
class participants {
public:
  /// Waits until each of the blocks 32 part to 32 part + 31, of the first `all` of the launch, has
  /// answered or is excluded, as those are that have not started within `patience` nanoseconds.
  /// Called by a full warp.
  LOOKBACK_DEVICE void wait_for(const roll_call<> &roll, unsigned all, unsigned part,
                                std::uint64_t patience) {
    const unsigned block = part * simt::warp_threads + static_cast<unsigned>(simt::lane_index());
    const std::uint64_t begin = simt::time_now();
    for (simt::spin_bound bound;; bound.count("answer of block", block)) {
      presence answer = presence::excluded;
      if (block < all) answer = roll.read(block);
      const unsigned here = simt::ballot(answer == presence::present);
      const bool is_open = answer < presence::present; // mutant: answer-open
      if (simt::ballot(is_open) == 0) {
        if (simt::lane_index() == 0) here_[part] = here;
        return;
      }
      if (answer == presence::unknown && simt::time_now() - begin > patience && may_exclude(roll))
        roll.exclude(block);
    }
  }
  /// Among the first `all` blocks. Called after a barrier of the block that follows wait_for() of
  /// all parts.
  LOOKBACK_DEVICE participant place_of(unsigned block, unsigned all) const {
    participant place{participant::nowhere, 0};
    for (unsigned part = 0; part * simt::warp_threads < all; ++part) {
      const unsigned here = here_[part], first = part * simt::warp_threads;
      if (block >= first && block - first < simt::warp_threads &&
          (here >> (block - first) & 1) != 0)
        place.mine =
            place.all + simt::count_bits(here & ((1u << (block - first)) - 1)); // mutant: place
      place.all += simt::count_bits(here);
    }
    return place;
  }

private:
  /// A block excludes others only after its own answer. So the first block to exclude another has
  /// not been excluded itself, and at least one block takes part. The answer is read from memory,
  /// because another warp may give it.
  LOOKBACK_DEVICE static bool may_exclude(const roll_call<> &roll) {
    return roll.read(simt::block_index()) != presence::unknown; // mutant: may-exclude
  }

  unsigned here_[participants_at_most / simt::warp_threads];
};

/// Settles which of the first `all` blocks of the launch take part. Called by every warp of each of
/// these blocks, which have three or more; all must have returned before place_of() is called.
/// Warps 0 and 1 return at once: the first copies, and the answer of the block, are theirs. The
/// others share the parts out, so that the polls of all parts share one round trip to memory. The
/// last warps begin, since they have little to do before. (H200, sums of i32, us: 2^22 14.3, 2^24
/// 37.2. With a second part for warp 1, which polled after its answer: 15.1, 38.0.)
LOOKBACK_DEVICE void settle(const roll_call<> &roll, unsigned all, std::uint64_t patience,
                            participants &here) {
  constexpr unsigned others = 2;
  const auto warps = static_cast<unsigned>(simt::block_threads() / simt::warp_threads),
             warp = static_cast<unsigned>(simt::warp_index());
  if (warp < others) return;
  for (unsigned part = warps - 1 - warp; part * simt::warp_threads < all;
       part += warps - others) // mutant: next-part
    here.wait_for(roll, all, part, patience);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
