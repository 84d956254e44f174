// SPDX-License-Identifier: MIT
// What a caller can get wrong, and what can go wrong around a call: every row has its answer.
#include <lookback/lookback.cuh>

#include <support/allocator.cuh>
#include <support/capture.cuh>
#include <support/constant_iterator.hpp>
#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/iterator/discard_iterator.h>
#include <thrust/scan.h>
#include <thrust/system_error.h>
#include <thrust/transform_scan.h>

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace {

using lookback::DeviceScan;
using word = std::uint32_t;

/// The scan that must still work after something went wrong.
template <class Policy>
void check_usable(const Policy &policy, cudaStream_t s) {
  TEST_RANDOM(random);
  const auto in = test::random_values<word>(50000, random);
  const test::guarded_buffer<word> device_in(in), out(in.size());
  thrust::inclusive_scan(policy, device_in.data(), device_in.data() + in.size(), out.data());
  REQUIRE_CUDA(cudaStreamSynchronize(s));
  CHECK_EQ(test::first_difference(out.download(), test::serial_inclusive(in, test::plus<word>{})),
           test::nowhere);
  CHECK_CUDA(cudaGetLastError());
}

/// Device memory in use, by everything in this process.
std::size_t memory_in_use() {
  std::size_t available = 0, total = 0;
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_CUDA(cudaMemGetInfo(&available, &total));
  return total - available;
}

constexpr std::size_t many = std::size_t{1} << 20; // elements, enough for a workspace

} // namespace

TEST_CASE("Thrust door: n <= 0 returns the result untouched, and launches and allocates nothing") {
  test::stream s;
  test::arena_allocator arena;
  const test::guarded_buffer<word> data(std::vector<word>(100, 7));
  test::guarded_buffer<word> out(100);
  word *const first = data.data() + 50;
  const auto policy = lookback::par_nosync(arena).on(s);
  const std::equal_to<word> equal{};
  const test::plus<word> op{};
  const test::triple_plus_one<word> f{};
  for (std::ptrdiff_t n : {0, -1, -50}) {
    INFO("n = ", n);
    word *const last = first + n;
    test::captured graph(s, [&] {
      CHECK_EQ(thrust::inclusive_scan(policy, first, last, out.data()), out.data());
      CHECK_EQ(thrust::inclusive_scan(policy, first, last, out.data(), op), out.data());
      CHECK_EQ(thrust::inclusive_scan(policy, first, last, out.data(), 1u, op), out.data());
      CHECK_EQ(thrust::exclusive_scan(policy, first, last, out.data()), out.data());
      CHECK_EQ(thrust::exclusive_scan(policy, first, last, out.data(), 1u), out.data());
      CHECK_EQ(thrust::exclusive_scan(policy, first, last, out.data(), 1u, op), out.data());
      CHECK_EQ(thrust::transform_inclusive_scan(policy, first, last, out.data(), f, op),
               out.data());
      CHECK_EQ(thrust::transform_inclusive_scan(policy, first, last, out.data(), f, 1u, op),
               out.data());
      CHECK_EQ(thrust::transform_exclusive_scan(policy, first, last, out.data(), f, 1u, op),
               out.data());
      CHECK_EQ(thrust::inclusive_scan_by_key(policy, first, last, first, out.data()), out.data());
      CHECK_EQ(thrust::inclusive_scan_by_key(policy, first, last, first, out.data(), equal),
               out.data());
      CHECK_EQ(thrust::inclusive_scan_by_key(policy, first, last, first, out.data(), equal, op),
               out.data());
      CHECK_EQ(thrust::exclusive_scan_by_key(policy, first, last, first, out.data()), out.data());
      CHECK_EQ(thrust::exclusive_scan_by_key(policy, first, last, first, out.data(), 1u),
               out.data());
      CHECK_EQ(thrust::exclusive_scan_by_key(policy, first, last, first, out.data(), 1u, equal),
               out.data());
      CHECK_EQ(thrust::exclusive_scan_by_key(policy, first, last, first, out.data(), 1u, equal, op),
               out.data());
    });
    CHECK_EQ(graph.nodes(), 0u);
  }
  CHECK_EQ(arena.allocations(), 0);
  const auto untouched = out.download();
  out.poison();
  CHECK_EQ(test::first_difference(untouched, out.download()), test::nowhere);
}

