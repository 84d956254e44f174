// SPDX-License-Identifier: MIT
// Scans whose number of items only the device knows: one call, whose kernels run again with other
// counts, as a captured graph does.
#pragma once

#include <lookback/core/device_count.cuh>
#include <lookback/core/offset_segments.cuh>

#include <simt/problems.hpp>

#include <memory>

namespace test {

/// A call whose kernels can run more than once.
class enqueued {
public:
  /// `n`: a lookback::device_count, or segments whose number is one.
  template <class Strategies, class Problem, class Count>
  enqueued(Strategies, const Problem &problem, const Count &n, const emulator::schedule &chosen,
           const device &on) {
    const emulated_launcher launch(on, chosen, stream_);
    std::size_t bytes = 0;
    if (Strategies::scan(nullptr, bytes, problem, n, launch) != outcome::launched)
      emulator::fail("no size of storage");
    storage_.assign(bytes, static_cast<unsigned char>(0x81 + chosen.seed % 64));
    if (Strategies::scan(storage_.data(), bytes, problem, n, launch) != outcome::launched)
      emulator::fail("the strategy does not take the call");
  }
  void run(const emulator::schedule &chosen) const { emulator::run(chosen, stream_); }

private:
  std::vector<emulator::kernel> stream_;
  std::vector<unsigned char> storage_;
};

/// Counts that a kernel may find, of at most `bound` items: the edges of row, tile and group, any
/// number, and invalid ones.
inline std::int64_t pick_count(trial &one, const tree_sizes &size, std::size_t bound) {
  switch (one.random() % 8) {
  case 0:
    return one.random() % 2 == 0 ? -1 : static_cast<std::int64_t>(bound) + 1;
  case 1:
    return 0;
  case 2:
    return static_cast<std::int64_t>(bound);
  case 3:
  case 4:
    return static_cast<std::int64_t>(one.random() % (bound + 1));
  default:
    const std::size_t edge = (1 + one.random() % 9) * size.tile + one.random() % 3 - 1;
    return static_cast<std::int64_t>(std::min(edge, bound));
  }
}

/// `trials` calls over up to `tiles` tiles of intervals, each run three times. `on_device()` is the
/// device of a trial.
template <class Strategies, class T, class In, class OnDevice>
void replay_counts(std::uint64_t trials, std::size_t tiles, std::size_t least, OnDevice on_device) {
  const tree_sizes size(sizeof(In), sizeof(T));
  constexpr int turns = 3; // each with other values, unless there is an initial one
  const auto elements = interval_elements<In, T>(tiles * size.tile + turns);
  for_each_trial(trials, [&](trial &one) {
    const std::size_t bound = pick_size(one, size, elements.size() - turns, least);
    const bool is_exclusive = one.random() % 2 == 0;
    const T filler = make_interval<T>({77, 78}), initial = make_interval<T>(interval_initial);
    bare_input<In> input({elements.begin(), elements.begin() + bound}, any_shift<In>(one));
    guarded_buffer<T> output(bound, 0, filler);
    std::unique_ptr<T> total(new T(filler));
    std::int64_t count = 0;
    int error = 0;
    const lookback::device_count n{&count, bound, &error};
    const auto to = lookback::with_total(output.data(), total.get());
    device on = on_device(one);
    on.captured = true;
    const auto call = [&](const auto &problem) {
      return enqueued(Strategies{}, problem, n, one.schedule, on);
    };
    const enqueued kernels =
        is_exclusive ? call(core::make_problem<false, T>(input.data(), to, join_neighbours{},
                                                         core::initial_value<T>{initial}))
                     : call(core::make_problem<true, T>(input.data(), to, join_neighbours{},
                                                        core::no_initial{}));
    for (int turn = 0; turn < turns; ++turn) {
      const std::uint32_t shift = is_exclusive ? 0 : turn;
      std::copy_n(elements.begin() + shift, bound, input.data());
      count = pick_count(one, size, bound);
      INFO("at most ", bound, ", count ", count, ", run ", turn, ", exclusive: ", is_exclusive);
      const bool is_valid = count >= 0 && count <= static_cast<std::int64_t>(bound);
      const auto items = static_cast<std::size_t>(is_valid ? count : 0);
      std::fill(output.data(), output.data() + bound, filler);
      *total = filler;
      error = 0;
      ASAN_POISON_MEMORY_REGION(input.data() + items, (bound - items) * sizeof(In));
      kernels.run(one.schedule);
      ASAN_UNPOISON_MEMORY_REGION(input.data() + items, (bound - items) * sizeof(In));
      std::vector<T> expected(bound, filler);
      const std::uint32_t begin = is_exclusive ? 0 : 1 + shift, end = is_exclusive ? 1 : 2 + shift;
      for (std::uint32_t i = 0; i < items; ++i) expected[i] = make_interval<T>({begin, i + end});
      const auto last = static_cast<std::uint32_t>(items) + shift + 1;
      const bool has_total = is_valid && (is_exclusive || items > 0);
      REQUIRE_EQ(error, is_valid ? 0 : 1);
      REQUIRE_EQ(first_difference(output.results(), expected), nowhere);
      REQUIRE(output.intact());
      REQUIRE(*total == (has_total ? make_interval<T>({begin, last}) : filler));
    }
  });
}

/// Runs the kernels of `enqueue(count)` for n items, or segments, which only the device
/// knows. The first run finds an invalid count, and writes nothing.
template <class Enqueue>
void run_counted(trial &one, std::size_t n, std::size_t most, Enqueue enqueue) {
  const auto bound = static_cast<std::int64_t>(n + one.random() % most);
  std::int64_t count = bound + 1;
  int error = 0;
  INFO("at most ", bound);
  const enqueued kernels = enqueue(lookback::device_count{&count, bound, &error});
  kernels.run(one.schedule);
  REQUIRE_EQ(error, 1);
  error = 0;
  count = static_cast<std::int64_t>(n);
  kernels.run(one.schedule);
  REQUIRE_EQ(error, 0);
}

/// Scans a trial's problem by `Strategies`.
template <class Strategies>
struct by_count {
  template <class Problem>
  void operator()(const Problem &problem, std::size_t n, trial &one) const {
    device on;
    on.multiprocessors = 1 + one.random() % 4;
    on.captured = true;
    run_counted(one, n, 6 * Problem::shape::tile_elements, [&](const auto &count) {
      return enqueued(Strategies{}, problem, count, one.schedule, on);
    });
  }
};
/// Scans segments by `Strategy`.
struct number_on_device {
  template <class Strategy, class Problem, class Segments>
  static void scan(Strategy, const Problem &problem, const Segments &segments, trial &one,
                   const device &on) {
    const auto n = static_cast<std::size_t>(segments.count());
    run_counted(one, n, 3 * n + 2, [&](const auto &count) {
      return enqueued(Strategy{}, problem,
                      core::count_segments(segments.first(count.at_most), count), one.schedule, on);
    });
  }
};

using counted_rows = rows_of<2>;
/// One block and its only tile.
template <class T, class In>
void count_one_tile(std::uint64_t trials) {
  replay_counts<core::first_of<core::one_tile<counted_rows>>, T, In>(
      trials, 1, 0, [](trial &) { return device{}; });
}
/// A block for every tile of the bound: a cluster, or a wave.
template <class T, class In>
void count_cluster(std::uint64_t trials) {
  replay_counts<core::first_of<core::cluster<counted_rows>>, T, In>(
      trials, 6, tree_sizes(sizeof(In), sizeof(T)).tile + 1, [](trial &) { return device{}; });
}
template <class T, class In>
void count_wave(std::uint64_t trials, std::size_t tiles) {
  replay_counts<core::first_of<core::wave<counted_rows>>, T, In>(
      trials, tiles, tree_sizes(sizeof(In), sizeof(T)).tile + 1, [](trial &one) {
        device on;
        on.small_wave = one.random() % 2 == 0 ? 1u << 20 : 0;
        return on;
      });
}
/// The pipeline: its ring, a wave in its blocks, and one tile in the first of them.
template <class Tuning, class T, class In>
void count_ahead(std::uint64_t trials, std::size_t tiles) {
  replay_counts<core::first_of<core::pipeline<pipeline_rows<Tuning>>>, T, In>(
      trials, tiles, tree_sizes(sizeof(In), sizeof(T)).tile + 1, [](trial &one) {
        device on;
        on.multiprocessors = 1 + one.random() % 4;
        return on;
      });
}
/// Sums of up to four tiles by the blocks of the pipeline, which reduce them before they have
/// settled. (ThreadSanitizer would report what a block reads that is then dropped.)
template <class Tuning>
void sum_few_ahead(std::uint64_t trials) {
  using strategies = core::first_of<core::pipeline<pipeline_rows<Tuning>>>;
  for_each_trial(trials, [](trial &one) {
    const tree_sizes size(sizeof(std::uint32_t), sizeof(std::uint32_t));
    const std::size_t n = size.tile + 1 + one.random() % (3 * size.tile);
    const bool in_place = !under_thread_sanitizer && one.random() % 2 == 0;
    INFO("n = ", n, ", in place: ", in_place);
    guarded_buffer<std::uint32_t> input(n, 0, 0), separate(n, 0, 77);
    auto &output = in_place ? input : separate;
    std::vector<std::uint32_t> expected(n);
    for (std::size_t i = 0; i < n; ++i) {
      input.data()[i] = static_cast<std::uint32_t>(one.random());
      expected[i] = input.data()[i] + (i > 0 ? expected[i - 1] : 0);
    }
    by_count<strategies>{}(core::make_problem<true, std::uint32_t>(
                               static_cast<const std::uint32_t *>(input.data()), output.data(),
                               lookback::plus{}, core::no_initial{}),
                           n, one);
    REQUIRE_EQ(first_difference(output.results(), expected), nowhere);
    REQUIRE(output.intact());
  });
}
/// Blocks that draw tiles, of `Strategy`.
template <template <class> class Strategy, class T, class In>
void count_drawn(std::uint64_t trials, std::size_t tiles) {
  replay_counts<core::first_of<Strategy<rows_of<1>>>, T, In>(
      trials, tiles, tree_sizes(sizeof(In), sizeof(T)).tile + 1, [](trial &one) {
        device on;
        on.large_wave = one.random() % 5;
        return on;
      });
}

} // namespace test
