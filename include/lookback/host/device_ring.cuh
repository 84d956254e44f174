// SPDX-License-Identifier: MIT
// Several devices as one device of host/chunk_stream.cuh: they take chunks in turn.
#pragma once

#include <lookback/core/chunks.cuh>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Slot s is slot s / count of device s % count. The number of slots is a multiple of `count`, so
/// chunk k is on device k % count.
///
/// scan(slot, items, before, is_last) of one of these devices has the device of the chunk before,
/// or null; it waits for the prefix that the latest scan there has passed on.
template <class Device>
class device_ring {
public:
  explicit device_ring(std::vector<Device *> devices) : devices_(std::move(devices)) {}

  template <class In>
  void copy_in(int slot, const In *from, std::int64_t items) {
    of(slot).copy_in(slot / count(), from, items);
  }
  void scan(int slot, std::int64_t items, bool is_first, bool is_last) {
    const Device *const before =
        is_first ? nullptr : &of(slot + count() - 1); // mutant: ring-before
    of(slot).scan(slot / count(), items, before, is_last);
  }
  template <class Out>
  void copy_out(int slot, Out *to, std::int64_t items) {
    of(slot).copy_out(slot / count(), to, items);
  }
  void after(int slot, chunk_queue queue, chunk_queue other) { of(slot).after(queue, other); }
  void mark(int slot) { of(slot).mark(slot / count()); }
  void wait(int slot) { of(slot).wait(slot / count()); }
  void drain() {
    for (Device *each : devices_) each->drain();
  }

private:
  int count() const { return static_cast<int>(devices_.size()); }
  Device &of(int slot) const { return *devices_[static_cast<std::size_t>(slot % count())]; }

  std::vector<Device *> devices_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
