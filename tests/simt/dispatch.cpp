// SPDX-License-Identifier: MIT
// Which strategy the dispatch chooses on a device, and the line of LOOKBACK_LOG that says why.
#include <lookback/dispatch/first_of.cuh>

#include <simt/problems.hpp>

#include <support/log.hpp>

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

TEST_CASE("LOOKBACK_LOG: a cluster selects few small items in half tiles") {
  const auto log_of_bytes = [](std::size_t n) {
    std::vector<std::uint8_t> input(n, 1), output(n, 77);
    input[n / 2] = 0;
    std::int64_t kept = -1;
    const auto selected = core::make_selection(static_cast<const std::uint8_t *>(input.data()),
                                               core::satisfying(core::is_set{}), output.data(),
                                               core::dropped{}, &kept);
    const std::string text = test::printed_by([&] {
      CHECK_EQ(test::run_by<core::strategies<>>(selected, n, {emulator::mode::random, n},
                                                device_with(16, 2, 4, true)),
               test::outcome::launched);
    });
    CHECK_EQ(kept, static_cast<std::int64_t>(n) - 1);
    CHECK_EQ(std::count(output.begin(), output.end(), 1), kept);
    return text;
  };
  const std::size_t half = 8192;
  CHECK_EQ(log_of_bytes(half).find("lookback: n = 8192: one_tile"), 0);
  for (const std::size_t n : {half + 1, 16 * half}) {
    const std::string text = log_of_bytes(n), blocks = std::to_string((n - 1) / half + 1);
    const std::string begin = "lookback: n = " + std::to_string(n) + ": cluster of half tiles";
    CHECK_EQ(text.find(begin + tuned + blocks + " blocks of "), 0);
  }
  CHECK_EQ(log_of_bytes(16 * half + 1).find("lookback: n = 131073: cluster, "), 0);
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
