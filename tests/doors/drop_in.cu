// SPDX-License-Identifier: MIT
// Arguments that CUB and Thrust take and a stricter library would not: futures behind explicit
// template arguments, outputs that are assigned to, iterators without nested types, volatile input,
// every function object that the host can call or need not.
#include <lookback/device_scan.cuh>
#include <lookback/scan.cuh>

#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/value_types.hpp>

#include <cub/device/device_scan.cuh>

#include <cuda/functional>
#include <thrust/system/cuda/execution_policy.h>

#include <functional>

namespace {

using lookback::DeviceScan;
using number = std::int32_t;
const test::plus<number> sum{};

/// Lengths that take each path of the dispatch.
template <class Random>
std::vector<std::size_t> lengths(Random &random) {
  return test::to_try(
      {1, 2000 + random() % 2000, 50000 + random() % 1000, 3000000 + random() % 1000}, random);
}

/// Numbers whose prefix sums fit into 32 bits.
template <class Random>
std::vector<number> small_numbers(std::size_t n, Random &random) {
  return test::random_below<number>(n, 500, random);
}

} // namespace

// A pointer can be taken to every call of CUB's, with CUB's parameters. (No call is compiled for
// it.)
#define TWO_PHASE(name, ...)                                                                       \
  static_assert(                                                                                   \
      std::is_pointer<                                                                             \
          decltype(static_cast<cudaError_t (*)(void *, std::size_t &, __VA_ARGS__, cudaStream_t)>( \
              &Library::name))>::value,                                                            \
      "DeviceScan::" #name)

namespace {

template <class Library, template <class, class> class Future>
struct two_phase_calls {
  using in = const int *;
  using out = long *;
  using op = test::plus<long>;
  using future = Future<long, const long *>;
  using equal = lookback::equal_to;
  TWO_PHASE(ExclusiveSum, in, out, int);
  TWO_PHASE(ExclusiveSum, out, std::size_t);
  TWO_PHASE(ExclusiveScan, in, out, op, long, int);
  TWO_PHASE(ExclusiveScan, in, out, op, future, int);
  TWO_PHASE(ExclusiveScan, out, op, long, int);
  TWO_PHASE(ExclusiveScan, out, op, future, int);
  TWO_PHASE(InclusiveSum, in, out, int);
  TWO_PHASE(InclusiveSum, out, int);
  TWO_PHASE(InclusiveScan, in, out, op, int);
  TWO_PHASE(InclusiveScan, out, op, int);
  TWO_PHASE(InclusiveScanInit, in, out, op, long, int);
  TWO_PHASE(ExclusiveSumByKey, in, in, out, int, equal);
  TWO_PHASE(ExclusiveScanByKey, in, in, out, op, long, int, equal);
  TWO_PHASE(InclusiveSumByKey, in, in, out, int, equal);
  TWO_PHASE(InclusiveScanByKey, in, in, out, op, int, equal);
};
template struct two_phase_calls<cub::DeviceScan, cub::FutureValue>;
template struct two_phase_calls<DeviceScan, cub::FutureValue>;
template struct two_phase_calls<DeviceScan, lookback::FutureValue>;

} // namespace

TEST_CASE(
    "DeviceScan: a future is read on the device, whatever template arguments the call spells out") {
  TEST_RANDOM(random);
  const auto in = small_numbers(30000, random);
  const test::guarded_buffer<number> from(in);
  test::guarded_buffer<number> to(in.size());
  const test::guarded_buffer<number> init(std::vector<number>{17}); // the host cannot read it
  const auto n = static_cast<int>(in.size());
  using T = test::plus<number>;
  const auto check = [&](const char *name, const std::vector<number> &expected, auto call) {
    INFO(doctest::String(name));
    to.upload(in);
    test::two_phases(call);
    CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
  };
  const auto exclusive = test::serial_exclusive(in, sum, 17);
  const auto inclusive = test::serial_inclusive<number>(in, sum, 17);
  check("four arguments", exclusive, [&](void *storage, std::size_t &bytes) {
    return DeviceScan::ExclusiveScan<number *, number *, T, number>(
        storage, bytes, from.data(), to.data(), {}, cub::FutureValue<number>(init.data()), n);
  });
  check("the future's own type spelled out", exclusive, [&](void *storage, std::size_t &bytes) {
    return DeviceScan::ExclusiveScan<number *, number *, T, cub::FutureValue<number>, int>(
        storage, bytes, from.data(), to.data(), {}, cub::FutureValue<number>(init.data()), n);
  });
  check("CUB's six arguments", exclusive, [&](void *storage, std::size_t &bytes) {
    return DeviceScan::ExclusiveScan<number *, number *, T, number, number *, int>(
        storage, bytes, from.data(), to.data(), {}, cub::FutureValue<number>(init.data()), n);
  });
  check("in place, CUB's five arguments", exclusive, [&](void *storage, std::size_t &bytes) {
    return DeviceScan::ExclusiveScan<number *, T, number, number *, int>(
        storage, bytes, to.data(), {}, lookback::FutureValue<number>(init.data()), n);
  });
  check("in place, three arguments", exclusive, [&](void *storage, std::size_t &bytes) {
    return DeviceScan::ExclusiveScan<number *, T, number>(storage, bytes, to.data(), {},
                                                          cub::FutureValue<number>(init.data()), n);
  });
  check("InclusiveScanInit", inclusive, [&](void *storage, std::size_t &bytes) {
    return DeviceScan::InclusiveScanInit<number *, number *, T, number>(
        storage, bytes, from.data(), to.data(), {}, cub::FutureValue<number>(init.data()), n);
  });
  check("with an algorithm", exclusive, [&](void *storage, std::size_t &bytes) {
    return DeviceScan::ExclusiveScan<number *, number *, T, number>(
        storage, bytes, from.data(), to.data(), {}, cub::FutureValue<number>(init.data()), n,
        nullptr, lookback::fastest{});
  });
  check("one phase", exclusive, [&](void *storage, std::size_t &bytes) {
    bytes = 1;
    if (storage == nullptr) return cudaSuccess;
    return DeviceScan::ExclusiveScan<number *, number *, T, number>(
        from.data(), to.data(), {}, cub::FutureValue<number>(init.data()), n);
  });
  check("one phase, InclusiveScanInit", inclusive, [&](void *storage, std::size_t &bytes) {
    bytes = 1;
    if (storage == nullptr) return cudaSuccess;
    return DeviceScan::InclusiveScanInit<number *, number *, T, number>(
        from.data(), to.data(), {}, cub::FutureValue<number>(init.data()), n);
  });
}

TEST_CASE(
    "Both doors: results are assigned, not constructed, where the output is of another class") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const auto in = small_numbers(n, random);
    const auto keys = test::random_keys<number>(n, random);
    const auto labelled = [&](const std::vector<number> &values) {
      std::vector<test::assigned_number> result(n);
      for (std::size_t i = 0; i < n; ++i)
        result[i].value = values[i], result[i].label = static_cast<number>(i);
      return result;
    };
    const test::guarded_buffer<number> from(in), device_keys(keys);
    test::guarded_buffer<test::assigned_number> to(labelled(in));
    test::two_phases([&](void *storage, std::size_t &bytes) {
      return DeviceScan::InclusiveSum(storage, bytes, from.data(), to.data(), n);
    });
    CHECK(to.download() == labelled(test::serial_inclusive(in, sum)));
    test::two_phases([&](void *storage, std::size_t &bytes) {
      return DeviceScan::ExclusiveSumByKey(storage, bytes, device_keys.data(), from.data(),
                                           to.data(), n);
    });
    CHECK(to.download() == labelled(test::serial_exclusive_by_key(keys, in, std::equal_to<number>{},
                                                                  sum, number{0})));
    lookback::exclusive_scan(thrust::cuda::par, from.data(), from.data() + n, to.data(), number{9});
    CHECK(to.download() == labelled(test::serial_exclusive(in, sum, 9)));
    CHECK(to.guards_intact());
  }
}

