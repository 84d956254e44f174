// SPDX-License-Identifier: MIT
// Compiled without instrumentation: what happens in here is the machine's business, not the
// kernel's.
#include <simt/emulator.hpp>
#include <simt/fiber.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace emulator {

const thread_place *here = nullptr;

namespace {

constexpr int warp_threads = 32;
constexpr std::uint32_t full = 0xffffffffu;
constexpr std::size_t widest_exchange = 512; // bytes of one lane
constexpr std::size_t most_jobs = 1024;      // bulk copies and words on their way to one block

const char *name_of_operation(operation which) {
  switch (which) {
  case operation::none:
    return "none";
  case operation::synchronize_block:
    return "synchronize_block";
  case operation::synchronize_warps:
    return "synchronize_warps";
  case operation::be_told:
    return "be_told";
  case operation::synchronize_warp:
    return "synchronize_warp";
  case operation::ballot:
    return "ballot";
  case operation::all_of_warp:
    return "all_of_warp";
  case operation::shuffle_up:
    return "shuffle_up";
  case operation::rotate_up:
    return "rotate_up";
  case operation::rotate_down:
    return "rotate_down";
  case operation::shuffle:
    return "shuffle";
  case operation::broadcast:
    return "broadcast";
  case operation::back_off:
    return "back_off";
  case operation::load:
    return "a load, again";
  case operation::wait:
    return "wait";
  case operation::wait_for_cluster:
    return "wait_for_cluster";
  case operation::wait_for_grid:
    return "wait_for_grid";
  case operation::wait_for_previous_kernel:
    return "wait_for_previous_kernel";
  }
  return "?";
}

// ---- what orders memory, for ThreadSanitizer ----------------------------------------------------

#if defined(EMULATOR_THREAD_SANITIZER)
void release(void *what) { __tsan_release(what); }
void acquire(void *what) { __tsan_acquire(what); }
#else
void release(void *) {}
void acquire(void *) {}
#endif

/// S. Vigna's splitmix64 (2015, public domain algorithm): one word of state.
class generator {
public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  unsigned below(unsigned bound) { return static_cast<unsigned>((next() >> 32) * bound >> 32); }

private:
  std::uint64_t state_;
};

// ---- the grid -----------------------------------------------------------------------------------

struct block_state;
struct grid_state;
/// A type of this file's, so that no instrumented copy of the vector's code takes the place of this
/// file's.
struct byte {
  unsigned char bits;
};

/// A barrier that is used repeatedly. It has two sets of data: late threads still read one while
/// others already arrive at the other. No thread can be two rounds ahead.
struct meeting {
  operation which = operation::none;
  int argument = 0;
  std::uint32_t arrived = 0;
  int parity = 0;
  unsigned bits[2] = {};
  char order[2] = {}; // whose addresses ThreadSanitizer's clocks hang on
};

struct warp_state {
  block_state *block;
  int index;
  // Every lane is in exactly one of these, or runs.
  std::uint32_t ready = full, in_warp = 0, in_block = 0, in_part = 0, untold[2] = {}, stalled = 0,
                in_grid = 0, in_barrier = 0, in_cluster = 0, in_grid_barrier = 0, finished = 0;
  std::uint32_t starved = 0;  // lanes that run only when nobody else can
  std::uint64_t watched = 0;  // a bit for each address that was looked at, by its hash
  std::uint32_t outdated = 0; // lanes whose last look may be out of date
  meeting meets;
  std::unique_ptr<byte[]> values[2]; // of the lanes, for an exchange
};

struct lane_state {
  thread_place place; // `here` points at it
  warp_state *warp;
  std::uint32_t bit;
  fiber *runs;
  operation waits_in = operation::none;
  source_line where = {"", 0};
  const void *looked_at = nullptr;
  std::vector<const void *> looked; // since it last stalled
  bool released_next = false;
  int cluster_parity =
      -1; // of the cluster's phase at which it has arrived but for which it has not waited
  std::vector<pending_copy> copies;
};

/// A barrier in shared memory. As in a meeting, two of what its clocks hang on: of the phase under
/// way and the one before.
struct barrier_state {
  int arrivals, pending;
  std::int64_t owed = 0; // bytes
  unsigned parity = 0;   // of the phase under way
  const lane_state *initialized_by;
  bool published = false;
  char order[2] = {};
};

/// A bulk copy that has not been made yet, or a word that has not arrived: then `from` is null.
struct bulk_job {
  void *to;
  const void *from;
  std::size_t bytes;
  void *barrier;
  std::uint32_t word = 0;
};

/// A barrier of a block, or of its first warps. As in a meeting, two of what its clocks hang on.
struct block_meeting {
  operation which = operation::none;
  int threads = 0, arrived = 0, parity = 0;
  char order[2] = {};
};

struct block_state {
  grid_state *grid;
  unsigned index;
  long number = -1; // its ticket, if it took one
  std::vector<warp_state> warps;
  std::vector<lane_state> lanes;
  unsigned char *shared = nullptr;
  block_meeting meets, part_meets, news[2]; // of the last, some only arrive
  int finished = 0;
  char began = 0;               // whose address a clock hangs on
  bool arrived_at_grid = false; // and has not waited
  std::map<const void *, barrier_state> barriers;
  std::vector<bulk_job> jobs;
  std::uint64_t delayed_until = 0;
  unsigned stores_until_starved = 0; // or 0: is not starved by a store
};

struct grid_state {
  const kernel *code;
  grid_state *previous;
  std::vector<unsigned> arrivals; // block indices, the next to start last
  unsigned lags = 0;              // in starve_late: the block that is starved
  std::uint64_t threads, released = 0, finished = 0;
  std::uint64_t cluster_arrived = 0;
  int cluster_parity = 0;
  char cluster_order[2] = {};
  unsigned blocks_arrived = 0; // at the grid barrier
  int barrier_parity = 0;
  char barrier_order[2] = {};
  char began = 0, ended = 0; // whose addresses ThreadSanitizer's clocks hang on

