// SPDX-License-Identifier: MIT
// Every path forced at every length, also where it would not be chosen: the same bits, from operators that tell.
#include <lookback/device_scan.cuh>

#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

namespace {

namespace detail = lookback::detail;
using detail::path;

constexpr path paths[] = {path::cluster, path::look_back_few, path::look_back_many, path::look_ahead};

const char *name_of(path by) {
  switch (by) {
  case path::cluster: return "cluster";
  case path::look_back_few: return "look-back, few tiles";
  case path::look_back_many: return "look-back, many tiles";
  case path::look_ahead: return "look-ahead";
  default: return "the fastest";
  }
}

/// Edges of the tree; of the pipeline's grid, one tile a block and one more; and of its ring, which comes round and round.
template <class Random>
std::vector<std::size_t> lengths(std::size_t bytes, Random &random) {
  auto sizes = test::edge_sizes(bytes, bytes, 3 * test::tree_sizes(bytes, bytes).group, random, 3);
  cudaDeviceProp device{};
  REQUIRE_CUDA(cudaGetDeviceProperties(&device, 0));
  const std::size_t tile = test::tree_sizes(bytes, bytes).tile, wave = device.multiProcessorCount;
  for (const std::size_t tiles : {wave - 1, wave, wave + 1, 6 * wave, 12 * wave, 13 * wave + random() % wave})
    sizes.push_back(tiles * tile + random() % 3 - 1);
  return sizes;
}

/// Where there is no such path for the problem or the device, it must say so; where there is one, it must run.
template <class Problem>
bool supported(const Problem &, path by, std::int64_t n, cudaError_t status) {
  int major = 0;
  REQUIRE_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  const auto tiles = Problem::shape::tiles(static_cast<std::uint64_t>(n));
  const bool must_run = tiles <= 1 || (by == path::cluster      ? major >= 9 && tiles <= 8
                                       : by == path::look_ahead ? major >= 9 && detail::can_look_ahead<Problem>::value
                                                                : true);
  const bool may_run = must_run || (by == path::cluster && major >= 9 && tiles <= 16);
  if (!may_run || (!must_run && status != cudaSuccess)) {
    CHECK_EQ(status, cudaErrorNotSupported);
    return false;
  }
  REQUIRE_CUDA(status);
  return true;
}

/// Runs `make(in, out)` by every path over `in` and compares with `expected`, bit by bit.
template <class Out, class In, class Make>
void check_paths(const std::vector<In> &in, const std::vector<Out> &expected, std::size_t shift_out, Make make) {
  const auto n = static_cast<std::int64_t>(in.size());
  const test::guarded_buffer<In> device_in(in);
  test::guarded_buffer<Out> out(in.size(), shift_out);
  const auto problem = make(static_cast<const In *>(device_in.data()), out.data());
  for (const path by : paths) {
    INFO(name_of(by), ", n = ", n, ", out shifted by ", shift_out);
    out.poison();
    std::size_t bytes = 0;
    REQUIRE_CUDA(detail::scan(nullptr, bytes, problem, n, nullptr, by));
    test::guarded_buffer<unsigned char> temporary(bytes);
    if (!supported(problem, by, n, detail::scan(temporary.data(), bytes, problem, n, nullptr, by))) continue;
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    CHECK(out.guards_intact());
    CHECK(temporary.guards_intact());
  }
}

} // namespace

TEST_CASE_TEMPLATE("paths: the bits of sums", T, float, double) {
  TEST_RANDOM(random);
  const test::plus<T> op{};
  for (const std::size_t n : lengths(sizeof(T), random)) {
    const auto in = test::random_values<T>(n, random);
    const T init = T(0.3);
    check_paths<T>(in, test::tree_scan<T>(in, op, {}, true, sizeof(T), sizeof(T)), random() % 5, [&](auto x, auto y) {
      return detail::make_problem<true, T>(x, y, op, detail::no_initial{});
    });
    check_paths<T>(in, test::tree_scan<T>(in, op, std::optional<T>(init), false, sizeof(T), sizeof(T)), random() % 5,
                   [&](auto x, auto y) {
                     return detail::make_problem<false, T>(x, y, op, detail::initial_value<T>{init});
                   });
  }
}

