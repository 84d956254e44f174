// SPDX-License-Identifier: MIT
// One problem by every path, at lengths that are edges for one of them, with the same bits expected
// of all.
#pragma once

#include <support/device_call.cuh>
#include <support/paths.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <vector>

namespace test {

namespace core = lookback::detail;

inline constexpr path paths[] = {path::cluster, path::wave, path::look_back, path::look_ahead};

/// Tiles that one wave can have: at least one a multiprocessor, where there are waves.
template <class Problem>
unsigned checked_wave(const Problem &problem) {
  core::device_facts device;
  REQUIRE_CUDA(core::current_device(device));
  const unsigned tiles = largest_wave(problem), small = largest_small_wave(problem);
  const unsigned at_least = device.cooperates ? static_cast<unsigned>(device.multiprocessors) : 0u;
  CHECK_GE(tiles, at_least);
  CHECK_GE(small, at_least);
  return tiles;
}

/// Edges of the tree; of the waves of `problems`, made for input and output that are not there; of
/// the pipeline's grid, one tile a block and one more; and of its ring, which comes round and
/// round.
template <class Random, class... Problems>
std::vector<std::size_t> lengths(std::size_t bytes, Random &random, const Problems &...problems) {
  auto sizes = edge_sizes(bytes, bytes, 3 * tree_sizes(bytes, bytes).group, random, 3);
  cudaDeviceProp device{};
  REQUIRE_CUDA(cudaGetDeviceProperties(&device, 0));
  const std::size_t tile = tree_sizes(bytes, bytes).tile, blocks = device.multiProcessorCount;
  for (const std::size_t tiles :
       {blocks - 1, blocks, blocks + 1, 6 * blocks, 12 * blocks, 13 * blocks + random() % blocks})
    sizes.push_back(tiles * tile + random() % 3 - 1);
  for (const std::size_t wave :
       {std::size_t{checked_wave(problems)}..., std::size_t{largest_small_wave(problems)}...})
    for (const std::size_t n :
         {(wave - 1) * tile, wave * tile - 1, wave * tile, wave * tile + 1, (wave + 1) * tile})
      if (wave > 1) sizes.push_back(n);
  return to_try(sizes, random);
}

/// The architecture of the code that the device runs, 900 for sm_90: the newest in this program
/// that is not newer than the device.
inline int running_code() {
  int major = 0, minor = 0, newest = 0;
  REQUIRE_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  REQUIRE_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  for (const int built : {__CUDA_ARCH_LIST__})
    if (built <= major * 100 + minor * 10) newest = built;
  return newest;
}
/// Whether a block has 99 KiB of shared memory, or less, for code of this architecture.
inline bool has_short_ring(int code) {
  return code >= 1200 || (code < 900 && code != 800 && code != 870);
}
template <class Problem>
bool pipeline_runs(int code) {
  using rows = core::measured_tuning;
  return code >= 1200                 ? core::has_pipeline<Problem, rows::at<1200>>
         : code >= 900                ? core::has_pipeline<Problem, rows::at<900>>
         : code == 800 || code == 870 ? core::has_pipeline<Problem, rows::at<800>>
         : code > 800                 ? core::has_pipeline<Problem, rows::at<860>>
                                      : false;
}

/// Where there is no such path for the problem or the code, it must say so; where there is one, it
/// must run.
template <class Problem>
bool supported(const Problem &problem, path by, std::int64_t n, cudaError_t status) {
  const int code = running_code();
  const auto tiles = Problem::shape::tiles(static_cast<std::uint64_t>(n));
  const bool clusters = code >= 900 && core::can_send<typename Problem::accumulator>;
  const bool must_run =
      tiles <= 1 ||
      (by == path::cluster ? tiles <= 8 && clusters
       : by == path::wave  ? tiles <= checked_wave(problem)
       : by == path::look_ahead
           ? pipeline_runs<Problem>(code) && core::structs_are_aligned(problem) &&
                 !core::writes_over_keys(problem.over({static_cast<std::uint64_t>(n)}))
           : true);
  const bool may_run = must_run || (by == path::cluster && tiles <= 16 && clusters);
  if (!may_run || (!must_run && status != cudaSuccess)) {
    CHECK_EQ(status, cudaErrorNotSupported);
    return false;
  }
  REQUIRE_CUDA(status);
  return true;
}

/// Elements by which an array is off an aligned address: none in half of the cases.
template <class Random>
std::size_t random_shift(Random &random) {
  return random() % 2 == 0 ? 0 : random() % 17;
}

/// Runs `make(in, out)` by every path over `in`, at any alignment, and compares with `expected`,
/// which may have more or fewer elements than `in`, bit by bit.
template <class Out, class In, class Random, class Make>
void check_paths(const std::vector<In> &in, const std::vector<Out> &expected, Random &random,
                 Make make) {
  const auto n = static_cast<std::int64_t>(in.size());
  const std::size_t shift_in = random_shift(random), shift_out = random_shift(random);
  const guarded_buffer<In> device_in(in, shift_in);
  guarded_buffer<Out> out(expected.size(), shift_out);
  const auto problem = make(static_cast<const In *>(device_in.data()), out.data());
  for (const path by : paths) {
    INFO(name_of(by), ", n = ", n, ", shifted by ", shift_in, " and ", shift_out);
    out.poison();
    std::size_t bytes = 0;
    REQUIRE_CUDA(scan_by(by, nullptr, bytes, problem, n, nullptr));
    guarded_buffer<unsigned char> temporary(bytes);
    if (!supported(problem, by, n, scan_by(by, temporary.data(), bytes, problem, n, nullptr)))
      continue;
    CHECK_EQ(first_difference(out.download(), expected), nowhere);
    CHECK(out.guards_intact());
    CHECK(temporary.guards_intact());
  }
}

} // namespace test
