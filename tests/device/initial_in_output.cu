// SPDX-License-Identifier: MIT
// An initial value that stands in the output, as a future value may: every path reads it before
// anything is written.
#include <lookback/device_scan.cuh>

#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/paths.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

namespace {

namespace detail = lookback::detail;
using test::interval;
using test::path;
using future = lookback::FutureValue<interval>;

constexpr path paths[] = {path::fastest, path::cluster, path::wave, path::look_back,
                          path::look_ahead};

/// The initial value stands in element `place` of the output.
template <bool Inclusive>
auto problem_of(const interval *in, interval *out, std::size_t place) {
  return detail::make_problem<Inclusive, interval>(
      in, out, test::join_intervals{}, detail::initial_value<future>{future(out + place)});
}

/// Paths that ran.
template <bool Inclusive, class Random>
int check_paths(std::size_t n, Random &random) {
  std::vector<interval> in, expected;
  for (std::size_t i = 0; i < n; ++i) {
    in.push_back(test::interval_element(i));
    expected.push_back(interval{0, static_cast<std::uint32_t>(i) + (Inclusive ? 2 : 1)});
  }
  const test::guarded_buffer<interval> device_in(in);
  int ran = 0;
  for (const path by : paths)
    for (const std::size_t place :
         {std::size_t{0}, n - 1, static_cast<std::size_t>(random() % n)}) {
      INFO("path ", test::name_of(by), ", n = ", n, ", the initial value in element ", place);
      std::vector<interval> before(n, interval{77, 78});
      before[place] = test::interval_initial;
      test::guarded_buffer<interval> out(before);
      const auto problem = problem_of<Inclusive>(device_in.data(), out.data(), place);
      std::size_t bytes = 0;
      REQUIRE_CUDA(
          test::scan_by(by, nullptr, bytes, problem, static_cast<std::int64_t>(n), nullptr));
      test::guarded_buffer<unsigned char> temporary(bytes);
      const cudaError_t status = test::scan_by(by, temporary.data(), bytes, problem,
                                               static_cast<std::int64_t>(n), nullptr);
      if (status == cudaErrorNotSupported && by != path::fastest && by != path::look_back) continue;
      REQUIRE_CUDA(status);
      ++ran;
      CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
      CHECK(out.guards_intact());
      CHECK(temporary.guards_intact());
    }
  return ran;
}

} // namespace

TEST_CASE("an initial value in the output: every path, at its lengths") {
  TEST_RANDOM(random);
  const auto size = test::tree_sizes(sizeof(interval), sizeof(interval));
  cudaDeviceProp device{};
  REQUIRE_CUDA(cudaGetDeviceProperties(&device, 0));
  const std::size_t blocks = device.multiProcessorCount;
  for (const std::size_t n :
       {std::size_t{1}, size.row, size.tile, size.tile + 1, 2 * size.tile, 8 * size.tile,
        16 * size.tile - 1, size.group, blocks * size.tile, 2 * blocks * size.tile + 1,
        4 * blocks * size.tile - 3, 20 * blocks * size.tile}) {
    CHECK_GE(check_paths<true>(n, random), 6); // the look-back, and the fastest
    CHECK_GE(check_paths<false>(n, random), 6);
  }
}

/// At the door, as a caller of CUB has it: the total of one scan starts the next.
TEST_CASE("an initial value in the output: a chain of scans in place") {
  const std::size_t n = 100000;
  const std::vector<std::int32_t> ones(n, 1);
  const test::guarded_buffer<std::int32_t> in(ones), out(std::vector<std::int32_t>(n, 5));
  for (int scan = 0; scan < 3; ++scan)
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return lookback::DeviceScan::InclusiveScanInit(
          temporary, bytes, in.data(), out.data(), lookback::plus{},
          lookback::FutureValue<std::int32_t>(out.data() + n - 1), n);
    });
  std::vector<std::int32_t> expected;
  for (std::size_t i = 0; i < n; ++i)
    expected.push_back(static_cast<std::int32_t>(5 + 2 * n + i + 1));
  CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
}
