// SPDX-License-Identifier: MIT
// The pipeline under many schedules: rings of stages that go round, blocks with a partial last
// tile, more than one group.
#include <lookback/strategy/pipeline.cuh>

#include <simt/problems.hpp>

namespace {

/// Intervals of `T`, up to `tiles` tiles of them on up to 5 blocks. `From` and `To` are iterators
/// over input and output.
template <class Tuning, class T, class In, class From = const In *, class To = T *>
void pipeline(std::uint64_t count, std::size_t tiles) {
  namespace core = lookback::detail;
  const test::tree_sizes size(sizeof(In), sizeof(T));
  const auto elements = test::interval_elements<In, T>(tiles * size.tile);
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n =
        test::pick_size(one, size, elements.size(), size.tile + 1); // one tile alone has no state
    const unsigned blocks = 1 + one.random() % 5;
    const std::vector<In> input(elements.begin(), elements.begin() + n);
    test::guarded_buffer<T> output(n, one.random() % 2, test::make_interval<T>({77, 78}));
    const bool has_initial = one.random() % 2 == 0;
    INFO("n = ", n, ", tile = ", size.tile, ", blocks = ", blocks,
         ", initial value: ", has_initial);
    if (has_initial)
      test::scan_ahead<Tuning>(
          core::make_problem<false, T>(
              From(input.data()), To(output.data()), test::join_neighbours{},
              core::initial_value<T>{test::make_interval<T>(test::interval_initial)}),
          n, blocks, one.schedule);
    else
      test::scan_ahead<Tuning>(core::make_problem<true, T>(From(input.data()), To(output.data()),
                                                           test::join_neighbours{},
                                                           core::no_initial{}),
                               n, blocks, one.schedule);
    std::vector<T> expected;
    for (std::uint32_t i = 0; i < n; ++i)
      expected.push_back(test::make_interval<T>(has_initial ? test::interval{0, i + 1}
                                                            : test::interval{1, i + 2}));
    REQUIRE_EQ(test::first_difference(output.results(), expected), test::nowhere);
    REQUIRE(output.intact());
  });
}

/// Structs of `Bytes` bytes, aligned to 16 bytes, also in place.
template <class Tuning, std::size_t Bytes>
void structs(std::uint64_t count, std::size_t tiles) {
  namespace core = lookback::detail;
  using T = test::marked_interval<Bytes>;
  const test::tree_sizes size(Bytes, Bytes);
  const auto elements = test::interval_elements<T, T>(tiles * size.tile);
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, size, elements.size(), size.tile + 1);
    const unsigned blocks = 1 + one.random() % 5;
    const bool in_place = one.random() % 2 == 0;
    INFO(Bytes, " bytes, n = ", n, ", tile = ", size.tile, ", blocks = ", blocks,
         ", in place: ", in_place);
    const test::bare_input<T> input(std::vector<T>(elements.begin(), elements.begin() + n), 0);
    const T filler = test::make_interval<T>({77, 78});
    test::guarded_buffer<T> output(n, 0, filler);
    if (in_place) std::copy(elements.begin(), elements.begin() + n, output.data());
    const T *const from = in_place ? output.data() : input.data();
    const bool has_initial = one.random() % 2 == 0;
    if (has_initial)
      test::scan_ahead<Tuning>(
          core::make_problem<false, T>(
              from, output.data(), test::join_neighbours{},
              core::initial_value<T>{test::make_interval<T>(test::interval_initial)}),
          n, blocks, one.schedule);
    else
      test::scan_ahead<Tuning>(core::make_problem<true, T>(from, output.data(),
                                                           test::join_neighbours{},
                                                           core::no_initial{}),
                               n, blocks, one.schedule);
    const auto expected = test::interval_results<T>(has_initial ? 0 : 1, has_initial ? 1 : 2);
    REQUIRE_EQ(test::first_difference(output.results(), expected(n, Bytes)), test::nowhere);
    REQUIRE(output.intact());
  });
}

/// The same for floats, whose sums depend on the order of the tree.
template <class Tuning, std::size_t Bytes>
void structs_of_floats(std::uint64_t count, std::size_t tiles) {
  namespace core = lookback::detail;
  using T = test::floats<Bytes>;
  const test::tree_sizes size(Bytes, Bytes);
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, size, tiles * size.tile, size.tile + 1);
    INFO(Bytes, " bytes, n = ", n, ", tile = ", size.tile);
    std::vector<T> values, output(n);
    for (std::size_t i = 0; i < n; ++i)
      values.push_back(T(static_cast<double>(one.random() % 1000003) / 997));
    test::scan_ahead<Tuning>(core::make_problem<true, T>(static_cast<const T *>(values.data()),
                                                         output.data(), test::add_floats{},
                                                         core::initial_value<T>{values[0]}),
                             n, 1 + one.random() % 3, one.schedule);
    const auto expected = test::tree_scan<T>(values, test::add_floats{},
                                             std::optional<T>(values[0]), true, Bytes, Bytes);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}

