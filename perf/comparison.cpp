// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>

namespace perf {
namespace {

int exponent(long long elements) {
  int e = 0;
  while (elements >>= 1) ++e;
  return e;
}

/// Since repetitions are shuffled, nearly all cells finish near the end: without this the run looks dead till then.
void show_progress() {
  using clock = std::chrono::steady_clock;
  static int done = 0;
  static clock::time_point shown = clock::now();
  ++done;
  if (clock::now() - shown > std::chrono::seconds(5)) {
    shown = clock::now();
    std::fprintf(stderr, "%d measurements done\n", done);
  }
}

void measure(benchmark::State &state, cell &c) {
  try {
    const timed_run run = c.prepare();
    for (auto _ : state) {
      const double us = run();
      state.SetIterationTime(us * 1e-6);
      c.microseconds.push_back(us);
    }
  } catch (const std::exception &error) {
    if (c.error.empty()) {
      c.error = error.what();
      std::fprintf(stderr, "FAILED %s: %s\n", c.name().c_str(), error.what());
    }
    state.SkipWithError(error.what());
  }
  show_progress();
}

/// The table is printed from the CSV afterwards.
class silent : public benchmark::BenchmarkReporter {
public:
  bool ReportContext(const Context &) override { return true; }
  void ReportRuns(const std::vector<Run> &) override {}
};

double median(const std::vector<double> &sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// No column may hold the separator; some processors' names do.
std::string without_commas(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  return text;
}

bool write_csv(const std::vector<cell> &cells, const std::string &device, const char *path) {
  std::FILE *file = path ? std::fopen(path, "w") : stdout;
  if (!file) return false;
  std::fprintf(file, "gpu,contender,call,type,elements,bytes,us_median,us_min,us_max,runs\n");
  for (const cell &c : cells) {
    if (c.microseconds.empty() || !c.error.empty()) continue;
    std::vector<double> sorted = c.microseconds;
    std::sort(sorted.begin(), sorted.end());
    std::fprintf(file, "%s,%s,%s,%s,%lld,%lld,%.4f,%.4f,%.4f,%zu\n", without_commas(device).c_str(),
                 c.contender.c_str(), c.call.c_str(), c.type.c_str(), c.elements, c.bytes, median(sorted),
                 sorted.front(), sorted.back(), sorted.size());
  }
  const bool written = !std::ferror(file);
  return (!path || std::fclose(file) == 0) && written;
}

} // namespace

std::string cell::name() const {
  return call + "/" + type + "/2^" + std::to_string(exponent(elements)) + "/" + contender;
}

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char *given = std::getenv("LOOKBACK_PERF_SEED");
    return given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }();
  return value;
}

std::vector<int> exponents(int first, int last, int step) {
  std::vector<int> result;
  for (int e = first; e <= last; e += step) result.push_back(e);
  return result;
}

int compare(std::vector<cell> cells, const std::string &device, int argc, char **argv) {
  const char *csv = nullptr;
  // Ahead of the user's own flags, of which the last one wins.
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  std::vector<char *> arguments{argv[0], interleave};
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--csv=", 6) == 0)
      csv = argv[i] + 6;
    else
      arguments.push_back(argv[i]);
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;

  for (cell &c : cells)
    benchmark::RegisterBenchmark(c.name().c_str(), [&c](benchmark::State &state) { measure(state, c); })
        ->Iterations(c.runs)
        ->Repetitions(c.repetitions)
        ->UseManualTime();
  std::fprintf(stderr, "comparing on %s\n", device.c_str());
  silent reporter;
  const std::size_t chosen = benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();

  const auto ran = [](const cell &c) { return !c.microseconds.empty(); };
  const auto failed = [](const cell &c) { return !c.error.empty(); };
  if (std::any_of(cells.begin(), cells.end(), ran) && !write_csv(cells, device, csv)) {
    std::fprintf(stderr, "cannot write %s\n", csv ? csv : "standard output");
    return 1;
  }
  return chosen == 0 || std::any_of(cells.begin(), cells.end(), failed) ? 1 : 0;
}

} // namespace perf
