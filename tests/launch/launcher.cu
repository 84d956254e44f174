// SPDX-License-Identifier: MIT
// The launcher's questions and launches, on devices of every kind (fake_runtime.hpp). No kernel
// runs.
#include <lookback/device_scan.cuh>

#include <launch/fake_runtime.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {

using fake::here;
using fake::seen;
constexpr std::size_t tile = lookback::tree_shape<sizeof(int)>::tile_elements;
constexpr int built_for[] = {__CUDA_ARCH_LIST__}; // sorted
const auto stream = reinterpret_cast<cudaStream_t>(0x10);

/// Calls a sum over n integers, both phases.
cudaError_t sum(std::size_t n) {
  static int data = 0; // nothing reads it
  std::size_t bytes = 0;
  const int *const input = &data;
  const cudaError_t status =
      lookback::DeviceScan::InclusiveSum(nullptr, bytes, input, &data, n, stream);
  if (status != cudaSuccess) return status;
  std::vector<unsigned char> storage(bytes);
  return lookback::DeviceScan::InclusiveSum(storage.data(), bytes, input, &data, n, stream);
}

/// The launches of a sum over `tiles` tiles, which succeeds and leaves no error behind.
std::string launches_of(std::size_t tiles) {
  seen.launches.clear();
  CHECK_EQ(sum(tiles * tile), cudaSuccess);
  CHECK_EQ(cudaGetLastError(), cudaSuccess);
  for (const fake::launch &one : seen.launches) CHECK_EQ(one.stream, stream);
  return fake::launches();
}

/// The look-back's launches. The first kernel clears one word per thread: a dynamic tile id, the
/// status of the tiles, and two for each group, each part in whole units of 32 words. The second
/// may start before the first ends only if the code for every architecture in this program waits
/// for it.
std::string look_back(std::size_t tiles) {
  const auto units = [](std::size_t words) { return (words - 1) / 32 + 1; };
  const std::size_t cleared = 32 * (units(1) + units(tiles) + 2 * units((tiles - 1) / 32 + 1));
  return "prepare " + std::to_string((cleared - 1) / 256 + 1) + ", tree_look_back " +
         std::to_string(tiles) + (built_for[0] >= 900 ? " overlapping" : "");
}

} // namespace

TEST_CASE("a device of sm_90: each strategy by its size") {
  fake::reset();
  CHECK_EQ(launches_of(1), "one_tile 1");
  CHECK_EQ(launches_of(2), "cluster_or_wave 2 cluster");
  CHECK_EQ(launches_of(16), "cluster_or_wave 16 cluster");
  CHECK_EQ(launches_of(17), "cluster_or_wave 17 cooperative");
  CHECK_EQ(launches_of(264), "cluster_or_wave 264 cooperative");
  CHECK_EQ(launches_of(265), "pipeline 132");
  CHECK_EQ(launches_of(100000), "pipeline 132");
  REQUIRE_EQ(seen.launches.size(), 1);
  CHECK_EQ(seen.launches[0].shared_bytes, seen.shared_bytes["pipeline"]);
  CHECK_GT(seen.shared_bytes["pipeline"], 48 * 1024);
}

TEST_CASE("clusters of 8 blocks; one block a multiprocessor") {
  fake::reset();
  here.cluster_blocks = 8;
  here.blocks_of_one = 1;
  CHECK_EQ(launches_of(8), "cluster_or_wave 8 cluster");
  CHECK_EQ(launches_of(9), "cluster_or_wave 9 cooperative");
  CHECK_EQ(launches_of(132), "cluster_or_wave 132 cooperative");
  CHECK_EQ(launches_of(133), "pipeline 132");
}

TEST_CASE("a device is asked once") {
  fake::reset();
  const std::size_t sizes[] = {1, 2, 17, 300};
  for (const std::size_t tiles : sizes) launches_of(tiles);
  CHECK_GT(seen.questions, 0);
  seen.questions = 0;
  for (const std::size_t tiles : sizes) launches_of(tiles);
  CHECK_EQ(seen.questions, 0);
  fake::reset(); // another device is asked for itself
  here.multiprocessors = 7;
  CHECK_EQ(launches_of(300), "pipeline 7");
  CHECK_GT(seen.questions, 0);
}

TEST_CASE("sizes: nothing for 0 elements, and too many are refused") {
  fake::reset();
  CHECK_EQ(launches_of(0), "");
  int data = 0;
  std::size_t bytes = 0;
  const int *const input = &data;
  CHECK_EQ(lookback::DeviceScan::InclusiveSum(nullptr, bytes, input, &data, tile << 31),
           cudaErrorInvalidValue);
  CHECK_EQ(fake::launches(), "");
}

