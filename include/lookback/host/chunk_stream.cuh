// SPDX-License-Identifier: MIT
// A sequence in host memory that passes through a device in chunks: where each chunk is, and which
// step waits for which. Three queues of the device work at the same time, each in order:
//
//   input     chunk k -> its slot of the device
//   scan      in the slot
//   output    results -> host memory
//
// Chunk k has slot k % slots. It is enqueued when the results of chunk k - slots are in host
// memory, so up to `slots` chunks are in the queues.
//
// A device (tests have an emulated one) has
//
//   copy_in(slot, from, items)          enqueues a copy to the slot's input
//   scan(slot, items, is_first, is_last)   enqueues the scan of a chunk, in its slot
//   copy_out(slot, to, items)           enqueues a copy of the slot's results
//   after(slot, queue, other)           `queue` of the slot's device goes on when all work that is
//                                       now in its queue `other` is complete
//   mark(slot)                          marks the end of the work now in the output queue
//   wait(slot)                          returns when all work before the mark is complete
//   drain()                             returns when all queues are empty; throws nothing
#pragma once

#include <lookback/core/chunks.cuh>
#include <lookback/core/storage.cuh>
#include <lookback/host/copy_team.cuh>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Elements in host memory, as chunks that a device copies from or to. For memory that is not
/// pinned, and for iterators that are not pointers, each slot has a staging buffer in `buffers`,
/// which host threads copy to or from.
template <class Value, class Iterator>
class host_side {
  static constexpr std::int64_t piece = (std::int64_t{1} << 18) / sizeof(Value) + 1; // of a thread

public:
  /// Staged if `buffers` is not null: (slots, stride) elements.
  host_side(Iterator first, Value *buffers, std::int64_t stride)
      : first_(first), buffers_(buffers), stride_(stride) {}

  bool is_staged() const { return buffers_ != nullptr; }
  /// Where the device reads or writes the elements from `at` on.
  Value *place(std::int64_t at, int slot) const {
    if constexpr (std::is_pointer<Iterator>::value)
      if (!is_staged()) return const_cast<Value *>(first_ + at);
    return buffers_ + slot * stride_;
  }
  /// Pieces of `items` elements that threads copy.
  std::size_t pieces(std::int64_t items) const {
    return is_staged() ? static_cast<std::size_t>((items + piece - 1) / piece) : 0;
  }
  /// The elements from `at` on -> the buffer of the slot.
  void fill(std::int64_t at, std::int64_t items, int slot, std::size_t which) const {
    Value *const to = buffers_ + slot * stride_;
    const auto begin = static_cast<std::int64_t>(which) * piece;
    const std::int64_t end = std::min(items, begin + piece);
    if constexpr (std::is_pointer<Iterator>::value)
      std::copy(first_ + at + begin, first_ + at + end, to + begin);
    else
      for (std::int64_t i = begin; i < end; ++i)
        construct(to[i], static_cast<Value>(first_[at + i]));
  }
  /// The buffer of the slot -> the elements from `at` on.
  void empty(std::int64_t at, std::int64_t items, int slot, std::size_t which) const {
    const Value *const from = buffers_ + slot * stride_;
    const auto begin = static_cast<std::int64_t>(which) * piece;
    const std::int64_t end = std::min(items, begin + piece);
    if constexpr (std::is_pointer<Iterator>::value)
      std::copy(from + begin, from + end, first_ + at + begin);
    else
      for (std::int64_t i = begin; i < end; ++i) first_[at + i] = from[i];
  }

private:
  Iterator first_;
  Value *buffers_;
  std::int64_t stride_;
};

/// Passes all chunks of `source` through the device, to `results`. `progress(done, n)` is called
/// on this thread, after every chunk. When an exception leaves run(), the device is idle.
template <class Device, class Source, class Results, class Progress>
class chunk_stream {
public:
  chunk_stream(Device &device, const chunk_list &chunks, int slots, const Source &source,
               const Results &results, copy_team &team, const Progress &progress)
      : device_(device), chunks_(chunks), slots_(slots), source_(source), results_(results),
        team_(team), progress_(progress) {}

  void run() {
    struct idle_at_the_end {
      Device &device;
      ~idle_at_the_end() { device.drain(); } // mutant: chunk-drain
    } const idle{device_};
    for (std::int64_t k = 0; k < chunks_.count() + slots_; ++k) {
      const std::int64_t before = k - slots_; // the slot's chunk before k
      const bool ends = before >= 0 && before < chunks_.count(), begins = k < chunks_.count();
      if (ends) device_.wait(slot(k)); // mutant: chunk-results
      copy_on_host(ends ? before : -1, begins ? k : -1);
      if (begins) enqueue(k);
      if (ends) progress_(chunks_.first(before) + chunks_.items(before), chunks_.n);
    }
  }

private:
  int slot(std::int64_t k) const { return static_cast<int>(k % slots_); }

  /// The results of chunk `ended` leave their staging buffer, the elements of chunk `next` enter
  /// theirs; -1 for none. Both have the same slot, and their buffers differ.
  void copy_on_host(std::int64_t ended, std::int64_t next) {
    const std::int64_t out = ended < 0 ? 0 : chunks_.items(ended),
                       in = next < 0 ? 0 : chunks_.items(next);
    const std::size_t out_pieces = results_.pieces(out), in_pieces = source_.pieces(in);
    // The input comes first: the device waits for it.
    const auto copy = [&](std::size_t i) {
      if (i < in_pieces)
        source_.fill(chunks_.first(next), in, slot(next), i);
      else
        results_.empty(chunks_.first(ended), out, slot(ended), i - in_pieces);
    };
    if (in_pieces + out_pieces > 0) team_.run(in_pieces + out_pieces, copy);
  }
  void enqueue(std::int64_t k) {
    const auto items = chunks_.items(k), at = chunks_.first(k);
    const int own = slot(k);
    device_.copy_in(own, source_.place(at, own), items);
    device_.after(own, chunk_queue::scan, chunk_queue::input); // mutant: chunk-input
    device_.scan(own, items, k == 0, k + 1 == chunks_.count());
    device_.after(own, chunk_queue::output, chunk_queue::scan); // mutant: chunk-scan
    device_.copy_out(own, results_.place(at, own), items);
    device_.mark(own);
  }

  Device &device_;
  const chunk_list chunks_;
  const int slots_;
  const Source &source_;
  const Results &results_;
  copy_team &team_;
  const Progress &progress_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
