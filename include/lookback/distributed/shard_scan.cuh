// SPDX-License-Identifier: MIT
// The scan of one rank's shard, on the threads of the CPU, with the bits of one scan of the whole
// sequence.
//
//   exchange 1    the shards' lengths, and whether the calls agree
//   exchange 2    by key: the last key of each shard
//   exchange 3    open items: those of tiles that a later shard ends
//   exchange 4    the aggregates of the tiles and groups that end in each shard
//
// Every rank then folds the aggregates of the ranks before it, in the tree's order, to the prefix
// of the tile in which its shard begins, and scans its shard from there:
//
//   head      to the end of the tile in which the shard begins, element by element
//   lead      tiles up to the end of the group, if groups follow
//   groups    on all threads
//   tail      the rest
#pragma once

#include <lookback/core/tree.cuh>
#include <lookback/host/host_scan.cuh>

#if defined(__CUDA_ARCH__)
namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// nvcc's pass for device code compiles no host function, so it need not read the headers of host/.
/// It sees only this call of the user's operator, without which it would warn that the operator's
/// function is never called.
template <class Communicator, class Make>
void scan_shard(const Communicator &, std::int64_t, Make make) {
  auto problem = make(0);
  using T = typename decltype(problem)::accumulator;
  const T x = as_accumulator<T>(static_cast<typename decltype(problem)::item>(problem.input[0]));
  static_cast<void>(problem.op(x, x));
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
#else

#include <lookback/distributed/call_record.cuh>
#include <lookback/distributed/keyed_shard.cuh>
#include <lookback/distributed/known_shards.cuh>
#include <lookback/distributed/shard_layout.cuh>

#include <atomic>
#include <cstring>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Values of each rank: `most` places a rank, of which a rank may use fewer.
template <class T>
class gathered_values {
public:
  /// `fill(own)` constructs the values of this rank. Exchanges nothing if `most` is 0.
  template <class Communicator, class Fill>
  gathered_values(const Communicator &ranks, std::uint64_t most, Fill fill)
      : most_(most), values_(most * static_cast<std::size_t>(ranks.size())) {
    if (most == 0) return;
    const heap_storage<T> own(most);
    std::memset(static_cast<void *>(own.address()), 0, most * sizeof(T));
    fill(own.address());
    ranks.all_gather(own.address(), most * sizeof(T), values_.address());
  }
  const T *of(int rank) const { return values_.address() + static_cast<std::size_t>(rank) * most_; }

private:
  std::size_t most_;
  heap_storage<T> values_; // (ranks, most)
};

/// `make(at)` is the problem of the shard's elements from `at` on.
template <class Communicator, class Make>
class shard_scan {
  using given = decltype(std::declval<const Make &>()(std::int64_t{}));
  using T = typename given::accumulator;
  using shape = typename given::shape;
  static constexpr bool by_key = boundary_of<typename given::input_type>::exists;
  using input_type = std::conditional_t<by_key, keyed_shard<typename given::input_type, known_head>,
                                        typename given::input_type>;
  /// A part of the shard; its prefix may not exist.
  using part_type = scan_problem<given::inclusive, T, input_type, decltype(given::op),
                                 maybe_initial<T>, typename given::sink_type>;
  static constexpr std::int64_t tile = shape::tile_elements, group = group_elements<shape>;
  static_assert(std::is_trivially_copyable<T>::value,
                "lookback: the accumulator of a distributed scan must be trivially copyable, since "
                "ranks exchange its bytes");

public:
  shard_scan(const Communicator &ranks, const shard_layout<shape> &layout, const Make &make)
      : ranks_(ranks), layout_(layout), make_(make), rank_(ranks.rank()),
        n_(static_cast<std::int64_t>(layout.items(rank_))),
        head_items_(std::min<std::int64_t>(
            n_, static_cast<std::int64_t>((tile - layout.begin(rank_) % tile) % tile))),
        first_is_head_(starts_segment()),
        open_(ranks, layout.most_open_items(), [this](T *own) { copy_open_items(own); }),
        aggregates_(ranks, layout.most_records(), [this](T *own) { reduce(own); }),
        tiles_(initial_of<T>(make(0).initial)) {}

  void scan() {
    if (n_ <= 0) return;
    auto op = make_(0).op;
    fold_aggregates(op);
    begin_first_tile(tile_, tiles_.prefix(), op);
    if constexpr (is_integer_sum<given>)
      scan_integers();
    else
      scan_parts(op);
  }

private:
  // ---- the elements -----------------------------------------------------------------------------

  /// By key: whether a segment starts with the first element.
  bool starts_segment() const {
    if constexpr (by_key) {
      using key = typename boundary_of<typename given::input_type>::type;
      static_assert(std::is_trivially_copyable<key>::value,
                    "lookback: the keys of a distributed scan must be trivially copyable, since "
                    "ranks exchange their bytes");
      const gathered_values<key> last(ranks_, 1, [this](key *own) {
        if (n_ > 0) construct(*own, static_cast<key>(make_(n_ - 1).input.keys()[0]));
      });
      const auto input = make_(0).input;
      for (int rank = rank_ - 1; rank >= 0 && n_ > 0; --rank)
        if (layout_.items(rank) > 0) return input.is_head(*last.of(rank), input.keys()[0]);
    }
    return true;
  }

  /// The elements from `at` on. By key, reads keys: must be called before results are written.
  input_type input_from(std::int64_t at) const {
    const auto input = make_(at).input;
    if constexpr (by_key) {
      bool is_head = first_is_head_;
      if (at > 0 && at < n_) is_head = input.is_head(input.keys()[-1], input.keys()[0]);
      return {input, known_head{is_head}};
    } else {
      return input;
    }
  }
  /// The problem of `items` elements from `at` on, without its prefix.
  part_type part(std::int64_t at, std::int64_t items) const {
    const auto problem = make_(at);
    return {input_from(at), problem.op, {}, problem.sink, {static_cast<std::uint64_t>(items)}};
  }

  // ---- before the exchange ----------------------------------------------------------------------

  void copy_open_items(T *own) const {
    const auto count = static_cast<std::int64_t>(layout_.open_items(rank_));
    if (count == 0) return;
    const items_view<part_type> items(input_from(n_ - count));
    for (std::int64_t i = 0; i < count; ++i) construct(own[i], items[i]);
  }

  /// The aggregates of the tiles and groups that end in the shard, on all threads.
  void reduce(T *own) const {
    using tile_scan =
        std::conditional_t<is_integer_sum<part_type>, sum_tile<part_type>, tree_tile<part_type>>;
    const tree_parts sent = layout_.tiles(rank_);
    std::atomic<std::uint64_t> next{0};
    crew reducers;
    reducers.run(sent.count() > 0 ? threads_for(n_) : 1, [&] {
      if (next >= sent.count()) return;
      const auto memory = std::make_unique<tile_scan>(part(head_items_, n_ - head_items_), false);
      for (std::uint64_t i; !reducers.has_failed() && (i = next++) < sent.count();)
        construct(own[i], aggregate_of(sent[i], *memory));
    });
  }
  template <class Tile>
  T aggregate_of(const tree_parts::part &sent, Tile &memory) const {
    if (sent.tiles == 1) return aggregate_of_tile(sent.first, memory);
    auto op = make_(0).op;
    lanes<T> aggregates, within;
    for (int t = 0; t < shape::group_tiles; ++t)
      aggregates.set(t, aggregate_of_tile(sent.first + static_cast<unsigned>(t), memory));
    kogge_stone(aggregates, within, shape::group_tiles, op);
    return within[shape::group_tiles - 1];
  }
  template <class Tile>
  T aggregate_of_tile(std::uint64_t index, Tile &memory) const {
    const std::uint64_t first = index * tile;
    if (first < layout_.begin(rank_)) {
      auto op = make_(0).op;
      const auto first_tile = std::make_unique<growing_tile<T, shape>>();
      begin_first_tile(*first_tile, {}, op);
      const items_view<part_type> items(input_from(0));
      first_tile->template scan<true>(
          head_items_, [&](std::int64_t i) -> T { return items[i]; }, op, no_results);
      return first_tile->aggregate();
    }
    simt::line_prefetcher none;
    memory.reduce(static_cast<std::ptrdiff_t>(first - layout_.begin(rank_)) - head_items_,
                  static_cast<int>(tile), none);
    return memory.aggregate();
  }
  static void no_results(std::int64_t, const T &, const T &) {}

  // ---- after the exchange -----------------------------------------------------------------------

  /// Extends the prefix by the tiles and groups that end before the shard.
  template <class Operator>
  void fold_aggregates(Operator &op) {
    for (int rank = 0; rank < rank_; ++rank) {
      const tree_parts sent = layout_.tiles(rank);
      for (std::uint64_t i = 0; i < sent.count(); ++i) {
        const T &aggregate = aggregates_.of(rank)[i];
        if (sent[i].tiles == 1) {
          tiles_.push(aggregate, op);
        } else {
          maybe<T> prefix = tiles_.prefix();
          prefix.append(op, aggregate);
          tiles_.begin_group(prefix);
        }
      }
    }
  }
  /// Begins the tile that contains the first element, with the items of the ranks before this one.
  template <class Operator>
  void begin_first_tile(growing_tile<T, shape> &first, const maybe<T> &prefix, Operator &op) const {
    first.begin(prefix);
    for (int rank = 0; rank < rank_; ++rank)
      if (layout_.end(rank) > layout_.first_tile_begin(rank_))
        first.template scan<true>(
            static_cast<std::int64_t>(layout_.open_items(rank)),
            [&](std::int64_t i) -> const T & { return open_.of(rank)[i]; }, op, no_results);
  }

  void scan_integers() {
    const T *const prefix = tile_.prefix().get();
    const auto problem = make_(0);
    detail::scan(scan_problem<given::inclusive, T, typename given::input_type, decltype(given::op),
                              initial_value<T>, typename given::sink_type>(
        problem.input, problem.op, {prefix != nullptr ? *prefix : T{}}, problem.sink,
        linear{static_cast<std::uint64_t>(n_)}));
  }
  template <class Operator>
  void scan_parts(Operator &op) {
    // By key, all parts read keys that the results may overwrite, so all are made first.
    const std::int64_t rest = n_ - head_items_;
    const auto tiles_ended =
        static_cast<std::int64_t>(layout_.begin(rank_) / tile) + (head_items_ > 0 ? 1 : 0);
    const std::int64_t to_group = -tiles_ended & (shape::group_tiles - 1);
    const std::size_t threads = threads_for(rest);
    const bool has_groups = threads > 1 && rest - to_group * tile >= group;
    const std::int64_t lead_items = has_groups ? to_group * tile : 0;
    const std::int64_t group_items = has_groups ? (rest - lead_items) / group * group : 0;
    const part_type head = part(0, head_items_), lead = part(head_items_, lead_items);
    part_type groups = part(head_items_ + lead_items, group_items);
    const part_type tail =
        part(head_items_ + lead_items + group_items, rest - lead_items - group_items);

    scan_head(head, op);
    if (lead_items > 0) scan_from_tiles<true>(lead, tiles_);
    if constexpr (separate_results<typename given::output_type>::value) {
      if (group_items > 0) {
        groups.initial.value = tiles_.prefix();
        threaded_scan<part_type, true> threaded(groups);
        threaded.run(threads);
        maybe<T> next;
        next.set(threaded.next_group_prefix());
        tiles_.begin_group(next);
      }
    }
    if (tail.extent.items > 0) scan_from_tiles<false>(tail, tiles_);
  }
  template <class Operator>
  void scan_head(const part_type &head, Operator &op) {
    using stored = typename part_type::stored;
    if (head_items_ == 0) return;
    // All are read before results are written: by key, an item is read with the key before it.
    const items_view<part_type> input(head.input);
    const heap_storage<T> items(static_cast<std::size_t>(head_items_));
    for (std::int64_t i = 0; i < head_items_; ++i) construct(items.address()[i], input[i]);
    tile_.template scan<given::inclusive>(
        head_items_, [&](std::int64_t i) -> const T & { return items.address()[i]; }, op,
        [&](std::int64_t i, const T &scanned, const T &x) {
          head.sink.output[i] = static_cast<stored>(head.sink.project(scanned, x));
        });
    if (tile_.is_full()) tiles_.push(tile_.aggregate(), op);
  }

  static std::size_t threads_for(std::int64_t items) {
    if constexpr (separate_results<typename given::output_type>::value)
      return useful_threads(items * static_cast<std::int64_t>(shape::element_bytes));
    else
      return 1;
  }

  const Communicator &ranks_;
  const shard_layout<shape> &layout_;
  const Make &make_;
  const int rank_;
  const std::int64_t n_;
  const std::int64_t head_items_; // that end the tile in which the shard begins
  const bool first_is_head_;
  const gathered_values<T> open_, aggregates_;
  tiles_before<T> tiles_;       // before the next tile
  growing_tile<T, shape> tile_; // in which the shard begins
};

/// Exchange 1, unless its outcome is known: the lengths of all shards.
template <class Problem, class Communicator>
std::vector<std::uint64_t> exchange_lengths(const Communicator &ranks, std::int64_t n) {
  return lengths_of(for_all_ranks(
      ranks, [&] { return gather_calls(ranks, record_of_call<Problem>(ranks.size(), n)); }));
}
template <class Problem, class Communicator>
std::vector<std::uint64_t> exchange_lengths(const distributed::known_shards<Communicator> &ranks,
                                            std::int64_t n) {
  return for_all_ranks(ranks, [&] { return known_lengths(ranks, n); });
}

/// Scans the n elements of the problem that `make(0)` describes, as the shard of this rank.
/// `make(at)` describes those from `at` on.
template <class Communicator, class Make>
void scan_shard(const Communicator &ranks, std::int64_t n, Make make) {
  using problem = decltype(make(std::int64_t{}));
  const shard_layout<typename problem::shape> layout(exchange_lengths<problem>(ranks, n));
  for_all_ranks(ranks, [&] {
    const auto &others = exchanging(ranks);
    using shard = shard_scan<std::decay_t<decltype(others)>, Make>;
    std::make_unique<shard>(others, layout, make)->scan();
  });
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback

#endif