TEST_CASE("Both doors: iterators whose value types stand in std::iterator_traits alone") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(random)) {
    INFO("n = ", n);
    const auto in = small_numbers(n, random);
    const test::guarded_buffer<number> from(in);
    test::guarded_buffer<number> to(n);
    const test::untyped_iterator<const number> first{from.data()};
    const test::untyped_iterator<number> result{to.data()};
    test::two_phases([&](void *storage, std::size_t &bytes) {
      return DeviceScan::InclusiveSum(storage, bytes, first, result, n);
    });
    CHECK_EQ(test::first_difference(to.download(), test::serial_inclusive(in, sum)), test::nowhere);
    to.upload(in);
    lookback::inclusive_scan(thrust::cuda::par, first, first + static_cast<std::ptrdiff_t>(n),
                             result);
    CHECK_EQ(test::first_difference(to.download(), test::serial_inclusive(in, sum)), test::nowhere);
  }
}

TEST_CASE("DeviceScan: pointers to volatile elements, and 128-bit counts") {
  TEST_RANDOM(random);
  const auto in = small_numbers(100000, random);
  const auto keys = test::random_keys<number>(in.size(), random);
  const test::guarded_buffer<number> from(in), device_keys(keys);
  test::guarded_buffer<number> to(in.size());
  const volatile number *const x = from.data(), *const k = device_keys.data();
  volatile number *const y = to.data();
  test::two_phases([&](void *storage, std::size_t &bytes) {
    return DeviceScan::InclusiveSum(storage, bytes, x, y, static_cast<__int128>(in.size()));
  });
  CHECK_EQ(test::first_difference(to.download(), test::serial_inclusive(in, sum)), test::nowhere);
  test::two_phases([&](void *storage, std::size_t &bytes) {
    return DeviceScan::InclusiveSumByKey(storage, bytes, k, x, y,
                                         static_cast<unsigned __int128>(in.size()));
  });
  CHECK_EQ(test::first_difference(to.download(), test::serial_inclusive_by_key(
                                                     keys, in, std::equal_to<number>{}, sum)),
           test::nowhere);
  to.upload(in);
  test::two_phases([&](void *storage, std::size_t &bytes) {
    return DeviceScan::ExclusiveSum(storage, bytes, y, static_cast<__int128>(in.size()));
  });
  CHECK_EQ(test::first_difference(to.download(), test::serial_exclusive(in, sum, 0)),
           test::nowhere);
  std::size_t bytes = 0;
  for (__int128 n : {static_cast<__int128>(-1), static_cast<__int128>(1) << 64,
                     (static_cast<__int128>(1) << 64) + 5})
    CHECK_EQ(DeviceScan::InclusiveSum(nullptr, bytes, x, y, n), cudaErrorInvalidValue);
}

