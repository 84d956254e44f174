// SPDX-License-Identifier: MIT
// One trial of a scan of columns.
#pragma once

#include <simt/problems.hpp>

#include <lookback/dispatch/axis_call.cuh>

namespace test {

/// Chooses the lines of a trial.
using choose_lines = lookback::axis (*)(trial &one, const tree_sizes &size, bool same_pitches);

/// Lines of at most about `Items` elements in all, at the edges of the tree, with or without gaps.
template <std::size_t Items>
lookback::axis some_axis(trial &one, const tree_sizes &size, bool same_pitches) {
  const std::size_t items = one.random() % Items + 1;
  const std::size_t edges[] = {
      1,         size.vector,   3 * size.vector, 7 * size.vector, size.row,   2 * size.row,
      size.tile, 2 * size.tile, 5 * size.tile,   3 * size.row,    size.group, 3 * size.group};
  lookback::axis lines;
  std::size_t length = 0;
  do length = edges[one.random() % 12] + one.random() % 3;
  while (length > items + 3);
  lines.length = static_cast<std::int64_t>(length > 1 ? length - 1 : length);
  // A block has 64 threads or more. A short line of large elements is alone in its block, and
  // ThreadSanitizer has room for some thousand threads in a run.
  const std::size_t left = std::min<std::size_t>(items / length + 1, size.vector > 1 ? 200 : 25),
                    style = one.random() % 4;
  const std::size_t inner = style == 0   ? one.random() % 3
                            : style == 1 ? one.random() % 40
                                         : one.random() % left;
  lines.inner = static_cast<std::int64_t>(std::min(inner + 1, left));
  lines.outer = 1 + static_cast<std::int64_t>(one.random() % (left / lines.inner + 1) % 70);
  lines.reverse = one.random() % 2 == 0;
  const auto pitches = [&](lookback::axis::pitch &to) {
    if (one.random() % 2 == 0) return; // no gaps
    to.length = lines.inner + static_cast<std::int64_t>(one.random() % 5);
    to.outer =
        (lines.length - 1) * to.length + lines.inner + static_cast<std::int64_t>(one.random() % 5);
    if (one.random() % 4 == 0) { // the dimensions exchanged
      to.outer = lines.inner + static_cast<std::int64_t>(one.random() % 2);
      to.length =
          (lines.outer - 1) * to.outer + lines.inner + static_cast<std::int64_t>(one.random() % 2);
    }
  };
  pitches(lines.input);
  if (same_pitches)
    lines.output = lines.input;
  else
    pitches(lines.output);
  return core::checked_axis(lines);
}
/// Whole strips of lines, as strategy/column_warps.cuh takes them, of at most about `Items`
/// elements.
template <std::size_t Items>
lookback::axis some_strips(trial &one, const tree_sizes &size, bool same_pitches) {
  const std::size_t edges[] = {2 * size.row,  5 * size.row,           size.tile / 2,
                               size.tile,     size.tile + size.row,   2 * size.tile,
                               3 * size.tile, size.group + size.tile, 2 * size.group + size.row};
  lookback::axis lines;
  lines.inner = std::int64_t{8} << one.random() % 4;
  std::size_t length = 0;
  do length = edges[one.random() % 9];
  while (length * static_cast<std::size_t>(lines.inner) > Items);
  if (length >= size.tile / 2) length += one.random() % 3; // a partial row
  lines.length = static_cast<std::int64_t>(length);
  lines.outer = 1 + static_cast<std::int64_t>(one.random() % 3);
  if (lines.length * lines.inner * 2 > static_cast<std::int64_t>(Items)) lines.outer = 1;
  lines.reverse = one.random() % 2 == 0;
  if (one.random() % 2 == 0) {
    lines.input.length = lines.inner + static_cast<std::int64_t>(one.random() % 9);
    lines.input.outer =
        lines.input.length * lines.length + static_cast<std::int64_t>(one.random() % 5);
  }
  if (same_pitches)
    lines.output = lines.input;
  else if (one.random() % 3 == 0)
    lines.output.length = lines.inner + static_cast<std::int64_t>(one.random() % 3);
  return core::checked_axis(lines);
}
/// Strips whose last units are partial, and more units than the blocks have rooms: full units
/// follow partial ones in the same room. If the number of strips is odd, the last band has fewer.
inline lookback::axis some_partial_units(trial &one, const tree_sizes &size, bool) {
  lookback::axis lines;
  lines.inner = 16;
  lines.length = static_cast<std::int64_t>(5 * size.row); // units of 2, 2, and 1 rows
  lines.outer = 7 + static_cast<std::int64_t>(one.random() % 2);
  lines.reverse = one.random() % 2 == 0;
  return core::checked_axis(lines);
}
/// Two columns, without gaps and forward in a third of the trials (in half of those with the same
/// pitches). Their length is whole tiles, at most a group and a tile, plus up to two elements; at
/// most `Rows` + 2, where `Rows` is at least a tile.
template <std::size_t Rows>
lookback::axis some_pairs(trial &one, const tree_sizes &size, bool same_pitches) {
  const std::size_t edges[] = {size.tile, 2 * size.tile, 5 * size.tile, size.group,
                               size.group + size.tile};
  lookback::axis lines;
  std::size_t length = 0;
  do length = edges[one.random() % 5];
  while (length > Rows);
  lines.length = static_cast<std::int64_t>(length + one.random() % 3);
  lines.inner = 2;
  lines.reverse = one.random() % 4 == 0;
  const auto pitch = [&] { return std::int64_t{one.random() % 3 == 0 ? 3 : 2}; };
  lines.input.length = pitch();
  lines.output.length = same_pitches ? lines.input.length : pitch();
  return core::checked_axis(lines);
}
/// Rows with gaps of less than `gap` elements.
inline lookback::axis some_rows_of(trial &one, std::size_t length, std::size_t outer,
                                   std::uint64_t gap, bool same_pitches) {
  lookback::axis lines;
  lines.length = static_cast<std::int64_t>(length);
  lines.outer = static_cast<std::int64_t>(outer);
  lines.reverse = one.random() % 2 == 0;
  const auto pitch = [&] {
    return lookback::axis::pitch{lines.length + static_cast<std::int64_t>(one.random() % gap), 1};
  };
  lines.input = pitch();
  lines.output = same_pitches ? lines.input : pitch();
  return core::checked_axis(lines);
}
/// Rows of more than two rows of the tree, most of them at most about a tile, with or without gaps.
inline lookback::axis some_rows(trial &one, const tree_sizes &size, bool same_pitches) {
  const std::size_t edges[] = {
      2 * size.row + 2, 4 * size.row,  8 * size.row,  size.tile / 2,
      size.tile,        2 * size.tile, 3 * size.tile, 2 * size.group + size.tile};
  // A group of tiles is too many threads for ThreadSanitizer.
  const std::size_t length = edges[one.random() % (warps_at_once > 4 * 65 * 2 ? 8 : 7)],
                    outer = 1 + one.random() % (length > size.group ? 2 : 7);
  return some_rows_of(one, length + one.random() % 3 - 1, outer, one.random() % 2 == 0 ? 9 : 1,
                      same_pitches);
}
/// Rows of two or three full tiles, some with an item more, most of them without gaps.
inline lookback::axis some_rows_of_tiles(trial &one, const tree_sizes &size, bool same_pitches) {
  const std::size_t length = (2 + one.random() % 2) * size.tile + one.random() % 4 / 3,
                    outer = 2 + one.random() % 4;
  auto lines = some_rows_of(one, length, outer, 1, same_pitches);
  if (!same_pitches && one.random() % 3 == 0) ++lines.output.outer;
  return lines;
}
/// Rows of at most a row of the tree, most of them without gaps and whole vectors or a part of one;
/// about as many as a warp or a block scans at once.
inline lookback::axis some_short_rows(trial &one, const tree_sizes &size, bool same_pitches) {
  const std::size_t v = size.vector,
                    lengths[] = {v / 4, v / 2, v, 2 * v, 3 * v, 8 * v, 17 * v, size.row};
  std::size_t length = std::max<std::size_t>(2, lengths[one.random() % 8]);
  if (one.random() % 8 == 0) --length;
  const std::size_t in_row = size.row / std::max(length, v),
                    edges[] = {2, in_row, 4 * in_row, 16 * in_row},
                    outer = edges[one.random() % 4] + one.random() % 3 - 1;
  return some_rows_of(one, length, std::max<std::size_t>(1, outer), one.random() % 5 == 0 ? 9 : 1,
                      same_pitches);
}
inline std::size_t span(const lookback::axis &lines, const lookback::axis::pitch &pitch) {
  return static_cast<std::size_t>((lines.outer - 1) * pitch.outer +
                                  (lines.length - 1) * pitch.length + lines.inner);
}

/// Calls `body(input index, output index)` for the elements of every line, in the order of the
/// scan, and `end()` after each line.
template <class Body, class End>
void for_each_element(const lookback::axis &lines, Body body, End end) {
  for (std::int64_t o = 0; o < lines.outer; ++o)
    for (std::int64_t c = 0; c < lines.inner; ++c, end())
      for (std::int64_t k = 0; k < lines.length; ++k) {
        const std::int64_t i = lines.reverse ? lines.length - 1 - k : k;
        body(static_cast<std::size_t>(o * lines.input.outer + i * lines.input.length + c),
             static_cast<std::size_t>(o * lines.output.outer + i * lines.output.length + c));
      }
}

/// Gives every line its elements, and `expected` its results: those of the tree of each.
template <class T, class In, class Operator, class Make>
void fill_lines(trial &one, bool inclusive, const std::optional<T> &init,
                const lookback::axis &lines, In *input, std::vector<T> &expected, Operator op,
                Make make_value) {
  const tree_sizes size(sizeof(In), sizeof(T));
  std::vector<T> values;
  std::vector<std::size_t> places;
  for_each_element(
      lines,
      [&](std::size_t from, std::size_t to) {
        input[from] = make_value(one, values.size());
        values.push_back(static_cast<T>(input[from]));
        places.push_back(to);
      },
      [&] {
        const auto results = scan_tree<T>(values, op, init, size);
        for (std::size_t i = 0; i < places.size(); ++i)
          expected[places[i]] = inclusive ? *results.through[i] : *results.before[i];
        values.clear(), places.clear();
      });
}

/// Scans lines of values that make_value(trial, index in the line) returns, of any kind and, if the
/// types allow it, also in place, with storage full of garbage.
///
/// Under ThreadSanitizer, the pipeline is off in place: its bulk copies of misaligned tiles also
/// read neighbouring bytes, which results may overwrite meanwhile. It does not use them, but a race
/// is reported.
template <class T, unsigned Section, unsigned Band, class Operator, class Make>
void scan_lines(std::uint64_t count, choose_lines choose, Operator op, T init, T filler,
                Make make_value) {
  using in = decltype(make_value(std::declval<trial &>(), std::size_t{}));
  using rows = rows_of<1>;
  using ahead = pipeline_rows<look_ahead_by<3, 2, 2, 2, 1>>;
  using strategy = core::axis_strategy<
      core::row_strategy<rows, Band, core::pipeline<ahead>, 3, core::segmented_strategy<rows, 32>>,
      core::column_strategy<rows, 64, Section, Band, 0>>;
  constexpr bool may_be_in_place = std::is_same<in, T>::value;
  for_each_trial(count, [&](trial &one) {
    const bool in_place = may_be_in_place && one.random() % 2 == 0, inclusive = one.random() % 2,
               starts = !inclusive || one.random() % 2 == 0;
    const tree_sizes size(sizeof(in), sizeof(T));
    const auto lines = choose(one, size, in_place);
    INFO("outer ", lines.outer, ", length ", lines.length, ", inner ", lines.inner, ", input ",
         lines.input.outer, " and ", lines.input.length, ", output ", lines.output.outer, " and ",
         lines.output.length, ", reverse ", lines.reverse, ", inclusive ", inclusive);
    const auto some_shift = [&] { return std::size_t{one.random() % 4 == 0}; };
    guarded_buffer<in> input(span(lines, lines.input), some_shift(), make_value(one, 0));
    guarded_buffer<T> separate(span(lines, lines.output), some_shift(), filler);
    const auto run = [&](const in *from, T *to, auto make_problem) {
      device on;
      on.runs_pipeline = !(under_thread_sanitizer && in_place);
      on.resident = 1 + one.random() % 3;
      on.multiprocessors = 1 + one.random() % 3;
      run_in_two_phases(one, on, [&](void *storage, std::size_t &bytes, const auto &launch) {
        const bool asks = storage == nullptr; // the size alone, maybe before there are arrays
        return strategy::scan(storage, bytes,
                              make_problem(asks ? nullptr : from, asks ? nullptr : to), lines,
                              launch);
      });
    };
    const auto scan = [&](auto &output) {
      auto expected = output.results(); // what is between the lines stays
      fill_lines<T>(one, inclusive, starts ? std::optional<T>(init) : std::nullopt, lines,
                    input.data(), expected, op, make_value);
      const core::initial_value<T> initial{init};
      const auto call = [&](auto make_problem) { run(input.data(), output.data(), make_problem); };
      if (!inclusive)
        call([&](const in *from, T *to) {
          return core::make_problem<false, T>(from, to, op, initial);
        });
      else if (starts)
        call([&](const in *from, T *to) {
          return core::make_problem<true, T>(from, to, op, initial);
        });
      else
        call([&](const in *from, T *to) {
          return core::make_problem<true, T>(from, to, op, core::no_initial{});
        });
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
template <class T, class In, unsigned Section = 32, unsigned Band = 2>
void scan_interval_lines(std::uint64_t count, choose_lines choose) {
  scan_lines<T, Section, Band>(count, choose, join_neighbours{}, make_interval<T>(interval_initial),
                               make_interval<T>({77, 78}), [](trial &, std::size_t i) -> In {
                                 const T value = make_interval<T>(interval_element(i));
                                 if constexpr (std::is_same<In, T>::value)
                                   return value;
                                 else
                                   return In{value, {}};
                               });
}

} // namespace test
