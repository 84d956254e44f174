// SPDX-License-Identifier: MIT
// What the strategies of the catalogue have in common: a block that scans its section of the input with a network, memory
// to keep sums in, and what blocks tell each other.
//
// A strategy is a type with
//
//   run(problem, n, memory, launch)      takes what it needs from `memory` and launches its kernels; run once more with
//                                        nothing behind `memory` and a `launch` that does nothing, it says what it needs
//
// It associates as its textbook does. That is not the tree of core/tree.cuh: floating-point results differ from the default's
// in their last bits, and where a schedule decides what is added first, from run to run.
#pragma once

#include <lookback/block/transfer.cuh>
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

/// Items a thread when nobody says otherwise: what the network likes, within 64 bytes and odd (see three_phase).
template <class Network, class T, int Items>
constexpr int items_a_thread() {
  constexpr int fit = 64 / sizeof(T) < 1 ? 1 : static_cast<int>(64 / sizeof(T));
  return Items > 0 ? Items : Network::default_items <= fit ? Network::default_items : fit > 2 ? fit - 1 : fit;
}

/// One block's section: Threads * Items elements of the problem, the last section perhaps fewer.
template <class Problem, class Network, int Threads, int Items>
class section_scan {
  static_assert(Threads >= 32 && Threads <= 1024 && Threads % 32 == 0,
                "lookback: a block has 32 to 1024 threads, whole warps of 32");
  static_assert(Items >= 1, "lookback: a thread has at least one item");
  using network = typename Network::template block<typename Problem::accumulator, Threads, Items>;
  using source = element_source<typename Problem::input_type>;
  static constexpr bool inclusive = Problem::inclusive, keeps_items = decltype(Problem::project)::needs_item;
  struct nothing {};

public:
  using problem_type = Problem;
  using T = typename Problem::accumulator;
  using stored = typename Problem::stored;
  static constexpr int threads = Threads, elements = Threads * Items;
  static constexpr std::uint64_t count(std::uint64_t n) { return n / elements + (n % elements != 0); }

  /// Networks that work in global memory have a room for every section there.
  using global_room = std::conditional_t<Network::in_global_memory, typename network::storage, nothing>;
  static global_room *take_rooms(temporary_memory &memory, std::uint64_t n) {
    return Network::in_global_memory ? memory.take<global_room>(count(n)) : nullptr;
  }
  struct storage {
    std::conditional_t<Network::in_global_memory, nothing, typename network::storage> room;
    uninitialized_array<T, keeps_items ? elements : 1> items;
    uninitialized_array<T, 1> last;   // element of the section
    uninitialized_array<T, 1> prefix; // everything left of the section
    unsigned ticket;
  };

  LOOKBACK_DEVICE section_scan(const Problem &problem, std::uint64_t n, unsigned section, storage &shared,
                               global_room *rooms)
      : problem_(problem), op_(problem.op), shared_(shared), first_(std::uint64_t{section} * elements),
        count_(n - first_ < elements ? static_cast<int>(n - first_) : elements),
        network_(room(shared, rooms, section)) {}

  /// Reads the section and scans it. Afterwards nothing of it need be read again.
  LOOKBACK_DEVICE void scan() {
    const auto input = problem_.input + static_cast<std::ptrdiff_t>(first_);
    network_.template scan<inclusive>(
        count_,
        [&](int i) {
          const T element = static_cast<T>(source::finish(input, source::fetch(input, i), i));
          if (keeps_items) construct(shared_.items[keeps_items ? i : 0], element);
          if (i == count_ - 1) construct(shared_.last[0], element);
          return element;
        },
        op_);
  }

  /// Sum of the section, for one thread after scan(): of an exclusive scan it takes one addition more.
  LOOKBACK_DEVICE T total() {
    if (inclusive) return network_.template result<true>(count_ - 1);
    if (count_ == 1) return shared_.last[0];
    return static_cast<T>(op_(network_.template result<false>(count_ - 1), shared_.last[0]));
  }

  /// Thread 0 knows what is left of the section; from here on everybody does. It is missing only in front of the first
  /// section of a scan without an initial value.
  LOOKBACK_DEVICE maybe<T> share(const maybe<T> &known) {
    if (simt::thread_index() == 0 && known.exists()) construct(shared_.prefix[0], known.value());
    simt::synchronize_block();
    maybe<T> prefix;
    if (Problem::initial_type::exists || first_ > 0) prefix.set(shared_.prefix[0]);
    return prefix;
  }

  /// Writes the results of the section.
  LOOKBACK_DEVICE void store(const maybe<T> &prefix) {
    const auto output = problem_.output + static_cast<std::ptrdiff_t>(first_);
    for_each_strided<Threads, Items>(0, count_, [&](int, int i) {
      maybe<T> y = prefix;
      if (inclusive || i > 0) y.append(op_, network_.template result<inclusive>(i));
      output[i] = static_cast<stored>(
          problem_.project(y.value(), keeps_items ? shared_.items[keeps_items ? i : 0] : y.value()));
    });
  }

  /// Writes what was scanned, with nothing to the left of the section, and the elements where they will be needed.
  LOOKBACK_DEVICE void store_partials(T *scanned, T *items) {
    for_each_strided<Threads, Items>(0, count_, [&](int, int i) {
      if (inclusive || i > 0) construct(scanned[first_ + i], network_.template result<inclusive>(i));
      if (keeps_items) construct(items[first_ + i], shared_.items[keeps_items ? i : 0]);
    });
  }

  /// Brings the section that is 4 MB ahead to the L2 cache, for whoever will scan it.
  LOOKBACK_DEVICE void prefetch_ahead(std::uint64_t n) const {
    constexpr std::uint64_t distance = (std::uint64_t{4} << 20) / (elements * sizeof(T)) * elements;
    if constexpr (!boundary_of<typename Problem::input_type>::exists)
      if (first_ + distance + elements <= n)
        prefetch(problem_.input + static_cast<std::ptrdiff_t>(first_ + distance), elements);
  }

private:
  LOOKBACK_DEVICE static typename network::storage &room(storage &shared, [[maybe_unused]] global_room *rooms,
                                                         [[maybe_unused]] unsigned section) {
    if constexpr (Network::in_global_memory)
      return rooms[section];
    else
      return shared.room;
  }

  const Problem &problem_;
  decltype(Problem::op) op_;
  storage &shared_;
  const std::uint64_t first_;
  const int count_;
  network network_;
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
