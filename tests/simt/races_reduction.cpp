// SPDX-License-Identifier: MIT
// Aggregates of tiles and groups without a scan: under ThreadSanitizer, and once for each mutation.
#include <lookback/strategy/group_aggregates.cuh>

#include <simt/problems.hpp>

namespace {

using namespace lookback;

/// The aggregates of the whole tiles of intervals, from any tile of the tree on. Every interval
/// says which elements it consists of; the operator accuses a wrong operand.
template <int Warps, class T, class In, class Input>
void check_aggregates(test::trial &one, Input input, std::size_t n) {
  using rows = test::rows_of<Warps>;
  using strategy = detail::group_aggregates<rows>;
  static T nowhere[1] = {test::make_interval<T>({77, 78})}; // only its type matters
  const auto problem =
      detail::make_problem<true, T>(input, nowhere, test::join_neighbours{}, detail::no_initial{})
          .over({n});
  static_assert(strategy::template supports<decltype(problem)>);
  const std::uint64_t first_tile = one.random() % 70;
  const detail::tree_parts parts = strategy::parts(problem, first_tile);
  const T filler = test::make_interval<T>({55, 56});
  std::vector<T> aggregates(parts.count() + 1, filler);
  std::vector<unsigned char> storage(strategy::storage(problem) + 256, 0x9d);
  detail::temporary_memory memory(storage.data());
  test::device on;
  on.multiprocessors = 1;
  std::vector<emulator::kernel> stream;
  test::emulated_launcher launch(on, one.schedule, stream);
  strategy::run(problem, first_tile, aggregates.data(), memory, launch);
  REQUIRE_EQ(launch.status(), test::outcome::launched);
  REQUIRE_LE(memory.bytes(), strategy::storage(problem));
  if (!stream.empty()) emulator::run(one.schedule, stream);
  constexpr std::uint64_t tile = decltype(problem)::shape::tile_elements;
  std::uint64_t expected_first = first_tile;
  for (std::uint64_t i = 0; i < parts.count(); ++i) {
    const auto begin = static_cast<std::uint32_t>((parts[i].first - first_tile) * tile);
    const auto end = static_cast<std::uint32_t>(begin + parts[i].tiles * tile);
    REQUIRE_EQ(parts[i].first, expected_first);
    REQUIRE((parts[i].tiles == 1 || parts[i].first % 32 == 0));
    expected_first += parts[i].tiles;
    REQUIRE(aggregates[i] == test::make_interval<T>({begin + 1, end + 1}));
  }
  REQUIRE_EQ(expected_first, first_tile + n / tile);
  REQUIRE(aggregates.back() == filler);
}

template <int Warps, class T, class In>
void aggregates_of_intervals(std::uint64_t count, std::size_t tiles) {
  const std::size_t tile = test::tree_sizes(sizeof(In), sizeof(T)).tile;
  const auto elements = test::interval_elements<In, T>(tiles * tile);
  test::for_each_trial(count, [&](test::trial &one) {
    const std::size_t n = one.random() % (tiles * tile + 1), shift = test::any_shift<In>(one);
    test::guarded_buffer<In> input(tiles * tile, shift, elements.front());
    std::copy(elements.begin(), elements.end(), input.data());
    if (one.random() % 4 == 0)
      check_aggregates<Warps, T, In>(one, test::reading_iterator<In>(input.data()), n);
    else
      check_aggregates<Warps, T, In>(one, static_cast<const In *>(input.data()), n);
  });
}

} // namespace

/// Small tiles, so that there are groups.
TEST_CASE("aggregates of groups of 512-byte elements") {
  aggregates_of_intervals<1, test::interval, test::widened<test::interval, 512>>(40, 100);
}
/// A block has a stage or two, which it fills again.
TEST_CASE("aggregates of tiles of 8-byte elements") {
  aggregates_of_intervals<2, test::interval, test::interval>(30, 40);
}
TEST_CASE("aggregates of tiles of owned objects") {
  aggregates_of_intervals<2, test::owned_interval, test::widened<test::owned_interval, 64>>(20, 34);
}
/// The bits of the tree, of numbers whose addition is not associative, at any alignment.
TEST_CASE("aggregates of tiles of floats") {
  const test::tree_sizes size(4, 4);
  test::for_each_trial(10, [&](test::trial &one) {
    const std::size_t n = 3 * size.tile + one.random() % size.tile, shift = one.random() % 4;
    std::vector<float> values;
    for (std::size_t i = 0; i < n; ++i)
      values.push_back(static_cast<float>(static_cast<double>(one.random() % 2001) / 7 - 100));
    const test::bare_input<float> input(values, shift);
    float nowhere;
    const auto problem =
        detail::make_problem<true, float>(input.data(), &nowhere, plus{}, detail::no_initial{})
            .over({n});
    using strategy = detail::group_aggregates<test::rows_of<4>>;
    std::vector<float> aggregates(3);
    std::vector<unsigned char> storage(strategy::storage(problem) + 256);
    detail::temporary_memory memory(storage.data());
    std::vector<emulator::kernel> stream;
    test::emulated_launcher launch({}, one.schedule, stream);
    strategy::run(problem, 0, aggregates.data(), memory, launch);
    emulator::run(one.schedule, stream);
    for (std::size_t t = 0; t < 3; ++t) {
      const std::vector<float> tile(values.begin() + t * size.tile,
                                    values.begin() + (t + 1) * size.tile);
      const auto add = [](float a, float b) { return a + b; };
      std::vector<std::optional<float>> vectors;
      for (std::size_t i = 0; i < tile.size(); i += size.vector) {
        float sum = tile[i];
        for (std::size_t k = 1; k < size.vector; ++k) sum += tile[i + k];
        vectors.push_back(sum);
      }
      const auto in_row = test::scan_level(vectors, 32, add);
      const auto in_tile = test::scan_level(in_row.totals, size.tile / size.row, add);
      REQUIRE_EQ(aggregates[t], *in_tile.totals[0]);
    }
  });
}
