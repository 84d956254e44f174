// SPDX-License-Identifier: MIT
// Status words in a ring, for a scan whose number of tiles the host does not know. Its units of
// work have dynamic ids, and each writes the status word of at most one tile.
//
// A ring has eight sections. A unit of section q starts when all units of sections q - 2 and q - 3
// have ended; by induction, all earlier ones have, too. When it ends, it clears a word of section
// q - 4, which the units of section q + 4 use again. No unit still reads that word: its readers are
// of sections q - 4 to q - 2. And no unit uses it again too early: those of section q + 4 start
// when all of section q have ended.
#pragma once

#include <lookback/carry/look_back_carry.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Status words i, i + 1, ... of a ring as entries 0, 1, ...
template <class T>
class ring_words {
public:
  LOOKBACK_DEVICE ring_words(const tile_status<T> &words, unsigned first, unsigned size)
      : words_(words), first_(first), mask_(size - 1) {}
  LOOKBACK_DEVICE void publish(std::size_t i, const T &value) const {
    words_.publish(place(i), value);
  }
  LOOKBACK_DEVICE auto read(std::size_t i) const { return words_.read(place(i)); }

private:
  LOOKBACK_DEVICE std::size_t place(std::size_t i) const {
    return (first_ + static_cast<unsigned>(i)) & mask_;
  }
  const tile_status<T> &words_;
  const unsigned first_, mask_;
};

/// The state of one segment, of which tile k has the words of unit first + k, and group g those of
/// the 32 units from first + 32 g on. (Two segments share no group: a group has words only if a
/// tile follows it.)
template <class T>
struct segment_state {
  ring_words<T> tile_aggregates, group_aggregates, group_prefixes;
};

/// The units of a ring, in sections of `Section` units.
template <unsigned Section>
struct ring_sections {
  static constexpr unsigned section_units = Section, sections = 8;

  unsigned *next_unit = nullptr; // zero before the first use
  ended_steps<> completed;       // (sections), units that have ended

  /// Reports that `units` units of a section have ended. Requires a barrier between their last
  /// accesses, by any thread of the block, and this call.
  LOOKBACK_DEVICE void end(unsigned section, std::uint32_t units) const {
    completed.add(section % sections, units);
  }
  /// Waits until all units of a section have ended.
  LOOKBACK_DEVICE void wait_for_end(unsigned section) const {
    const std::uint32_t all = (section / sections + 1) * Section;
    for (simt::spin_bound bound; completed.read(section % sections) < all;
         bound.count("units of section", section))
      simt::back_off();
  }
};

/// Sections of `Section` units. A tile reads words of up to 1024 + 62 tiles before it.
template <class T, unsigned Section>
struct ring_state : ring_sections<Section> {
  using ring_sections<Section>::sections;
  static constexpr unsigned words = sections * Section, group_tiles = 32,
                            groups = words / group_tiles;
  static_assert((words & (words - 1)) == 0 && Section % group_tiles == 0,
                "a ring has a power of two of words, and a section whole groups");

  tile_status<T> tile_aggregates;  // (words)
  tile_status<T> group_aggregates; // (groups)
  tile_status<T> group_prefixes;   // (groups)

  LOOKBACK_DEVICE segment_state<T> of_segment(unsigned first_unit) const {
    return {ring_words<T>(tile_aggregates, first_unit, words),
            ring_words<T>(group_aggregates, first_unit / group_tiles, groups),
            ring_words<T>(group_prefixes, first_unit / group_tiles, groups)};
  }

  /// Clears the words of the unit four sections after this one.
  LOOKBACK_DEVICE void clear_behind(unsigned unit) const {
    const unsigned next = unit + sections / 2 * Section;
    tile_aggregates.clear(next % words); // mutant: clear-tile
    if (unit % group_tiles == 0) {
      group_aggregates.clear(next / group_tiles % groups);
      group_prefixes.clear(next / group_tiles % groups);
    }
  }
};

/// What a block has drawn, and the units that it has not reported yet.
struct drawn_progress {
  bool started = false, has_drawn = false;
  unsigned unit = 0, drawn = 0, ended = 0;
};

/// The ids of a block's units, for one of its threads. `Progress`: drawn_progress, or a reference
/// to one, in shared memory if registers are scarce.
template <class State, class Progress = drawn_progress>
class drawn_units {
public:
  LOOKBACK_DEVICE explicit drawn_units(const State &state, Progress progress = {})
      : state_(state), at_(progress) {}

  /// Ends the previous unit of the block. Returns the next one when it may start, or, if none of
  /// the `all` units is left, a number that is not below `all`.
  LOOKBACK_DEVICE unsigned next(unsigned all) {
    draw();
    const unsigned unit = at_.drawn;
    at_.has_drawn = false;
    const bool begins = !at_.started || section_of(unit) != section_of(at_.unit);
    if (at_.started) {
      state_.clear_behind(at_.unit);
      ++at_.ended;
      // Nothing is left to report before the block waits, or ends.
      if (unit >= all || begins) {
        state_.end(section_of(at_.unit), at_.ended);
        at_.ended = 0;
      }
    }
    if (unit >= all) return unit;
    if (begins && section_of(unit) >= 2) state_.wait_for_end(section_of(unit) - 2);
    if (begins && section_of(unit) >= 3) state_.wait_for_end(section_of(unit) - 3);
    at_.started = true;
    at_.unit = unit;
    return unit;
  }
  /// Draws the id of the next unit early, which hides the latency of the atomic. This cannot
  /// deadlock: a block scans its units in the order of their ids, and no unit waits for a later
  /// one. But other blocks may wait longer for a unit that has been drawn and has not started.
  LOOKBACK_DEVICE void draw() {
    if (!at_.has_drawn) keep(ask());
  }
  /// draw() in two steps: the latency of the atomic passes between them.
  LOOKBACK_DEVICE unsigned ask() const { return simt::fetch_increment(state_.next_unit); }
  LOOKBACK_DEVICE void keep(unsigned drawn) {
    at_.drawn = drawn;
    at_.has_drawn = true;
  }

private:
  LOOKBACK_DEVICE static unsigned section_of(unsigned unit) { return unit / State::section_units; }
  const State &state_;
  Progress at_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
