// SPDX-License-Identifier: MIT
// The protocol's memory operations on the device.
#pragma once

#include <lookback/arch/simt.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// The memory operations that core/tile_status.cuh requires. Another system supplies the same
/// names; `word_pair` and its relaxed operations only if it has word pairs.
struct device_memory {
  static constexpr bool has_word_pairs = true;
  using word_pair = simt::word_pair;
  template <class Word>
  LOOKBACK_DEVICE static Word load_relaxed(const Word *address) {
    return simt::load_relaxed(address);
  }
  template <class Word>
  LOOKBACK_DEVICE static void store_relaxed(Word *address, Word value) {
    simt::store_relaxed(address, value);
  }
  template <class Word>
  LOOKBACK_DEVICE static Word load_acquire(const Word *address) {
    return simt::load_acquire(address);
  }
  LOOKBACK_DEVICE static void add_release(std::uint32_t *address, std::uint32_t value) {
    simt::add_release(address, value);
  }
  LOOKBACK_DEVICE static void store_release(std::uint32_t *address, std::uint32_t value) {
    simt::store_release(address, value);
  }
  LOOKBACK_DEVICE static void store_release(std::uint64_t *address, std::uint64_t value) {
    simt::store_release(address, value);
  }
  LOOKBACK_DEVICE static std::uint64_t max_relaxed(std::uint64_t *address, std::uint64_t value) {
    return simt::max_relaxed(address, value);
  }
  LOOKBACK_DEVICE static std::uint64_t
  compare_exchange_relaxed(std::uint64_t *address, std::uint64_t expected, std::uint64_t value) {
    return simt::compare_exchange_relaxed(address, expected, value);
  }
};

/// The same, except that a relaxed store is an atomic exchange (of 16 bytes: from sm_90 on). Other
/// blocks see it much sooner while the multiprocessor stores results, behind which a store may have
/// to wait. H200, us, by stores and by exchanges:
///   the look-back, 2^28 i32                                    811  624
///   decoupled_look_back<>, 2^28 i32                            573  541
///   the pipeline, 805 MB of structs of 24 bytes                418  401
/// These use stores, which are faster, or faster for some types:
///   the pipeline, 2^24 f64; 2^28 i32                            70   76;  504  507
///   waves, i16 2^20; f32 2^20                                  7.0  6.5;  7.9  8.3
///   columns, 65536 x 1024 i32                                  137  153
///   chained<> in tiles of 512 x 105, 2^28 i32                 1711 1963
struct exchanging_memory : device_memory {
  template <class Word>
  LOOKBACK_DEVICE static void store_relaxed(Word *address, Word value) {
    simt::exchange_relaxed(address, value);
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
