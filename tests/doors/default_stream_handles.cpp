// SPDX-License-Identifier: MIT
// Needs no GPU: a policy knows its stream without one.
#include <doors/default_stream.cuh>

#include <doctest/doctest.h>

TEST_CASE(
    "lookback::par, lookback::par_nosync: the default stream is that of the unit which calls") {
  for (const auto &[policy, stream] : test::legacy_unit::default_streams()) {
    INFO("legacy unit, ", policy);
    CHECK_EQ(stream, cudaStreamLegacy);
  }
  for (const auto &[policy, stream] : test::per_thread_unit::default_streams()) {
    INFO("per-thread unit, ", policy);
    CHECK_EQ(stream, cudaStreamPerThread);
  }
  for (cudaStream_t stream : {cudaStreamLegacy, cudaStreamPerThread}) {
    CHECK_EQ(test::legacy_unit::own_stream(stream), stream);
    CHECK_EQ(test::per_thread_unit::own_stream(stream), stream);
  }
}
