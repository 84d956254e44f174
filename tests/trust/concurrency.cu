// SPDX-License-Identifier: MIT
// Scans at the same time: host threads on one stream and on several, graphs replayed at once, the
// first call from many.
#include <lookback/lookback.cuh>

#include <support/capture.cuh>
#include <support/operators.hpp>
#include <support/paths.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/scan.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using word = std::uint32_t;
const test::compose_words op{};

/// One caller's input, output and expected results.
struct job {
  template <class Random>
  explicit job(Random &random)
      : in(test::random_values<word>(1 + random() % 2000000, random)),
        expected(test::serial_inclusive(in, op)), device_in(in), out(in.size()) {}

  template <class Policy>
  void scan(const Policy &policy) {
    thrust::inclusive_scan(policy, device_in.data(), device_in.data() + in.size(), out.data(), op);
  }
  void check() const {
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    CHECK(out.guards_intact());
  }

  std::vector<word> in, expected;
  test::guarded_buffer<word> device_in, out;
};

template <class Random>
std::vector<std::unique_ptr<job>> jobs(int count, Random &random) {
  std::vector<std::unique_ptr<job>> result;
  for (int i = 0; i < count; ++i) result.push_back(std::make_unique<job>(random));
  return result;
}

/// `work(i)` on a thread of its own for each i; what they throw is a failure.
template <class Work>
void in_threads(int count, Work work) {
  std::atomic<int> ready{0};
  std::vector<std::string> errors(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      ++ready;
      while (ready != count) std::this_thread::yield();
      try {
        work(i);
      } catch (const std::exception &error) {
        errors[i] = error.what();
      }
    });
  for (auto &thread : threads) thread.join();
  for (const auto &error : errors) CHECK_EQ(error, "");
}

constexpr int callers = 4;
const int calls = static_cast<int>(test::trials(25));

} // namespace

TEST_CASE("host threads: the first scan of the process, from several at once") {
  TEST_RANDOM(random);
  const auto work = jobs(callers, random);
  in_threads(callers, [&](int i) { work[i]->scan(lookback::par); });
  for (const auto &one : work) one->check();
}

/// Raising the kernel's limit on shared memory is done once, by whichever thread comes first; none
/// may launch before it is.
TEST_CASE("host threads: the first pipeline of the process, from several at once") {
  namespace core = lookback::detail;
  TEST_RANDOM(random);
  const auto work = jobs(callers, random);
  std::vector<test::stream> streams(callers);
  const auto scan = [&](int i, void *temporary, std::size_t &bytes) {
    const auto problem =
        core::make_problem<true, word>(static_cast<const word *>(work[i]->device_in.data()),
                                       work[i]->out.data(), op, core::no_initial{});
    return test::scan_by(test::path::look_ahead, temporary, bytes, problem,
                         static_cast<std::int64_t>(work[i]->in.size()), core::launcher(streams[i]));
  };
  std::vector<std::size_t> bytes(callers);
  std::vector<std::unique_ptr<test::guarded_buffer<unsigned char>>> temporaries;
  for (int i = 0; i < callers; ++i) {
    REQUIRE_CUDA(scan(i, nullptr, bytes[i]));
    temporaries.push_back(std::make_unique<test::guarded_buffer<unsigned char>>(bytes[i]));
  }
  int major = 0;
  REQUIRE_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major < 9) return; // no pipeline there
  in_threads(callers, [&](int i) {
    const cudaError_t status = scan(i, temporaries[i]->data(), bytes[i]);
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
  });
  for (const auto &one : work) one->check();
}

TEST_CASE("host threads on streams of their own") {
  TEST_RANDOM(random);
  const auto work = jobs(callers, random);
  std::vector<test::stream> streams(callers);
  in_threads(callers, [&](int i) {
    for (int call = 0; call < calls; ++call) work[i]->scan(lookback::par_nosync.on(streams[i]));
  });
  for (const auto &one : work) one->check();
}

TEST_CASE("host threads on one stream") {
  TEST_RANDOM(random);
  const auto work = jobs(callers, random);
  test::stream s;
  in_threads(callers, [&](int i) {
    for (int call = 0; call < calls; ++call) {
      work[i]->scan(lookback::par_nosync.on(s));
      work[i]->scan(lookback::par.on(s));
    }
  });
  for (const auto &one : work) one->check();
}

TEST_CASE("host threads: memory given back while others scan") {
  TEST_RANDOM(random);
  const auto work = jobs(callers, random);
  std::vector<test::stream> streams(callers);
  in_threads(callers, [&](int i) {
    for (int call = 0; call < calls; ++call) {
      work[i]->scan(lookback::par_nosync.on(streams[i]));
      if (i == 0 && lookback::release_workspace() != cudaSuccess)
        throw std::runtime_error("release_workspace");
    }
  });
  for (const auto &one : work) one->check();
}

