// SPDX-License-Identifier: MIT
// One chunk of a sequence that arrives in chunks, on a GPU, with the bits of one scan of the whole
// sequence.
//
// A scan that starts with a group, from the group's prefix as its initial value, has the bits of
// the tree. So the chunk has two parts, scanned by the strategies that scan any sequence:
//
//   head      the elements up to the end of the open group, in which the chunk before ended.
//             They are scanned in a copy, behind the items of that group from earlier chunks
//   body      the rest, in place
//
// Between chunks, the items and the prefix of the open group are kept. A full group stays open
// until the next element arrives. Then its aggregate extends the prefix, the body is scanned from
// there, and its scan also passes on the prefix of its last group, which is open from now on. So
// every element is read once, but for those of the open groups.
#pragma once

#include <lookback/core/output_after.cuh>
#include <lookback/dispatch/algorithm.cuh>
#include <lookback/strategy/fold_groups.cuh>
#include <lookback/strategy/group_aggregates.cuh>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// One value in place of a sequence of them.
template <class T>
struct repeated_value {
  T value;
  LOOKBACK_HOST_DEVICE const T &operator[](std::ptrdiff_t) const { return value; }
};

/// The accumulator of the first group without an initial value: its prefix does not exist, and the
/// exclusive results of later elements do. Trivially copyable like T, which a maybe<T> is not.
template <class T>
struct perhaps {
  T value;
  bool exists;
  LOOKBACK_HOST_DEVICE perhaps(const T &x) : value(x), exists(true) {}
  static perhaps none() {
    uninitialized_array<T, 1> any;
    std::memset(static_cast<void *>(&any[0]), 0, sizeof(T));
    perhaps nothing(any[0]);
    nothing.exists = false;
    return nothing;
  }
  struct project {
    static constexpr bool needs_item = false;
    template <class Item>
    LOOKBACK_HOST_DEVICE const T &operator()(const perhaps &scanned, const Item &) const {
      return scanned.value;
    }
  };
};
template <class T, class Operator>
struct perhaps_operator {
  Operator op;
  LOOKBACK_NO_EXECUTION_CHECK
  LOOKBACK_HOST_DEVICE perhaps<T> operator()(const perhaps<T> &left, const perhaps<T> &right) {
    return left.exists ? perhaps<T>(static_cast<T>(op(left.value, right.value))) : right;
  }
};

/// What is kept in device memory from chunk to chunk of a scan in T by `Operator`.
template <class T, class Operator>
struct open_group {
  /// Sums of integers have the same bits in any order: only their prefix is kept.
  static constexpr bool sums_integers =
      std::is_same<own_operator_t<Operator, T>, plus>::value && is_integer<T>;
  static constexpr std::int64_t elements = group_elements<tree_shape<sizeof(T)>>;

  std::int64_t position = 0; // elements of all chunks so far
  bool has_prefix = false;   // not in the first group without an initial value
  T *prefix = nullptr;       // of the group; of integers, of the next element
  T *next = nullptr;         // room for the one after it
  T *items = nullptr;        // of the group so far: known()

  std::int64_t known() const { return position == 0 ? 0 : (position - 1) % elements + 1; }

  static std::size_t bytes() {
    temporary_memory memory;
    open_group().take(memory);
    return temporary_memory::bytes_for(memory.bytes());
  }
  /// Enqueues the beginning of a scan, from *initial unless it is null. `storage` has bytes()
  /// bytes.
  template <class Launch>
  void begin(void *storage, const T *initial, Launch &launch) {
    temporary_memory memory(storage);
    take(memory);
    has_prefix = initial != nullptr || sums_integers;
    if constexpr (sums_integers)
      stage_items(repeated_value<T>{initial != nullptr ? *initial : T{}}, 1, prefix, launch);
    else if (initial != nullptr)
      stage_items(repeated_value<T>{*initial}, 1, prefix, launch);
  }

private:
  void take(temporary_memory &memory) {
    prefix = memory.take<T>(1);
    next = memory.take<T>(1);
    if (!sums_integers) items = memory.take<T>(static_cast<std::uint64_t>(elements));
  }
};

/// `make(at)` is the problem of the chunk's elements from `at` on, with a known_prefix that is
/// replaced. Body is the list of strategies of bodies, Head that of heads; Rows is the tuning of
/// the reduction.
template <class Make, class Operator, class Body, class Head, class Rows>
class continued_chunk {
  using given = decltype(std::declval<const Make &>()(std::int64_t{}));
  using T = typename given::accumulator;
  using group = open_group<T, Operator>;
  using own_operator = decltype(given::op);
  using future = FutureValue<T, const T *>;
  using known_prefix = initial_value<future>;
  using aggregates = group_aggregates<Rows>;
  using head_output = output_after<typename given::output_type, typename given::stored>;
  using head_problem =
      scan_problem<given::inclusive, T, T *, own_operator, known_prefix, dense<head_output>>;
  using first_head_problem =
      scan_problem<given::inclusive, perhaps<T>, T *, perhaps_operator<T, own_operator>,
                   initial_value<perhaps<T>>, dense<head_output, typename perhaps<T>::project>>;
  template <class Sink>
  using body_problem = scan_problem<given::inclusive, T, typename given::input_type, own_operator,
                                    known_prefix, Sink>;
  using body_sink = group_prefix_sink<typename given::sink_type, T>;
  using sum_sink = total_sink<typename given::sink_type, T *>;

