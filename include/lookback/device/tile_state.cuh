// SPDX-License-Identifier: MIT
// What blocks tell each other: cells that are written once and read by many, "nothing yet" or a value. The only file that
// chooses a memory order of the protocol.
#pragma once

#include <lookback/core/monoid.cuh>

#include <cstdint>
#include <cstring>

namespace lookback::detail {

/// The memory of a GPU, device/device_memory.cuh: the default, named here so that a host that has none can do without.
struct device_memory;

/// Bytes that an array of `count` cells needs: the part that must be zero before the first use, and the part that need not.
struct cell_bytes {
  std::size_t zeroed, payload;
};

/// One word, or two that are read and written as one.
template <std::size_t Bytes, class Memory, bool = (Bytes <= 4)>
struct packed_word {
  using type = std::uint64_t;
};
template <std::size_t Bytes, class Memory>
struct packed_word<Bytes, Memory, false> {
  using type = typename Memory::word_pair;
};

/// Value and status in one word, for values of up to 16 bytes that are nothing but bytes. Readers need no order between
/// two locations because there is only one (two for 9 to 16 bytes, each with its own status), so relaxed is enough.
///
///   up to 4 bytes    8-byte word     low half: value      high half: 1 when it is there
///   up to 8 bytes    16-byte word    low half: value      high half: 1 when it is there
///   up to 16 bytes   two 16-byte words, value bytes 0-7 and 8-15, as above
///
/// Bytes of a word beyond the value are zero: padding never reaches memory.
template <class T, class Memory>
class packed_cells {
  using word = typename packed_word<sizeof(T), Memory>::type;
  static constexpr int words = sizeof(T) <= 8 ? 1 : 2;
  static constexpr int side_by_side = 32;
  /// Where word w of cell i is. The first words of 32 cells stand side by side, then their second words: the lanes of a warp
  /// that poll 32 cells ask for every sector once.
  LOOKBACK_HOST_DEVICE_INLINE static std::size_t place(std::size_t i, int w) {
    return words == 1 ? i : i / side_by_side * (words * side_by_side) + w * side_by_side + i % side_by_side;
  }

public:
  static constexpr cell_bytes bytes(std::size_t count) {
    const std::size_t whole = words == 1 ? count : (count + side_by_side - 1) / side_by_side * side_by_side;
    return {whole * words * sizeof(word), 0};
  }
  packed_cells() = default;
  LOOKBACK_HOST_DEVICE packed_cells(void *zeroed, void *) : cells_(static_cast<word *>(zeroed)) {}

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void publish(std::size_t i, const T &value) const {
    std::uint64_t raw[words] = {};
    std::memcpy(raw, static_cast<const void *>(&value), sizeof(T));
    LOOKBACK_UNROLL
    for (int w = 0; w < words; ++w) {
      if constexpr (sizeof(T) <= 4)
        Memory::store_relaxed(cells_ + i, raw[0] | std::uint64_t{1} << 32);
      else
        Memory::store_relaxed(cells_ + place(i, w), word{raw[w], 1});
    }
  }

  /// Makes cell `i` one that says "nothing yet".
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void clear(std::size_t i) const {
    LOOKBACK_UNROLL
    for (int w = 0; w < words; ++w) Memory::store_relaxed(cells_ + place(i, w), word{});
  }

  /// What one look at a cell saw.
  class reading {
  public:
    LOOKBACK_HOST_DEVICE_INLINE bool ready() const {
      if constexpr (sizeof(T) <= 4)
        return seen_[0] >> 32 != 0;
      else if constexpr (words == 1)
        return seen_[0].high != 0;
      else
        return seen_[0].high != 0 && seen_[1].high != 0;
    }
    /// Requires ready().
    LOOKBACK_HOST_DEVICE_INLINE T value() const {
      std::uint64_t raw[words];
      LOOKBACK_UNROLL
      for (int w = 0; w < words; ++w) {
        if constexpr (sizeof(T) <= 4)
          raw[w] = seen_[w];
        else
          raw[w] = seen_[w].low;
      }
      uninitialized_array<T, 1> item;
      std::memcpy(static_cast<void *>(&item[0]), raw, sizeof(T));
      return item[0];
    }

  private:
    friend packed_cells;
    word seen_[words] = {};
  };

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE reading read(std::size_t i) const {
    reading result;
    LOOKBACK_UNROLL
    for (int w = 0; w < words; ++w) result.seen_[w] = Memory::load_relaxed(cells_ + place(i, w));
    return result;
  }

private:
  word *cells_ = nullptr;
};

/// A flag beside the value, for everything else. The release of the flag makes the value visible to whoever acquires it;
/// the value itself is then an ordinary object, copied by its own constructor.
template <class T, class Memory>
class flagged_cells {
public:
  static constexpr cell_bytes bytes(std::size_t count) { return {count * sizeof(std::uint32_t), count * sizeof(T)}; }
  flagged_cells() = default;
  LOOKBACK_HOST_DEVICE flagged_cells(void *zeroed, void *payload)
      : flags_(static_cast<std::uint32_t *>(zeroed)), values_(static_cast<T *>(payload)) {}

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void publish(std::size_t i, const T &value) const {
    construct(values_[i], value);
    Memory::store_release(flags_ + i, 1);
  }

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE void clear(std::size_t i) const { Memory::store_release(flags_ + i, 0); }

  class reading {
  public:
    LOOKBACK_HOST_DEVICE_INLINE bool ready() const { return value_ != nullptr; }
    LOOKBACK_HOST_DEVICE_INLINE const T &value() const { return *value_; }

  private:
    friend flagged_cells;
    const T *value_ = nullptr;
  };

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE_INLINE reading read(std::size_t i) const {
    reading result;
    if (Memory::load_acquire(flags_ + i) != 0) result.value_ = values_ + i;
    return result;
  }

private:
  std::uint32_t *flags_ = nullptr;
  T *values_ = nullptr;
};

/// The cells for T: packed where the system has words that wide.
template <class T, class Memory = device_memory>
using cells = std::conditional_t<std::is_trivially_copyable<T>::value && sizeof(T) <= (Memory::has_word_pairs ? 16 : 4),
                                 packed_cells<T, Memory>, flagged_cells<T, Memory>>;

/// Everything that the blocks of one scan share. A tile's total is published as soon as it is known; group g's total by
/// the tile that sees all of its tiles; and entry g of the prefixes is G(g + 1), everything up to the end of group g.
template <class T, class Memory = device_memory>
struct tile_state {
  unsigned *next_tile = nullptr; // zero before the first use
  cells<T, Memory> tile_totals;
  cells<T, Memory> group_totals;
  cells<T, Memory> group_prefixes;
};

} // namespace lookback::detail