/// From one element less than a number of tiles to three more, at most `tiles` tiles and at least
/// one and an element.
std::size_t pick_edge(test::trial &one, std::size_t tile, std::size_t tiles) {
  return std::max(tile + 1, (1 + one.random() % tiles) * tile - 1 + one.random() % 5);
}

/// A number made of a smaller one: not the number itself.
template <class T>
struct times_three {
  template <class In>
  T operator()(const In &value) const {
    return static_cast<T>(T{3} * value);
  }
};

/// Sums of the elements, or of a function of them, input and output anywhere within 16 bytes; those
/// of 16-byte integers, which have a way of their own, also exclusive.
template <class Tuning, class In, class T, bool Transformed = false>
void sums(std::uint64_t count) {
  namespace core = lookback::detail;
  const test::tree_sizes size(Transformed ? sizeof(T) : sizeof(In),
                              sizeof(T)); // a function's value shapes the tree
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = pick_edge(one, size.tile, 5), from = test::any_shift<In>(one),
                      to = test::any_shift<T>(one);
    const unsigned blocks = 1 + one.random() % 3;
    std::vector<In> elements;
    std::vector<T> expected;
    const bool is_exclusive = sizeof(T) == 16 && one.random() % 2 == 0;
    T sum = is_exclusive ? T{7} : T{0};
    for (std::size_t i = 0; i < n; ++i) {
      elements.push_back(static_cast<In>(one.random()));
      const T element =
          Transformed ? times_three<T>{}(elements.back()) : static_cast<T>(elements.back());
      const T before = sum;
      sum = static_cast<T>(sum + element);
      expected.push_back(is_exclusive ? before : sum);
    }
    INFO("n = ", n, ", tile = ", size.tile, ", blocks = ", blocks, ", input and output shifted by ",
         from, ", ", to);
    const auto scan = [&](const In *at, T *output) {
      const auto by = [&](auto input) {
        if constexpr (sizeof(T) == 16) {
          if (is_exclusive)
            return test::scan_ahead<Tuning>(
                core::make_problem<false, T>(input, output, lookback::plus{},
                                             core::initial_value<T>{T{7}}),
                n, blocks, one.schedule);
        }
        test::scan_ahead<Tuning>(
            core::make_problem<true, T>(input, output, lookback::plus{}, core::no_initial{}), n,
            blocks, one.schedule);
      };
      if constexpr (Transformed)
        by(test::transforming_iterator<times_three<T>, const In *>(at, {}));
      else
        by(at);
    };
    const auto require = [&](const test::guarded_buffer<T> &written) {
      REQUIRE_EQ(test::first_difference(written.results(), expected), test::nowhere);
      REQUIRE(written.intact());
    };
    if constexpr (std::is_same<In, T>::value) {
      if (one.random() % 3 == 0) {
        test::guarded_buffer<T> written(n, from, static_cast<T>(one.random()));
        std::copy(elements.begin(), elements.end(), written.data());
        scan(written.data(), written.data());
        return require(written);
      }
    }
    const test::bare_input<In> input(elements, from);
    test::guarded_buffer<T> output(n, to, static_cast<T>(one.random()));
    scan(input.data(), output.data());
    require(output);
  });
}

template <class Tuning, class Key>
void pipeline_by_key(std::uint64_t count) {
  namespace core = lookback::detail;
  using T = test::interval;
  const test::tree_sizes size(sizeof(T), sizeof(T));
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = pick_edge(one, size.tile, 8);
    const unsigned blocks = 1 + one.random() % 4;
    const test::segments<Key, T> all(one, n, one.random() % 2 == 0 ? 5 : 4 * size.tile);
    const std::size_t shift = test::any_shift<Key>(one);
    const test::bare_input<Key> keys(all.keys, shift);
    test::guarded_buffer<T> input(n, test::any_shift<T>(one), {77, 78}),
        output(n, test::any_shift<T>(one), {77, 78});
    std::copy(all.values.begin(), all.values.end(), input.data());
    const bool in_place = one.random() % 2 == 0, is_inclusive = one.random() % 2 == 0;
    INFO("n = ", n, ", tile = ", size.tile, ", blocks = ", blocks, ", keys shifted by ", shift,
         ", in place: ", in_place);
    test::guarded_buffer<T> &written = in_place ? input : output;
    const T *const values = input.data();
    if (is_inclusive)
      test::scan_ahead<Tuning>(core::make_inclusive_by_key<T>(keys.data(), values, written.data(),
                                                              test::same_octave{},
                                                              test::join_neighbours{}),
                               n, blocks, one.schedule);
    else
      test::scan_ahead<Tuning>(core::make_exclusive_by_key<T>(
                                   keys.data(), values, written.data(), test::interval_initial,
                                   test::same_octave{}, test::join_neighbours{}),
                               n, blocks, one.schedule);
    REQUIRE_EQ(
        test::first_difference(written.results(), is_inclusive ? all.inclusive : all.exclusive),
        test::nowhere);
    REQUIRE(written.intact());
  });
}

