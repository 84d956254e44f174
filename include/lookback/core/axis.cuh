// SPDX-License-Identifier: MIT
// The lines of an array along one of its axes.
#pragma once

#include <lookback/core/config.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {

/// One axis of an array, and the lines along it.
///
/// The array has three dimensions, `outer` x `length` x `inner`, and the lines run along the middle
/// one. For an array of more dimensions, `outer` is the product of the extents before the axis, and
/// `inner` that of the extents after it. Element i of line (o, k) is element
///
/// o * pitch.outer + i * pitch.length + k        0 <= o < outer, 0 <= i < length, 0 <= k < inner
///
/// of the array. The input is indexed with the pitches of the input, and the output with those of
/// the output.
///
/// | lines of a row-major matrix | outer | length | inner |
/// |---|---|---|---|
/// | rows | rows | columns | 1 |
/// | columns | 1 | rows | columns |
/// | rows of matrices in a batch | matrices * rows | columns | 1 |
/// | columns of matrices in a batch | matrices | rows | columns |
/// @ingroup axes
struct axis {
  /// Distances between neighbours, in elements (not in bytes). 0 stands for the distance in an
  /// array without gaps: `inner` along the axis, and `length` times that along the outer dimension.
  struct pitch {
    std::int64_t outer = 0;  ///< From a line to the line with the next outer index.
    std::int64_t length = 0; ///< From an element of a line to the next.
  };
  std::int64_t outer = 1;  ///< Product of the extents before the axis.
  std::int64_t length = 0; ///< Elements of a line.
  std::int64_t inner = 1;  ///< Product of the extents after the axis.
  pitch input = {};        ///< Distances in the input.
  pitch output = {};       ///< Distances in the output.
  bool reverse = false;    ///< Scans each line from its last element to its first.
};

} // namespace LOOKBACK_ABI
} // namespace lookback