TEST_CASE("captured graphs replayed at the same time") {
  TEST_RANDOM(random);
  const auto work = jobs(callers, random);
  std::vector<test::stream> streams(callers);
  std::vector<std::unique_ptr<test::captured>> graphs;
  for (int i = 0; i < callers; ++i)
    graphs.push_back(std::make_unique<test::captured>(
        streams[i], [&] { work[i]->scan(lookback::par_nosync.on(streams[i])); }));
  for (int replay = 0; replay < calls; ++replay)
    for (int i = 0; i < callers; ++i) graphs[i]->launch(streams[i]);
  for (const auto &one : work) one->check();
}

/// The barrier at which the blocks of a wave meet must be each launch's own, and so must the
/// answers by which those of a pipeline settle.
TEST_CASE("captured graphs of a wave and a pipeline, replayed at the same time and again") {
  namespace core = lookback::detail;
  TEST_RANDOM(random);
  core::device_facts device;
  REQUIRE_CUDA(core::current_device(device));
  if (!device.cooperates) return; // neither exists there
  /// Two scans of their own input, one behind the other, by two paths.
  struct pair {
    explicit pair(std::mt19937_64 &drawn)
        : in(test::random_values<word>(2 * 4096 + drawn() % (100 * 4096), drawn)),
          expected(test::serial_inclusive(in, op)), device_in(in), by_wave(in.size()),
          by_pipeline(in.size()) {
      REQUIRE_CUDA(scan(nullptr, by_wave, test::path::wave, nullptr));
      const std::size_t of_wave = bytes;
      scan(nullptr, by_pipeline, test::path::look_ahead, nullptr); // refused where it cannot run
      bytes = std::max(bytes, of_wave);
      temporary = std::make_unique<test::guarded_buffer<unsigned char>>(bytes);
    }
    cudaError_t scan(void *room, const test::guarded_buffer<word> &out, test::path by,
                     cudaStream_t s) {
      const auto problem = core::make_problem<true, word>(
          static_cast<const word *>(device_in.data()), out.data(), op, core::no_initial{});
      return test::scan_by(by, room, bytes, problem, static_cast<std::int64_t>(in.size()),
                           core::launcher(s));
    }
    std::vector<word> in, expected;
    test::guarded_buffer<word> device_in, by_wave, by_pipeline;
    std::size_t bytes = 0;
    std::unique_ptr<test::guarded_buffer<unsigned char>> temporary; // of both scans
  };
  std::vector<std::unique_ptr<pair>> pairs;
  std::vector<test::stream> streams(callers);
  std::vector<std::unique_ptr<test::captured>> graphs;
  for (int i = 0; i < callers; ++i) {
    pairs.push_back(std::make_unique<pair>(random));
    pair &one = *pairs.back();
    graphs.push_back(std::make_unique<test::captured>(streams[i], [&] {
      REQUIRE_CUDA(one.scan(one.temporary->data(), one.by_wave, test::path::wave, streams[i]));
      if (device.pipelines)
        REQUIRE_CUDA(
            one.scan(one.temporary->data(), one.by_pipeline, test::path::look_ahead, streams[i]));
    }));
    CHECK_EQ(graphs.back()->cooperative_launches(), 1);
  }
  for (int again = 0; again < 2; ++again) {
    for (const auto &one : pairs) one->by_wave.poison(), one->by_pipeline.poison();
    for (int replay = 0; replay < calls; ++replay)
      for (int i = 0; i < callers; ++i) graphs[i]->launch(streams[i]);
    for (const auto &one : pairs) {
      CHECK_EQ(test::first_difference(one->by_wave.download(), one->expected), test::nowhere);
      if (device.pipelines)
        CHECK_EQ(test::first_difference(one->by_pipeline.download(), one->expected), test::nowhere);
      CHECK(one->temporary->guards_intact());
    }
  }
}

TEST_CASE("one temporary storage, one stream, many scans behind each other") {
  TEST_RANDOM(random);
  const auto work = jobs(callers, random);
  test::stream s;
  std::size_t most = 0;
  for (const auto &one : work) {
    std::size_t bytes = 0;
    REQUIRE_CUDA(lookback::DeviceScan::InclusiveScan(nullptr, bytes, one->device_in.data(),
                                                     one->out.data(), op, one->in.size(), s));
    most = std::max(most, bytes);
  }
  const test::guarded_buffer<unsigned char> temporary(most, random() % 256);
  for (int call = 0; call < calls; ++call)
    for (const auto &one : work) {
      std::size_t bytes = most;
      REQUIRE_CUDA(lookback::DeviceScan::InclusiveScan(
          temporary.data(), bytes, one->device_in.data(), one->out.data(), op, one->in.size(), s));
    }
  for (const auto &one : work) one->check();
  CHECK(temporary.guards_intact());
}
