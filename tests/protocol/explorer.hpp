// SPDX-License-Identifier: MIT
// Every execution of a few threads under a memory that orders nothing but what acquire and release
// order: each location keeps all its stores, and a load may return any that is not older than what
// its thread already knows of.
#pragma once

#include <simt/fiber.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace explorer {
namespace { // as the fibers are

/// The newest store that a thread knows of, by location.
using view = std::array<unsigned char, 24>;

struct store {
  std::uint64_t low, high;
  bool releases;
  view known; // to its thread
};

struct summary {
  std::uint64_t executions = 0, states = 0;
  std::string failure; // of the execution that failed, and then the last
};

class machine {
public:
  /// Calls `prepare` and then `body` on `threads` threads, once for each way that this can go,
  /// until one fails.
  summary explore(unsigned threads, const std::function<void()> &prepare,
                  const std::function<void()> &body) {
    summary all;
    running = this;
    body_ = body;
    do {
      prepare();
      run(threads, all);
      ++all.executions;
      all.failure = failure_;
    } while (failure_.empty() && next_choices());
    return all;
  }

  // ---- for the threads --------------------------------------------------------------------------

  static machine *running;

  store load(const void *address, bool acquires) {
    step();
    const int at = location(address);
    thread &self = threads_[current_];
    self.looked.push_back(at);
    self.known[at] += choose(stores_[at].size() - self.known[at]);
    const store seen = stores_[at][self.known[at]];
    if (acquires && seen.releases) learn(self, seen.known);
    return seen;
  }
  /// No step of its own: whoever might have looked before it may still see what was there before.
  void write(const void *address, std::uint64_t low, std::uint64_t high, bool releases) {
    append(location(address), low, high, releases);
  }
  /// A read-modify-write: sees the newest store, whatever the thread knows of.
  unsigned increment(const void *address) {
    step();
    const int at = location(address);
    const std::uint64_t before = stores_[at].back().low;
    append(at, before + 1, 0, false);
    return static_cast<unsigned>(before);
  }
  /// Accesses that are not atomic: no step of their own, since another order of them with anything
  /// is a race, and reported.
  void write_plain(const void *address) { append(location(address), 0, 0, false); }
  void read_plain(const void *address) {
    const int at = location(address);
    if (stores_[at].size() < 2) fail("a value is read that was not written");
    if (threads_[current_].known[at] + 1u != stores_[at].size())
      fail("a value is read whose writing nothing orders before");
  }
  /// Ends a look that did not see what it waits for. Another makes sense when it can see something
  /// newer, and then it does.
  void look_again() {
    thread &self = threads_[current_];
    self.waits = true;
    emulator::fiber::suspend();
    self.waits = false;
    const std::vector<int> newer = with_news(self);
    ++self.known[newer[choose(newer.size())]];
    self.looked.clear();
  }
  /// The thread is a new block from here on, and knows nothing.
  void begin_block() {
    threads_[current_].known = {};
    threads_[current_].looked.clear();
  }
  /// One of 0 to count - 1: each of them in some execution.
  unsigned choose(std::size_t count) {
    if (count == 1) return 0;
    if (position_ == choices_.size()) choices_.push_back({0, static_cast<unsigned>(count)});
    return choices_[position_++].taken;
  }
  void fail(const std::string &what) {
    if (failure_.empty()) failure_ = what;
    emulator::fiber::suspend(); // for good
  }

private:
  struct thread {
    std::unique_ptr<emulator::fiber> runs =
        std::make_unique<emulator::fiber>([] { running->thread_body(); });
    view known = {};
    bool ended = false, waits = false;
    std::vector<int> looked; // locations, since it last waited
  };
  struct choice {
    unsigned taken, count;
  };

  void thread_body() {
    body_();
    threads_[current_].ended = true;
  }

  void run(unsigned count, summary &all) {
    if (threads_.size() != count || !failure_.empty()) threads_ = std::vector<thread>(count);
    for (thread &one : threads_) one.known = {}, one.ended = false, one.looked.clear();
    locations_.clear();
    stores_.clear();
    failure_.clear();
    position_ = 0;
    std::vector<unsigned> able;
    for (;;) {
      able.clear();
      bool ended = true;
      for (unsigned t = 0; t < count; ++t) {
        ended = ended && threads_[t].ended;
        if (!threads_[t].ended && (!threads_[t].waits || !with_news(threads_[t]).empty()))
          able.push_back(t);
      }
      if (ended) return;
      if (able.empty()) {
        failure_ = "deadlock";
        return;
      }
      current_ = able[choose(able.size())];
      ++all.states;
      threads_[current_].runs->resume();
      if (!failure_.empty()) return;
    }
  }

  /// The next branch in depth-first order; false when there is none.
  bool next_choices() {
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count)
      choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().taken;
    return true;
  }

  void step() { emulator::fiber::suspend(); }
  int location(const void *address) {
    const auto [at, is_new] = locations_.emplace(address, static_cast<int>(stores_.size()));
    if (is_new) stores_.push_back({store{0, 0, false, {}}});
    return at->second;
  }
  void append(int at, std::uint64_t low, std::uint64_t high, bool releases) {
    thread &self = threads_[current_];
    self.known[at] = static_cast<unsigned char>(stores_[at].size());
    stores_[at].push_back({low, high, releases, self.known});
  }
  static void learn(thread &one, const view &known) {
    for (std::size_t i = 0; i < known.size(); ++i)
      if (known[i] > one.known[i]) one.known[i] = known[i];
  }
  std::vector<int> with_news(const thread &one) const {
    std::vector<int> newer;
    for (int at : one.looked)
      if (one.known[at] + 1u < stores_[at].size()) newer.push_back(at);
    return newer;
  }

  std::function<void()> body_;
  std::vector<thread> threads_;
  unsigned current_ = 0;
  std::map<const void *, int> locations_;
  std::vector<std::vector<store>> stores_; // by location; the first is the zero that was there
  std::vector<choice> choices_;
  std::size_t position_ = 0;
  std::string failure_;
};
inline machine *machine::running = nullptr;

/// What scan_state.cuh asks of a memory; without releases or acquires, those are relaxed.
template <bool Releases = true, bool Acquires = true>
struct memory {
  static constexpr bool has_word_pairs = true;
  struct alignas(16) word_pair {
    std::uint64_t low, high;
  };
  static std::uint64_t load_relaxed(const std::uint64_t *address) {
    return machine::running->load(address, false).low;
  }
  static word_pair load_relaxed(const word_pair *address) {
    const store seen = machine::running->load(address, false);
    return {seen.low, seen.high};
  }
  static void store_relaxed(std::uint64_t *address, std::uint64_t value) {
    machine::running->write(address, value, 0, false);
  }
  static void store_relaxed(word_pair *address, word_pair value) {
    machine::running->write(address, value.low, value.high, false);
  }
  static std::uint32_t load_acquire(const std::uint32_t *address) {
    return static_cast<std::uint32_t>(machine::running->load(address, Acquires).low);
  }
  static void store_release(std::uint32_t *address, std::uint32_t value) {
    machine::running->write(address, value, 0, Releases);
  }
};

} // namespace
} // namespace explorer
