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
/// one. Element i of line (o, k) is element
///
/// o * pitch.outer + i * pitch.length + k        0 <= o < outer, 0 <= i < length, 0 <= k < inner
///
/// of the input, with the pitches of the input, and its result is that element of the output, with
/// the pitches of the output. An array of more dimensions has those before the axis in `outer` and
/// those behind it in `inner`.
///
/// | lines of a row-major matrix | outer | length | inner |
/// |---|---|---|---|
/// | rows | rows | columns | 1 |
/// | columns | 1 | rows | columns |
/// | rows of matrices in a batch | matrices * rows | columns | 1 |
/// | columns of matrices in a batch | matrices | rows | columns |
/// @ingroup axes
struct axis {
  /// Distances in elements between neighbours. Those that are 0 are the distances in an array
  /// without gaps: `inner` along the axis, and `length` of these along the outer dimension.
  struct pitch {
    std::int64_t outer = 0;  ///< From a line to the same line of the next `outer`.
    std::int64_t length = 0; ///< From an element of a line to the next.
  };
  std::int64_t outer = 1;  ///< Indices of all dimensions before the axis.
  std::int64_t length = 0; ///< Elements of a line.
  std::int64_t inner = 1;  ///< Indices of all dimensions behind the axis.
  pitch input = {};        ///< Distances in the input.
  pitch output = {};       ///< Distances in the output.
  /// Whether a line begins with its last element, and is scanned towards its first.
  bool reverse = false;
};

} // namespace LOOKBACK_ABI
} // namespace lookback
