// SPDX-License-Identifier: MIT
// Scans of segments by offsets, and of rows: every segment bit for bit as on the CPU, and
// everything between the segments as it was.
#include <lookback/axis_scan.cuh>
#include <lookback/device_segmented_scan.cuh>
#include <lookback/execution_policy.cuh>
#include <lookback/segmented_scan.cuh>

#include "segment_lengths.hpp"

#include <support/capture.cuh>
#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/tree_reference.hpp>

#include <algorithm>

namespace {

using lookback::DeviceSegmentedScan;

/// Segments in memory, of the offset types Begin and End.
template <class Begin, class End>
struct placed_segments {
  std::vector<Begin> begins;
  std::vector<End> ends;
  std::int64_t room = 0; // elements
};
/// In any order or as they are, with gaps of up to `gap` elements before and between them.
template <class Begin, class End, class Random>
placed_segments<Begin, End> placed(const std::vector<std::int64_t> &lengths, Random &random,
                                   bool shuffled, std::uint64_t gap) {
  placed_segments<Begin, End> at{std::vector<Begin>(lengths.size()),
                                 std::vector<End>(lengths.size())};
  std::vector<std::size_t> order(lengths.size());
  for (std::size_t s = 0; s < order.size(); ++s) order[s] = s;
  if (shuffled) std::shuffle(order.begin(), order.end(), random);
  for (const std::size_t s : order) {
    at.room += static_cast<std::int64_t>(random() % (gap + 1));
    at.begins[s] = static_cast<Begin>(at.room);
    at.room += lengths[s];
    at.ends[s] = static_cast<End>(at.room);
    if (lengths[s] == 0 && random() % 2 == 0) at.ends[s] /= 2; // ends before it begins
  }
  return at;
}

/// All results, and what is around them, are the bytes that lookback::host writes.
template <class T, class Begin = std::int32_t, class End = std::int32_t, class Make, class Operator>
void check(const char *name, const std::vector<std::int64_t> &lengths, Make make_value, Operator op,
           T init, bool adjacent = false) {
  TEST_RANDOM(random);
  const bool shuffled = !adjacent && random() % 2 == 0;
  const auto at = placed<Begin, End>(lengths, random, shuffled, adjacent ? 0 : random() % 3);
  INFO(doctest::String(name), ", segments ", lengths.size(), ", elements ", at.room);
  std::vector<T> in;
  for (std::int64_t i = 0; i < at.room; ++i) in.push_back(make_value(random));
  const auto count = static_cast<std::int64_t>(lengths.size());
  const test::guarded_buffer<Begin> begins(at.begins);
  const test::guarded_buffer<End> ends(at.ends);
  test::guarded_buffer<T> from(in, random() % 5), to(in, random() % 5);
  const auto require = [&](const test::guarded_buffer<T> &output, const std::vector<T> &expected) {
    const auto results = output.download();
    CHECK_EQ(test::first_difference(results, expected), test::nowhere);
    CHECK(std::memcmp(results.data(), expected.data(), results.size() * sizeof(T)) == 0);
    CHECK(output.guards_intact());
  };
  auto expected = in;
  lookback::inclusive_segmented_scan(lookback::host, in.data(), at.begins.data(), at.ends.data(),
                                     count, expected.data(), op);
  test::two_phases(
      [&](void *temporary, std::size_t &bytes) {
        return DeviceSegmentedScan::InclusiveSegmentedScan(temporary, bytes, from.data(), to.data(),
                                                           begins.data(), ends.data(), count, op);
      },
      random() % 256);
  require(to, expected);
  expected = in;
  lookback::exclusive_segmented_scan(lookback::host, in.data(), at.begins.data(), at.ends.data(),
                                     count, expected.data(), init, op);
  lookback::exclusive_segmented_scan(lookback::par, from.data(), begins.data(), ends.data(), count,
                                     from.data(), init, op); // in place
  require(from, expected);
}

template <class T, class Begin = std::int32_t, class End = std::int32_t, class Make, class Operator>
void check_all(const char *name, Make make_value, Operator op, T init) {
  TEST_RANDOM(random);
  check<T, Begin, End>(name, test::edge_lengths(sizeof(T), random), make_value, op, init);
  check<T, Begin, End>(name, test::mostly_long(sizeof(T), random), make_value, op, init);
  check<T, Begin, End>(name, test::giant_among_tiny(100000, random), make_value, op, init);
  check<T, Begin, End>(name, test::power_law(20000, random), make_value, op, init);
  check<T, Begin, End>(name, {}, make_value, op, init);
  check<T, Begin, End>(name, std::vector<std::int64_t>(3000, 0), make_value, op, init);
}

} // namespace

TEST_CASE("segments: sums of floats; offsets of 32 bits") {
  check_all<float>(
      "float", [](auto &random) { return static_cast<float>(random() % 4096) / 37; },
      lookback::plus{}, 0.3f);
}

TEST_CASE("segments: long ones of doubles") {
  TEST_RANDOM(random);
  check<double>(
      "double", test::mostly_long(sizeof(double), random),
      [](auto &values) { return static_cast<double>(values() % 4096) / 37; }, lookback::plus{},
      0.3);
}

TEST_CASE("segments: long ones among more than a million short ones") {
  TEST_RANDOM(random);
  const bool adjacent = true;
  check<float>(
      "float", test::long_among_a_million(sizeof(float), random),
      [](auto &values) { return static_cast<float>(values() % 4096) / 37; }, lookback::plus{}, 0.3f,
      adjacent);
  check<double>(
      "double", test::long_among_a_million(sizeof(double), random),
      [](auto &values) { return static_cast<double>(values() % 4096) / 37; }, lookback::plus{}, 0.3,
      adjacent);
}

