// SPDX-License-Identifier: MIT
// Named moves of a row (32 vectors of E elements) between memory, shared memory and the registers
// of a warp.
//
//   blocked   lane l has elements l * E + k          what the tree wants
//   striped   lane l has elements k * 32 + l         what memory wants where a lane cannot access a
//                                                    vector
//
// A row waits in shared memory, in order, and only its own warp touches it: written either way, it
// can be read either way.
#pragma once

#include <lookback/arch/simt.cuh>
#include <lookback/core/reversed.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// E elements of one lane. Narrow elements stay packed in words: sixteen bytes cost four registers,
/// not sixteen.
template <class T, int E,
          bool Packed = std::is_trivially_copyable<T>::value &&
                        (sizeof(T) * E <= 16 && (sizeof(T) * E & (sizeof(T) * E - 1)) == 0)>
class lane_vector {
public:
  static constexpr bool packed = false;
  LOOKBACK_DEVICE const T &get(int k) const { return items_[k]; }
  template <class Value>
  LOOKBACK_DEVICE void set(int k, Value &&value) {
    construct(items_[k], static_cast<Value &&>(value));
  }

private:
  uninitialized_array<T, E> items_; // (elements)
};

template <class T, int E>
class lane_vector<T, E, true> {
public:
  static constexpr bool packed = true;
  static constexpr int bytes = static_cast<int>(sizeof(T)) * E;
  simt::vector_words<bytes> words;

  LOOKBACK_DEVICE T get(int k) const {
    uninitialized_array<T, 1> item;
    std::memcpy(static_cast<void *>(&item[0]),
                reinterpret_cast<const unsigned char *>(words.words) + k * sizeof(T), sizeof(T));
    return item[0];
  }
  LOOKBACK_DEVICE void set(int k, const T &value) {
    std::memcpy(reinterpret_cast<unsigned char *>(words.words) + k * sizeof(T),
                static_cast<const void *>(&value), sizeof(T));
  }
};

/// The vector with its elements in reverse order.
template <class T, int E>
LOOKBACK_DEVICE lane_vector<T, E> mirrored(const lane_vector<T, E> &vector) {
  lane_vector<T, E> result;
  if constexpr (lane_vector<T, E>::packed && sizeof(T) < 4 && sizeof(T) * E >= 4) {
    constexpr int count = decltype(vector.words)::count;
    LOOKBACK_UNROLL
    for (int w = 0; w < count; ++w) {
      const std::uint32_t word = vector.words.words[count - 1 - w];
      result.words.words[w] =
          sizeof(T) == 1 ? simt::reverse_bytes(word) : simt::shift_right(word, word, 16);
    }
  } else {
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) result.set(k, vector.get(E - 1 - k));
  }
  return result;
}

/// Whether rows behind an Iterator can be moved with vector accesses: one a lane, or, if vectors of
/// elements T are not vectors of memory, in units of 16 bytes that have passed through shared
/// memory.
template <class T, class Iterator>
inline constexpr bool can_move_as_vectors =
    is_memory<Iterator> &&std::is_trivially_copyable<T>::value;
/// Whether the rows of `iterator` can be moved that way: it is also aligned for it. (All rows are
/// multiples of 16 bytes.)
template <class T, int E, class Iterator>
LOOKBACK_HOST_DEVICE bool moves_as_vectors(const Iterator &iterator) {
  if constexpr (can_move_as_vectors<T, Iterator>) {
    constexpr std::uintptr_t unit = lane_vector<T, E>::packed ? E * sizeof(T) : 16;
    return reinterpret_cast<std::uintptr_t>(address_of(iterator)) % unit == 0;
  } else {
    return false;
  }
}

/// Bytes of a vector access to an element T of a row that is aligned to 16 bytes: they divide the
/// size of T, and so the address of every element.
template <class T>
inline constexpr int unit_bytes = static_cast<int>(storage_alignment<T> > alignof(T)
                                                       ? storage_alignment<T>
                                                       : alignof(T));
/// The units of an element in the order in which a lane reads or writes them: from unit turn() on.
/// Eight lanes access shared memory at once, 16 bytes each. Elements of 32, 64 or 128 bytes begin
/// in few of its banks, so lanes with the same ones begin with different units.
template <int Unit, class T>
struct unit_order {
  static constexpr int count = static_cast<int>(sizeof(T)) / Unit, at_once = 8;
  static constexpr bool turns = Unit == 16 && (count == 2 || count == 4 || count == 8);
  using unit = simt::vector_words<Unit>;

