// SPDX-License-Identifier: MIT
// The requirements on the lines of an axis, for the CPU and for calls that launch kernels.
#pragma once

#include <lookback/core/axis.cuh>

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

[[noreturn]] inline void refuse_axis(const char *why) { throw std::invalid_argument(why); }

/// a * b + c, for numbers that are not negative.
inline std::int64_t multiply_add(std::int64_t a, std::int64_t b, std::int64_t c) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if ((b > 0 && a > most / b) || a * b > most - c)
    refuse_axis("lookback: the lines of an axis span more than 2^63 - 1 elements");
  return a * b + c;
}
/// The pitch with its defaults in place of 0. The distance in a dimension of extent 1, which is
/// never used, becomes that of an array without gaps.
inline axis::pitch with_defaults(const axis &lines, axis::pitch pitch) {
  if (pitch.outer < 0 || pitch.length < 0)
    refuse_axis("lookback: a pitch of an axis is negative; to scan lines from their last element, "
                "set axis::reverse");
  if (pitch.length == 0) pitch.length = lines.inner;
  if (pitch.outer == 0) pitch.outer = multiply_add(lines.length, pitch.length, 0);
  if (lines.length == 1) pitch.length = lines.inner;
  if (lines.outer == 1) pitch.outer = multiply_add(lines.length, pitch.length, 0);
  multiply_add(lines.outer, pitch.outer, multiply_add(lines.length, pitch.length, lines.inner));
  return pitch;
}
/// Whether no two lines have an element in common because the pitches nest: that along the axis is
/// at least `inner`, and the outer one at least the span of a line, or the same with both
/// dimensions exchanged.
inline bool nests(const axis &lines, const axis::pitch &pitch) {
  const std::int64_t line = (lines.length - 1) * pitch.length + lines.inner,
                     across = (lines.outer - 1) * pitch.outer + lines.inner;
  const auto holds = [](std::int64_t indices, std::int64_t distance, std::int64_t span) {
    return indices == 1 || distance >= span;
  };
  return (holds(lines.length, pitch.length, lines.inner) &&
          holds(lines.outer, pitch.outer, line)) ||
         (holds(lines.outer, pitch.outer, lines.inner) &&
          holds(lines.length, pitch.length, across));
}
/// `lines`, whose extents are positive, with all pitches filled in. Throws if a pitch is negative,
/// if lines may overlap in the output, or if they span too many elements.
inline axis checked_axis(const axis &lines) {
  axis own = lines;
  multiply_add(multiply_add(lines.outer, lines.inner, 0), lines.length, 0);
  own.input = with_defaults(lines, lines.input);
  own.output = with_defaults(lines, lines.output);
  if (!nests(own, own.output))
    refuse_axis("lookback: the output pitches of an axis do not nest, so lines may overlap: the "
                "pitch along the axis must be at least inner, and the outer one at least the span "
                "of a line, or the same with both exchanged");
  return own;
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
