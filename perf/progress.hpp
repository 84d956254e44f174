// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>

namespace perf {

/// A progress bar in the last line of a terminal: steps done of all, elapsed and remaining time.
/// Written to standard error, and only when that is a terminal, so that files and logs stay free of
/// it.
class progress {
public:
  explicit progress(std::size_t all);

  /// One more step is done. The remaining time supposes that all steps take equally long.
  void step();

  /// Empties the line, before other output and at the end.
  void clear();

private:
  using clock = std::chrono::steady_clock;

  void draw();

  std::size_t all_, done_ = 0;
  bool is_terminal_;
  clock::time_point start_ = clock::now(), drawn_{};
};

} // namespace perf