/// Sums of integers by key, keys, input and output anywhere within 16 bytes, also in place.
template <class Tuning, class T>
void sums_by_key(std::uint64_t count) {
  namespace core = lookback::detail;
  const test::tree_sizes size(sizeof(T), sizeof(T));
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = pick_edge(one, size.tile, 8);
    const unsigned blocks = 1 + one.random() % 4;
    const std::size_t longest[] = {1, 5, 200, 4 * size.tile};
    const test::keyed_numbers<T> all(one, n, longest[one.random() % 4]);
    const test::bare_input<T> keys(all.keys, test::any_shift<T>(one));
    test::guarded_buffer<T> input(n, test::any_shift<T>(one), T{77}),
        output(n, test::any_shift<T>(one), T{77});
    std::copy(all.values.begin(), all.values.end(), input.data());
    const bool in_place = one.random() % 2 == 0, is_inclusive = one.random() % 2 == 0;
    INFO("n = ", n, ", tile = ", size.tile, ", blocks = ", blocks, ", in place: ", in_place,
         ", inclusive: ", is_inclusive);
    test::guarded_buffer<T> &written = in_place ? input : output;
    const T *const values = input.data();
    if (is_inclusive)
      test::scan_ahead<Tuning>(core::make_inclusive_by_key<T>(keys.data(), values, written.data(),
                                                              lookback::equal_to{},
                                                              lookback::plus{}),
                               n, blocks, one.schedule);
    else
      test::scan_ahead<Tuning>(core::make_exclusive_by_key<T>(keys.data(), values, written.data(),
                                                              all.initial, lookback::equal_to{},
                                                              lookback::plus{}),
                               n, blocks, one.schedule);
    REQUIRE_EQ(
        test::first_difference(written.results(), is_inclusive ? all.inclusive : all.exclusive),
        test::nowhere);
    REQUIRE(written.intact());
  });
}

} // namespace

// 16-byte elements: 1024 a tile.
using wide = test::widened<test::interval, 16>;
TEST_CASE("pipeline, 3 stages, 1 look-ahead warp") {
  pipeline<test::look_ahead_by<3, 2, 2, 2, 1>, test::interval, wide>(200, 35);
}
TEST_CASE("pipeline, 4 stages, 3 look-ahead warps, or 2") {
  pipeline<test::look_ahead_by<4, 2, 2, 4, 3, 2, 1>, test::interval, wide>(100, 70);
}
TEST_CASE("pipeline, vectors of two elements") {
  pipeline<test::look_ahead_by<3, 3, 1, 2, 2>, test::interval, test::interval>(60, 34);
}
/// Teams that take turns; more of them than some columns have tiles.
TEST_CASE("pipeline, teams of scanning warps") {
  pipeline<test::look_ahead_by<4, 2, 2, 4, 2, 2, 2, 2>, test::interval, wide>(100, 35);
  pipeline<test::look_ahead_by<5, 2, 4, 4, 2, 1, 2, 4>, test::interval, test::interval>(60, 34);
  sums<test::look_ahead_by<3, 2, 2, 4, 1, 1, 2, 2>, std::uint8_t, std::uint32_t>(100);
  pipeline_by_key<test::look_ahead_by<4, 2, 2, 4, 2, 2, 2, 2>, std::uint32_t>(60);
}

/// Teams of one warp, or of two; lanes with whole rows, halves, quarters and eighths of them.
/// The aggregates of groups are published by a warp of their own, from 20 bytes on.
template <int Stages, int Depth, int Warps, int LookAhead, int Copying, int Teams, int Reducing = 1,
          int Groups = 1>
using structs_by =
    test::load_ahead_by<Stages, Depth, Warps, LookAhead, Copying, 1, Teams, Groups, Reducing>;
