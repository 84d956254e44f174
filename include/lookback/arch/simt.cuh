// SPDX-License-Identifier: MIT
// Every hardware instruction that a kernel uses, one small function each. Barriers in shared memory
// (sm_80) and what was introduced with sm_90 are in arch/simt_sm90.cuh, the grid barrier is in
// arch/simt_grid.cuh. Kernels contain no intrinsic and no asm: a port or an emulator replaces these
// files only.
#pragma once

#include <lookback/core/storage.cuh>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace simt {

inline constexpr int warp_threads = 32;

/// The architecture that this pass compiles for, 900 for sm_90; 0 on the host.
#if defined(__CUDA_ARCH__)
inline constexpr int code_architecture = __CUDA_ARCH__;
#else
inline constexpr int code_architecture = 0;
#endif

/// Lower bound of the threads that a multiprocessor can hold. Launch bounds must not ask for more.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int multiprocessor_threads = 1024;
#elif defined(__CUDA_ARCH__) &&                                                                    \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ / 100 == 10)
inline constexpr int multiprocessor_threads = 2048;
#else
inline constexpr int multiprocessor_threads = 1536;
#endif
/// `blocks`, or as many blocks of `threads` threads as fit on a multiprocessor.
constexpr int resident_blocks(int threads, int blocks) {
  return threads * blocks > multiprocessor_threads ? multiprocessor_threads / threads : blocks;
}

// ---- thread and block indices -------------------------------------------------------------------

/// Index of this thread in its block.
LOOKBACK_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
/// Index of this block in the grid. Blocks need not start in the order of their indices.
LOOKBACK_DEVICE unsigned block_index() { return blockIdx.x; }
LOOKBACK_DEVICE unsigned block_count() { return gridDim.x; }
LOOKBACK_DEVICE int block_threads() { return static_cast<int>(blockDim.x); }
LOOKBACK_DEVICE int lane_index() { return static_cast<int>(threadIdx.x % warp_threads); }
LOOKBACK_DEVICE int warp_index() { return static_cast<int>(threadIdx.x / warp_threads); }

/// Keeps `value` in a register. Otherwise the compiler may compute it again in every iteration of a
/// loop, to save registers.
LOOKBACK_DEVICE int in_register(int value) {
  asm("" : "+r"(value));
  return value;
}
template <class T>
LOOKBACK_DEVICE T *in_register(T *address) {
  asm("" : "+l"(address));
  return address;
}
template <class Iterator>
LOOKBACK_DEVICE Iterator in_register(const Iterator &other) {
  return other;
}

