// SPDX-License-Identifier: MIT
// Inputs that can wait in shared memory as the bytes they are in memory: a pointer, a
// transformation of what a pointer has, keys and values. A lane makes its elements of the bytes
// when it needs them.
#pragma once

#include <lookback/block/transfer.cuh>
#include <lookback/core/sum_by_heads.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// `Bytes` bytes at `address` in shared memory, which is aligned to `Alignment`: what is there from
/// the boundary before it to the one behind it, shifted.
template <int Bytes, int Alignment>
LOOKBACK_DEVICE simt::vector_words<Bytes> load_shifted(const unsigned char *address) {
  simt::vector_words<Bytes> result;
  if constexpr (Bytes < 4) {
    std::memcpy(static_cast<void *>(&result), address, Bytes);
  } else {
    const int skip = static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % Bytes);
    result = shifted<Alignment>(simt::load_vector<Bytes>(address - skip),
                                simt::load_vector<Bytes>(address - skip + Bytes), skip);
  }
  return result;
}

/// Vector of lane `lane` of a row of T that waits at `row`; `aligned`: to 16 bytes. What is not is
/// shifted into place, or, unless `Shifts`, gathered: less code, to compile and to fetch, but
/// slower where that counts. Elements that make no vector are read one by one, at their own stride.
template <bool Shifts, int E, class T>
LOOKBACK_DEVICE lane_vector<T, E> staged_vector(const unsigned char *row, bool aligned,
                                                int lane = simt::lane_index()) {
  constexpr int bytes = E * static_cast<int>(sizeof(T));
  const unsigned char *const mine = row + lane * bytes;
  lane_vector<T, E> vector;
  if constexpr (!lane_vector<T, E>::packed) {
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      const unsigned char *const place = mine + k * sizeof(T);
      vector.set(k, aligned ? load_element<unit_bytes<T>, T>(place)
                            : load_element<static_cast<int>(alignof(T)), T>(place));
    }
  } else if (aligned) {
    vector.words = simt::load_vector<bytes>(mine);
  } else if constexpr (!Shifts && alignof(T) >= 4) {
    LOOKBACK_UNROLL
    for (int k = 0; k < E; ++k) {
      const T item = reinterpret_cast<const T *>(
          mine)[k]; // a load of its own: bytes of what is referred to would be loaded one by one
      vector.set(k, item);
    }
  } else {
    vector.words = load_shifted<bytes, alignof(T)>(mine);
  }
  return vector;
}

/// Whether arrays of T can be staged as bytes.
template <class T>
inline constexpr bool is_staged_as_bytes = std::is_trivially_copyable<T>::value && alignof(T) <= 16;

/// What is staged of an input: one array or two.
///   element<A>         type of the elements of array A, and `array<A>(input)` where they are
///   copied_arrays      optional: how many arrays are in memory, if not all are. The rest has one
///                      bit for each element, and warps of the block write it
///   reads_before, reads_after   whether an element also depends on the one before it, or behind
///                      it, in the last array
///   vector<E, Shifts>  a lane's elements, made of its bytes of row `row` of tile `tile`; `count`
///                      of them are valid
template <class Input, class = void>
struct staged_input {
  template <int E>
  static constexpr bool possible = false;
};

template <class T>
struct staged_input<T *, void> {
  template <int E>
  static constexpr bool possible = is_staged_as_bytes<std::remove_cv_t<T>>;
  static constexpr int arrays = 1;
  static constexpr bool reads_before = false, reads_after = false;
  template <int>
  using element = std::remove_cv_t<T>;
  template <int>
  LOOKBACK_DEVICE static const T *array(T *input) {
    return input;
  }

  template <int E, bool Shifts>
  class vector {
  public:
    LOOKBACK_DEVICE vector(T *, const unsigned char *const *rows, const bool *aligned, unsigned,
                           int, int)
        : raw_(staged_vector<Shifts, E, std::remove_cv_t<T>>(rows[0], aligned[0])) {}
    LOOKBACK_DEVICE auto get(int k) const { return raw_.get(k); }
    template <class Raw = lane_vector<std::remove_cv_t<T>, E>>
    LOOKBACK_DEVICE auto words() const -> const decltype(Raw::words) & {
      return raw_.words;
    }