TEST_CASE("CUB door: n < 0 is cudaErrorInvalidValue, in both phases, and launches nothing") {
  test::stream s;
  const test::guarded_buffer<word> data(std::vector<word>(10, 7));
  test::guarded_buffer<unsigned char> temporary(4096);
  test::captured graph(s, [&] {
    for (void *storage : {static_cast<void *>(nullptr), static_cast<void *>(temporary.data())}) {
      std::size_t bytes = 4096;
      CHECK_EQ(DeviceScan::InclusiveSum(storage, bytes, data.data(), data.data(), -1, s),
               cudaErrorInvalidValue);
      CHECK_EQ(DeviceScan::ExclusiveSum(storage, bytes, data.data(), data.data(), short{-3}, s),
               cudaErrorInvalidValue);
      CHECK_EQ(DeviceScan::InclusiveSumByKey(storage, bytes, data.data(), data.data(), data.data(),
                                             std::int64_t{-1} << 40, lookback::equal_to{}, s),
               cudaErrorInvalidValue);
    }
  });
  CHECK_EQ(graph.nodes(), 0u);
  CHECK_EQ(test::first_difference(data.download(), std::vector<word>(10, 7)), test::nowhere);
}

TEST_CASE("CUB door: n == 0 succeeds and launches nothing, with null pointers too") {
  test::stream s;
  test::guarded_buffer<unsigned char> temporary(4096);
  word *const nothing = nullptr;
  test::captured graph(s, [&] {
    std::size_t bytes = 0;
    CHECK_CUDA(DeviceScan::InclusiveSum(nullptr, bytes, nothing, nothing, 0, s));
    CHECK_LE(bytes, 4096u);
    CHECK_CUDA(DeviceScan::InclusiveSum(temporary.data(), bytes, nothing, nothing, 0, s));
    CHECK_CUDA(DeviceScan::ExclusiveSumByKey(temporary.data(), bytes, nothing, nothing, nothing, 0u,
                                             lookback::equal_to{}, s));
  });
  CHECK_EQ(graph.nodes(), 0u);
}

TEST_CASE("CUB door: null temporary storage is the size query and nothing else") {
  test::stream s;
  const test::guarded_buffer<word> data(std::vector<word>(many, 7));
  test::guarded_buffer<word> out(many);
  std::size_t bytes = 12345;
  test::captured graph(s, [&] {
    CHECK_CUDA(DeviceScan::InclusiveSum(nullptr, bytes, data.data(), out.data(), many, s));
  });
  CHECK_EQ(graph.nodes(), 0u);
  CHECK_GT(bytes, 0u);
  CHECK_NE(bytes, 12345u);
}

TEST_CASE("CUB door: too little temporary storage is cudaErrorInvalidValue and launches nothing") {
  TEST_RANDOM(random);
  test::stream s;
  for (std::size_t n : {std::size_t{100}, std::size_t{10000}, many}) {
    INFO("n = ", n);
    const test::guarded_buffer<word> data(std::vector<word>(n, 7));
    const test::guarded_buffer<word> out(n);
    std::size_t needed = 0;
    REQUIRE_CUDA(DeviceScan::InclusiveSum(nullptr, needed, data.data(), out.data(), n));
    REQUIRE_GT(needed, 0u);
    const test::guarded_buffer<unsigned char> temporary(needed);
    test::captured graph(s, [&] {
      for (std::size_t too_few : {std::size_t{0}, needed / 2, needed - 1}) {
        std::size_t bytes = too_few;
        CHECK_EQ(DeviceScan::InclusiveSum(temporary.data(), bytes, data.data(), out.data(), n, s),
                 cudaErrorInvalidValue);
      }
    });
    CHECK_EQ(graph.nodes(), 0u);
  }
}

