// SPDX-License-Identifier: MIT
// A ring of stages in shared memory: stage index and phase bit are one value.
#pragma once

#include <lookback/core/config.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Where a warp is in the ring of stages: the phase flips when it comes round.
template <int Stages>
struct ring_position {
  int stage = 0;
  unsigned phase = 0;
  LOOKBACK_DEVICE void operator++() {
    if (++stage == Stages) stage = 0, phase ^= 1; // mutant: phase
  }
  /// `tiles` further on, at most Stages; or back, if that is negative.
  LOOKBACK_DEVICE void advance(int tiles) {
    stage += tiles;
    if (stage >= Stages) stage -= Stages, phase ^= 1;
    if (stage < 0) stage += Stages, phase ^= 1;
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
