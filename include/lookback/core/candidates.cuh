// SPDX-License-Identifier: MIT
// A selection is a scan of 0 and 1: the number of kept items up to an item is the place of that
// item in the results, if it is kept, and where it is not, the place among the rejected items
// follows from the item's own index.
//
// In place is safe. The place of a kept item is not behind the item itself, and a tile learns its
// places when all tiles to its left have counted, which they do when they have their items in
// shared memory. So no item is overwritten that has not been read. (Status words are relaxed, but
// the places depend on the counts, and a count is published when the copies have completed: a write
// cannot precede a read that it depends on.) The last item of a tile, with which the next tile
// begins to compare, is overwritten by the next tile or one behind it; or, if everything up to it
// is kept, with itself.
#pragma once

#include <lookback/core/pairs.cuh>
#include <lookback/core/problem.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// An item, and whether it is kept. As an accumulator it is 1 or 0. `Shaping`: the wider of the
/// types that are read to know that.
template <class Item, class Shaping = Item>
struct candidate {
  using item_type = Item;
  Item item;
  bool kept;
  LOOKBACK_HOST_DEVICE explicit operator tally() const { return {kept ? 1u : 0u}; }
};
/// The tiles of candidates are those of the widest type that is read. (Numbers of items have the
/// same bits in any tree.)
template <class Item, class Shaping>
struct shaped_by<candidate<Item, Shaping>> {
  using type = Shaping;
};
template <class A, class B>
using wider_of = std::conditional_t<(sizeof(A) < sizeof(B)), B, A>;

// ---- which items are kept -----------------------------------------------------------------------
// A function object is called with the index of an item and the item itself. shaping<Item> is the
// wider of Item and what it reads besides.

/// Items that satisfy the predicate, or, unless `Wanted`, that do not.
template <class Predicate, bool Wanted>
struct by_predicate {
  template <class Item>
  using shaping = Item;
  Predicate predicate;
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Reference>
  LOOKBACK_HOST_DEVICE bool operator()(std::ptrdiff_t, Reference &&x) {
    return static_cast<bool>(predicate(x)) == Wanted;
  }
};
/// Items whose stencil element satisfies the predicate, or, unless `Wanted`, does not.
template <class Stencil, class Predicate, bool Wanted>
struct by_stencil {
  template <class Item>
  using shaping = wider_of<Item, value_t<Stencil>>;
  Predicate predicate;
  Stencil stencil;
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Reference>
  LOOKBACK_HOST_DEVICE bool operator()(std::ptrdiff_t i, Reference &&) {
    return static_cast<bool>(predicate(stencil[i])) == Wanted;
  }
};
/// The first item of each run of equal keys. `OwnKeys`: the items are the keys.
template <class Keys, class Equal, bool OwnKeys>
struct by_run {
  template <class Item>
  using shaping = wider_of<Item, value_t<Keys>>;
  Keys keys;
  Equal equal;
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Reference>
  LOOKBACK_HOST_DEVICE bool operator()(std::ptrdiff_t i, Reference &&x) {
    if (i == 0) return true;
    if constexpr (OwnKeys)
      return begins(keys[i - 1], x);
    else
      return begins(keys[i - 1], keys[i]);
  }
  /// Whether a run begins with the key `own`, which follows the key `before`.
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE bool begins(const value_t<Keys> &before, const value_t<Keys> &own) {
    return !static_cast<bool>(equal(before, own));
  }
};

/// x == value
template <class T>
struct equals {
  T value; // a copy, since the caller's may lie in the output (a proxy still refers to it)
  LOOKBACK_NO_EXECUTION_CHECK
  template <class X>
  LOOKBACK_HOST_DEVICE bool operator()(const X &x) const {
    if constexpr (std::is_arithmetic<X>::value && std::is_arithmetic<T>::value) {
      using common = std::common_type_t<X, T>; // as `==` converts them, without a warning
      return static_cast<common>(x) == static_cast<common>(value);
    } else {
      return static_cast<bool>(x == value);
    }
  }
};
/// The value of a flag.
struct is_set {
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Flag>
  LOOKBACK_HOST_DEVICE bool operator()(const Flag &flag) const {
    return static_cast<bool>(flag);
  }
};

/// Twice as wide as T. Only its size is used.
template <class T>
struct two_of {
  T values[2];
};

