// SPDX-License-Identifier: MIT
// Which strategy the dispatch chooses on a device, and the line of LOOKBACK_LOG that says why.
#include <lookback/dispatch/first_of.cuh>

#include <simt/problems.hpp>

#include <support/log.hpp>

#include <algorithm>
#include <iterator>

namespace {

namespace core = lookback::detail;
using problem = decltype(core::make_problem<true, std::uint32_t>(
    static_cast<const std::uint32_t *>(nullptr), static_cast<std::uint32_t *>(nullptr),
    lookback::plus{}, core::no_initial{}));
constexpr std::size_t tile = problem::shape::tile_elements;

/// Scans `tiles` tiles by `Strategies`, checks the results, and returns what was printed.
template <class Strategies = core::strategies<>>
std::string log_of(std::size_t tiles, const test::device &on,
                   test::outcome expected = test::outcome::launched) {
  const std::size_t n = tiles * tile - 5;
  std::vector<std::uint32_t> input(n), output(n, 77), sums(n);
  for (std::size_t i = 0; i < n; ++i) {
    input[i] = static_cast<std::uint32_t>(i * 2654435761u);
    sums[i] = (i == 0 ? 0 : sums[i - 1]) + input[i];
  }
  const auto scanned =
      core::make_problem<true, std::uint32_t>(static_cast<const std::uint32_t *>(input.data()),
                                              output.data(), lookback::plus{}, core::no_initial{});
  const std::string text = test::printed_by([&] {
    CHECK_EQ(test::run_by<Strategies>(scanned, n, {emulator::mode::random, tiles}, on), expected);
  });
  if (expected == test::outcome::launched)
    CHECK_EQ(test::first_difference(output, sums), test::nowhere);
  else
    CHECK_EQ(output, std::vector<std::uint32_t>(n, 77));
  return text;
}

const std::string tuned = ", tuned for the H200 (measured), ";

/// A device of `waves` resident blocks, small and large waves'.
test::device device_with(unsigned cluster, unsigned small, unsigned large, bool pipeline) {
  test::device on;
  on.cluster_blocks = cluster;
  on.small_wave = small;
  on.large_wave = large;
  on.runs_pipeline = pipeline;
  return on;
}

} // namespace

TEST_CASE("LOOKBACK_LOG: one tile") {
  CHECK_EQ(log_of(1, device_with(16, 2, 4, true)),
           "lookback: n = 4091: one_tile" + tuned + "1 blocks of 1024 threads\n");
}

TEST_CASE("LOOKBACK_LOG: every default strategy, and why those before it do not run") {
  const std::string not_one = "; not one_tile: more than one tile";
  const std::string no_cluster =
      not_one + "; not cluster: more tiles than a cluster of this device has blocks";
  const std::string no_wave = no_cluster + "; not wave: more tiles than are resident at once";
  const std::string no_pipeline =
      no_wave +
      "; not pipeline: no code for sm_80 or newer runs on the device, or its shared memory is too "
      "small";
  const std::string n = "lookback: n = " + std::to_string(3 * tile - 5) + ": ";
  CHECK_EQ(log_of(3, device_with(3, 2, 4, true)),
           n + "cluster" + tuned + "3 blocks of 512 threads, one cluster" + not_one + "\n");
  CHECK_EQ(log_of(3, device_with(2, 3, 4, true)),
           n + "wave" + tuned + "3 blocks of 544 threads, cooperative" + no_cluster + "\n");
  CHECK_EQ(log_of(3, device_with(2, 2, 3, true)),
           n + "wave" + tuned + "3 blocks of 288 threads, cooperative" + no_cluster + "\n");
  const std::string by_pipeline = log_of(3, device_with(1, 0, 2, true));
  CHECK_EQ(by_pipeline.find(n + "pipeline" + tuned + "1 blocks of "), 0);
  CHECK_NE(by_pipeline.find(" threads" + no_wave + "\n"), std::string::npos);
  CHECK_EQ(log_of(3, device_with(1, 0, 0, false)),
           n + "tree_look_back" + tuned + "3 blocks of 256 threads" + no_pipeline + "\n");
}

namespace {

struct is_even {
  template <class T>
  bool operator()(const T &x) const {
    return x % 2 == 0;
  }
};
struct same_byte {
  bool operator()(std::uint8_t a, std::uint8_t b) const { return a == b; }
};
/// Selects the even ones of n items T, checks the results, and returns what was printed.
template <class T, class Result = T>
std::string log_of_selection(std::size_t n, const test::device &on) {
  std::vector<T> input(n), kept;
  for (std::size_t i = 0; i < n; ++i) input[i] = static_cast<T>(i % 251);
  std::copy_if(input.begin(), input.end(), std::back_inserter(kept), is_even{});
  std::vector<Result> output(kept.size());
  std::int64_t number = -1;
  const auto selected =
      core::make_selection(static_cast<const T *>(input.data()), core::satisfying(is_even{}),
                           output.data(), core::dropped{}, &number);
  const std::string text = test::printed_by([&] {
    CHECK_EQ(test::run_by<core::strategies<>>(selected, n, {emulator::mode::random, n}, on),
             test::outcome::launched);
  });
  CHECK_EQ(number, static_cast<std::int64_t>(kept.size()));
  CHECK(std::equal(output.begin(), output.end(), kept.begin()));
  return text;
}
std::string begin_of_log(std::size_t n, const std::string &strategy) {
  return "lookback: n = " + std::to_string(n) + ": " + strategy;
}

} // namespace

