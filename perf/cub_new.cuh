// SPDX-License-Identifier: MIT
// The CUB of LOOKBACK_PERF_CCCL_DIR, newer than the toolkit's. cub_new.cu alone is compiled with
// it, so this header names no type of CCCL.
#pragma once

#include "call.cuh"

#include <cuda_runtime_api.h>

#include <cstddef>

namespace perf {

/// `Call` by the newer CUB in its default mode, in CUB's two phases.
template <class Call>
struct cub_new {
  static cudaError_t invoke(void *temporary, std::size_t &size, operands_of<Call> o);
};

/// `Call`, a sum of floating-point values, with `cuda::execution::determinism::run_to_run`
/// required.
template <class Call>
struct cub_run_to_run {
  static cudaError_t invoke(void *temporary, std::size_t &size, operands_of<Call> o);
};

} // namespace perf
