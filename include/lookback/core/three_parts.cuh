// SPDX-License-Identifier: MIT
// A partition into three parts is a scan of pairs of numbers: how many of the items up to an item
// belong to the first part, and how many to the second. The place of the item follows from these
// and from its index.
#pragma once

#include <lookback/core/problem.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Numbers of items of the first two parts.
struct two_tallies {
  std::uint64_t first, second;
  friend LOOKBACK_HOST_DEVICE two_tallies operator+(two_tallies a, two_tallies b) {
    return {a.first + b.first, a.second + b.second};
  }
};

/// An item, and its part: 0, 1 or 2.
template <class Item>
struct parted_item {
  Item item;
  std::uint8_t part;
  LOOKBACK_HOST_DEVICE explicit operator two_tallies() const {
    return {part == 0 ? 1u : 0u, part == 1 ? 1u : 0u};
  }
};
/// The tiles are those of the items. (Numbers of items have the same bits in any tree.)
template <class Item>
struct shaped_by<parted_item<Item>> {
  using type = Item;
};

/// The items of an iterator with their parts. `Second` is called for items that `First` rejects.
template <class Items, class First, class Second>
class parted_items {
public:
  using item = value_t<Items>;
  using value_type = parted_item<item>;
  using difference_type = std::ptrdiff_t;

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE parted_items(Items items, First first, Second second)
      : items_(items), first_(first), second_(second) {}
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE parted_items operator+(difference_type distance) const {
    return {items_ + distance, first_, second_};
  }

  /// Items are loaded before a predicate is called, so that many loads can be issued at once.
  using fetched = item;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE item fetch(difference_type i) const { return items_[i]; }
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE value_type finish(const item &x, difference_type) const {
    First in_first = first_;
    Second in_second = second_;
    item own = x;
    const int part = static_cast<bool>(in_first(own))    ? 0
                     : static_cast<bool>(in_second(own)) ? 1
                                                         : 2;
    return {x, static_cast<std::uint8_t>(part)};
  }
  LOOKBACK_HOST_DEVICE value_type operator[](difference_type i) const {
    return finish(fetch(i), i);
  }

private:
  Items items_;
  First first_;
  Second second_;
};

/// An item with the numbers up to and including it.
template <class Item>
struct placed_item {
  parted_item<Item> own;
  two_tallies through;
};
struct with_item {
  static constexpr bool needs_item = true;
  LOOKBACK_NO_EXECUTION_CHECK
  template <class Item>
  LOOKBACK_HOST_DEVICE placed_item<Item> operator()(const two_tallies &scanned,
                                                    const parted_item<Item> &item) const {
    return {item, scanned};
  }
};

/// The output: each part in its order, to an iterator of its own.
template <class Item, class First, class Second, class Rest>
class three_outputs {
public:
  using value_type = Item;
  using difference_type = std::ptrdiff_t;

  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE three_outputs(First first, Second second, Rest rest)
      : first_(first), second_(second), rest_(rest) {}
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE three_outputs operator+(difference_type distance) const {
    three_outputs moved = *this;
    moved.position_ += distance;
    return moved;
  }

  class element {
  public:
    LOOKBACK_HOST_DEVICE element(const three_outputs &outputs, difference_type i)
        : outputs_(outputs), i_(i) {}
    LOOKBACK_NO_EXECUTION_CHECK
    LOOKBACK_HOST_DEVICE void operator=(const placed_item<Item> &x) const {
      const auto first = static_cast<difference_type>(x.through.first),
                 second = static_cast<difference_type>(x.through.second);
      if (x.own.part == 0)
        outputs_.first_[first - 1] = x.own.item;
      else if (x.own.part == 1)
        outputs_.second_[second - 1] = x.own.item;
      else
        outputs_.rest_[i_ - first - second] = x.own.item; // mutant: rest-place
    }

  private:
    const three_outputs &outputs_;
    const difference_type i_;
  };
  LOOKBACK_HOST_DEVICE element operator[](difference_type distance) const {
    return {*this, position_ + distance};
  }

private:
  First first_;
  Second second_;
  Rest rest_;
  difference_type position_ = 0;
};

/// counts[0] and counts[1] become the numbers of items of the first two parts.
template <class Output, class Counts>
struct counted_parts : dense<Output, with_item> {
  static constexpr bool wants_total = true, scatters = true;
  Counts counts;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE void set_total(const two_tallies &total) const {
    using number = typename output_value<Counts, std::uint64_t>::type;
    counts[0] = static_cast<number>(total.first);
    counts[1] = static_cast<number>(total.second);
  }
  LOOKBACK_HOST_DEVICE void set_nothing() const { set_total({0, 0}); }
};

/// The partition of `items` into those that `first` selects, those that `second` selects of the
/// others, and the rest, for kernels.
template <class Items, class InFirst, class InSecond, class First, class Second, class Rest,
          class Counts>
auto make_three_parts(Items items, InFirst in_first, InSecond in_second, First first, Second second,
                      Rest rest, Counts counts) {
  using item = value_t<Items>;
  using input = parted_items<Items, InFirst, InSecond>;
  using output = three_outputs<item, First, Second, Rest>;
  using sink = counted_parts<output, Counts>;
  return scan_problem<true, two_tallies, input, plus, no_initial, sink>(
      input(items, in_first, in_second), plus{}, no_initial{},
      sink{{output(first, second, rest), {}}, counts});
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