TEST_CASE("LOOKBACK_LOG: a cluster selects few small items in half tiles") {
  const test::device on = device_with(16, 2, 4, true);
  const std::size_t half = 8192; // bytes
  CHECK_EQ(log_of_selection<std::uint8_t>(half, on).find(begin_of_log(half, "one_tile,")), 0);
  for (const std::size_t n : {half + 1, 16 * half}) {
    const std::string begin = begin_of_log(n, "cluster_of_half_tiles" + tuned) +
                              std::to_string((n - 1) / half + 1) + " blocks of ";
    CHECK_EQ(log_of_selection<std::uint8_t>(n, on).find(begin), 0);
  }
  const std::size_t more = 16 * half + 1;
  CHECK_EQ(log_of_selection<std::uint8_t>(more, on).find(begin_of_log(more, "cluster,")), 0);
  CHECK_EQ(log_of_selection<std::uint16_t>(half, on).find(
               begin_of_log(half, "cluster_of_half_tiles" + tuned + "2 blocks of ")),
           0);
}

TEST_CASE("LOOKBACK_LOG: whole tiles, where half tiles cannot be") {
  const test::device on = device_with(16, 2, 4, true);
  const std::size_t n = 9000;
  // The wider results alone determine the tile; items have more than 2 bytes.
  CHECK_EQ(log_of_selection<std::uint8_t, std::int32_t>(n, on).find(begin_of_log(n, "cluster,")),
           0);
  CHECK_EQ(log_of_selection<std::uint32_t>(n, on).find(begin_of_log(n, "cluster,")), 0);
  using runs = decltype(core::make_selection(
      static_cast<const std::uint8_t *>(nullptr),
      core::by_run<const std::uint8_t *, same_byte, true>{nullptr, {}},
      static_cast<std::uint8_t *>(nullptr), core::dropped{}, static_cast<std::int64_t *>(nullptr)));
  static_assert(!core::half_tiles<runs>::possible, "items are compared with their neighbours");
  // The cluster is too small, or its launch is refused.
  test::device narrow = device_with(16, 4, 4, true);
  narrow.lends_all = false;
  for (const test::device &other : {device_with(1, 2, 4, true), narrow})
    CHECK_EQ(log_of_selection<std::uint8_t>(n, other).find(begin_of_log(n, "one_tile,")), 0);
}

TEST_CASE("LOOKBACK_LOG: once a launch is refused, nothing that must be resident is tried") {
  test::device narrow = device_with(16, 4, 4, true);
  narrow.lends_all = false;
  const std::string after = "; not one_tile: more than one tile; not cluster: its launch was "
                            "refused; not wave: an earlier launch was refused\n";
  const std::string by_pipeline = log_of(2, narrow);
  CHECK_EQ(by_pipeline.find("lookback: n = " + std::to_string(2 * tile - 5) + ": pipeline" + tuned),
           0);
  CHECK_NE(by_pipeline.find(" threads" + after), std::string::npos);
}

TEST_CASE("look_ahead: refused where it cannot run, whatever launches are refused") {
  using look_ahead = core::strategies<lookback::look_ahead>;
  const test::device without = device_with(16, 4, 4, false);
  CHECK_EQ(log_of<look_ahead>(2, without, test::outcome::not_supported)
               .find("lookback: n = " + std::to_string(2 * tile - 5) + ": no strategy; not"),
           0);
  CHECK_NE(log_of<look_ahead>(1, without).find(": one_tile,"), std::string::npos);
  test::device narrow = device_with(16, 4, 4, true);
  CHECK_NE(log_of<look_ahead>(2, narrow).find(": pipeline,"), std::string::npos);
  narrow.lends_all = false;
  CHECK_NE(log_of<look_ahead>(2, narrow).find(": pipeline,"), std::string::npos);
}

TEST_CASE("sizes and storage that are refused") {
  std::vector<emulator::kernel> stream;
  const test::emulated_launcher launch({}, {emulator::mode::random, 1}, stream);
  const auto empty = problem(nullptr, {}, {}, {});
  const auto scan = [&](void *storage, std::size_t &bytes, std::int64_t n) {
    return core::strategies<>::scan(storage, bytes, empty, n, launch);
  };
  std::size_t bytes = 99;
  CHECK_EQ(scan(nullptr, bytes, -1), test::outcome::invalid_value);
  CHECK_EQ(scan(nullptr, bytes, std::int64_t{tile} << 31), test::outcome::invalid_value);
  CHECK_EQ(bytes, 99);
  CHECK_EQ(scan(nullptr, bytes, 0), test::outcome::launched);
  CHECK_EQ(bytes, 1);
  CHECK_EQ(scan(nullptr, bytes, 2 * tile), test::outcome::launched);
  CHECK_GT(bytes, 1);
  --bytes;
  CHECK_EQ(scan(&bytes, bytes, 2 * tile), test::outcome::invalid_value);
  CHECK_EQ(scan(&bytes, bytes, 0), test::outcome::launched);
  CHECK(stream.empty());
}
