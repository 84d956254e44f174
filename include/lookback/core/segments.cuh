// SPDX-License-Identifier: MIT
// A scan by key is a scan of (value, head) pairs: an operator that does not combine across the head
// of a segment is associative if the user's operator is. G. E. Blelloch, "Prefix Sums and Their
// Applications", CMU-CS-90-190, 1990, section 1.5.
#pragma once

#include <lookback/core/problem.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A value, and whether a segment starts with it or, if it is an aggregate, within its elements.
template <class T>
struct keyed {
  T value;
  bool head;
};

/// The tree over pairs has the shape of the tree over their values.
template <class T>
struct shaped_by<keyed<T>> {
  using type = T;
};

template <class T, class Operator>
struct segmented_operator {
  Operator op;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE keyed<T> operator()(const keyed<T> &left, const keyed<T> &right) {
    if constexpr (adds_anything) {
      const T value = right.value;
      const bool head = right.head;
      return keyed<T>{head ? value : sum(left.value, value), static_cast<bool>(head | left.head)};
    } else {
      if (right.head) return right;
      return keyed<T>{static_cast<T>(op(left.value, right.value)), left.head};
    }
  }

private:
  /// Sums of numbers are added even across a segment's head and then discarded, which saves a
  /// branch. A user's operator is never applied across a head. (In some language modes, integers of
  /// 16 bytes are arithmetic types, too.)
  static constexpr bool adds_anything =
      std::is_same<Operator, plus>::value && std::is_arithmetic<T>::value &&
      !std::is_same<T, bool>::value && sizeof(T) <= sizeof(std::uint64_t);
  /// Unsigned: a discarded sum of integers may overflow.
  LOOKBACK_HOST_DEVICE static T sum(T a, T b) {
    if constexpr (std::is_integral<T>::value)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return static_cast<T>(a + b);
  }
};

/// (value, head) pairs that are read from keys and values. If some tiles write before all tiles
/// have read, the key before each tile is saved before the scan begins, and read from `boundary_`:
/// in place, the results of the previous tile may already have overwritten it.
///
/// With an initial value, a segment's first element is op(initial, value).
template <class T, class Keys, class Values, class Equal, class Operator, class Initial,
          int TileElements>
class keyed_input {
public:
  using key = value_t<Keys>;
  using value_type = keyed<T>;
  using difference_type = std::ptrdiff_t;

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE keyed_input(Keys keys, Values values, Equal equal, Operator op,
                                   Initial initial)
      : keys_(keys), values_(values), equal_(equal), op_(op), initial_(initial) {}

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE keyed_input operator+(difference_type distance) const {
    keyed_input moved = *this;
    moved.position_ += distance;
    return moved;
  }

  /// The loads of one element. No load depends on another, so all can be issued at once.
  struct fetched {
    key before, own;
    value_t<Values> value;
  };
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE fetched fetch(difference_type distance) const {
    const difference_type i = position_ + distance;
    return fetched{keys_[reads_key_before(i) ? i - 1 : i], keys_[i], values_[i]};
  }
  /// The element that was fetched. (If the key before it may already be overwritten, fetch() has
  /// loaded the element's own key in its place, and the saved key is used.)
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE keyed<T> finish(const fetched &memory, difference_type distance) const {
    const difference_type i = position_ + distance;
    bool head = true;
    if (reads_key_before(i))
      head = is_head(memory.before, memory.own);
    else if (i != 0)
      head = is_head(key_before(i / TileElements), memory.own); // mutant: boundary-key
    return element(memory.value, head);
  }
  /// The key before tile `tile` >= 1. Requires saves_keys().
  LOOKBACK_HOST_DEVICE const key &key_before(std::size_t tile) const { return boundary_[tile]; }
  LOOKBACK_HOST_DEVICE bool saves_keys() const { return boundary_ != nullptr; }
  /// Whether a segment starts with the key `own`, which follows the key `before`.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE bool is_head(const key &before, const key &own) const {
    Equal equal = equal_;
    return !equal(before, own);
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE keyed<T> element(const value_t<Values> &value, bool head) const {
    if constexpr (Initial::exists) {
      Operator op = op_;
      if (head)
        return keyed<T>{static_cast<T>(op(static_cast<T>(initial_.value), static_cast<T>(value))),
                        true};
    }
    return keyed<T>{static_cast<T>(value), head};
  }
  LOOKBACK_HOST_DEVICE keyed<T> operator[](difference_type distance) const {
    return finish(fetch(distance), distance);
  }

  LOOKBACK_HOST_DEVICE const Keys &keys() const { return keys_; }
  LOOKBACK_HOST_DEVICE const Values &values() const { return values_; }

  /// The pairs of other keys and values.
  LOOKBACK_NO_EXECUTION_CHECK
  template <class OtherKeys, class OtherValues>
  LOOKBACK_HOST_DEVICE auto of(const OtherKeys &keys, const OtherValues &values) const {
    return keyed_input<T, OtherKeys, OtherValues, Equal, Operator, Initial, TileElements>(
        keys, values, equal_, op_, initial_);
  }

