// SPDX-License-Identifier: MIT
// The strategies by name. Their kernels are compiled once, for every program that chooses one at
// run time.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

namespace perf {

/// A scan by a named strategy. `name` is the contender's in the CSV. It ends in the threads of a
/// block and the items of a thread, as in
/// `<512x15>` or `:128x4>`, where they are not the defaults.
struct algorithm {
  std::string name;
  /// lookback::DeviceScan::InclusiveSum in its two phases.
  cudaError_t (*inclusive_sum)(void *temporary, std::size_t &size, const int *in, int *out,
                               long long n);
};

/// Every strategy, and scan_then_add with every block scan, with the default threads and items.
std::vector<algorithm> catalogue();
/// The strategies whose time depends on the tile, with other tiles.
std::vector<algorithm> other_tiles();
/// decoupled_look_back by a warp, all combinations of threads and items.
std::vector<algorithm> block_sizes();

} // namespace perf