  bool complete() const { return finished == threads; }
  bool lets_next_start() const { return released == threads; }
};

/// One run().
class machine {
public:
  machine(const schedule &chosen, const std::vector<kernel> &stream,
          const std::vector<named_memory> &names);
  ~machine();
  void run();

  // Called by threads.
  void suspend() { fiber::suspend(); }
  void wait_as(std::uint32_t warp_state::*set, operation which, source_line where);
  void maybe_yield();
  [[noreturn]] void fail(const std::string &what);
  void thread_body();
  void starve(block_state &block);

  void ask_for(block_state &block, const bulk_job &wanted);
  void count_on(block_state &block, void *address, int arrivals, std::int64_t bytes);
  barrier_state &barrier_at(void *address);

  lane_state *lane = nullptr; // that runs
  bulk_job *job = nullptr;    // that is made, and whose it is
  block_state *copying = nullptr;
  std::string failure;
  bool preempt = false;
  generator random;
  const mode which;
  std::uint64_t steps = 0, stores = 0, step_nanoseconds = 1, idle_nanoseconds = 0;
  std::vector<std::unique_ptr<block_state>> resident;
  std::string describe(const lane_state &one) const;

private:
  void admit();
  bool start_block();
  block_state *choose();
  void run_block(block_state &block);
  bool make_copy();
  void give_back(fiber *one);
  void retire(std::size_t slot);
  bool wake_everyone();
  /// Wakes everyone unless two looks at what has been stored so far were in vain.
  bool wake_for_progress() {
    return (stores != stores_at_wake_ || idle_wakes_ < 2) && wake_everyone();
  }
  std::string who_waits() const;
  std::string cell_name(const void *address) const;
  static bool runnable(const block_state &block, bool starved_too) {
    return std::any_of(block.warps.begin(), block.warps.end(), [=](const warp_state &w) {
      return (w.ready & (starved_too ? full : ~w.starved)) != 0;
    });
  }

