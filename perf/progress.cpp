// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace perf {
namespace {

constexpr int width = 79;

std::string minutes(double seconds) {
  const int all = static_cast<int>(seconds + 0.5);
  const std::string rest = std::to_string(all % 60);
  return std::to_string(all / 60) + (rest.size() < 2 ? ":0" : ":") + rest;
}

} // namespace

progress::progress(std::size_t all) : all_(all), is_terminal_(isatty(STDERR_FILENO)) { draw(); }

void progress::step() {
  ++done_;
  if (clock::now() - drawn_ > std::chrono::milliseconds(100)) draw();
}

void progress::clear() {
  if (is_terminal_) std::fprintf(stderr, "%*s\r", width, "");
  drawn_ = {};
}

void progress::draw() {
  if (!is_terminal_ || all_ == 0) return;
  drawn_ = clock::now();
  constexpr std::size_t bar = 30;
  const std::size_t done = std::min(done_, all_), filled = done * bar / all_;
  const double elapsed = std::chrono::duration<double>(drawn_ - start_).count();
  std::string line = "[" + std::string(filled, '#') + std::string(bar - filled, ' ') + "] " +
                     std::to_string(done) + " of " + std::to_string(all_) + ", " +
                     minutes(elapsed) + " elapsed";
  if (done > 0)
    line += ", " + minutes(elapsed * static_cast<double>(all_ - done) / static_cast<double>(done)) +
            " left";
  std::fprintf(stderr, "%-*s\r", width, line.c_str()); // padded: hides a longer line before it
  std::fflush(stderr);
}

} // namespace perf
