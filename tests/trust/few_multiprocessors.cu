// SPDX-License-Identifier: MIT
// A stream that has a few of the device's multiprocessors, in a green context: launches whose
// blocks must all be resident are refused there, and the scan is made without them.
#include <lookback/device_scan.cuh>

#include <support/buffers.cuh>
#include <support/operators.hpp>
#include <support/paths.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/skip.hpp>

#include <cuda.h>

#include <cstdio>
#include <string>

namespace {

namespace core = lookback::detail;
using test::path;

#if CUDA_VERSION >= 12050
/// The driver's function of that name, as of CUDA `version`; null where the driver has none.
template <class Function>
Function *driver(Function *, const char *name, unsigned version) {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result;
  if (cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result) !=
          cudaSuccess ||
      result != cudaDriverEntryPointSuccess)
    found = nullptr;
  cudaGetLastError();
  return reinterpret_cast<Function *>(found);
}
#define DRIVER(name, version) driver(static_cast<decltype(&::name)>(nullptr), #name, version)

/// A stream with as few multiprocessors as the device lends, or none and why.
class narrow_stream {
public:
  narrow_stream() {
    const auto resource_of = DRIVER(cuDeviceGetDevResource, 12040);
    const auto split = DRIVER(cuDevSmResourceSplitByCount, 12040);
    const auto describe = DRIVER(cuDevResourceGenerateDesc, 12040);
    const auto create = DRIVER(cuGreenCtxCreate, 12040);
    const auto create_stream = DRIVER(cuGreenCtxStreamCreate, 12050);
    destroy_ = DRIVER(cuGreenCtxDestroy, 12040);
    if (!resource_of || !split || !describe || !create || !create_stream || !destroy_) {
      why_not = "the driver does not support green contexts";
      return;
    }
    REQUIRE_CUDA(cudaFree(nullptr)); // the device's own context is there
    CUdevResource all{}, few{};
    unsigned groups = 1;
    CUdevResourceDesc description{};
    if (resource_of(0, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
        split(&few, &groups, &all, nullptr, 0, 1) != CUDA_SUCCESS || groups == 0 ||
        describe(&description, &few, 1) != CUDA_SUCCESS ||
        create(&context_, description, 0, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS) {
      why_not = "the device does not support green contexts";
      return;
    }
    CUstream made = nullptr;
    REQUIRE_EQ(create_stream(&made, context_, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    stream = made;
    multiprocessors = few.sm.smCount;
  }
  narrow_stream(const narrow_stream &) = delete;
  narrow_stream &operator=(const narrow_stream &) = delete;
  ~narrow_stream() {
    if (stream) cudaStreamDestroy(stream);
    if (context_) destroy_(context_);
  }

  cudaStream_t stream = nullptr;
  unsigned multiprocessors = 0;
  std::string why_not;

private:
  CUgreenCtx context_ = nullptr;
  decltype(&::cuGreenCtxDestroy) destroy_ = nullptr;
};
#else
struct narrow_stream {
  cudaStream_t stream = nullptr;
  unsigned multiprocessors = 0;
  std::string why_not = "this CUDA version does not support streams of green contexts";
};
#endif

__global__ void does_nothing() {}

/// Launches blocks of 1024 threads that must all be resident.
cudaError_t launch_resident(unsigned blocks, cudaStream_t stream) {
  core::launcher launch(stream);
  launch(does_nothing, core::block_shape{1024, 0},
         core::launch_grid{blocks, core::residency::grid});
  return launch.status();
}

/// Runs `problem` by every path on `stream`, whose results `check` looks at.
template <class Problem, class Check>
void run_on(cudaStream_t stream, const Problem &problem, std::int64_t n, Check check) {
  for (const path by :
       {path::fastest, path::cluster, path::wave, path::look_back, path::look_ahead}) {
    INFO("path ", test::name_of(by), ", n = ", n);
    std::size_t bytes = 0;
    REQUIRE_CUDA(test::scan_by(by, nullptr, bytes, problem, n, core::launcher(stream)));
    const test::guarded_buffer<unsigned char> temporary(bytes);
    const cudaError_t status =
        test::scan_by(by, temporary.data(), bytes, problem, n, core::launcher(stream));
    CHECK_EQ(cudaGetErrorString(cudaPeekAtLastError()),
             doctest::String("no error")); // nothing is left behind
    if (status == cudaErrorNotSupported && by != path::fastest) continue;
    REQUIRE_CUDA(status);
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    check();
    CHECK(temporary.guards_intact());
  }
}

/// One tile, clusters, waves that fit and waves that do not, the look-back and the pipeline.
template <class Random>
std::vector<std::size_t> lengths(std::size_t tile, Random &random) {
  std::vector<std::size_t> sizes;
  for (const std::size_t tiles : {1, 5, 8, 16, 17, 30, 100, 300, 500, 1200})
    sizes.push_back((tiles - 1) * tile + 1 + random() % tile);
  return test::to_try(sizes, random);
}

} // namespace

TEST_CASE("few multiprocessors: what must be resident and is refused is scanned by the look-back") {
  TEST_RANDOM(random);
  cudaDeviceProp device{};
  REQUIRE_CUDA(cudaGetDeviceProperties(&device, 0));
  const narrow_stream few;
  if (few.stream == nullptr) {
    test::skip("few multiprocessors", few.why_not.c_str());
    return;
  }
  const unsigned all = device.multiProcessorCount;
  std::printf("few multiprocessors: %u of %u\n", few.multiprocessors, all);
  REQUIRE_LT(few.multiprocessors, all);
  // Else the scans below would wait for blocks that never come.
  REQUIRE_CUDA(launch_resident(few.multiprocessors, few.stream));
  const unsigned at_once = all * (device.maxThreadsPerMultiProcessor / 1024);
  REQUIRE_EQ(launch_resident(at_once, few.stream), cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
  REQUIRE_CUDA(cudaStreamSynchronize(few.stream));

  const test::plus<std::int32_t> op{};
  for (const std::size_t n : lengths(4096, random)) {
    const auto in = test::random_values<std::int32_t>(n, random);
    const auto expected = test::serial_inclusive(in, op);
    const test::guarded_buffer<std::int32_t> device_in(in);
    test::guarded_buffer<std::int32_t> out(n);
    const auto problem = core::make_problem<true, std::int32_t>(
        static_cast<const std::int32_t *>(device_in.data()), out.data(), op, core::no_initial{});
    run_on(few.stream, problem, static_cast<std::int64_t>(n), [&] {
      CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
      CHECK(out.guards_intact());
      out.poison();
    });
  }
}

/// A launch that is captured is not refused, but the graph is that would be made of it: it must not
/// be launched so.
TEST_CASE("few multiprocessors: a scan that is captured") {
  TEST_RANDOM(random);
  const narrow_stream few;
  if (few.stream == nullptr) {
    test::skip("few multiprocessors, captured", few.why_not.c_str());
    return;
  }
  const test::plus<std::int32_t> op{};
  for (const std::size_t n : lengths(4096, random)) {
    INFO("n = ", n);
    const auto in = test::random_values<std::int32_t>(n, random);
    const test::guarded_buffer<std::int32_t> device_in(in);
    test::guarded_buffer<std::int32_t> out(n);
    std::size_t bytes = 0;
    const auto scan = [&](void *temporary) {
      return lookback::DeviceScan::InclusiveScan(
          temporary, bytes, static_cast<const std::int32_t *>(device_in.data()), out.data(), op,
          static_cast<int>(n), few.stream);
    };
    REQUIRE_CUDA(scan(nullptr));
    const test::guarded_buffer<unsigned char> temporary(bytes);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    REQUIRE_CUDA(cudaStreamBeginCapture(few.stream, cudaStreamCaptureModeThreadLocal));
    REQUIRE_CUDA(scan(temporary.data()));
    REQUIRE_CUDA(cudaStreamEndCapture(few.stream, &graph));
    REQUIRE_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    REQUIRE_CUDA(cudaGraphLaunch(executable, few.stream));
    REQUIRE_CUDA(cudaStreamSynchronize(few.stream));
    CHECK_EQ(test::first_difference(out.download(), test::serial_inclusive(in, op)), test::nowhere);
    CHECK(out.guards_intact());
    REQUIRE_CUDA(cudaGraphExecDestroy(executable));
    REQUIRE_CUDA(cudaGraphDestroy(graph));
  }
}

/// The results go over the keys: those at the boundaries must be saved although a wave would not
/// have needed it.
TEST_CASE("few multiprocessors: by key, over the keys") {
  TEST_RANDOM(random);
  const narrow_stream few;
  if (few.stream == nullptr) {
    test::skip("few multiprocessors, by key", few.why_not.c_str());
    return;
  }
  using number = std::uint32_t;
  const test::plus<number> op{};
  const lookback::equal_to equal{};
  for (const std::size_t n : lengths(4096, random)) {
    const auto keys = test::random_keys<number>(n, random),
               values = test::random_values<number>(n, random);
    const auto expected = test::serial_inclusive_by_key(keys, values, equal, op);
    test::guarded_buffer<number> device_keys(keys);
    const test::guarded_buffer<number> device_values(values);
    const auto problem = core::make_inclusive_by_key<number>(
        static_cast<const number *>(device_keys.data()),
        static_cast<const number *>(device_values.data()), device_keys.data(), equal, op);
    run_on(few.stream, problem, static_cast<std::int64_t>(n), [&] {
      CHECK_EQ(test::first_difference(device_keys.download(), expected), test::nowhere);
      CHECK(device_keys.guards_intact());
      device_keys.upload(keys);
    });
  }
}
