// SPDX-License-Identifier: MIT
// The pipeline under ThreadSanitizer, and once for each mutation of it.
#include <lookback/strategy/pipeline.cuh>

#include <simt/problems.hpp>

namespace {

/// 16-byte elements make 1024 a tile.
template <bool Inclusive, class Tuning = test::look_ahead_by<3, 2, 1, 2, 2, 1>, class Initial>
void pipeline(Initial initial, test::interval first) {
  using element = test::widened<test::interval, 16>;
  const auto elements = test::interval_elements<element, test::interval>(20 * 1024);
  test::for_each_trial(20, [&](test::trial &one) {
    const std::size_t n =
        test::pick_size(one, test::tree_sizes(16, 8), elements.size(), 1025); // more than one tile
    std::vector<test::interval> output(n), expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back({first.begin, first.end + i});
    test::scan_ahead<Tuning>(lookback::detail::make_problem<Inclusive, test::interval>(
                                 elements.data(), output.data(), test::join_neighbours{}, initial),
                             n, 1 + one.random() % 4, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}

/// 8-byte elements, aligned to 16 bytes, also in place, or misaligned. Copies also read bytes that
/// the block does not use: neighbours of misaligned tiles, and the first tiles of a block that then
/// takes no part. In place, another block may overwrite these with results meanwhile, which
/// ThreadSanitizer reports. So one block alone scans in place.
template <class Tuning>
void intervals_anywhere() {
  using test::interval;
  const auto elements = test::interval_elements<interval, interval>(6 * 2048);
  test::for_each_trial(20, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, test::tree_sizes(8, 8), elements.size(), 2049),
                      shift = one.random() % 2;
    test::bare_input<interval> input(std::vector<interval>(elements.begin(), elements.begin() + n),
                                     shift);
    const bool in_place = shift == 0 && one.random() % 2 == 0;
    const unsigned blocks = in_place ? 1 : 1 + one.random() % 2;
    std::vector<interval> output(n), expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back({1, i + 2});
    test::scan_ahead<Tuning>(lookback::detail::make_problem<true, interval>(
                                 static_cast<const interval *>(input.data()),
                                 in_place ? input.data() : output.data(), test::join_neighbours{},
                                 lookback::detail::no_initial{}),
                             n, blocks, one.schedule);
    if (in_place) output.assign(input.data(), input.data() + n);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}

/// Structs, also in place, from `least` to `most` tiles.
template <class Tuning, std::size_t Bytes>
void structs(std::size_t least, std::size_t most) {
  using T = test::marked_interval<Bytes>;
  const test::tree_sizes size(Bytes, Bytes);
  const auto elements = test::interval_elements<T, T>(most * size.tile);
  const auto expected = test::interval_results<T>(1, 2);
  test::for_each_trial(20, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, size, elements.size(), least * size.tile + 1);
    std::vector<T> output(elements.begin(), elements.begin() + n);
    const bool in_place = one.random() % 2 == 0;
    const T *const from = in_place ? output.data() : elements.data();
    test::scan_ahead<Tuning>(
        lookback::detail::make_problem<true, T>(from, output.data(), test::join_neighbours{},
                                                lookback::detail::no_initial{}),
        n, 1 + one.random() % 3, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected(n, Bytes)), test::nowhere);
  });
}

template <class Tuning>
void sums_by_key() {
  using T = std::uint32_t;
  test::for_each_trial(20, [](test::trial &one) {
    const test::tree_sizes size(4, 4);
    const std::size_t n = test::pick_size(one, size, 6 * size.tile, size.tile + 1);
    const test::keyed_numbers<T> all(one, n, one.random() % 2 == 0 ? 5 : 2 * size.tile);
    std::vector<T> output(n);
    test::scan_ahead<Tuning>(lookback::detail::make_inclusive_by_key<T>(
                                 all.keys.data(), all.values.data(), output.data(),
                                 lookback::equal_to{}, lookback::plus{}),
                             n, 1 + one.random() % 3, one.schedule);
    REQUIRE_EQ(test::first_difference(output, all.inclusive), test::nowhere);
  });
}

} // namespace

