// SPDX-License-Identifier: MIT
#include <doors/default_stream.cuh>

#include <support/buffers.cuh>
#include <support/capture.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/system_error.h>

namespace {

using test::kind;
using test::word;

/// More than one tile.
constexpr std::size_t n = 100000;

} // namespace

TEST_CASE("the per-thread unit's scans go to the stream of this thread") {
  TEST_RANDOM(random);
  const auto in = test::random_values<word>(n, random);
  const auto expected = test::serial_inclusive(in, test::plus<word>{});
  test::guarded_buffer<word> data(in);
  for (const kind which : {kind::lookback_policy, kind::null_stream, kind::thrust_policy}) {
    INFO("kind ", static_cast<int>(which));
    data.upload(in);
    test::captured graph(cudaStreamPerThread,
                         [&] { test::per_thread_unit::scan(data.data(), n, which); });
    CHECK(!graph.kernels().empty());
    CHECK_EQ(test::first_difference(data.download(), in), test::nowhere);
    graph.launch(cudaStreamPerThread);
    CHECK_EQ(test::first_difference(data.download(), expected), test::nowhere);
  }
}

TEST_CASE(
    "the legacy unit's scans do not: the legacy stream cannot be used beside a captured one") {
  TEST_RANDOM(random);
  const auto in = test::random_values<word>(n, random);
  const auto expected = test::serial_inclusive(in, test::plus<word>{});
  test::guarded_buffer<word> data(in);
  for (const kind which : {kind::lookback_policy, kind::null_stream, kind::thrust_policy}) {
    INFO("kind ", static_cast<int>(which));
    data.upload(in);
    REQUIRE_CUDA(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
    CHECK_THROWS_AS(test::legacy_unit::scan(data.data(), n, which), thrust::system_error);
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(cudaStreamPerThread, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    CHECK_EQ(test::first_difference(data.download(), in), test::nowhere);

    test::legacy_unit::scan(data.data(), n, which);
    CHECK_EQ(test::first_difference(data.download(), expected), test::nowhere);
  }
}

TEST_CASE("the per-thread unit's selections know that this thread's stream is captured") {
  const std::vector<word> in{3, 0, 4};
  const test::guarded_buffer<word> data(in);
  const test::captured graph(cudaStreamPerThread, [&] {
    try {
      test::per_thread_unit::remove_zeros(data.data(), 3);
      FAIL("no exception");
    } catch (const thrust::system_error &error) {
      CHECK_EQ(error.code().value(), static_cast<int>(cudaErrorStreamCaptureUnsupported));
    }
  });
  CHECK_EQ(test::legacy_unit::remove_zeros(data.data(), 3), data.data() + 2);
  CHECK_EQ(data.download()[1], 4u);
}
