// SPDX-License-Identifier: MIT
// Tile status: the values that blocks publish for each other. An entry is empty or holds a value;
// it is written once and read by many. All memory orders of the protocol are chosen in this file.
#pragma once

#include <lookback/core/monoid.cuh>

#include <cstdint>
#include <cstring>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The memory operations of a GPU (arch/device_memory.cuh): the default, and those of look-backs
/// and of some blocks that settle (exchanges_tagged). Only declared here, so that a host compiler
/// without CUDA does not need them.
struct device_memory;
struct exchanging_memory;

/// Bytes of an array of tile status entries: the part that must be zero before the first use, and
/// the part that need not be.
struct status_bytes {
  std::size_t zeroed, payload;
};

/// A status word: 8 bytes, or 16 bytes that are read and written as one.
template <bool IsPair, class Memory>
struct packed_word {
  using type = std::uint64_t;
};
template <class Memory>
struct packed_word<true, Memory> {
  using type = typename Memory::word_pair;
};

/// The mark of a published entry: a 1, in memory that has been cleared.
struct mark_in_cleared {
  static constexpr bool is_tag = false;
  LOOKBACK_HOST_DEVICE static constexpr std::uint64_t value() { return 1; }
};
/// The mark of a published entry: the tag of its launch (see roll_call), in memory of any content.
struct mark_by_tag {
  static constexpr bool is_tag = true;
  std::uint64_t tag = 0;
  LOOKBACK_HOST_DEVICE std::uint64_t value() const { return tag; }
};

