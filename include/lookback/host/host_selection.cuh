// SPDX-License-Identifier: MIT
// Selection on CPU threads, in one pass: threads draw tiles dynamically, copy the items that are
// kept, and place them behind those of all tiles to the left.
//
// In place is safe. A tile's kept items are copied before the tile publishes how many there are,
// and it writes them when all tiles to its left have published, to places before its own end: no
// item is overwritten that has not been read. The publications order the memory accesses, too.
#pragma once

#include <lookback/core/candidates.cuh>

#include <thrust/pair.h>

#include <cstddef>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// equal(a, b), where both are passed as `Reference`, or as values if that is a proxy: a comparison
/// may need operands of one type.
template <class Key, class Reference, class A, class B, class Equal>
bool are_equal(A &&a, B &&b, Equal &equal) {
  using referred = std::remove_cv_t<std::remove_reference_t<Reference>>;
  if constexpr (std::is_lvalue_reference<Reference>::value && std::is_same<referred, Key>::value) {
    return static_cast<bool>(equal(static_cast<Reference>(a), static_cast<Reference>(b)));
  } else {
    Key left = static_cast<Key>(a), right = static_cast<Key>(b);
    return static_cast<bool>(equal(left, right));
  }
}

#if defined(__CUDA_ARCH__)

// nvcc's pass for device code compiles no host function, so it need not read the headers of host/.
// These only show it the calls of the user's functions: it warns about functions that are never
// called.

