// SPDX-License-Identifier: MIT
// Stands in for include/lookback/arch/simt_sm90.cuh as arch/simt.cuh of this directory does for the
// other.
#pragma once

#include <lookback/arch/simt.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace simt {

// ---- barriers in shared memory, and copies that complete on them --------------------------------

struct alignas(8) barrier {
  std::uint64_t
      state; // touched by every use, so that ThreadSanitizer sees who uses it before it is there
};

inline void initialize(barrier &b, int arrivals) {
  b.state = 0;
  emulator::initialize_barrier(&b, arrivals);
}
inline void invalidate(barrier &b) { emulator::invalidate_barrier(&b); }
inline void publish_barriers() { emulator::publish_barriers(); }

namespace detail {

inline barrier *touched(barrier &b) {
  (void)*static_cast<const volatile std::uint64_t *>(&b.state);
  return &b;
}

} // namespace detail

inline void arrive(barrier &b, EMULATOR_CALLER) { emulator::arrive(detail::touched(b), 0, where); }
/// The copies are made no later than the arrival.
inline void arrive_when_copied(barrier &b, EMULATOR_CALLER) {
  wait_for_copies();
  emulator::arrive(detail::touched(b), 0, where);
}
inline void arrive_and_expect(barrier &b, unsigned bytes, EMULATOR_CALLER) {
  emulator::arrive(detail::touched(b), bytes, where);
}
inline bool has_ended(barrier &b, unsigned parity) {
  return emulator::has_ended(detail::touched(b), parity);
}
inline void wait(barrier &b, unsigned parity, EMULATOR_CALLER) {
  emulator::wait(detail::touched(b), parity, where);
}
inline void wait_for_sent(barrier &b, unsigned parity, EMULATOR_CALLER) {
  emulator::wait(detail::touched(b), parity, where);
}
using cache_policy = std::uint64_t;
inline cache_policy cache_policy_of(bool) { return 0; }
inline void copy_vector_async(void *shared, const void *global, cache_policy) {
  copy_vector_async(shared, global);
}
template <class Byte>
inline Byte *address_of_lane(Byte *shared) {
  return shared;
}
inline void bulk_copy(void *shared, const void *global, unsigned bytes, barrier &b, cache_policy,
                      EMULATOR_CALLER) {
  emulator::bulk_copy(shared, global, bytes, detail::touched(b), where);
}
/// Nothing to emulate: there is one kind of memory access here. A missing one is for
/// compute-sanitizer to find.
inline void fence_before_bulk_copy() {}

// ---- clusters -----------------------------------------------------------------------------------

inline unsigned cluster_blocks() { return emulator::here->cluster_blocks; }
template <bool Ordered>
void arrive_at_cluster(EMULATOR_CALLER) {
  emulator::arrive_at_cluster(Ordered, where);
}
inline void wait_for_cluster(EMULATOR_CALLER) { emulator::wait_for_cluster(where); }
inline void send(const std::uint32_t &mine, unsigned rank, std::uint32_t word, const barrier &b,
                 EMULATOR_CALLER) {
  emulator::send(&mine, rank, word, &b, where);
}

} // namespace simt
} // namespace LOOKBACK_ABI
} // namespace lookback