  LOOKBACK_DEVICE static int turn() {
    return turns ? simt::lane_index() / (at_once / count) % count : 0;
  }
  /// Offset of the unit that comes at step k.
  LOOKBACK_DEVICE static int place(int turn, int k) { return (k + turn) % count * Unit; }
  /// Moves every unit `turn` places on, or back.
  template <bool On>
  LOOKBACK_DEVICE static void move(int turn, unit (&units)[count]) {
    LOOKBACK_UNROLL
    for (int by = 1; turns && by < count; by *= 2) {
      const bool moves = (turn & by) != 0;
      unit before[count];
      LOOKBACK_UNROLL
      for (int k = 0; k < count; ++k) before[k] = units[k];
      LOOKBACK_UNROLL
      for (int k = 0; k < count; ++k) {
        const unit &other = before[(k + (On ? count - by : by)) % count];
        LOOKBACK_UNROLL
        for (int w = 0; w < Unit / 4; ++w)
          units[k].words[w] = moves ? other.words[w] : before[k].words[w]; // mutant: unit-moves
      }
    }
  }
};
/// Reads an element from shared memory in units of `Unit` bytes, to which `place` is aligned.
template <int Unit, class T>
LOOKBACK_DEVICE T load_element(const unsigned char *place) {
  uninitialized_array<T, 1> element;
  if constexpr (unit_order<Unit, T>::turns) {
    using order = unit_order<Unit, T>;
    const int turn = order::turn();
    typename order::unit units[order::count];
    LOOKBACK_UNROLL
    for (int k = 0; k < order::count; ++k)
      units[k] = simt::load_vector<Unit>(place + order::place(turn, k));
    order::template move<true>(turn, units);
    std::memcpy(static_cast<void *>(&element[0]), units, sizeof(T));
  } else {
    LOOKBACK_UNROLL
    for (int at = 0; at < static_cast<int>(sizeof(T)); at += Unit) {
      const auto words = simt::load_vector<Unit>(place + at);
      std::memcpy(reinterpret_cast<unsigned char *>(&element[0]) + at, &words, Unit);
    }
  }
  return element[0];
}
/// Writes one in the same way.
template <int Unit, class T>
LOOKBACK_DEVICE void store_element(unsigned char *place, const T &element) {
  if constexpr (unit_order<Unit, T>::turns) {
    using order = unit_order<Unit, T>;
    const int turn = order::turn();
    typename order::unit units[order::count];
    std::memcpy(units, static_cast<const void *>(&element), sizeof(T));
    order::template move<false>(turn, units);
    LOOKBACK_UNROLL
    for (int k = 0; k < order::count; ++k)
      simt::store_shared<Unit>(place + order::place(turn, k), units[k]);
  } else {
    LOOKBACK_UNROLL
    for (int at = 0; at < static_cast<int>(sizeof(T)); at += Unit) {
      simt::vector_words<Unit> words;
      std::memcpy(&words, reinterpret_cast<const unsigned char *>(&element) + at, Unit);
      simt::store_shared<Unit>(place + at, words);
    }
  }
}

/// An element is what stands in memory, or made of it once it has come.
template <class Iterator, class = void>
struct element_source {
  using fetched = value_t<Iterator>;
  LOOKBACK_DEVICE static fetched fetch(const Iterator &input, int i) {
    return static_cast<fetched>(input[i]);
  }
  LOOKBACK_DEVICE static const fetched &finish(const Iterator &, const fetched &memory, int) {
    return memory;
  }
};
template <class Iterator>
struct element_source<Iterator, std::void_t<typename Iterator::fetched>> {
  using fetched = typename Iterator::fetched;
  LOOKBACK_DEVICE static fetched fetch(const Iterator &input, int i) { return input.fetch(i); }
  LOOKBACK_DEVICE static auto finish(const Iterator &input, const fetched &memory, int i) {
    return input.finish(memory, i);
  }
};

/// Loads of a lane that fetch_rows() has on their way at once, where many blocks share a
/// multiprocessor.
template <class Iterator>
inline constexpr int fetched_at_once = sizeof(typename element_source<Iterator>::fetched) <= 8 ? 16
                                                                                               : 8;

/// Moves rows of a tile at `input` to shared memory, each to its place, in batches of whole rows of
/// about `AtOnce` elements a lane. `elements(i)` is how many elements of row i exist; the others
/// are not touched.
template <int E, int Rows, int AtOnce, class T, class Iterator, class Elements>
LOOKBACK_DEVICE void fetch_rows(const Iterator &input, Elements elements, T *shared) {
  constexpr int row_elements = simt::warp_threads * E;
  const int lane = simt::lane_index();
  // Every load of a batch is on its way before the first is waited for.
  using source = element_source<Iterator>;
  constexpr int batch = Rows * E <= AtOnce ? Rows : E < AtOnce ? AtOnce / E : 1;
  static_assert(Rows % batch == 0, "the number of rows must be a multiple of the batch");
  for (int first = 0; first < Rows; first += batch) {
    uninitialized_array<typename source::fetched, batch * E> loaded;
    LOOKBACK_UNROLL
    for (int j = 0; j < batch * E; ++j) {
      const int i = first + j / E, place = j % E * simt::warp_threads + lane;
      if (place < elements(i)) construct(loaded[j], source::fetch(input, i * row_elements + place));
    }
    LOOKBACK_UNROLL
    for (int j = 0; j < batch * E; ++j) {
      const int i = first + j / E, place = j % E * simt::warp_threads + lane;
      if (place < elements(i))
        construct(shared[i * row_elements + place],
                  source::finish(input, loaded[j], i * row_elements + place));
    }
  }
}