  const std::vector<named_memory> &names_;
  std::vector<std::unique_ptr<grid_state>> grids_;
  std::vector<unsigned char *> shared_memory_;
  std::vector<std::unique_ptr<block_state>> retired_;
  std::vector<fiber *> used_; // not to be used again within this run
  unsigned slots_, started_ = 0, starved_ = ~0u;
  int idle_wakes_ = 0;
  std::uint64_t stores_at_wake_ = 0;
  std::vector<block_state *> candidates_;
};

machine *running = nullptr;
statistics counted = {};

/// Stacks outlive runs, and those of a failed run are never used again; the program's end frees
/// them.
struct stacks {
  std::vector<fiber *> idle, all;
};
stacks &all_stacks() {
  static stacks &made = *new stacks;
  return made;
}
fiber *take_fiber() {
  stacks &made = all_stacks();
  if (made.idle.empty()) {
    made.all.push_back(new fiber([] { running->thread_body(); }));
    return made.all.back();
  }
  fiber *const taken = made.idle.back();
  made.idle.pop_back();
  return taken;
}

machine::machine(const schedule &chosen, const std::vector<kernel> &stream,
                 const std::vector<named_memory> &names)
    : random(chosen.seed), which(chosen.which), names_(names) {
  unsigned most = 1;
  for (const kernel &code : stream) {
    auto grid = std::make_unique<grid_state>();
    grid->code = &code;
    grid->previous = grids_.empty() ? nullptr : grids_.back().get();
    grid->threads = std::uint64_t{code.blocks} * code.threads;
    if (code.threads % warp_threads != 0 || grid->threads == 0)
      throw std::invalid_argument("a launch needs whole warps, at least one");
    for (unsigned b = code.blocks; b-- > 0;) grid->arrivals.push_back(b);
    if (which == mode::reversed)
      std::reverse(grid->arrivals.begin(), grid->arrivals.end());
    else
      for (std::size_t i = grid->arrivals.size(); i > 1; --i)
        std::swap(grid->arrivals[i - 1], grid->arrivals[random.below(static_cast<unsigned>(i))]);
    grid->lags = random.below(code.blocks);
    most = std::max(most, code.blocks);
    grids_.push_back(std::move(grid));
  }
  const unsigned slots[] = {most, 2 + random.below(6), 1 + random.below(most)};
  constexpr std::uint64_t paces[] = {1, 30, 1000};
  step_nanoseconds = paces[random.below(3)];
  slots_ = which == mode::one_slot ? 1 : slots[random.below(3)];
  if (which == mode::starve_late) slots_ = most, step_nanoseconds = paces[0]; // all take part
  for (const kernel &code : stream)
    slots_ = std::max(slots_, code.cluster ? code.blocks : code.resident);
  if (which == mode::starve_one_block || which == mode::starve_one_thread)
    starved_ = random.below(most) + (grids_.size() > 1 ? stream.front().blocks : 0);
}

machine::~machine() {
  for (unsigned char *memory : shared_memory_) std::free(memory);
}

std::string machine::cell_name(const void *address) const {
  std::ostringstream text;
  for (const named_memory &named : names_) {
    const auto offset = static_cast<const char *>(address) - static_cast<const char *>(named.begin);
    if (offset >= 0 && static_cast<std::size_t>(offset) < named.bytes) {
      text << named.name << '[' << static_cast<std::size_t>(offset) / named.bytes_of_one << ']';
      return text.str();
    }
  }
  text << address;
  return text.str();
}

std::string machine::describe(const lane_state &one) const {
  std::ostringstream text;
  const block_state &block = *one.warp->block;
  text << "block " << block.index;
  if (block.number >= 0) text << " (ticket " << block.number << ")";
  text << " warp " << one.warp->index << " lane " << one.place.thread % warp_threads;
  return text.str();
}

std::string machine::who_waits() const {
  std::ostringstream text;
  for (const auto &block : resident) {
    const lane_state *last = nullptr;
    for (const lane_state &one : block->lanes) {
      const bool same = last != nullptr && last->warp == one.warp &&
                        last->waits_in == one.waits_in && last->where.line == one.where.line &&
                        last->looked_at == one.looked_at;
      last = &one;
      if (same) continue;
      text << "\n  " << describe(one);
      if (one.warp->finished & one.bit) {
        text << " has ended";
        continue;
      }
      const std::string file = one.where.file;
      text << (one.warp->ready & one.bit ? " can run" : " waits");
      if (one.warp->in_grid_barrier & one.bit)
        text << " for the grid barrier, " << block->grid->blocks_arrived << " of "
             << block->grid->code->blocks << " blocks have arrived";
      else
        text << " in " << name_of_operation(one.waits_in);
      text << ", " << file.substr(file.find_last_of('/') + 1) << ':' << one.where.line;
      if ((one.waits_in == operation::back_off || one.waits_in == operation::load) &&
          one.looked_at != nullptr)
        text << ", for " << cell_name(one.looked_at);
    }
  }
  for (const auto &grid : grids_)
    if (!grid->arrivals.empty())
      text << "\n  " << grid->arrivals.size() << " of " << grid->code->blocks
           << " blocks have not started, next " << grid->arrivals.back() << "; slots: " << slots_;
  return text.str();
}

void machine::fail(const std::string &what) {
  if (failure.empty()) {
    failure = what;
    if (lane != nullptr) failure = describe(*lane) + ": " + what;
  }
  for (;;) suspend(); // never resumed
}

bool machine::start_block() {
  for (auto &grid : grids_) {
    if (grid->arrivals.empty()) continue;
    grid_state *const before = grid->previous;
    if (before != nullptr &&
        !(grid->code->may_overlap ? before->lets_next_start() : before->complete()))
      return false;
    if (before != nullptr && !grid->code->may_overlap) acquire(&before->ended);
    auto block = std::make_unique<block_state>();
    block->grid = grid.get();
    block->index = grid->arrivals.back();
    grid->arrivals.pop_back();
    const kernel &code = *grid->code;
    void *memory = nullptr;
    if (code.shared_bytes != 0 && posix_memalign(&memory, 128, code.shared_bytes) != 0)
      std::abort();
    block->shared = static_cast<unsigned char *>(memory);
    if (memory != nullptr) shared_memory_.push_back(block->shared);
    const std::uint64_t garbage = random.next() | 0x8000000080000000;
    for (std::size_t i = 0; i < code.shared_bytes; ++i)
      block->shared[i] = static_cast<unsigned char>(garbage >> i % 8 * 8);
    block->warps.resize(code.threads / warp_threads);
    block->lanes.resize(code.threads);
    for (std::size_t w = 0; w < block->warps.size(); ++w) {
      block->warps[w].block = block.get();
      block->warps[w].index = static_cast<int>(w);
      for (auto &values : block->warps[w].values)
        values.reset(new byte[warp_threads * widest_exchange]);
    }
    for (int t = 0; t < code.threads; ++t) {
      lane_state &one = block->lanes[t];
      one.place = {block->index,  code.blocks,      t, code.threads, code.cluster ? code.blocks : 1,
                   block->shared, code.shared_bytes};
      one.warp = &block->warps[t / warp_threads];
      one.bit = 1u << t % warp_threads;
      one.runs = take_fiber();
    }
    // Room that threads fill is made here: ThreadSanitizer would see one free what another had.
    block->jobs.reserve(most_jobs);
    if (started_++ == starved_) starve(*block);
    if (which == mode::starve_late && block->index == grid->lags)
      block->stores_until_starved = 1 + random.below(4);
    // What came before the launch is ordered before every thread of it; under ThreadSanitizer
    // fibers outlive launches.
    release(&block->grid->began);
    release(&block->began);
    resident.push_back(std::move(block));
    return true;
  }
  return false;
}

void machine::starve(block_state &block) {
  if (which != mode::starve_one_thread) {
    for (warp_state &warp : block.warps) warp.starved = full;
    return;
  }
  const bool any_warp = random.below(2) == 0, any_lane = random.below(2) == 0;
  const unsigned warp = any_warp ? random.below(static_cast<unsigned>(block.warps.size())) : 0;
  block.warps[warp].starved = 1u << (any_lane ? random.below(warp_threads) : 0);
}

void machine::admit() {
  while (resident.size() < slots_) {
    if (!resident.empty() && which != mode::one_slot && random.below(2) == 0)
      return; // starting takes a while
    if (!start_block()) return;
    idle_wakes_ = 0;
  }
}

block_state *machine::choose() {
  candidates_.clear();
  for (const auto &block : resident)
    if (block->delayed_until <= steps && runnable(*block, false))
      candidates_.push_back(block.get());
  if (candidates_.empty()) {
    if (resident.size() < slots_ && start_block()) {
      idle_wakes_ = 0;
      return choose();
    }
    // Copies go on while a block is starved. A lane that looks at a word twice stalls, also if it
    // does not wait for that word.
    if (which == mode::starve_late && (make_copy() || wake_for_progress())) return choose();
    for (const auto &block : resident)
      if (runnable(*block, true)) candidates_.push_back(block.get());
  }
  if (candidates_.empty()) return nullptr;
  block_state *const chosen = candidates_[random.below(static_cast<unsigned>(candidates_.size()))];
  chosen->delayed_until = 0;
  return chosen;
}

void machine::run_block(block_state &block) {
  preempt = false;
  do {
    // A warp of those that can run, and its lanes from any one on, in either direction.
    const auto warps = static_cast<unsigned>(block.warps.size());
    unsigned w = random.below(warps);
    const bool starved_too = !runnable(block, false);
    const auto able = [&] {
      return block.warps[w].ready & (starved_too ? full : ~block.warps[w].starved);
    };
    while (able() == 0) w = (w + 1) % warps;
    const std::uint64_t bits = random.next();
    const unsigned first = bits % warp_threads;
    const bool down = bits >> 8 & 1;
    for (unsigned i = 0; i < warp_threads && !preempt; ++i) {
      const unsigned l = (down ? first - i : first + i) % warp_threads;
      if (!(able() >> l & 1)) continue;
      lane = &block.lanes[w * warp_threads + l];
      here = &lane->place;
      ++counted.resumptions;
      lane->runs->resume();
      lane = nullptr;
      here = nullptr;
      if (!failure.empty()) return;
    }
  } while (!preempt && runnable(block, false) && random.below(8) != 0);
}

void machine::give_back(fiber *one) {
  // Within a run, a fiber is one thread's: ThreadSanitizer takes it for its identity.
#if defined(EMULATOR_THREAD_SANITIZER)
  used_.push_back(one);
#else
  all_stacks().idle.push_back(one);
#endif
}

void machine::retire(std::size_t slot) {
  for (lane_state &one : resident[slot]->lanes) give_back(one.runs);
  grid_state &grid = *resident[slot]->grid;
  retired_.push_back(std::move(resident[slot]));
  resident.erase(resident.begin() + slot);
  idle_wakes_ = 0;
  if (grid.complete())
    for (const auto &block : resident)
      for (warp_state &warp : block->warps)
        if (block->grid->previous == &grid) warp.ready |= warp.in_grid, warp.in_grid = 0;
}

bool machine::wake_everyone() {
  // A lane may stall though what it waits for is there, when the lanes of its warp looked at
  // different times. After a second look by everyone with nothing stored in between, that cannot
  // be.
  idle_wakes_ = stores == stores_at_wake_ ? idle_wakes_ + 1 : 1;
  stores_at_wake_ = stores;
  idle_nanoseconds += 1000; // somebody may wait until a time
  bool any = false;
  for (const auto &block : resident)
    for (warp_state &warp : block->warps) {
      any = any || warp.stalled != 0;
      warp.ready |= warp.stalled;
      warp.stalled = 0;
      warp.watched = 0;
    }
  return any && idle_wakes_ <= 100;
}

void machine::run() {
  running = this;
  const std::uint64_t resumptions_at_start = counted.resumptions;
  while (failure.empty()) {
    ++steps;
    admit();
    if (random.below(4) == 0) make_copy();
    block_state *const block = choose();
    if (block == nullptr) {
      if (make_copy()) continue;
      if (resident.empty()) break;
      const std::string waits = who_waits();
      if (!wake_everyone()) failure = "deadlock, no thread can run:" + waits;
      continue;
    }
    run_block(*block);
    if (!failure.empty()) break;
    if (counted.resumptions - resumptions_at_start > 200'000'000)
      failure = "livelock, threads spin without progress:" + who_waits();
    if (block->finished == static_cast<int>(block->lanes.size()))
      for (std::size_t slot = 0; slot < resident.size(); ++slot)
        if (resident[slot].get() == block) {
          retire(slot);
          break;
        }
  }
  for (const auto &grid : grids_) acquire(&grid->ended);
  for (fiber *one : used_) all_stacks().idle.push_back(one);
  running = nullptr;
  lane = nullptr;
  here = nullptr;
  // After a failure, the fibers of threads that have not ended are abandoned, with their stacks.
  for (const auto &block : resident)
    for (lane_state &one : block->lanes) one.runs->abandon();
  if (failure.empty()) return;
  for (fiber *one : used_) one->abandon(); // bulk copies that nobody has waited for
  throw std::runtime_error(failure);
}

/// Puts a bulk copy or a word on its way to `block`: make_copy() makes it at any time from now on.
/// The vector never grows, since start_block() has made room for as many as there may be.
void machine::ask_for(block_state &block, const bulk_job &wanted) {
  if (block.jobs.size() == most_jobs)
    fail("has more bulk copies and words on their way to one block than the emulator supports");
  block.jobs.push_back(wanted);
}

/// Makes one of the bulk copies that were asked for, any one.
bool machine::make_copy() {
  std::size_t all = 0;
  for (const auto &block : resident) all += block->jobs.size();
  if (all == 0) return false;
  std::size_t chosen = random.below(static_cast<unsigned>(all));
  for (const auto &block : resident) {
    if (chosen >= block->jobs.size()) {
      chosen -= block->jobs.size();
      continue;
    }
    std::swap(block->jobs[chosen], block->jobs.back());
    bulk_job made = block->jobs.back();
    block->jobs.pop_back();
    // By a fiber of its own: the copy is ordered after it was asked for and before the barrier's
    // phase, and nothing else.
    job = &made;
    copying = block.get();
    fiber *const runs = take_fiber();
    runs->resume();
    give_back(runs);
    job = nullptr;
    count_on(*block, made.barrier, 0, -static_cast<std::int64_t>(made.bytes));
    return true;
  }
  return false;
}

barrier_state &machine::barrier_at(void *address) {
  block_state &block = *lane->warp->block;
  const auto found = block.barriers.find(address);
  if (found == block.barriers.end()) fail("uses a barrier that was not initialized");
  if (!found->second.published && found->second.initialized_by != lane)
    fail("uses a barrier that was not published");
  return found->second;
}

/// Arrivals and copies count on a barrier; the last ends the phase.
void machine::count_on(block_state &block, void *address, int arrivals, std::int64_t bytes) {
  barrier_state &barrier = block.barriers.at(address);
  barrier.pending -= arrivals;
  barrier.owed += bytes;
  if (barrier.pending < 0) fail("arrives at a barrier more often than it was initialized for");
  if (barrier.pending != 0 || barrier.owed != 0) return;
  barrier.pending = barrier.arrivals;
  barrier.parity ^= 1;
  idle_wakes_ = 0;
  for (warp_state &warp : block.warps)
    for (int l = 0; l < warp_threads; ++l) {
      const lane_state &one = block.lanes[warp.index * warp_threads + l];
      if (!(warp.in_barrier & one.bit) || one.looked_at != address) continue;
      warp.in_barrier &= ~one.bit;
      warp.ready |= one.bit;
    }
}

void machine::thread_body() {
  if (job != nullptr) {
    acquire(job->to);         // see bulk_copy
    acquire(&copying->began); // another block may have sent it, whose threads began before this
                              // memory was there
    std::memcpy(job->to, job->from != nullptr ? job->from : &job->word, job->bytes);
    barrier_state &barrier = copying->barriers.at(job->barrier);
    release(&barrier.order[barrier.parity]);
    return;
  }
  lane_state &self = *lane;
  grid_state &grid = *self.warp->block->grid;
  acquire(&grid.began);
  grid.code->body();
  warp_state &warp = *self.warp;
  block_state &block = *warp.block;
  if (block.finished + 1 == static_cast<int>(block.lanes.size()) && !block.jobs.empty())
    fail("ends its block before the bulk copies of the block are complete");
  for (const pending_copy &copy : self.copies)
    if (copy.bytes != 0) fail("ends before its copies are complete");
  if (warp.meets.arrived != 0)
    fail(std::string("ends while other lanes of its warp wait in ") +
         name_of_operation(warp.meets.which));
  for (const block_meeting *const at : {&block.meets, &block.part_meets})
    if (at->arrived != 0 && self.place.thread < at->threads)
      fail(std::string("ends while others of its block wait in ") + name_of_operation(at->which));
  warp.ready &= ~self.bit;
  warp.finished |= self.bit;
  ++block.finished;
  ++grid.finished;
  if (!self.released_next) ++grid.released;
  release(&grid.ended);
}

void machine::wait_as(std::uint32_t warp_state::*set, operation which_one, source_line where) {
  warp_state &warp = *lane->warp;
  warp.ready &= ~lane->bit;
  warp.*set |= lane->bit;
  lane->waits_in = which_one;
  lane->where = where;
  suspend();
}

void machine::maybe_yield() {
  if (random.below(2) != 0) return;
  preempt = random.below(2) != 0;
  suspend();
}

std::uint64_t watch_bit(const void *address) {
  return std::uint64_t{1} << (reinterpret_cast<std::uintptr_t>(address) / 4 % 64);
}

} // namespace