TEST_CASE("CUB door: temporary storage at every alignment") {
  TEST_RANDOM(random);
  const auto in = test::random_values<word>(100000, random);
  const auto keys = test::random_keys<word>(in.size(), random);
  const auto expected = test::serial_inclusive(in, test::plus<word>{});
  const auto expected_by_key =
      test::serial_inclusive_by_key(keys, in, std::equal_to<word>{}, test::plus<word>{});
  const test::guarded_buffer<word> device_in(in), device_keys(keys);
  test::guarded_buffer<word> out(in.size());
  for (std::size_t misalignment = 0; misalignment < 256;
       misalignment += misalignment < 20 ? 1 : 29) {
    INFO("misaligned by ", misalignment);
    out.poison();
    test::two_phases(
        [&](void *temporary, std::size_t &bytes) {
          return DeviceScan::InclusiveSum(temporary, bytes, device_in.data(), out.data(),
                                          in.size());
        },
        misalignment);
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    out.poison();
    test::two_phases(
        [&](void *temporary, std::size_t &bytes) {
          return DeviceScan::InclusiveSumByKey(temporary, bytes, device_keys.data(),
                                               device_in.data(), out.data(), in.size());
        },
        misalignment);
    CHECK_EQ(test::first_difference(out.download(), expected_by_key), test::nowhere);
  }
}

TEST_CASE("CUB door: the bytes of temporary storage do not wrap") {
  const auto bytes_for = [](auto n) {
    std::size_t bytes = 0;
    const auto in = test::constant_iterator(test::sized<256>{});
    const cudaError_t status = DeviceScan::InclusiveScan(
        nullptr, bytes, in, thrust::make_discard_iterator(), test::compose{}, n);
    // What cannot be scanned is refused; it is not scanned with less storage than it needs.
    return status == cudaSuccess ? bytes : ~std::size_t{0};
  };
  std::size_t before = 0;
  for (int log = 10; log < 64; ++log) {
    INFO("n = 2^", log);
    const std::size_t now = bytes_for(std::uint64_t{1} << log);
    CHECK_GE(now, before);
    before = now;
  }
  CHECK_EQ(bytes_for(~std::uint64_t{0}), before);
  SUBCASE("an unsigned count above 2^31 is not negative") {
    CHECK_GT(bytes_for(3000000000u), bytes_for(2000000000u));
    CHECK_NE(bytes_for(3000000000u), ~std::size_t{0});
  }
}

TEST_CASE("CUB door: a launch that cannot be is reported, and the stream is usable afterwards") {
  test::stream s;
  const test::guarded_buffer<word> data(std::vector<word>(many, 7));
  std::size_t bytes = 0;
  REQUIRE_CUDA(DeviceScan::InclusiveSum(nullptr, bytes, data.data(), data.data(), many));
  const test::guarded_buffer<unsigned char> temporary(bytes);

  // A forbidden call ruins the capture; whatever is launched into it from then on is refused.
  REQUIRE_CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  void *forbidden = nullptr;
  REQUIRE_NE(cudaMalloc(&forbidden, 16), cudaSuccess);
  CHECK_NE(DeviceScan::InclusiveSum(temporary.data(), bytes, data.data(), data.data(), many, s),
           cudaSuccess);
  CHECK_THROWS_AS(
      thrust::inclusive_scan(lookback::par.on(s), data.data(), data.data() + many, data.data()),
      thrust::system_error);
  CHECK_THROWS_AS(thrust::inclusive_scan(lookback::par_nosync.on(s), data.data(),
                                         data.data() + many, data.data()),
                  thrust::system_error);
  cudaGraph_t graph = nullptr;
  CHECK_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();

  check_usable(lookback::par.on(s), s);
}

TEST_CASE("Thrust door: an allocator that throws, at every allocation in turn") {
  test::stream s;
  test::arena_allocator arena;
  const test::guarded_buffer<word> data(std::vector<word>(many, 7)), out(many);
  int failures = 0;
  for (int k = 0;; ++k) {
    INFO("allocation ", k);
    REQUIRE_LT(k, 100);
    arena.fail_from(k, test::arena_allocator::failure::throws);
    const int before = arena.failures();
    bool thrown = false;
    try {
      thrust::inclusive_scan(lookback::par(arena).on(s), data.data(), data.data() + many,
                             out.data());
    } catch (const std::exception &) {
      thrown = true;
    }
    CHECK_EQ(thrown, arena.failures() > before);
    CHECK_EQ(arena.outstanding(), 0u);
    arena.never_fail();
    check_usable(lookback::par(arena).on(s), s);
    if (!thrown) break;
    ++failures;
  }
  CHECK_GE(failures, 1);
}

