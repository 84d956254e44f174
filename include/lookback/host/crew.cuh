// SPDX-License-Identifier: MIT
// Threads that work on one call: started, joined, and ended by the first exception.
#pragma once

#include <lookback/core/config.cuh>
#include <lookback/core/standard.cuh>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Bytes of input that justify another thread: what a core scans while a thread is started.
inline constexpr std::int64_t bytes_per_thread = 2 << 20;

/// Threads for `bytes` bytes: one for each `bytes_per_thread`, at most one for each core.
inline std::size_t useful_threads(std::int64_t bytes) {
  if (bytes < 2 * bytes_per_thread) return 1;
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, std::min(bytes / bytes_per_thread, cores)));
}

class crew {
public:
  /// Calls `work()` on at most `threads` threads, including the caller. If one of them throws, the
  /// first exception is rethrown when all have ended.
  template <class Work>
  void run(std::size_t threads, Work work) {
    {
      joined helpers{std::make_unique<std::thread[]>(threads)};
      try {
        for (; helpers.started + 1 < threads; ++helpers.started)
          helpers.threads[helpers.started] = std::thread([&] { take_part(work); });
      } catch (const std::system_error &) {
        // Fewer threads then: those that have started do all the work.
      }
      take_part(work);
    }
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

  /// Whether the work of some thread has failed: the others' work is then useless.
  bool has_failed() const { return failed_.load(std::memory_order_relaxed); }

  /// Waits for another thread of the crew. Throws, to abandon the work, if a thread has failed: the
  /// wait might never end.
  template <class Ready>
  void wait_until(Ready ready) const {
    for (int polls = 0; !ready(); ++polls) {
      if (has_failed()) throw abandoned{};
      // The awaited thread may need this core.
      if (polls > 100) std::this_thread::yield();
    }
  }

private:
  /// Threads that are joined on every exit.
  struct joined {
    std::unique_ptr<std::thread[]> threads;
    std::size_t started = 0;
    ~joined() {
      while (started > 0) threads[--started].join();
    }
  };
  struct abandoned {};

  template <class Work>
  void take_part(Work &work) noexcept {
    try {
      work();
    } catch (const abandoned &) {
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  std::atomic<bool> failed_{false};
  std::exception_ptr error_; // written by the first thread that fails, read when all have ended
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