  private:
    lane_vector<std::remove_cv_t<T>, E> raw_;
  };
};

/// Memory from its end: `array(input)` is that end, and the bytes of a tile, of a row and of a
/// vector wait in the order of memory.
template <class T>
struct staged_input<reversed<T *>, void> : staged_input<T *> {
  using raw = std::remove_cv_t<T>;
  template <int>
  LOOKBACK_DEVICE static const T *array(const reversed<T *> &input) {
    return input.base();
  }

  template <int E, bool Shifts>
  class vector {
  public:
    LOOKBACK_DEVICE vector(const reversed<T *> &, const unsigned char *const *rows,
                           const bool *aligned, unsigned, int, int)
        : raw_(mirrored(staged_vector<Shifts, E, raw>(
              rows[0], aligned[0], simt::warp_threads - 1 - simt::lane_index()))) {}
    LOOKBACK_DEVICE auto get(int k) const { return raw_.get(k); }
    template <class Raw = lane_vector<raw, E>>
    LOOKBACK_DEVICE auto words() const -> const decltype(Raw::words) & {
      return raw_.words;
    }

  private:
    lane_vector<raw, E> raw_;
  };
};

/// Whether an iterator says that it is `Function` over `Base`.
template <class Iterator, class Function, class Base, class = void>
inline constexpr bool is_function_over = false;
template <class Iterator, class Function, class Base>
inline constexpr bool is_function_over<
    Iterator, Function, Base,
    std::void_t<decltype(std::declval<const Iterator &>().functor()),
                decltype(std::declval<const Iterator &>().base())>> =
    std::is_same<std::decay_t<decltype(std::declval<const Iterator &>().functor())>,
                 Function>::value &&
        std::is_same<std::decay_t<decltype(std::declval<const Iterator &>().base())>, Base>::value;

/// Thrust's transform_iterator over a pointer, known by its shape: a class template of a function
/// and of what it is over.
template <template <class...> class Transform, class Function, class Raw, class... More>
struct staged_input<
    Transform<Function, Raw *, More...>,
    std::enable_if_t<is_function_over<Transform<Function, Raw *, More...>, Function, Raw *>>> {
  using Iterator = Transform<Function, Raw *, More...>;
  using raw = std::remove_cv_t<Raw>;
  // The function's values shape the tile, so elements that are wider than those would fill too much
  // shared memory.
  template <int E>
  static constexpr bool possible =
      lane_vector<raw, E>::packed &&std::is_trivially_copyable<value_t<Iterator>>::value;
  static constexpr int arrays = 1;
  static constexpr bool reads_before = false, reads_after = false;
  template <int>
  using element = raw;
  template <int>
  LOOKBACK_DEVICE static const raw *array(const Iterator &input) {
    return input.base();
  }

  template <int E, bool Shifts>
  class vector {
  public:
    LOOKBACK_DEVICE vector(const Iterator &input, const unsigned char *const *rows,
                           const bool *aligned, unsigned, int, int)
        : input_(input), raw_(staged_vector<Shifts, E, raw>(rows[0], aligned[0])) {}
    LOOKBACK_DEVICE auto get(int k) const {
      auto function = input_.functor();
      return static_cast<value_t<Iterator>>(function(raw_.get(k)));
    }

  private:
    const Iterator &input_;
    lane_vector<raw, E> raw_;
  };
};

/// Bit k: a run begins with key k of the lane, of which `count` are valid. `left`: in the first
/// lane, the key before the row; afterwards, the last key of the row. `first`: the lane has the
/// first key of all.
template <class Key, int E, class IsHead>
LOOKBACK_DEVICE unsigned run_heads(const lane_vector<Key, E> &keys, Key &left, bool first,
                                   int count, IsHead is_head) {
  const Key beside = simt::rotate_up(keys.get(E - 1));
  Key before = beside;
  if (simt::lane_index() == 0) before = left;
  left = beside;
  unsigned heads = 0;
  LOOKBACK_UNROLL
  for (int k = 0; k < E; ++k) {
    const bool head = k < count && ((k == 0 && first) || is_head(before, keys.get(k)));
    heads |= unsigned{head} << k;
    before = keys.get(k);
  }
  return heads;
}

/// Values, and keys of which each is compared with the one before it.
template <class T, class Key, class Value, class Equal, class Operator, class Initial,
          int TileElements>