/// The same value. What depends on it is computed after this, in every iteration of a loop, instead
/// of waiting in registers.
LOOKBACK_DEVICE int anew(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Keeps the compiler from computing both sides of a branch and selecting one: one instruction that
/// not all lanes execute is cheaper.
LOOKBACK_DEVICE void keep_branch() { asm volatile(""); }

/// The block's dynamic shared memory, of the size given at the launch: the same object for every
/// thread of the block.
template <class Storage>
LOOKBACK_DEVICE Storage &shared_memory() {
  static_assert(alignof(Storage) <= 128, "dynamic shared memory is aligned to 128 bytes");
  extern __shared__ __align__(128) unsigned char lookback_shared_memory[];
  return *reinterpret_cast<Storage *>(lookback_shared_memory);
}

// ---- barriers, votes and waits ------------------------------------------------------------------
/// Barrier of all threads of the block: writes to shared memory before it are visible after it.
LOOKBACK_DEVICE void synchronize_block() { __syncthreads(); }
/// The same for the threads of the block's first `Warps` warps.
template <int Warps>
LOOKBACK_DEVICE void synchronize_warps() {
  asm volatile("barrier.cta.sync.aligned 1, %0;" ::"n"(Warps * warp_threads) : "memory");
}
/// The same for the 32 threads of the warp.
LOOKBACK_DEVICE void synchronize_warp() { __syncwarp(); }

/// Bit l is lane l's predicate. All 32 lanes must call.
LOOKBACK_DEVICE unsigned ballot(bool predicate) { return __ballot_sync(0xffffffffu, predicate); }
LOOKBACK_DEVICE bool all_of_warp(bool predicate) { return __all_sync(0xffffffffu, predicate) != 0; }
/// Position of the lowest set bit; `bits` must not be 0.
LOOKBACK_DEVICE int lowest_bit(unsigned bits) { return __ffs(static_cast<int>(bits)) - 1; }
/// Position of the highest set bit, -1 if there is none.
LOOKBACK_DEVICE int highest_bit(unsigned bits) { return 31 - __clz(static_cast<int>(bits)); }

/// Number of set bits.
LOOKBACK_DEVICE unsigned count_bits(unsigned bits) { return static_cast<unsigned>(__popc(bits)); }

/// Pauses before a poll is repeated, since polling is memory traffic.
LOOKBACK_DEVICE void back_off() { __nanosleep(100); }
/// Ends the kernel, with an error on the host.
LOOKBACK_DEVICE void trap() { __trap(); }
/// Ends the kernel with an error, as a failed assertion does.
__device__ __noinline__ inline void refuse_count() {
  printf("lookback: the count of a lookback::device_count is negative or greater than `at_most`\n");
  __trap();
}
/// The time in nanoseconds, from a clock that all blocks read.
LOOKBACK_DEVICE std::uint64_t time_now() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
/// Limits the duration of one wait. With LOOKBACK_BOUNDS_SPINS, a wait of 15 seconds prints what it
/// waits for and ends the kernel. Otherwise no time is measured, and the arguments cost nothing.
class spin_bound {
public:
  /// Called after a failed poll: this thread expects status 1 of `what` with index `awaited`, and
  /// has read 0.
  LOOKBACK_DEVICE void count([[maybe_unused]] const char *what,
                             [[maybe_unused]] std::size_t awaited) {
#if LOOKBACK_BOUNDS_SPINS
    const std::uint64_t now = time_now();
    if (begin_ == 0) begin_ = now;
    if (now - begin_ < limit) return;
    printf("lookback: block %u, thread %u waits for the %s %llu: expected 1, seen 0\n", blockIdx.x,
           threadIdx.x, what, static_cast<unsigned long long>(awaited));
    __trap();
    __builtin_unreachable(); // no register need stay live for code after the trap
#endif
  }

#if LOOKBACK_BOUNDS_SPINS
private:
  static constexpr std::uint64_t limit = 15'000'000'000; // nanoseconds
  std::uint64_t begin_ = 0;
#endif
};

/// With a programmatic dependent launch: returns when the previous kernel has finished and its
/// writes are visible. Otherwise, or before sm_90, it returns at once: the stream's order
/// guarantees the same.
LOOKBACK_DEVICE void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Allows the next kernel of a programmatic dependent launch to start filling the device.
LOOKBACK_DEVICE void release_next_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// ---- exchange between lanes ---------------------------------------------------------------------
namespace detail {

using lookback::detail::uninitialized_array;

template <class T, class Exchange>
LOOKBACK_DEVICE T exchange_words(const T &value, Exchange exchange) {
  static_assert(std::is_trivially_copyable<T>::value, "shuffles require a trivially copyable type");
  constexpr int words = (sizeof(T) + 3) / 4;
  std::uint32_t raw[words];
  if constexpr (sizeof(T) % 4 != 0) raw[words - 1] = 0;
  std::memcpy(raw, &value, sizeof(T));
  LOOKBACK_UNROLL
  for (int w = 0; w < words; ++w) raw[w] = exchange(raw[w]);
  uninitialized_array<T, 1> result;
  std::memcpy(static_cast<void *>(&result[0]), raw, sizeof(T));
  return result[0];
}

} // namespace detail

#if __CUDA_ARCH__ >= 900
/// Adds two pairs of half-precision numbers. Each sum is rounded as a single addition rounds it.
/// `Brain`: of __nv_bfloat16, otherwise of __half.
template <bool Brain>
LOOKBACK_DEVICE std::uint32_t add_halves(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sums;
  if constexpr (Brain)
    asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(sums) : "r"(a), "r"(b));
  else
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sums) : "r"(a), "r"(b));
  return sums;
}
#endif

