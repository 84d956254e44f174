// SPDX-License-Identifier: MIT
// Keys of runs, and their values, that wait in shared memory as the bytes they are in memory. A key
// is compared with the one before it by its own lane, and the lane before learns the answer. Only
// across the end of a row both lanes compare.
#pragma once

#include <lookback/block/staged.cuh>
#include <lookback/core/runs.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Elements of a vector, a bit each, that begin a run, and that end one.
struct side_bits {
  unsigned begins, ends;
};

/// Which of a lane's keys are the first and the last one of their run. `row`: the keys of the row
/// in shared memory, with the one before it and the one behind it. `begins_all`: the row is the
/// first of all. `remaining`: how many keys come after the lane's first, negative if there is no
/// such key. Called by all lanes of the warp.
template <int E, class Key, class Input>
LOOKBACK_DEVICE side_bits run_sides(const Input &input, const lane_vector<Key, E> &keys,
                                    const Key *row, bool begins_all, std::ptrdiff_t remaining) {
  side_bits sides;
  const int count = remaining < 0 ? 0 : remaining < E ? static_cast<int>(remaining) + 1 : E;
  const auto differ = [&](const Key &a, const Key &b) { return input.differ(a, b); };
  Key left = *(row - (begins_all ? 0 : 1));
  sides.begins = run_heads(keys, left, begins_all && simt::lane_index() == 0, count, differ);
  // The lane above knows whether a run begins with its first key; the last lane looks itself.
  const bool continues = remaining >= E; // there is a key behind those of the lane
  constexpr int row_elements = simt::warp_threads * E;
  const bool is_last_lane = simt::lane_index() == simt::warp_threads - 1;
  bool after = (simt::rotate_down(sides.begins) & 1) != 0;
  if (is_last_lane && continues)
    after = differ(keys.get(E - 1), row[row_elements]); // mutant: staged-right
  sides.ends = sides.begins >> 1 | unsigned{continues && after} << (E - 1);
  if (count > 0 && !continues) sides.ends |= 1u << (count - 1); // mutant: staged-last
  return sides;
}

/// Values that follow from the index: those of a lane whose first element is element `first`.
template <class Values>
struct values_from {
  Values values;
  std::ptrdiff_t first;
  LOOKBACK_DEVICE auto get(int k) const { return values[first + k]; }
};

/// Whether values are made from their index, with nothing read.
template <class Values>
inline constexpr bool made_from_index = false;
template <class T>
inline constexpr bool made_from_index<ones<T>> = true;
template <>
inline constexpr bool made_from_index<indices> = true;

/// Keys and values, or keys alone.
template <class T, class Which, class Key, class Values, class Equal, int TileElements>
struct staged_input<runs_input<T, Which, Key *, Values, Equal, TileElements>,
                    std::enable_if_t<std::is_pointer<Values>::value || made_from_index<Values>>> {
  using input_type = runs_input<T, Which, Key *, Values, Equal, TileElements>;
  using key = std::remove_cv_t<Key>;
  using value = value_t<Values>;
  static constexpr int arrays = made_from_index<Values> ? 1 : 2;
  template <int E>
  static constexpr bool possible = lane_vector<key, E>::packed &&
                                   (arrays == 1 || lane_vector<value, E>::packed) &&
                                   std::is_trivially_copyable<T>::value &&TileElements
                                       == simt::warp_threads * 32 * E;
  static constexpr bool reads_before = true, reads_after = true;
  template <int A>
  using element = std::conditional_t<A == arrays - 1, key, value>;
  template <int A>
  LOOKBACK_DEVICE static const element<A> *array(const input_type &input) {
    if constexpr (A == arrays - 1)
      return input.keys();
    else
      return input.values();
  }

  /// A lane's vector. It is read when it is asked for: values can still be read when results have
  /// overwritten the keys.
  template <int E, bool Shifts>
  class vector {
  public:
    LOOKBACK_DEVICE vector(const input_type &input, const unsigned char *const *rows,
                           const bool *aligned, unsigned tile, int row, int)
        : input_(input),
          first_(first_of(tile, row)), values_{rows[0], aligned[0]}, keys_{rows[arrays - 1],
                                                                           aligned[arrays - 1]},
          begins_(row == 0 && tile == 0) {}
    LOOKBACK_DEVICE key key_of(int k) const { return keys().get(k); }
    LOOKBACK_DEVICE T value_of(int k) const { return static_cast<T>(values().get(k)); }
    /// The key before the row, or the first of all. Called like sides().
    LOOKBACK_DEVICE key key_before() const { return *(row_of_keys() - (begins_ ? 0 : 1)); }
    /// Whether the row is the first of all.
    LOOKBACK_DEVICE bool begins_all() const { return begins_; }
    /// The keys that begin a run, of which `count` are valid. `left`: the key before the row;
    /// afterwards, that before the next row. `first`: the lane has the first key of all. Called by
    /// all lanes of the warp.
    LOOKBACK_DEVICE unsigned heads(int count, key &left, bool first) const {
      return run_heads(keys(), left, first, count,
                       [&](const key &a, const key &b) { return input_.differ(a, b); });
    }
    /// Called by all lanes of the warp, before any warp of the tile writes to the stage.
    LOOKBACK_DEVICE side_bits sides() const {
      const side_bits all =
          run_sides<E>(input_, keys(), row_of_keys(), begins_, input_.last() - first_);
      return {Which::begins(all.begins, all.ends), Which::ends(all.begins, all.ends)};
    }

  private:
    /// A row in the stage.
    struct staged_row {
      const unsigned char *bytes;
      bool aligned;
    };
    /// Index of the lane's first element of a row.
    LOOKBACK_DEVICE static std::ptrdiff_t first_of(unsigned tile, int row) {
      return static_cast<std::ptrdiff_t>(tile) * TileElements +
             (row * simt::warp_threads + simt::lane_index()) * E;
    }
    LOOKBACK_DEVICE lane_vector<key, E> keys() const {
      return staged_vector<Shifts, E, key>(keys_.bytes, keys_.aligned);
    }
    LOOKBACK_DEVICE auto values() const {
      if constexpr (arrays == 2)
        return staged_vector<Shifts, E, value>(values_.bytes, values_.aligned);
      else
        return values_from<Values>{input_.values(), first_};
    }
    LOOKBACK_DEVICE const key *row_of_keys() const {
      return reinterpret_cast<const key *>(keys_.bytes);
    }

    const input_type &input_;
    const std::ptrdiff_t first_;
    const staged_row values_, keys_;
    const bool begins_;
  };
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
