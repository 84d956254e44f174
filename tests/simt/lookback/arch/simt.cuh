// SPDX-License-Identifier: MIT
// Stands in for include/lookback/arch/simt.cuh, name for name, so that g++ compiles the kernels as
// they are. Found first on the include path of tests/simt.
#pragma once

#include <lookback/core/storage.cuh>

#include <simt/emulator.hpp>

// The emulated device has everything.
#undef LOOKBACK_TARGETS_SM_80
#define LOOKBACK_TARGETS_SM_80 1
#undef LOOKBACK_TARGETS_SM_90
#define LOOKBACK_TARGETS_SM_90 1

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

/// The line that called: every function below that can wait says where it was called from.
#define EMULATOR_CALLER emulator::source_line where = {__builtin_FILE(), __builtin_LINE()}

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace simt {

inline constexpr int warp_threads = 32;
inline constexpr int code_architecture = 900;
inline constexpr int multiprocessor_threads = 1536;
constexpr int resident_blocks(int threads, int blocks) {
  return threads * blocks > multiprocessor_threads ? multiprocessor_threads / threads : blocks;
}

// ---- where am I ---------------------------------------------------------------------------------

inline int thread_index() { return emulator::here->thread; }
inline unsigned block_index() { return emulator::here->block; }
inline unsigned block_count() { return emulator::here->block_count; }
inline int block_threads() { return emulator::here->block_threads; }
inline int lane_index() { return emulator::here->thread % warp_threads; }
inline int warp_index() { return emulator::here->thread / warp_threads; }

template <class Storage>
Storage &shared_memory() {
  static_assert(alignof(Storage) <= 128, "dynamic shared memory is aligned to 128 bytes");
  if (sizeof(Storage) > emulator::here->shared_bytes)
    emulator::fail("uses more shared memory than the launch requested");
  return *reinterpret_cast<Storage *>(emulator::here->shared);
}

// ---- waiting for each other ---------------------------------------------------------------------

inline void synchronize_block(EMULATOR_CALLER) { emulator::synchronize_block(where); }
template <int Warps>
void synchronize_warps(EMULATOR_CALLER) {
  emulator::synchronize_warps(Warps, where);
}
inline void synchronize_warp(EMULATOR_CALLER) {
  emulator::meet_warp(emulator::operation::synchronize_warp, 0, false, where);
}
template <class T>
T in_register(T value) {
  return value;
}
inline int anew(int value) { return value; }
inline void keep_branch() {}
inline unsigned ballot(bool predicate, EMULATOR_CALLER) {
  return emulator::meet_warp(emulator::operation::ballot, 0, predicate, where);
}
inline bool all_of_warp(bool predicate, EMULATOR_CALLER) {
  return emulator::meet_warp(emulator::operation::all_of_warp, 0, predicate, where) == 0xffffffffu;
}
inline unsigned count_bits(unsigned bits) {
  return static_cast<unsigned>(__builtin_popcount(bits));
}
inline int lowest_bit(unsigned bits) {
  if (bits == 0) emulator::fail("lowest_bit of 0");
  return __builtin_ctz(bits);
}
inline int highest_bit(unsigned bits) { return bits == 0 ? -1 : 31 - __builtin_clz(bits); }
inline void back_off(EMULATOR_CALLER) { emulator::back_off(where); }

/// Bounded when a test says so: elsewhere the emulator itself reports who waits for ever.
class spin_bound {
public:
  static inline unsigned polls_at_most = ~0u;
  void count(const char *what, std::size_t awaited) {
    if (++polls_ < polls_at_most) return;
    emulator::fail(std::string("waits for the ") + what + " " + std::to_string(awaited) +
                   ": expected 1, seen 0");
  }

private:
  unsigned polls_ = 0;
};
inline std::uint64_t time_now() { return emulator::time_now(); }
inline void refuse_count() { emulator::fail("the count of a device_count is invalid"); }
inline void wait_for_previous_kernel(EMULATOR_CALLER) { emulator::wait_for_previous_kernel(where); }
inline void release_next_kernel() { emulator::release_next_kernel(); }

// ---- exchange between lanes ---------------------------------------------------------------------

namespace detail {

using lookback::detail::uninitialized_array;

template <class T>
T exchange(emulator::operation which, int argument, const T &value, int source,
           emulator::source_line where) {
  static_assert(std::is_trivially_copyable<T>::value, "a shuffle moves bytes");
  uninitialized_array<T, 1> result;
  std::memcpy(static_cast<void *>(&result[0]), static_cast<const void *>(&value), sizeof(T));
  emulator::exchange(which, argument, &result[0], sizeof(T), source, where);
  return result[0];
}

} // namespace detail

template <class T>
T shuffle_up(const T &value, int distance, EMULATOR_CALLER) {
  const int lane = lane_index();
  return detail::exchange(emulator::operation::shuffle_up, distance, value,
                          lane < distance ? lane : lane - distance, where);
}
template <class T>
T shuffle_up_from(const T &value, int distance, int first, bool &exists, EMULATOR_CALLER) {
  exists = lane_index() - distance >= first;
  return shuffle_up(value, distance, where);
}
template <class T>
T rotate_up(const T &value, int distance = 1, EMULATOR_CALLER) {
  const int below = (lane_index() + warp_threads - distance) % warp_threads;
  return detail::exchange(emulator::operation::rotate_up, distance, value, below, where);
}
template <class T>
T rotate_down(const T &value, EMULATOR_CALLER) {
  const int above = (lane_index() + 1) % warp_threads;
  return detail::exchange(emulator::operation::rotate_down, 1, value, above, where);
}
template <class T>
T shuffle(const T &value, int source, EMULATOR_CALLER) {
  if (source < 0 || source >= warp_threads)
    emulator::fail("shuffle from lane " + std::to_string(source));
  return detail::exchange(emulator::operation::shuffle, 0, value, source, where);
}
template <class T>
T broadcast(const T &value, int lane, EMULATOR_CALLER) {
  if (lane < 0 || lane >= warp_threads)
    emulator::fail("broadcast from lane " + std::to_string(lane));
  return detail::exchange(emulator::operation::broadcast, lane, value, lane, where);
}
inline unsigned add_lanes(unsigned value, EMULATOR_CALLER) {
  for (int distance = warp_threads / 2; distance > 0; distance /= 2)
    value += detail::exchange(emulator::operation::shuffle, distance, value,
                              lane_index() ^ distance, where);
  return value;
}

// ---- memory between blocks
// ----------------------------------------------------------------------------------------- Every
// word can be accessed in every order: a mutation must compile.

struct alignas(16) word_pair {
  std::uint64_t low, high;
};

namespace detail {

template <class Word>
Word load(const Word *address, int order, emulator::source_line where) {
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(Word) != 0)
    emulator::fail("misaligned load");
  emulator::before_load(address, where);
  if constexpr (sizeof(Word) == 16) // in one piece: nobody else runs between the two halves
    return Word{__atomic_load_n(&address->low, order), __atomic_load_n(&address->high, order)};
  else
    return __atomic_load_n(address, order);
}
template <class Word>
void store(Word *address, const Word &value, int order, emulator::source_line where) {
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(Word) != 0)
    emulator::fail("misaligned store");
  emulator::before_store(address, where);
  // Stores to one word must be ordered, or either may be the one that stays: with a store that is
  // not, this plain read races.
  (void)*reinterpret_cast<const volatile unsigned char *>(address);
  if constexpr (sizeof(Word) == 16) {
    __atomic_store_n(&address->low, value.low, order);
    __atomic_store_n(&address->high, value.high, order);
  } else {
    __atomic_store_n(address, value, order);
  }
  emulator::after_store();
}
template <class Word>
struct exactly {
  using type = Word;
};

} // namespace detail