/// The value of lane `lane_index() - distance`; lanes below `distance` keep their own.
template <class T>
LOOKBACK_DEVICE T shuffle_up(const T &value, int distance) {
  return detail::exchange_words(
      value, [=](std::uint32_t word) { return __shfl_up_sync(0xffffffffu, word, distance); });
}
/// The same if that lane is not below lane `first`, which may differ between lanes; `exists` says
/// so.
template <class T>
LOOKBACK_DEVICE T shuffle_up_from(const T &value, int distance, int first, bool &exists) {
  return detail::exchange_words(value, [&](std::uint32_t word) {
    std::uint32_t left, found;
    asm volatile("{\n .reg .pred p;\n shfl.sync.up.b32 %0|p, %2, %3, %4, 0xffffffff;\n"
                 " selp.b32 %1, 1, 0, p;\n}"
                 : "=r"(left), "=r"(found)
                 : "r"(word), "r"(distance), "r"(first));
    exists = found != 0;
    return left;
  });
}
/// The value of the lane `distance` below; the lanes below `distance` have those of the last lanes.
template <class T>
LOOKBACK_DEVICE T rotate_up(const T &value, int distance = 1) {
  const int below = lane_index() + warp_threads - distance; // __shfl_sync takes it modulo 32
  return detail::exchange_words(
      value, [=](std::uint32_t word) { return __shfl_sync(0xffffffffu, word, below); });
}
/// The value of the lane above; in the last lane, that of lane 0.
template <class T>
LOOKBACK_DEVICE T rotate_down(const T &value) {
  const int above = lane_index() + 1; // __shfl_sync takes it modulo 32
  return detail::exchange_words(
      value, [=](std::uint32_t word) { return __shfl_sync(0xffffffffu, word, above); });
}
/// The value of lane `source`, which each lane chooses: 0 to 31.
template <class T>
LOOKBACK_DEVICE T shuffle(const T &value, int source) {
  return detail::exchange_words(
      value, [=](std::uint32_t word) { return __shfl_sync(0xffffffffu, word, source); });
}
/// The value of lane `lane`, in all lanes.
template <class T>
LOOKBACK_DEVICE T broadcast(const T &value, int lane) {
  return detail::exchange_words(
      value, [=](std::uint32_t word) { return __shfl_sync(0xffffffffu, word, lane); });
}
/// The sum of the values of all lanes, in all lanes.
LOOKBACK_DEVICE unsigned add_lanes(unsigned value) {
#if LOOKBACK_TARGETS_SM_80
  return __reduce_add_sync(0xffffffffu, value);
#else
  for (int distance = warp_threads / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
#endif
}

// ---- memory between blocks ----------------------------------------------------------------------
// Single-copy atomic accesses at device scope. The orders in use are chosen in
// core/tile_status.cuh, nowhere else.

/// Sixteen bytes that one access reads or writes.
struct alignas(16) word_pair {
  std::uint64_t low, high;
};

LOOKBACK_DEVICE std::uint64_t load_relaxed(const std::uint64_t *address) {
  std::uint64_t value;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];"
               : "=l"(value)
               : "l"(__cvta_generic_to_global(address))
               : "memory");
  return value;
}
LOOKBACK_DEVICE void store_relaxed(std::uint64_t *address, std::uint64_t value) {
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
               "l"(value)
               : "memory");
}
LOOKBACK_DEVICE word_pair load_relaxed(const word_pair *address) {
  word_pair value;
  asm volatile(
      "{\n .reg .b128 pair;\n ld.relaxed.gpu.global.b128 pair, [%2];\n mov.b128 {%0, %1}, pair;\n}"
      : "=l"(value.low), "=l"(value.high)
      : "l"(__cvta_generic_to_global(address))
      : "memory");
  return value;
}
LOOKBACK_DEVICE void store_relaxed(word_pair *address, word_pair value) {
  asm volatile("{\n .reg .b128 pair;\n mov.b128 pair, {%1, %2};\n st.relaxed.gpu.global.b128 [%0], "
               "pair;\n}" ::"l"(__cvta_generic_to_global(address)),
               "l"(value.low), "l"(value.high)
               : "memory");
}
/// store_relaxed() as an atomic exchange (exchanging_memory). Before sm_90, 16 bytes are stored.
LOOKBACK_DEVICE void exchange_relaxed(std::uint64_t *address, std::uint64_t value) {
  asm volatile("{\n .reg .b64 before;\n atom.relaxed.gpu.global.exch.b64 before, [%0], "
               "%1;\n}" ::"l"(__cvta_generic_to_global(address)),
               "l"(value)
               : "memory");
}
LOOKBACK_DEVICE void exchange_relaxed(word_pair *address, word_pair value) {
#if LOOKBACK_TARGETS_SM_90
  asm volatile("{\n .reg .b128 pair, before;\n mov.b128 pair, {%1, %2};\n "
               "atom.relaxed.gpu.global.exch.b128 before, [%0], pair;\n}" ::"l"(
                   __cvta_generic_to_global(address)),
               "l"(value.low), "l"(value.high)
               : "memory");
#else
  store_relaxed(address, value);
#endif
}
LOOKBACK_DEVICE std::uint32_t load_acquire(const std::uint32_t *address) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(address))
               : "memory");
  return value;
}
LOOKBACK_DEVICE void store_release(std::uint32_t *address, std::uint32_t value) {
  asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
               "r"(value)
               : "memory");
}
LOOKBACK_DEVICE std::uint64_t load_acquire(const std::uint64_t *address) {
  std::uint64_t value;
  asm volatile("ld.acquire.gpu.global.b64 %0, [%1];"
               : "=l"(value)
               : "l"(__cvta_generic_to_global(address))
               : "memory");
  return value;
}
LOOKBACK_DEVICE void store_release(std::uint64_t *address, std::uint64_t value) {
  asm volatile("st.release.gpu.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
               "l"(value)
               : "memory");
}
/// Writes `value` if the word is less. Returns what it was.
LOOKBACK_DEVICE std::uint64_t max_relaxed(std::uint64_t *address, std::uint64_t value) {
  std::uint64_t before;
  asm volatile("atom.relaxed.gpu.global.max.u64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(__cvta_generic_to_global(address)), "l"(value)
               : "memory");
  return before;
}
/// Writes `value` if the word is `expected`. Returns what it was.
LOOKBACK_DEVICE std::uint64_t
compare_exchange_relaxed(std::uint64_t *address, std::uint64_t expected, std::uint64_t value) {
  std::uint64_t before;
  asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(before)
               : "l"(__cvta_generic_to_global(address)), "l"(expected), "l"(value)
               : "memory");
  return before;
}
/// Adds one and returns the previous value: blocks draw ids in the order of their calls.
LOOKBACK_DEVICE unsigned fetch_increment(unsigned *counter) { return atomicAdd(counter, 1u); }
/// The same for a whole warp: the first lane draws, and has the id. Nothing waits for the result
/// before it is used. (Of atomicAdd(), the compiler makes one for all lanes that call, with an
/// exchange between them behind it.)
LOOKBACK_DEVICE unsigned fetch_increment_of_warp(unsigned *counter) {
  unsigned before = 0;
  asm volatile("{\n .reg .pred first;\n .reg .u32 lane;\n mov.u32 lane, %%laneid;\n setp.eq.u32 "
               "first, lane, 0;\n @first atom.relaxed.gpu.global.inc.u32 %0, [%1], 0xfffffffe;\n}"
               : "+r"(before)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return before;
}
/// Adds `more`. A thread that acquires the new value sees all earlier writes of this thread, and
/// those of its block's other threads before a barrier.
LOOKBACK_DEVICE void add_release(std::uint32_t *counter, std::uint32_t more) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(counter)),
               "r"(more)
               : "memory");
}