  static_assert(std::is_trivially_copyable<T>::value,
                "lookback: the elements of a continued scan on a GPU must be trivially copyable, "
                "since some of them are kept there between chunks");
  static_assert(aggregates::template supports<body_problem<body_sink>>,
                "lookback: the elements of a continued scan on a GPU must have fewer than 512 "
                "bytes");
  static_assert(given::shape::element_bytes == sizeof(T),
                "lookback: a result of a continued scan is larger than the scan's value type, "
                "whose size shapes the tree");

public:
  /// The next n > 0 elements.
  continued_chunk(const Make &make, group &open, std::int64_t n)
      : make_(make), open_(open), n_(n), known_(open.known()),
        head_(group::sums_integers ? 0 : std::min(n, group::elements - known_)) {}

  /// Bytes of the temporary memory that bind() takes.
  template <class Launch>
  std::size_t bytes(Launch &launch) {
    work_bytes_ = 0;
    const auto need = [&](std::size_t bytes) { work_bytes_ = std::max(work_bytes_, bytes); };
    std::size_t of_part = 0;
    if constexpr (group::sums_integers) {
      Body::scan(nullptr, of_part, sum(), n_, launch);
      need(of_part);
    } else {
      need(temporary_memory::bytes_for(aggregates::storage(whole_group())));
      Head::scan(nullptr, of_part, head(), known_ + head_, launch);
      need(of_part);
      Head::scan(nullptr, of_part, first_head(), known_ + head_, launch);
      need(of_part);
      Body::scan(nullptr, of_part, body(), n_ - head_, launch);
      need(of_part);
    }
    place(nullptr);
    return temporary_memory::bytes_for(memory_.bytes());
  }
  void bind(void *memory) { place(memory); }

  /// Enqueues the scan. Returns the status of the launches; if it is a failure, the open group is
  /// lost.
  template <class Launch>
  typename Launch::status_type scan(Launch &launch) {
    typename Launch::status_type status{};
    if constexpr (group::sums_integers) {
      status = run<Body>(sum(), n_, launch);
      std::swap(open_.prefix, open_.next);
    } else {
      if (head_ > 0) status = scan_head(launch);
      if (status == typename Launch::status_type{} && head_ < n_) status = scan_body(launch);
    }
    open_.position += n_;
    return status;
  }

private:
  head_output output_of_head() const { return {make_(0).sink.output, -known_}; }
  head_problem head() const {
    return {open_.items, make_(0).op, {future(open_.prefix)}, {output_of_head(), {}}};
  }
  first_head_problem first_head() const {
    return {open_.items, {make_(0).op}, {perhaps<T>::none()}, {output_of_head(), {}}};
  }
  head_problem whole_group() const {
    return head().over({static_cast<std::uint64_t>(group::elements)});
  }
  body_problem<body_sink> body() const {
    const given rest = make_(head_);
    return {rest.input, rest.op, {future(open_.next)}, {rest.sink, open_.prefix}};
  }
  body_problem<sum_sink> sum() const {
    const given all = make_(0);
    return {all.input, all.op, {future(open_.prefix)}, {all.sink, open_.next}};
  }

  template <class Launch>
  typename Launch::status_type scan_head(Launch &launch) const {
    stage_items(make_(0).input, static_cast<std::uint64_t>(head_), open_.items + known_, launch);
    const std::int64_t items = known_ + head_; // mutant: continued-known
    return open_.has_prefix ? run<Head>(head(), items, launch)
                            : run<Head>(first_head(), items, launch);
  }
  template <class Launch>
  typename Launch::status_type scan_body(Launch &launch) {
    temporary_memory memory(work_);
    aggregates::run(whole_group(), 0, aggregate_, memory, launch);
    if (open_.has_prefix)
      fold(head().initial, launch);
    else
      fold(no_initial{}, launch);
    // The results may overwrite the elements.
    const std::int64_t kept = (n_ - head_ - 1) % group::elements + 1;
    const auto from = make_(n_ - kept).input;
    const auto count = static_cast<std::uint64_t>(kept);
    stage_items(from, count, open_.items, launch); // mutant: continued-keep
    open_.has_prefix = true;
    return run<Body>(body(), n_ - head_, launch);
  }
  /// *next <- the prefix of the open group, if there is one, combined with its aggregate
  template <class Initial, class Launch>
  void fold(const Initial &initial, Launch &launch) const {
    fold_groups(
        make_(0).op, initial, static_cast<const T *>(aggregate_), 1, 1, [](int) { return 1u; },
        static_cast<const T *>(nullptr), open_.next, launch);
  }
  template <class Strategies, class Problem, class Launch>
  typename Launch::status_type run(const Problem &problem, std::int64_t items,
                                   Launch &launch) const {
    std::size_t bytes = work_bytes_;
    return Strategies::scan(work_, bytes, problem, items, launch);
  }

  /// Divides the temporary memory at `memory`; if it is null, only adds up the size.
  void place(void *memory) {
    memory_ = memory == nullptr ? temporary_memory() : temporary_memory(memory);
    aggregate_ = memory_.take<T>(1);
    work_ = memory_.take<char>(work_bytes_);
  }

  const Make &make_;
  group &open_;
  const std::int64_t n_;
  const std::int64_t known_; // items of the open group from earlier chunks
  const std::int64_t head_;  // elements
  temporary_memory memory_;
  std::size_t work_bytes_ = 0;
  T *aggregate_ = nullptr; // of the open group
  char *work_ = nullptr;   // of one step at a time
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
