// SPDX-License-Identifier: MIT
// The lists of strategies that a call tries, in order. Without an argument, a call runs `fastest`;
// lookback/catalogue.cuh has the textbook's strategies.
#pragma once

#include <lookback/core/reversed.cuh>
#include <lookback/dispatch/first_of.cuh>
#include <lookback/dispatch/tuning.cuh>
#include <lookback/strategy/cluster.cuh>
#include <lookback/strategy/half_tiles.cuh>
#include <lookback/strategy/one_tile.cuh>
#include <lookback/strategy/pipeline.cuh>
#include <lookback/strategy/tree_look_back.cuh>
#include <lookback/strategy/warp_tiles.cuh>
#include <lookback/strategy/wave.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// The default: the fastest strategy for the size, the types and the device, always with the bits
/// of lookback::tree_shape.
///
/// | input | strategy |
/// |---|---|
/// | one tile (16 KB) | one block |
/// | up to 16 tiles, sm_90 or newer | one cluster: aggregates through shared memory |
/// | as many tiles as fit on the device at once | one wave, a cooperative launch |
/// | more, where lookback::look_ahead can run | the look-ahead pipeline |
/// | elements or accumulators from 512 bytes | decoupled look-back with one warp a tile |
/// | anything else | decoupled look-back over groups of 32 tiles, with dynamic tile ids |
///
/// Selections and partitions by a predicate or flags first try tiles of 8 KB, if items, flags and
/// results have 1 or 2 bytes: one cluster takes 2 to 16 of them.
///
/// - *Temporary memory*: a few words a tile; none for one tile.
/// - *Beside other kernels*: a cluster and a wave start when all of their blocks fit on the device
///   at once, so they wait for kernels that leave too little room. All other strategies go on with
///   the multiprocessors that are free. Where a running kernel waits for the results of a scan, use
///   lookback::look_ahead: it needs no room for more than one block. Make such a call once before,
///   since the first launch of a kernel loads it, which may wait for running kernels.
/// - *Determinism*: the same bits on every run, GPU and strategy.
/// - *Complexity*: 2 n elements of traffic, about 2 n additions.
/// @ingroup strategies
struct fastest {};

/// The look-ahead pipeline at every length above one tile: persistent blocks read, reduce and scan
/// different tiles at the same time.
///
/// - *Beside other kernels*: the blocks that start within a few microseconds scan; the others end.
/// - *Graphs*: a captured call has one more kernel, which clears the temporary memory.
/// - *Requirements*, otherwise `cudaErrorNotSupported`: a GPU that allows a block 163 KiB of
///   shared memory or more (compute capability 8.0, 8.7, 9.0, 10.x); trivially copyable items of at
///   most 64 bytes, from any iterator; trivially copyable accumulators of at most 16 bytes (8 if
///   the input is not a pointer or a transform of one); results of 1, 2, 4, 8 or 16 bytes, for any
///   iterator. Or trivially copyable structs of 12 to 64 bytes whose size is a multiple of 4 (above
///   48 bytes, of 8), as items, accumulators and results, from a pointer to a pointer, both aligned
///   to 16 bytes, without a total. By key: compute capability 9.0 or newer, pointers to keys and
///   values, and output to a pointer, without overlap with the keys. On a GPU that allows a block
///   99 KiB (8.6, 8.9, 12.x): only items and accumulators of at most 8 bytes, from a pointer to a
///   pointer, without keys; objects only if they are added.
/// - *Determinism*: the bits of lookback::fastest.
/// - *Complexity*: 2 n elements of traffic, about 2 n additions.
/// @ingroup strategies
struct look_ahead {};

namespace detail {
/// The environment of a one-phase call in reverse. One that cannot be copied is kept by the caller.
template <class Env>
struct reversed_environment {
  std::conditional_t<std::is_copy_constructible<Env>::value, Env, const Env &> env;
};
} // namespace detail

