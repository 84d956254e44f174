// SPDX-License-Identifier: MIT
// Kernels on the CPU: every thread of the grid is a fiber, all of them on one OS thread, and a
// seeded scheduler decides which runs next. The same seed gives the same run.
//
// What is checked while a kernel runs:
//   collectives    all threads of the warp or block take part, in the same one, with the same
//                  arguments
//   deadlock       no thread can run: reported with the place where each waits, and for which
//                  status word
//   races          under ThreadSanitizer, which is told what orders what: warp and block barriers,
//                  acquire and release, the end of a kernel. Shuffles and ballots order nothing. A
//                  weakened memory order is therefore visible on every schedule
//   memory         under AddressSanitizer; shared memory is exactly as large as the launch asked
//                  for, and full of garbage
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace emulator {

// ---- for tests ----------------------------------------------------------------------------------

enum class mode {
  random,            // some blocks resident, in any order, any of them next
  one_slot,          // one block resident at a time, in any order
  reversed,          // as random, but blocks start from the last index to the first
  starve_one_block,  // one block runs only when no other can
  starve_one_thread, // one thread runs only when no other can; often a first one, which has most to
                     // do
  delay_after_publish, // a block that has just stored something waits: for a while, or until no
                       // other can run

  starve_late, // one block of each kernel runs only when no other can, from one of its first stores
               // on: others know that it takes part, and go as far ahead of it as they may
};
/// Trials take turns with the modes before starve_late, which a test asks for.
inline constexpr int mode_count = 6;
const char *name_of(mode which);

struct schedule {
  mode which;
  std::uint64_t seed;
};

struct kernel {
  unsigned blocks;
  int threads; // of a block
  std::size_t shared_bytes;
  std::function<void()> body; // of one thread
  bool may_overlap = false;   // starts when the kernel before allows it, not when that has ended
  bool cooperative = false;   // has a grid barrier; that all blocks are resident, `resident` says
  bool cluster = false;       // all blocks are resident, and are one cluster
  unsigned resident = 1;      // blocks that are resident at least, as long as so many are left
};

/// Cells that a report calls by name: `name`[(address - begin) / bytes of one].
struct named_memory {
  const char *name;
  const void *begin;
  std::size_t bytes, bytes_of_one;
};

/// Runs the kernels in order, as on one stream.
/// Throws std::runtime_error with the report when something is wrong.
void run(const schedule &chosen, const std::vector<kernel> &stream,
         const std::vector<named_memory> &names = {});

/// How often run() has been called, and how often a thread was resumed.
struct statistics {
  std::uint64_t schedules, resumptions;
};
statistics totals();

/// Something that must not be. In a kernel, ends the run.
[[noreturn]] void fail(const std::string &what);

// ---- for lookback/arch/simt.cuh -----------------------------------------------------------------

struct source_line {
  const char *file;
  int line;
};

struct thread_place {
  unsigned block, block_count;
  int thread, block_threads;
  unsigned cluster_blocks;
  unsigned char *shared;
  std::size_t shared_bytes;
};
/// Of the thread that runs.
extern const thread_place *here;

enum class operation {
  none,
  synchronize_block,
  synchronize_warps,
  be_told,
  synchronize_warp,
  ballot,
  all_of_warp,
  shuffle_up,
  rotate_up,
  rotate_down,
  shuffle,
  broadcast,
  load,
  back_off,
  wait_for_previous_kernel,
  wait,
  wait_for_cluster,
  wait_for_grid
};

void synchronize_block(source_line where);
/// Of the block's first `warps` warps.
void synchronize_warps(int warps, source_line where);
/// News 0 or 1 of a block: some of `warps` warps tell, the others are told when all of them have
/// come.
void tell(int which, int warps);
void be_told(int which, int warps, source_line where);
/// The thread arrives at a collective of its warp and continues when all 32 have; returns
/// everybody's bits. `argument` must be the same for all.
unsigned meet_warp(operation which, int argument, bool bit, source_line where);
/// The same, and writes the `bytes` bytes of lane `source`'s value over `value`.
void exchange(operation which, int argument, void *value, std::size_t bytes, int source,
              source_line where);

/// Around an access to memory that blocks share; others may run before it, and, after a store,
/// instead of what follows.
void before_load(const void *address, source_line where);
void before_store(const void *address, source_line where);
void after_store();
/// Ticket taken: only for reports.
void note_number(unsigned number);
/// Called between two looks at the same memory: the thread need not run until something that its
/// warp looked at has changed.
void back_off(source_line where);

/// Nanoseconds: a step of any thread takes 1 to 1,000, as the schedule has chosen.
std::uint64_t time_now();

void release_next_kernel();
void wait_for_previous_kernel(source_line where);

/// Remembers a copy until take_copy(), which returns false when none is left but those of the last
/// `groups` groups. A copy of no bytes ends a group.
struct pending_copy {
  void *to;
  const void *from;
  std::size_t bytes;
};
void put_copy(const pending_copy &copy);
bool take_copy(pending_copy &copy, int groups);

// Barriers in shared memory, by address; and copies that count on them, made at any time after they
// are asked for.
void initialize_barrier(void *barrier, int arrivals);
void invalidate_barrier(void *barrier);
void publish_barriers();
void arrive(void *barrier, unsigned owed_bytes, source_line where);
bool has_ended(void *barrier, unsigned parity);
void wait(void *barrier, unsigned parity, source_line where);
void bulk_copy(void *to, const void *from, unsigned bytes, void *barrier, source_line where);

void arrive_at_cluster(bool ordered, source_line where);
void wait_for_cluster(source_line where);
/// A word to where block `rank` of the cluster has what this block has at `mine`, made at any time;
/// 4 bytes of what that block's `barrier` is owed.
void send(const void *mine, unsigned rank, std::uint32_t word, const void *barrier,
          source_line where);

/// The barrier of a cooperative launch, in two halves: one thread of each block arrives, and waits.
/// Neither is a barrier of the block. Returns what is to be waited for.
int arrive_at_grid();
void wait_for_grid(int phase, source_line where);

/// A coin of the schedule's.
bool coin();

} // namespace emulator
