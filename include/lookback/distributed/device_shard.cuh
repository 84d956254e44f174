// SPDX-License-Identifier: MIT
// The scan of one rank's shard on a GPU, with the bits of one scan of the whole sequence. Its
// steps, and the exchanges between ranks before each of them:
//
//   exchange 1          the shards' lengths, and whether the calls agree (the host waits for it)
//   copy_keys()         by key: the last key of the shard
//   exchange 2          by key: these keys, which tell whether a segment starts with a shard
//   copy_open_items()   the last items of the shard, if a later shard ends their group
//   exchange 3          open items
//   reduce()            the aggregates of the groups that end in the shard
//   exchange 4          aggregates
//   scan()              folds the aggregates before the shard into a prefix, and scans
//
// A scan that starts with a group, from the group's prefix as its initial value, has the bits of
// the tree. So the shard has two parts, scanned by the strategies that scan any sequence:
//
//   head      the elements before the first group that begins in the shard, fewer than a group.
//             They are scanned in a copy, behind the open items of earlier shards
//   body      the rest, in place
//
// By key, items are (value, head) pairs.
#pragma once

#include <lookback/core/output_after.cuh>
#include <lookback/dispatch/algorithm.cuh>
#include <lookback/distributed/keyed_shard.cuh>
#include <lookback/distributed/shard_layout.cuh>
#include <lookback/strategy/fold_groups.cuh>
#include <lookback/strategy/group_aggregates.cuh>

#include <algorithm>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A shard's keys and values wait in shared memory like those of any input. Only the first key is
/// compared with one that is not in front of it.
template <class Keyed, class First>
struct staged_input<keyed_shard<Keyed, First>, void> : staged_input<Keyed> {
  template <int E, bool Shifts>
  class vector : public staged_input<Keyed>::template vector<E, Shifts> {
  public:
    LOOKBACK_DEVICE vector(const keyed_shard<Keyed, First> &input, const unsigned char *const *rows,
                           const bool *aligned, unsigned tile, int row, int count)
        : staged_input<Keyed>::template vector<E, Shifts>(input, rows, aligned, tile, row, count) {
      if (tile != 0 || row != 0 || simt::lane_index() != 0) return; // mutant: shard-vector
      if (!input.first_is_head(*reinterpret_cast<const typename Keyed::key *>(rows[1])))
        this->heads_ &= ~1u;
    }
  };
};

/// The type of the keys that a boundary_of has; without keys, any.
template <class Boundary, class = void>
struct key_of_boundary {
  using type = char;
};
template <class Boundary>
struct key_of_boundary<Boundary, std::enable_if_t<Boundary::exists>> {
  using type = typename Boundary::type;
};

/// The tree's groups in the role of a layout's tiles: the parts that no exchange divides.
template <class Shape>
struct groups_as_tiles {
  static constexpr std::uint64_t tile_elements = group_elements<Shape>;
  static constexpr int group_tiles = 1;
};

/// `make(at)` is the problem of the shard's elements from `at` on. Body is the list of strategies
/// of bodies, Head that of heads; Rows is the tuning of the reduction.
template <class Make, class Body, class Head, class Rows>
class device_shard {
  using given = decltype(std::declval<const Make &>()(std::int64_t{}));
  using T = typename given::accumulator;
  using item = typename given::item;
  using shape = typename given::shape;
  using boundary = boundary_of<typename given::input_type>;
  static constexpr bool by_key = boundary::exists;
  using key = typename key_of_boundary<boundary>::type;
  using input_type =
      std::conditional_t<by_key, keyed_shard<typename given::input_type, head_after_key<key>>,
                         typename given::input_type>;
  using future = FutureValue<T, const T *>;
  using head_output = output_after<typename given::output_type, typename given::stored>;
  using head_sink = dense<head_output, decltype(given::sink_type::project)>;
  template <class Input, class Sink, class Initial>
  using part = scan_problem<given::inclusive, T, Input, decltype(given::op), Initial, Sink>;
  template <class Initial>
  using head_type = part<item *, head_sink, Initial>;
  template <class Initial>
  using body_type = part<input_type, typename given::sink_type, Initial>;
  using any_prefix = initial_value<future>;
  using aggregates = group_aggregates<Rows>;
  static constexpr bool has_initial = given::initial_type::exists;
  /// Saves the kernels without a prefix: see reduce().
  static constexpr bool any_prefix_will_do = by_key && !has_initial;
  static constexpr std::int64_t group = group_elements<shape>;

