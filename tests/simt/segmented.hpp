// SPDX-License-Identifier: MIT
// One trial of a scan of segments that are given by offsets.
#pragma once

#include <simt/problems.hpp>

#include <lookback/dispatch/segmented_call.cuh>

namespace test {

/// Segments that follow one another without gaps, or in any order, with gaps before and between
/// them.
struct placed_segments {
  std::vector<std::int32_t> begins;
  std::vector<std::int64_t> ends, result_begins;
  std::size_t room = 0, result_room = 0; // elements

  placed_segments(trial &one, const std::vector<std::size_t> &lengths, bool elsewhere)
      : begins(lengths.size()), ends(lengths.size()), result_begins(lengths.size()) {
    std::vector<std::size_t> order(lengths.size());
    for (std::size_t s = 0; s < order.size(); ++s) order[s] = s;
    const bool are_dense = one.random() % 2 == 0;
    if (!are_dense && one.random() % 2 == 0) std::shuffle(order.begin(), order.end(), one.random);
    const std::size_t gap = are_dense ? 0 : one.random() % 3;
    for (const std::size_t s : order) {
      room += one.random() % (gap + 1);
      result_room += one.random() % (gap + 2);
      begins[s] = static_cast<std::int32_t>(room);
      result_begins[s] = static_cast<std::int64_t>(elsewhere ? result_room : room);
      room += lengths[s], result_room += lengths[s];
      // The end of an empty segment may be anywhere before its begin.
      ends[s] = static_cast<std::int64_t>(lengths[s] > 0 ? room : one.random() % (room + 1));
    }
    if (!elsewhere) result_room = room;
  }
};

/// Lengths at the edges of the tree, or short ones, up to about `items` items together.
inline std::vector<std::size_t> some_lengths(trial &one, const tree_sizes &size,
                                             std::size_t items) {
  const std::size_t style = one.random() % 4;
  const std::size_t longest = size.tile - std::min(2 * size.row, size.tile / 2); // not by tiles
  const std::size_t edges[] = {size.vector, size.row,  2 * size.row,  size.tile / 2,
                               longest,     size.tile, 2 * size.tile, 5 * size.tile};
  std::vector<std::size_t> lengths;
  for (std::size_t all = 0; all < items && lengths.size() < 3000;) {
    const std::size_t edge = edges[one.random() % (style == 1 ? 3 : 8)];
    const std::size_t length = style == 0 || (style == 3 && !lengths.empty()) ? one.random() % 4
                               : style == 3                                   ? items / 2
                                            : edge - 1 + one.random() % 3;
    lengths.push_back(length);
    all += std::max<std::size_t>(length, size.vector);
  }
  return lengths;
}

/// Lengths of a few vectors, and some of several rows.
inline std::vector<std::size_t> short_lengths(trial &one, const tree_sizes &size,
                                              std::size_t items) {
  std::vector<std::size_t> lengths;
  for (std::size_t all = 0; all < items; all += lengths.back())
    lengths.push_back(1 + one.random() % (one.random() % 8 == 0 ? 3 * size.row : 5 * size.vector));
  return lengths;
}

/// Segments of one tile, with a few of two among them: more tiles than a ring of 128 has words.
/// Few tiles have one before them in their segment, so blocks hardly wait for each other; and one
/// of them is starved, so that the others come as far ahead of it as they may.
inline std::vector<std::size_t> mostly_one_tile(trial &one, const tree_sizes &size, std::size_t) {
  one.schedule.which = emulator::mode::starve_late;
  std::vector<std::size_t> lengths(320 + one.random() % 64, size.tile);
  for (std::size_t s = one.random() % 8; s < lengths.size(); s += 160) lengths[s] = 2 * size.tile;
  return lengths;
}
/// A few long segments whose tiles are mostly full, among so many short ones that the pipeline
/// scans the long ones although there are few tiles a segment. The vectors of short ones are full.
inline std::vector<std::size_t> long_among_many(trial &one, const tree_sizes &size, std::size_t) {
  std::vector<std::size_t> lengths(300 + one.random() % 100);
  for (std::size_t &length : lengths) length = (1 + one.random() % 3) * size.vector;
  for (int i = 0; i < 2; ++i)
    lengths[one.random() % lengths.size()] = 8 * size.tile - one.random() % (size.tile / 4);
  return lengths;
}
using choose_lengths = std::vector<std::size_t> (*)(trial &one, const tree_sizes &size,
                                                    std::size_t items);

enum class segmented_kind { inclusive, inclusive_from_initial, exclusive };

/// Scans segments whose number the host knows, by `Strategy`.
struct number_on_host {
  template <class Strategy, class Problem, class Segments>
  static void scan(Strategy, const Problem &problem, const Segments &segments, trial &one,
                   const device &on) {
    run_in_two_phases(one, on, [&](void *storage, std::size_t &bytes, const auto &launch) {
      return Strategy::scan(storage, bytes, problem, segments, launch);
    });
  }
};

/// Long segments by the look-back, by tiles of `Warps` warps.
template <int Warps>
struct by_look_back {
  static constexpr bool has_pipeline = false;
  template <unsigned Section>
  using strategy = core::segmented_strategy<rows_of<Warps>, Section>;
};
/// Long segments by the pipeline, if there are at least `Tiles` tiles a segment.
template <class Tuning, unsigned Tiles>
struct segment_rows : rows_of<1> {
  template <int>
  using at = segment_rows;
  template <class>
  struct segment_pipeline : Tuning {
    static constexpr core::look_ahead_tuning value = Tuning::value.keeping_lines();
  };
  template <class>
  static constexpr bool segments_ahead = true;
  static constexpr unsigned segment_tiles_ahead = Tiles, segment_tiles_in_all = 8;
  static constexpr bool may_go_ahead(std::int64_t segments) { return segments <= 2000; }
};
template <class Tuning, unsigned Ring, unsigned Tiles = 0>
struct by_pipeline_of {
  static constexpr bool has_pipeline = true;
  template <unsigned Section>
  using strategy = core::segmented_strategy<segment_rows<Tuning, Tiles>, Section, Ring>;
};

/// Sums of integers in adjacent segments, whose heads are marked.
template <class Tuning, unsigned Ring>
struct by_heads_of {
  static constexpr bool has_pipeline = true;
  struct rows : segment_rows<look_ahead_by<4, 2, 2, 2, 2>, 0> {
    template <int>
    using at = rows;
    template <class>
    using pipeline = Tuning;
  };
  template <unsigned Section>
  using strategy = core::segmented_strategy<rows, Section, Ring>;
};

/// Scans segments from `from` to `output` on an emulated device, with storage full of garbage.
/// `LongBy`: how long segments are scanned, by_look_back or by_pipeline_of.
template <class T, class LongBy, unsigned Section, class Number, class In, class Segments,
          class Operator>
void run_segments(trial &one, segmented_kind kind, const In *from, T *output,
                  const Segments &segments, Operator op, T init) {
  device on;
  on.resident = 1 + one.random() % 3;
  on.runs_pipeline = LongBy::has_pipeline;
  // With three blocks, a word of a ring of 128 belongs to another block in the next round.
  if (LongBy::has_pipeline) on.multiprocessors = one.random() % 4 == 0 ? 1 + one.random() % 2 : 3;
  const auto run = [&](const auto &problem) {
    Number::scan(typename LongBy::template strategy<Section>{}, problem, segments, one, on);
  };
  if (kind == segmented_kind::inclusive)
    run(core::make_problem<true, T>(from, output, op, core::no_initial{}));
  else if (kind == segmented_kind::inclusive_from_initial)
    run(core::make_problem<true, T>(from, output, op, core::initial_value<T>{init}));
  else
    run(core::make_problem<false, T>(from, output, op, core::initial_value<T>{init}));
}

/// Gives every segment its elements, and `expected` its results: those of the tree of each.
template <class T, class In, class Operator, class Make>
void fill_segments(trial &one, segmented_kind kind, const std::vector<std::size_t> &lengths,
                   const placed_segments &at, In *input, std::vector<T> &expected, Operator op,
                   T init, Make make_value) {
  const tree_sizes size(sizeof(In), sizeof(T));
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    std::vector<T> values;
    for (std::size_t i = 0; i < lengths[s]; ++i) {
      input[at.begins[s] + i] = make_value(one, i);
      values.push_back(static_cast<T>(input[at.begins[s] + i]));
    }
    const auto results = scan_tree<T>(
        values, op, kind == segmented_kind::inclusive ? std::nullopt : std::optional<T>(init),
        size);
    for (std::size_t i = 0; i < lengths[s]; ++i)
      expected[at.result_begins[s] + i] =
          kind == segmented_kind::exclusive ? *results.before[i] : *results.through[i];
  }
}

