// SPDX-License-Identifier: MIT
// Common parts of the textbook's strategies: a block that scans its tile of the input with a block
// scan, temporary memory, and the tile statuses.
//
// The order of association is the textbook's, not the tree of core/tree.cuh: the last bits of
// floating-point results differ from those of the default, and from run to run where the schedule
// decides the order of association.
#pragma once

#include <lookback/block/network.cuh>
#include <lookback/block/transfer.cuh>
#include <lookback/core/device_count.cuh>
#include <lookback/core/problem.cuh>
#include <lookback/strategy/textbook_state.cuh>

namespace lookback {
inline namespace LOOKBACK_ABI {
namespace detail {

/// Prefetches `elements` elements at `first` to the L2 cache. Called by the whole block. Does
/// nothing for iterators that are not pointers.
template <class Iterator>
LOOKBACK_DEVICE void prefetch(const Iterator &first, int elements) {
  if constexpr (std::is_pointer<Iterator>::value) {
    constexpr int line = 128;
    const int bytes = elements * static_cast<int>(sizeof(*first));
    for (int at = simt::thread_index() * line; at < bytes; at += simt::block_threads() * line)
      simt::prefetch(reinterpret_cast<const char *>(first) + at);
  }
}

/// Items a thread if the caller names none: the default of the block scan, but at most 160 bytes a
/// thread and 40 KB a block, which every device has. This limit is odd (see three_phase).
template <class Network, class T, int Threads, int Items>
constexpr int items_a_thread() {
  constexpr int bytes = 40 * 1024 / Threads < 160 ? 40 * 1024 / Threads : 160;
  constexpr int fit = bytes / sizeof(T) < 1 ? 1 : (static_cast<int>(bytes / sizeof(T)) - 1) | 1;
  return Items > 0 ? Items : Network::default_items < fit ? Network::default_items : fit;
}

/// Elements of a problem from `first` on, for one block.
template <class Problem, int Threads>
class block_elements {
  using T = typename Problem::accumulator;
  using input_type = typename Problem::input_type;
  using source = element_source<input_type>;
  static constexpr int vector = static_cast<int>(16 / sizeof(T)); // elements

public:
  static constexpr bool may_copy =
      std::is_pointer<input_type>::value && std::is_trivially_copyable<T>::value &&
      std::is_same<typename Problem::item, T>::value && vector * sizeof(T) == 16;
  LOOKBACK_DEVICE block_elements(const Problem &problem, std::uint64_t first)
      : input_(problem.input + static_cast<std::ptrdiff_t>(first)) {}

  LOOKBACK_DEVICE T operator()(int i) const {
    return static_cast<T>(source::finish(input_, source::fetch(input_, i), i));
  }
  LOOKBACK_DEVICE bool can_copy() const {
    return reinterpret_cast<std::uintptr_t>(input_) % 16 == 0;
  }
  LOOKBACK_DEVICE void copy(T *to, int count) const {
    const int vectors = count / vector;
    for (int v = simt::thread_index(); v < vectors; v += Threads)
      simt::copy_vector_async(to + v * vector, input_ + v * vector);
    for (int i = vectors * vector + simt::thread_index(); i < count; i += Threads)
      construct(to[i], input_[i]);
    simt::wait_for_copies();
  }

private:
  const input_type input_;
};

/// What the tiles of the textbook's strategies have in common: `Elements` elements of the problem,
/// the last ones of which may be missing.
template <class Problem, int Threads, int Elements>
class tile_of_block {
  static_assert(Threads >= 32 && Threads <= 1024 && Threads % 32 == 0,
                "lookback: Threads must be a multiple of 32, from 32 to 1024");

public:
  using problem_type = Problem;
  using T = typename Problem::accumulator;
  using stored = typename Problem::stored;
  static constexpr int threads = Threads, elements = Elements;
  /// Tiles of a problem.
  static std::uint64_t count(const Problem &problem) { return problem.extent.tiles(elements); }

  /// Shares the prefix of the tile, which thread 0 knows, with all threads of the block. Only the
  /// first tile of a scan without an initial value has none.
  LOOKBACK_DEVICE maybe<T> share(const maybe<T> &known) {
    if (simt::thread_index() == 0 && known.exists()) construct(prefix_[0], known.value());
    simt::synchronize_block(); // mutant: textbook-prefix
    maybe<T> prefix;
    if (Problem::initial_type::exists || first_ > 0) prefix.set(prefix_[0]);
    return prefix;
  }

  /// Prefetches the tile 4 MB ahead to the L2 cache, for the block that will scan it.
  LOOKBACK_DEVICE void prefetch_ahead() const {
    constexpr std::uint64_t distance = (std::uint64_t{4} << 20) / (elements * sizeof(T)) * elements;
    if constexpr (!boundary_of<typename Problem::input_type>::exists)
      if (first_ + distance + elements <= problem_.extent.items)
        prefetch(problem_.input + static_cast<std::ptrdiff_t>(first_ + distance), elements);
  }

protected:
  LOOKBACK_DEVICE tile_of_block(const Problem &problem, unsigned tile,
                                uninitialized_array<T, 1> &prefix)
      : tile_of_block(problem, problem.extent.tile(tile, elements), prefix) {}

  const Problem &problem_;
  decltype(Problem::op) op_;
  const std::uint64_t first_;
  const int count_;

private:
  LOOKBACK_DEVICE tile_of_block(const Problem &problem, const tile_extent &own,
                                uninitialized_array<T, 1> &prefix)
      : problem_(problem), op_(problem.op), first_(own.first), count_(own.valid), prefix_(prefix) {}

  uninitialized_array<T, 1> &prefix_; // in shared memory, for share()
};

/// Scans one block's tile of the problem: Threads * Items elements. The last tile may be partial.
template <class Problem, class Network, int Threads, int Items>
class block_tile : public tile_of_block<Problem, Threads, Threads * Items> {
  using base = tile_of_block<Problem, Threads, Threads * Items>;
  using base::count_;
  using base::first_;
  using base::op_;
  using base::problem_;
  static_assert(Items >= 1, "lookback: Items must be at least 1");
  using network = typename Network::template block<typename Problem::accumulator, Threads, Items>;
  static constexpr bool inclusive = Problem::inclusive,
                        keeps_items = Problem::sink_type::needs_item;
  struct nothing {};

public:
  using T = typename base::T;
  using stored = typename base::stored;
  using base::elements;

  /// Block scans that work in global memory have storage for every tile there.
  using global_room =
      std::conditional_t<Network::in_global_memory, typename network::storage, nothing>;
  static global_room *take_rooms(temporary_memory &memory, const Problem &problem) {
    return Network::in_global_memory ? memory.take<global_room>(base::count(problem)) : nullptr;
  }
  struct storage { // its values first, at a multiple of 128 bytes
    std::conditional_t<Network::in_global_memory, nothing, typename network::storage> room;
    uninitialized_array<T, keeps_items ? elements : 1> items;
    uninitialized_array<T, 1> last;   // element of the tile
    uninitialized_array<T, 1> prefix; // of the tile
    unsigned tile_id;
  };

  /// Blocks that a multiprocessor must have room for: as many as its threads, its shared memory and
  /// the registers for the items allow. While some tiles wait, others read, which hides the
  /// latency.
  static constexpr int registers = 24 + static_cast<int>((Items * sizeof(T) + 3) / 4);
  static constexpr int fit_registers = 65536 / (Threads * registers);
  static constexpr int fit_shared = static_cast<int>(227 * 1024 / (sizeof(storage) + 1024));
  static constexpr int fit = fit_registers < fit_shared ? fit_registers : fit_shared;
  static constexpr int resident = fit < 1 ? 1 : fit < 16 ? fit : 16; // a limit of every device

  LOOKBACK_DEVICE block_tile(const Problem &problem, unsigned tile, storage &shared,
                             global_room *rooms)
      : base(problem, tile, shared.prefix), shared_(shared), network_(room(shared, rooms, tile)) {}

  /// Reads the tile and scans it. Its input is not read again afterwards.
  LOOKBACK_DEVICE void scan() {
    network_.template scan<inclusive>(count_, kept_elements(problem_, first_, count_, shared_),
                                      op_);
  }

  /// Aggregate of the tile. Called by one thread, after scan(). An exclusive scan needs one more
  /// application of the operator.
  LOOKBACK_DEVICE T aggregate() {
    if (inclusive) return network_.template result<true>(count_ - 1);
    if (count_ == 1) return shared_.last[0];
    return static_cast<T>(op_(network_.template result<false>(count_ - 1), shared_.last[0]));
  }

  /// Writes the results of the tile.
  LOOKBACK_DEVICE void store(const maybe<T> &prefix) {
    const auto output = problem_.sink.output + static_cast<std::ptrdiff_t>(first_);
    for_each_strided<Threads, Items>(0, count_, [&](int, int i) {
      maybe<T> y = prefix;
      if (inclusive || i > 0) y.append(op_, network_.template result<inclusive>(i));
      output[i] = static_cast<stored>(problem_.sink.project(
          y.value(), keeps_items ? shared_.items[keeps_items ? i : 0] : y.value()));
    });
  }

  /// Writes the scan of the tile without its prefix, and the elements if they are needed again for
  /// the results.
  LOOKBACK_DEVICE void store_partials(T *scanned, T *items) {
    for_each_strided<Threads, Items>(0, count_, [&](int, int i) {
      if (inclusive || i > 0)
        construct(scanned[first_ + i], network_.template result<inclusive>(i));
      if (keeps_items) construct(items[first_ + i], shared_.items[keeps_items ? i : 0]);
    });
  }

private:
  /// The elements as the block scan reads them. Keeps those that are needed again.
  class kept_elements : public block_elements<Problem, Threads> {
    using base = block_elements<Problem, Threads>;

  public:
    static constexpr bool may_copy = base::may_copy && !keeps_items;
    LOOKBACK_DEVICE kept_elements(const Problem &problem, std::uint64_t first, int count,
                                  storage &shared)
        : base(problem, first), count_(count), shared_(shared) {}
    LOOKBACK_DEVICE T operator()(int i) const {
      const T element = base::operator()(i);
      if (keeps_items) construct(shared_.items[keeps_items ? i : 0], element);
      if (i == count_ - 1) construct(shared_.last[0], element);
      return element;
    }
    LOOKBACK_DEVICE void copy(T *to, int count) const {
      if (simt::thread_index() == 0) construct(shared_.last[0], base::operator()(count - 1));
      base::copy(to, count);
    }

  private:
    const int count_;
    storage &shared_;
  };

  LOOKBACK_DEVICE static typename network::storage &
  room(storage &shared, [[maybe_unused]] global_room *rooms, [[maybe_unused]] unsigned tile) {
    if constexpr (Network::in_global_memory)
      return rooms[tile];
    else
      return shared.room;
  }

  storage &shared_;
  network network_;
};

/// The tile of a strategy: in the shared memory of its `Network`, or where the `Network` says.
template <class Problem, class Network, int Threads, int Items>
struct tile_for {
  using type = block_tile<Problem, Network, Threads,
                          items_a_thread<Network, typename Problem::accumulator, Threads, Items>()>;
};

/// Stands in for a launcher: launches nothing, and records the largest block.
class launch_demands {
public:
  template <class... Parameters, class... Arguments>
  void operator()(void (*)(Parameters...), const block_shape &block, const launch_grid &,
                  const Arguments &...) {
    if (block.threads > largest_.threads) largest_.threads = block.threads;
    if (block.shared_bytes > largest_.shared_bytes) largest_.shared_bytes = block.shared_bytes;
  }
  const block_shape &largest() const { return largest_; }

private:
  block_shape largest_{0, 0};
};

/// Base class of the textbook's strategies (strategy/strategy.cuh). The derived `Strategy` has a
/// name and run().
template <class Strategy, class Network, int Threads, int Items>
struct textbook {
  static constexpr bool needs_residency = false;
  template <class Problem>
  static constexpr bool supports = !Problem::sink_type::wants_total && !counts_on_device<Problem>;
  static const char *tuned_for(unsigned) { return "its template arguments"; }

  template <class Problem>
  static std::size_t storage(const Problem &problem) {
    temporary_memory needed;
    launch_demands nothing;
    Strategy::run(problem, needed, nothing);
    return needed.bytes();
  }
  /// The largest block that the strategy would launch.
  template <class Problem>
  static block_shape largest_block(const Problem &problem) {
    temporary_memory needed;
    launch_demands demands;
    Strategy::run(problem, needed, demands);
    return demands.largest();
  }
  template <class Problem, class Launch>
  static const char *fits(const Problem &, Launch &) {
    return nullptr;
  }

protected:
  /// The scan of one block's tile.
  template <class Problem>
  using tile = typename tile_for<Problem, Network, Threads, Items>::type;

  /// The problem in tiles of the strategy's size. A kernel first saves an initial value that may
  /// lie in the output.
  template <class Problem, class Launch>
  static auto in_tiles(const Problem &given, temporary_memory &memory, Launch &launch) {
    auto problem = retiled<tile<Problem>::elements>(given);
    if constexpr (reads_initial<Problem>) {
      auto *const place = memory.take<typename Problem::accumulator>(1);
      const auto saved = initial_to_save_at(place, problem);
      std::uint64_t *const nothing = nullptr;
      launch(prepare_kernel<std::decay_t<decltype(saved)>>, block_shape{simt::warp_threads, 0},
             launch_grid{1}, saved, 0u, nothing, std::size_t{0});
      return with_initial_at(place, problem);
    } else {
      return problem;
    }
  }
};

} // namespace detail
} // namespace LOOKBACK_ABI
} // namespace lookback
