// SPDX-License-Identifier: MIT
// Shared by the GPU driver and the host driver: cells, their measurement by Google Benchmark, the
// CSV. Includes neither CUDA nor Google Benchmark, whose header every CUDA source would have to
// parse.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace perf {

/// One timed run of a contender on prepared operands; returns microseconds.
using timed_run = std::function<double()>;

/// One contender on one call, type and size: one row of the CSV.
struct cell {
  std::string contender;
  std::string call;
  std::string type;
  long long elements;
  long long bytes; // read plus written

  /// Draws a new input and checks the contender's output against the reference. Throws if they
  /// differ.
  std::function<timed_run()> prepare;

  int repetitions; // shuffled among those of all other cells
  int runs;        // in each repetition

  std::vector<double> microseconds{}; // of every run of every repetition
  std::string error{};                // of the first repetition that failed

  std::string name() const; // call/type/2^exponent/contender: what --benchmark_filter sees
};

/// Drawn once a process, or taken from LOOKBACK_PERF_SEED. Errors name it, so that a failure can be
/// repeated.
std::uint64_t seed();

/// Sizes are powers of two; these are their exponents.
std::vector<int> exponents(int first, int last, int step);

/// Runs the cells chosen by Google Benchmark's flags, writes the CSV to --csv=FILE, or to standard
/// output without it, and returns the exit status of the process: not 0 when a cell failed or none
/// was chosen.
int compare(std::vector<cell> cells, const std::string &device, int argc, char **argv);

/// The exit status of a driver that finds no device of its kind.
constexpr int no_device = 3;

} // namespace perf