template <class Input, class Output, class Which>
Output copy_kept(Input first, Input, Output result, Which which) {
  auto &&x = first[0];
  static_cast<void>(which(0, x));
  return result;
}
template <class Input, class Kept, class Rejects, class Which>
thrust::pair<Kept, Rejects> copy_parted(Input first, Input last, Kept kept, Rejects rejects,
                                        Which which) {
  return {detail::copy_kept(first, last, kept, which), rejects};
}
template <class Iterator, class Which>
std::ptrdiff_t partition_in_place(Iterator first, std::ptrdiff_t n, Which which) {
  detail::copy_kept(first, first, first, which);
  return n;
}
template <class Keys, class Equal>
std::ptrdiff_t count_heads(Keys keys, std::ptrdiff_t n, Equal equal) {
  using reference = decltype(keys[0]);
  detail::are_equal<value_t<Keys>, reference>(keys[0], keys[0], equal);
  return n;
}
template <class Keys, class Input, class Output, class Equal>
Output copy_heads(Keys keys, Input, std::ptrdiff_t n, Output result, Equal equal) {
  detail::count_heads(keys, n, equal);
  return result;
}
template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal, class Operator>
thrust::pair<KeysOut, ValuesOut> reduce_runs(Keys keys, std::ptrdiff_t n, Values values,
                                             KeysOut keys_result, ValuesOut values_result,
                                             Equal equal, Operator op) {
  using T = value_t<Values>;
  detail::count_heads(keys, n, equal);
  const T x(values[0]);
  static_cast<void>(op(x, x));
  return {keys_result, values_result};
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
#else

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback

#include <lookback/host/crew.cuh>
#include <lookback/host/host_scan.cuh>
#include <lookback/host/separate_results.cuh>
#include <lookback/host/shared_state.cuh>

#include <memory>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Wraps an item, so that a vector of bools is not a vector of bits.
template <class T>
struct copied {
  T item;
};
template <class T>
using copies = std::vector<copied<T>>;

/// Items of a tile: 64 KB, in a core's second-level cache.
template <class T>
constexpr std::ptrdiff_t selection_tile() {
  constexpr std::size_t fit = 65536 / sizeof(T);
  return fit == 0 ? 1 : static_cast<std::ptrdiff_t>(fit);
}

/// Copies of some items of a tile. Items that need no construction are always copied, and
/// overwritten by the next one if they are not wanted: no branch depends on their values.
template <class T, bool = is_plain<T>>
class tile_copies {
public:
  explicit tile_copies(std::ptrdiff_t room) : memory_(static_cast<std::size_t>(room)) {}
  void clear() { size_ = 0; }
  template <class Reference>
  void add_if(bool belongs, Reference &&x) {
    construct(memory_.address()[size_], static_cast<T>(x));
    size_ += belongs ? 1 : 0;
  }
  std::size_t size() const { return size_; }
  T &operator[](std::size_t i) { return memory_.address()[i]; }

private:
  heap_storage<T> memory_;
  std::size_t size_ = 0;
};
template <class T>
class tile_copies<T, false> {
public:
  explicit tile_copies(std::ptrdiff_t) {}
  void clear() { items_.clear(); }
  template <class Reference>
  void add_if(bool belongs, Reference &&x) {
    if (belongs) items_.push_back({static_cast<T>(x)});
  }
  std::size_t size() const { return items_.size(); }
  T &operator[](std::size_t i) { return items_[i].item; }

private:
  copies<T> items_;
};

/// One selection from n items. A `Rule` has
///
///   item                type of the items
///   input_bytes         bytes that are read of one
///   input[i]            item i, read once
///   begin_tile(i)       called before the first item of a tile, which is item i
///   which(i, x)         whether item i, which is x, is kept; called once for every i, in order
///                       within a tile
///   carry(tile, kept)   called for the tiles in order, before the next tile is; may change what is
///                       kept
///   put(rank, x)        takes the kept item of that rank
///   places_rejected     if true, put_rejected(tile, rank, items) takes the rejected items of a
///                       tile, the first of which has that rank among the rejected
///
/// Every thread has a copy of the rule.
template <class Rule>
class threaded_selection {
  using item = typename Rule::item;
  static constexpr std::ptrdiff_t tile_items = selection_tile<item>();

public:
  threaded_selection(const Rule &rule, std::ptrdiff_t n)
      : rule_(rule), n_(n), tiles_(static_cast<std::size_t>((n - 1) / tile_items + 1)),
        ends_(tiles_) {}

  /// Selects with at most `threads` threads, including the caller, from n >= 1 items. Returns the
  /// number of kept items.
  std::ptrdiff_t run(std::size_t threads) {
    crew_.run(threads, [this] { work(); });
    return static_cast<std::ptrdiff_t>(ends_.read(tiles_ - 1).value());
  }

private:
  /// Tiles are drawn in order, and a thread publishes every tile that it has drawn, so every wait
  /// ends.
  void work() {
    Rule rule = rule_;
    const std::ptrdiff_t room = n_ < tile_items ? n_ : tile_items;
    tile_copies<item> kept(Rule::counts_only ? 0 : room),
        rejected(Rule::places_rejected ? room : 0);
    for (;;) {
      const std::size_t tile = next_.fetch_add(1, std::memory_order_relaxed);
      if (tile >= tiles_ || crew_.has_failed()) return;
      const auto first = static_cast<std::ptrdiff_t>(tile) * tile_items;
      const std::ptrdiff_t end = n_ - first < tile_items ? n_ : first + tile_items;
      std::size_t counted = 0;
      kept.clear();
      rejected.clear();
      rule.begin_tile(first);
      for (std::ptrdiff_t i = first; i < end; ++i) {
        auto &&x = rule.input[i];
        const bool keeps = rule.which(i, x);
        if constexpr (Rule::counts_only)
          counted += keeps ? 1 : 0;
        else
          kept.add_if(keeps, x);
        if constexpr (Rule::places_rejected) rejected.add_if(!keeps, x);
      }
      const std::ptrdiff_t before = end_of_previous(tile);
      rule.carry(tile, kept);
      ends_.publish(tile, static_cast<std::uint64_t>(before) +
                              (Rule::counts_only ? counted : kept.size()));
      for (std::size_t k = 0; k < kept.size(); ++k)
        rule.put(before + static_cast<std::ptrdiff_t>(k), kept[k]);
      if constexpr (Rule::places_rejected) rule.put_rejected(tile, first - before, rejected);
    }
  }
  /// Kept items of all tiles to the left.
  std::ptrdiff_t end_of_previous(std::size_t tile) {
    if (tile == 0) return 0;
    typename tile_status<std::uint64_t, host_memory>::reading seen;
    crew_.wait_until([&] { return (seen = ends_.read(tile - 1)).ready(); });
    return static_cast<std::ptrdiff_t>(seen.value());
  }

  const Rule rule_;
  const std::ptrdiff_t n_;
  const std::size_t tiles_;
  owned_tile_status<std::uint64_t> ends_; // of the kept items, by tile
  std::atomic<std::size_t> next_{0};
  crew crew_;
};

/// Selects from n items by `rule`. `separate`: several threads may write the results.
template <class Rule>
std::ptrdiff_t select(const Rule &rule, std::ptrdiff_t n, bool separate) {
  if (n <= 0) return 0;
  const auto bytes = n * static_cast<std::ptrdiff_t>(Rule::input_bytes);
  return threaded_selection<Rule>(rule, n).run(separate ? useful_threads(bytes) : 1);
}

/// Those that differ from their predecessor. The predecessors of tiles are copied before the
/// selection begins, since the thread of the left tile may be writing them.
template <class Keys, class Equal, class Item>
class by_predecessor {
  using key = value_t<Keys>;
  using reference = decltype(std::declval<Keys &>()[std::ptrdiff_t{}]);
  static constexpr std::ptrdiff_t tile_items = selection_tile<Item>();

public:
  by_predecessor(Keys keys, std::ptrdiff_t n, Equal equal)
      : keys_(keys), equal_(equal), saved_(std::make_shared<copies<key>>()) {
    for (std::ptrdiff_t i = tile_items; i < n; i += tile_items)
      saved_->push_back({static_cast<key>(keys[i - 1])});
  }
  template <class Reference>
  bool operator()(std::ptrdiff_t i, Reference &&) {
    if (i == 0) return true;
    if (i % tile_items == 0)
      return !detail::are_equal<key, reference>(
          (*saved_)[static_cast<std::size_t>(i / tile_items - 1)].item, keys_[i], equal_);
    return !detail::are_equal<key, reference>(keys_[i - 1], keys_[i], equal_);
  }

private:
  Keys keys_;
  Equal equal_;
  std::shared_ptr<copies<key>> saved_;
};

/// The last item of each run of equal keys, among n.
template <class Keys, class Equal>
struct by_successor {
  Keys keys;
  std::ptrdiff_t n;
  Equal equal;
  template <class Reference>
  bool operator()(std::ptrdiff_t i, Reference &&) {
    using key = value_t<Keys>;
    using reference = decltype(keys[i]);
    return i == n - 1 || !detail::are_equal<key, reference>(keys[i], keys[i + 1], equal);
  }
};

// ---- where they go ------------------------------------------------------------------------------

/// What the rules for the items of an iterator have in common: all but where the items go.
template <class Input, class Which>
struct kept_from {
  using item = value_t<Input>;
  static constexpr std::size_t input_bytes = sizeof(item);
  static constexpr bool places_rejected = false, counts_only = false;
  Input input;
  Which which;

  void begin_tile(std::ptrdiff_t) {}
  template <class Items>
  void carry(std::size_t, Items &) {}
};
/// Items of one iterator to another.
template <class Input, class Which, class Output>
struct kept_to : kept_from<Input, Which> {
  using item = value_t<Input>;
  Output output;

  void put(std::ptrdiff_t rank, const item &x) { *(output + rank) = x; }
};
/// The same, and the rejected ones to a third.
template <class Input, class Which, class Output, class Rejects>
struct kept_and_rejected_to : kept_to<Input, Which, Output> {
  static constexpr bool places_rejected = true;
  Rejects rejects;

  template <class Items>
  void put_rejected(std::size_t, std::ptrdiff_t rank, Items &items) {
    for (std::size_t k = 0; k < items.size(); ++k)
      *(rejects + (rank + static_cast<std::ptrdiff_t>(k))) = items[k];
  }
};
/// The same in place: rejected items are kept by tiles until the end.
template <class Iterator, class Which>
struct kept_in_place : kept_to<Iterator, Which, Iterator> {
  static constexpr bool places_rejected = true;
  copies<value_t<Iterator>> *rejected;

  template <class Items>
  void put_rejected(std::size_t tile, std::ptrdiff_t, Items &items) {
    rejected[tile].reserve(items.size());
    for (std::size_t k = 0; k < items.size(); ++k) rejected[tile].push_back({items[k]});
  }
};
/// Nowhere: the items are only counted.
template <class Input, class Which>
struct kept_counted : kept_from<Input, Which> {
  static constexpr bool counts_only = true;
  void put(std::ptrdiff_t, const value_t<Input> &) {}
};

/// The first keys of the runs of equal keys, and the sums of their values, which are integers: they
/// wrap, so that every order of the additions gives the same bits. An item is where its run begins
/// and its sum so far, both within the tile; the last of each run is kept. To the first that a tile
/// keeps belongs what the tiles to the left have left open.
template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal>
struct sums_of_runs {
  using value = value_t<Values>;
  using word = std::make_unsigned_t<value>;
  struct item {
    std::ptrdiff_t first;
    word sum;
  };
  struct so_far {
    Values values;
    item run;
    item operator[](std::ptrdiff_t i) {
      run.sum = static_cast<word>(run.sum + static_cast<word>(static_cast<value>(values[i])));
      return run;
    }
  };
  static constexpr std::size_t input_bytes = sizeof(value_t<Keys>) + sizeof(value);
  static constexpr bool places_rejected = false, counts_only = false;

  so_far input;
  by_successor<Keys, Equal> is_last;
  KeysOut keys_output;
  ValuesOut values_output;
  item *open; // by tile: the run that its right neighbour continues, or will begin

  void begin_tile(std::ptrdiff_t i) { input.run = {i, 0}; }
  bool which(std::ptrdiff_t i, const item &run) {
    const bool ends = is_last(i, run);
    input.run = {ends ? i + 1 : run.first, ends ? word{0} : run.sum};
    return ends;
  }
  template <class Items>
  void carry(std::size_t tile, Items &kept) {
    const item left = tile > 0 ? open[tile - 1] : item{0, 0};
    item &continued = kept.size() > 0 ? kept[0] : input.run;
    continued = {left.first, static_cast<word>(left.sum + continued.sum)};
    open[tile] = input.run;
  }
  void put(std::ptrdiff_t rank, const item &run) {
    *(keys_output + rank) = static_cast<value_t<Keys>>(is_last.keys[run.first]);
    *(values_output + rank) = static_cast<value>(run.sum);
  }
};

/// n accumulators in memory: copies of `values`, unless their type needs no construction.
template <class T, bool = std::is_trivially_copyable<T>::value>
class accumulators {
public:
  template <class Values>
  accumulators(Values, std::ptrdiff_t n) : memory_(static_cast<std::size_t>(n)) {}
  T *address() { return memory_.address(); }
  /// The input of a scan to address().
  template <class Values>
  Values source(Values values) {
    return values;
  }

private:
  heap_storage<T> memory_;
};
template <class T>
class accumulators<T, false> {
public:
  template <class Values>
  accumulators(Values values, std::ptrdiff_t n) {
    memory_.reserve(static_cast<std::size_t>(n));
    for (std::ptrdiff_t i = 0; i < n; ++i) memory_.push_back({static_cast<T>(values[i])});
  }
  T *address() { return std::addressof(memory_.front().item); }
  template <class Values>
  T *source(Values) {
    return address();
  }

private:
  static_assert(sizeof(copied<T>) == sizeof(T), "the items must be adjacent");
  copies<T> memory_;
};

/// Moves the kept items of [first, first + n) to its beginning and the others behind them. Both
/// keep their order. Returns the number of kept items.
template <class Iterator, class Which>
std::ptrdiff_t partition_in_place(Iterator first, std::ptrdiff_t n, const Which &which) {
  using rule = kept_in_place<Iterator, Which>;
  using item = typename rule::item;
  if (n <= 0) return 0;
  const auto tiles = static_cast<std::size_t>((n - 1) / selection_tile<item>() + 1);
  const auto rejected = std::make_unique<copies<item>[]>(tiles);
  const std::ptrdiff_t kept = detail::select(rule{{{first, which}, first}, rejected.get()}, n,
                                             separate_results<Iterator>::value);
  std::ptrdiff_t place = kept;
  for (std::size_t tile = 0; tile < tiles; ++tile)
    for (const auto &one : rejected[tile]) *(first + place++) = one.item;
  return kept;
}

// ---- calls ------------------------------------------------------------------------------------

template <class Input, class Output, class Which>
Output copy_kept(Input first, Input last, Output result, const Which &which) {
  using rule = kept_to<Input, Which, Output>;
  return result + detail::select(rule{{first, which}, result}, last - first,
                                 separate_results<Output>::value);
}

template <class Input, class Kept, class Rejects, class Which>
thrust::pair<Kept, Rejects> copy_parted(Input first, Input last, Kept kept, Rejects rejects,
                                        const Which &which) {
  using rule = kept_and_rejected_to<Input, Which, Kept, Rejects>;
  const std::ptrdiff_t n = last - first;
  if (n <= 0) return {kept, rejects};
  const std::ptrdiff_t rank =
      detail::select(rule{{{first, which}, kept}, rejects}, n,
                     separate_results<Kept>::value && separate_results<Rejects>::value);
  return {kept + rank, rejects + (n - rank)};
}

/// Copies the items of [first, first + n) that are the first of runs of equal keys.
template <class Keys, class Input, class Output, class Equal>
Output copy_heads(Keys keys, Input first, std::ptrdiff_t n, Output result, Equal equal) {
  using which = by_predecessor<Keys, Equal, value_t<Input>>;
  return detail::copy_kept(first, first + n, result, which(keys, n, equal));
}
template <class Keys, class Equal>
std::ptrdiff_t count_heads(Keys keys, std::ptrdiff_t n, Equal equal) {
  using which = by_predecessor<Keys, Equal, value_t<Keys>>;
  return detail::select(kept_counted<Keys, which>{{keys, which(keys, n, equal)}}, n, true);
}
/// Whether the runs' reductions are sums of integers.
template <class Operator, class T>
inline constexpr bool adds_integers = std::is_integral<T>::value &&is_integer<T>
    &&std::is_same<own_operator_t<Operator, T>, plus>::value;

/// Copies the first keys of the runs of equal keys, and the reductions of their values, of n >= 1:
/// the results of a scan by key, unless the bits are known without it.
template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal, class Operator>
thrust::pair<KeysOut, ValuesOut> reduce_runs(Keys keys, std::ptrdiff_t n, Values values,
                                             KeysOut keys_result, ValuesOut values_result,
                                             Equal equal, Operator op) {
  using T = value_t<Values>;
  if constexpr (adds_integers<Operator, T>) {
    using rule = sums_of_runs<Keys, Values, KeysOut, ValuesOut, Equal>;
    using item = typename rule::item;
    const auto tiles = static_cast<std::size_t>((n - 1) / selection_tile<item>() + 1);
    const auto open = std::make_unique<item[]>(tiles);
    const std::ptrdiff_t runs =
        detail::select(rule{{values, {}}, {keys, n, equal}, keys_result, values_result, open.get()},
                       n, separate_results<KeysOut>::value && separate_results<ValuesOut>::value);
    return {keys_result + runs, values_result + runs};
  } else {
    accumulators<T> scanned(values, n);
    detail::scan(
        make_inclusive_by_key<T>(keys, scanned.source(values), scanned.address(), equal, op)
            .over({static_cast<std::uint64_t>(n)}));
    const ValuesOut values_end =
        detail::copy_kept(scanned.address(), scanned.address() + n, values_result,
                          by_successor<Keys, Equal>{keys, n, equal});
    return {detail::copy_heads(keys, keys, n, keys_result, equal), values_end};
  }
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback

#endif
