// SPDX-License-Identifier: MIT
// Selections of few small items: up to 16 tiles of half as many items, by one cluster
// (strategy/cluster.cuh has the kernel). If items have one or two bytes, a block takes longer to
// place those of its tile than to exchange counts with other blocks, so more and smaller tiles are
// faster. The results are the same, since numbers of items have the same bits in any tree.
//
// Microseconds on an H200, random i8, half of them kept: partition, flagged, select.
//
//               2^14             2^15             2^16             2^17
//   tiles       5.9  5.5  5.2    6.2  6.0  5.2    6.4  6.0  5.3    6.4  6.2  5.3
//   half tiles  5.2  5.0  4.9    5.2  5.1  4.9    5.3  5.2  5.0    5.4  5.4  5.2
//
// Partition and flagged of i16 take 6 to 8 % less time, those of i32 at most 4 %.
#pragma once

#include <lookback/core/candidates.cuh>
#include <lookback/strategy/cluster.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether items are chosen one by one, not by comparison with their neighbours.
template <class Which>
inline constexpr bool chooses_alone = false;
template <class Predicate, bool Wanted>
inline constexpr bool chooses_alone<by_predicate<Predicate, Wanted>> = true;
template <class Stencil, class Predicate, bool Wanted>
inline constexpr bool chooses_alone<by_stencil<Stencil, Predicate, Wanted>> = true;

/// The problem in half tiles, if `possible`: if items of 1 or 2 bytes are chosen one by one, and
/// the type of the results is not so wide that it alone determines the tile.
template <class Problem>
struct half_tiles {
  static constexpr bool possible = false;
};
template <bool Inclusive, class T, class Items, class Which, class Operator, class Initial,
          class Sink, class Extent>
struct half_tiles<
    scan_problem<Inclusive, T, selectable<Items, Which>, Operator, Initial, Sink, Extent>> {
  using whole =
      scan_problem<Inclusive, T, selectable<Items, Which>, Operator, Initial, Sink, Extent>;
  using half =
      scan_problem<Inclusive, T, selectable<Items, Which, true>, Operator, Initial, Sink, Extent>;
  static constexpr bool is_possible() {
    if constexpr (chooses_alone<Which> &&
                  sizeof(typename selectable<Items, Which>::widest_read) <= 2)
      return 2 * half::shape::tile_elements == whole::shape::tile_elements;
    else
      return false;
  }
  static constexpr bool possible = is_possible();
  static half of(const whole &problem) {
    return {problem.input.in_half_tiles(), problem.op, problem.initial, problem.sink,
            problem.extent};
  }
};

template <class Rows>
struct cluster_of_half_tiles : cluster<Rows> {
  static constexpr const char *name = "cluster_of_half_tiles";
  template <class Problem>
  static constexpr bool supports_half() {
    if constexpr (half_tiles<Problem>::possible)
      return cluster<Rows>::template supports<typename half_tiles<Problem>::half>;
    else
      return false;
  }
  template <class Problem>
  static constexpr bool supports = supports_half<Problem>();

  template <class Problem>
  static std::size_t storage(const Problem &problem) {
    return cluster<Rows>::storage(half_tiles<Problem>::of(problem));
  }
  template <class Problem, class Launch>
  static const char *fits(const Problem &problem, Launch &launch) {
    const auto half = half_tiles<Problem>::of(problem);
    return half.tiles() == 1 ? "no more than one half tile" : cluster<Rows>::fits(half, launch);
  }
  template <class Problem, class Launch>
  static void run(const Problem &problem, temporary_memory &memory, Launch &launch) {
    cluster<Rows>::run(half_tiles<Problem>::of(problem), memory, launch);
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
