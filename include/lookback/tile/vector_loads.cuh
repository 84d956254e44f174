// SPDX-License-Identifier: MIT
// A lane's vector of items, straight from memory.
#pragma once

#include <lookback/block/transfer.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Reads the first `count` items from `input` on, at most a vector of them. `whole`: the address of
/// `input` is a multiple of the vector's size.
template <class Iterator, class Item, int E>
LOOKBACK_DEVICE void load_lane(Iterator input, [[maybe_unused]] bool whole, int count,
                               lane_vector<Item, E> &items) {
  if constexpr (can_move_as_vectors<Item, Iterator> && lane_vector<Item, E>::packed) {
    if (count >= E && whole) {
      constexpr int bytes = lane_vector<Item, E>::bytes;
      if constexpr (counts_from_end<Iterator>) {
        items.words = simt::load_vector<bytes>(address_of(input) - E);
        items = mirrored(items);
      } else {
        items.words = simt::load_vector<bytes>(input);
      }
      return;
    }
  }
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k)
    if (k < count) items.set(k, static_cast<Item>(input[k]));
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