// ---- vector loads and stores --------------------------------------------------------------------

/// The low word of (high, low) shifted right by 0 to 31 bits.
LOOKBACK_DEVICE std::uint32_t shift_right(std::uint32_t low, std::uint32_t high, int bits) {
  return __funnelshift_r(low, high, static_cast<unsigned>(bits));
}
/// The bytes of a word in reverse order.
LOOKBACK_DEVICE std::uint32_t reverse_bytes(std::uint32_t word) {
  return __byte_perm(word, 0, 0x0123);
}

/// Bytes of one vector access: 1, 2, 4, 8 or 16, aligned to its size.
template <int Bytes>
struct alignas(Bytes) vector_words {
  using word = std::conditional_t<Bytes == 1, std::uint8_t,
                                  std::conditional_t<Bytes == 2, std::uint16_t, std::uint32_t>>;
  static constexpr int count = Bytes <= 4 ? 1 : Bytes / 4;
  word words[count];
};

/// One load instruction for the whole vector; `address` is aligned to Bytes.
template <int Bytes>
LOOKBACK_DEVICE vector_words<Bytes> load_vector(const void *address) {
  vector_words<Bytes> vector;
  if constexpr (Bytes == 16) {
    const uint4 raw = *static_cast<const uint4 *>(address);
    vector.words[0] = raw.x, vector.words[1] = raw.y, vector.words[2] = raw.z,
    vector.words[3] = raw.w;
  } else if constexpr (Bytes == 8) {
    const uint2 raw = *static_cast<const uint2 *>(address);
    vector.words[0] = raw.x, vector.words[1] = raw.y;
  } else {
    vector = *static_cast<const vector_words<Bytes> *>(address);
  }
  return vector;
}
/// One store instruction, to global memory. (The compiler may split an assignment into four
/// stores.)
template <int Bytes>
LOOKBACK_DEVICE void store_vector(void *address, const vector_words<Bytes> &vector) {
  if constexpr (Bytes == 16)
    asm volatile(
        "st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(address)),
        "r"(vector.words[0]), "r"(vector.words[1]), "r"(vector.words[2]), "r"(vector.words[3])
        : "memory");
  else if constexpr (Bytes == 8)
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(address)),
                 "r"(vector.words[0]), "r"(vector.words[1])
                 : "memory");
  else
    *static_cast<vector_words<Bytes> *>(address) = vector;
}

