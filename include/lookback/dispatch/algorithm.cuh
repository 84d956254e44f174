// SPDX-License-Identifier: MIT
// Which algorithm a call runs. Without a word it is `fastest`; the catalogue (lookback/catalogue.cuh) has the others.
#pragma once

#include <lookback/dispatch/dispatch.cuh>

namespace lookback {

/// What every call runs that names no algorithm: the path that is fastest for the size and the types, always with the bits of
/// the one reduction tree.
struct fastest {};

/// The pipeline of device/look_ahead.cuh, at any length of more than one tile, with the bits of `fastest`. cudaErrorNotSupported
/// where it cannot run: it takes input that is plain memory (a pointer, a transform_iterator over one, pointers to keys and
/// values, the keys not written over) of elements of 1, 2, 4, 8 or 16 bytes, a pointer for output, accumulators of
/// up to 16 bytes that are trivially copyable, and sm_90 or newer.
struct look_ahead {};

namespace detail {

template <class Problem>
LOOKBACK_HOST_INLINE cudaError_t scan_by(fastest, void *storage, std::size_t &bytes, const Problem &problem,
                                         std::int64_t n, cudaStream_t stream) {
  return scan(storage, bytes, problem, n, stream);
}
template <class Problem>
cudaError_t scan_by(lookback::look_ahead, void *storage, std::size_t &bytes, const Problem &problem, std::int64_t n,
                    cudaStream_t stream) {
  return scan(storage, bytes, problem, n, stream, path::look_ahead);
}

template <class Problem>
const char *why_not(fastest, cudaError_t, const Problem &, std::int64_t) {
  return "lookback: launching the scan";
}
template <class Problem>
const char *why_not(lookback::look_ahead, cudaError_t status, const Problem &, std::int64_t) {
  if (status != cudaErrorNotSupported) return "lookback: launching the scan";
  return "lookback: look_ahead takes plain memory (a pointer, a transformed pointer, keys that are not "
         "overwritten) with elements of 1, 2, 4, 8 or 16 bytes, accumulators of up to 16 bytes, and a "
         "device of compute capability 9.0 or newer. Without .with(look_ahead), lookback chooses a "
         "strategy that takes this call";
}

} // namespace detail
} // namespace lookback