/// Scans segments of values that make_value(trial, index in the segment) returns, of any kind and,
/// if the types allow it, also in place.
template <class T, class LongBy, unsigned Section, class Number, class Operator, class Make>
void scan_segments(std::uint64_t count, std::size_t items, Operator op, T init, T filler,
                   Make make_value, choose_lengths choose = some_lengths) {
  using in = decltype(make_value(std::declval<trial &>(), std::size_t{}));
  constexpr bool may_be_in_place = std::is_same<in, T>::value;
  for_each_trial(count, [&](trial &one) {
    const auto lengths = choose(one, tree_sizes(sizeof(in), sizeof(T)), one.random() % items);
    const bool in_place = may_be_in_place && one.random() % 2 == 0;
    const bool elsewhere = !in_place && one.random() % 2 == 0;
    const placed_segments at(one, lengths, elsewhere);
    const auto kind = static_cast<segmented_kind>(one.random() % 3);
    INFO(lengths.size(), " segments, ", at.room, " items, kind ", static_cast<int>(kind));
    guarded_buffer<in> input(at.room + 1, one.random() % 2, make_value(one, 0));
    guarded_buffer<T> separate(at.result_room + 1, one.random() % 2, filler);
    const auto scan = [&](auto &output) {
      auto expected = output.results(); // what is around the segments stays
      fill_segments(one, kind, lengths, at, input.data(), expected, op, init, make_value);
      const auto run = [&](auto result_begins) {
        const core::offset_segments<const std::int32_t *, const std::int64_t *,
                                    decltype(result_begins)>
            segments(at.begins.data(), at.ends.data(), result_begins,
                     static_cast<std::int64_t>(lengths.size()));
        run_segments<T, LongBy, Section, Number>(one, kind, static_cast<const in *>(input.data()),
                                                 output.data(), segments, op, init);
      };
      if (elsewhere || one.random() % 4 == 0) // offsets of the results may be those of the items
        run(at.result_begins.data());
      else
        run(core::same_offsets{});
      REQUIRE_EQ(first_difference(output.results(), expected), nowhere);
      REQUIRE(output.intact());
    };
    if constexpr (may_be_in_place) {
      if (in_place) return scan(input);
    }
    scan(separate);
  });
}

