// SPDX-License-Identifier: MIT
// The Thrust door: put `lookback::par` where `thrust::cuda::par` stood.
//
//   thrust::inclusive_scan(lookback::par.on(stream), first, last, result, op);
//
// Compiled without a CUDA compiler it offers lookback::host alone.
#pragma once

#include <lookback/scan.cuh>

#if defined(__CUDACC__)

namespace lookback {
namespace detail {

/// A policy with a stream, as Thrust's are built, but ours all the way down: what `par(allocator)` and
/// `par(allocator).on(stream)` return has to be lookback's too.
template <class Derived>
class stream_policy : public lookback::execution_policy<Derived> {
public:
  LOOKBACK_HOST_DEVICE stream_policy() : stream_(thrust::cuda_cub::default_stream()) {}
  LOOKBACK_HOST_DEVICE explicit stream_policy(cudaStream_t stream) : stream_(stream) {}
  /// The same policy on another stream.
  Derived on(cudaStream_t stream) const {
    Derived moved = static_cast<const Derived &>(*this);
    moved.stream_ = stream;
    return moved;
  }

  /// The same policy with another algorithm for scans: one of lookback/catalogue.cuh.
  template <class Algorithm>
  algorithm_policy<Derived, Algorithm> with(const Algorithm &algorithm) const {
    return {static_cast<const Derived &>(*this), algorithm};
  }

private:
  friend LOOKBACK_HOST_DEVICE cudaStream_t get_stream(const stream_policy &policy) { return policy.stream_; }
  cudaStream_t stream_;
};

template <class Derived>
class nosync_stream_policy : public stream_policy<Derived> {
public:
  using stream_policy<Derived>::stream_policy;

private:
  friend LOOKBACK_HOST_DEVICE bool must_perform_optional_stream_synchronization(const nosync_stream_policy &) {
    return false;
  }
};

/// The type of par.on(stream).
class par_on_stream : public stream_policy<par_on_stream> {
public:
  using stream_policy<par_on_stream>::stream_policy;
};
/// The type of par_nosync.on(stream).
class par_nosync_on_stream : public nosync_stream_policy<par_nosync_on_stream> {
public:
  using nosync_stream_policy<par_nosync_on_stream>::nosync_stream_policy;
};

/// `(allocator)` for a policy that has no stream yet.
template <template <class> class Base>
using takes_allocator = thrust::detail::allocator_aware_execution_policy<Base>;

} // namespace detail

/// The type of lookback::par.
class par_t : public detail::stream_policy<par_t>, public detail::takes_allocator<detail::stream_policy> {
public:
  /// The same policy on a stream.
  detail::par_on_stream on(cudaStream_t stream) const { return detail::par_on_stream(stream); }
};

/// The type of lookback::par_nosync.
class par_nosync_t : public detail::nosync_stream_policy<par_nosync_t>,
                     public detail::takes_allocator<detail::nosync_stream_policy> {
public:
  /// The same policy on a stream.
  detail::par_nosync_on_stream on(cudaStream_t stream) const { return detail::par_nosync_on_stream(stream); }
};

namespace detail {
template <>
struct uses_pool<par_t> : std::true_type {};
template <>
struct uses_pool<par_nosync_t> : std::true_type {};
template <>
struct uses_pool<par_on_stream> : std::true_type {};
template <>
struct uses_pool<par_nosync_on_stream> : std::true_type {};
} // namespace detail

/// Scans by lookback, everything else by Thrust's CUDA backend, on the default stream. A call returns when its results are
/// there. `par.on(stream)` runs on a stream, `par(allocator)` takes temporary memory from an allocator of bytes;
/// `par(allocator).on(stream)` does both; `.with(algorithm)`, anywhere in the row, names an algorithm of lookback/catalogue.cuh.
inline const par_t par{};

/// The same, but a call may return before its results are there: later work of the stream sees them.
inline const par_nosync_t par_nosync{};

} // namespace lookback

#endif
