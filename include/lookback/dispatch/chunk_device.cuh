// SPDX-License-Identifier: MIT
// A GPU as a device of host/device_ring.cuh: a stream for each queue, slots for chunks, and the
// prefix from chunk to chunk.
#pragma once

#include <lookback/core/chunks.cuh>
#include <lookback/dispatch/own_handles.cuh>
#include <lookback/dispatch/policy_scan.cuh>
#include <lookback/strategy/fold_groups.cuh>
#include <lookback/strategy/group_aggregates.cuh>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Host memory that the GPU copies from and to at the speed of the link.
class pinned_memory {
public:
  explicit pinned_memory(std::size_t bytes) {
    if (bytes > 0)
      thrust::cuda_cub::throw_on_error(cudaHostAlloc(&address_, bytes, cudaHostAllocPortable),
                                       "lookback::out_of_core: allocating pinned host memory");
  }
  pinned_memory(const pinned_memory &) = delete;
  pinned_memory &operator=(const pinned_memory &) = delete;
  ~pinned_memory() {
    if (address_ != nullptr) cudaFreeHost(address_);
  }
  void *address() const { return address_; }

private:
  void *address_ = nullptr;
};

/// Whether the GPU can copy from and to this memory without a copy by the CPU: it is pinned or
/// managed. Throws if it is the memory of a device.
inline bool is_pinned(const void *first, std::size_t bytes) {
  const char *const begin = static_cast<const char *>(first);
  for (const char *const place : {begin, begin + bytes - 1}) {
    cudaPointerAttributes attributes{};
    thrust::cuda_cub::throw_on_error(
        cudaPointerGetAttributes(&attributes, place),
        "lookback::out_of_core: querying which memory the elements and results are in");
    if (attributes.type == cudaMemoryTypeDevice)
      throw std::invalid_argument(
          "lookback::out_of_core: the elements and the results must be in "
          "host memory, but one of them is in the memory of a device. "
          "Use lookback::inclusive_scan or lookback::exclusive_scan for device memory");
    if (attributes.type == cudaMemoryTypeUnregistered) return false;
  }
  return true;
}

/// A device of a device_ring, on the GPU that is current when it is made. `Make` makes the problem
/// of a chunk: make(input, output), or make(input, output, initial).
template <class Make, class In, class Out, class T, bool HasInitial>
class chunk_device {
  using known = FutureValue<T, const T *>; // G of the chunk's first group
  using problem_type = decltype(std::declval<const Make &>()(
      std::declval<const In *>(), std::declval<Out *>(), std::declval<known>()));
  using aggregates = group_aggregates<measured_tuning>;
  static constexpr bool in_place = std::is_same<In, Out>::value;
  static_assert(aggregates::supports<problem_type>,
                "lookback::out_of_core: elements and accumulators must have fewer than 512 bytes");

public:
  using shape = typename problem_type::shape;
  using accumulator = T;

  /// Bytes of device memory for slots of `length` elements.
  static std::size_t bytes(const Make &make, int slots, std::int64_t length) {
    temporary_memory needed;
    layout(make, slots, length, needed);
    return temporary_memory::bytes_for(needed.bytes());
  }
  /// All queues begin when the work that is now in `before` is complete. `storage` has bytes()
  /// bytes, which are in use until drain() has returned.
  chunk_device(const Make &make, int slots, std::int64_t length, void *storage, cudaStream_t before,
               const T *initial)
      : make_(make), length_(length) {
    check(cudaGetDevice(&gpu_));
    temporary_memory memory(storage);
    at_ = layout(make, slots, length, memory);
    check(cudaEventRecord(began_, before));
    for (const own_stream &stream : streams_) check(cudaStreamWaitEvent(stream, began_, 0));
    if constexpr (HasInitial)
      check(cudaMemcpyAsync(at_.prefixes, initial, sizeof(T), cudaMemcpyHostToDevice,
                            of(chunk_queue::scan)));
  }

  void copy_in(int slot, const In *from, std::int64_t items) {
    const device_here here(gpu_); // as copies of memory from a pool require
    check(cudaMemcpyAsync(input(slot), from, static_cast<std::size_t>(items) * sizeof(In),
                          cudaMemcpyDefault, of(chunk_queue::input)));
  }
  void copy_out(int slot, Out *to, std::int64_t items) {
    const device_here here(gpu_);
    check(cudaMemcpyAsync(to, output(slot), static_cast<std::size_t>(items) * sizeof(Out),
                          cudaMemcpyDefault, of(chunk_queue::output)));
  }
  /// The chunk's aggregates are ready before its prefix is asked for, and the next chunk's prefix
  /// before the scan, which overwrites the elements.
  void scan(int slot, std::int64_t items, const chunk_device *before, bool is_last) {
    const device_here here(gpu_);
    if (HasInitial || before != nullptr) {
      scan(make_(input(slot), output(slot), known(at_.prefixes)), items, before, is_last);
    } else if constexpr (!HasInitial) {
      scan(make_(input(slot), output(slot)), items, before, is_last);
    }
  }
  void after(chunk_queue queue, chunk_queue other) {
    own_event &reached = reached_[static_cast<int>(other)];
    check(cudaEventRecord(reached, of(other)));
    check(cudaStreamWaitEvent(of(queue), reached, 0));
  }
  void mark(int slot) { check(cudaEventRecord(copied_out_[slot], of(chunk_queue::output))); }
  void wait(int slot) { check(cudaEventSynchronize(copied_out_[slot])); }
  void drain() const {
    for (const own_stream &stream : streams_) cudaStreamSynchronize(stream);
  }

private:
  struct places {
    In *inputs;   // (slots, length)
    Out *outputs; // (slots, length)
    T *totals;    // of the groups of a chunk
    T *prefixes;  // (2): of the chunk, and of the next
    char *of_totals, *of_scan;
    std::size_t scan_bytes;
  };