TEST_CASE("a device of sm_80: waves and the pipeline, no clusters") {
  fake::reset();
  here.major = 8;
  here.code = 80;
  CHECK_EQ(launches_of(2), "cluster_or_wave 2 cooperative");
  CHECK_EQ(launches_of(264), "cluster_or_wave 264 cooperative");
  CHECK_EQ(launches_of(265), "pipeline 132");
  // Its ring is as long as its shared memory allows, if there is code that knows how much that is.
  fake::reset();
  here.major = 8;
  here.code = 80;
  here.shared_bytes = 163 * 1024;
  CHECK_EQ(launches_of(300), built_for[0] == 800 ? "pipeline 132" : look_back(300));
}

TEST_CASE("code for sm_80 on a device of sm_90: no clusters") {
  fake::reset();
  here.code = 80;
  CHECK_EQ(launches_of(2), "cluster_or_wave 2 cooperative");
  CHECK_EQ(launches_of(300), "pipeline 132");
}

TEST_CASE("code before sm_80: neither clusters nor the pipeline") {
  fake::reset();
  here.code = 75;
  CHECK_EQ(launches_of(2), "cluster_or_wave 2 cooperative");
  CHECK_EQ(launches_of(300), look_back(300));
  here.major = 7;
  CHECK_EQ(launches_of(300), look_back(300));
}

TEST_CASE("less shared memory than the pipeline's: the look-back") {
  fake::reset();
  here.shared_bytes = 99 * 1024;
  CHECK_EQ(launches_of(300), look_back(300));
}

TEST_CASE("no cooperative launches: one tile, a cluster and the pipeline") {
  fake::reset();
  here.cooperates = false;
  CHECK_EQ(launches_of(1), "one_tile 1");
  CHECK_EQ(launches_of(16), "cluster_or_wave 16 cluster");
  CHECK_EQ(launches_of(17), "pipeline 17");
  CHECK_EQ(launches_of(300), "pipeline 132");
}

TEST_CASE("a refused launch: a strategy without such needs, and the error is gone") {
  for (const cudaError_t refusal :
       {cudaErrorCooperativeLaunchTooLarge, cudaErrorLaunchOutOfResources,
        cudaErrorInvalidClusterSize, cudaErrorInvalidConfiguration}) {
    const struct {
      const char *kernel;
      std::size_t tiles;
    } launches[] = {{"cluster_or_wave", 5}, {"cluster_or_wave", 17}, {"pipeline", 300}};
    for (const auto &one : launches) {
      INFO(one.kernel, " ", static_cast<int>(refusal));
      fake::reset();
      here.failing[one.kernel] = refusal;
      CHECK_EQ(launches_of(one.tiles), one.kernel == std::string("pipeline")
                                           ? look_back(one.tiles)
                                           : "pipeline " + std::to_string(one.tiles));
    }
  }
}

TEST_CASE("any other error of a launch: returned, and left behind as the runtime's") {
  const struct {
    const char *kernel;
    std::size_t tiles;
  } launches[] = {{"one_tile", 1}, {"cluster_or_wave", 5}, {"pipeline", 300}};
  for (const auto &one : launches) {
    INFO(one.kernel);
    fake::reset();
    here.failing[one.kernel] = cudaErrorLaunchFailure;
    CHECK_EQ(sum(one.tiles * tile), cudaErrorLaunchFailure);
    CHECK_EQ(fake::launches(), "");
    CHECK_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  }
  fake::reset(); // the look-back's kernel is not launched if the one before it failed
  here.major = 7;
  here.cooperates = false;
  here.failing["prepare"] = cudaErrorLaunchOutOfResources;
  CHECK_EQ(sum(5 * tile), cudaErrorLaunchOutOfResources);
  CHECK_EQ(fake::launches(), "");
}

/// A captured pipeline comes after a kernel that clears its words: the answers of 256 blocks, and
/// two for each tile, in whole units of 32.
TEST_CASE("a captured stream of a green context: nothing that must be resident together") {
  fake::reset();
  here.captures = here.is_green = true;
  CHECK_EQ(launches_of(1), "one_tile 1");
  CHECK_EQ(launches_of(5), "prepare 2, pipeline 5");
  CHECK_EQ(launches_of(300), "prepare 4, pipeline 132");
  here.captures = false; // not captured, the launch itself is refused or not
  CHECK_EQ(launches_of(5), "cluster_or_wave 5 cluster");
  here.captures = true;
  here.is_green = false;
  CHECK_EQ(launches_of(300), "prepare 4, pipeline 132");
}

TEST_CASE("a device that does not answer") {
  fake::reset();
  here.answers = false;
  CHECK_EQ(sum(5 * tile), cudaErrorInitializationError);
  CHECK_EQ(fake::launches(), "");
}
