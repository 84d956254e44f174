// SPDX-License-Identifier: MIT
// LOOKBACK_LOG=1: a line on stderr for every call, with the strategy that ran and why each one
// before it did not.
#pragma once

#include <lookback/core/config.cuh>
#include <lookback/strategy/strategy.cuh>

#include <cstdio>
#include <cstdlib>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Whether the environment variable LOOKBACK_LOG is set, to something other than 0. Read once.
inline bool logs_calls() {
  static const bool logs = [] {
    const char *const value = std::getenv("LOOKBACK_LOG");
    return value != nullptr && value[0] != '\0' && !(value[0] == '0' && value[1] == '\0');
  }();
  return logs;
}

/// The latest launch, recorded if calls are logged.
struct launch_record {
  block_shape block{};
  launch_grid grid{};
  unsigned architecture = 0; // of the kernel's code, 900 for sm_90
};

/// A strategy, and why it did not run: null if it did.
struct log_entry {
  const char *name;
  const char *why_not;
};

/// Prints the line. `tuning` is that of the strategy that ran, which is the last of the `count`
/// entries, or null if none ran.
LOOKBACK_HOST_NOINLINE inline void log_call(std::uint64_t n, const char *tuning,
                                            const launch_record &launched, const log_entry *entries,
                                            std::size_t count) {
  const char *const together = launched.grid.together == residency::grid      ? ", cooperative"
                               : launched.grid.together == residency::cluster ? ", one cluster"
                                                                              : "";
  char line[1024];
  int length = 0;
  if (tuning == nullptr)
    length = std::snprintf(line, sizeof(line), "n = %llu: no strategy",
                           static_cast<unsigned long long>(n));
  else
    length = std::snprintf(
        line, sizeof(line), "n = %llu: %s, tuned for %s, %llu blocks of %d threads%s",
        static_cast<unsigned long long>(n), entries[count - 1].name, tuning,
        static_cast<unsigned long long>(launched.grid.blocks), launched.block.threads, together);
  for (std::size_t i = 0; i < count && length < static_cast<int>(sizeof(line)); ++i)
    if (entries[i].why_not != nullptr)
      length += std::snprintf(line + length, sizeof(line) - static_cast<std::size_t>(length),
                              "; not %s: %s", entries[i].name, entries[i].why_not);
  std::fprintf(stderr, "lookback: %s\n", line);
}

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