/// Lane's vector of a row that waits in shared memory; elements from `count` on are not touched.
template <int E, class T>
LOOKBACK_DEVICE void read_vector(const T *row, int count, lane_vector<T, E> &vector) {
  const T *const mine = row + simt::lane_index() * E;
  if constexpr (lane_vector<T, E>::packed) {
    // The place of a whole vector is there, if not all of its elements.
    vector.words = simt::load_vector<lane_vector<T, E>::bytes>(mine);
  } else {
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k)
      if (k < count) vector.set(k, mine[k]);
  }
}

/// The vector that begins `skip` bytes behind the first of two side by side; `skip` is a multiple
/// of `Alignment`.
template <int Alignment, int Bytes>
LOOKBACK_DEVICE simt::vector_words<Bytes> shifted(const simt::vector_words<Bytes> &low,
                                                  const simt::vector_words<Bytes> &high, int skip) {
  constexpr int count = Bytes / 4;
  std::uint32_t words[2 * count];
  LOOKBACK_UNROLL
  for (int w = 0; w < 2 * count; ++w) words[w] = w < count ? low.words[w] : high.words[w - count];
  LOOKBACK_UNROLL
  for (int distance = count / 2; distance > 0 && 4 * distance >= Alignment; distance /= 2) {
    const bool moves = (skip / 4 & distance) != 0;
    LOOKBACK_UNROLL
    for (int w = 0; w + distance < 2 * count; ++w)
      words[w] = moves ? words[w + distance] : words[w];
  }
  simt::vector_words<Bytes> result;
  LOOKBACK_UNROLL
  for (int w = 0; w < count; ++w)
    result.words[w] =
        Alignment >= 4 ? words[w] : simt::shift_right(words[w], words[w + 1], skip % 4 * 8);
  return result;
}

/// Writes a whole row, a vector of `Bytes` bytes a lane, to `row`, which is aligned to `Alignment`
/// bytes but not to Bytes: as aligned vectors, each combined from two lanes. The row begins and
/// ends with part of a vector. The first lane has both: the last bytes of the row, then the first.
/// They are written as words, by this lane, or byte by byte. `FromEnd`: the last lane has the first
/// vector.
template <int Alignment, bool FromEnd, int Bytes>
LOOKBACK_DEVICE void store_shifted(unsigned char *row, const simt::vector_words<Bytes> &own) {
  constexpr int first_lane = FromEnd ? simt::warp_threads - 1 : 0;
  const int skip = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) % Bytes),
            lane = FromEnd ? first_lane - simt::lane_index() : simt::lane_index();
  const auto mine = shifted<Alignment>(FromEnd ? simt::rotate_down(own) : simt::rotate_up(own), own,
                                       Bytes - skip);
  const auto aligned =
      reinterpret_cast<unsigned char *>(reinterpret_cast<std::uintptr_t>(row) / Bytes * Bytes);
  if (lane > 0) simt::store_vector<Bytes>(aligned + Bytes * lane, mine);
  if constexpr (Alignment >= 4) {
    const auto first = reinterpret_cast<std::uint32_t *>(aligned),
               last = first + Bytes * simt::warp_threads / 4;
    if (lane == 0) {
      LOOKBACK_UNROLL
      for (int w = 0; w < Bytes / 4; ++w) {
        // `skip` is at least Alignment and at most Bytes - Alignment. Two stores, one of which a
        // lane executes, are fewer instructions than one to an address that is selected.
        const bool ends = 4 * w < Alignment, begins = 4 * w >= Bytes - Alignment;
        if (ends || (!begins && 4 * w < skip)) {
          simt::keep_branch();
          last[w] = mine.words[w];
        } else {
          simt::keep_branch();
          first[w] = mine.words[w];
        }
      }
    }
  } else {
    std::uint32_t word = 0; // of the first lane's vector, the one with byte `lane`
    LOOKBACK_UNROLL
    for (int w = 0; w < Bytes / 4; ++w) {
      const auto words = simt::broadcast(mine.words[w], first_lane);
      if (lane / 4 == w) word = words;
    }
    if (lane < Bytes)
      aligned[lane < skip ? Bytes * simt::warp_threads + lane : lane] =
          static_cast<unsigned char>(word >> lane % 4 * 8);
  }
}