// ---- what kernels call --------------------------------------------------------------------------

namespace {

void meet_block(block_meeting block_state::*meeting_of, std::uint32_t warp_state::*waiting,
                operation which, int threads, source_line where) {
  machine &m = *running;
  lane_state &self = *m.lane;
  block_state &block = *self.warp->block;
  block_meeting &at = block.*meeting_of;
  if (self.place.thread >= threads)
    m.fail(std::string(name_of_operation(which)) + " of warps that do not include the thread");
  for (int t = 0; t < threads; ++t)
    if (block.lanes[t].warp->finished & block.lanes[t].bit)
      m.fail(std::string(name_of_operation(which)) + " after threads of the block have ended");
  if (at.arrived == 0) at.which = which, at.threads = threads;
  if (at.which != which || at.threads != threads)
    m.fail(std::string(name_of_operation(which)) + ", but other threads of the block wait in " +
           name_of_operation(at.which));
  const int parity = at.parity;
  release(&at.order[parity]);
  if (++at.arrived == threads) {
    at.arrived = 0;
    at.parity ^= 1;
    for (warp_state &warp : block.warps) {
      warp.ready |= warp.*waiting;
      warp.*waiting = 0;
    }
  } else {
    m.wait_as(waiting, which, where);
  }
  acquire(&at.order[parity]);
}

/// Returns the parity under which the meeting's results lie.
int meet(machine &m, operation which, int argument, bool bit, const void *value, std::size_t bytes,
         source_line where) {
  lane_state &self = *m.lane;
  warp_state &warp = *self.warp;
  meeting &meets = warp.meets;
  const int parity = meets.parity;
  if (warp.finished != 0)
    m.fail(std::string(name_of_operation(which)) + " after lanes of the warp have ended");
  if (meets.arrived == 0) {
    meets.which = which;
    meets.argument = argument;
    meets.bits[parity] = 0;
  } else if (meets.which != which || meets.argument != argument) {
    std::ostringstream text;
    text << name_of_operation(which) << '(' << argument << ") at line " << where.line
         << ", but other lanes of the warp wait in " << name_of_operation(meets.which) << '('
         << meets.argument << ')';
    m.fail(text.str());
  }
  if (bit) meets.bits[parity] |= self.bit;
  if (bytes > widest_exchange) m.fail("exchanges more bytes than the emulator supports");
  byte *const place = warp.values[parity].get() + bytes * (self.place.thread % warp_threads);
  for (std::size_t i = 0; i < bytes; ++i)
    place[i].bits = static_cast<const unsigned char *>(value)[i];
  // Of the warp's collectives only this one orders memory.
  if (which == operation::synchronize_warp) release(&meets.order[parity]);
  meets.arrived |= self.bit;
  if (meets.arrived == full) {
    meets.arrived = 0;
    meets.parity ^= 1;
    warp.ready |= warp.in_warp;
    warp.in_warp = 0;
  } else {
    m.wait_as(&warp_state::in_warp, which, where);
  }
  if (which == operation::synchronize_warp) acquire(&meets.order[parity]);
  return parity;
}

} // namespace

