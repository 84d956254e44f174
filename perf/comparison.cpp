// SPDX-License-Identifier: MIT
#include "comparison.hpp"
#include "progress.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <regex>
#include <stdexcept>

namespace perf {
namespace {

int exponent(long long elements) {
  int e = 0;
  while (elements >>= 1) ++e;
  return e;
}

/// The number of repetitions of `cells` that Google Benchmark's filter chooses; 0 for an invalid
/// filter, which Benchmark reports.
std::size_t chosen_repetitions(const std::vector<cell> &cells) try {
  std::string filter = benchmark::GetBenchmarkFilter();
  const bool excludes = !filter.empty() && filter[0] == '-';
  if (excludes) filter.erase(0, 1);
  const std::regex chosen(filter == "all" ? "" : filter, std::regex::extended);
  std::size_t count = 0;
  for (const cell &c : cells)
    // The slash: Benchmark appends parameters of its own, which a filter may reach for.
    if (std::regex_search(c.name() + "/", chosen) != excludes)
      count += static_cast<std::size_t>(c.repetitions);
  return count;
} catch (const std::regex_error &) {
  return 0;
}

/// One repetition. `bar` counts repetitions: they are shuffled, so few cells are complete before
/// the end.
void measure(benchmark::State &state, cell &c, progress &bar) {
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
      bar.clear();
      std::fprintf(stderr, "FAILED %s: %s\n", c.name().c_str(), error.what());
    }
    state.SkipWithError(error.what());
  }
  bar.step();
}

/// Prints nothing: compare.py prints the table from the CSV.
class silent : public benchmark::BenchmarkReporter {
public:
  bool ReportContext(const Context &) override { return true; }
  void ReportRuns(const std::vector<Run> &) override {}
};

double median(const std::vector<double> &sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// Names of processors may contain the separator of the CSV.
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
                 c.contender.c_str(), c.call.c_str(), c.type.c_str(), c.elements, c.bytes,
                 median(sorted), sorted.front(), sorted.back(), sorted.size());
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
  // Before the user's flags: the last one counts.
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

  std::fprintf(stderr, "comparing on %s\n", device.c_str());
  progress bar(chosen_repetitions(cells));
  for (cell &c : cells)
    benchmark::RegisterBenchmark(c.name().c_str(),
                                 [&](benchmark::State &state) { measure(state, c, bar); })
        ->Iterations(c.runs)
        ->Repetitions(c.repetitions)
        ->UseManualTime();
  silent reporter;
  const std::size_t chosen = benchmark::RunSpecifiedBenchmarks(&reporter);
  bar.clear();
  benchmark::Shutdown();

  const auto ran = [](const cell &c) { return !c.microseconds.empty(); };
  const auto failed = [](const cell &c) { return !c.error.empty(); };
  if (std::any_of(cells.begin(), cells.end(), ran) && !write_csv(cells, device, csv)) {
    std::fprintf(stderr, "cannot write the rows to %s\n", csv ? csv : "standard output");
    return 1;
  }
  return chosen == 0 || std::any_of(cells.begin(), cells.end(), failed) ? 1 : 0;
}

} // namespace perf