  static places layout(const Make &make, int slots, std::int64_t length, temporary_memory &memory) {
    const auto items = static_cast<std::uint64_t>(slots * stride(length));
    const auto problem = make(nullptr, nullptr, known(nullptr));
    places at{};
    at.inputs = memory.take<In>(items);
    at.outputs = in_place ? reinterpret_cast<Out *>(at.inputs) : memory.take<Out>(items);
    at.totals = memory.take<T>(static_cast<std::uint64_t>(length / group_elements<shape> + 1));
    at.prefixes = memory.take<T>(2);
    at.of_totals =
        memory.take<char>(aggregates::storage(problem.over({static_cast<std::uint64_t>(length)})) +
                          temporary_memory::alignment);
    at.scan_bytes = storage_of_scan(problem, length);
    if constexpr (!HasInitial)
      at.scan_bytes = std::max(at.scan_bytes, storage_of_scan(make(nullptr, nullptr), length));
    at.of_scan = memory.take<char>(at.scan_bytes);
    return at;
  }
  /// Elements from slot to slot. The first element of a slot is aligned as an allocation is.
  static std::int64_t stride(std::int64_t length) {
    constexpr std::int64_t unit = temporary_memory::alignment;
    return (length + unit - 1) / unit * unit;
  }
  template <class Problem>
  static std::size_t storage_of_scan(const Problem &problem, std::int64_t n) {
    std::size_t bytes = 0;
    check(strategies<>::scan(nullptr, bytes, problem, n, launcher(nullptr)));
    return bytes;
  }

  template <class Problem>
  void scan(const Problem &problem, std::int64_t items, const chunk_device *before, bool is_last) {
    const cudaStream_t stream = of(chunk_queue::scan);
    if (!is_last) reduce(problem, items);
    if (before != nullptr) {
      check(cudaStreamWaitEvent(stream, before->passed_on_, 0));
      // Without peer access, this is the copy that takes memory from a pool.
      check(cudaMemcpyPeerAsync(at_.prefixes, gpu_, before->at_.prefixes + 1, before->gpu_,
                                sizeof(T), stream));
    }
    if (!is_last) pass_on(problem, items);
    std::size_t bytes = at_.scan_bytes;
    check(strategies<>::scan(at_.of_scan, bytes, problem, items, launcher(stream)));
  }
  /// The aggregates of the chunk's groups.
  template <class Problem>
  void reduce(const Problem &problem, std::int64_t items) {
    launcher launch(of(chunk_queue::scan));
    temporary_memory memory(at_.of_totals);
    aggregates::run(problem.over({static_cast<std::uint64_t>(items)}), 0, at_.totals, memory,
                    launch);
    check(launch.status());
  }
  /// The prefix of the chunk, if there is one, combined with the aggregates of its groups. It stays
  /// in its place until another device has copied it: the next prefix here depends on that.
  template <class Problem>
  void pass_on(const Problem &problem, std::int64_t items) {
    launcher launch(of(chunk_queue::scan));
    const auto groups = static_cast<std::uint64_t>(items / group_elements<shape>);
    fold_groups(
        problem.op, problem.initial, at_.totals, groups, 1, [=](int) { return groups; },
        static_cast<const T *>(nullptr), at_.prefixes + 1, launch);
    check(launch.status());
    check(cudaEventRecord(passed_on_, of(chunk_queue::scan)));
  }

  In *input(int slot) const { return at_.inputs + slot * stride(length_); }
  Out *output(int slot) const { return at_.outputs + slot * stride(length_); }
  cudaStream_t of(chunk_queue queue) const { return streams_[static_cast<int>(queue)]; }
  static void check(cudaError_t status) {
    thrust::cuda_cub::throw_on_error(status, "lookback::out_of_core: copying or scanning a chunk");
  }

  const Make &make_;
  const std::int64_t length_; // of a chunk
  places at_{};
  int gpu_ = 0;
  own_event began_, passed_on_, reached_[chunk_queues], copied_out_[chunks_in_flight];
  own_stream streams_[chunk_queues];
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