TEST_CASE("pipeline, structs") {
  structs<structs_by<4, 2, 2, 2, 1, 2, 1, 0>, 12>(40, 6);
  structs<structs_by<3, 2, 1, 1, 2, 1, 2, 0>, 12>(40, 6);
  structs<structs_by<4, 2, 4, 1, 1, 2, 2>, 20>(40, 9);
  structs<structs_by<4, 2, 2, 2, 1, 1>, 24>(40, 34);
  structs<structs_by<3, 2, 8, 1, 1, 2>, 32>(40, 9);
  structs<structs_by<3, 1, 2, 1, 2, 1>, 44>(40, 9);
  structs<structs_by<3, 2, 4, 1, 1, 1>, 28>(20, 9);
  structs<structs_by<3, 2, 4, 1, 1, 2>, 36>(20, 9);
  structs<structs_by<3, 2, 4, 1, 1, 1>, 40>(20, 9);
  structs<structs_by<3, 2, 8, 1, 1, 2>, 48>(20, 9);
  structs<structs_by<3, 2, 4, 2, 1, 1>, 56>(20, 9);
  structs<structs_by<5, 2, 8, 2, 1, 2>, 64>(40, 67);
  structs<structs_by<3, 2, 8, 1, 1, 2, 3>, 64>(20, 35);
  structs<structs_by<4, 2, 4, 2, 1, 1, 2>, 40>(20, 35);
}
TEST_CASE("pipeline, structs, in the order of the tree") {
  structs_of_floats<structs_by<4, 2, 2, 2, 1, 2, 1, 0>, 12>(20, 4);
  structs_of_floats<structs_by<4, 2, 4, 1, 2, 2>, 24>(20, 35);
  structs_of_floats<structs_by<3, 2, 4, 1, 1, 1>, 32>(20, 4);
  structs_of_floats<structs_by<3, 2, 4, 1, 1, 2, 2>, 44>(20, 4);
  structs_of_floats<structs_by<5, 2, 8, 2, 1, 2>, 64>(20, 67);
}

/// Loaded by warps: by one, by a team, by teams that take turns; in batches of a row and of more.
TEST_CASE("pipeline, items through an iterator") {
  using test::interval;
  pipeline<test::load_ahead_by<3, 2, 2, 1, 1, 1>, interval, wide, test::reading_iterator<wide>>(60,
                                                                                                35);
  pipeline<test::load_ahead_by<4, 2, 2, 2, 4, 1>, interval, interval,
           test::reading_iterator<interval>>(40, 12);
  pipeline<test::load_ahead_by<4, 3, 4, 2, 4, 2>, interval, wide, test::reading_iterator<wide>>(60,
                                                                                                20);
  pipeline<test::load_ahead_by<3, 1, 2, 1, 3, 3>, interval, interval,
           test::reading_iterator<interval>>(40, 12);
}
/// Bytes that warps copy, where there are no bulk copies: aligned and anywhere within 16 bytes.
TEST_CASE("pipeline, bytes that warps copy") {
  pipeline<test::load_ahead_by<4, 2, 2, 1, 2, 1>, test::interval, wide>(60, 20);
  sums<test::load_ahead_by<3, 2, 4, 1, 2, 1>, std::uint32_t, std::uint32_t>(100);
  sums<test::load_ahead_by<3, 2, 2, 2, 1, 1>, std::uint8_t, std::uint32_t>(100);
  pipeline_by_key<test::load_ahead_by<3, 2, 4, 2, 4, 1>, std::uint32_t>(100);
}
/// Tiles that wait in registers, in a ring of bytes that is as short as it can be, or longer.
TEST_CASE("pipeline, tiles in registers") {
  pipeline<test::hold_ahead_by<3, 2, 4, 4, 2>, test::interval, test::interval>(60, 34);
  pipeline<test::hold_ahead_by<2, 3, 4, 2, 1, 2, 3>, test::interval, test::interval>(40, 12);
  sums<test::hold_ahead_by<3, 2, 3, 4, 1>, std::uint32_t, std::uint32_t>(100);
  sums<test::hold_ahead_by<4, 4, 7, 8, 2, 1, 4>, std::uint8_t, std::uint8_t>(60);
  sums<test::hold_ahead_by<2, 1, 2, 2, 2>, std::uint8_t, std::uint32_t>(100);
}
/// Results pass through the place of their row, whether bulk copies or warps fill it again.
TEST_CASE("pipeline, results through an iterator") {
  using test::interval;
  pipeline<test::look_ahead_by<3, 2, 2, 2, 1>, interval, interval, const interval *,
           test::writing_iterator<interval>>(60, 12);
  pipeline<test::load_ahead_by<3, 2, 2, 1, 2, 2>, interval, interval,
           test::reading_iterator<interval>, test::writing_iterator<interval>>(60, 12);
}