/// Intervals, whose operator reports what is no neighbour. `In`: as they lie in memory.
template <class T, class In, class LongBy, unsigned Section = 32, class Number = number_on_host>
void scan_interval_segments_by(std::uint64_t count, std::size_t items,
                               choose_lengths choose = some_lengths) {
  scan_segments<T, LongBy, Section, Number>(
      count, items, join_neighbours{}, make_interval<T>(interval_initial),
      make_interval<T>({77, 78}),
      [](trial &, std::size_t i) -> In {
        const T value = make_interval<T>(interval_element(i));
        if constexpr (std::is_same<In, T>::value)
          return value;
        else
          return In{value, {}};
      },
      choose);
}
template <class T, class In, int Warps, unsigned Section = 32, class Number = number_on_host>
void scan_interval_segments(std::uint64_t count, std::size_t items,
                            choose_lengths choose = some_lengths) {
  scan_interval_segments_by<T, In, by_look_back<Warps>, Section, Number>(count, items, choose);
}
/// Sums of integers in segments that follow one another without gaps. Offsets are those of the ends
/// from the second on; the first may be anywhere. In place only without ThreadSanitizer: it reports
/// that bulk copies read results of neighbouring tiles, which nothing uses.
template <class T, class Offset, class LongBy, class Choose>
void sum_adjacent_segments(std::uint64_t count, std::size_t items, Choose choose) {
  for_each_trial(count, [&](trial &one) {
    const auto lengths = choose(one, tree_sizes(sizeof(T), sizeof(T)), one.random() % items);
    std::vector<Offset> offsets{static_cast<Offset>(one.random() % 2 == 0 ? 0 : one.random() % 9)};
    for (const std::size_t length : lengths)
      offsets.push_back(static_cast<Offset>(offsets.back() + static_cast<Offset>(length)));
    const auto room = static_cast<std::size_t>(offsets.back());
    const auto kind = static_cast<segmented_kind>(one.random() % 3);
    const bool in_place = !under_thread_sanitizer && one.random() % 2 == 0;
    INFO(lengths.size(), " segments, ", room, " items, kind ", static_cast<int>(kind));
    guarded_buffer<T> input(room + 1, one.random() % 2, T{0}),
        separate(room + 1, one.random() % 2, T{77});
    for (std::size_t i = 0; i < room; ++i) input.data()[i] = static_cast<T>(one.random() % 4096);
    auto &output = in_place ? input : separate;
    auto expected = output.results(); // what is around the segments stays
    const T init = static_cast<T>(one.random() % 4096);
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      using sum_type = core::unsigned_sum<T>;
      sum_type sum = kind == segmented_kind::inclusive ? sum_type{0} : static_cast<sum_type>(init);
      for (auto i = static_cast<std::size_t>(offsets[s]);
           i < static_cast<std::size_t>(offsets[s + 1]); ++i) {
        const auto through = static_cast<sum_type>(sum + static_cast<sum_type>(input.data()[i]));
        expected[i] = static_cast<T>(kind == segmented_kind::exclusive ? sum : through);
        sum = through;
      }
    }
    const core::offset_segments<const Offset *, const Offset *> segments(
        offsets.data(), offsets.data() + 1, {}, static_cast<std::int64_t>(lengths.size()));
    run_segments<T, LongBy, 32, number_on_host>(one, kind, static_cast<const T *>(input.data()),
                                                output.data(), segments, lookback::plus{}, init);
    REQUIRE_EQ(first_difference(output.results(), expected), nowhere);
    REQUIRE(output.intact());
  });
}
/// Lengths that leave empty segments, hundreds of them at one place, among others.
inline std::vector<std::size_t> many_empty(trial &one, const tree_sizes &size, std::size_t items) {
  std::vector<std::size_t> lengths;
  for (std::size_t all = 0; all < items; all += lengths.back()) {
    if (one.random() % 4 == 0) lengths.insert(lengths.end(), one.random() % 700, 0);
    lengths.push_back(1 + one.random() % (one.random() % 3 == 0 ? 2 * size.tile : size.vector));
  }
  if (one.random() % 2 == 0) lengths.insert(lengths.end(), one.random() % 700, 0);
  return lengths;
}

/// Floating-point sums, whose bits depend on the order of association.
template <class LongBy>
void sum_segments(std::uint64_t count, std::size_t items, choose_lengths choose = some_lengths) {
  scan_segments<float, LongBy, 32, number_on_host>(
      count, items, lookback::plus{}, 0.3f, -1.f,
      [](trial &one, std::size_t) { return static_cast<float>(one.random() % 4096) / 37; }, choose);
}

} // namespace test
