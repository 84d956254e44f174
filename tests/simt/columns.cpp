// SPDX-License-Identifier: MIT
// Scans of columns, and of rows from the end, under many schedules.
#include <lookback/strategy/column_units.cuh>

#include <simt/columns.hpp>

namespace {
struct three {
  std::uint32_t a, b, c;
  bool operator==(const three &other) const { return a == other.a && b == other.b && c == other.c; }
};
struct add_three {
  three operator()(const three &x, const three &y) const {
    return {x.a + y.a, x.b + y.b, x.c + y.c};
  }
};

/// An array of derived objects is not an array of their base.
struct base {
  int value;
};
struct derived : base {
  int more;
};
template <class From>
constexpr bool are_pairs =
    lookback::detail::column_pairs<decltype(lookback::detail::make_problem<true, base>(
        std::declval<From>(), std::declval<base *>(), lookback::plus{},
        lookback::detail::no_initial{}))>::possible;
static_assert(are_pairs<base *> && are_pairs<const base *> && !are_pairs<const derived *>,
              "only arrays of accumulators are scanned as pairs");

void scan_floats(std::uint64_t count, test::choose_lines choose) {
  test::scan_lines<float, 32, 16>(
      count, choose, lookback::plus{}, 0.3f, -1.f,
      [](test::trial &one, std::size_t) { return static_cast<float>(one.random() % 4096) / 37; });
}
void scan_2_bytes(std::uint64_t count, test::choose_lines choose) {
  test::scan_lines<std::uint16_t, 32, 16>(
      count, choose, lookback::plus{}, 3, 7,
      [](test::trial &one, std::size_t) { return static_cast<std::uint16_t>(one.random()); });
}
} // namespace

TEST_CASE("columns: sums of floats") { scan_floats(80, test::some_axis<30000>); }
/// A row a lane.
TEST_CASE("columns: whole strips") { scan_floats(30, test::some_strips<100000>); }
TEST_CASE("columns: whole strips, partial units") { scan_floats(20, test::some_partial_units); }
TEST_CASE("columns: whole strips, several groups of tiles") {
  scan_floats(5, test::some_strips<4400000>);
}
/// A thread has two columns.
TEST_CASE("columns: sums of 2 bytes") { scan_2_bytes(60, test::some_axis<60000>); }
TEST_CASE("columns: whole strips of 2-byte elements") {
  scan_2_bytes(20, test::some_strips<600000>);
}
/// 16 columns of two groups.
TEST_CASE("columns: whole strips of 2-byte elements, several groups of tiles") {
  scan_2_bytes(2, [](test::trial &one, const test::tree_sizes &size, bool) {
    lookback::axis lines;
    lines.inner = 16;
    lines.length = static_cast<std::int64_t>(size.group + 2 * size.tile + one.random() % 3);
    lines.reverse = one.random() % 2 == 0;
    return lookback::detail::checked_axis(lines);
  });
}
TEST_CASE("columns: two, as pairs") {
  scan_floats(12, test::some_pairs<140000>);
  scan_2_bytes(8, test::some_pairs<50000>);
  test::scan_lines<std::uint8_t, 32, 16>(
      4, test::some_pairs<50000>, lookback::plus{}, 3, 7,
      [](test::trial &one, std::size_t) { return static_cast<std::uint8_t>(one.random()); });
  test::scan_interval_lines<test::interval, test::interval>(20, test::some_pairs<70000>);
}
TEST_CASE("columns: 8 bytes") {
  test::scan_interval_lines<test::interval, test::interval>(60, test::some_axis<20000>);
}
/// A row of 32 vectors in registers would not be a whole number of threads' shares.
TEST_CASE("columns: 12 bytes") {
  test::scan_lines<three, 32, 16>(60, test::some_axis<20000>, add_three{}, {1, 2, 3}, {7, 8, 9},
                                  [](test::trial &one, std::size_t i) {
                                    const auto x = static_cast<std::uint32_t>(one.random());
                                    return three{x, static_cast<std::uint32_t>(i), x / 3};
                                  });
}
TEST_CASE("columns: 24 bytes") {
  test::scan_interval_lines<test::long_interval, test::long_interval>(60, test::some_axis<10000>);
}
/// Tiles of 128 elements, so that the ring of status words is used more than once.
TEST_CASE("columns: small tiles") {
  test::scan_interval_lines<test::interval, test::widened<test::interval, 120>>(
      40, test::some_axis<30000>);
}
/// Tiles of 32 elements.
TEST_CASE("columns: small tiles, several groups of them") {
  test::scan_interval_lines<test::interval, test::widened<test::interval, 496>>(
      40, test::some_axis<400 * 32>);
}
/// A few warps a row.
TEST_CASE("rows: sums of floats") { scan_floats(40, test::some_rows); }
/// A few lanes a row, or a few rows a lane.
TEST_CASE("rows: short ones") {
  scan_floats(80, test::some_short_rows);
  scan_2_bytes(80, test::some_short_rows);
  test::scan_interval_lines<test::interval, test::interval>(40, test::some_short_rows);
}
/// The size is asked for without the arrays, and 2-byte columns in pairs need other units than
/// columns that begin between two pairs.
TEST_CASE("columns: the size of the storage, wherever the arrays begin") {
  using T = std::uint16_t;
  using strategy = test::core::column_strategy<test::rows_of<1>, 64, 32, 16>;
  std::vector<T> memory(2);
  test::for_each_trial(100, [&](test::trial &one) {
    lookback::axis lines{};
    lines.outer = 1 + one.random() % 4;
    lines.length = 300 + one.random() % 3000;
    lines.inner = 2 + 2 * (one.random() % 300);
    lines.input = lines.output = {lines.length * lines.inner, lines.inner};
    INFO("outer ", lines.outer, ", length ", lines.length, ", inner ", lines.inner);
    const auto bytes_at = [&](T *array) {
      const T *const from = array;
      std::size_t needed = 0;
      test::run_in_two_phases(one, {}, [&](void *storage, std::size_t &bytes, const auto &launch) {
        if (storage != nullptr) return test::outcome::launched;
        const auto asked =
            strategy::scan(storage, bytes,
                           test::core::make_problem<true, T>(from, array, lookback::plus{},
                                                             test::core::no_initial{}),
                           lines, launch);
        needed = bytes;
        return asked;
      });
      return needed;
    };
    REQUIRE_EQ(bytes_at(memory.data()), bytes_at(memory.data() + 1));
  });
}
