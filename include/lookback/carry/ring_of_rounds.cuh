// SPDX-License-Identifier: MIT
// The status words of the tiles of a pipeline when the host does not know how many tiles there are:
// a ring. A word's mark contains its round: how often the ring has been filled before. No block may
// overwrite a word that another has yet to read, and blocks that scan long segments of few tiles
// (strategy/segment_pipeline.cuh) hardly wait for each other. So every few tiles, a block waits
// until all blocks have published an earlier tile.
#pragma once

#include <lookback/carry/look_ahead_carry.cuh>
#include <lookback/carry/ring_state.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Status words of tiles in a ring: tile t has word t % Size, whose mark is made of the tag of the
/// launch and the round t / Size.
///
/// No word is overwritten that is still to be read. Before a block looks ahead for tile i of its
/// sequence, where i % check_every is check_lag, it waits until every block has published tile
/// i - check_lag of its own. While it waits, it publishes no tile after i + depth. By the check
/// before, every block has published its tile j = i - check_every - check_lag, hence scanned its
/// tile j - depth, and reads no word of a group before that tile's.
template <class T, unsigned Size>
struct ring_of_rounds {
  using words = decltype(tagged_state<T>::tile_aggregates);
  using reading = typename words::reading;
  static constexpr int check_every = 8, check_lag = 4;
  /// The most blocks for which the words from that group to tile i + depth fit into the ring.
  static constexpr unsigned blocks_at_most(int depth) {
    constexpr unsigned two_groups = 64;
    if (Size <= two_groups) return 0;
    return (Size - two_groups) / static_cast<unsigned>(2 * depth + check_every + check_lag + 2);
  }
  static constexpr int round_shift = 40; // 2^38 successive tags differ in the bits below it
  /// Check c uses counter c % counters. A block counts for check c + counters only after it has
  /// passed check c, so no counter counts for two checks at once.
  static constexpr unsigned counters = 4;
  static constexpr bool keeps_counts_apart(int depth) {
    return check_lag + depth < check_every * static_cast<int>(counters);
  }

  char *memory = nullptr;
  std::uint64_t tag = 0;
  ended_steps<> published; // (counters) blocks that have published the tile of the check

  static constexpr std::size_t bytes() { return words::bytes(Size).zeroed; }
  LOOKBACK_DEVICE words of_round(unsigned tile) const {
    const std::uint64_t round = std::uint64_t{tile / Size} << round_shift; // mutant: ring-round
    return words(memory, nullptr, mark_by_tag{tag ^ round});
  }
  LOOKBACK_DEVICE void publish(unsigned tile, const T &value) const {
    of_round(tile).publish(tile % Size, value);
  }
  LOOKBACK_DEVICE reading read(unsigned tile) const { return of_round(tile).read(tile % Size); }
  /// Called after publish(), by the same thread, for tile i of the block's sequence.
  LOOKBACK_DEVICE void count(int i) const {
    if (i % check_every == 0) published.add(check_of(i) % counters, 1);
  }
  /// Called before a warp looks ahead for tile i of the sequence of one of `blocks` blocks.
  LOOKBACK_DEVICE void check(int i, unsigned blocks) const {
    if (i % check_every != check_lag) return;
    const unsigned own = check_of(i), all = (own / counters + 1) * blocks;
    for (simt::spin_bound bound; published.read(own % counters) < all;
         bound.count("published tiles of check", own))
      simt::back_off();
  }

private:
  LOOKBACK_DEVICE static unsigned check_of(int i) { return static_cast<unsigned>(i / check_every); }
};
/// The tiles of a block's sequence in one extent, whose status words are in a ring: as
/// tiles_of_extent.
template <class T, unsigned Size>
class tiles_of_rounds {
  using words = ring_of_rounds<T, Size>;

public:
  static constexpr bool one_tree = true;
  LOOKBACK_DEVICE tiles_of_rounds(const words &all_words, const tile_sequence &sequence)
      : words_(all_words), sequence_(sequence) {}
  LOOKBACK_DEVICE int count() const { return sequence_.count(); }
  /// Tile i. Waits for other blocks (ring_of_rounds::check()).
  LOOKBACK_DEVICE ahead_tile<words> operator()(int i) const {
    words_.check(i, sequence_.step); // mutant: rounds-check
    return ahead_tile<words>::of(sequence_, i, 0, words_);
  }

private:
  const words &words_;
  const tile_sequence sequence_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
