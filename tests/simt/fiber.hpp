// SPDX-License-Identifier: MIT
// Stacks that can be left and returned to, in a few nanoseconds, and the sanitizers told about it.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdlib>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(EMULATOR_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#elif defined(EMULATOR_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace emulator {
namespace {

// The compiler's own setjmp: glibc's is intercepted by the sanitizers, and swapcontext is a system
// call.
using resume_point = void *[5];

[[gnu::noipa, noreturn]] void jump(resume_point &to) { __builtin_longjmp(to, 1); }
[[gnu::noipa]] void leave_and_jump(resume_point &from, resume_point &to) {
  if (__builtin_setjmp(from) == 0) jump(to);
}
[[gnu::noipa]] void leave_and_start(resume_point &from, const ucontext_t &to) {
  if (__builtin_setjmp(from) == 0) setcontext(&to);
}

/// Runs `entry` again and again, once for each resume() after it has returned. Only resume()'s
/// caller's stack, the main one, resumes fibers.
class fiber {
public:
  explicit fiber(void (*entry)()) : entry_(entry) {
    void *const pages = mmap(nullptr, guard + bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) std::abort();
    mprotect(pages, guard, PROT_NONE);
    stack_ = static_cast<char *>(pages) + guard;
#if defined(EMULATOR_THREAD_SANITIZER)
    identity_ = __tsan_create_fiber(0);
#endif
    getcontext(&start_);
    start_.uc_stack.ss_sp = stack_;
    start_.uc_stack.ss_size = bytes;
    makecontext(&start_, run, 0);
  }

  void resume() {
    current_ = this;
#if defined(EMULATOR_ADDRESS_SANITIZER)
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, stack_, bytes);
#elif defined(EMULATOR_THREAD_SANITIZER)
    void *const main_identity = __tsan_get_current_fiber();
    main_identity_ = main_identity;
    __tsan_switch_to_fiber(identity_, __tsan_switch_to_fiber_no_sync);
#endif
    if (started_) {
      leave_and_jump(main_, here_);
    } else {
      started_ = true;
      leave_and_start(main_, start_);
    }
#if defined(EMULATOR_ADDRESS_SANITIZER)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  }

  /// Back to resume()'s caller.
  static void suspend() {
    fiber &self = *current_;
#if defined(EMULATOR_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(&self.fake_, main_stack_, main_bytes_);
#elif defined(EMULATOR_THREAD_SANITIZER)
    __tsan_switch_to_fiber(main_identity_, __tsan_switch_to_fiber_no_sync);
#endif
    leave_and_jump(self.here_, main_);
    self.arrived();
  }

  /// Not to be resumed again: what it did comes before what the caller does next.
  void abandon() {
#if defined(EMULATOR_THREAD_SANITIZER)
    void *const main_identity = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(identity_, 0);
    __tsan_switch_to_fiber(main_identity, 0);
#endif
  }

private:
  static constexpr std::size_t bytes = 128 * 1024, guard = 4096;

  static void run() {
    fiber &self = *current_;
    self.arrived();
    for (;;) {
      self.entry_();
      suspend();
    }
  }
  void arrived() {
#if defined(EMULATOR_ADDRESS_SANITIZER)
    __sanitizer_finish_switch_fiber(fake_, &main_stack_, &main_bytes_);
#endif
  }

  void (*entry_)();
  char *stack_;
  ucontext_t start_;
  resume_point here_;
  bool started_ = false;
  static inline fiber *current_ = nullptr;
  static inline resume_point main_;
#if defined(EMULATOR_ADDRESS_SANITIZER)
  void *fake_ = nullptr;
  static inline const void *main_stack_ = nullptr;
  static inline std::size_t main_bytes_ = 0;
#elif defined(EMULATOR_THREAD_SANITIZER)
  void *identity_;
  static inline void *main_identity_ = nullptr;
#endif
};

} // namespace
} // namespace emulator