TEST_CASE("pipeline, 16-byte elements") { pipeline<true>(lookback::detail::no_initial{}, {1, 2}); }
TEST_CASE("pipeline, teams of scanning warps") {
  pipeline<true, test::look_ahead_by<4, 2, 2, 4, 1, 1, 1, 2>>(lookback::detail::no_initial{},
                                                              {1, 2});
}
/// Look-ahead warps hand an initial value on from the very first tile; without one, what they hand
/// on begins with a group.
TEST_CASE("pipeline, an initial value") {
  pipeline<false>(lookback::detail::initial_value<test::interval>{test::interval_initial}, {0, 1});
}
/// Tiles that begin anywhere within 16 bytes: the first and the last bytes are no bulk copy's, and
/// keys come with the one before.
TEST_CASE("pipeline by key, misaligned") {
  test::for_each_trial(20, [](test::trial &one) {
    const test::tree_sizes size(8, 8);
    const std::size_t n = test::pick_size(one, size, 5 * size.tile, size.tile + 1);
    const test::segments<std::uint32_t, test::interval> all(
        one, n, one.random() % 2 == 0 ? 5 : 2 * size.tile);
    const test::bare_input<std::uint32_t> keys(all.keys, test::any_shift<std::uint32_t>(one));
    const test::bare_input<test::interval> values(all.values, test::any_shift<test::interval>(one));
    std::vector<test::interval> output(n);
    test::scan_ahead<test::look_ahead_by<3, 2, 1, 4, 2>>(
        lookback::detail::make_inclusive_by_key<test::interval>(keys.data(), values.data(),
                                                                output.data(), test::same_octave{},
                                                                test::join_neighbours{}),
        n, 1 + one.random() % 3, one.schedule);
    REQUIRE_EQ(test::first_difference(output, all.inclusive), test::nowhere);
  });
}
TEST_CASE("pipeline by key, sums of integers") {
  sums_by_key<test::look_ahead_by<3, 2, 1, 4, 2>>();
  sums_by_key<test::look_ahead_by<4, 2, 2, 4, 1, 1, 2, 2, false, 2>>();
}
/// Warps load the items, and results for an iterator go out through the place of their row.
TEST_CASE("pipeline, through iterators") {
  using test::interval;
  const auto elements = test::interval_elements<interval, interval>(8 * 2048);
  test::for_each_trial(20, [&](test::trial &one) {
    const std::size_t n =
        test::pick_size(one, test::tree_sizes(8, 8), elements.size(), 2049); // more than one tile
    std::vector<interval> output(n), expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back({1, i + 2});
    test::scan_ahead<test::load_ahead_by<3, 2, 2, 1, 4, 2>>(
        lookback::detail::make_problem<true, interval>(
            test::reading_iterator<interval>(elements.data()),
            test::writing_iterator<interval>(output.data()), test::join_neighbours{},
            lookback::detail::no_initial{}),
        n, 1 + one.random() % 2, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}
/// Warps copy the bytes, to stages that begin anywhere within 16 bytes or not.
TEST_CASE("pipeline, bytes that warps copy") {
  intervals_anywhere<test::load_ahead_by<3, 2, 2, 1, 4, 1>>();
}
TEST_CASE("pipeline, tiles in registers") {
  intervals_anywhere<test::hold_ahead_by<2, 2, 3, 4, 2>>();
  intervals_anywhere<test::hold_ahead_by<2, 2, 3, 4, 2, 1, 3>>();
}
TEST_CASE("pipeline, one body of code for partial and for unaligned tiles") {
  intervals_anywhere<test::look_ahead_by<3, 2, 2, 4, 1, 1, 2, 1, true>>();
}
/// One warp scans a tile, loads it and reduces it, or several do. Of more than a group of tiles,
/// aggregates of groups are read: of up to 32 bytes together with those of tiles.
TEST_CASE("pipeline, structs") {
  structs<test::load_ahead_by<4, 2, 2, 1, 1, 1, 2, 0, 1>, 12>(1, 8);
  structs<test::load_ahead_by<3, 2, 8, 2, 2, 1, 2, 1, 1>, 64>(1, 8);
  structs<test::load_ahead_by<3, 1, 4, 2, 1, 1, 1, 1, 2>, 64>(32, 36);
  structs<test::load_ahead_by<3, 1, 2, 2, 1, 1, 1, 1, 1>, 24>(32, 36);
  structs<test::load_ahead_by<3, 2, 4, 1, 1, 1, 2, 1, 2>, 44>(1, 8);
}
TEST_CASE("the pipeline does not take arrays of structs that are not aligned to 16 bytes") {
  namespace core = lookback::detail;
  using T = test::marked_interval<12>;
  using rows = test::pipeline_rows<test::load_ahead_by<3, 2, 1, 1, 1, 1, 1, 0, 1>>;
  const std::vector<T> elements = test::interval_elements<T, T>(2000);
  std::vector<T> output(elements.size());
  test::for_each_trial(4, [&](test::trial &one) {
    const std::size_t from = one.index % 2, to = one.index / 2;
    const auto outcome = test::run_by<core::forced<core::pipeline, rows>>(
        core::make_problem<true, T>(elements.data() + from, output.data() + to,
                                    test::join_neighbours{}, core::no_initial{}),
        elements.size() - 1, one.schedule);
    REQUIRE(outcome == (from + to == 0 ? test::outcome::launched : test::outcome::not_supported));
  });
}
/// Lanes have runs of a tile, and write what others take to memory.
TEST_CASE("pipeline, 16-byte sums") {
  using T = lookback::detail::uint128;
  test::for_each_trial(10, [](test::trial &one) {
    const std::size_t n = test::pick_size(one, test::tree_sizes(16, 16), 6 * 1024, 1025);
    std::vector<T> input(n), output(n), expected(n);
    for (std::size_t i = 0; i < n; ++i) {
      input[i] = static_cast<T>(one.random()) << 32 | one.random();
      expected[i] = i == 0 ? input[0] : expected[i - 1] + input[i];
    }
    test::scan_ahead<test::look_ahead_by<3, 2, 1, 4, 2>>(
        lookback::detail::make_problem<true, T>(input.data(), output.data(), lookback::plus{},
                                                lookback::detail::no_initial{}),
        n, 1 + one.random() % 2, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}

/// A warp settles 32 blocks, while another warp may not have answered for its own block yet: longer
/// than the patience with others.
TEST_CASE("participants of two parts: there is one, and all agree") {
  namespace core = lookback::detail;
  namespace simt = lookback::simt;
  test::for_each_trial(4, [](test::trial &one) {
    constexpr unsigned blocks = 34;
    const std::uint64_t answer_time = one.index % 2 * 50000;
    // One warp settles both parts, or two warps one each.
    const int threads = one.index / 2 % 2 == 0 ? 96 : 128;
    std::vector<std::uint64_t> answers(blocks, one.random());
    std::vector<core::participant> places(blocks, {0, 0});
    const core::roll_call<> roll(answers.data(), std::uint64_t{0xf} << 60);
    emulator::kernel settling{blocks, threads, sizeof(core::participants), [&] {
                                auto &here = simt::shared_memory<core::participants>();
                                if (simt::thread_index() == 0) {
                                  const std::uint64_t begin = simt::time_now();
                                  while (simt::time_now() - begin < answer_time) simt::back_off();
                                  roll.answer(simt::block_index(), core::presence::present);
                                }
                                core::settle(roll, blocks, 10, here);
                                simt::synchronize_block();
                                if (simt::thread_index() == 0)
                                  places[simt::block_index()] =
                                      here.place_of(simt::block_index(), blocks);
                              }};
    settling.resident = 1;
    emulator::run(one.schedule, {settling});
    unsigned present = 0;
    for (const auto &place : places) {
      REQUIRE_EQ(place.all, places[0].all);
      if (place.mine != core::participant::nowhere) REQUIRE_EQ(place.mine, present++);
    }
    REQUIRE_GT(present, 0);
    REQUIRE_EQ(present, places[0].all);
  });
}