struct staged_input<keyed_input<T, Key *, Value *, Equal, Operator, Initial, TileElements>, void> {
  using input_type = keyed_input<T, Key *, Value *, Equal, Operator, Initial, TileElements>;
  using key = std::remove_cv_t<Key>;
  using value = std::remove_cv_t<Value>;
  template <int E>
  static constexpr bool possible = lane_vector<value, E>::packed &&lane_vector<key, E>::packed;
  static constexpr int arrays = 2;
  static constexpr bool reads_before = true, reads_after = false;
  template <int A>
  using element = std::conditional_t<A == 0, value, key>;
  template <int A>
  LOOKBACK_DEVICE static const element<A> *array(const input_type &input) {
    if constexpr (A == 0)
      return input.values();
    else
      return input.keys();
  }

  template <int E, bool Shifts>
  class vector {
  public:
    LOOKBACK_DEVICE vector(const input_type &input, const unsigned char *const *rows,
                           const bool *aligned, unsigned tile, int row, int count)
        : input_(input), values_(staged_vector<Shifts, E, value>(rows[0], aligned[0])) {
      const bool begins = row == 0 && tile == 0; // nothing is to the left of the row
      const bool first = begins && simt::lane_index() == 0;
      const auto keys = staged_vector<Shifts, E, key>(rows[1], aligned[1]);
      // The key before the row, read by every lane: a branch for one lane would cost more.
      key left = *(reinterpret_cast<const key *>(rows[1]) - (begins ? 0 : 1));
      if constexpr (!Shifts) { // the pipeline refuses results that overwrite keys
        const bool is_saved = row == 0 && input.saves_keys(); // mutant: staged-key
        if (is_saved && !begins) left = input.key_before(tile);
      }
      heads_ = run_heads(keys, left, first, count, [&](const key &before, const key &own) {
        return input.is_head(before, own);
      });
    }
    LOOKBACK_DEVICE keyed<T> get(int k) const {
      return input_.element(values_.get(k), (heads_ >> k & 1) != 0);
    }
    /// Bit k: a segment begins with element k.
    LOOKBACK_DEVICE unsigned heads() const { return heads_; }

  protected:
    unsigned heads_ = 0;

  private:
    const input_type &input_;
    lane_vector<value, E> values_;
  };
};

/// Values, and a bit for each, its mark: whether a segment begins with it. Warps of the block write
/// the marks (strategy/marking_warps.cuh).
template <class T, class Offset, class Value, class Equal, class Operator, class Initial,
          int TileElements>
struct staged_input<
    keyed_input<T, segment_heads<Offset>, Value *, Equal, Operator, Initial, TileElements>, void> {
  using input_type =
      keyed_input<T, segment_heads<Offset>, Value *, Equal, Operator, Initial, TileElements>;
  using value = std::remove_cv_t<Value>;
  template <int E>
  static constexpr bool possible = lane_vector<value, E>::packed;
  static constexpr int arrays = 2, copied_arrays = 1;
  static constexpr bool reads_before = false, reads_after = false;
  template <int A>
  using element = std::conditional_t<A == 0, value, unsigned char>;
  template <int A>
  LOOKBACK_DEVICE static const value *array(const input_type &input) {
    static_assert(A == 0, "only the values are an array in memory");
    return input.values();
  }

  template <int E, bool Shifts>
  class vector {
  public:
    LOOKBACK_DEVICE vector(const input_type &input, const unsigned char *const *rows,
                           const bool *aligned, unsigned, int, int)
        : input_(input), values_(staged_vector<Shifts, E, value>(rows[0], aligned[0])) {
      static_assert(8 % E == 0, "the marks of a lane must be in one byte");
      const int first = simt::lane_index() * E;
      heads_ = unsigned{rows[1][first / 8]} >> first % 8 & ((1u << E) - 1);
    }
    LOOKBACK_DEVICE keyed<T> get(int k) const {
      return input_.element(values_.get(k), (heads_ >> k & 1) != 0);
    }
    /// Bit k: a segment begins with element k.
    LOOKBACK_DEVICE unsigned heads() const { return heads_; }

  private:
    const input_type &input_;
    lane_vector<value, E> values_;
    unsigned heads_ = 0;
  };
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
