// SPDX-License-Identifier: MIT
// Named moves of a row (32 vectors of E elements) between memory and the registers of a warp.
//
//   blocked   lane l holds elements l * E + k          what the tree wants
//   striped   lane l holds elements k * 32 + l         what memory wants when a vector access is not possible
#pragma once

#include <lookback/core/monoid.cuh>
#include <lookback/core/simt.cuh>

namespace lookback::detail {

/// E elements of one lane. Narrow elements stay packed in words: sixteen bytes cost four registers, not sixteen.
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
    union {
      T value;
    } item;
    std::memcpy(static_cast<void *>(&item), reinterpret_cast<const unsigned char *>(words.words) + k * sizeof(T), sizeof(T));
    return item.value;
  }
  LOOKBACK_DEVICE void set(int k, const T &value) {
    std::memcpy(reinterpret_cast<unsigned char *>(words.words) + k * sizeof(T), static_cast<const void *>(&value), sizeof(T));
  }
};

/// A warp's room for turning striped into blocked rows and back. Empty where rows are moved element by element anyway:
/// one element a vector, more than bytes to an element, or rows too large for it.
template <class T, int E>
struct row_staging {
  static constexpr bool exists = E > 1 && std::is_trivially_copyable<T>::value && sizeof(T) * E <= 128;
  static constexpr std::size_t bytes = exists ? sizeof(T) * E * simt::warp_threads : 0;
};

/// Whether the rows of `iterator` can be moved with one vector access a lane: it is a pointer, and aligned for it.
template <class T, int E, class Iterator>
LOOKBACK_DEVICE bool moves_as_vectors(const Iterator &iterator) {
  if constexpr (std::is_pointer<Iterator>::value && lane_vector<T, E>::packed)
    return reinterpret_cast<std::uintptr_t>(iterator) % lane_vector<T, E>::bytes == 0;
  else
    return false;
}

/// First half of a load: every element is on its way to a register, striped if the row is to be rearranged. Elements from
/// `existing` on are not touched. Several rows are fetched before the first is arranged, so that their latencies overlap.
template <int E, class T, class Iterator>
LOOKBACK_DEVICE void fetch_row(const Iterator &row, int existing, bool as_vectors, lane_vector<T, E> &vector) {
  const int lane = simt::lane_index();
  if constexpr (std::is_pointer<Iterator>::value && lane_vector<T, E>::packed) {
    if (as_vectors && (lane + 1) * E <= existing) {
      vector.words = simt::load_vector<lane_vector<T, E>::bytes>(row + lane * E);
      return;
    }
  }
  const bool striped = row_staging<T, E>::exists && !as_vectors;
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k) {
    const int i = striped ? k * simt::warp_threads + lane : lane * E + k;
    if (i < existing) vector.set(k, static_cast<T>(row[i]));
  }
}

/// Second half of a load: blocked.
template <int E, class T>
LOOKBACK_DEVICE void arrange_row(bool as_vectors, void *staging, lane_vector<T, E> &vector) {
  if constexpr (row_staging<T, E>::exists) {
    if (as_vectors) return;
    const int lane = simt::lane_index();
    auto *shared = static_cast<unsigned char *>(staging);
    const auto place = [=](int i) { return shared + i * sizeof(T); };
    simt::synchronize_warp(); // the row before has been read
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      const T item = vector.get(k);
      std::memcpy(place(k * simt::warp_threads + lane), static_cast<const void *>(&item), sizeof(T));
    }
    simt::synchronize_warp();
    if constexpr (lane_vector<T, E>::packed) {
      vector.words = simt::load_vector<lane_vector<T, E>::bytes>(place(lane * E));
    } else {
      LOOKBACK_UNROLL
      for (int k = 0; k < E; ++k) vector.set(k, *reinterpret_cast<const T *>(place(lane * E + k)));
    }
  }
}

/// Stores a blocked row; elements from `existing` on are not written.
template <int E, class T, class Iterator>
LOOKBACK_DEVICE void store_row(Iterator row, int existing, bool as_vectors, void *staging,
                               const lane_vector<T, E> &vector) {
  const int lane = simt::lane_index();
  if constexpr (std::is_pointer<Iterator>::value && lane_vector<T, E>::packed) {
    if (as_vectors && (lane + 1) * E <= existing) {
      simt::store_vector<lane_vector<T, E>::bytes>(row + lane * E, vector.words);
      return;
    }
  }
  if constexpr (row_staging<T, E>::exists) {
    if (!as_vectors) {
      auto *shared = static_cast<unsigned char *>(staging);
      const auto place = [=](int i) { return shared + i * sizeof(T); };
      simt::synchronize_warp();
      if constexpr (lane_vector<T, E>::packed) {
        simt::store_vector<lane_vector<T, E>::bytes>(place(lane * E), vector.words);
      } else {
        LOOKBACK_UNROLL
        for (int k = 0; k < E; ++k) {
          const T item = vector.get(k);
          std::memcpy(place(lane * E + k), static_cast<const void *>(&item), sizeof(T));
        }
      }
      simt::synchronize_warp();
      LOOKBACK_UNROLL
      for (int k = 0; k < E; ++k) {
        const int i = k * simt::warp_threads + lane;
        if (i < existing) row[i] = *reinterpret_cast<const T *>(place(i));
      }
      return;
    }
  }
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k)
    if (lane * E + k < existing) row[lane * E + k] = vector.get(k);
}

} // namespace lookback::detail
