// SPDX-License-Identifier: MIT
// Which items of a row are kept, and how many are kept up to each lane.
#pragma once

#include <lookback/arch/simt.cuh>
#include <lookback/block/network.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// What a lane remembers of a row: which items of its vector are kept, and how many items of the
/// warp's share before the vector are.
class kept_items {
public:
  LOOKBACK_DEVICE kept_items(unsigned bits, unsigned before) : word_(bits | before << 16) {}
  /// Bit k: item k of the vector is kept.
  LOOKBACK_DEVICE unsigned bits() const { return word_ & 0xffff; }
  LOOKBACK_DEVICE unsigned before() const { return word_ >> 16; }
  LOOKBACK_DEVICE unsigned through() const { return before() + simt::count_bits(bits()); }

private:
  std::uint32_t word_;
};

/// A lane's numbers of items, one for each of `Count` rows of `RowElements` items. The numbers of
/// several rows share a word, and with it the steps of the network.
template <int Count, int RowElements>
class row_counts {
  static_assert(Count * RowElements < 1 << 16, "numbers of items must fit into 16 bits");
  static constexpr int bits = RowElements < 1 << 8 ? 8 : 16, a_word = 32 / bits;
  static constexpr int words = (Count + a_word - 1) / a_word;

public:
  /// Called once for each row.
  LOOKBACK_DEVICE void set(int i, unsigned items) {
    counts_[i / a_word] += items << i % a_word * bits;
  }
  /// starts[i] becomes the number of items of all rows before row i, before[i] that of those and of
  /// the lanes of row i before this one. By Kogge-Stone.
  LOOKBACK_DEVICE void scan(int lane, unsigned (&before)[Count],
                            unsigned (&starts)[Count + 1]) const {
    unsigned through[words];
    starts[0] = 0;
    LOOKBACK_UNROLL
    for (int w = 0; w < words; ++w) through[w] = counts_[w];
    LOOKBACK_UNROLL
    for (int distance = 1; distance < network::lanes; distance *= 2) {
      LOOKBACK_UNROLL
      for (int w = 0; w < words; ++w) {
        const unsigned left = simt::shuffle_up(through[w], distance);
        if (lane >= distance) through[w] += left;
      }
    }
    LOOKBACK_UNROLL
    for (int w = 0; w < words; ++w) {
      const unsigned rows = simt::broadcast(through[w], simt::warp_threads - 1),
                     left = through[w] - counts_[w]; // mutant: kept-before
      LOOKBACK_UNROLL
      for (int i = w * a_word; i < Count && i < (w + 1) * a_word; ++i) {
        before[i] = starts[i] + number(left, i); // mutant: rows-above
        starts[i + 1] = starts[i] + number(rows, i);
      }
    }
  }

private:
  LOOKBACK_DEVICE static unsigned number(unsigned word, int i) {
    return word >> i % a_word * bits & ((1u << bits) - 1);
  }
  unsigned counts_[words] = {};
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
