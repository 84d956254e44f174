// SPDX-License-Identifier: MIT
// The prefix of a group from the aggregates of all groups before it, which other devices may have
// computed: the last level of the tree, folded from the left. Also a kernel that copies items.
#pragma once

#include <lookback/block/blocked_items.cuh>
#include <lookback/strategy/workspace.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

inline constexpr int folding_threads = 256, folding_chunk = 512; // aggregates

/// Aggregates, one row for each rank: row r has counts[r] of them, from index r * pitch on.
template <class T>
struct aggregate_rows {
  static constexpr int at_most = 64;
  const T *first;
  std::uint64_t pitch;
  int rows;
  unsigned counts[at_most];
};

/// Chunks of the rows, in order: at most `folding_chunk` aggregates of one row each.
template <class T>
class aggregate_chunks {
public:
  LOOKBACK_DEVICE explicit aggregate_chunks(const aggregate_rows<T> &all) : all_(all) { settle(); }
  LOOKBACK_DEVICE bool exists() const { return row_ < all_.rows; }
  LOOKBACK_DEVICE const T *begin() const {
    return all_.first + static_cast<std::uint64_t>(row_) * all_.pitch + at_;
  }
  LOOKBACK_DEVICE int count() const {
    const unsigned left = all_.counts[row_] - at_;
    return left < folding_chunk ? static_cast<int>(left) : folding_chunk;
  }
  LOOKBACK_DEVICE void advance() {
    at_ += folding_chunk;
    settle();
  }

private:
  LOOKBACK_DEVICE void settle() {
    for (; row_ < all_.rows && at_ >= all_.counts[row_]; ++row_) at_ = 0;
  }
  const aggregate_rows<T> &all_;
  int row_ = 0;
  unsigned at_ = 0;
};

/// prefix <- prefix . values[0] . values[1] ... values[count - 1], from the left. Values are read
/// several at a time, so that the latency of shared memory is not a part of every step.
template <class T, class Operator>
LOOKBACK_DEVICE void fold_from_left(maybe<T> &prefix, const T *values, int count, Operator &op) {
  constexpr int at_once = sizeof(T) <= 8 ? 16 : 4;
  int i = 0;
  if (!prefix.exists()) prefix.set(values[i++]);
  for (; i + at_once <= count; i += at_once) {
    uninitialized_array<T, at_once> next;
    LOOKBACK_UNROLL
    for (int k = 0; k < at_once; ++k) construct(next[k], values[i + k]);
    LOOKBACK_UNROLL
    for (int k = 0; k < at_once; ++k) prefix.set(static_cast<T>(op(prefix.value(), next[k])));
  }
  for (; i < count; ++i) prefix.set(static_cast<T>(op(prefix.value(), values[i])));
}

/// prefixes[0] <- start . (all aggregates), where start is *before, or the initial value if
/// `before` is null; nothing is written if there is nothing to fold.
/// prefixes[1] <- prefixes[0] . *own, unless `own` is null. One block: its first thread folds a
/// chunk while the other warps fetch the next.
template <class T, class Operator, class Initial>
LOOKBACK_KERNEL(folding_threads, 1)
fold_groups_kernel(LOOKBACK_KERNEL_PARAMETER Operator given,
                   LOOKBACK_KERNEL_PARAMETER Initial initial,
                   LOOKBACK_KERNEL_PARAMETER aggregate_rows<T> aggregates, const T *before,
                   const T *own, T *prefixes) {
  struct storage {
    uninitialized_array<T, folding_chunk> chunks[2];
  };
  auto &shared = simt::shared_memory<storage>();
  const int thread = simt::thread_index();
  auto op = given;
  maybe<T> prefix; // of the first thread
  if (thread == 0) {
    if (before != nullptr)
      prefix.set(*before);
    else if constexpr (Initial::exists)
      prefix.set(static_cast<T>(initial.value));
  }
  const auto fetch = [&](const aggregate_chunks<T> &from, int buffer) {
    constexpr int first = simt::warp_threads; // the first warp folds
    for (int i = thread - first; i >= 0 && i < from.count(); i += folding_threads - first)
      construct(shared.chunks[buffer][i], from.begin()[i]);
  };
  aggregate_chunks<T> next(aggregates);
  int buffer = 0;
  if (next.exists()) fetch(next, buffer);
  while (next.exists()) {
    const int count = next.count();
    simt::synchronize_block(); // mutant: fold-chunk
    next.advance();
    if (next.exists()) fetch(next, buffer ^ 1);
    if (thread == 0) fold_from_left(prefix, &shared.chunks[buffer][0], count, op);
    buffer ^= 1;
  }
  if (thread != 0) return;
  if (prefix.exists()) construct(prefixes[0], prefix.value());
  if (own == nullptr) return;
  prefix.append(op, *own); // mutant: fold-own
  construct(prefixes[1], prefix.value());
}

/// to[i] <- from[i] for i < count, as items.
template <class Input, class Item>
LOOKBACK_KERNEL(256, 1)
stage_items_kernel(const Input from, std::uint64_t count, Item *to) {
  const std::uint64_t step = std::uint64_t{simt::block_count()} * 256;
  for (std::uint64_t i =
           std::uint64_t{simt::block_index()} * 256 + static_cast<unsigned>(simt::thread_index());
       i < count; i += step)
    construct(to[i], static_cast<Item>(from[static_cast<std::ptrdiff_t>(i)]));
}

/// Enqueues such a copy. At most 64 blocks: it is meant for less than a group.
template <class Input, class Item, class Launch>
void stage_items(const Input &from, std::uint64_t count, Item *to, Launch &launch) {
  if (count == 0) return;
  const std::uint64_t blocks = (count - 1) / 256 + 1;
  const auto kernel = stage_items_kernel<Input, Item>;
  launch(kernel, block_shape{256, 0}, launch_grid{blocks < 64 ? blocks : 64}, from, count, to);
}

/// Enqueues the fold of `rows` rows of gathered aggregates, count(r) of row r. A kernel takes up to
/// 64 rows, and goes on from the prefix of the one before it.
template <class T, class Operator, class Initial, class Count, class Launch>
void fold_groups(const Operator &op, const Initial &initial, const T *gathered, std::uint64_t pitch,
                 int rows, Count count, const T *own, T *prefixes, Launch &launch) {
  bool exists = false;
  int first = 0;
  do {
    constexpr int at_most = aggregate_rows<T>::at_most;
    const int left = rows - first;
    aggregate_rows<T> some{gathered + static_cast<std::uint64_t>(first) * pitch,
                           pitch,
                           left < at_most ? left : at_most,
                           {}};
    bool any = false;
    for (int r = 0; r < some.rows; ++r) {
      some.counts[r] = static_cast<unsigned>(count(first + r));
      any = any || some.counts[r] > 0;
    }
    const bool is_last = first + some.rows == rows;
    launch(fold_groups_kernel<T, Operator, Initial>,
           block_shape{folding_threads, 2 * folding_chunk * sizeof(T)}, launch_grid{1}, op, initial,
           some, static_cast<const T *>(exists ? prefixes : nullptr), is_last ? own : nullptr,
           prefixes);
    exists = exists || any || Initial::exists;
    first += some.rows;
  } while (first < rows);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
