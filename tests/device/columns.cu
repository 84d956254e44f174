// SPDX-License-Identifier: MIT
// Columns on a GPU: each bit for bit as on the CPU, and everything between the lines as it was.
#include "axis_checks.cuh"

#include <support/capture.cuh>
#include <support/types.hpp>

#include <algorithm>
#include <stdexcept>

namespace {

using lookback::axis;
using lookback::DeviceAxisScan;

/// Lines at the edges of the tree, of any number, with and without gaps, in both directions.
template <class Check>
void check_all(Check check_lines) {
  TEST_RANDOM(random);
  const test::tree_sizes size(4, 4);
  const auto few = [&](std::uint64_t below) { return static_cast<std::int64_t>(random() % below); };
  for (const std::int64_t inner : {2, 3, 31, 32, 33, 64, 1000})
    for (const std::size_t edge :
         {std::size_t{2}, size.vector, 8 * size.vector, size.row, 5 * size.row, size.tile,
          2 * size.tile, size.group, 2 * size.group + size.tile}) {
      axis lines{1, static_cast<std::int64_t>(edge) + few(3) - 1, inner};
      if (lines.length * inner > 2000000) continue;
      lines.outer = 1 + few(static_cast<std::uint64_t>(std::min<std::int64_t>(
                            600000 / (lines.length * inner) + 2, edge > size.row ? 3 : 400)));
      lines.reverse = random() % 2 == 0;
      if (random() % 2 == 0) lines.input.length = inner + few(6);
      if (random() % 2 == 0) lines.output.length = inner + few(6);
      check_lines(lines);
    }
}

} // namespace

TEST_CASE("columns: sums of floats") { check_all(test::check_floats); }
TEST_CASE("columns: sums of integers") { check_all(test::check_integers); }

TEST_CASE("columns: elements of 12 bytes, and an operator that does not commute") {
  using T = test::sized<12>;
  for (axis lines : {axis{3, 5000, 33}, axis{1, 20000, 2}, axis{40, 100, 5}, axis{1, 3, 1000}}) {
    TEST_RANDOM(random);
    lines.reverse = random() % 2 == 0;
    const auto scan = [&](auto policy) {
      return [&lines, policy](const T *x, T *y) {
        lookback::inclusive_axis_scan(policy, x, lines, y, test::compose{});
      };
    };
    test::check_axis<T>(lines, test::random_values<T>(test::span(lines, lines.input), random),
                        false, scan(lookback::host), scan(lookback::par));
  }
}

TEST_CASE("columns: one long column and its neighbour, and the dimensions exchanged") {
  test::check_floats(axis{1, 3000001, 2});
  axis lines{100, 9000, 1}; // columns of a matrix, as lines with adjacent outer indices
  lines.input = lines.output = {1, 101};
  lines.reverse = true;
  test::check_floats(lines);
  lines.output = {9003, 1}; // a scan that also transposes
  test::check_floats(lines);
}

TEST_CASE("columns, and rows by the pipeline: captured, and run twice") {
  for (const axis lines : {axis{1, 300, 2}, axis{1, 5'000'000, 1}, axis{2, 600 * 4096, 1}}) {
    const std::size_t n = lines.outer * lines.length * lines.inner;
    const test::guarded_buffer<int> from(std::vector<int>(n, 2));
    const int *const input = from.data();
    test::guarded_buffer<int> to(n);
    const auto scan = [&](void *temporary, std::size_t &bytes, cudaStream_t stream) {
      return DeviceAxisScan::ExclusiveScan(temporary, bytes, input, to.data(), lookback::plus{}, 7,
                                           lines, stream);
    };
    std::vector<int> expected;
    for (std::size_t i = 0; i < n; ++i)
      expected.push_back(7 + static_cast<int>(i / lines.inner % lines.length) * 2);
    test::replayed_call graph(scan);
    REQUIRE_CUDA(graph.status());
    for (int run = 0; run < 2; ++run) {
      to.poison();
      graph.run();
      CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
    }
  }
}

TEST_CASE("columns: bad input") {
  const float *in = nullptr;
  float *out = nullptr;
  std::size_t bytes = 0;
  const auto sum = [&](void *storage, const axis &lines) {
    return DeviceAxisScan::InclusiveSum(storage, bytes, in, out, lines);
  };
  axis lines{2, 5000, 7};
  lines.input.length = -7;
  CHECK_EQ(sum(nullptr, lines), cudaErrorInvalidValue);
  CHECK_THROWS_AS(lookback::inclusive_axis_scan(lookback::par, in, lines, out),
                  std::invalid_argument);
  lines.input.length = 0;
  lines.output.length = 6; // less than inner
  CHECK_EQ(sum(nullptr, lines), cudaErrorInvalidValue);
  CHECK_EQ(sum(nullptr, {std::int64_t{1} << 40, std::int64_t{1} << 40, 2}), cudaErrorInvalidValue);
  lines.output.length = 0;
  CHECK_EQ(sum(nullptr, lines), cudaSuccess);
  char storage[8];
  CHECK_GT(bytes, sizeof(storage));
  bytes = sizeof(storage);
  CHECK_EQ(sum(storage, lines), cudaErrorInvalidValue);
  CHECK_EQ(sum(storage, {2, 0, 7}), cudaSuccess);
}