TEST_CASE_TEMPLATE("paths: sums of integers", T, std::int8_t, std::int16_t, std::int32_t, std::int64_t) {
  TEST_RANDOM(random);
  const test::plus<T> op{};
  for (const std::size_t n : lengths(sizeof(T), random)) {
    const auto in = test::random_values<T>(n, random);
    check_paths<T>(in, test::serial_inclusive(in, op), random() % 17, [&](auto x, auto y) {
      return detail::make_problem<true, T>(x, y, op, detail::no_initial{});
    });
  }
}

TEST_CASE("paths: narrow elements into a wider accumulator, and wide results") {
  TEST_RANDOM(random);
  const test::plus<std::int32_t> op{};
  for (const std::size_t n : lengths(sizeof(std::int32_t), random)) {
    const auto in = test::random_values<std::int8_t>(n, random);
    const auto wide = test::converted<std::int32_t>(in);
    check_paths<std::int32_t>(in, test::serial_exclusive(wide, op, std::int32_t{5}), random() % 5,
                              [&](auto x, auto y) {
                                return detail::make_problem<false, std::int32_t>(x, y, op,
                                                                                 detail::initial_value<std::int32_t>{5});
                              });
  }
}

TEST_CASE("paths: the interval monoid") {
  TEST_RANDOM(random);
  const test::join_intervals op{};
  for (const std::size_t n : lengths(sizeof(test::interval), random)) {
    std::vector<test::interval> in, inclusive, exclusive;
    for (std::size_t i = 0; i < n; ++i) {
      in.push_back(test::interval_element(i));
      inclusive.push_back(test::interval{1, static_cast<std::uint32_t>(i) + 2});
      exclusive.push_back(test::interval{0, static_cast<std::uint32_t>(i) + 1});
    }
    check_paths<test::interval>(in, inclusive, random() % 3, [&](auto x, auto y) {
      return detail::make_problem<true, test::interval>(x, y, op, detail::no_initial{});
    });
    check_paths<test::interval>(in, exclusive, random() % 3, [&](auto x, auto y) {
      return detail::make_problem<false, test::interval>(x, y, op,
                                                         detail::initial_value<test::interval>{test::interval_initial});
    });
  }
}

TEST_CASE("paths: in place") {
  TEST_RANDOM(random);
  const test::plus<std::int32_t> op{};
  for (const std::size_t n : lengths(sizeof(std::int32_t), random)) {
    const auto in = test::random_values<std::int32_t>(n, random);
    const auto expected = test::serial_inclusive(in, op);
    for (const path by : paths) {
      INFO(name_of(by), ", n = ", n);
      const test::guarded_buffer<std::int32_t> data(in);
      const auto problem = detail::make_problem<true, std::int32_t>(data.data(), data.data(), op, detail::no_initial{});
      std::size_t bytes = 0;
      REQUIRE_CUDA(detail::scan(nullptr, bytes, problem, static_cast<std::int64_t>(n), nullptr, by));
      const test::guarded_buffer<unsigned char> temporary(bytes);
      const auto length = static_cast<std::int64_t>(n);
      if (!supported(problem, by, length, detail::scan(temporary.data(), bytes, problem, length, nullptr, by))) continue;
      CHECK_EQ(test::first_difference(data.download(), expected), test::nowhere);
      CHECK(data.guards_intact());
    }
  }
}

TEST_CASE("paths: one that cannot take a call says so and launches nothing") {
  const test::guarded_buffer<std::int32_t> in(std::vector<std::int32_t>(100000, 1), 1); // off a 16-byte boundary
  const test::guarded_buffer<std::int32_t> out(in.size());
  const auto problem = detail::make_problem<true, std::int32_t>(static_cast<const std::int32_t *>(in.data()), out.data(),
                                                               test::plus<std::int32_t>{}, detail::no_initial{});
  std::size_t bytes = 0;
  const auto n = static_cast<std::int64_t>(in.size());
  REQUIRE_CUDA(detail::scan(nullptr, bytes, problem, n, nullptr, path::look_ahead));
  const test::guarded_buffer<unsigned char> temporary(bytes);
  CHECK_EQ(detail::scan(temporary.data(), bytes, problem, n, nullptr, path::look_ahead), cudaErrorNotSupported);
  CHECK(out.download() == std::vector<std::int32_t>(in.size(), static_cast<std::int32_t>(0xa5a5a5a5u)));
}