  static_assert(std::is_trivially_copyable<T>::value && std::is_trivially_copyable<item>::value &&
                    std::is_trivially_copyable<key>::value,
                "lookback: elements, keys and accumulator of a distributed scan on a GPU must be "
                "trivially copyable, since ranks exchange their bytes");
  static_assert(aggregates::template supports<given>,
                "lookback: elements and accumulator of a distributed scan on a GPU must have fewer "
                "than 512 bytes");
  static_assert(std::is_same<typename head_type<any_prefix>::shape, shape>::value,
                "a head has the tree of its sequence");

public:
  using layout_type = shard_layout<groups_as_tiles<shape>>;

  device_shard(const Make &make, const layout_type &layout, int rank)
      : make_(make), layout_(layout), rank_(rank),
        n_(static_cast<std::int64_t>(layout.items(rank))),
        known_items_(n_ > 0 ? static_cast<std::int64_t>(layout.begin(rank)) % group : 0),
        head_items_(known_items_ > 0 ? std::min(n_, group - known_items_) : 0) {}

  /// Bytes of the temporary memory that bind() takes.
  template <class Launch>
  std::size_t bytes(Launch &launch) {
    work_bytes_ = 0;
    const auto need = [&](std::size_t bytes) { work_bytes_ = std::max(work_bytes_, bytes); };
    const std::uint64_t groups = std::max<std::uint64_t>(own_groups(), 1);
    need(temporary_memory::bytes_for(
        aggregates::storage(make_(0).over({groups * static_cast<std::uint64_t>(group)}))));
    const any_prefix prefix{future(nullptr)};
    std::size_t of_part = 0;
    Body::scan(nullptr, of_part, body_problem(prefix), n_ - head_items_, launch);
    need(of_part);
    Head::scan(nullptr, of_part, head_problem(prefix), known_items_ + head_items_, launch);
    need(of_part);
    place(nullptr);
    return temporary_memory::bytes_for(memory_.bytes());
  }
  void bind(void *memory) { place(memory); }

  /// The buffers of an exchange. Every rank sends `bytes` bytes, the same number on all ranks.
  struct exchange {
    const void *own;
    std::size_t bytes;
    void *all;
  };
  exchange last_keys() const { return {own_keys_, by_key ? sizeof(key) : 0, keys_}; }
  exchange open_items() const { return {own_open_, most_open() * sizeof(item), open_}; }
  exchange group_records() const { return {own_records_, most_records() * sizeof(T), records_}; }

  /// Also copies the last key of the head, which results may overwrite.
  template <class Launch>
  void copy_keys(Launch &launch) {
    if constexpr (by_key) {
      if (n_ > 0) stage_items(make_(n_ - 1).input.keys(), 1, own_keys_, launch);
      if (head_items_ > 0)
        stage_items(make_(head_items_ - 1).input.keys(), 1, own_keys_ + 1, launch);
    }
  }

  template <class Launch>
  void copy_open_items(Launch &launch) {
    const std::uint64_t count = layout_.open_items(rank_);
    if (count > 0)
      stage_items(input_from(0) + (n_ - static_cast<std::int64_t>(count)), count, own_open_,
                  launch);
  }

  /// Also copies the head, which results may overwrite.
  template <class Launch>
  void reduce(Launch &launch) {
    const std::int64_t records = own_groups();
    if (head_items_ > 0) {
      copy_head(launch);
      if (ends_head() && (records > 0 || head_items_ < n_))
        reduce(head_problem(any_prefix{future(prefixes_)}), group, own_records_, launch);
    }
    const std::int64_t whole = records - (records > 0 && head_items_ > 0 ? 1 : 0);
    if (whole > 0)
      reduce(body_problem(any_prefix{future(prefixes_)}), whole * group,
             own_records_ + (head_items_ > 0 ? 1 : 0), launch);
    // By key, a segment starts with the first item of all: no prefix before it matters.
    if constexpr (any_prefix_will_do)
      if (n_ > 0 && begins_in_first_group()) stage_items(input_from(0), 1, prefixes_, launch);
  }

  /// Returns the status of the launches.
  template <class Launch>
  typename Launch::status_type scan(Launch &launch) {
    if (n_ <= 0) return launch.status();
    const bool has_head = head_items_ > 0;
    const bool has_body = head_items_ < n_;
    if (has_initial || !begins_in_first_group() || has_head)
      fold_groups(
          make_(0).op, make_(0).initial, records_, most_records(), rank_,
          [this](int rank) { return layout_.tiles(rank).count(); },
          has_head && has_body ? own_records_ : nullptr, prefixes_, launch);
    if (has_head) {
      const auto status =
          scan_part<Head>([this](auto initial) { return head_problem(initial); },
                          known_items_ + head_items_, !begins_in_first_group(), prefixes_, launch);
      if (status != typename Launch::status_type{} || !has_body) return status;
    }
    return scan_part<Body>([this](auto initial) { return body_problem(initial); }, n_ - head_items_,
                           !begins_in_first_group() || has_head, prefixes_ + (has_head ? 1 : 0),
                           launch);
  }

private:
  std::uint64_t most_open() const { return layout_.most_open_items(); }
  std::uint64_t most_records() const { return layout_.most_records(); }
  std::int64_t own_groups() const {
    return static_cast<std::int64_t>(layout_.tiles(rank_).count());
  }
  bool ends_head() const { return known_items_ + head_items_ == group; }
  bool begins_in_first_group() const {
    return layout_.begin(rank_) < static_cast<std::uint64_t>(group);
  }

