// SPDX-License-Identifier: MIT
// Sums of integers in adjacent segments, whose heads are marked: as on the CPU, and nothing outside
// of the segments written.
#include <lookback/device_segmented_scan.cuh>
#include <lookback/execution_policy.cuh>
#include <lookback/segmented_scan.cuh>

#include "segment_lengths.hpp"

#include <support/capture.cuh>
#include <support/device_call.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

using lookback::DeviceSegmentedScan;

namespace {

/// Sums of integers in segments without gaps, the first of which begins with item `first`, by the
/// heads of the segments: into another array, and in place.
template <class T, class Offset>
void check_adjacent(const std::vector<std::int64_t> &lengths, Offset first) {
  TEST_RANDOM(random);
  std::vector<Offset> offsets{first};
  for (const std::int64_t length : lengths)
    offsets.push_back(static_cast<Offset>(offsets.back() + static_cast<Offset>(length)));
  const auto count = static_cast<std::int64_t>(lengths.size());
  INFO("segments ", count, ", elements ", offsets.back(), ", first ", first);
  std::vector<T> in(static_cast<std::size_t>(offsets.back()) + 5);
  for (T &item : in) item = static_cast<T>(random());
  const test::guarded_buffer<Offset> at(offsets);
  test::guarded_buffer<T> from(in, random() % 5), to(in, random() % 5);
  const auto require = [&](const test::guarded_buffer<T> &output, const std::vector<T> &expected) {
    CHECK_EQ(test::first_difference(output.download(), expected), test::nowhere);
    CHECK(output.guards_intact());
  };
  auto expected = in;
  lookback::inclusive_segmented_scan(lookback::host, in.data(), offsets.data(), offsets.data() + 1,
                                     count, expected.data());
  lookback::inclusive_segmented_scan(lookback::par, from.data(), at.data(), at.data() + 1, count,
                                     to.data());
  require(to, expected);
  const T init = static_cast<T>(random());
  for (std::size_t s = 0; s < lengths.size(); ++s)
    for (auto i = static_cast<std::size_t>(offsets[s]);
         i < static_cast<std::size_t>(offsets[s + 1]); ++i)
      expected[i] = static_cast<T>(static_cast<std::uint32_t>(expected[i]) +
                                   static_cast<std::uint32_t>(init));
  test::two_phases(
      [&](void *temporary, std::size_t &bytes) {
        return DeviceSegmentedScan::InclusiveSegmentedScanInit(temporary, bytes, from.data(),
                                                               to.data(), at.data(), at.data() + 1,
                                                               count, lookback::plus{}, init);
      },
      random() % 256);
  require(to, expected);
  expected = in;
  lookback::exclusive_segmented_scan(lookback::host, in.data(), offsets.data(), offsets.data() + 1,
                                     count, expected.data(), init);
  lookback::exclusive_segmented_scan(lookback::par, from.data(), at.data(), at.data() + 1, count,
                                     from.data(), init);
  require(from, expected);
}

} // namespace

TEST_CASE("adjacent segments: sums of integers of 4 bytes") {
  TEST_RANDOM(random);
  for (const std::int32_t first : {0, 1, 4, 4097}) {
    check_adjacent<std::uint32_t, std::int32_t>(test::edge_lengths(4, random), first);
    check_adjacent<std::int32_t, std::int64_t>(test::mostly_long(4, random), first);
    check_adjacent<std::uint32_t, std::int32_t>(test::giant_among_tiny(100000, random), first);
    check_adjacent<std::int32_t, std::int64_t>(test::power_law(50000, random), first);
    check_adjacent<std::int32_t, std::int64_t>({}, first);
    check_adjacent<std::int32_t, std::int64_t>(std::vector<std::int64_t>(3000, 0), first);
    check_adjacent<std::int32_t, std::int64_t>(std::vector<std::int64_t>(1000000, 16), first);
  }
}

TEST_CASE("adjacent segments: thousands of empty ones at one place") {
  TEST_RANDOM(random);
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < 300; ++i) {
    lengths.insert(lengths.end(), random() % 20000, 0);
    lengths.push_back(static_cast<std::int64_t>(random() % 9000));
  }
  lengths.insert(lengths.end(), 100000, 0);
  check_adjacent<std::uint32_t, std::int32_t>(lengths, 0);
  check_adjacent<std::int32_t, std::int64_t>(lengths, 3);
}

TEST_CASE("adjacent segments: offsets that descend write nothing outside of segments") {
  TEST_RANDOM(random);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::int64_t> offsets;
    for (int s = 0; s < 5000; ++s) offsets.push_back(10000 + random() % 400000);
    if (round % 2 == 0) std::sort(offsets.begin() + 100, offsets.end() - 100);
    std::vector<bool> inside(500000);
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
      for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i)
        inside[static_cast<std::size_t>(i)] = true;
    const test::guarded_buffer<std::int64_t> at(offsets);
    const test::guarded_buffer<int> from(std::vector<int>(500000, 1));
    test::guarded_buffer<int> to(std::vector<int>(500000, -1));
    lookback::inclusive_segmented_scan(lookback::par, from.data(), at.data(), at.data() + 1, 4999,
                                       to.data());
    const auto results = to.download();
    std::size_t outside = 0;
    for (std::size_t i = 0; i < results.size(); ++i)
      outside += !inside[i] && results[i] != -1 ? 1 : 0;
    CHECK_EQ(outside, 0);
    CHECK(to.guards_intact());
  }
}

TEST_CASE("adjacent segments: captured, and run twice") {
  const std::vector<int> offsets{0, 300000, 300000, 800000};
  const test::guarded_buffer<int> at(offsets), from(std::vector<int>(800000, 2));
  test::guarded_buffer<int> to(800000);
  std::vector<int> expected;
  for (int i = 0; i < 800000; ++i) expected.push_back(10 + 2 * (i < 300000 ? i : i - 300000));
  test::replayed_call graph([&](void *temporary, std::size_t &bytes, cudaStream_t stream) {
    return DeviceSegmentedScan::ExclusiveSegmentedScan(temporary, bytes, from.data(), to.data(),
                                                       at.data(), at.data() + 1, 3,
                                                       lookback::plus{}, 10, stream);
  });
  REQUIRE_CUDA(graph.status());
  for (int run = 0; run < 2; ++run) {
    to.poison();
    graph.run();
    CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
  }
}
