// SPDX-License-Identifier: MIT
// The barrier of a cooperative launch, in two halves. The driver lends each such launch the memory for it.
#pragma once

#include <lookback/core/config.cuh>

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#endif

namespace lookback::simt {

using grid_arrival = cooperative_groups::grid_group::arrival_token;

/// Every thread of every block arrives, once, and may then do what needs nobody else; what it wrote before is seen by
/// whoever has waited. Both halves are barriers of the block as well.
LOOKBACK_DEVICE grid_arrival arrive_at_grid() { return cooperative_groups::this_grid().barrier_arrive(); }
LOOKBACK_DEVICE void wait_for_grid(grid_arrival arrival) {
  cooperative_groups::this_grid().barrier_wait(static_cast<grid_arrival &&>(arrival));
}

} // namespace lookback::simt
