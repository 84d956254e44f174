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
inline namespace LOOKBACK_DEFAULT_STREAM {

/// A policy with a stream, as Thrust's are built, but ours all the way down: what `par(allocator)`
/// and `par(allocator).on(stream)` return has to be lookback's too.
template <class Derived>
class stream_policy : public lookback::execution_policy<Derived> {
public:
  LOOKBACK_HOST_DEVICE constexpr stream_policy() {}
  LOOKBACK_HOST_DEVICE explicit stream_policy(cudaStream_t stream) : stream_(stream) {}
  /// The same policy on another stream.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE Derived on(cudaStream_t stream) const {
    Derived moved = static_cast<const Derived &>(*this);
    moved.stream_ = stream;
    return moved;
  }

  /// The same policy with another algorithm for scans: one of lookback/catalogue.cuh.
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Algorithm>
  LOOKBACK_HOST_DEVICE algorithm_policy<Derived, Algorithm> with(const Algorithm &algorithm) const {
    return {static_cast<const Derived &>(*this), algorithm};
  }

private:
  friend LOOKBACK_HOST_DEVICE cudaStream_t get_stream(const stream_policy &policy) {
    return stream_here(policy.stream_);
  }
  cudaStream_t stream_ = nullptr; // null: the default stream of the translation unit
};

template <class Derived>
class nosync_stream_policy : public stream_policy<Derived> {
public:
  using stream_policy<Derived>::stream_policy;

private:
  friend LOOKBACK_HOST_DEVICE bool
  must_perform_optional_stream_synchronization(const nosync_stream_policy &) {
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

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace detail

inline namespace LOOKBACK_DEFAULT_STREAM {

/// The type of lookback::par.
class par_t : public detail::stream_policy<par_t>,
              public detail::takes_allocator<detail::stream_policy> {
public:
  LOOKBACK_HOST_DEVICE constexpr par_t() {}
  /// The same policy on a stream.
  LOOKBACK_HOST_DEVICE detail::par_on_stream on(cudaStream_t stream) const {
    return detail::par_on_stream(stream);
  }
};

/// The type of lookback::par_nosync.
class par_nosync_t : public detail::nosync_stream_policy<par_nosync_t>,
                     public detail::takes_allocator<detail::nosync_stream_policy> {
public:
  LOOKBACK_HOST_DEVICE constexpr par_nosync_t() {}
  /// The same policy on a stream.
  LOOKBACK_HOST_DEVICE detail::par_nosync_on_stream on(cudaStream_t stream) const {
    return detail::par_nosync_on_stream(stream);
  }
};

} // namespace LOOKBACK_DEFAULT_STREAM

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

inline namespace LOOKBACK_DEFAULT_STREAM {

/// Scans by lookback, everything else by Thrust's CUDA backend, on the default stream of the
/// translation unit that makes the call (nvcc's --default-stream). A call returns when its results
/// are there.
///
/// `par.on(stream)` runs on a stream, `par(allocator)` takes temporary memory from an allocator of
/// bytes; `par(allocator).on(stream)` does both; `.with(algorithm)`, anywhere in the row, names an
/// algorithm of lookback/catalogue.cuh.
///
/// A stream may be captured. What is captured allocates nothing when it runs: temporary storage
/// belongs to the graph, so the graph may be a child of other graphs and may be instantiated more
/// than once. Like the results, the storage is one for the graph and its copies, whose launches
/// therefore must not overlap. With an allocator, the storage is the allocator's, and whoever owns
/// the allocator keeps it for as long as the graph is used.
///
/// In device code a call is a serial loop of the calling thread, as with Thrust's policies.
LOOKBACK_GLOBAL_CONSTANT par_t par{};

/// The same, but a call may return before its results are there: later work of the stream sees
/// them.
LOOKBACK_GLOBAL_CONSTANT par_nosync_t par_nosync{};

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace lookback

#endif