void synchronize_block(source_line where) {
  meet_block(&block_state::meets, &warp_state::in_block, operation::synchronize_block,
             running->lane->place.block_threads, where);
}
namespace {

/// One thread more of `threads` that tell or are told; the last lets all go that wait. Returns the
/// parity of what it arrived at.
int hear(machine &m, int which, int threads) {
  block_state &block = *m.lane->warp->block;
  block_meeting &at = block.news[which];
  if (at.arrived == 0) at.threads = threads;
  if (at.threads != threads)
    m.fail("passes another number of threads to a named barrier than other threads of the block");
  const int parity = at.parity;
  if (++at.arrived == threads) {
    at.arrived = 0;
    at.parity ^= 1;
    for (warp_state &warp : block.warps) {
      warp.ready |= warp.untold[which];
      warp.untold[which] = 0;
    }
  }
  return parity;
}

} // namespace

void tell(int which, int warps) {
  machine &m = *running;
  block_meeting &at = m.lane->warp->block->news[which];
  release(&at.order[at.parity]);
  hear(m, which, warps * warp_threads);
  m.maybe_yield();
}
void be_told(int which, int warps, source_line where) {
  machine &m = *running;
  block_meeting &at = m.lane->warp->block->news[which];
  m.maybe_yield();
  const int parity = hear(m, which, warps * warp_threads);
  while (at.parity == parity) {
    m.lane->warp->ready &= ~m.lane->bit;
    m.lane->warp->untold[which] |= m.lane->bit;
    m.lane->waits_in = operation::be_told;
    m.lane->where = where;
    m.suspend();
  }
  acquire(&at.order[parity]);
}
void synchronize_warps(int warps, source_line where) {
  meet_block(&block_state::part_meets, &warp_state::in_part, operation::synchronize_warps,
             warps * warp_threads, where);
}

