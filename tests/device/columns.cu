// SPDX-License-Identifier: MIT
// Scans along an axis on a GPU: every line bit for bit as on the CPU, and everything between the
// lines as it was.
#include <lookback/axis_scan.cuh>
#include <lookback/device_axis_scan.cuh>
#include <lookback/execution_policy.cuh>

#include <support/capture.cuh>
#include <support/device_call.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/tree_reference.hpp>
#include <support/types.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <stdexcept>

namespace {

using lookback::axis;
using lookback::DeviceAxisScan;

std::size_t span(const axis &lines, const axis::pitch &pitch) {
  const auto or_else = [](std::int64_t given, std::int64_t otherwise) {
    return given != 0 ? given : otherwise;
  };
  const std::int64_t line = or_else(pitch.length, lines.inner),
                     outer = or_else(pitch.outer, lines.length * line);
  return static_cast<std::size_t>((lines.outer - 1) * outer + (lines.length - 1) * line +
                                  lines.inner);
}

/// What `on_device(input, output)` writes, and what is around it, must be the bytes that `on_host`
/// writes.
template <class T, class OnHost, class OnDevice>
void check(const axis &lines, const std::vector<T> &in, bool in_place, OnHost on_host,
           OnDevice on_device) {
  // One for each axis: the same for all would give all of them the same shifts.
  std::mt19937_64 random(test::run_seed() + 1000003 * static_cast<std::uint64_t>(lines.outer) +
                         static_cast<std::uint64_t>(lines.length));
  INFO("replay with LOOKBACK_TEST_SEED=", test::run_seed());
  INFO("outer ", lines.outer, ", length ", lines.length, ", inner ", lines.inner, ", input ",
       lines.input.outer, " and ", lines.input.length, ", output ", lines.output.outer, " and ",
       lines.output.length, ", reverse ", lines.reverse);
  auto expected = in_place ? in : std::vector<T>(span(lines, lines.output), T{77});
  const auto some_shift = [&] { return random() % 2 == 0 ? 0 : random() % 5; };
  const test::guarded_buffer<T> from(in, some_shift());
  test::guarded_buffer<T> to(expected, some_shift());
  on_host(in.data(), expected.data());
  on_device(in_place ? to.data() : from.data(), to.data());
  REQUIRE_CUDA(cudaDeviceSynchronize());
  const auto results = to.download();
  CHECK_EQ(test::first_difference(results, expected), test::nowhere);
  CHECK(std::memcmp(results.data(), expected.data(), results.size() * sizeof(T)) == 0);
  CHECK(to.guards_intact());
}

/// Inclusive sums of floats in two phases.
void check_floats(const axis &lines) {
  TEST_RANDOM(random);
  std::vector<float> in(span(lines, lines.input));
  for (auto &x : in) x = static_cast<float>(random() % 4096) / 37;
  check<float>(
      lines, in, false,
      [&](const float *x, float *y) { lookback::inclusive_axis_scan(lookback::host, x, lines, y); },
      [&](const float *x, float *y) {
        test::two_phases(
            [&](void *temporary, std::size_t &bytes) {
              return DeviceAxisScan::InclusiveSum(temporary, bytes, x, y, lines);
            },
            random() % 256);
      });
}
/// Exclusive sums of integers by a policy, in place.
void check_integers(axis lines) {
  lines.output = lines.input;
  TEST_RANDOM(random);
  const auto scan = [&](auto policy) {
    return [&lines, policy](const int *x, int *y) {
      lookback::exclusive_axis_scan(policy, x, lines, y, 7);
    };
  };
  check<int>(lines, test::random_below<int>(span(lines, lines.input), 1000, random), true,
             scan(lookback::host), scan(lookback::par));
}

/// Scans of whole strips of columns, a lane a row, however few units there are. A partial row needs
/// 16 full ones. Elements of 2 bytes are scanned in pairs, if these are aligned. column_units scans
/// all others.
template <class T, class Make, class Operator>
void check_strips(axis lines, bool in_place, Make make_value, Operator op) {
  namespace detail = lookback::detail;
  using strategy = detail::column_strategy<detail::measured_tuning, 256, 1024, 128, 0>;
  if (in_place) lines.output = lines.input;
  TEST_RANDOM(random);
  std::vector<T> in;
  while (in.size() < span(lines, lines.input)) in.push_back(make_value(random));
  check<T>(
      lines, in, in_place,
      [&](const T *x, T *y) { lookback::inclusive_axis_scan(lookback::host, x, lines, y, op); },
      [&](const T *x, T *y) {
        test::two_phases(
            [&](void *temporary, std::size_t &bytes) {
              const auto problem = detail::device_problem::inclusive_scan(x, y, op);
              return strategy::scan(temporary, bytes, problem, detail::checked_axis(lines),
                                    detail::launcher(nullptr));
            },
            random() % 256);
      });
}

template <class T, class Make, class Operator>
void check_all_strips(Make make_value, Operator op) {
  TEST_RANDOM(random);
  const test::tree_sizes size(sizeof(T), sizeof(T));
  for (const std::int64_t inner : {8, 16, 32, 64, 96})
    for (const std::size_t edge : {2 * size.row, 5 * size.row, size.tile / 2, size.tile,
                                   2 * size.tile + size.row, size.group + size.tile}) {
      axis lines{1, static_cast<std::int64_t>(edge), inner};
      if (lines.length * inner > 6000000) continue;
      if (edge >= size.tile / 2) lines.length += static_cast<std::int64_t>(random() % 3);
      if (edge <= size.tile) lines.outer += static_cast<std::int64_t>(random() % 3);
      lines.reverse = random() % 2 == 0;
      if (random() % 2 == 0) lines.input.length = inner + static_cast<std::int64_t>(random() % 9);
      check_strips<T>(lines, random() % 2 == 0, make_value, op);
    }
  check_strips<T>(axis{1, 65536, 512}, false, make_value, op); // every block has several units
}

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

TEST_CASE("columns: sums of floats") { check_all(check_floats); }
TEST_CASE("columns: sums of integers") { check_all(check_integers); }

TEST_CASE("columns: whole strips, a lane a row") {
  check_all_strips<float>([](auto &random) { return static_cast<float>(random() % 4096) / 37; },
                          lookback::plus{});
}
TEST_CASE("columns: whole strips of 2-byte elements, a lane a row") {
  using T = test::sized<2>;
  check_all_strips<T>([](auto &random) { return test::random_value<T>::make(random); },
                      test::compose{});
}

/// Two sums in one instruction have the bits of single ones.
TEST_CASE("columns: whole strips of half-precision numbers, a lane a row") {
  check_all_strips<__nv_bfloat16>(
      [](auto &random) { return __float2bfloat16(static_cast<float>(random() % 4096) / 37); },
      lookback::plus{});
  check_all_strips<__half>(
      [](auto &random) { return __float2half(static_cast<float>(random() % 4096) / 4096); },
      lookback::plus{});
}

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
    check<T>(lines, test::random_values<T>(span(lines, lines.input), random), false,
             scan(lookback::host), scan(lookback::par));
  }
}

