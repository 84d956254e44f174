// SPDX-License-Identifier: MIT
// Scans along an axis on a GPU, compared with the CPU's.
#pragma once

#include <lookback/axis_scan.cuh>
#include <lookback/device_axis_scan.cuh>
#include <lookback/execution_policy.cuh>

#include <support/device_call.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/tree_reference.hpp>

#include <cstring>

namespace test {

using lookback::axis;
using lookback::DeviceAxisScan;

inline std::size_t span(const axis &lines, const axis::pitch &pitch) {
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
void check_axis(const axis &lines, const std::vector<T> &in, bool in_place, OnHost on_host,
                OnDevice on_device) {
  // One for each axis: the same for all would give all of them the same shifts.
  std::mt19937_64 random(run_seed() + 1000003 * static_cast<std::uint64_t>(lines.outer) +
                         static_cast<std::uint64_t>(lines.length));
  INFO("replay with LOOKBACK_TEST_SEED=", run_seed());
  INFO("outer ", lines.outer, ", length ", lines.length, ", inner ", lines.inner, ", input ",
       lines.input.outer, " and ", lines.input.length, ", output ", lines.output.outer, " and ",
       lines.output.length, ", reverse ", lines.reverse);
  auto expected = in_place ? in : std::vector<T>(span(lines, lines.output), T{77});
  const auto some_shift = [&] { return random() % 2 == 0 ? 0 : random() % 5; };
  const guarded_buffer<T> from(in, some_shift());
  guarded_buffer<T> to(expected, some_shift());
  on_host(in.data(), expected.data());
  on_device(in_place ? to.data() : from.data(), to.data());
  REQUIRE_CUDA(cudaDeviceSynchronize());
  const auto results = to.download();
  CHECK_EQ(first_difference(results, expected), nowhere);
  CHECK(std::memcmp(results.data(), expected.data(), results.size() * sizeof(T)) == 0);
  CHECK(to.guards_intact());
}

/// Inclusive sums of floats in two phases.
inline void check_floats(const axis &lines) {
  TEST_RANDOM(random);
  std::vector<float> in(span(lines, lines.input));
  for (auto &x : in) x = static_cast<float>(random() % 4096) / 37;
  check_axis<float>(
      lines, in, false,
      [&](const float *x, float *y) { lookback::inclusive_axis_scan(lookback::host, x, lines, y); },
      [&](const float *x, float *y) {
        two_phases(
            [&](void *temporary, std::size_t &bytes) {
              return DeviceAxisScan::InclusiveSum(temporary, bytes, x, y, lines);
            },
            random() % 256);
      });
}
/// Exclusive sums of integers by a policy, in place.
inline void check_integers(axis lines) {
  lines.output = lines.input;
  TEST_RANDOM(random);
  const auto scan = [&](auto policy) {
    return [&lines, policy](const int *x, int *y) {
      lookback::exclusive_axis_scan(policy, x, lines, y, 7);
    };
  };
  check_axis<int>(lines, random_below<int>(span(lines, lines.input), 1000, random), true,
                  scan(lookback::host), scan(lookback::par));
}

} // namespace test
