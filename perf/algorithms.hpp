// SPDX-License-Identifier: MIT
// The catalogue's algorithms by name. Their kernels are compiled once, behind pointers, for every program that lets the
// command line choose.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

namespace perf {

/// A scan by a named algorithm. `name` is the contender's in the CSV; what follows the last `:` or `<` as `512x15` is the
/// threads of a block and the items of a thread, where they are not the defaults.
struct algorithm {
  std::string name;
  /// lookback::DeviceScan::InclusiveSum in its two phases.
  cudaError_t (*inclusive_sum)(void *temporary, std::size_t &size, const int *in, int *out, long long n);
};

/// Every strategy, and scan_then_add over every network, with the defaults for threads and items.
std::vector<algorithm> catalogue();
/// The strategies whose time depends on it, with sections of other sizes.
std::vector<algorithm> other_sections();
/// decoupled_look_back by a warp, all combinations of threads and items.
std::vector<algorithm> block_sizes();

} // namespace perf
