// SPDX-License-Identifier: MIT
// The instructions introduced with sm_80 and sm_90, one small function each: barriers on which
// copies complete, bulk copies, clusters. The second half of arch/simt.cuh.
#pragma once

#include <lookback/arch/simt.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace simt {

// ---- barriers in shared memory (sm_80), and bulk copies that complete on them (sm_90) -----------

/// Counts the pending arrivals, and the pending bytes of copies. A phase ends when both are zero;
/// the next phase begins with the same number of arrivals.
struct alignas(8) barrier {
  std::uint64_t state;
};

#if LOOKBACK_TARGETS_SM_80

namespace detail {
LOOKBACK_DEVICE unsigned shared_address(const void *address) {
  return static_cast<unsigned>(__cvta_generic_to_shared(address));
}
} // namespace detail

/// Initialises a barrier with `arrivals` a phase. One publish_barriers() and a block barrier must
/// follow before other threads use it.
LOOKBACK_DEVICE void initialize(barrier &b, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(detail::shared_address(&b)),
               "r"(arrivals)
               : "memory");
}
/// Ends a barrier that nobody waits for. Its memory may then be initialized again.
LOOKBACK_DEVICE void invalidate(barrier &b) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(detail::shared_address(&b)) : "memory");
}
LOOKBACK_DEVICE void publish_barriers() {
#if LOOKBACK_TARGETS_SM_90
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif // before, the block barrier is enough
}

/// One arrival. Earlier writes of this thread are visible to threads that have waited for the
/// phase.
LOOKBACK_DEVICE void arrive(barrier &b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(detail::shared_address(&b))
               : "memory");
}
/// One arrival, as soon as the copies are complete that this thread has started with
/// copy_vector_async(). It does not make other earlier writes visible.
LOOKBACK_DEVICE void arrive_when_copied(barrier &b) {
  asm volatile(
      "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(detail::shared_address(&b))
      : "memory");
}
#if LOOKBACK_TARGETS_SM_90
/// One arrival, and adds `bytes` to the pending bytes of the phase.
LOOKBACK_DEVICE void arrive_and_expect(barrier &b, unsigned bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(detail::shared_address(&b)),
      "r"(bytes)
      : "memory");
}
#endif
/// Whether the phase of this parity has ended. If true, it is as if wait() had returned.
LOOKBACK_DEVICE bool has_ended(barrier &b, unsigned parity) {
  unsigned ended;
  asm volatile("{\n .reg .pred done;\n mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n "
               "selp.u32 %0, 1, 0, done;\n}"
               : "=r"(ended)
               : "r"(detail::shared_address(&b)), "r"(parity)
               : "memory");
  return ended != 0;
}
/// Waits until the phase of this parity has ended. Before sm_90 the wait is a loop, which pauses,
/// since it takes issue slots from other warps. (Code for compute_80 on an H200, sums of 2^27 f64,
/// us: 542 without a pause, 522 with one.)
LOOKBACK_DEVICE void wait(barrier &b, unsigned parity) {
#if LOOKBACK_BOUNDS_SPINS || !LOOKBACK_TARGETS_SM_90
  for (spin_bound bound; !has_ended(b, parity); __nanosleep(20))
    bound.count("end of the phase of the barrier at address", detail::shared_address(&b));
#else
  asm volatile("{\n .reg .pred done;\n again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], "
               "%1;\n @done bra "
               "over;\n bra again;\n over:\n}" ::"r"(detail::shared_address(&b)),
               "r"(parity)
               : "memory");
#endif
}
/// Whether the lines that a copy reads leave the L2 cache before all others, or after them.
using cache_policy = std::uint64_t;
LOOKBACK_DEVICE cache_policy cache_policy_of(bool leaves_last) {
  cache_policy policy;
  if (leaves_last)
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  else
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// As copy_vector_async() of 16 bytes, from lines with this policy. `shared` comes from
/// address_of_lane(): if ptxas (CUDA 13.0) knows that a part of the address is the same for all
/// lanes, it may emit an instruction that the device refuses.
LOOKBACK_DEVICE void copy_vector_async(void *shared, const void *global, cache_policy policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                   detail::shared_address(shared)),
               "l"(__cvta_generic_to_global(global)), "l"(policy)
               : "memory");
}
/// The same address in shared memory, as one that may differ from lane to lane. Called by a whole
/// warp.
template <class Byte>
LOOKBACK_DEVICE Byte *address_of_lane(Byte *shared) {
  return static_cast<Byte *>(
      __cvta_shared_to_generic(__shfl_sync(~0u, detail::shared_address(shared), lane_index())));
}

#if LOOKBACK_TARGETS_SM_90
/// As wait(). Words that other blocks of the cluster have sent are visible afterwards.
LOOKBACK_DEVICE void wait_for_sent(barrier &b, unsigned parity) {
  for (spin_bound bound;;
       bound.count("words sent to the barrier at address", detail::shared_address(&b))) {
    unsigned ended;
    asm volatile("{\n .reg .pred done;\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                 "done, [%1], %2;\n "
                 "selp.u32 %0, 1, 0, done;\n}"
                 : "=r"(ended)
                 : "r"(detail::shared_address(&b)), "r"(parity)
                 : "memory");
    if (ended != 0) return;
  }
}
/// Copies `bytes`, a multiple of 16 between addresses aligned to 16, from global to shared memory.
/// The copy completes on `b`.
LOOKBACK_DEVICE void bulk_copy(void *shared, const void *global, unsigned bytes, barrier &b,
                               cache_policy policy) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
               "[%0], [%1], %2, [%3], %4;" ::"r"(detail::shared_address(shared)),
               "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(detail::shared_address(&b)),
               "l"(policy)
               : "memory");
}
/// Orders earlier ordinary writes of this thread to shared memory before every bulk copy that is
/// ordered after this fence.
LOOKBACK_DEVICE void fence_before_bulk_copy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- clusters: blocks that run together and see each other's shared memory ----------------------

/// The cluster barrier: every thread of the cluster arrives, and then waits. Published barriers are
/// visible after the wait. If `Ordered`, all earlier reads and writes complete first, for which
/// every thread waits (H200: 0.4 us).
template <bool Ordered>
LOOKBACK_DEVICE void arrive_at_cluster() {
  if constexpr (Ordered)
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  else
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
LOOKBACK_DEVICE void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Sends a word to the shared memory of block `rank` of the cluster, at the offset of `mine` in
/// this block. It completes 4 bytes on that block's barrier `b`, and is visible to threads that
/// have waited for the phase with wait_for_sent().
LOOKBACK_DEVICE void send(const std::uint32_t &mine, unsigned rank, std::uint32_t word,
                          const barrier &b) {
  asm volatile(
      "{\n .reg .b32 place, told;\n mapa.shared::cluster.u32 place, %0, %2;\n "
      "mapa.shared::cluster.u32 told, %1, "
      "%2;\n st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [place], %3, [told];\n}" ::
          "r"(detail::shared_address(&mine)),
      "r"(detail::shared_address(&b)), "r"(rank), "r"(word)
      : "memory");
}

#endif // sm_90
#endif // sm_80

/// Blocks of this block's cluster: 1 without a cluster, or before sm_90.
LOOKBACK_DEVICE unsigned cluster_blocks() {
  unsigned count = 1;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(count));
#endif
  return count;
}

} // namespace simt
} // namespace LOOKBACK_ABI
} // namespace lookback