/// Eight words, to eight addresses. (A store reads its address late. So the next ones must have
/// theirs in other registers, or they wait.)
template <class Pointer>
LOOKBACK_DEVICE void store_eight(const Pointer (&to)[8], const std::uint32_t (&words)[8]) {
  asm volatile(
      "st.global.b32 [%0], %8;\n st.global.b32 [%1], %9;\n st.global.b32 [%2], %10;\n "
      "st.global.b32 [%3], %11;\n st.global.b32 [%4], %12;\n st.global.b32 [%5], %13;\n "
      "st.global.b32 [%6], %14;\n st.global.b32 [%7], %15;" ::"l"(__cvta_generic_to_global(to[0])),
      "l"(__cvta_generic_to_global(to[1])), "l"(__cvta_generic_to_global(to[2])),
      "l"(__cvta_generic_to_global(to[3])), "l"(__cvta_generic_to_global(to[4])),
      "l"(__cvta_generic_to_global(to[5])), "l"(__cvta_generic_to_global(to[6])),
      "l"(__cvta_generic_to_global(to[7])), "r"(words[0]), "r"(words[1]), "r"(words[2]),
      "r"(words[3]), "r"(words[4]), "r"(words[5]), "r"(words[6]), "r"(words[7]));
}

/// The same for 16 bytes that are not read soon: their cache lines are evicted first.
LOOKBACK_DEVICE void stream_vector(void *address, const vector_words<16> &vector) {
  asm volatile(
      "st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(address)),
      "r"(vector.words[0]), "r"(vector.words[1]), "r"(vector.words[2]), "r"(vector.words[3])
      : "memory");
}

/// One store instruction, to shared memory.
template <int Bytes>
LOOKBACK_DEVICE void store_shared(void *address, const vector_words<Bytes> &vector) {
  if constexpr (Bytes == 16)
    *static_cast<uint4 *>(address) =
        make_uint4(vector.words[0], vector.words[1], vector.words[2], vector.words[3]);
  else if constexpr (Bytes == 8)
    *static_cast<uint2 *>(address) = make_uint2(vector.words[0], vector.words[1]);
  else
    *static_cast<vector_words<Bytes> *>(address) = vector;
}

/// Sets bit `bit` of words in shared memory, while other threads may set others.
LOOKBACK_DEVICE void set_bit(std::uint32_t *words, int bit) {
  atomicOr_block(words + bit / 32, 1u << bit % 32);
}

/// Starts a copy of 4, 8 or 16 bytes from global to shared memory that does not pass through
/// registers; both addresses are multiples of that. For this thread, it is complete after
/// wait_for_copies(). Before sm_80, it is an ordinary copy.
template <int Bytes = 16>
LOOKBACK_DEVICE void copy_vector_async(void *shared, const void *global) {
#if __CUDA_ARCH__ >= 800
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(shared))),
                 "l"(__cvta_generic_to_global(global))
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(shared))),
                 "l"(__cvta_generic_to_global(global)), "n"(Bytes)
                 : "memory");
#else
  *static_cast<vector_words<Bytes> *>(shared) = load_vector<Bytes>(global);
#endif
}
/// The copies that this thread has started since the last call are one group.
LOOKBACK_DEVICE void end_copy_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits for the copies of all groups of this thread but the last `Others`.
template <int Others>
LOOKBACK_DEVICE void wait_for_copy_groups() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Others) : "memory");
#endif
}
/// Hint: fetches the cache line of `address` into the L2 cache.
LOOKBACK_DEVICE void prefetch(const void *address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)));
}
/// Waits for the copies that this thread has started with copy_vector_async().
LOOKBACK_DEVICE void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

} // namespace simt
} // namespace LOOKBACK_ABI
} // namespace lookback
