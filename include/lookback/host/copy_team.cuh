// SPDX-License-Identifier: MIT
// Threads that share out one loop after another, for as long as the team exists.
#pragma once

#include <lookback/core/config.cuh>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// A crew (host/crew.cuh) starts threads for one call. A team keeps them: a chunk is copied in the
/// time that starting threads takes.
class copy_team {
public:
  /// At most `threads` threads, including the one that calls run().
  explicit copy_team(std::size_t threads) {
    try {
      while (helpers_.size() + 1 < threads) helpers_.emplace_back([this] { help(); });
    } catch (const std::system_error &) { // fewer threads then
    }
  }
  copy_team(const copy_team &) = delete;
  copy_team &operator=(const copy_team &) = delete;
  ~copy_team() {
    {
      const std::lock_guard<std::mutex> lock(guard_);
      ends_ = true;
    }
    loop_begins_.notify_all();
    for (std::thread &helper : helpers_) helper.join();
  }
  std::size_t threads() const { return helpers_.size() + 1; }

  /// Calls work(0), work(1), ... work(count - 1). The first exception is rethrown when all calls
  /// that have begun are over.
  void run(std::size_t count, const std::function<void(std::size_t)> &work) {
    if (count == 0) return;
    std::unique_lock<std::mutex> lock(guard_);
    work_ = &work;
    next_ = 0;
    count_ = count;
    failure_ = nullptr;
    if (count > 1) loop_begins_.notify_all();
    while (next_ < count_) call_next(lock);
    loop_ends_.wait(lock, [this] { return working_ == 0; });
    work_ = nullptr;
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

private:
  void help() {
    std::unique_lock<std::mutex> lock(guard_);
    for (;;) {
      loop_begins_.wait(lock, [this] { return ends_ || next_ < count_; });
      if (ends_) return;
      call_next(lock);
      if (working_ == 0 && next_ >= count_) loop_ends_.notify_all();
    }
  }
  /// Calls `work` for the next index, without the lock.
  void call_next(std::unique_lock<std::mutex> &lock) {
    const std::size_t index = next_++;
    ++working_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*work_)(index);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --working_;
    if (failure == nullptr) return;
    if (failure_ == nullptr) failure_ = failure;
    next_ = count_; // the other calls would be useless
  }

  std::mutex guard_;
  std::condition_variable loop_begins_, loop_ends_;
  const std::function<void(std::size_t)> *work_ = nullptr;
  std::size_t next_ = 0, count_ = 0, working_ = 0;
  std::exception_ptr failure_;
  bool ends_ = false;
  std::vector<std::thread> helpers_;
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
