// SPDX-License-Identifier: MIT
// The left side of a vector, composed in the order of the tree (core/tree.cuh).
#pragma once

#include <lookback/core/monoid.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// left <- (left . R(row - 1)) . V(vector - 1): turns the prefix of a tile into the reduction of
/// every item to the left of a vector, or nothing if there is no such item. A factor with a
/// negative index is skipped.
///
/// `row_prefix` returns R(row - 1), and `vector_prefix` V(vector - 1). Both are always called, in
/// this order, because the lanes of a warp exchange values in them. The value of a skipped factor
/// is not read.
LOOKBACK_NO_EXECUTION_CHECK
template <class T, class RowPrefix, class VectorPrefix, class Operator>
LOOKBACK_HOST_DEVICE_INLINE void append_left_side(maybe<T> &left, int row, RowPrefix row_prefix,
                                                  int vector, VectorPrefix vector_prefix,
                                                  Operator &op) {
  const T &above = row_prefix();
  if (row > 0) left.append(op, above);
  const T &beside = vector_prefix();
  if (vector > 0) left.append(op, beside);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