TEST_CASE("Thrust door: an allocator that returns null throws, and nothing is scanned") {
  test::stream s;
  test::arena_allocator arena;
  const test::guarded_buffer<word> data(std::vector<word>(many, 7));
  test::guarded_buffer<word> out(many);
  arena.fail_from(0, test::arena_allocator::failure::returns_null);
  CHECK_THROWS_AS(thrust::inclusive_scan(lookback::par(arena).on(s), data.data(),
                                         data.data() + many, out.data()),
                  std::exception);
  CHECK_THROWS_AS(thrust::exclusive_scan_by_key(lookback::par(arena).on(s), data.data(),
                                                data.data() + many, data.data(), out.data()),
                  std::exception);
  CHECK_EQ(arena.failures(), 2);
  CHECK_EQ(arena.outstanding(), 0u);
  const auto untouched = out.download();
  out.poison();
  CHECK_EQ(test::first_difference(untouched, out.download()), test::nowhere);
  arena.never_fail();
  check_usable(lookback::par(arena).on(s), s);
}

TEST_CASE("Thrust door: out of device memory throws, leaks nothing and leaves the stream usable") {
  test::stream s;
  // No element of this scan is in memory, but its workspace takes more than 256 MiB, or 4 MiB in
  // short runs.
  using wide = test::sized<256>;
  const auto first = test::constant_iterator(wide{{1, 1, 1}});
  const std::ptrdiff_t n = std::ptrdiff_t{1} << (test::runs_short() ? 20 : 26);
  const auto scan = [&] {
    thrust::inclusive_scan(lookback::par.on(s), first, first + n, thrust::make_discard_iterator(),
                           test::compose{});
  };
  // What a kernel's first launch takes for good, its code and its stack, is not the workspace.
  scan();
  check_usable(lookback::par.on(s), s);
  REQUIRE_CUDA(lookback::release_workspace());
  const std::size_t in_use = memory_in_use();

  std::vector<void *> hoard;
  for (std::size_t bytes = std::size_t{1} << 36; bytes >= std::size_t{1} << 21;) {
    void *memory = nullptr;
    if (cudaMalloc(&memory, bytes) == cudaSuccess)
      hoard.push_back(memory);
    else
      bytes /= 2;
  }
  cudaGetLastError();
  for (int attempt = 0; attempt < 3; ++attempt) CHECK_THROWS_AS(scan(), thrust::system_error);
  // In a capture the message names the way without lookback's memory.
  std::string message;
  test::captured nothing(s, [&] {
    try {
      scan();
    } catch (const thrust::system_error &error) {
      message = error.what();
    }
  });
  CHECK_NE(message.find("par(allocator)"), std::string::npos);
  CHECK_EQ(nothing.nodes(), 0u);
  for (void *memory : hoard) CHECK_CUDA(cudaFree(memory));
  REQUIRE_CUDA(lookback::release_workspace());
  CHECK_LE(memory_in_use(), in_use);

  CHECK_NOTHROW(scan());
  check_usable(lookback::par.on(s), s);
  REQUIRE_CUDA(lookback::release_workspace());
  CHECK_LE(memory_in_use(), in_use);
}

TEST_CASE("Thrust door: a thousand calls use no more memory than one") {
  test::stream s;
  const test::guarded_buffer<word> data(std::vector<word>(many, 7)), out(many);
  const auto scan = [&] {
    thrust::inclusive_scan(lookback::par.on(s), data.data(), data.data() + many, out.data());
  };
  scan();
  const std::size_t in_use = memory_in_use();
  for (std::size_t call = 0; call < test::trials(1000); ++call) scan();
  CHECK_LE(memory_in_use(), in_use);
}

TEST_CASE("a call that synchronises can be captured, with no workspace kept, and replayed") {
  test::stream s;
  const test::guarded_buffer<word> data(std::vector<word>(many, 7));
  test::guarded_buffer<word> out(many);
  const auto expected = test::serial_inclusive(std::vector<word>(many, 7), test::plus<word>{});
  REQUIRE_CUDA(lookback::release_workspace());
  // Synchronising, by its contract, outside of capture.
  test::captured graph(s, [&] {
    thrust::inclusive_scan(lookback::par.on(s), data.data(), data.data() + many, out.data());
  });
  for (int replay = 0; replay < 2; ++replay) {
    out.poison();
    graph.launch(s);
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
  }
}
