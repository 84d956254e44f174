// SPDX-License-Identifier: MIT
// Segments that are given by offsets.
#pragma once

#include <lookback/core/device_count.cuh>
#include <lookback/core/monoid.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Offsets at equal distances: first + l * step.
struct stepped_offsets {
  using value_type = std::int64_t;
  using difference_type = std::ptrdiff_t;
  std::int64_t first, step;
  LOOKBACK_HOST_DEVICE std::int64_t operator[](std::int64_t l) const { return first + l * step; }
};

/// The results of a segment have the indices of its items.
struct same_offsets {};

/// Adjacent segments: segment s begins with item offsets[s] and ends where segment s + 1 begins. As
/// the keys of a scan, element i says whether a segment begins with item offsets[0] + i. It is in
/// no array: warps mark the heads of a tile in shared memory (strategy/marking_warps.cuh).
template <class Offset>
struct segment_heads {
  using offset = Offset;
  using value_type = unsigned char;
  using difference_type = std::ptrdiff_t;

  const Offset *offsets; // (segments + 1)
  std::int64_t segments;

  LOOKBACK_HOST_DEVICE std::int64_t begin(std::int64_t s) const {
    return static_cast<std::int64_t>(offsets[s]);
  }
};

/// Segment s has the items begins[s] to ends[s] - 1, and none if its end is not greater than its
/// begin. Its results go to result_begins[s] and the places behind it.
template <class Begins, class Ends, class ResultBegins = same_offsets>
class offset_segments {
  static constexpr bool narrow = std::is_same<value_t<Begins>, value_t<Ends>>::value &&
                                 sizeof(value_t<Begins>) <= sizeof(std::uint32_t);
  using offset = std::conditional_t<narrow, value_t<Begins>, std::int64_t>;

public:
  /// Whether each segment may be known to end where the next begins: the ends are then the begins
  /// from the second on.
  static constexpr bool may_be_adjacent = std::is_pointer<Begins>::value &&
                                          std::is_same<Begins, Ends>::value &&
                                          !std::is_volatile<std::remove_pointer_t<Begins>>::value &&
                                          std::is_same<ResultBegins, same_offsets>::value;
  static constexpr bool moves_results = !std::is_same<ResultBegins, same_offsets>::value;
  /// A number of items: of 32 bits if both offsets have one type of at most 32 bits.
  using number = std::conditional_t<narrow, std::uint32_t, std::uint64_t>;

  LOOKBACK_NO_EXECUTION_CHECK
  offset_segments(Begins begins, Ends ends, ResultBegins result_begins, std::int64_t count)
      : begins_(begins), ends_(ends), result_begins_(result_begins), count_(count) {
    static_assert(std::is_integral<value_t<Begins>>::value &&
                      std::is_integral<value_t<Ends>>::value,
                  "lookback: the offsets of segments must be integers");
  }

  LOOKBACK_HOST_DEVICE std::int64_t count() const { return count_; }
  /// The first `count` segments.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE offset_segments first(std::int64_t count) const {
    offset_segments some = *this;
    some.count_ = count;
    return some;
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE std::int64_t begin(std::int64_t s) const {
    return static_cast<std::int64_t>(begins_[s]);
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE number items(std::int64_t s) const {
    const offset first = static_cast<offset>(begins_[s]), end = static_cast<offset>(ends_[s]);
    return end > first ? static_cast<number>(end) - static_cast<number>(first) : number{0};
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE std::int64_t result_begin(std::int64_t s) const {
    if constexpr (moves_results)
      return static_cast<std::int64_t>(result_begins_[s]);
    else
      return begin(s);
  }

  bool are_adjacent() const { return may_be_adjacent && ends_ == begins_ + 1; }
  segment_heads<std::remove_cv_t<value_t<Begins>>> heads() const { return {begins_, count_}; }

private:
  Begins begins_;
  Ends ends_;
  ResultBegins result_begins_;
  std::int64_t count_;
};

/// The first segments of `all`; only the device knows how many.
template <class Segments, class Int>
struct counted_segments {
  static constexpr bool may_be_adjacent = false;
  Segments all; // as many as there can be
  linear_on_device<Int> number;

  /// The greatest possible number.
  std::int64_t count() const { return all.count(); }
};
template <class Segments, class Int>
counted_segments<Segments, Int> count_segments(const Segments &all, const device_count<Int> &n) {
  return {all, extent_of(n)};
}

/// Whether only the device knows the number of segments, and their type where it is known.
template <class Segments>
struct known_segments {
  static constexpr bool on_device = false;
  using type = Segments;
};
template <class Segments, class Int>
struct known_segments<counted_segments<Segments, Int>> {
  static constexpr bool on_device = true;
  using type = Segments;
  using number = Int;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