template <class Word>
Word load_relaxed(const Word *address, EMULATOR_CALLER) {
  return detail::load(address, __ATOMIC_RELAXED, where);
}
template <class Word>
void store_relaxed(Word *address, typename detail::exactly<Word>::type value, EMULATOR_CALLER) {
  detail::store(address, value, __ATOMIC_RELAXED, where);
}
/// On a GPU, an exchange is seen sooner than a store. Here, the schedule decides.
template <class Word>
void exchange_relaxed(Word *address, typename detail::exactly<Word>::type value, EMULATOR_CALLER) {
  store_relaxed(address, value, where);
}
template <class Word>
Word load_acquire(const Word *address, EMULATOR_CALLER) {
  return detail::load(address, __ATOMIC_ACQUIRE, where);
}
template <class Word>
void store_release(Word *address, typename detail::exactly<Word>::type value, EMULATOR_CALLER) {
  detail::store(address, value, __ATOMIC_RELEASE, where);
}
namespace detail {
/// Writes what `chosen(before)` is; returns `before`. What stays as it is has not been written: for
/// ThreadSanitizer, an exchange that fails is a write as well, and races with store().
template <class Choose>
std::uint64_t change(std::uint64_t *address, Choose chosen, emulator::source_line where) {
  emulator::before_store(address, where);
  std::uint64_t before = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (chosen(before) != before &&
         !__atomic_compare_exchange_n(address, &before, chosen(before), false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  emulator::after_store();
  return before;
}
} // namespace detail
inline std::uint64_t max_relaxed(std::uint64_t *address, std::uint64_t value, EMULATOR_CALLER) {
  return detail::change(
      address, [=](std::uint64_t before) { return before < value ? value : before; }, where);
}
inline std::uint64_t compare_exchange_relaxed(std::uint64_t *address, std::uint64_t expected,
                                              std::uint64_t value, EMULATOR_CALLER) {
  return detail::change(
      address, [=](std::uint64_t before) { return before == expected ? value : before; }, where);
}
inline unsigned fetch_increment(unsigned *counter, EMULATOR_CALLER) {
  emulator::before_store(counter, where);
  const unsigned before = __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED);
  emulator::note_number(before);
  emulator::after_store();
  return before;
}
template <class Pointer>
void store_eight(const Pointer (&to)[8], const std::uint32_t (&words)[8]) {
  for (int i = 0; i < 8; ++i) std::memcpy(static_cast<void *>(to[i]), &words[i], 4);
}
inline unsigned fetch_increment_of_warp(unsigned *counter, EMULATOR_CALLER) {
  if (lane_index() != 0) return 0;
  emulator::before_store(counter, where);
  const unsigned before = __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED);
  emulator::note_number(before);
  emulator::after_store();
  return before;
}
inline void add_release(std::uint32_t *counter, std::uint32_t more, EMULATOR_CALLER) {
  emulator::before_store(counter, where);
  __atomic_fetch_add(counter, more, __ATOMIC_RELEASE);
  emulator::after_store();
}

