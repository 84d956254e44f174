// SPDX-License-Identifier: MIT
// Every one-phase call of lookback::DeviceScan with one environment, and environments made by hand.
#pragma once

#include <lookback/device_scan.cuh>

#include <support/capture.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <algorithm>
#include <new>

namespace test {

/// `call(name, output, expected, run)` for all 16 calls without and with keys over n elements;
/// `run()` enqueues the scan with `env`, which is one environment or none.
template <class... Env>
void one_phase_calls(std::size_t n, const Env &...env) {
  using scans = lookback::DeviceScan;
  using word = std::uint32_t;
  INFO("n = ", n);
  TEST_RANDOM(random);
  const compose_words op{};
  const plus<word> sum{};
  const std::equal_to<word> equal{};
  const word init = 0x30005;
  const auto in = random_values<word>(n, random), keys = random_keys<word>(n, random);
  const guarded_buffer<word> from(in), device_keys(keys), device_init(std::vector<word>{init});
  guarded_buffer<word> to(n);
  word *const x = from.data(), *const k = device_keys.data(), *const y = to.data();
  const lookback::FutureValue<word> later(device_init.data());
  const auto check = [&](const char *name, const std::vector<word> &expected, auto call) {
    INFO(doctest::String(name));
    to.upload(in);
    REQUIRE_CUDA(call());
    CHECK_EQ(first_difference(to.download(), expected), nowhere);
  };

  const auto exclusive = serial_exclusive(in, op, init), inclusive = serial_inclusive(in, op);
  const auto from_init = serial_inclusive<word>(in, op, init);
  const auto sums = serial_inclusive(in, sum), sums_before = serial_exclusive(in, sum, 0u);
  check("ExclusiveSum", sums_before, [&] { return scans::ExclusiveSum(x, y, n, env...); });
  check("ExclusiveSum, in place", sums_before, [&] { return scans::ExclusiveSum(y, n, env...); });
  check("ExclusiveScan", exclusive,
        [&] { return scans::ExclusiveScan(x, y, op, init, n, env...); });
  check("ExclusiveScan, in place", exclusive,
        [&] { return scans::ExclusiveScan(y, op, init, n, env...); });
  check("ExclusiveScan, future", exclusive,
        [&] { return scans::ExclusiveScan(x, y, op, later, n, env...); });
  check("ExclusiveScan, future, in place", exclusive,
        [&] { return scans::ExclusiveScan(y, op, later, n, env...); });
  check("InclusiveSum", sums, [&] { return scans::InclusiveSum(x, y, n, env...); });
  check("InclusiveSum, in place", sums, [&] { return scans::InclusiveSum(y, n, env...); });
  check("InclusiveScan", inclusive, [&] { return scans::InclusiveScan(x, y, op, n, env...); });
  check("InclusiveScan, in place", inclusive,
        [&] { return scans::InclusiveScan(y, op, n, env...); });
  check("InclusiveScanInit", from_init,
        [&] { return scans::InclusiveScanInit(x, y, op, init, n, env...); });
  check("InclusiveScanInit, future", from_init,
        [&] { return scans::InclusiveScanInit(x, y, op, later, n, env...); });

  check("ExclusiveSumByKey", serial_exclusive_by_key(keys, in, equal, sum, 0u),
        [&] { return scans::ExclusiveSumByKey(k, x, y, n, equal, env...); });
  check("ExclusiveScanByKey", serial_exclusive_by_key(keys, in, equal, op, init),
        [&] { return scans::ExclusiveScanByKey(k, x, y, op, init, n, equal, env...); });
  check("InclusiveSumByKey", serial_inclusive_by_key(keys, in, equal, sum),
        [&] { return scans::InclusiveSumByKey(k, x, y, n, equal, env...); });
  check("InclusiveScanByKey", serial_inclusive_by_key(keys, in, equal, op),
        [&] { return scans::InclusiveScanByKey(k, x, y, op, n, equal, env...); });
  CHECK(to.guards_intact());
}

/// A call with `env` runs on `expected`: a capture of that stream has the scan's kernel.
template <class Env>
void runs_on(cudaStream_t expected, const Env &env) {
  const guarded_buffer<std::uint32_t> data(
      std::vector<std::uint32_t>(1000, 1)); // one tile, and so no storage
  captured graph(expected, [&] {
    REQUIRE_CUDA(lookback::DeviceScan::InclusiveSum(data.data(), data.size(), env));
  });
  CHECK_EQ(graph.nodes(), 1);
  CHECK_EQ(graph.kernels().size(), 1);
  graph.launch(expected);
  const auto sums = data.download();
  CHECK_EQ(std::max(sums.front(), sums.back()), 1000); // `env` may reverse the scan
}

/// What memory resources did.
struct resource_log {
  std::size_t allocations = 0, live_bytes = 0;
  cudaStream_t stream = nullptr; // of the last allocation
};

/// A memory resource in stream order that keeps a log; with `fails`, one that throws.
struct logging_resource {
  resource_log *log;
  bool fails = false;
  void *allocate(cudaStream_t stream, std::size_t bytes, std::size_t) {
    void *address = nullptr;
    if (fails || cudaMallocAsync(&address, bytes, stream) != cudaSuccess) throw std::bad_alloc();
    ++log->allocations, log->live_bytes += bytes, log->stream = stream;
    return address;
  }
  void deallocate(cudaStream_t stream, void *address, std::size_t bytes, std::size_t) noexcept {
    log->live_bytes -= bytes;
    cudaFreeAsync(address, stream);
  }
};

} // namespace test
