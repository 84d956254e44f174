// SPDX-License-Identifier: MIT
// Blocks that are late: the protocol is right whoever arrives when.
#include <lookback/device_scan.cuh>

#include <support/capture.cuh>
#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/paths.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace {

using test::path;

/// Joins intervals, and holds up every `period`th block for `nanoseconds` at each combination of
/// its first warp.
struct dawdling_join {
  unsigned period, offset, nanoseconds;
  __host__ __device__ test::interval operator()(test::interval a, test::interval b) const {
#if defined(__CUDA_ARCH__)
    if (blockIdx.x % period == offset && threadIdx.x < 32) __nanosleep(nanoseconds);
#endif
    return test::join_intervals{}(a, b);
  }
};

/// Holds its SM until `*stop` is set by the host.
__global__ void occupy(const volatile unsigned *stop) {
  extern __shared__ unsigned char memory[];
  while (*stop == 0) __nanosleep(1000);
  memory[threadIdx.x] = 0;
}

/// Holds a little of its SM until `*result` has been written, or the host sets `*stop`.
__global__ void await(const volatile test::interval *result, test::interval expected,
                      const volatile unsigned *stop, unsigned *seen) {
  while (*stop == 0) {
    if (result->begin == expected.begin && result->end == expected.end) {
      *seen = 1;
      return;
    }
    __nanosleep(1000);
  }
}

/// Lets `occupy` go, also when the test fails.
class release {
public:
  explicit release(volatile unsigned *stop) : stop_(stop) { *stop_ = 0; }
  ~release() { *stop_ = 1; }

private:
  volatile unsigned *stop_;
};

/// A scan with everything it needs, so that between launch and check nothing waits for the whole
/// device.
class interval_scan {
public:
  template <class Random>
  interval_scan(std::size_t n, path by, dawdling_join op, Random &random)
      : by_(by), op_(op), in_(elements(n)), out_(n) {
    REQUIRE_CUDA(scan(nullptr, nullptr));
    temporary_ = std::make_unique<test::guarded_buffer<unsigned char>>(bytes_, random() % 256);
  }
  void launch(cudaStream_t s) { REQUIRE_CUDA(scan(temporary_->data(), s)); }
  void poison() { out_.poison(); }
  const test::interval *last_result() const { return out_.data() + in_.size() - 1; }
  test::interval last_expected() const { return {1, static_cast<std::uint32_t>(in_.size()) + 1}; }
  void check() const {
    const auto actual = out_.download();
    std::size_t first_wrong = test::nowhere;
    for (std::size_t i = actual.size(); i-- != 0;)
      if (!(actual[i] == test::interval{1, static_cast<std::uint32_t>(i) + 2})) first_wrong = i;
    CHECK_EQ(first_wrong, test::nowhere);
    CHECK(out_.guards_intact());
    CHECK(temporary_->guards_intact());
  }

private:
  cudaError_t scan(void *temporary, cudaStream_t s) {
    namespace core = lookback::detail;
    const auto problem = core::make_problem<true, test::interval>(
        static_cast<const test::interval *>(in_.data()), out_.data(), op_, core::no_initial{});
    return test::scan_by(by_, temporary, bytes_, problem, static_cast<std::int64_t>(in_.size()),
                         core::launcher(s));
  }
  static std::vector<test::interval> elements(std::size_t n) {
    std::vector<test::interval> in;
    for (std::size_t i = 0; i < n; ++i) in.push_back(test::interval_element(i));
    return in;
  }

  path by_;
  dawdling_join op_;
  test::guarded_buffer<test::interval> in_, out_;
  std::size_t bytes_ = 0;
  std::unique_ptr<test::guarded_buffer<unsigned char>> temporary_;
};

/// Whether the device runs the pipeline.
bool pipelines() {
  lookback::detail::device_facts device;
  REQUIRE_CUDA(lookback::detail::current_device(device));
  return device.pipelines;
}

} // namespace

TEST_CASE("blocks that are held up") {
  TEST_RANDOM(random);
  test::stream s;
  for (std::size_t trial = 0; trial < test::trials(40); ++trial) {
    const unsigned period = 1 + random() % 64, offset = random() % period;
    const unsigned nanoseconds = 1 + random() % 20000;
    const std::size_t n = 1 + random() % 1500000;
    INFO("n = ", n, ", every ", period, "th block from ", offset, " held up by ", nanoseconds,
         " ns");
    // By the fastest path, which is a wave or a cluster for most of these lengths, or by the
    // look-back.
    interval_scan scan(n, trial % 2 == 0 ? path::fastest : path::look_back,
                       dawdling_join{period, offset, nanoseconds}, random);
    scan.launch(s);
    scan.check();
  }
}

