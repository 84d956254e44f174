// SPDX-License-Identifier: MIT
// Threads of one process as the ranks of distributed scans.
#pragma once

#include <lookback/core/config.cuh>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace distributed {

/// A group of threads of one process, which are the ranks of distributed scans.
///
/// @code
/// lookback::distributed::threads group(4);
/// const auto ranks = group.communicator(r); // in thread r of 4
/// lookback::distributed::inclusive_scan(ranks, lookback::host, first, last, result);
/// @endcode
///
/// - *Failure*: after an exception in the call of one rank, a wait longer than the deadline, or a
///   misuse of the group, every call of every rank that waits or is made later throws
///   `std::runtime_error`, whose message names the reason. The group cannot be used any more.
/// - *Lifetime*: the group must outlive all calls with its communicators.
///
/// @ingroup distributed_scans
class threads {
public:
  /// The handle of one rank: one thread at a time may use it. Its members are those that every
  /// communicator has (@ref distributed_scans).
  class communicator_type {
  public:
    /// The rank of the calling thread.
    int rank() const { return rank_; }
    /// The number of ranks.
    int size() const { return group_->size(); }
    /// Gathers one record of each rank, in rank order.
    void all_gather(const void *record, std::size_t bytes, void *records) const {
      group_->all_gather(rank_, record, bytes, records);
    }
    /// Ends the calls of all ranks with an error.
    void abort() const noexcept { group_->abort(rank_); }

  private:
    friend class threads;
    communicator_type(threads &group, int rank) : group_(&group), rank_(rank) {}
    threads *group_;
    int rank_;
  };

  /// A group of `ranks` threads. In each exchange, a rank waits for the others no longer than
  /// `deadline`. Throws `std::invalid_argument` unless both arguments are positive.
  explicit threads(int ranks, std::chrono::milliseconds deadline = std::chrono::minutes(10))
      : size_(ranks), deadline_(deadline) {
    if (ranks <= 0)
      throw std::invalid_argument("lookback: a group of threads needs at least one rank");
    if (deadline.count() <= 0)
      throw std::invalid_argument("lookback: the deadline of a group of threads is not positive");
    has_arrived_.assign(static_cast<std::size_t>(ranks), false);
  }
  threads(const threads &) = delete;
  threads &operator=(const threads &) = delete;

  /// The number of ranks.
  int size() const { return size_; }
  /// The communicator of a rank. Throws `std::out_of_range` if there is no such rank.
  communicator_type communicator(int rank) {
    if (rank < 0 || rank >= size())
      throw std::out_of_range("lookback: a group of threads has no rank " + std::to_string(rank));
    return {*this, rank};
  }

private:
  void all_gather(int rank, const void *record, std::size_t bytes, void *records) {
    const std::vector<unsigned char> &gathered = exchange(rank, record, bytes);
    if (!gathered.empty()) std::memcpy(records, gathered.data(), gathered.size());
  }

  /// Returns the records when all ranks have arrived. There are two buffers: a rank that is ahead
  /// fills one while others read the other. It waits for them before it reuses the first.
  const std::vector<unsigned char> &exchange(int rank, const void *record, std::size_t bytes) {
    std::unique_lock<std::mutex> lock(guard_);
    throw_if_failed();
    const std::uint64_t mine = exchanges_;
    std::vector<unsigned char> &buffer = buffers_[mine % 2];
    const std::size_t total = bytes * has_arrived_.size();
    if (arrived_ == 0) buffer.resize(total);
    if (buffer.size() != total) fail(rank, "exchanges a record of another size than the others");
    if (has_arrived_[static_cast<std::size_t>(rank)])
      fail(rank, "is used by two threads at the same time");
    has_arrived_[static_cast<std::size_t>(rank)] = true;
    if (bytes > 0)
      std::memcpy(buffer.data() + static_cast<std::size_t>(rank) * bytes, record, bytes);
    if (++arrived_ == size()) {
      arrived_ = 0;
      has_arrived_.assign(has_arrived_.size(), false);
      ++exchanges_;
      changed_.notify_all();
    } else if (!changed_.wait_for(lock, deadline_,
                                  [&] { return exchanges_ != mine || has_failed_; })) {
      fail(rank, "has waited until the deadline for" + missing_ranks());
    }
    if (exchanges_ == mine) throw_if_failed();
    return buffer;
  }

  void abort(int rank) noexcept {
    const std::lock_guard<std::mutex> lock(guard_);
    set_failed(rank);
  }

  // The rest requires the lock.

  void set_failed(int rank) noexcept {
    if (has_failed_) return;
    has_failed_ = true;
    failed_rank_ = rank;
    changed_.notify_all();
  }
  [[noreturn]] void fail(int rank, const std::string &reason) {
    if (!has_failed_) reason_ = reason;
    set_failed(rank);
    throw_failure();
  }
  void throw_if_failed() const {
    if (has_failed_) throw_failure();
  }
  [[noreturn]] void throw_failure() const {
    throw std::runtime_error("lookback: rank " + std::to_string(failed_rank_) +
                             " of a group of threads " +
                             (reason_.empty() ? "has left a call by an exception" : reason_) +
                             "; the calls of all ranks have ended");
  }
  std::string missing_ranks() const {
    std::string names;
    for (int rank = 0; rank < size(); ++rank)
      if (!has_arrived_[static_cast<std::size_t>(rank)])
        names += (names.empty() ? " rank " : ", ") + std::to_string(rank);
    return names;
  }

  const int size_;
  const std::chrono::milliseconds deadline_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<unsigned char> buffers_[2]; // (ranks, bytes)
  std::vector<bool> has_arrived_;         // at the current exchange
  int arrived_ = 0;
  std::uint64_t exchanges_ = 0; // that all ranks have arrived at
  bool has_failed_ = false;
  int failed_rank_ = 0;
  std::string reason_; // empty: an exception
};

} // namespace distributed
} // namespace LOOKBACK_ABI
} // namespace lookback
