// SPDX-License-Identifier: MIT
// A scan by a strategy of the catalogue, its launches as the strategy itself asks for them, on emulated blocks.
#pragma once

#include <lookback/device/auxiliary_block.cuh>
#include <lookback/device/chained.cuh>
#include <lookback/device/decoupled_walk.cuh>
#include <lookback/device/reduce_then_scan.cuh>
#include <lookback/device/scan_then_add.cuh>

#include <simt/problems.hpp>

#include <memory>

namespace test {

/// Blocks that must be resident at once for a strategy to end.
template <class Strategy>
constexpr unsigned resident_at_least = 1;
template <class Network, int Threads, int Items>
constexpr unsigned resident_at_least<lookback::auxiliary_block<Network, Threads, Items>> = 2;

/// Takes the launches down, for one stream.
class emulated_launches {
public:
  explicit emulated_launches(unsigned resident) : resident_(resident) {}
  template <class... Parameters, class... Arguments>
  void operator()(void (*kernel)(Parameters...), std::uint64_t blocks, int threads, std::size_t shared_bytes, Arguments... arguments) {
    stream.push_back({static_cast<unsigned>(blocks), threads, shared_bytes, [=] { kernel(arguments...); }});
    stream.back().resident = resident_;
  }
  std::vector<emulator::kernel> stream;

private:
  unsigned resident_;
};
struct no_launches {
  template <class... Arguments>
  void operator()(Arguments...) {}
};

template <class Strategy, class Problem>
void scan_by(Problem given, std::uint64_t n, const emulator::schedule &chosen) {
  namespace core = lookback::detail;
  const auto problem = core::retiled<Strategy::template section<Problem>::elements>(given);
  core::temporary_memory needed;
  no_launches nothing;
  core::run_strategy<Strategy>(problem, n, needed, nothing);
  // As long as was asked for, and full of garbage.
  std::vector<unsigned char> storage(needed.bytes() + core::temporary_memory::alignment, static_cast<unsigned char>(0x81 + chosen.seed % 64));
  char *const base = reinterpret_cast<char *>(storage.data());
  core::temporary_memory memory(base + (256 - reinterpret_cast<std::uintptr_t>(base) % 256) % 256);
  emulated_launches launches(resident_at_least<Strategy>);
  core::run_strategy<Strategy>(problem, n, memory, launches);
  emulator::run(chosen, launches.stream);
}

} // namespace test
