// SPDX-License-Identifier: MIT
// An allocator for temporary storage that keeps books and fails on demand.
#pragma once

#include <support/buffers.cuh>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <unordered_map>

namespace test {

/// Hands out pieces of one arena reserved beforehand, so that a call in capture may allocate from
/// it too.
class arena_allocator {
public:
  using value_type = char;

  enum class failure { none, throws, returns_null };

  explicit arena_allocator(std::size_t bytes = std::size_t{64} << 20) : arena_(bytes) {}

  /// The `k`th allocation from now (from 0), and every later one, fails in this manner.
  void fail_from(int k, failure how) { allocations_before_failure_ = k, how_ = how; }
  void never_fail() { how_ = failure::none; }

  char *allocate(std::ptrdiff_t bytes) {
    if (how_ != failure::none && allocations_before_failure_-- <= 0) {
      ++failures_;
      if (how_ == failure::throws) throw std::bad_alloc();
      return nullptr;
    }
    const std::size_t rounded = (static_cast<std::size_t>(bytes) + 255) / 256 * 256;
    if (used_ + rounded > arena_.size()) throw std::bad_alloc();
    char *const piece = arena_.data() + used_;
    used_ += rounded;
    ++allocations_;
    live_.emplace(piece, bytes);
    return piece;
  }
  void deallocate(char *piece, std::size_t bytes) {
    const auto found = live_.find(piece);
    CHECK_MESSAGE(found != live_.end(), "deallocated what was not allocated");
    if (found == live_.end()) return;
    CHECK_EQ(static_cast<std::size_t>(found->second), bytes);
    live_.erase(found);
    if (live_.empty()) used_ = 0;
  }

  int allocations() const { return allocations_; }
  int failures() const { return failures_; }
  std::size_t outstanding() const { return live_.size(); }

private:
  guarded_buffer<char> arena_;
  std::unordered_map<char *, std::ptrdiff_t> live_;
  std::size_t used_ = 0;
  int allocations_ = 0, failures_ = 0, allocations_before_failure_ = 0;
  failure how_ = failure::none;
};

} // namespace test