/// The items of an iterator as candidates. `Which` is called once for each. `Halves`: tiles are
/// those of types twice as wide (strategy/half_tiles.cuh).
template <class Items, class Which, bool Halves = false>
class selectable {
public:
  using item = value_t<Items>;
  using widest_read = typename Which::template shaping<item>;
  using value_type = candidate<item, std::conditional_t<Halves, two_of<widest_read>, widest_read>>;
  using difference_type = std::ptrdiff_t;

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE selectable(Items items, Which which) : items_(items), which_(which) {}

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE selectable operator+(difference_type distance) const {
    selectable moved = *this;
    moved.position_ += distance;
    return moved;
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE value_type operator[](difference_type distance) const {
    const difference_type i = position_ + distance;
    Which which = which_;
    item x = items_[i];
    const bool kept = which(i, x);
    return {static_cast<item &&>(x), kept};
  }

  /// The same candidates, in half tiles.
  selectable<Items, Which, true> in_half_tiles() const {
    return selectable<Items, Which, true>(items_, which_) + position_;
  }
  LOOKBACK_HOST_DEVICE const Items &items() const { return items_; }
  LOOKBACK_HOST_DEVICE const Which &which() const { return which_; }

private:
  Items items_;
  Which which_;
  difference_type position_ = 0;
};

// ---- where they go ------------------------------------------------------------------------------

/// No place for rejected items.
struct dropped {
  static constexpr bool exists = false;
};
/// Rejected items in their order: item r among them goes to output[r].
template <class Output>
struct rejected_to {
  static constexpr bool exists = true, reversed = false;
  Output output;
  LOOKBACK_HOST_DEVICE std::ptrdiff_t place(std::uint64_t rank) const {
    return static_cast<std::ptrdiff_t>(rank);
  }
};
/// Rejected items in reverse order, up to the end of the n results.
template <class Output>
struct rejected_from_end {
  static constexpr bool exists = true, reversed = true;
  Output output;
  std::uint64_t n = 0;
  LOOKBACK_HOST_DEVICE std::ptrdiff_t place(std::uint64_t rank) const {
    return static_cast<std::ptrdiff_t>(n - 1 - rank);
  }
};

/// A kept item goes to output[number of kept items before it], and rejected ones where `Rejected`
/// says. `*count` becomes the number of kept items.
template <class Output, class Rejected, class Count>
struct compacting {
  using output_type = Output;
  static constexpr bool wants_total = true, needs_item = true, compacts = true, scatters = false;
  static constexpr bool places_rejected = Rejected::exists;
  template <class, class Candidate>
  using stored = typename stored_value<Output, typename Candidate::item_type>::type;

  Output output;
  Rejected rejected;
  Count count;

  /// Places item i, x. `through`: the number of kept items up to and including it.
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Item>
  LOOKBACK_HOST_DEVICE void put(std::uint64_t i, std::uint64_t through, bool kept,
                                const Item &x) const {
    if (kept)
      output[static_cast<std::ptrdiff_t>(through - 1)] = x;
    else if constexpr (Rejected::exists)
      rejected.output[rejected.place(i - through)] = x;
  }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE void set_total(tally total) const {
    *count = static_cast<typename output_value<Count, std::uint64_t>::type>(total.items);
  }
  LOOKBACK_HOST_DEVICE void set_nothing() const { set_total({0}); }
};
/// The results from the end follow from the number of items.
LOOKBACK_NO_EXECUTION_CHECK
template <class Output, class Count>
LOOKBACK_HOST_DEVICE compacting<Output, rejected_from_end<Output>, Count>
for_items(const compacting<Output, rejected_from_end<Output>, Count> &sink, std::uint64_t items) {
  return {sink.output, {sink.rejected.output, items}, sink.count}; // mutant: rejected-items
}

/// Whether the sink of a problem places kept items.
template <class Problem>
inline constexpr bool selects = Problem::sink_type::compacts;

/// The selection of the items of `items` that are kept by `which`, for kernels.
template <class Items, class Which, class Output, class Rejected, class Count>
auto make_selection(Items items, Which which, Output output, Rejected rejected, Count count) {
  using input = selectable<Items, Which>;
  using sink = compacting<Output, Rejected, Count>;
  return scan_problem<true, tally, input, plus, no_initial, sink>(
      input(items, which), plus{}, no_initial{}, sink{output, rejected, count});
}

/// Selects the items that satisfy a predicate, or whose flags do.
template <class Predicate>
by_predicate<Predicate, true> satisfying(Predicate predicate) {
  return {predicate};
}
template <class Flags, class Predicate>
auto flagged(Flags flags, Predicate predicate) {
  const auto stencil = plain_memory(flags);
  return by_stencil<std::decay_t<decltype(stencil)>, Predicate, true>{predicate, stencil};
}
/// Selects the first item of each run of equal keys. `OwnKeys`: the items are the keys.
template <bool OwnKeys, class Keys, class Equal>
auto heads_of_runs(Keys keys, Equal equal) {
  const auto own = to_own_operator<value_t<Keys>>(equal);
  return by_run<Keys, std::decay_t<decltype(own)>, OwnKeys>{keys, own};
}
/// The first key of each run, and its value, for kernels.
template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal, class Count>
auto make_unique_by_key(Keys keys, Values values, KeysOut keys_output, ValuesOut values_output,
                        Equal equal, Count count) {
  const auto keys_from = plain_memory(keys);
  const auto values_from = plain_memory(values);
  const auto keys_to = output_of<value_t<Keys>>(keys_output);
  const auto values_to = output_of<value_t<Values>>(values_output);
  using input = pairs_input<std::decay_t<decltype(keys_from)>, std::decay_t<decltype(values_from)>>;
  using output = pairs_output<std::decay_t<decltype(keys_to)>, std::decay_t<decltype(values_to)>>;
  return make_selection(input{keys_from, values_from}, heads_of_runs<false>(keys_from, equal),
                        output{keys_to, values_to}, dropped{}, count);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
