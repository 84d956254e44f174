// SPDX-License-Identifier: MIT
// Every policy of the Thrust door, and the proof that a call with it ran lookback's kernels.
#pragma once

#include <support/allocator.cuh>
#include <support/buffers.cuh>
#include <support/capture.cuh>
#include <support/serial_reference.hpp>

#include <lookback/execution_policy.cuh>

#include <vector>

namespace test {

/// The stream of `par` itself. A source compiled with --default-stream=per-thread can capture it;
/// the legacy one cannot be captured.
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
inline cudaStream_t default_stream() { return cudaStreamPerThread; }
inline constexpr bool default_stream_can_be_captured = true;
#else
inline cudaStream_t default_stream() { return cudaStreamLegacy; }
inline constexpr bool default_stream_can_be_captured = false;
#endif

/// `body(name, policy, stream, synchronises, allocator or null)`.
template <class Body>
void for_each_policy(Body body) {
  stream s;
  arena_allocator arena;
  const cudaStream_t none = default_stream();
  body("par", lookback::par, none, true, nullptr);
  body("par.on(s)", lookback::par.on(s), cudaStream_t(s), true, nullptr);
  body("par(alloc)", lookback::par(arena), none, true, &arena);
  body("par(alloc).on(s)", lookback::par(arena).on(s), cudaStream_t(s), true, &arena);
  body("par_nosync", lookback::par_nosync, none, false, nullptr);
  body("par_nosync.on(s)", lookback::par_nosync.on(s), cudaStream_t(s), false, nullptr);
  body("par_nosync(alloc)", lookback::par_nosync(arena), none, false, &arena);
  body("par_nosync(alloc).on(s)", lookback::par_nosync(arena).on(s), cudaStream_t(s), false,
       &arena);
  CHECK_EQ(arena.outstanding(), 0u);
}

/// `call(policy)` writes to `out` and returns the end of what it wrote. For every policy: the
/// results, directly and from a captured graph replayed twice; that a synchronising call has
/// finished when it returns; and whose kernels ran.
template <class T, class Call>
void check_every_policy(const char *call_name, guarded_buffer<T> &out,
                        const std::vector<T> &expected, Call call) {
  INFO("call ", call_name, ", n = ", expected.size());
  T *const end = out.data() + expected.size();
  for_each_policy([&](const char *policy_name, const auto &policy, cudaStream_t s,
                      bool synchronises, arena_allocator *allocator) {
    INFO("policy ", policy_name);
    out.poison();
    CHECK_EQ(call(policy), end);
    if (synchronises) CHECK_EQ(cudaStreamQuery(s), cudaSuccess);
    CHECK_EQ(first_difference(out.download(), expected), nowhere);
    CHECK(out.guards_intact());
    // A workspace that a large input needs comes from the user's allocator and from nowhere else.
    if (allocator && expected.size() > 1000000) CHECK_GT(allocator->allocations(), 0);

    if (s != default_stream() || default_stream_can_be_captured) {
      out.poison();
      captured graph(s, [&] { CHECK_EQ(call(policy), end); });
      const auto kernels = graph.kernels();
      CHECK(!kernels.empty());
      for (const auto &kernel : kernels) CHECK_MESSAGE(is_lookback_kernel(kernel), kernel);
      for (int replay = 0; replay < 2; ++replay) {
        out.poison();
        graph.launch(s);
        REQUIRE_CUDA(cudaStreamSynchronize(s));
        CHECK_EQ(first_difference(out.download(), expected), nowhere);
      }
    }
  });
}

} // namespace test
