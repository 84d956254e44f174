// SPDX-License-Identifier: MIT
// Scans along an axis on a GPU: every line bit for bit as on the CPU, and everything between the
// lines as it was.
#include <lookback/axis_scan.cuh>
#include <lookback/device_axis_scan.cuh>
#include <lookback/execution_policy.cuh>

#include <support/capture.cuh>
#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/tree_reference.hpp>

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

/// All results, and what is around them, are the bytes that lookback::host writes.
template <class T, class Make, class Operator>
void check(const axis &lines, Make make_value, Operator op, T init) {
  TEST_RANDOM(random);
  INFO("outer ", lines.outer, ", length ", lines.length, ", inner ", lines.inner, ", input ",
       lines.input.outer, " and ", lines.input.length, ", output ", lines.output.outer, " and ",
       lines.output.length, ", reverse ", lines.reverse);
  std::vector<T> in;
  for (std::size_t i = span(lines, lines.input); i > 0; --i) in.push_back(make_value(random));
  const std::vector<T> filler(span(lines, lines.output), init);
  test::guarded_buffer<T> from(in, random() % 5), to(filler, random() % 5);
  const auto require = [&](const test::guarded_buffer<T> &output, const std::vector<T> &expected) {
    const auto results = output.download();
    CHECK_EQ(test::first_difference(results, expected), test::nowhere);
    CHECK(std::memcmp(results.data(), expected.data(), results.size() * sizeof(T)) == 0);
    CHECK(output.guards_intact());
  };
  auto expected = filler;
  lookback::inclusive_axis_scan(lookback::host, in.data(), lines, expected.data(), op);
  test::two_phases(
      [&](void *temporary, std::size_t &bytes) {
        return DeviceAxisScan::InclusiveScan(temporary, bytes, from.data(), to.data(), op, lines);
      },
      random() % 256);
  require(to, expected);

  axis in_place = lines;
  in_place.output = in_place.input;
  expected = in;
  lookback::exclusive_axis_scan(lookback::host, in.data(), in_place, expected.data(), init, op);
  lookback::exclusive_axis_scan(lookback::par, from.data(), in_place, from.data(), init, op);
  require(from, expected);
}

/// The same for lines at the edges of the tree of elements of `bytes` bytes, of any number, with
/// and without gaps, in both directions.
template <class T, class Make, class Operator>
void check_all(Make make_value, Operator op, T init) {
  TEST_RANDOM(random);
  const test::tree_sizes size(sizeof(T), sizeof(T));
  const auto few = [&](std::uint64_t below) { return static_cast<std::int64_t>(random() % below); };
  for (const std::int64_t inner : {2, 3, 31, 32, 33, 64, 1000})
    for (const std::size_t edge : {std::size_t{2}, size.vector, size.row, 5 * size.row, size.tile,
                                   2 * size.tile, size.group, 2 * size.group + size.tile}) {
      axis lines{1, static_cast<std::int64_t>(edge) + few(3) - 1, inner};
      if (lines.length * inner > 2000000) continue;
      lines.outer = 1 + few(static_cast<std::uint64_t>(std::min<std::int64_t>(
                            600000 / (lines.length * inner) + 2, edge > size.row ? 3 : 400)));
      lines.reverse = random() % 2 == 0;
      if (random() % 2 == 0) lines.input.length = inner + few(6);
      if (random() % 2 == 0) lines.output.length = inner + few(6);
      check<T>(lines, make_value, op, init);
    }
}

} // namespace

TEST_CASE("columns: sums of floats") {
  check_all<float>([](auto &random) { return static_cast<float>(random() % 4096) / 37; },
                   lookback::plus{}, 0.3f);
}

TEST_CASE("columns: sums of integers of 4 bytes and of 1 byte") {
  check_all<std::int32_t>([](auto &random) { return static_cast<std::int32_t>(random() % 1000); },
                          lookback::plus{}, 7);
  check_all<std::uint8_t>([](auto &random) { return static_cast<std::uint8_t>(random() % 256); },
                          lookback::plus{}, std::uint8_t{7});
}

TEST_CASE("columns: operators that do not commute; 24 bytes") {
  check_all<std::uint32_t>([](auto &random) { return test::random_packed<std::uint32_t>(random); },
                           test::compose_words{}, 0x30005u);
  check_all<test::sized<24>>(
      [](auto &random) { return test::random_value<test::sized<24>>::make(random); },
      test::compose{}, test::sized<24>{{1, 3, 5, 7, 9, 11}});
}

TEST_CASE("columns: one long column and its neighbour, and the dimensions exchanged") {
  const auto make_value = [](auto &random) { return static_cast<float>(random() % 4096) / 37; };
  check<float>(axis{1, 3000001, 2}, make_value, lookback::plus{}, 0.3f);
  axis lines{100, 9000, 1}; // columns of a matrix, as lines with adjacent outer indices
  lines.input = lines.output = {1, 101};
  lines.reverse = true;
  check<float>(lines, make_value, lookback::plus{}, 0.3f);
  lines.output = {9003, 1}; // a scan that also transposes
  check<float>(lines, make_value, lookback::plus{}, 0.3f);
}

TEST_CASE("columns: sums in a wider type, all calls") {
  TEST_RANDOM(random);
  const axis lines{3, 5000, 7};
  const auto in = test::random_below<std::int8_t>(3 * 5000 * 7, 100, random);
  const test::guarded_buffer<std::int8_t> from(in, 1);
  std::vector<std::int64_t> sums(in.size());
  lookback::inclusive_axis_scan(lookback::host, in.data(), lines, sums.data(), std::int64_t{5},
                                lookback::plus{});
  const auto check = [&](auto call, std::int64_t from_5, bool inclusive) {
    test::guarded_buffer<std::int64_t> to(sums.size(), 1);
    test::two_phases(
        [&](void *temporary, std::size_t &bytes) { return call(temporary, bytes, to.data()); });
    auto expected = sums;
    for (std::size_t i = 0; i < sums.size(); ++i) expected[i] += from_5 - (inclusive ? 0 : in[i]);
    CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
    CHECK(to.guards_intact());
  };
  const auto *const x = from.data();
  const lookback::plus add;
  check(
      [&](void *temporary, std::size_t &bytes, std::int64_t *y) {
        return DeviceAxisScan::InclusiveScanInit(temporary, bytes, x, y, add, std::int64_t{9},
                                                 lines);
      },
      4, true);
  check(
      [&](void *temporary, std::size_t &bytes, std::int64_t *y) {
        return DeviceAxisScan::ExclusiveScan(temporary, bytes, x, y, add, std::int64_t{9}, lines);
      },
      4, false);
}

TEST_CASE("columns: captured, and run twice") {
  const axis lines{1, 3, 2};
  const test::guarded_buffer<int> from(std::vector<int>{1, 2, 3, 4, 5, 6});
  test::guarded_buffer<int> to(6);
  const auto scan = [&](void *temporary, std::size_t &bytes, cudaStream_t stream) {
    return DeviceAxisScan::ExclusiveSum(temporary, bytes, from.data(), to.data(), lines, stream);
  };
  const test::stream stream;
  std::size_t bytes = 0;
  REQUIRE_CUDA(scan(nullptr, bytes, stream));
  const test::guarded_buffer<unsigned char> temporary(bytes);
  test::captured graph(stream, [&] { REQUIRE_CUDA(scan(temporary.data(), bytes, stream)); });
  for (int run = 0; run < 2; ++run) {
    to.poison();
    graph.launch(stream);
    CHECK_EQ(test::first_difference(to.download(), std::vector<int>{0, 0, 1, 2, 4, 6}),
             test::nowhere);
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
