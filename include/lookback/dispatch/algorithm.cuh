// SPDX-License-Identifier: MIT
// Which algorithm a call runs. Without a word it is `fastest`; the catalogue (lookback/catalogue.cuh) has the others.
#pragma once

#include <lookback/dispatch/dispatch.cuh>

namespace lookback {

/// The default: the fastest path for the size, the types and the device, always with the bits of
/// lookback::tree_shape.
///
/// | input | path |
/// |---|---|
/// | one tile (16 KB) | one block |
/// | up to 16 tiles, sm_90 or newer | one cluster: aggregates through shared memory |
/// | as many tiles as fit on the device at once | one wave, a cooperative launch |
/// | more, where lookback::look_ahead can run | the look-ahead pipeline |
/// | elements or accumulators from 512 bytes | decoupled look-back with one warp a tile |
/// | anything else | decoupled look-back over groups of 32 tiles, with dynamic tile ids |
///
/// - *Temporary memory*: a few words a tile; none for one tile.
/// - *Determinism*: the same bits on every run, GPU and path.
/// - *Complexity*: 2 n elements of traffic, about 2 n additions.
/// @ingroup strategies
struct fastest {};

/// The look-ahead pipeline at every length above one tile: persistent blocks read, reduce and scan
/// different tiles at the same time.
///
/// - *Requirements*, otherwise `cudaErrorNotSupported`: compute capability 9.0 or newer; input from
///   a pointer, from a `thrust::transform_iterator` over one, or from pointers to keys and values
///   where the output does not overlap the keys; output to a pointer to numbers or to the
///   accumulator's type; elements of 1, 2, 4, 8 or 16 bytes; accumulators of at most 16 bytes that
///   are trivially copyable.
/// - *Determinism*: the bits of lookback::fastest.
/// - *Complexity*: 2 n elements of traffic, about 2 n additions.
/// @ingroup strategies
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
