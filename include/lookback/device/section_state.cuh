// SPDX-License-Identifier: MIT
// What the strategies of the catalogue keep in memory while they run: sums, and what blocks tell each other.
#pragma once

#include <lookback/core/problem.cuh>
#include <lookback/device/device_memory.cuh>
#include <lookback/device/prepare.cuh>
#include <lookback/device/tile_state.cuh>

namespace lookback::detail {

/// Parts of one piece of memory, one behind the other, each at a multiple of 256 bytes. Without memory it only adds up.
class temporary_memory {
public:
  static constexpr std::size_t alignment = 256;
  explicit temporary_memory(char *base = nullptr) : base_(base) {}
  template <class T>
  T *take(std::uint64_t count) {
    const std::size_t offset = bytes_;
    bytes_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return base_ == nullptr ? nullptr : reinterpret_cast<T *>(base_ + offset);
  }
  std::size_t bytes() const { return bytes_; }

private:
  char *base_;
  std::size_t bytes_ = 0;
};

/// What the blocks of a single-pass strategy tell each other, a cell a section: its own sum, and the sum of everything up to
/// its end.
template <class T>
struct section_state {
  unsigned *next = nullptr; // zero before the first use
  cells<T> aggregates, prefixes;

  /// A block's number in the order in which blocks start: whoever has a lower one is running already. For all threads.
  template <class Storage>
  LOOKBACK_DEVICE unsigned take_number(Storage &shared) const {
    if (simt::thread_index() == 0) shared.ticket = simt::fetch_increment(next);
    simt::synchronize_block();
    return shared.ticket;
  }
};

/// Runs a strategy; one whose initial value may stand in the output has it saved first, by a kernel of its own.
template <class Strategy, class Problem, class Launch>
void run_strategy(const Problem &problem, std::uint64_t n, temporary_memory &memory, Launch &launch) {
  if constexpr (reads_initial<Problem>) {
    auto *const place = memory.take<typename Problem::accumulator>(1);
    const auto saved = initial_to_save_at(place, problem);
    std::uint64_t *const nothing = nullptr;
    launch(prepare_kernel<std::decay_t<decltype(saved)>>, 1, simt::warp_threads, 0, saved, 0u, nothing, 0);
    Strategy::run(with_initial_at(place, problem), n, memory, launch);
  } else {
    Strategy::run(problem, n, memory, launch);
  }
}

/// Empties `words` words at `zeroed` and saves the keys that results in place may overwrite.
template <class Problem, class Launch>
void prepare(Problem &problem, unsigned sections, std::uint64_t *zeroed, std::size_t words, temporary_memory &memory,
             Launch &launch) {
  const unsigned blocks =
      static_cast<unsigned>(words / 4096 + sections / 4096 < 255 ? words / 4096 + sections / 4096 + 1 : 256);
  if constexpr (boundary_of<typename Problem::input_type>::exists) {
    using boundary = boundary_of<typename Problem::input_type>;
    problem.input.bind_boundary(memory.take<typename boundary::type>(sections));
    launch(prepare_kernel<typename Problem::input_type>, blocks, 256, 0, problem.input, sections, zeroed, words);
  } else if (words > 0) {
    launch(prepare_kernel<no_initial>, blocks, 256, 0, no_initial{}, sections, zeroed, words);
  }
}

/// The state of a single pass over `sections` sections, empty when the next kernel starts; `problem` knows its keys.
template <class Problem, class Launch>
auto prepare_state(Problem &problem, unsigned sections, temporary_memory &memory, Launch &launch) {
  using T = typename Problem::accumulator;
  const cell_bytes bytes = cells<T>::bytes(sections);
  auto *const zeroed = memory.take<std::uint64_t>(0);
  section_state<T> state;
  const std::size_t before = memory.bytes();
  state.next = memory.take<unsigned>(1);
  void *const aggregates = memory.take<char>(bytes.zeroed), *const prefixes = memory.take<char>(bytes.zeroed);
  const std::size_t words = (memory.bytes() - before) / sizeof(std::uint64_t);
  state.aggregates = cells<T>(aggregates, memory.take<char>(bytes.payload));
  state.prefixes = cells<T>(prefixes, memory.take<char>(bytes.payload));
  prepare(problem, sections, zeroed, words, memory, launch);
  return state;
}

} // namespace lookback::detail