TEST_CASE("columns: one long column and its neighbour, and the dimensions exchanged") {
  check_floats(axis{1, 3000001, 2});
  axis lines{100, 9000, 1}; // columns of a matrix, as lines with adjacent outer indices
  lines.input = lines.output = {1, 101};
  lines.reverse = true;
  check_floats(lines);
  lines.output = {9003, 1}; // a scan that also transposes
  check_floats(lines);
}

TEST_CASE("rows: of any number of tiles, with and without gaps, in both directions") {
  TEST_RANDOM(random);
  const test::tree_sizes size(4, 4);
  for (const std::size_t edge : {4 * size.row, 8 * size.row, 16 * size.row, size.tile,
                                 2 * size.tile, size.group + size.tile, 1024 * size.tile}) {
    axis lines{1, static_cast<std::int64_t>(edge + random() % 3) - 1, 1};
    if (edge < 1024 * size.tile) lines.outer = 1 + static_cast<std::int64_t>(random() % 5);
    lines.reverse = random() % 2 == 0;
    lines.input = {lines.length + static_cast<std::int64_t>(random() % 5), 1};
    check_floats(lines);
    check_integers(lines);
  }
}

TEST_CASE("rows: short ones, with and without gaps, in both directions") {
  TEST_RANDOM(random);
  for_short_rows(test::tree_sizes(4, 4), random, [&](std::int64_t outer, std::int64_t length) {
    axis lines{outer, length, 1};
    lines.reverse = random() % 2 == 0;
    if (random() % 4 == 0) lines.input.outer = length + static_cast<std::int64_t>(random() % 3);
    check_floats(lines);
    check_integers(lines);
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
      check_floats(lines);
      check_integers(lines);
    }
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