unsigned meet_warp(operation which, int argument, bool bit, source_line where) {
  machine &m = *running;
  const int parity = meet(m, which, argument, bit, nullptr, 0, where);
  return m.lane->warp->meets.bits[parity];
}

void exchange(operation which, int argument, void *value, std::size_t bytes, int source,
              source_line where) {
  machine &m = *running;
  const int parity = meet(m, which, argument, false, value, bytes, where);
  const byte *const theirs = m.lane->warp->values[parity].get() + bytes * source;
  for (std::size_t i = 0; i < bytes; ++i) static_cast<unsigned char *>(value)[i] = theirs[i].bits;
}

namespace {

/// The thread has seen all that it wants to see, and need not run until there may be something new.
void stall(machine &m, operation which, source_line where) {
  lane_state &self = *m.lane;
  warp_state &warp = *self.warp;
  if (warp.outdated & self.bit)
    m.maybe_yield();
  else
    m.wait_as(&warp_state::stalled, which, where);
  warp.outdated &= ~self.bit;
  self.looked.clear();
}

} // namespace

void before_load(const void *address, source_line where) {
  machine &m = *running;
  lane_state &self = *m.lane;
  // A second load of the same address is probably a poll without back_off(), which may wait until
  // the value changes. If it is not a poll, the wait ends when no other thread can run.
  if (std::find(self.looked.begin(), self.looked.end(), address) != self.looked.end())
    stall(m, operation::load, where);
  else
    m.maybe_yield();
  if (self.looked.size() == 64) self.looked.clear();
  self.looked.push_back(address);
  self.looked_at = address;
  self.where = where;
  self.warp->watched |= watch_bit(address);
}