  /// The elements from `at` on, which is 0 or the number of elements of the head.
  input_type input_from(std::int64_t at) const {
    const auto input = make_(at).input;
    if constexpr (by_key)
      return {input, head_after_key<key>{at == 0 ? key_before_shard() : own_keys_ + 1}};
    else
      return input;
  }
  /// By key: where the key before the shard is, or null.
  const key *key_before_shard() const {
    for (int rank = rank_ - 1; rank >= 0; --rank)
      if (layout_.items(rank) > 0) return keys_ + rank; // mutant: shard-key
    return nullptr;
  }

  template <class Initial>
  auto head_problem(const Initial &initial) const {
    const given whole = make_(0);
    return head_type<Initial>(head_, whole.op, initial,
                              {head_output(whole.sink.output, -known_items_), whole.sink.project});
  }
  template <class Initial>
  auto body_problem(const Initial &initial) const {
    const given body = make_(head_items_);
    return body_type<Initial>(input_from(head_items_), body.op, initial, body.sink);
  }

  /// Scans a part by `Strategies`. `make(initial)` is its problem; its prefix is at `prefix`.
  template <class Strategies, class MakePart, class Launch>
  typename Launch::status_type scan_part(MakePart make, std::int64_t items, bool has_prefix,
                                         const T *prefix, Launch &launch) const {
    std::size_t bytes = work_bytes_;
    if constexpr (!has_initial && !any_prefix_will_do)
      if (!has_prefix) return Strategies::scan(work_, bytes, make(no_initial{}), items, launch);
    return Strategies::scan(work_, bytes, make(any_prefix{future(prefix)}), items, launch);
  }
  template <class Problem, class Launch>
  void reduce(const Problem &problem, std::int64_t items, T *to, Launch &launch) const {
    temporary_memory memory(work_);
    aggregates::run(problem.over({static_cast<std::uint64_t>(items)}), 0, to, memory, launch);
  }
  /// Copies the items of the head's group up to the end of the group or of the shard.
  template <class Launch>
  void copy_head(Launch &launch) const {
    item *to = head_;
    const std::uint64_t begin = layout_.first_tile_begin(rank_);
    for (int rank = 0; rank < rank_; ++rank) {
      if (layout_.end(rank) <= begin) continue;
      const item *const from = open_ + static_cast<std::uint64_t>(rank) * most_open();
      stage_items(from, layout_.open_items(rank), to, launch);
      to += layout_.open_items(rank); // mutant: head-known
    }
    stage_items(input_from(0), static_cast<std::uint64_t>(head_items_), to, launch);
  }

  /// Divides the temporary memory at `memory`; if it is null, only adds up the size.
  void place(void *memory) {
    memory_ = memory == nullptr ? temporary_memory() : temporary_memory(memory);
    const auto ranks = static_cast<std::uint64_t>(layout_.ranks());
    prefixes_ = memory_.take<T>(2);
    own_keys_ = memory_.take<key>(by_key ? 2 : 0);
    keys_ = memory_.take<key>(by_key ? ranks : 0);
    own_open_ = memory_.take<item>(most_open());
    open_ = memory_.take<item>(most_open() * ranks);
    head_ = memory_.take<item>(head_items_ > 0 ? group : 0);
    // A rank that sends no aggregate may itself need that of its head's group.
    own_records_ = memory_.take<T>(std::max<std::uint64_t>(most_records(), 1));
    records_ = memory_.take<T>(most_records() * ranks);
    work_ = memory_.take<char>(work_bytes_);
  }

  const Make &make_;
  const layout_type &layout_;
  const int rank_;
  const std::int64_t n_;
  const std::int64_t known_items_; // of the head's group, before the shard
  const std::int64_t head_items_;
  temporary_memory memory_;
  std::size_t work_bytes_ = 0;
  T *prefixes_ = nullptr;                         // of the head's group, and of the body's first
  key *own_keys_ = nullptr, *keys_ = nullptr;     // last keys: of the shard, of its head; (ranks)
  item *own_open_ = nullptr, *open_ = nullptr;    // (ranks, most_open)
  item *head_ = nullptr;                          // (group)
  T *own_records_ = nullptr, *records_ = nullptr; // (ranks, most_records)
  char *work_ = nullptr;                          // of one step at a time
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