  /// The same elements, in tiles of another size.
  template <int Elements>
  auto retiled() const {
    return keyed_input<T, Keys, Values, Equal, Operator, Initial, Elements>(keys_, values_, equal_,
                                                                            op_, initial_);
  }

  /// Sets the memory for the keys before tiles 1, 2, ...: one key a tile.
  LOOKBACK_HOST_DEVICE void bind_boundary(void *memory) { boundary_ = static_cast<key *>(memory); }
  /// Saves the key before tile `tile` >= 1.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE void save_boundary(std::size_t tile) const {
    construct(boundary_[tile], keys_[static_cast<difference_type>(tile) * TileElements - 1]);
  }

private:
  LOOKBACK_HOST_DEVICE bool reads_key_before(difference_type i) const {
    return i % TileElements != 0 || (!saves_keys() && i != 0);
  }

  Keys keys_;
  Values values_;
  Equal equal_;
  Operator op_;
  Initial initial_;
  key *boundary_ = nullptr;
  difference_type position_ = 0;
};

/// Whether values of an input must be saved before a scan in place begins, and their type: the key
/// before each tile, by key.
template <class Input>
struct boundary_of {
  static constexpr bool exists = false;
};
template <class T, class Keys, class Values, class Equal, class Operator, class Initial,
          int TileElements>
struct boundary_of<keyed_input<T, Keys, Values, Equal, Operator, Initial, TileElements>> {
  static constexpr bool exists = true;
  using type = value_t<Keys>;
};

/// The same problem with its input in tiles of `Elements` elements, for a strategy that does not
/// follow the tree.
template <int Elements, bool Inclusive, class T, class Input, class Operator, class Initial,
          class Sink, class Extent>
auto retiled(const scan_problem<Inclusive, T, Input, Operator, Initial, Sink, Extent> &problem) {
  if constexpr (boundary_of<Input>::exists) {
    const auto input = problem.input.template retiled<Elements>();
    return scan_problem<Inclusive, T, std::decay_t<decltype(input)>, Operator, Initial, Sink,
                        Extent>(input, problem.op, problem.initial, problem.sink, problem.extent);
  } else {
    return problem;
  }
}

struct inclusive_by_key {
  static constexpr bool needs_item = false;
  template <class T>
  LOOKBACK_HOST_DEVICE T operator()(const keyed<T> &scanned, const keyed<T> &) const {
    return scanned.value;
  }
};
/// A segment's first result is the initial value.
template <class T>
struct exclusive_by_key {
  static constexpr bool needs_item = true;
  T initial;
  LOOKBACK_HOST_DEVICE T operator()(const keyed<T> &scanned, const keyed<T> &item) const {
    return item.head ? initial : scanned.value;
  }
};

/// The pairs of a problem by key over accumulators T, in the tiles of its tree.
template <class T, class Keys, class Values, class Output, class Equal, class Operator,
          class Initial>
auto make_keyed_input(Keys keys, Values values, const Output &, Equal equal, Operator op,
                      Initial initial) {
  using shape = tree_shape<sizeof(T), size_of<typename output_value<Output, T>::type>::value>;
  using key = value_t<Keys>;
  return keyed_input<T, Keys, Values, own_operator_t<Equal, key>, Operator, Initial,
                     shape::tile_elements>(keys, values, to_own_operator<key>(equal), op, initial);
}

/// y(i) = x(s) . x(s + 1) ... x(i), where s is the first element of i's segment.
template <class T, class Keys, class Values, class Output, class Equal, class Operator>
auto make_inclusive_by_key(Keys keys, Values values, Output output, Equal equal, Operator op) {
  using own = own_operator_t<Operator, T>;
  const own own_op = to_own_operator<T>(op);
  const auto to = output_of<T>(output);
  const auto from = make_keyed_input<T>(plain_memory(keys), plain_memory(values), to, equal, own_op,
                                        no_initial{});
  using sink = dense<std::decay_t<decltype(to)>, inclusive_by_key>;
  return scan_problem<true, keyed<T>, std::decay_t<decltype(from)>, segmented_operator<T, own>,
                      no_initial, sink>(from, {own_op}, {}, sink{to, {}});
}

/// y(i) = init . x(s) . x(s + 1) ... x(i - 1), s as above; y(s) = init.
template <class T, class Keys, class Values, class Output, class Equal, class Operator>
auto make_exclusive_by_key(Keys keys, Values values, Output output, T init, Equal equal,
                           Operator op) {
  using own = own_operator_t<Operator, T>;
  const own own_op = to_own_operator<T>(op);
  const auto to = output_of<T>(output);
  const auto from = make_keyed_input<T>(plain_memory(keys), plain_memory(values), to, equal, own_op,
                                        initial_value<T>{init});
  using sink = dense<std::decay_t<decltype(to)>, exclusive_by_key<T>>;
  return scan_problem<false, keyed<T>, std::decay_t<decltype(from)>, segmented_operator<T, own>,
                      initial_value<keyed<T>>, sink>(from, {own_op}, {keyed<T>{init, true}},
                                                     sink{to, {init}});
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