// Not in a TEST_CASE: nvcc takes lambdas for the device only in functions that have a name
// elsewhere, too.
namespace lambda_calls {

using two_phase_call = std::function<cudaError_t(void *, std::size_t &)>;

/// Sums by every kind of function object whose type of result the host knows, at `check(name,
/// call)`.
void with_known_results(const number *in, number *out, int n,
                        const std::function<void(const char *, two_phase_call)> &check) {
  const auto both = [] __host__ __device__(number a, number b) { return a + b; };
  const auto device = [] __device__(number a, number b) { return a + b; };
  const auto proclaimed = cuda::proclaim_return_type<number>(device);
  const auto widened = cuda::proclaim_return_type<number>([] __device__(number a) { return a; });
  const auto run = [&](const char *name, auto op) {
    check(name, [=](void *storage, std::size_t &bytes) {
      return DeviceScan::InclusiveScan(storage, bytes, in, out, op, n);
    });
    check(name, [=](void *, std::size_t &bytes) {
      bytes = 1;
      lookback::inclusive_scan(thrust::cuda::par, in, in + n, out, number{0}, op);
      return cudaSuccess;
    });
    check(name, [=](void *, std::size_t &bytes) {
      bytes = 1;
      lookback::transform_inclusive_scan(thrust::cuda::par, in, in + n, out, widened, op);
      return cudaSuccess;
    });
    check(name, [=](void *, std::size_t &bytes) {
      bytes = 1;
      lookback::transform_inclusive_scan(thrust::cuda::par, in, in + n, out, widened, number{0},
                                         op);
      return cudaSuccess;
    });
  };
  run("a function object", test::plus<number>{});
  run("a __host__ __device__ lambda", both);
  run("cuda::proclaim_return_type", proclaimed);
}

/// Inclusive sums by a lambda for the device alone, where the accumulator is known without it.
void with_any_lambda(const number *in, number *out, int n, number *exclusive) {
  const auto add = [] __device__(number a, number b) { return a + b; };
  lookback::inclusive_scan(thrust::cuda::par, in, in + n, out, add);
  lookback::exclusive_scan(thrust::cuda::par, in, in + n, exclusive, number{3}, add);
}
void transformed_with_any_lambda(const number *in, number *exclusive, int n) {
  const auto add = [] __device__(number a, number b) { return a + b; };
  const auto same = [] __device__(number a) { return a; };
  lookback::transform_exclusive_scan(thrust::cuda::par, in, in + n, exclusive, same, number{3},
                                     add);
}
void by_key_with_any_lambda(const number *keys, const number *in, number *out, int n) {
  const auto add = [] __device__(number a, number b) { return a + b; };
  const auto equal = [] __device__(number a, number b) { return a == b; };
  lookback::inclusive_scan_by_key(thrust::cuda::par, keys, keys + n, in, out, equal, add);
}
cudaError_t compared_by_any_lambda(void *storage, std::size_t &bytes, const number *keys,
                                   const number *in, number *out, int n) {
  const auto equal = [] __device__(number a, number b) { return a == b; };
  return DeviceScan::InclusiveSumByKey(storage, bytes, keys, in, out, n, equal);
}

} // namespace lambda_calls