TEST_CASE("segments: sums of integers; offsets of 64 bits and of 32 without a sign") {
  check_all<std::int32_t, std::int64_t, std::uint32_t>(
      "int", [](auto &random) { return static_cast<std::int32_t>(random() % 1000); },
      lookback::plus{}, 7);
}

TEST_CASE("segments: operators that do not commute; 24 bytes") {
  check_all<std::uint32_t>(
      "packed", [](auto &random) { return test::random_packed<std::uint32_t>(random); },
      test::compose_words{}, 0x30005u);
  check_all<test::sized<24>>(
      "24 bytes", [](auto &random) { return test::random_value<test::sized<24>>::make(random); },
      test::compose{}, test::sized<24>{{1, 3, 5, 7, 9, 11}});
}

TEST_CASE("segments: results elsewhere, and sums of integers in a wider type") {
  TEST_RANDOM(random);
  const auto lengths = test::giant_among_tiny(50000, random);
  const auto at = placed<std::int64_t, std::int64_t>(lengths, random, true, 2);
  const auto results_at = placed<std::int32_t, std::int32_t>(lengths, random, true, 1);
  const auto in = test::random_below<std::int8_t>(static_cast<std::size_t>(at.room), 100, random);
  const test::guarded_buffer<std::int8_t> from(in, 1);
  const test::guarded_buffer<std::int64_t> begins(at.begins), ends(at.ends);
  const test::guarded_buffer<std::int32_t> result_begins(results_at.begins);
  std::vector<std::int64_t> expected(static_cast<std::size_t>(results_at.room), 77);
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    std::int64_t sum = 5;
    for (std::int64_t i = 0; i < lengths[s]; ++i)
      expected[static_cast<std::size_t>(results_at.begins[s] + i)] = sum +=
          in[static_cast<std::size_t>(at.begins[s] + i)];
  }
  test::guarded_buffer<std::int64_t> to(std::vector<std::int64_t>(expected.size(), 77), 1);
  test::two_phases([&](void *temporary, std::size_t &bytes) {
    return DeviceSegmentedScan::InclusiveSegmentedScanInit(
        temporary, bytes, from.data(), to.data(), begins.data(), ends.data(), result_begins.data(),
        static_cast<std::int64_t>(lengths.size()), lookback::plus{}, std::int64_t{5});
  });
  CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
  CHECK(to.guards_intact());
}

TEST_CASE("rows: any length, with pitches, in both directions") {
  TEST_RANDOM(random);
  for (const std::int64_t length : {1, 3, 4, 129, 1000, 4096, 5000, 200000}) {
    lookback::axis rows{1 + 300000 / length, length};
    rows.input.outer = length + static_cast<std::int64_t>(random() % 3);
    rows.output.outer = length + static_cast<std::int64_t>(random() % 3);
    rows.reverse = random() % 2 == 0;
    INFO("length ", length, ", pitches ", rows.input.outer, " and ", rows.output.outer,
         ", reverse ", rows.reverse);
    std::vector<float> in, expected(static_cast<std::size_t>(rows.outer * rows.output.outer), -1.f);
    for (std::int64_t i = 0; i < rows.outer * rows.input.outer; ++i)
      in.push_back(static_cast<float>(random() % 4096) / 37);
    const test::guarded_buffer<float> from(in);
    test::guarded_buffer<float> to(expected);
    lookback::inclusive_axis_scan(lookback::host, in.data(), rows, expected.data());
    lookback::inclusive_axis_scan(lookback::par, from.data(), rows, to.data());
    CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
    CHECK(to.guards_intact());
  }
}

TEST_CASE("segments: captured, and run twice") {
  for (const int scale : {1, 100000}) { // the long ones by the pipeline
    const std::vector<int> offsets{0, 3 * scale, 3 * scale, 8 * scale};
    const test::guarded_buffer<int> device_offsets(offsets);
    const test::guarded_buffer<float> from(std::vector<float>(8 * scale, 2.f));
    test::guarded_buffer<float> to(8 * scale);
    std::vector<float> expected;
    for (int i = 0; i < 8 * scale; ++i)
      expected.push_back(10.f + 2.f * static_cast<float>(i < 3 * scale ? i : i - 3 * scale));
    const auto scan = [&](void *temporary, std::size_t &bytes, cudaStream_t stream) {
      return DeviceSegmentedScan::ExclusiveSegmentedScan(
          temporary, bytes, from.data(), to.data(), device_offsets.data(),
          device_offsets.data() + 1, 3, lookback::plus{}, 10.f, stream);
    };
    test::replayed_call graph(scan);
    REQUIRE_CUDA(graph.status());
    for (int run = 0; run < 2; ++run) {
      to.poison();
      graph.run();
      CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
    }
  }
}

TEST_CASE("segments: bad input") {
  const float *in = nullptr;
  float *out = nullptr;
  const int *offsets = nullptr;
  std::size_t bytes = 0;
  char storage[8];
  CHECK_EQ(
      DeviceSegmentedScan::InclusiveSegmentedSum(nullptr, bytes, in, out, offsets, offsets, -1),
      cudaErrorInvalidValue);
  CHECK_EQ(DeviceSegmentedScan::ExclusiveSegmentedSum(nullptr, bytes, in, out, offsets, offsets, 9),
           cudaSuccess);
  CHECK_GT(bytes, sizeof(storage));
  bytes = sizeof(storage);
  CHECK_EQ(DeviceSegmentedScan::ExclusiveSegmentedSum(storage, bytes, in, out, offsets, offsets, 9),
           cudaErrorInvalidValue);
  CHECK_EQ(DeviceSegmentedScan::ExclusiveSegmentedScan(storage, bytes, in, out, offsets, offsets, 0,
                                                       lookback::plus{}, 0.f),
           cudaSuccess);
}
