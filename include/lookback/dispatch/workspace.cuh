// SPDX-License-Identifier: MIT
// Where the state of a scan lies in the temporary storage that it is given.
#pragma once

#include <lookback/core/by_key.cuh>
#include <lookback/device/device_memory.cuh>
#include <lookback/device/early_initial.cuh>
#include <lookback/device/tile_state.cuh>

namespace lookback::detail {

/// Layout for `tiles` tiles: first everything that must be zero, then payloads, then what is saved before the scan: the
/// boundary keys, or an initial value that may stand in the output. One tile needs nothing.
template <class Problem>
class workspace {
  using T = typename Problem::accumulator;
  using state_cells = cells<T>;
  static constexpr std::size_t alignment = 256;

public:
  explicit workspace(unsigned tiles) {
    if (tiles <= 1) return;
    const std::size_t groups = (tiles - 1) / Problem::shape::group_tiles + 1;
    const cell_bytes of_tiles = state_cells::bytes(tiles), of_groups = state_cells::bytes(groups);
    take(next_tile_, sizeof(unsigned));
    take(tile_totals_, of_tiles.zeroed);
    take(group_totals_, of_groups.zeroed);
    take(group_prefixes_, of_groups.zeroed);
    zeroed_bytes_ = end_;
    take(tile_payload_, of_tiles.payload);
    take(group_payload_, of_groups.payload);
    take(prefix_payload_, of_groups.payload);
    if constexpr (boundary_of<typename Problem::input_type>::exists)
      take(boundary_, tiles * sizeof(typename boundary_of<typename Problem::input_type>::type));
    if constexpr (reads_initial<Problem>) take(initial_, sizeof(T));
  }

  /// Bytes to ask for. Never 0, since an allocation of nothing may be a null pointer, and a null pointer asks for the size;
  /// with room to align any address.
  std::size_t bytes() const { return end_ == 0 ? 1 : end_ + alignment - 1; }
  /// A multiple of the alignment, so whole words.
  std::size_t zeroed_bytes() const { return zeroed_bytes_; }

  static char *align(void *storage) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage);
    return static_cast<char *>(storage) + (alignment - address % alignment) % alignment;
  }

  tile_state<T> state(char *base) const {
    tile_state<T> result;
    result.next_tile = reinterpret_cast<unsigned *>(base + next_tile_);
    result.tile_totals = state_cells(base + tile_totals_, base + tile_payload_);
    result.group_totals = state_cells(base + group_totals_, base + group_payload_);
    result.group_prefixes = state_cells(base + group_prefixes_, base + prefix_payload_);
    return result;
  }
  void *boundary(char *base) const { return base + boundary_; }
  T *initial(char *base) const { return reinterpret_cast<T *>(base + initial_); }

private:
  void take(std::size_t &offset, std::size_t bytes) {
    offset = end_;
    end_ += (bytes + alignment - 1) / alignment * alignment;
  }

  std::size_t end_ = 0, zeroed_bytes_ = 0;
  std::size_t next_tile_ = 0, tile_totals_ = 0, group_totals_ = 0, group_prefixes_ = 0;
  std::size_t tile_payload_ = 0, group_payload_ = 0, prefix_payload_ = 0, boundary_ = 0, initial_ = 0;
};

} // namespace lookback::detail
