// SPDX-License-Identifier: MIT
// One-phase calls with the environments of CCCL 3.5 and newer, and cuda::args::deferred. Where CCCL
// is older, this file is not compiled.
// Before anything of CCCL, whose queries they have only declared.
#include <lookback/device_partition.cuh>
#include <lookback/device_reduce.cuh>
#include <lookback/device_run_length_encode.cuh>
#include <lookback/device_scan.cuh>
#include <lookback/device_select.cuh>

#include <support/device_call.cuh>
#include <support/one_phase_calls.cuh>

#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <cuda/argument>
#include <cuda/execution>
#include <cuda/memory_pool>
#include <cuda/memory_resource>
#include <cuda/stream>

static_assert(THRUST_VERSION >= 300500, "the include path has an older CCCL in front");

namespace execution = cuda::std::execution;
namespace determinism = cuda::execution::determinism;
using lookback::DeviceScan;

// Every one-phase call of CUB's exists, with CUB's parameters.
#define EXISTS(name, ...)                                                                          \
  static_assert(                                                                                   \
      std::is_pointer<decltype(static_cast<cudaError_t (*)(__VA_ARGS__)>(&Library::name))>::value, \
      #name)

namespace {

template <class Library>
struct calls_of_cub {
  using in = const int *;
  using out = long *;
  using op = test::plus<long>;
  using equal = lookback::equal_to;
  using env = const execution::env<> &;
  EXISTS(ExclusiveSum, in, out, int, env);
  EXISTS(ExclusiveSum, out, int, env);
  EXISTS(ExclusiveScan, in, out, op, long, int, env);
  EXISTS(ExclusiveScan, out, op, long, int, env);
  EXISTS(InclusiveSum, in, out, int, env);
  EXISTS(InclusiveSum, out, int, env);
  EXISTS(InclusiveScan, in, out, op, int, env);
  EXISTS(InclusiveScan, out, op, int, env);
  EXISTS(InclusiveScanInit, in, out, op, long, int, env);
  EXISTS(ExclusiveSumByKey, in, in, out, int, equal, env);
  EXISTS(ExclusiveScanByKey, in, in, out, op, long, int, equal, env);
  EXISTS(InclusiveSumByKey, in, in, out, int, equal, env);
  EXISTS(InclusiveScanByKey, in, in, out, op, int, equal, env);
};
template struct calls_of_cub<cub::DeviceScan>;
template struct calls_of_cub<DeviceScan>;

struct is_odd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
template <class Library>
struct selections_of_cub {
  using in = const int *;
  using out = int *;
  using size = std::int64_t;
  using equal = lookback::equal_to;
  using env = const execution::env<> &;
  EXISTS(Flagged, in, in, out, out, size, env);
  EXISTS(Flagged, out, in, out, size, env);
  EXISTS(FlaggedIf, in, in, out, out, size, is_odd, env);
  EXISTS(FlaggedIf, out, in, out, size, is_odd, env);
  EXISTS(If, in, out, out, size, is_odd, env);
  EXISTS(If, out, out, size, is_odd, env);
  EXISTS(Unique, in, out, out, size, env);
  EXISTS(Unique, out, out, size, env);
  EXISTS(Unique, in, out, out, size, equal, env);
  EXISTS(Unique, out, out, size, equal, env);
  EXISTS(UniqueByKey, in, in, out, out, out, size, env);
  EXISTS(UniqueByKey, in, in, out, out, out, size, equal, env);
};
template <class Library>
struct partitions_of_cub {
  using in = const int *;
  using out = int *;
  using size = std::int64_t;
  using env = const execution::env<> &;
  EXISTS(Flagged, in, in, out, out, size, env);
  EXISTS(If, in, out, out, size, is_odd, env);
  EXISTS(If, in, out, out, out, out, size, is_odd, is_odd, env);
};
template <class Reduce, class Encode>
struct runs_of_cub {
  using in = const int *;
  using out = int *;
  using size = std::int64_t;
  using op = test::plus<int>;
  using env = const execution::env<> &;
  using reduces = cudaError_t (*)(in, out, in, out, out, op, size, env);
  using encodes = cudaError_t (*)(in, out, out, out, size, env);
  static_assert(std::is_pointer<decltype(static_cast<reduces>(&Reduce::ReduceByKey))>::value &&
                    std::is_pointer<decltype(static_cast<encodes>(&Encode::Encode))>::value &&
                    std::is_pointer<decltype(static_cast<encodes>(&Encode::NonTrivialRuns))>::value,
                "ReduceByKey, Encode, NonTrivialRuns");
};
template struct selections_of_cub<cub::DeviceSelect>;
template struct selections_of_cub<lookback::DeviceSelect>;
template struct partitions_of_cub<cub::DevicePartition>;
template struct partitions_of_cub<lookback::DevicePartition>;
template struct runs_of_cub<cub::DeviceReduce, cub::DeviceRunLengthEncode>;
template struct runs_of_cub<lookback::DeviceReduce, lookback::DeviceRunLengthEncode>;

} // namespace

namespace environments {

/// A memory resource by CCCL's concept, made of one that keeps a log.
struct cccl_resource : test::logging_resource {
  void *allocate(cuda::stream_ref stream, std::size_t bytes, std::size_t alignment = 16) {
    return logging_resource::allocate(stream.get(), bytes, alignment);
  }
  void deallocate(cuda::stream_ref stream, void *address, std::size_t bytes,
                  std::size_t alignment = 16) noexcept {
    logging_resource::deallocate(stream.get(), address, bytes, alignment);
  }
  void *allocate_sync(std::size_t bytes, std::size_t alignment = 16) {
    return logging_resource::allocate(nullptr, bytes, alignment);
  }
  void deallocate_sync(void *address, std::size_t bytes, std::size_t alignment = 16) noexcept {
    logging_resource::deallocate(nullptr, address, bytes, alignment);
  }
  bool operator==(const cccl_resource &other) const { return log == other.log; }
  bool operator!=(const cccl_resource &other) const { return log != other.log; }
  friend void get_property(const cccl_resource &, cuda::mr::device_accessible) noexcept {}
};
static_assert(cuda::mr::resource<cccl_resource>, "what CUB takes");

/// Answers two queries itself.
struct answers_both {
  cudaStream_t own;
  cccl_resource resource;
  cuda::stream_ref query(const cuda::get_stream_t &) const noexcept { return own; }
  cccl_resource query(const cuda::mr::get_memory_resource_t &) const noexcept { return resource; }
};

struct tuning_selector {
  constexpr cub::ScanPolicy operator()(cuda::compute_capability) const { return {}; }
};

} // namespace environments

namespace {

using namespace environments;
using word = std::uint32_t;
constexpr std::size_t some = 100000; // more than one tile

} // namespace

TEST_CASE("DeviceScan in one phase: the stream of an environment of CCCL") {
  const test::stream s;
  const cuda::stream_ref reference{static_cast<cudaStream_t>(s)};
  const execution::prop property{cuda::get_stream, reference};
  test::resource_log log;
  test::runs_on(s, reference);
  test::runs_on(s, property);
  test::runs_on(s, execution::env{property});
  test::runs_on(s, execution::env{cuda::execution::require(determinism::gpu_to_gpu), property});
  test::runs_on(s, execution::env{property, cuda::execution::tune(tuning_selector{}),
                                  cuda::execution::require(determinism::run_to_run)});
  const execution::env tuned{cuda::execution::tune(tuning_selector{})};
  const execution::env streamed{property};
  test::runs_on(s, execution::env{tuned, streamed});
  test::runs_on(s, answers_both{s, {{&log}}});
  CHECK_EQ(log.allocations, 0); // of one tile
  const cuda::stream owned{cuda::device_ref{0}};
  test::runs_on(owned.get(), owned);
}

TEST_CASE("DeviceScan in one phase: the memory resource of an environment of CCCL") {
  const test::stream s;
  test::resource_log log;
  const cccl_resource resource{{&log}};
  const execution::prop memory{cuda::mr::get_memory_resource, resource};
  SUBCASE("alone") {
    test::one_phase_calls(some, execution::env{memory});
    CHECK_EQ(log.allocations, 16);
    CHECK_EQ(log.stream, nullptr);
  }
  SUBCASE("beside a stream and a requirement") {
    const execution::prop stream{cuda::get_stream, cuda::stream_ref{static_cast<cudaStream_t>(s)}};
    test::one_phase_calls(
        some, execution::env{cuda::execution::require(determinism::gpu_to_gpu), memory, stream});
    CHECK_EQ(log.allocations, 16);
    CHECK_EQ(log.stream, s);
  }
  SUBCASE("answered by the environment itself") {
    test::one_phase_calls(some, answers_both{s, resource});
    CHECK_EQ(log.allocations, 16);
    CHECK_EQ(log.stream, s);
  }
  SUBCASE("a resource is an environment, and so is a pool of CCCL's") {
    const test::guarded_buffer<word> data(std::vector<word>(some, 1));
    REQUIRE_CUDA(DeviceScan::InclusiveSum(data.data(), some, resource));
    CHECK_EQ(log.allocations, 1);
    auto &pool = cuda::device_default_memory_pool(cuda::device_ref{0});
    REQUIRE_CUDA(DeviceScan::ExclusiveSum(data.data(), some, pool));
    const execution::prop from_pool{cuda::mr::get_memory_resource, pool};
    REQUIRE_CUDA(DeviceScan::InclusiveSum(data.data(), some, from_pool));
    CHECK_EQ(data.download()[2], 1 + 3); // sums of sums of ones: 1, 2, 3; 0, 1, 3; 0, 1, 4
  }
  CHECK_EQ(log.live_bytes, 0);
}

namespace {

/// `call(scan, from, to, n, env)` twice with gpu_to_gpu: the bits of the two-phase call, for any
/// type and operator.
template <class T, class Call>
void always_met(const char *name, const std::vector<T> &in, Call call) {
  INFO(doctest::String(name));
  const test::guarded_buffer<T> from(in), to(in.size());
  REQUIRE_CUDA(call(from.data(), to.data(), cuda::execution::require(determinism::gpu_to_gpu)));
  const auto once = to.download();
  REQUIRE_CUDA(call(from.data(), to.data(), cuda::execution::require(determinism::not_guaranteed)));
  CHECK_EQ(test::first_difference(to.download(), once), test::nowhere);
}

} // namespace

TEST_CASE("DeviceScan in one phase: require(gpu_to_gpu) for every type and operator, and by key") {
  TEST_RANDOM(random);
  const auto n = static_cast<int>(some);
  const auto words = test::random_values<word>(some, random);
  std::vector<float> numbers;
  std::vector<test::affine> maps;
  for (word x : words)
    numbers.push_back(static_cast<float>(x) * 0x1p-31f), maps.push_back({x | 1, x});
  const test::guarded_buffer<word> keys(test::random_keys<word>(some, random));
  const lookback::plus plus{};
  const test::maximum<float> maximum{};
  always_met("f32 sum", numbers,
             [=](auto x, auto y, auto env) { return DeviceScan::InclusiveSum(x, y, n, env); });
  always_met("f32 maximum", numbers, [=](auto x, auto y, auto env) {
    return DeviceScan::ExclusiveScan(x, y, maximum, -1.f, n, env);
  });
  always_met("affine maps", maps, [=](auto x, auto y, auto env) {
    return DeviceScan::InclusiveScan(x, y, test::compose_affine{}, n, env);
  });
  always_met("f32 sum by key", numbers, [&](auto x, auto y, auto env) {
    return DeviceScan::InclusiveScanByKey(keys.data(), x, y, plus, n, lookback::equal_to{}, env);
  });
  always_met("affine maps by key", maps, [&](auto x, auto y, auto env) {
    return DeviceScan::ExclusiveScanByKey(keys.data(), x, y, test::compose_affine{},
                                          test::affine{1, 0}, n, lookback::equal_to{}, env);
  });
}

TEST_CASE(
    "DeviceScan: cuda::args::deferred is read on the device, in stream order, in both phases") {
  TEST_RANDOM(random);
  const test::compose_words op{};
  const auto in = test::random_values<word>(some, random);
  const test::guarded_buffer<word> from(in);
  test::guarded_buffer<word> to(some), init(1);
  const test::stream s;
  const auto bounded =
      cuda::args::deferred{init.data(), cuda::args::bounds<word{0}, word{0xffffffff}>()};
  const auto check = [&](const char *name, const std::vector<word> &expected, auto call) {
    INFO(doctest::String(name));
    to.poison();
    init.poison();
    const word value = 0x50003;
    REQUIRE_CUDA(cudaMemcpyAsync(init.data(), &value, sizeof(value), cudaMemcpyHostToDevice, s));
    REQUIRE_CUDA(call());
    CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
  };
  const auto inclusive = test::serial_inclusive<word>(in, op, 0x50003u);
  const cudaStream_t stream = s;
  check("one phase", inclusive, [&] {
    return DeviceScan::InclusiveScanInit(from.data(), to.data(), op,
                                         cuda::args::deferred{init.data()}, some, stream);
  });
  check("one phase, with bounds", inclusive, [&] {
    return DeviceScan::InclusiveScanInit(from.data(), to.data(), op, bounded, some, stream);
  });
  check("exclusive", test::serial_exclusive(in, op, word{0x50003}), [&] {
    return DeviceScan::ExclusiveScan(from.data(), to.data(), op, cuda::args::deferred{init.data()},
                                     some, stream);
  });
  std::size_t bytes = 0;
  const auto two_phases = [&](void *storage) {
    return DeviceScan::InclusiveScanInit(storage, bytes, from.data(), to.data(), op, bounded, some,
                                         stream);
  };
  REQUIRE_CUDA(two_phases(nullptr));
  const test::guarded_buffer<unsigned char> storage(bytes);
  check("two phases", inclusive, [&] { return two_phases(storage.data()); });
}