TEST_CASE("the look-back and the pipeline: another kernel holds most of the GPU") {
  TEST_RANDOM(random);
  cudaDeviceProp device{};
  REQUIRE_CUDA(cudaGetDeviceProperties(&device, 0));
  const int memory = static_cast<int>(device.sharedMemPerBlockOptin);
  REQUIRE_CUDA(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, memory));
  unsigned *stop = nullptr; // seen by both
  REQUIRE_CUDA(cudaHostAlloc(&stop, sizeof(unsigned), cudaHostAllocMapped));
  test::stream s;
  const int all = device.multiProcessorCount;
  for (int free_processors : {1, 2, 7, all / 2, all - 1}) {
    INFO("free multiprocessors: ", free_processors);
    // A cluster and a wave start when there is room for all of their blocks at once, and here there
    // may be none until the scans are done.
    std::vector<std::unique_ptr<interval_scan>> scans;
    for (int i = 0; i < 6; ++i)
      scans.push_back(std::make_unique<interval_scan>(100000 + random() % 3000000,
                                                      i % 2 == 0 || !pipelines() ? path::look_back
                                                                                 : path::look_ahead,
                                                      dawdling_join{1u << 31, 1, 1}, random));
    // A kernel is loaded at its first launch, which may wait for every kernel that is running.
    for (auto &scan : scans) scan->launch(s);
    REQUIRE_CUDA(cudaStreamSynchronize(s));

    test::stream other;
    {
      const release at_the_end(stop);
      // All the shared memory of a multiprocessor: nothing else runs beside one of these blocks.
      occupy<<<all - free_processors, 32, memory, other>>>(stop);
      CHECK_CUDA(cudaGetLastError());
      for (auto &scan : scans) scan->launch(s);
      CHECK_CUDA(cudaStreamSynchronize(s));
    }
    REQUIRE_CUDA(cudaStreamSynchronize(other));
    for (const auto &scan : scans) scan->check();
  }
  REQUIRE_CUDA(cudaFreeHost(stop));
}

TEST_CASE("the look-back and the pipeline: a kernel waits for their last result") {
  TEST_RANDOM(random);
  unsigned *stop = nullptr, *seen = nullptr;
  REQUIRE_CUDA(cudaHostAlloc(&stop, sizeof(unsigned), cudaHostAllocMapped));
  REQUIRE_CUDA(cudaHostAlloc(&seen, sizeof(unsigned), cudaHostAllocMapped));
  const test::stream s, other;
  for (const path by : {path::look_back, path::look_ahead}) {
    if (by == path::look_ahead && !pipelines()) continue;
    INFO("path ", test::name_of(by));
    interval_scan scan(2500000, by, dawdling_join{1u << 31, 1, 1}, random);
    *seen = 0;
    {
      const release at_the_end(stop);
      scan.launch(s); // loads its kernels
      REQUIRE_CUDA(cudaStreamSynchronize(s));
      scan.poison();
      await<<<1, 32, 0, other>>>(scan.last_result(), scan.last_expected(), stop, seen);
      CHECK_CUDA(cudaGetLastError());
      scan.launch(s);
      // The kernel ends within this time, or only because it is told to.
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (cudaStreamQuery(other) == cudaErrorNotReady && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    }
    REQUIRE_CUDA(cudaStreamSynchronize(other));
    REQUIRE_CUDA(cudaStreamSynchronize(s));
    CHECK_EQ(*seen, 1);
    scan.check();
  }
  REQUIRE_CUDA(cudaFreeHost(stop));
  REQUIRE_CUDA(cudaFreeHost(seen));
}

/// The blocks of a wave wait for each other, and only a cooperative launch guarantees that all of
/// them are there. The pipeline's settle which of them are; what they write for that is cleared
/// before every replay of a graph.
TEST_CASE("a wave is launched cooperatively, a captured pipeline after a kernel that clears") {
  namespace core = lookback::detail;
  const test::stream s;
  const test::guarded_buffer<int> data(100000); // a wave
  const auto problem = core::make_problem<true, int>(
      static_cast<const int *>(data.data()), data.data(), lookback::plus{}, core::no_initial{});
  for (const path by : {path::wave, path::look_ahead}) {
    const auto scan = [&](void *temporary, std::size_t &bytes) {
      return test::scan_by(by, temporary, bytes, problem, static_cast<std::int64_t>(data.size()),
                           core::launcher(s));
    };
    std::size_t bytes = 0;
    REQUIRE_CUDA(scan(nullptr, bytes));
    const test::guarded_buffer<unsigned char> temporary(bytes);
    cudaError_t status = cudaSuccess;
    const test::captured graph(s, [&] { status = scan(temporary.data(), bytes); });
    const bool is_wave = by == path::wave, exists = is_wave || pipelines();
    CHECK_EQ(status, exists ? cudaSuccess : cudaErrorNotSupported);
    CHECK_EQ(graph.cooperative_launches(), is_wave ? 1 : 0);
    CHECK_EQ(graph.nodes(), is_wave ? 1 : exists ? 2 : 0);
  }
}
