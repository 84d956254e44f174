// SPDX-License-Identifier: MIT
// THE reduction tree: the one order of association that every default path computes, on the GPU and on the CPU.
#pragma once

#include <lookback/core/monoid.cuh>

#include <cstddef>
#include <cstdint>

namespace lookback {

/// Version of the reduction tree. It changes when, and only when, the bits of some floating-point result change;
/// CHANGELOG.md records every value.
inline constexpr int tree_version = 1;

/// The tree, from the leaves up, for an input value type In and an output value type Out:
///
///   vector   E consecutive elements, E the largest power of two with E * max(sizeof(In), sizeof(Out)) <= 16 bytes (at
///            least 1), folded serially from the left                                     F = (e0 . e1) . e2 ...
///   row      32 vectors; their totals are scanned by the Kogge-Stone network               V(v), inclusive
///   tile     32 rows (fewer for elements wider than 16 bytes, so that a tile stays at 16 KB: 16 rows up to 32 bytes, 8
///            up to 64, ...); the row totals are scanned by the same network                 R(r), inclusive
///   group    32 tiles; the tile totals are scanned by the same network                      T(t), inclusive
///   groups   folded serially from the left, starting with the initial value if there is one: G(0) = init,
///            G(g + 1) = G(g) . (total of group g)
///
/// The network over m <= 32 values is: for o = 1, 2, 4, 8, 16: x(l) <- x(l - o) . x(l) for every l >= o at once.
///
/// Element k of vector v of row r of tile t of group g then has the inclusive result
///
///   ((((G(g) . T(t - 1)) . R(r - 1)) . V(v - 1)) . e0) . e1 ... . ek        (every `.` associates as written)
///
/// and its exclusive result is the same without the last factor. A part with a negative index, and G(0) without an initial
/// value, is skipped. By key, the elements are pairs of a value and a flag (core/by_key.cuh), In is that pair, and an initial
/// value is folded into the first element of each run. Nothing to the right of an element takes part in its result, so the
/// results for n elements are the first n results of any longer input.
///
/// The tree fixes what is combined, not the operator's own arithmetic: compile with nvcc's --fmad=false and g++'s
/// -ffp-contract=off where an operator multiplies and adds, and expect no equal bits of GPU and CPU where it calls a library
/// function such as exp. Algorithms asked for by `par.with(...)` compute other trees, all but look_ahead and fastest.
template <std::size_t InBytes, std::size_t OutBytes = InBytes>
struct tree_shape {
  static constexpr std::size_t element_bytes = InBytes > OutBytes ? InBytes : OutBytes;
  static constexpr int vector_elements = element_bytes <= 1   ? 16
                                         : element_bytes <= 2 ? 8
                                         : element_bytes <= 4 ? 4
                                         : element_bytes <= 8 ? 2
                                                              : 1;
  static constexpr int row_vectors = 32;
  static constexpr int tile_rows = element_bytes <= 16    ? 32
                                   : element_bytes <= 32  ? 16
                                   : element_bytes <= 64  ? 8
                                   : element_bytes <= 128 ? 4
                                   : element_bytes <= 256 ? 2
                                                          : 1;
  static constexpr int group_tiles = 32;

  static constexpr int row_elements = row_vectors * vector_elements;
  static constexpr int tile_elements = tile_rows * row_elements;

  /// Tiles that hold n elements, the last one perhaps in part.
  LOOKBACK_HOST_DEVICE static constexpr std::uint64_t tiles(std::uint64_t n) {
    return n / tile_elements + (n % tile_elements != 0);
  }
};

namespace detail {

/// Serial fold of a vector: its E elements from the left.
LOOKBACK_NO_EXECUTION_CHECK
template <int E, class T, class Element, class Operator>
LOOKBACK_HOST_DEVICE T fold_vector(Element element, Operator &op) {
  maybe<T> total;
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k) total.append(op, element(k));
  return total.value();
}

/// Results of a vector: `base` is everything to its left, `count` of its E elements exist, and `emit(k, scanned, item)`
/// takes element k's inclusive or exclusive result. An exclusive scan has a base always.
LOOKBACK_NO_EXECUTION_CHECK
template <bool Inclusive, int E, class T, class Element, class Operator, class Emit>
LOOKBACK_HOST_DEVICE void scan_vector(maybe<T> base, int count, Element element, Operator &op, Emit emit) {
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k) {
    if (k < count) {
      const T item = element(k);
      if constexpr (!Inclusive) emit(k, base.value(), item);
      // The last exclusive result needs no further combination: no operator call without a use.
      if (Inclusive || k + 1 < count) base.append(op, item);
      if constexpr (Inclusive) emit(k, base.value(), item);
    }
  }
}

} // namespace detail
} // namespace lookback