// ---- vectors to and from memory -----------------------------------------------------------------

template <int Bytes>
struct alignas(Bytes) vector_words {
  using word = std::conditional_t<Bytes == 1, std::uint8_t,
                                  std::conditional_t<Bytes == 2, std::uint16_t, std::uint32_t>>;
  static constexpr int count = Bytes <= 4 ? 1 : Bytes / 4;
  word words[count];
};

namespace detail {

template <int Bytes>
void require_aligned(const void *address) {
  if (reinterpret_cast<std::uintptr_t>(address) % Bytes != 0) emulator::fail("misaligned vector");
}

} // namespace detail

inline std::uint32_t shift_right(std::uint32_t low, std::uint32_t high, int bits) {
  if (bits < 0 || bits > 31) emulator::fail("shifts by a number of bits outside 0 to 31");
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> bits);
}
inline std::uint32_t reverse_bytes(std::uint32_t word) { return __builtin_bswap32(word); }

template <int Bytes>
vector_words<Bytes> load_vector(const void *address) {
  detail::require_aligned<Bytes>(address);
  vector_words<Bytes> vector;
  std::memcpy(vector.words, address, Bytes);
  return vector;
}
template <int Bytes>
void store_vector(void *address, const vector_words<Bytes> &vector) {
  detail::require_aligned<Bytes>(address);
  std::memcpy(address, vector.words, Bytes);
}
inline void stream_vector(void *address, const vector_words<16> &vector) {
  store_vector<16>(address, vector);
}

template <int Bytes>
void store_shared(void *address, const vector_words<Bytes> &vector) {
  store_vector(address, vector);
}

inline void set_bit(std::uint32_t *words, int bit) {
  __atomic_fetch_or(words + bit / 32, 1u << bit % 32, __ATOMIC_RELAXED);
}

/// Whether neighbouring tiles may be overwriting the bytes that a tile's copies include around its
/// own. ThreadSanitizer is then not told of these reads, and a tile that used the bytes is detected
/// by its results. A test sets this to false if no tile may write yet.
inline bool neighbours_may_write = true;

namespace detail {

__attribute__((no_sanitize_thread, noinline)) inline word_pair load_granule(const void *global) {
  typedef std::uint64_t __attribute__((may_alias)) word;
  return {static_cast<const word *>(global)[0], static_cast<const word *>(global)[1]};
}
inline void copy_granule(void *shared, const void *global) {
  const word_pair granule = load_granule(global);
  std::memcpy(shared, neighbours_may_write ? &granule : global, sizeof granule);
}
inline void copy_now(const emulator::pending_copy &copy) {
  if (copy.bytes == 16)
    copy_granule(copy.to, copy.from);
  else if (copy.bytes != 0)
    std::memcpy(copy.to, copy.from, copy.bytes);
}

} // namespace detail

/// Happens at any time between the call and wait_for_copies(): here at one of the two.
template <int Bytes = 16>
inline void copy_vector_async(void *shared, const void *global) {
  detail::require_aligned<Bytes>(shared);
  detail::require_aligned<Bytes>(global);
  if (emulator::coin())
    detail::copy_now({shared, global, Bytes});
  else
    emulator::put_copy({shared, global, Bytes});
}
inline void end_copy_group() { emulator::put_copy({}); }
template <int Others>
inline void wait_for_copy_groups() {
  for (emulator::pending_copy copy; emulator::take_copy(copy, Others);) detail::copy_now(copy);
}
inline void prefetch(const void *) {}
inline void wait_for_copies() {
  for (emulator::pending_copy copy; emulator::take_copy(copy, 0);) detail::copy_now(copy);
}

} // namespace simt
} // namespace LOOKBACK_ABI
} // namespace lookback
