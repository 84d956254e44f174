// SPDX-License-Identifier: MIT
// The contract of all strategies, default and textbook. A strategy is a type with
//
//   name                      in messages and in the log
//   tuned_for(architecture)   the name of its kernels' tuning, for the log
//   needs_residency           whether its blocks must be resident together; such a launch can be
//                             refused
//   supports<Problem>         whether its kernels exist for a problem
//   storage(problem)          bytes of temporary storage for a problem of at least one item, or
//                             too_many_tiles
//   fits(problem, launch)     null if it can scan the problem on this device, otherwise the reason
//   run(problem, memory, launch)
//                             takes its storage from `memory` and enqueues its kernels by `launch`
//
// `Rows`, a template argument of the default strategies, is their tuning table: Rows::at<A> is the
// row for code of architecture A (900 for sm_90), and Rows::name(A) is its name. A `Block`
// describes the block of a kernel: Block::of<Row>::shape() is its block_shape for the row `Row` of
// Block::rows.
//
// `launch` enqueues kernels in one stream and answers questions about its device:
//
//   launch(kernel, block, grid, arguments...)
//                             enqueues a kernel, unless an earlier launch failed
//   refused()                 whether the latest launch failed because its blocks have no room on
//                             the device; false for any other error
//   forgive()                 clears such a failure, as if nothing had been launched
//   multiprocessors()
//   is_captured()             whether the stream is being captured: its launches may be repeated
//   tag()                     a number that no other launch has (dispatch/launch_tag.cuh)
//   shape<Block>(kernel)      the block_shape of a kernel, by the row for its code on the device
//   cluster_blocks<Block>(kernel)
//                             blocks of its largest cluster; 1 without clusters
//   resident_blocks<Block>(kernel)
//                             blocks that the device holds at once; 0 without cooperative launches
//   can_run<Block>(kernel)    whether the device runs its code for sm_80 or newer and has enough
//                             shared memory; if so, raises the kernel's limit of shared memory
#pragma once

#include <lookback/core/config.cuh>

#include <cstddef>
#include <cstdint>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Shared memory in bytes that every kernel may use without opting in to more.
inline constexpr std::size_t default_shared_bytes = 48 * 1024;
/// The request of a kernel without code for the device's row of the tuning table. No device has as
/// much, so the launcher refuses the kernel.
inline constexpr std::size_t more_shared_bytes_than_any = std::size_t{1} << 30;

/// The threads and the shared memory of a block.
struct block_shape {
  int threads;
  std::size_t shared_bytes;
  bool asked_for = false; // can_run() has opted in to `shared_bytes`
};
constexpr bool operator==(const block_shape &a, const block_shape &b) {
  return a.threads == b.threads && a.shared_bytes == b.shared_bytes && a.asked_for == b.asked_for;
}

/// Which blocks must be resident together: none, all as one cluster, or all of the grid by a
/// cooperative launch.
enum class residency { none, cluster, grid };

struct launch_grid {
  std::uint64_t blocks;
  residency together = residency::none;
  bool may_overlap = false; // with the previous kernel: the kernel itself waits for its end
};

/// Returned by storage() if there are more tiles than a grid can have blocks.
inline constexpr std::size_t too_many_tiles = ~std::size_t{0};

/// Consecutive parts of one allocation, each at a multiple of 256 bytes. Without an allocation,
/// only adds up the bytes.
class temporary_memory {
public:
  static constexpr std::size_t alignment = 256;
  temporary_memory() = default;
  /// `storage` may have any address: bytes_for() includes room for the alignment.
  explicit temporary_memory(void *storage)
      : base_(static_cast<char *>(storage) +
              (alignment - reinterpret_cast<std::uintptr_t>(storage) % alignment) % alignment) {}

  template <class T>
  T *take(std::uint64_t count) {
    const std::size_t offset = bytes_;
    bytes_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return base_ == nullptr ? nullptr : reinterpret_cast<T *>(base_ + offset);
  }
  std::size_t bytes() const { return bytes_; }

  /// Bytes to allocate for parts of `bytes` bytes. Never 0: an allocation of 0 bytes may be a null
  /// pointer, and a call with a null pointer asks for the size.
  static constexpr std::size_t bytes_for(std::size_t bytes) {
    return bytes == 0 ? 1 : bytes + alignment - 1;
  }

private:
  char *base_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
