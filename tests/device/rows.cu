// SPDX-License-Identifier: MIT
// Rows on a GPU: long ones by the pipeline, short ones by a kernel of their own.
#include "axis_checks.cuh"

#include <support/serial_reference.hpp>
#include <support/types.hpp>

#include <algorithm>

namespace {

using lookback::axis;

/// Calls `body(rows, length)` for lengths of at most about a row of the tree, and numbers of rows
/// at the edges of what a lane, a warp and a block scan at once.
template <class Random, class Body>
void for_short_rows(const test::tree_sizes &size, Random &random, Body body) {
  for (const std::size_t length : {1, 2, 3, 4, 5, 8, 24, 31, 32, 33, 64, 127, 128, 129, 512}) {
    const std::size_t in_row = std::max<std::size_t>(1, size.row / std::max(length, size.vector));
    for (const std::size_t edge : {std::size_t{2}, 4 * in_row, 16 * in_row, 33 * in_row})
      body(static_cast<std::int64_t>(edge + random() % 3) - 1, static_cast<std::int64_t>(length));
  }
}

/// Exclusive scans of rows without gaps by the kernel for short ones, with an operator that does
/// not commute, in both directions.
template <class T>
void check_short_rows() {
  namespace detail = lookback::detail;
  TEST_RANDOM(random);
  const test::compose op{};
  const test::tree_sizes size(sizeof(T), sizeof(T));
  const T init = test::random_value<T>::make(random);
  for_short_rows(size, random, [&](std::int64_t outer, std::int64_t length) {
    const bool reverse = random() % 2 == 0, in_place = random() % 2 == 0;
    INFO("bytes ", sizeof(T), ", rows ", outer, ", length ", length, ", reverse ", reverse,
         ", in place ", in_place);
    const std::int64_t items = outer * length;
    auto in = test::random_values<T>(static_cast<std::size_t>(items), random);
    const test::guarded_buffer<T> from(in);
    test::guarded_buffer<T> to(in);
    const T *const input = in_place ? to.data() : from.data();
    const auto scan = [&](const auto &problem) {
      using rows = detail::short_rows<std::decay_t<decltype(problem)>>;
      if (!rows::fits(problem, length)) return false;
      const auto blocks = static_cast<unsigned>(rows::blocks(items, length));
      const auto kernel = detail::short_rows_kernel<std::decay_t<decltype(problem)>>;
      kernel<<<blocks, rows::threads>>>(problem, items, static_cast<int>(length));
      return true;
    };
    const auto problem =
        detail::make_problem<false, T>(input, to.data(), op, detail::initial_value<T>{init});
    const auto vector = static_cast<std::int64_t>(size.vector);
    const bool fits = reverse ? scan(detail::from_the_ends(problem, items, items)) : scan(problem);
    CHECK_EQ(fits, length <= static_cast<std::int64_t>(size.row) &&
                       (length % vector == 0 ||
                        (vector % length == 0 && (!reverse || items % vector == 0))));
    if (!fits) return;
    REQUIRE_CUDA(cudaGetLastError());
    if (reverse) std::reverse(in.begin(), in.end());
    std::vector<T> expected;
    for (auto row = in.begin(); row != in.end(); row += length)
      for (const T &x : test::serial_exclusive(std::vector<T>(row, row + length), op, init))
        expected.push_back(x);
    if (reverse) std::reverse(expected.begin(), expected.end());
    CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
    CHECK(to.guards_intact());
  });
}

} // namespace

TEST_CASE("rows: of any number of tiles, with and without gaps, in both directions") {
  TEST_RANDOM(random);
  const test::tree_sizes size(4, 4);
  for (const std::size_t edge : {4 * size.row, 8 * size.row, 16 * size.row, size.tile,
                                 2 * size.tile, size.group + size.tile, 1024 * size.tile}) {
    axis lines{1, static_cast<std::int64_t>(edge + random() % 3) - 1, 1};
    if (edge < 1024 * size.tile) lines.outer = 1 + static_cast<std::int64_t>(random() % 5);
    lines.reverse = random() % 2 == 0;
    lines.input = {lines.length + static_cast<std::int64_t>(random() % 5), 1};
    test::check_floats(lines);
    test::check_integers(lines);
  }
}

TEST_CASE("rows: short ones, with and without gaps, in both directions") {
  TEST_RANDOM(random);
  for_short_rows(test::tree_sizes(4, 4), random, [&](std::int64_t outer, std::int64_t length) {
    axis lines{outer, length, 1};
    lines.reverse = random() % 2 == 0;
    if (random() % 4 == 0) lines.input.outer = length + static_cast<std::int64_t>(random() % 3);
    test::check_floats(lines);
    test::check_integers(lines);
  });
}
TEST_CASE_TEMPLATE("rows: short ones, elements of every width", T, test::sized<1>, test::sized<2>,
                   test::sized<4>, test::sized<8>, test::sized<16>) {
  check_short_rows<T>();
}

/// Rows of several groups of tiles, and rows so short that no two tiles of a block share one.
TEST_CASE("rows by the pipeline: of full tiles without gaps, in both directions") {
  const test::tree_sizes size(4, 4);
  const auto tile = static_cast<std::int64_t>(size.tile);
  for (axis lines : {axis{2, 600 * tile, 1}, axis{11, 100 * tile, 1}, axis{40, 33 * tile, 1},
                     axis{345, 3 * tile, 1}, axis{513, 2 * tile, 1}})
    for (const bool reverse : {false, true}) {
      lines.reverse = reverse;
      test::check_floats(lines);
      test::check_integers(lines);
    }
}
