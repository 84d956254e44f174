// SPDX-License-Identifier: MIT
// Items of a unit of short segments in shared memory. Segments that follow one another are one
// stretch of memory. It is copied and stored in aligned vectors, wherever in it segments begin.
#pragma once

#include <lookback/block/transfer.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A stretch of up to `Vectors` vectors of 16 bytes. Items have 4 or 8 bytes, and results replace
/// them. A lane reads and writes the items of one vector of a segment, which need not be aligned:
/// item by item, but adjacent groups of 8 lanes begin with different items, since the first items
/// of all 32 lanes would be in an eighth of the banks.
template <int ItemBytes, int Vectors>
class staged_items {
  static constexpr int vector_bytes = 16, E = vector_bytes / ItemBytes, words = ItemBytes / 4;
  static_assert(ItemBytes == 4 || ItemBytes == 8, "items are words or pairs of words");

public:
  struct storage {
    alignas(vector_bytes) unsigned char bytes[(Vectors + 1) * vector_bytes];
  };

  /// The stretch of `items` items from `first` on.
  LOOKBACK_DEVICE staged_items(storage &room, const void *first, int items)
      : room_(room.bytes), shift_(offset_in_vector(first)), bytes_(items * ItemBytes),
        turn_(simt::lane_index() / 8 % E) {}

  /// Whether there is room for so many items, wherever they begin in a vector.
  LOOKBACK_DEVICE static bool fits(std::int64_t items) { return items <= Vectors * E; }
  LOOKBACK_DEVICE static int offset_in_vector(const void *address) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % vector_bytes);
  }

  /// Starts to copy the items from memory: thread `thread` of `threads` its share.
  LOOKBACK_DEVICE void load(const void *first, int thread, int threads) const {
    const auto *const from = static_cast<const unsigned char *>(first) - shift_;
    for_each_piece(
        thread, threads,
        [&](int at) { simt::copy_vector_async<vector_bytes>(room_ + at, from + at); },
        [&](int at) { simt::copy_vector_async<ItemBytes>(room_ + at, from + at); });
  }
  /// Stores the results to memory, whose address is that of the items or differs by whole vectors.
  LOOKBACK_DEVICE void store(void *first, int thread, int threads) const {
    auto *const to = static_cast<unsigned char *>(first) - shift_;
    for_each_piece(
        thread, threads,
        [&](int at) {
          simt::store_vector<vector_bytes>(to + at, simt::load_vector<vector_bytes>(room_ + at));
        },
        [&](int at) {
          simt::store_vector<ItemBytes>(to + at, simt::load_vector<ItemBytes>(room_ + at));
        });
  }

  /// The first `count` items of the vector that begins with item `first`; zeros behind them. Called
  /// by a full warp.
  LOOKBACK_DEVICE simt::vector_words<16> get(int first, int count) const {
    const unsigned char *const from = room_ + shift_ + first * ItemBytes;
    simt::vector_words<16> all{};
    if (has_whole_vectors(from, count)) {
      if (count > 0) all = simt::load_vector<16>(from);
      return all;
    }
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      const int own = (k + turn_) % E;
      if (own >= count) continue;
      const auto item = simt::load_vector<ItemBytes>(from + own * ItemBytes);
      LOOKBACK_UNROLL
      for (int w = 0; w < words; ++w) all.words[k * words + w] = item.words[w];
    }
    return turned<false>(all);
  }
  /// Puts results in the place of these items. Called by a full warp.
  LOOKBACK_DEVICE void put(int first, int count, const simt::vector_words<16> &results) const {
    unsigned char *const to = room_ + shift_ + first * ItemBytes;
    if (has_whole_vectors(to, count)) {
      if (count > 0) simt::store_shared<16>(to, results);
      return;
    }
    const auto all = turned<true>(results);
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      const int own = (k + turn_) % E;
      if (own >= count) continue;
      simt::vector_words<ItemBytes> item;
      LOOKBACK_UNROLL
      for (int w = 0; w < words; ++w) item.words[w] = all.words[k * words + w];
      simt::store_shared<ItemBytes>(to + own * ItemBytes, item);
    }
  }

private:
  /// Calls vector(at) for the thread's pieces that are whole, and item(at) for the items of the
  /// others; `at` is in bytes, from the beginning of the room.
  template <class Vector, class Item>
  LOOKBACK_DEVICE void for_each_piece(int thread, int threads, Vector vector, Item item) const {
    const int end = shift_ + bytes_;
    LOOKBACK_UNROLL_BY(4)
    for (int at = thread * vector_bytes; at < end; at += threads * vector_bytes) {
      if (LOOKBACK_LIKELY(at >= shift_ && at + vector_bytes <= end)) {
        vector(at);
        continue;
      }
      for (int k = 0; k < vector_bytes; k += ItemBytes)
        if (at + k >= shift_ && at + k < end) item(at + k);
    }
  }
  /// Whether every lane has no item, or a whole vector that is aligned.
  LOOKBACK_DEVICE static bool has_whole_vectors(const void *address, int count) {
    return simt::all_of_warp(count == 0 || (count == E && offset_in_vector(address) == 0));
  }
  /// Item k of a vector is read and written as item k + turn_, modulo E. Moves the words from these
  /// places to their own, or, with `Back`, from their own to these places.
  template <bool Back>
  LOOKBACK_DEVICE simt::vector_words<16> turned(const simt::vector_words<16> &all) const {
    const bool by_one = words == 1 && turn_ % 2 != 0,
               by_two = words == 1 ? turn_ / 2 != 0 : turn_ != 0;
    simt::vector_words<16> once, twice;
    LOOKBACK_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t here = all.words[i], next = all.words[(Back ? i + 1 : i + 3) % 4];
      once.words[i] = by_one ? next : here;
    }
    LOOKBACK_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t here = once.words[i], other = once.words[(i + 2) % 4];
      twice.words[i] = by_two ? other : here;
    }
    return twice;
  }

  unsigned char *const room_;
  const int shift_, bytes_, turn_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
