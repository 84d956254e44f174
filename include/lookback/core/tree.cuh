// SPDX-License-Identifier: MIT
// THE reduction tree: the one order of association that every default path computes, on the GPU and on the CPU.
#pragma once

#include <lookback/core/monoid.cuh>

#include <cstddef>
#include <cstdint>

namespace lookback {

/// Version of the reduction tree. It changes if and only if the bits of some floating-point result
/// change; CHANGELOG.md records every value.
/// @ingroup tree
inline constexpr int tree_version = 1;

/// The reduction tree: the order in which lookback::fastest, lookback::look_ahead and
/// lookback::host associate, and the sizes of its parts.
///
/// For an input value type In and an output value type Out, from the leaves up:
///
/// | part | consists of | combined by |
/// |---|---|---|
/// | vector | E elements, the largest power of two with E * max(sizeof(In), sizeof(Out)) <= 16, at least 1 | serial fold from the left |
/// | row | 32 vectors | Kogge-Stone over the vectors' aggregates: V(v), inclusive |
/// | tile | 32 rows; 16 for elements up to 32 bytes, 8 up to 64, ...: 16 KB | Kogge-Stone over the rows' aggregates: R(r), inclusive |
/// | group | 32 tiles | Kogge-Stone over the tiles' aggregates: T(t), inclusive |
/// | input | groups | serial fold from the left: G(0) = init, G(g + 1) = G(g) . (aggregate of group g) |
///
/// Kogge-Stone over m <= 32 values: for o = 1, 2, 4, 8, 16, `x(l) <- x(l - o) . x(l)` at once
/// for every l >= o.
///
/// Element k of vector v of row r of tile t of group g has the inclusive result
///
///     ((((G(g) . T(t - 1)) . R(r - 1)) . V(v - 1)) . e0) . e1 ... . ek        (every `.` associates as written)
///
/// and its exclusive result is the same without the last factor. A factor with a negative index,
/// and G(0) without an initial value, is skipped. By key, the elements are pairs of a value and a
/// flag, In is the values' accumulator type, and an initial value is combined with the first
/// element of each segment.
///
/// Nothing to the right of an element takes part in its result, so the results for n elements are
/// the first n results of any longer input.
///
/// The tree does not fix the operator's own arithmetic. If an operator multiplies and adds, compile
/// with nvcc's `--fmad=false` and g++'s `-ffp-contract=off`; library functions such as `exp` differ
/// between GPU and CPU.
///
/// @tparam InBytes   sizeof(In)
/// @tparam OutBytes  sizeof(Out)
/// @ingroup tree
template <std::size_t InBytes, std::size_t OutBytes = InBytes>
struct tree_shape {
  /// The wider of input and output, in bytes.
  static constexpr std::size_t element_bytes = InBytes > OutBytes ? InBytes : OutBytes;
  /// Elements of a vector: E.
  static constexpr int vector_elements = element_bytes <= 1   ? 16
                                         : element_bytes <= 2 ? 8
                                         : element_bytes <= 4 ? 4
                                         : element_bytes <= 8 ? 2
                                                              : 1;
  /// Vectors of a row.
  static constexpr int row_vectors = 32;
  /// Rows of a tile.
  static constexpr int tile_rows = element_bytes <= 16    ? 32
                                   : element_bytes <= 32  ? 16
                                   : element_bytes <= 64  ? 8
                                   : element_bytes <= 128 ? 4
                                   : element_bytes <= 256 ? 2
                                                          : 1;
  static constexpr int group_tiles = 32; ///< Tiles of a group.

  static constexpr int row_elements = row_vectors * vector_elements; ///< Elements of a row.
  static constexpr int tile_elements = tile_rows * row_elements;     ///< Elements of a tile.

  /// Tiles of n elements, a partial tile at the end included: ceil(n / tile_elements).
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