/// The status words of an array's entries, `Words` each. The first words of 32 entries are
/// adjacent, followed by their second words, and so on: a warp that polls 32 entries requests every
/// sector once.
template <class Word, int Words, class Memory>
class entry_words {
  static constexpr int adjacent = 32;
  LOOKBACK_HOST_DEVICE_INLINE static std::size_t place(std::size_t i, int w) {
    return Words == 1 ? i : i / adjacent * (Words * adjacent) + w * adjacent + i % adjacent;
  }

public:
  static constexpr std::size_t bytes(std::size_t count) {
    const std::size_t padded = Words == 1 ? count : (count + adjacent - 1) / adjacent * adjacent;
    return padded * Words * sizeof(Word);
  }
  entry_words() = default;
  LOOKBACK_HOST_DEVICE explicit entry_words(void *memory) : words_(static_cast<Word *>(memory)) {}

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void store(std::size_t i, int w, const Word &word) const {
    Memory::store_relaxed(words_ + place(i, w), word);
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void clear(std::size_t i) const {
    LOOKBACK_UNROLL
    for (int w = 0; w < Words; ++w) store(i, w, Word{});
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void load(std::size_t i, Word (&seen)[Words]) const {
    LOOKBACK_UNROLL
    for (int w = 0; w < Words; ++w) seen[w] = Memory::load_relaxed(words_ + place(i, w));
  }

private:
  Word *words_ = nullptr;
};

/// Value and status in one status word, for trivially copyable values. Relaxed accesses are enough:
/// readers need no order between two locations because there is only one, or, for more than 8
/// bytes, each has its own status.
///
///   up to 4 bytes    8-byte word     low half: value      high half: the mark when published
///   up to 8 bytes    16-byte word    low half: value      high half: the mark when published
///   more             16-byte words, value bytes 0-7, 8-15 and so on, as above
///
/// A tag has 8 bytes, so values of up to 4 bytes take a 16-byte word with it, too. Bytes of a word
/// beyond the value are zero.
template <class T, class Memory, class Mark = mark_in_cleared>
class packed_status {
  static constexpr bool has_pairs = sizeof(T) > 4 || Mark::is_tag;
  using word = typename packed_word<has_pairs, Memory>::type;
  static constexpr int words = static_cast<int>(sizeof(T) + 7) / 8;
  using entries = entry_words<word, words, Memory>;

public:
  static constexpr status_bytes bytes(std::size_t count) { return {entries::bytes(count), 0}; }
  packed_status() = default;
  LOOKBACK_HOST_DEVICE packed_status(void *zeroed, void *, Mark mark = {})
      : entries_(zeroed), mark_(mark) {}

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void publish(std::size_t i, const T &value) const {
    std::uint64_t raw[words] = {};
    std::memcpy(raw, static_cast<const void *>(&value), sizeof(T));
    LOOKBACK_UNROLL
    for (int w = 0; w < words; ++w) {
      if constexpr (has_pairs)
        entries_.store(i, w, word{raw[w], mark_.value()});
      else
        entries_.store(i, w, raw[0] | mark_.value() << 32);
    }
  }

  /// Empties entry `i`.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void clear(std::size_t i) const { entries_.clear(i); }

  /// The result of one read of an entry.
  class reading {
  public:
    LOOKBACK_HOST_DEVICE_INLINE bool ready() const {
      if constexpr (!has_pairs)
        return seen_[0] >> 32 != 0;
      else if constexpr (words == 1)
        return seen_[0].high != 0;
      else {
        bool all = seen_[0].high != 0 && seen_[1].high != 0; // mutant: second-word
        LOOKBACK_UNROLL
        for (int w = 2; w < words; ++w) all = all && seen_[w].high != 0;
        return all;
      }
    }
    /// Requires ready().
    LOOKBACK_HOST_DEVICE_INLINE T value() const {
      std::uint64_t raw[words];
      LOOKBACK_UNROLL
      for (int w = 0; w < words; ++w) {
        if constexpr (has_pairs)
          raw[w] = seen_[w].low;
        else
          raw[w] = seen_[w];
      }
      uninitialized_array<T, 1> item;
      std::memcpy(static_cast<void *>(&item[0]), raw, sizeof(T));
      return item[0];
    }

  private:
    friend packed_status;
    word seen_[words] = {};
  };

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE reading read(std::size_t i) const {
    reading result;
    entries_.load(i, result.seen_);
    if constexpr (Mark::is_tag) {
      LOOKBACK_UNROLL
      for (int w = 0; w < words; ++w) result.seen_[w].high = marks(result.seen_[w].high);
    }
    return result;
  }

private:
  LOOKBACK_HOST_DEVICE_INLINE bool marks(std::uint64_t seen) const {
    return seen == mark_.value(); // mutant: tag
  }

  entries entries_;
  Mark mark_;
};

/// Values of more than 16 bytes in status words of 16 bytes: 12 bytes of the value each, and a mark
/// of 4. Relaxed accesses are enough, as for packed_status.
template <class T, class Memory>
class wide_status {
  using word = typename Memory::word_pair;
  static constexpr int word_bytes = 12, words = (sizeof(T) + word_bytes - 1) / word_bytes;
  using entries = entry_words<word, words, Memory>;
  static constexpr std::uint64_t mark = std::uint64_t{1} << 32;

public:
  static constexpr status_bytes bytes(std::size_t count) { return {entries::bytes(count), 0}; }
  wide_status() = default;
  LOOKBACK_HOST_DEVICE wide_status(void *zeroed, void *) : entries_(zeroed) {}

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void publish(std::size_t i, const T &value) const {
    std::uint32_t raw[3 * words] = {};
    std::memcpy(raw, static_cast<const void *>(&value), sizeof(T));
    LOOKBACK_UNROLL
    for (int w = 0; w < words; ++w)
      entries_.store(i, w,
                     {raw[3 * w] | std::uint64_t{raw[3 * w + 1]} << 32, raw[3 * w + 2] | mark});
  }
  /// Empties entry `i`.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void clear(std::size_t i) const { entries_.clear(i); }

  /// The result of one read of an entry.
  class reading {
  public:
    LOOKBACK_HOST_DEVICE_INLINE bool ready() const {
      bool all = true;
      LOOKBACK_UNROLL
      for (int w = 0; w < words; ++w) {
        all = all && seen_[w].high >> 32 != 0; // mutant: every-word
      }
      return all;
    }
    /// Requires ready().
    LOOKBACK_HOST_DEVICE_INLINE T value() const {
      std::uint32_t raw[3 * words];
      LOOKBACK_UNROLL
      for (int w = 0; w < words; ++w) {
        raw[3 * w] = static_cast<std::uint32_t>(seen_[w].low);
        raw[3 * w + 1] = static_cast<std::uint32_t>(seen_[w].low >> 32);
        raw[3 * w + 2] = static_cast<std::uint32_t>(seen_[w].high);
      }
      uninitialized_array<T, 1> item;
      std::memcpy(static_cast<void *>(&item[0]), raw, sizeof(T));
      return item[0];
    }

  private:
    friend wide_status;
    word seen_[words] = {};
  };
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE reading read(std::size_t i) const {
    reading result;
    entries_.load(i, result.seen_);
    return result;
  }

private:
  entries entries_;
};

/// A flag and a separate value, for all other types. The release of the flag makes the value
/// visible to every thread that acquires the flag. The value is an ordinary object, copied by its
/// own constructor.
template <class T, class Memory>
class flagged_status {
public:
  static constexpr status_bytes bytes(std::size_t count) {
    return {count * sizeof(std::uint32_t), count * sizeof(T)};
  }
  flagged_status() = default;
  LOOKBACK_HOST_DEVICE flagged_status(void *zeroed, void *payload)
      : flags_(static_cast<std::uint32_t *>(zeroed)), values_(static_cast<T *>(payload)) {}

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void publish(std::size_t i, const T &value) const {
    construct(values_[i], value);         // mutant: payload
    Memory::store_release(flags_ + i, 1); // mutant: flag-release
  }

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void clear(std::size_t i) const {
    Memory::store_release(flags_ + i, 0); // mutant: flag-clear
  }

  class reading {
  public:
    LOOKBACK_HOST_DEVICE_INLINE bool ready() const { return value_ != nullptr; }
    LOOKBACK_HOST_DEVICE_INLINE const T &value() const { return *value_; }

  private:
    friend flagged_status;
    const T *value_ = nullptr;
  };

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE reading read(std::size_t i) const {
    reading result;
    if (Memory::load_acquire(flags_ + i) != 0) result.value_ = values_ + i; // mutant: flag-acquire
    return result;
  }

private:
  std::uint32_t *flags_ = nullptr;
  T *values_ = nullptr;
};

/// One status word an entry, whose highest bit says whether it is published. Relaxed accesses are
/// enough, as for packed_status.
template <class Word, class Memory>
class single_words {
public:
  static constexpr status_bytes bytes(std::size_t count) { return {count * sizeof(Word), 0}; }
  single_words() = default;
  LOOKBACK_HOST_DEVICE single_words(void *zeroed, void *)
      : status_words_(static_cast<Word *>(zeroed)) {}
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void clear(std::size_t i) const {
    Memory::store_relaxed(status_words_ + i, Word{});
  }

protected:
  static constexpr std::uint64_t published = std::uint64_t{1} << 63;
  Word *status_words_ = nullptr;
};

/// Numbers of items: a status word of 8 bytes holds one.
template <class Memory>
class count_status : public single_words<std::uint64_t, Memory> {
  using base = single_words<std::uint64_t, Memory>;
  using base::published, base::status_words_;

public:
  using base::base;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void publish(std::size_t i, const tally &value) const {
    Memory::store_relaxed(status_words_ + i, value.items | published);
  }

  class reading {
  public:
    LOOKBACK_HOST_DEVICE_INLINE bool ready() const { return (seen_ & published) != 0; }
    LOOKBACK_HOST_DEVICE_INLINE tally value() const { return {seen_ & ~published}; }

  private:
    friend count_status;
    std::uint64_t seen_ = 0;
  };
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE reading read(std::size_t i) const {
    reading result;
    result.seen_ = Memory::load_relaxed(status_words_ + i);
    return result;
  }
};

/// Runs, and the reduction of the values of the last one, of up to 8 bytes: a status word of 16
/// bytes. Its low half is the value, and its high half the number of runs.
template <class T, class Memory>
class runs_status : public single_words<typename Memory::word_pair, Memory> {
  using word = typename Memory::word_pair;
  using base = single_words<word, Memory>;
  using base::published, base::status_words_;

public:
  using base::base;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void publish(std::size_t i, const run_prefix<T> &prefix) const {
    std::uint64_t raw = 0;
    std::memcpy(&raw, static_cast<const void *>(&prefix.value), sizeof(T));
    Memory::store_relaxed(status_words_ + i, word{raw, prefix.runs | published});
  }

  class reading {
  public:
    LOOKBACK_HOST_DEVICE_INLINE bool ready() const { return (seen_.high & published) != 0; }
    LOOKBACK_HOST_DEVICE_INLINE run_prefix<T> value() const {
      uninitialized_array<T, 1> value;
      std::memcpy(static_cast<void *>(&value[0]), &seen_.low, sizeof(T));
      return {value[0], seen_.high & ~published};
    }

  private:
    friend runs_status;
    word seen_ = {};
  };
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE reading read(std::size_t i) const {
    reading result;
    result.seen_ = Memory::load_relaxed(status_words_ + i);
    return result;
  }
};

/// The tile status for T: packed if the system has words of that width.
template <class T, class Memory>
struct status_for {
  using type = std::conditional_t<std::is_trivially_copyable<T>::value &&
                                      sizeof(T) <= (Memory::has_word_pairs ? 16 : 4),
                                  packed_status<T, Memory>, flagged_status<T, Memory>>;
};
template <class Memory>
struct status_for<tally, Memory> {
  using type = count_status<Memory>;
};
template <class T, class Memory>
struct status_for<run_prefix<T>, Memory> {
  using type = std::conditional_t<std::is_trivially_copyable<T>::value && sizeof(T) <= 8 &&
                                      Memory::has_word_pairs,
                                  runs_status<T, Memory>, flagged_status<run_prefix<T>, Memory>>;
};
template <class T, class Memory = device_memory>
using tile_status = typename status_for<T, Memory>::type;

/// The state that all blocks of one scan share. In the paper of decoupled look-back, a tile's
/// descriptor holds its aggregate and later its prefix. Here each has an array of its own, and only
/// groups of tiles have prefixes, since the tree (core/tree.cuh) folds groups from left to right:
/// at whichever prefix a look-back ends, the bits are the same.
///
///   tile_aggregates     published as soon as they are known
///   group_aggregates    published by the tile that has read the aggregates of the group's tiles
///   group_prefixes      entry g is G(g + 1), the prefix of group g + 1
template <class T, class Memory = device_memory>
struct scan_state {
  unsigned *next_tile_id = nullptr; // zero before the first use
  tile_status<T, Memory> tile_aggregates;
  tile_status<T, Memory> group_aggregates;
  tile_status<T, Memory> group_prefixes;
};

/// The same for wide values in the look-back, most of whose tiles wait at any time. Neither a fence
/// nor a second round trip delays status words. (Blocks of a wave poll once or twice, and read a
/// flag and a value sooner.)
template <class T, class Memory = device_memory>
struct wide_scan_state {
  unsigned *next_tile_id = nullptr; // zero before the first use
  wide_status<T, Memory> tile_aggregates;
  wide_status<T, Memory> group_aggregates;
  wide_status<T, Memory> group_prefixes;
};
/// The state of the look-back.
template <class T, class Memory = exchanging_memory>
using look_back_state =
    std::conditional_t<std::is_trivially_copyable<T>::value && (sizeof(T) > 16) &&
                           sizeof(T) <= 48 && Memory::has_word_pairs,
                       wide_scan_state<T, Memory>, scan_state<T, Memory>>;
/// The aggregate of one tile in few bytes, since more of them cost registers: a tile has fewer than
/// 2^32 runs.
template <class T>
struct runs_of_tile {
  T value;
  std::uint32_t runs;
  LOOKBACK_HOST_DEVICE runs_of_tile(const run_prefix<T> &aggregate)
      : value(aggregate.value), runs(static_cast<std::uint32_t>(aggregate.runs)) {}
  LOOKBACK_HOST_DEVICE operator run_prefix<T>() const { return {value, runs}; }
};
template <class T>
struct aggregate_of_tile {
  using type = T;
};
template <class T>
struct aggregate_of_tile<run_prefix<T>> {
  using type = std::conditional_t<sizeof(T) <= 4, runs_of_tile<T>, run_prefix<T>>;
};

/// Whether blocks that settle publish by exchanges: wide values, and numbers of items. (H200, us,
/// by stores and by exchanges: 2^28 i8 selected by flags 215, 205; 2^24 i32, all selected, 40, 37.
/// Not runs: lengths of 2^28 298, 328. Other values: arch/device_memory.cuh.)
template <class T>
inline constexpr bool exchanges_tagged = (sizeof(T) > 16);
template <>
inline constexpr bool exchanges_tagged<tally> = true;
template <class T>
inline constexpr bool exchanges_tagged<run_prefix<T>> = false;

/// The same for blocks that settle which of them take part (carry/participants.cuh). They compute
/// prefixes from aggregates alone: of tiles, and of groups as well if a value is wide. A tag marks
/// those of this launch, so that no kernel has to clear the words before.
template <class T,
          class Memory = std::conditional_t<exchanges_tagged<T>, exchanging_memory, device_memory>,
          bool IsWide = (sizeof(T) > 16)>
struct tagged_state {
  packed_status<typename aggregate_of_tile<T>::type, Memory, mark_by_tag> tile_aggregates;
};
template <class T, class Memory>
struct tagged_state<T, Memory, true> {
  packed_status<T, Memory, mark_by_tag> tile_aggregates;
  packed_status<T, Memory, mark_by_tag> group_aggregates;
};

/// Counters of ended steps, which all blocks add to. A thread that reads a count sees all writes
/// that precede the additions it contains.
template <class Memory = device_memory>
class ended_steps {
public:
  ended_steps() = default;
  LOOKBACK_HOST_DEVICE explicit ended_steps(std::uint32_t *counts) : counts_(counts) {}
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void add(std::size_t i, std::uint32_t steps) const {
    Memory::add_release(counts_ + i, steps);
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE std::uint32_t read(std::size_t i) const {
    return Memory::load_acquire(counts_ + i);
  }

private:
  std::uint32_t *counts_ = nullptr; // zero before the first use
};

/// The answer of a block to the roll call of its launch. The first two are open: one more follows.
enum class presence : unsigned {
  unknown,  // it has not answered; the meaning of every word of another launch
  started,  // it reads what results will overwrite
  present,  // it takes part
  excluded, // it had not started in time, and takes no part
};

/// The answers of the blocks of one launch, a word each: the launch's tag plus a presence. The
/// words need not be cleared before, since no other launch has the tag. Only a block that is
/// `unknown` can be excluded, and the answers `present` and `excluded` are final: all blocks that
/// read one of them agree whether the block takes part.
template <class Memory = device_memory>
class roll_call {
public:
  static constexpr unsigned tag_step = 4; // tags are multiples of this, and not zero

  roll_call() = default;
  LOOKBACK_HOST_DEVICE roll_call(std::uint64_t *answers, std::uint64_t tag)
      : answers_(answers), tag_(tag) {}

  /// The first answer of a block: started, or present at once. Returns false if the block has been
  /// excluded: that word is greater than the answer, so the maximum keeps it. Nearly all old
  /// content is less than any answer (see launch_tag()), and the maximum replaces it in one step.
  /// The loop replaces the rest.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE bool answer(unsigned block, presence first) const {
    return end_answer(block, first, begin_answer(block, first));
  }
  /// The same in two steps, for a block that does something else until the old content is there.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE std::uint64_t begin_answer(unsigned block, presence first) const {
    return Memory::max_relaxed(answers_ + block, word(first));
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE bool end_answer(unsigned block, presence first,
                                              std::uint64_t before) const {
    while (before > word(presence::excluded)) { // mutant: answer-kept
      const std::uint64_t expected = before;
      before = Memory::compare_exchange_relaxed(answers_ + block, expected, word(first));
      if (before == expected) return true;
    }
    return before != word(presence::excluded);
  }
  /// The second answer of a block that has started. A block that reads it may overwrite what this
  /// block has read before.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void answer_present(unsigned block) const {
    Memory::store_release(answers_ + block, word(presence::present)); // mutant: present-release
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE presence read(unsigned block) const {
    return meaning(Memory::load_acquire(answers_ + block)); // mutant: presence-acquire
  }
  /// Excludes a block that has not answered, unless it just has.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void exclude(unsigned block) const {
    const std::uint64_t before = Memory::load_relaxed(answers_ + block);
    if (meaning(before) == presence::unknown) // mutant: exclude-unknown
      Memory::compare_exchange_relaxed(answers_ + block, before, word(presence::excluded));
  }

private:
  LOOKBACK_HOST_DEVICE_INLINE std::uint64_t word(presence what) const {
    return tag_ + static_cast<unsigned>(what);
  }
  LOOKBACK_HOST_DEVICE_INLINE presence meaning(std::uint64_t word) const {
    const std::uint64_t what = word - tag_;
    return what <= static_cast<unsigned>(presence::excluded) ? static_cast<presence>(what)
                                                             : presence::unknown;
  }

  std::uint64_t *answers_ = nullptr;
  std::uint64_t tag_ = 0;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