TEST_CASE("Both doors: lambdas") {
  TEST_RANDOM(random);
  const auto in = small_numbers(100000, random);
  const auto keys = test::random_keys<number>(in.size(), random);
  const test::guarded_buffer<number> from(in), device_keys(keys);
  test::guarded_buffer<number> to(in.size()), exclusive(in.size());
  const auto n = static_cast<int>(in.size());
  const auto inclusive_sums = test::serial_inclusive(in, sum),
             from_three = test::serial_exclusive(in, sum, 3);
  const auto by_key = test::serial_inclusive_by_key(keys, in, std::equal_to<number>{}, sum);
  lambda_calls::with_known_results(
      from.data(), to.data(), n, [&](const char *name, const auto &call) {
        INFO(doctest::String(name));
        to.upload(in);
        test::two_phases(call);
        CHECK_EQ(test::first_difference(to.download(), inclusive_sums), test::nowhere);
      });
  lambda_calls::with_any_lambda(from.data(), to.data(), n, exclusive.data());
  CHECK_EQ(test::first_difference(to.download(), inclusive_sums), test::nowhere);
  CHECK_EQ(test::first_difference(exclusive.download(), from_three), test::nowhere);
  exclusive.upload(in);
  lambda_calls::transformed_with_any_lambda(from.data(), exclusive.data(), n);
  CHECK_EQ(test::first_difference(exclusive.download(), from_three), test::nowhere);
  lambda_calls::by_key_with_any_lambda(device_keys.data(), from.data(), to.data(), n);
  CHECK_EQ(test::first_difference(to.download(), by_key), test::nowhere);
  to.upload(in);
  test::two_phases([&](void *storage, std::size_t &bytes) {
    return lambda_calls::compared_by_any_lambda(storage, bytes, device_keys.data(), from.data(),
                                                to.data(), n);
  });
  CHECK_EQ(test::first_difference(to.download(), by_key), test::nowhere);
}
