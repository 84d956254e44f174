// SPDX-License-Identifier: MIT
// Which items of a row are kept, and how many are kept up to each lane.
#pragma once

#include <lookback/arch/simt.cuh>
#include <lookback/block/network.cuh>

#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// What a lane remembers of a row: which items of its vector are kept, and how many of the row up
/// to its last one.
class kept_items {
public:
  LOOKBACK_DEVICE kept_items(unsigned bits, unsigned through) : word_(bits | through << 16) {}
  /// Bit k: item k of the vector is kept.
  LOOKBACK_DEVICE unsigned bits() const { return word_ & 0xffff; }
  LOOKBACK_DEVICE unsigned through() const { return word_ >> 16; }
  LOOKBACK_DEVICE unsigned before() const {
    return through() - simt::count_bits(bits()); // mutant: kept-before
  }

private:
  std::uint32_t word_;
};

/// A lane's numbers of items, one for each of `Count` rows of `RowElements` items. The numbers of
/// two rows share a word, and with it the steps of the network.
template <int Count, int RowElements>
class row_counts {
  static_assert(RowElements < 1 << 16, "the number of items of a row must fit into 16 bits");
  static constexpr int words = (Count + 1) / 2;

public:
  /// Called once for each row.
  LOOKBACK_DEVICE void set(int i, unsigned items) { counts_[i / 2] += items << i % 2 * 16; }
  /// Each number becomes that of the row up to and including this lane: Kogge-Stone.
  LOOKBACK_DEVICE void scan(int lane) {
    LOOKBACK_UNROLL
    for (int distance = 1; distance < network::lanes; distance *= 2) {
      LOOKBACK_UNROLL
      for (int w = 0; w < words; ++w) {
        const unsigned left = simt::shuffle_up(counts_[w], distance);
        if (lane >= distance) counts_[w] += left;
      }
    }
  }
  /// Afterwards, each number includes those of the rows before its own.
  LOOKBACK_DEVICE void add_rows_above() {
    unsigned above = 0;
    LOOKBACK_UNROLL
    for (int w = 0; w < words; ++w) {
      const unsigned rows = simt::broadcast(counts_[w], simt::warp_threads - 1),
                     even = rows & 0xffff;
      counts_[w] += above + (above + even << 16); // mutant: rows-above
      above += even + (rows >> 16);
    }
  }
  LOOKBACK_DEVICE unsigned get(int i) const { return counts_[i / 2] >> i % 2 * 16 & 0xffff; }

private:
  unsigned counts_[words] = {};
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