/// The type of lookback::reverse.
struct reverse_t {
  /// The environment of a one-phase call in reverse: the stream and the memory of `env`.
  template <class Env>
  detail::reversed_environment<Env> in(const Env &env) const {
    return {env};
  }
};
/// Scans from the last element to the first:
///
///     y(i) = init . x(n - 1) . x(n - 2) ... x(i), without x(i) if the scan is exclusive
///
/// y(i) is element i of the output. A total (lookback::with_total()) is init . x(n - 1) ... x(0).
/// By key, the last element of i's segment stands in the place of x(n - 1), and keys are compared
/// by equality_op(key(i + 1), key(i)).
///
/// An argument of all calls of lookback::DeviceScan but OffsetsFromCounts(): of two-phase calls
/// after the stream, and before a strategy if there is one; of one-phase calls as the environment,
/// with another environment in it if there is one.
///
/// @code
/// lookback::DeviceScan::InclusiveSum(temporary, bytes, in, out, n, stream, lookback::reverse);
/// lookback::DeviceScan::InclusiveSum(in, out, n, lookback::reverse);
/// lookback::DeviceScan::InclusiveSum(in, out, n, lookback::reverse.in(stream));
/// @endcode
///
/// - *Requirements*: the host knows the number of items (no lookback::device_count).
/// - *Determinism*: the bits of the scan of the reversed sequence.
/// @ingroup cub_scans
inline constexpr reverse_t reverse{};

namespace detail {

/// The pipeline, unless there are so few structs that the look-back is faster.
template <class Rows>
struct pipeline_of_many : pipeline<Rows> {
  template <class Problem, class Launch>
  static const char *fits(const Problem &problem, Launch &launch) {
    if constexpr (blocks_structs<Problem>::value) {
      using row = typename Rows::template at<0>::template pipeline<Problem>;
      if (problem.tiles() < row::least_tiles) return "for so few structs, the look-back is faster";
    }
    return pipeline<Rows>::fits(problem, launch);
  }
};

/// `First`, then the strategies for problems of any kind.
template <class Rows, class... First>
using first_or_any = first_of<First..., one_tile<Rows>, cluster<Rows>, wave<Rows>,
                              pipeline_of_many<Rows>, tree_look_back<Rows>, warp_tiles<Rows>>;

/// The strategies of lookback::fastest, with the tuning table `Rows`.
template <class Rows>
struct fastest_strategies {
  template <class Problem, class Count, class Launch>
  static typename Launch::status_type scan(void *storage, std::size_t &bytes,
                                           const Problem &problem, const Count &n, Launch launch) {
    using chosen =
        std::conditional_t<half_tiles<Problem>::possible,
                           first_or_any<Rows, cluster_of_half_tiles<Rows>>, first_or_any<Rows>>;
    return chosen::scan(storage, bytes, problem, n, launch);
  }
};

/// For at most a group, 32 tiles: a few strategies are enough, and fewer kernels are compiled.
template <class Rows>
using head_strategies = first_of<one_tile<Rows>, tree_look_back<Rows>, warp_tiles<Rows>>;

/// Only one of the default strategies, except that one tile is scanned by one_tile or warp_tiles.
/// If the launch of `Strategy` is refused, the look-back runs instead, on whatever part of the
/// device is available.
template <template <class> class Strategy, class Rows>
using forced = first_of<one_tile<Rows>, when_one_tile<warp_tiles<Rows>>, Strategy<Rows>,
                        when_refused<tree_look_back<Rows>>>;

template <class... Algorithm>
struct strategies_of;
template <class Strategy>
struct strategies_of<Strategy> {
  using type = first_of<Strategy>;
};
template <>
struct strategies_of<> {
  using type = fastest_strategies<measured_tuning>;
};
template <>
struct strategies_of<lookback::fastest> : strategies_of<> {};
template <>
struct strategies_of<lookback::look_ahead> {
  using type = forced<pipeline, measured_tuning>;
};

/// `Strategies` for a scan from the last element to the first.
template <class Strategies>
struct reversed_strategies {
  template <class Problem, class Count, class Launch>
  static typename Launch::status_type scan(void *storage, std::size_t &bytes, const Problem &given,
                                           const Count &n, Launch launch) {
    static_assert(!is_device_count<Count>,
                  "lookback::reverse: the host must know the number of items");
    return Strategies::scan(storage, bytes, from_the_end(given, n), n, launch);
  }
};
template <>
struct strategies_of<lookback::reverse_t> {
  using type = reversed_strategies<strategies_of<>::type>;
};
template <class Strategy>
struct strategies_of<lookback::reverse_t, Strategy> {
  using type = reversed_strategies<typename strategies_of<Strategy>::type>;
};
/// The strategies of a call with `Algorithm`, or without.
template <class... Algorithm>
using strategies = typename strategies_of<Algorithm...>::type;

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
