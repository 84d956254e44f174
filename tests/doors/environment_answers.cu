// SPDX-License-Identifier: MIT
// What is understood of an environment, without a GPU: its stream and its memory resource. Those of
// CCCL, where it is new enough to have them.
#include <lookback/dispatch/environment.cuh>

#include <doctest/doctest.h>
#include <thrust/version.h>

#if THRUST_VERSION >= 300500
#include <cuda/execution>
#include <cuda/memory_resource>
#include <cuda/stream_ref>
#endif

#include <new>

namespace environments {

const auto stream = reinterpret_cast<cudaStream_t>(0x1000); // never used as one

struct converts {
  operator cudaStream_t() const { return stream; }
};
struct wraps {
  cudaStream_t get() const { return stream; }
};
struct has_stream {
  wraps stream() const { return {}; }
};
struct has_get_stream {
  converts get_stream() const { return {}; }
};
struct nothing {};
struct pointer_to_something_else {
  int *get() const { return nullptr; }
};

struct counts {
  int allocations = 0, live = 0;
};
/// Memory of the host, one allocation at most.
struct resource {
  counts *count;
  bool throws = false;
  void *allocate(cudaStream_t, std::size_t bytes, std::size_t) {
    if (throws) throw std::bad_alloc();
    ++count->allocations, ++count->live;
    return ::operator new(bytes);
  }
  void deallocate(cudaStream_t, void *address, std::size_t, std::size_t) {
    --count->live;
    ::operator delete(address);
    if (count->live < 0) throw 1;
  }
};
/// One that cannot be copied.
struct pool : resource {
  explicit pool(counts &count) : resource{&count} {}
  pool(const pool &) = delete;
  pool &operator=(const pool &) = delete;
};
struct has_resource {
  resource own;
  resource get_memory_resource() const noexcept { return own; }
  cudaStream_t stream() const { return environments::stream; }
};

} // namespace environments

using namespace environments;
using lookback::detail::resource_of;
using lookback::detail::stream_of;
template <class Env>
using resource_in = decltype(resource_of(std::declval<const Env &>()));

TEST_CASE("environments: the stream") {
  CHECK_EQ(stream_of(stream), stream);
  CHECK_EQ(stream_of(nullptr), nullptr);
  CHECK_EQ(stream_of(converts{}), stream);
  CHECK_EQ(stream_of(wraps{}), stream);
  CHECK_EQ(stream_of(has_stream{}), stream);
  CHECK_EQ(stream_of(has_get_stream{}), stream);
  CHECK_EQ(stream_of(has_resource{}), stream);
  CHECK_EQ(stream_of(nothing{}), nullptr);
  CHECK_EQ(stream_of(pointer_to_something_else{}), nullptr);
}

TEST_CASE("environments: the memory resource") {
  using lookback::detail::default_environment;
  CHECK(std::is_same<resource_in<resource>, resource>::value);
  CHECK(std::is_same<resource_in<has_resource>, resource>::value);
  CHECK(std::is_same<resource_in<pool>, lookback::detail::borrowed_resource<pool>>::value);
  CHECK(std::is_same<resource_in<nothing>, default_environment>::value);
  CHECK(std::is_same<resource_in<cudaStream_t>, default_environment>::value);
  CHECK(std::is_same<resource_in<has_stream>, default_environment>::value);
}

TEST_CASE(
    "environments: storage goes back where it came from, and a resource that throws is an error") {
  counts count;
  using storage = lookback::detail::resource_storage<resource>;
  {
    storage from({&count}, stream);
    CHECK_EQ(from.allocate(1000), cudaSuccess);
    CHECK_NE(from.address(), nullptr);
    CHECK_EQ(count.live, 1);
  }
  CHECK_EQ(count.live, 0);
  CHECK_EQ(count.allocations, 1);
  pool owner(count);
  {
    lookback::detail::resource_storage<resource_in<pool>> from(resource_of(owner), stream);
    CHECK_EQ(from.allocate(1000), cudaSuccess);
    CHECK_EQ(count.live, 1);
  }
  CHECK_EQ(count.live, 0);
  storage failing({&count, true}, stream);
  CHECK_EQ(failing.allocate(1000), cudaErrorMemoryAllocation);
  CHECK_EQ(failing.address(), nullptr);
}

#if THRUST_VERSION >= 300500
namespace execution = cuda::std::execution;

namespace environments {

struct selector {
  constexpr nothing operator()(cuda::compute_capability) const { return {}; }
};
struct answers_both {
  resource own;
  cuda::stream_ref query(const cuda::get_stream_t &) const noexcept {
    return cuda::stream_ref{environments::stream};
  }
  resource query(const cuda::mr::get_memory_resource_t &) const noexcept { return own; }
};

} // namespace environments

TEST_CASE("environments of cuda::std::execution") {
  const cuda::stream_ref reference{stream};
  const execution::prop streamed{cuda::get_stream, reference};
  counts count;
  const execution::prop remembered{cuda::mr::get_memory_resource, resource{&count}};
  const auto deterministic = cuda::execution::require(cuda::execution::determinism::gpu_to_gpu);
  const auto tuned = cuda::execution::tune(selector{});
  const execution::env inner{tuned, streamed};

  CHECK_EQ(stream_of(reference), stream);
  CHECK_EQ(stream_of(streamed), stream);
  CHECK_EQ(stream_of(execution::env{deterministic, remembered, streamed}), stream);
  CHECK_EQ(stream_of(execution::env{deterministic, inner}), stream);
  CHECK_EQ(stream_of(answers_both{}), stream);
  CHECK_EQ(stream_of(deterministic), nullptr);
  CHECK_EQ(stream_of(tuned), nullptr);
  CHECK_EQ(stream_of(execution::env<>{}), nullptr);

  CHECK_EQ(resource_of(remembered).count, &count);
  CHECK_EQ(resource_of(execution::env{deterministic, streamed, remembered}).count, &count);
  CHECK_EQ(resource_of(answers_both{{&count}}).count, &count);
  CHECK(std::is_same<resource_in<decltype(inner)>, lookback::detail::default_environment>::value);
}
#endif
