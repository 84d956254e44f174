// SPDX-License-Identifier: MIT
// The reduction tree: the one order of association of every default strategy, on the GPU and on the
// CPU.
#pragma once

#include <lookback/core/extent.cuh>
#include <lookback/core/monoid.cuh>

#include <cstddef>
#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {

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
/// | vector | E elements | serial fold from the left |
/// | row | 32 vectors | Kogge-Stone over the vectors' aggregates: V(v), inclusive |
/// | tile | 32 rows or fewer | Kogge-Stone over the rows' aggregates: R(r), inclusive |
/// | group | 32 tiles | Kogge-Stone over the tiles' aggregates: T(t), inclusive |
/// | input | groups | serial fold from the left: G(g) |
///
/// E is the largest power of two with E * max(sizeof(In), sizeof(Out)) <= 16, at least 1. A tile
/// has 32 rows for elements of up to 16 bytes, 16 rows up to 32 bytes, 8 rows up to 64 bytes, ...:
/// 16 KB. G(0) = init, and G(g + 1) = G(g) . (aggregate of group g).
///
/// Kogge-Stone over m <= 32 values: for o = 1, 2, 4, 8, 16, `x(l) <- x(l - o) . x(l)` at once for
/// every l >= o.
///
/// Element k of vector v of row r of tile t of group g has the inclusive result
///
///     ((((G(g) . T(t - 1)) . R(r - 1)) . V(v - 1)) . e0) . e1 ... . ek
///
/// associated as written. Its exclusive result is the same without the last factor. A factor with a
/// negative index, and G(0) without an initial value, is skipped. By key, the elements are pairs of
/// a value and a flag, In is the values' accumulator type, and an initial value is combined with
/// the first element of each segment.
///
/// An element's result does not depend on the elements to its right, so the results for n elements
/// are the first n results of any longer input.
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
  /// The larger of InBytes and OutBytes.
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
    return detail::linear{n}.tiles(tile_elements);
  }
};

namespace detail {

/// Elements of a group of the tree.
template <class Shape>
inline constexpr std::int64_t group_elements =
    std::int64_t{Shape::group_tiles} * Shape::tile_elements;

/// Kogge-Stone over at most 32 lanes: the network of rows, tiles and groups.
///
/// Its steps have the distances o = 1, 2, 4, 8, 16. In each, every lane l >= o becomes
/// x(l - o) . x(l), and the others keep their values. At the end, lane l has x(0) . x(1) ... x(l).
struct network {
  static constexpr int lanes = 32;
  static constexpr int steps = 5;

  /// Value of a lane >= distance after the step. `x[l]` is the value of lane l before it.
  LOOKBACK_NO_EXECUTION_CHECK
  template <class T, class Values, class Operator>
  LOOKBACK_HOST_DEVICE static T combined(const Values &x, int lane, int distance, Operator &op) {
    return static_cast<T>(op(x[lane - distance], x[lane]));
  }
  /// Value of any lane after the step.
  LOOKBACK_NO_EXECUTION_CHECK
  template <class T, class Values, class Operator>
  LOOKBACK_HOST_DEVICE static T value(const Values &x, int lane, int distance, Operator &op) {
    return lane >= distance ? combined<T>(x, lane, distance, op) : x[lane];
  }
};

/// The prefix of an element, ((G . T) . R) . V, is combined from the outermost part inwards. This
/// is one step: `prefix . inner`, or `inner` if there is no prefix and `prefix` is null.
LOOKBACK_NO_EXECUTION_CHECK
template <class T, class Operator>
LOOKBACK_HOST_DEVICE T extend_left_side(const T *prefix, const T &inner, Operator &op) {
  return prefix != nullptr ? static_cast<T>(op(*prefix, inner)) : inner;
}

/// An item as an accumulator: the item itself, if it is one.
LOOKBACK_NO_EXECUTION_CHECK
template <class T, class Item>
LOOKBACK_HOST_DEVICE_INLINE decltype(auto) as_accumulator(const Item &item) {
  if constexpr (std::is_same<T, Item>::value) {
    return (item);
  } else if constexpr (std::is_constructible<T, const Item &>::value) {
    return static_cast<T>(item);
  } else {
    Item own = item; // its conversion is not const
    return static_cast<T>(own);
  }
}

/// Serial fold of a vector: its E elements from the left.
LOOKBACK_NO_EXECUTION_CHECK
template <int E, class T, class Element, class Operator>
LOOKBACK_HOST_DEVICE T fold_vector(Element element, Operator &op) {
  maybe<T> aggregate;
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k) aggregate.append(op, as_accumulator<T>(element(k)));
  return aggregate.value();
}

/// Scans a vector from its prefix. `count` of its E elements are valid, and `emit(k, scanned,
/// item)` receives element k's inclusive or exclusive result. An exclusive scan always has a
/// prefix. If the scan is inclusive or `Through`, the prefix is extended by all valid elements,
/// otherwise by all but the last.
LOOKBACK_NO_EXECUTION_CHECK
template <bool Inclusive, int E, bool Through, class T, class Element, class Operator, class Emit>
LOOKBACK_HOST_DEVICE void scan_vector(maybe<T> &prefix, int count, Element element, Operator &op,
                                      Emit emit) {
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k) {
    if (k < count) {
      const auto &item = element(k);
      if constexpr (!Inclusive) emit(k, prefix.value(), item);
      // The last exclusive result needs no further combination: no operator call without a use.
      if (Inclusive || Through || k + 1 < count) prefix.append(op, as_accumulator<T>(item));
      if constexpr (Inclusive) emit(k, prefix.value(), item);
    }
  }
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