TEST_CASE("pipeline, 1-byte sums at any address") {
  sums<test::look_ahead_by<3, 2, 2, 4, 1>, std::uint8_t, std::uint8_t>(400);
}
TEST_CASE("pipeline, 1 byte to 4 at any address") {
  sums<test::look_ahead_by<4, 2, 2, 2, 2>, std::uint8_t, std::uint32_t>(400);
}
/// The tiles that are not aligned, and the partial one.
TEST_CASE("pipeline, one body of code for both") {
  sums<test::look_ahead_by<3, 2, 2, 4, 1, 1, 2, 1, true>, std::uint32_t, std::uint32_t>(200);
  pipeline<test::look_ahead_by<4, 2, 3, 4, 2, 2, 2, 1, true>, test::interval, wide>(60, 20);
}
TEST_CASE("pipeline, 4-byte sums at any address") {
  sums<test::look_ahead_by<3, 2, 1, 4, 2>, std::uint32_t, std::uint32_t>(400);
}
/// In runs of 8, 4 and 2 elements a lane.
using lookback::detail::uint128;
TEST_CASE("pipeline, 16-byte sums") {
  sums<test::look_ahead_by<3, 2, 2, 4, 2>, uint128, uint128>(100);
  sums<test::look_ahead_by<3, 2, 2, 8, 2, 2, 2, 2>, uint128, uint128>(60);
  sums<test::look_ahead_by<3, 2, 2, 16, 1>, uint128, uint128, true>(40);
}
TEST_CASE("pipeline, a function of 4 bytes at any address") {
  sums<test::look_ahead_by<3, 2, 2, 4, 1>, std::uint32_t, std::uint32_t, true>(400);
}
TEST_CASE("pipeline, a function of 1 byte that makes 8") {
  sums<test::look_ahead_by<3, 2, 2, 2, 1>, std::uint8_t, std::uint64_t, true>(400);
}
TEST_CASE("pipeline by key, 4-byte keys") {
  pipeline_by_key<test::look_ahead_by<3, 2, 2, 4, 2>, std::uint32_t>(300);
}
TEST_CASE("pipeline by key, sums of integers") {
  sums_by_key<test::look_ahead_by<3, 2, 2, 4, 2>, std::uint32_t>(200);
  sums_by_key<test::look_ahead_by<4, 2, 2, 4, 1, 1, 2, 2>, std::uint8_t>(60);
  sums_by_key<test::look_ahead_by<3, 2, 2, 16, 2>, std::uint64_t>(60);
  sums_by_key<test::load_ahead_by<3, 2, 4, 2, 4, 1>, std::uint32_t>(60);
}
/// Keys in a ring of two stages, or of one.
TEST_CASE("pipeline by key, sums of integers, keys in a ring of their own") {
  sums_by_key<test::look_ahead_by<5, 2, 4, 4, 2, 2, 2, 2, false, 2>, std::uint32_t>(100);
  sums_by_key<test::look_ahead_by<4, 2, 3, 4, 1, 1, 2, 1, false, 3>, std::uint8_t>(60);
  sums_by_key<test::look_ahead_by<3, 1, 2, 2, 1, 1, 1, 1, false, 1>, std::uint64_t>(60);
}
TEST_CASE("pipeline by key, 1-byte keys") {
  pipeline_by_key<test::look_ahead_by<4, 3, 2, 2, 1, 1, 2>, std::uint8_t>(300);
}

TEST_CASE("pipeline, one block resident at a time: the first that starts scans alone") {
  namespace core = lookback::detail;
  const auto elements = test::interval_elements<wide, test::interval>(7 * 1024 + 1);
  for (unsigned blocks = 2; blocks < 5; ++blocks) {
    std::vector<test::interval> output(elements.size()), expected;
    for (std::uint32_t i = 0; i < elements.size(); ++i) expected.push_back({1, i + 2});
    test::scan_ahead<test::look_ahead_by<3, 2, 2, 2, 1>>(
        core::make_problem<true, test::interval>(elements.data(), output.data(),
                                                 test::join_neighbours{}, core::no_initial{}),
        elements.size(), blocks, {emulator::mode::one_slot, blocks});
    CHECK_EQ(test::first_difference(output, expected), test::nowhere);
  }
}