void before_store(const void *address, source_line) {
  machine &m = *running;
  m.maybe_yield();
  ++m.stores;
  for (const auto &block : m.resident)
    for (warp_state &warp : block->warps)
      if (warp.watched & watch_bit(address)) {
        warp.ready |= warp.stalled;
        warp.stalled = 0;
        warp.watched = 0;
        warp.outdated = full;
      }
}

void after_store() {
  machine &m = *running;
  block_state &block = *m.lane->warp->block;
  if (block.stores_until_starved > 0 && --block.stores_until_starved == 0) m.starve(block);
  if (m.which == mode::delay_after_publish) {
    const unsigned die = m.random.below(4);
    if (die == 0) return;
    block.delayed_until = die == 1 ? ~std::uint64_t{0} : m.steps + m.random.below(1000);
    m.preempt = true;
    m.suspend();
  } else {
    m.maybe_yield();
  }
}

void note_number(unsigned number) { running->lane->warp->block->number = number; }

void back_off(source_line where) { stall(*running, operation::back_off, where); }

void release_next_kernel() {
  lane_state &self = *running->lane;
  running->maybe_yield();
  if (!self.released_next) ++self.warp->block->grid->released;
  self.released_next = true;
}

void wait_for_previous_kernel(source_line where) {
  machine &m = *running;
  grid_state *const before = m.lane->warp->block->grid->previous;
  if (before == nullptr) return;
  while (!before->complete())
    m.wait_as(&warp_state::in_grid, operation::wait_for_previous_kernel, where);
  acquire(&before->ended);
}

void initialize_barrier(void *barrier, int arrivals) {
  machine &m = *running;
  block_state &block = *m.lane->warp->block;
  const auto *const at = static_cast<unsigned char *>(barrier);
  if (at < block.shared || at + 8 > block.shared + m.lane->place.shared_bytes)
    m.fail("uses a barrier outside shared memory");
  barrier_state made;
  made.arrivals = made.pending = arrivals;
  made.initialized_by = m.lane;
  if (!block.barriers.emplace(barrier, std::move(made)).second)
    m.fail("initializes a barrier twice");
}

void invalidate_barrier(void *barrier) {
  machine &m = *running;
  block_state &block = *m.lane->warp->block;
  if (m.barrier_at(barrier).owed != 0) m.fail("ends a barrier that is owed bytes");
  for (const warp_state &warp : block.warps)
    for (int l = 0; l < warp_threads; ++l) {
      const lane_state &one = block.lanes[warp.index * warp_threads + l];
      if ((warp.in_barrier & one.bit) && one.looked_at == barrier)
        m.fail("ends a barrier that a thread waits for");
    }
  block.barriers.erase(barrier);
}

void publish_barriers() {
  machine &m = *running;
  for (auto &entry : m.lane->warp->block->barriers)
    if (entry.second.initialized_by == m.lane) entry.second.published = true;
}

void arrive(void *barrier, unsigned owed_bytes, source_line) {
  machine &m = *running;
  m.maybe_yield();
  barrier_state &at = m.barrier_at(barrier);
  release(&at.order[at.parity]);
  m.count_on(*m.lane->warp->block, barrier, 1, owed_bytes);
  m.maybe_yield();
}

bool has_ended(void *barrier, unsigned parity) {
  machine &m = *running;
  m.maybe_yield();
  barrier_state &at = m.barrier_at(barrier);
  if (at.parity == parity) return false;
  acquire(&at.order[parity]);
  return true;
}
void wait(void *barrier, unsigned parity, source_line where) {
  machine &m = *running;
  m.maybe_yield();
  barrier_state &at = m.barrier_at(barrier);
  while (at.parity == parity) {
    m.lane->looked_at = barrier;
    m.wait_as(&warp_state::in_barrier, operation::wait, where);
  }
  acquire(&at.order[parity]);
}

void bulk_copy(void *to, const void *from, unsigned bytes, void *barrier, source_line) {
  machine &m = *running;
  if (!m.barrier_at(barrier).published)
    m.fail(
        "begins a bulk copy with a barrier that was not published"); // no copy has initialized it
  const auto misaligned = [](const void *address) {
    return reinterpret_cast<std::uintptr_t>(address) % 16 != 0;
  };
  if (bytes == 0 || bytes % 16 != 0 || misaligned(to) || misaligned(from))
    m.fail("begins a bulk copy whose addresses or size are not multiples of 16 bytes");
  release(to); // the clock of the copy itself, which nobody else looks at
  m.ask_for(*m.lane->warp->block, {to, from, bytes, barrier});
  m.maybe_yield();
}

