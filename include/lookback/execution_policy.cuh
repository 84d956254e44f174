// SPDX-License-Identifier: MIT
// The Thrust interface: `lookback::par` in place of `thrust::cuda::par`.
//
//   thrust::inclusive_scan(lookback::par.on(stream), first, last, result, op);
//
// Without a CUDA compiler, it contains lookback::host only.
#pragma once

#include <lookback/selection.cuh>

#if defined(__CUDACC__)

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {
inline namespace LOOKBACK_DEFAULT_STREAM {

/// A policy with a stream, built like Thrust's but from lookback's types only: the results of
/// `par(allocator)` and `par(allocator).on(stream)` must be lookback's policies, too.
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

  /// The same policy with another strategy for scans, from lookback/catalogue.cuh.
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

/// Adds the call `policy(allocator)` to a policy without a stream.
template <template <class> class Base>
using takes_allocator = thrust::detail::allocator_aware_execution_policy<Base>;

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace detail

inline namespace LOOKBACK_DEFAULT_STREAM {

/// The type of lookback::par.
///
/// `par(allocator)` is the same policy with temporary memory from an allocator of bytes, and
/// `par.with(strategy)` the same policy with another of the @ref strategies. They combine, the
/// allocator before the stream: `par(allocator).on(stream).with(strategy)`.
/// @ingroup policies
class par_t : public detail::stream_policy<par_t>,
              public detail::takes_allocator<detail::stream_policy> {
public:
  /// The default stream.
  LOOKBACK_HOST_DEVICE constexpr par_t() {}
  /// The same policy on `stream`, which stays the caller's.
  LOOKBACK_HOST_DEVICE detail::par_on_stream on(cudaStream_t stream) const {
    return detail::par_on_stream(stream);
  }
};

/// The type of lookback::par_nosync, with the calls of lookback::par_t.
/// @ingroup policies
class par_nosync_t : public detail::nosync_stream_policy<par_nosync_t>,
                     public detail::takes_allocator<detail::nosync_stream_policy> {
public:
  /// The default stream.
  LOOKBACK_HOST_DEVICE constexpr par_nosync_t() {}
  /// The same policy on `stream`, which stays the caller's.
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

/// Thrust policy: scans and selections run on lookback, every other algorithm on Thrust's CUDA
/// backend.
///
/// @code{.unparsed}
/// thrust::inclusive_scan(lookback::par.on(stream), first, last, result, op);
/// @endcode
///
/// The calls are @ref thrust_scans and @ref thrust_selections.
///
/// - *Stream*: `par.on(stream)` runs on `stream`; otherwise the default stream of the translation
///   unit that makes the call (nvcc's `--default-stream`). A call returns when its results are
///   written.
/// - *Temporary memory*: lookback's own, kept for the next call (lookback::release_workspace()), or
///   from `par(allocator)`.
/// - *Strategy*: `.with(strategy)` chooses one of the @ref strategies, anywhere in the chain.
/// - *Capture*: a captured scan allocates nothing when it runs. Temporary storage belongs to the
///   graph, so the graph may be a child of other graphs and may be instantiated more than once.
///   Like the results, the storage is shared by the graph and its copies: their launches must not
///   overlap. With an allocator, the storage is the allocator's, which must outlive the graph.
/// - *In device code*: a serial loop of the calling thread, as with Thrust's policies.
/// @ingroup policies
LOOKBACK_GLOBAL_CONSTANT par_t par{};

/// lookback::par without the wait: a scan may return before its results are written. They are
/// visible to later work on the same stream. A selection waits for the number of its results.
/// @ingroup policies
LOOKBACK_GLOBAL_CONSTANT par_nosync_t par_nosync{};

} // namespace LOOKBACK_DEFAULT_STREAM
} // namespace LOOKBACK_ABI
} // namespace lookback

#endif