/// Writes a full row whose vectors are not vectors of memory to `row`, which is aligned to 16
/// bytes: the lanes put their elements at `shared`, and take units of 16 bytes from there.
template <class T, int E>
LOOKBACK_DEVICE void store_in_units(unsigned char *row, unsigned char *shared,
                                    const lane_vector<T, E> &vector) {
  constexpr int unit = 16, row_bytes = simt::warp_threads * E * static_cast<int>(sizeof(T));
  simt::synchronize_warp(); // every lane has read its vector // mutant: units-reuse
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k)
    store_element<unit_bytes<T>>(shared + (simt::lane_index() * E + k) * sizeof(T), vector.get(k));
  simt::synchronize_warp(); // mutant: units-results
  LOOKBACK_UNROLL
  for (int first = 0; first < row_bytes; first += simt::warp_threads * unit) {
    const int at = first + simt::lane_index() * unit;
    if (at < row_bytes) simt::store_vector<unit>(row + at, simt::load_vector<unit>(shared + at));
  }
}

/// Writes a full row, whose first element is the last one in memory, as vectors. Returns false, and
/// writes nothing, if its vectors can be neither stored as they are nor shifted.
template <bool Shifts, class T, int E>
LOOKBACK_DEVICE bool store_row_from_end(const reversed<T *> &row, bool as_vectors,
                                        const lane_vector<T, E> &vector) {
  constexpr int bytes = lane_vector<T, E>::bytes, last_lane = simt::warp_threads - 1;
  T *const memory = row.base() - simt::warp_threads * E;
  if (as_vectors) {
    simt::store_vector<bytes>(memory + (last_lane - simt::lane_index()) * E, // mutant: from-end
                              mirrored(vector).words);
    return true;
  }
  if constexpr (bytes >= 4 && E > 1 && sizeof(T) <= (Shifts ? 4 : 2)) {
    store_shifted<alignof(T), true>(reinterpret_cast<unsigned char *>(memory),
                                    mirrored(vector).words);
    return true;
  }
  return false;
}

/// Writes a blocked row; elements from `valid` on are not written. Where vectors may not go,
/// because they are not aligned there, those of 1- and 2-byte elements are shifted, with `Shifts`
/// those of 4-byte elements, too (3 % slower than aligned against 10 %: H200, 2^28 i32); wider
/// elements, and vectors of less than 4 bytes, go one by one. What is no vector goes `Through`
/// `shared`, the row's place in shared memory and no longer needed.
template <int E, bool Through, bool Shifts, class T, class Iterator>
LOOKBACK_DEVICE void store_row(Iterator row, int valid, bool as_vectors, void *shared,
                               const lane_vector<T, E> &vector) {
  const int lane = simt::lane_index();
  if constexpr (counts_from_end<Iterator> && lane_vector<T, E>::packed)
    if (valid == simt::warp_threads * E && store_row_from_end<Shifts>(row, as_vectors, vector))
      return;
  constexpr bool packed = std::is_pointer<Iterator>::value && lane_vector<T, E>::packed;
  if constexpr (packed) {
    constexpr int bytes = lane_vector<T, E>::bytes;
    // The first comparison is true at compile time for a full row.
    if (as_vectors && (valid == simt::warp_threads * E || (lane + 1) * E <= valid)) {
      simt::store_vector<bytes>(row + lane * E, vector.words);
      return;
    }
    if constexpr (bytes >= 4 && E > 1 && sizeof(T) <= (Shifts ? 4 : 2)) {
      if (!as_vectors && valid == simt::warp_threads * E) {
        store_shifted<alignof(T), false>(reinterpret_cast<unsigned char *>(row), vector.words);
        return;
      }
    }
  }
  if constexpr (Through && !packed && std::is_pointer<Iterator>::value &&
                std::is_trivially_copyable<T>::value) {
    if (as_vectors && valid == simt::warp_threads * E) {
      store_in_units(reinterpret_cast<unsigned char *>(row), static_cast<unsigned char *>(shared),
                     vector);
      return;
    }
  }
  if constexpr (E == 1 || packed || !Through) {
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k)
      if (lane * E + k < valid) row[lane * E + k] = vector.get(k);
  } else {
    T *const results = static_cast<T *>(shared);
    simt::synchronize_warp(); // every lane has read its vector // mutant: row-reuse
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k)
      if (lane * E + k < valid) construct(results[lane * E + k], vector.get(k));
    simt::synchronize_warp(); // mutant: row-results
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      const int i = k * simt::warp_threads + lane;
      if (i < valid) row[i] = results[i];
    }
  }
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