void arrive_at_cluster(bool ordered, source_line) {
  machine &m = *running;
  lane_state &self = *m.lane;
  grid_state &grid = *self.warp->block->grid;
  if (self.place.cluster_blocks == 1) m.fail("arrives at a cluster, but the launch has none");
  if (self.cluster_parity >= 0) m.fail("arrives at the cluster twice without waiting");
  m.maybe_yield();
  self.cluster_parity = grid.cluster_parity;
  if (ordered) release(&grid.cluster_order[grid.cluster_parity]);
  if (++grid.cluster_arrived != grid.threads) return;
  grid.cluster_arrived = 0;
  grid.cluster_parity ^= 1;
  for (const auto &block : m.resident)
    for (warp_state &warp : block->warps) {
      warp.ready |= warp.in_cluster;
      warp.in_cluster = 0;
    }
}

void wait_for_cluster(source_line where) {
  machine &m = *running;
  lane_state &self = *m.lane;
  grid_state &grid = *self.warp->block->grid;
  if (self.cluster_parity < 0) m.fail("waits for the cluster without having arrived");
  // Nobody can arrive again before this thread has, so the parity tells the phases apart.
  if (grid.cluster_parity == self.cluster_parity)
    m.wait_as(&warp_state::in_cluster, operation::wait_for_cluster, where);
  acquire(&grid.cluster_order[self.cluster_parity]);
  self.cluster_parity = -1;
}

int arrive_at_grid() {
  machine &m = *running;
  lane_state &self = *m.lane;
  block_state &block = *self.warp->block;
  grid_state &grid = *block.grid;
  if (!grid.code->cooperative)
    m.fail("arrives at the grid barrier of a launch that is not cooperative");
  if (block.arrived_at_grid) m.fail("arrives at the grid barrier twice without waiting");
  const int phase = grid.barrier_parity; // it cannot end before this block has arrived
  m.maybe_yield();
  block.arrived_at_grid = true;
  release(&grid.barrier_order[phase]);
  if (++grid.blocks_arrived != grid.code->blocks) return phase;
  grid.blocks_arrived = 0;
  grid.barrier_parity ^= 1;
  for (const auto &each : m.resident)
    for (warp_state &warp : each->warps) {
      warp.ready |= warp.in_grid_barrier;
      warp.in_grid_barrier = 0;
    }
  return phase;
}

void wait_for_grid(int phase, source_line where) {
  machine &m = *running;
  lane_state &self = *m.lane;
  block_state &block = *self.warp->block;
  grid_state &grid = *block.grid;
  if (phase < 0) m.fail("waits for the grid barrier without having arrived");
  m.maybe_yield();
  if (grid.barrier_parity == phase)
    m.wait_as(&warp_state::in_grid_barrier, operation::wait_for_grid, where);
  acquire(&grid.barrier_order[phase]);
  block.arrived_at_grid = false;
}

void send(const void *mine, unsigned rank, std::uint32_t word, const void *barrier, source_line) {
  machine &m = *running;
  const thread_place &place = m.lane->place;
  const auto offset_of = [&](const void *address) {
    const auto offset = static_cast<const unsigned char *>(address) - place.shared;
    if (offset < 0 || offset + 4 > static_cast<std::ptrdiff_t>(place.shared_bytes))
      m.fail("sends a word to an address outside shared memory");
    return offset;
  };
  const auto to = offset_of(mine), told = offset_of(barrier);
  m.maybe_yield();
  for (const auto &block : m.resident) {
    if (block->grid != m.lane->warp->block->grid || block->index != rank ||
        block->finished == static_cast<int>(block->lanes.size()))
      continue;
    const auto at = block->barriers.find(block->shared + told);
    if (at == block->barriers.end() || !at->second.published)
      m.fail("sends a word to a block whose barrier is not initialized yet");
    release(block->shared + to); // the clock of the word itself, which nobody else looks at
    m.ask_for(*block, {block->shared + to, nullptr, 4, block->shared + told, word});
    m.maybe_yield();
    return;
  }
  m.fail("uses the shared memory of block " + std::to_string(rank) +
         ", which has ended or does not exist");
}

void put_copy(const pending_copy &copy) { running->lane->copies.push_back(copy); }
bool take_copy(pending_copy &copy, int groups) {
  auto &copies = running->lane->copies;
  auto end = copies.end(); // of the copies that may be taken
  const auto skip_group = [&] {
    while (end != copies.begin() && std::prev(end)->bytes != 0) --end;
  };
  if (groups > 0) skip_group(); // one that has not ended
  for (; groups > 0 && end != copies.begin(); --groups) {
    --end;
    skip_group();
  }
  if (end == copies.begin()) return false;
  copy = copies.front();
  copies.erase(copies.begin());
  return true;
}

bool coin() { return running->random.below(2) != 0; }
std::uint64_t time_now() {
  running->maybe_yield();
  return running->steps * running->step_nanoseconds + running->idle_nanoseconds;
}

void fail(const std::string &what) {
  if (running == nullptr || running->lane == nullptr) throw std::runtime_error(what);
  running->fail(what);
}

const char *name_of(mode which) {
  switch (which) {
  case mode::random:
    return "random";
  case mode::one_slot:
    return "one_slot";
  case mode::reversed:
    return "reversed";
  case mode::starve_one_block:
    return "starve_one_block";
  case mode::starve_one_thread:
    return "starve_one_thread";
  case mode::delay_after_publish:
    return "delay_after_publish";
  case mode::starve_late:
    return "starve_late";
  }
  return "?";
}

statistics totals() { return counted; }

void run(const schedule &chosen, const std::vector<kernel> &stream,
         const std::vector<named_memory> &names) {
  ++counted.schedules;
  machine(chosen, stream, names).run();
}

} // namespace emulator
