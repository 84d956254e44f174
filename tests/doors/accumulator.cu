// SPDX-License-Identifier: MIT
// What the results of mixed types are accumulated in, at the Thrust door: compared with Thrust's
// own sequential system.
#include <lookback/execution_policy.cuh>

#include <support/buffers.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <thrust/scan.h>
#include <thrust/transform_scan.h>

#include <cstdint>
#include <functional>

namespace {

struct widen {
  __host__ __device__ std::int64_t operator()(std::int8_t x) const { return std::int64_t{x} << 33; }
};
struct narrow {
  __host__ __device__ std::uint8_t operator()(std::int32_t x) const {
    return static_cast<std::uint8_t>(x);
  }
};

/// `call(policy, in, in_end, keys, out)` on both systems, into the same output type.
template <class Out, class In, class Call>
void same_as_thrust(const char *name, Call call) {
  TEST_RANDOM(random);
  for (std::size_t n : {std::size_t{1}, std::size_t{3000}, std::size_t{200000} + random() % 1000}) {
    INFO(doctest::String(name), ", n = ", n);
    const std::vector<In> in = test::random_values<In>(n, random);
    const auto keys = test::random_keys<std::int32_t>(n, random);
    std::vector<Out> expected(n);
    call(thrust::seq, in.data(), in.data() + n, keys.data(), expected.data());
    const test::guarded_buffer<In> device_in(in);
    const test::guarded_buffer<std::int32_t> device_keys(keys);
    const test::guarded_buffer<Out> out(n);
    call(lookback::par, device_in.data(), device_in.data() + n, device_keys.data(), out.data());
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    CHECK(out.guards_intact());
  }
}

} // namespace

TEST_CASE("thrust::inclusive_scan: the accumulator is the input's value type") {
  same_as_thrust<std::int32_t, std::int8_t>("int8 to int32",
                                            [](auto &policy, auto in, auto in_end, auto, auto out) {
                                              thrust::inclusive_scan(policy, in, in_end, out);
                                            });
  same_as_thrust<std::int8_t, std::int32_t>("int32 to int8",
                                            [](auto &policy, auto in, auto in_end, auto, auto out) {
                                              thrust::inclusive_scan(policy, in, in_end, out);
                                            });
}

TEST_CASE("thrust::inclusive_scan: with an initial value, the type of op(init, value)") {
  same_as_thrust<std::int64_t, std::uint8_t>(
      "int64 initial", [](auto &policy, auto in, auto in_end, auto, auto out) {
        thrust::inclusive_scan(policy, in, in_end, out, std::int64_t{1} << 40, cuda::std::plus<>{});
      });
  same_as_thrust<std::int64_t, std::uint8_t>("uint8 initial", [](auto &policy, auto in, auto in_end,
                                                                 auto, auto out) {
    thrust::inclusive_scan(policy, in, in_end, out, std::uint8_t{3}, test::plus<std::uint8_t>{});
  });
}

TEST_CASE("thrust::exclusive_scan: the accumulator is the type of the initial value") {
  same_as_thrust<std::int64_t, std::uint8_t>(
      "int64 initial", [](auto &policy, auto in, auto in_end, auto, auto out) {
        thrust::exclusive_scan(policy, in, in_end, out, std::int64_t{1} << 40);
      });
  same_as_thrust<std::int64_t, std::int32_t>(
      "int8 initial", [](auto &policy, auto in, auto in_end, auto, auto out) {
        thrust::exclusive_scan(policy, in, in_end, out, std::int8_t{3});
      });
  same_as_thrust<std::int64_t, std::uint8_t>(
      "no initial", [](auto &policy, auto in, auto in_end, auto, auto out) {
        thrust::exclusive_scan(policy, in, in_end, out);
      });
}

TEST_CASE("thrust::transform_inclusive_scan, thrust::transform_exclusive_scan: what the transform "
          "gives, or the initial") {
  same_as_thrust<std::int64_t, std::int8_t>(
      "widening", [](auto &policy, auto in, auto in_end, auto, auto out) {
        thrust::transform_inclusive_scan(policy, in, in_end, out, widen{}, cuda::std::plus<>{});
      });
  same_as_thrust<std::int64_t, std::int32_t>(
      "narrowing", [](auto &policy, auto in, auto in_end, auto, auto out) {
        thrust::transform_inclusive_scan(policy, in, in_end, out, narrow{}, cuda::std::plus<>{});
      });
  same_as_thrust<std::int64_t, std::int32_t>(
      "narrowing, init", [](auto &policy, auto in, auto in_end, auto, auto out) {
        thrust::transform_exclusive_scan(policy, in, in_end, out, narrow{}, std::int64_t{7},
                                         cuda::std::plus<>{});
      });
}

TEST_CASE(
    "thrust::inclusive_scan_by_key, thrust::exclusive_scan_by_key: value type, initial type") {
  same_as_thrust<std::int32_t, std::int8_t>(
      "int8 to int32", [](auto &policy, auto in, auto in_end, auto keys, auto out) {
        thrust::inclusive_scan_by_key(policy, keys, keys + (in_end - in), in, out);
      });
  same_as_thrust<std::int64_t, std::int8_t>(
      "int64 initial", [](auto &policy, auto in, auto in_end, auto keys, auto out) {
        thrust::exclusive_scan_by_key(policy, keys, keys + (in_end - in), in, out,
                                      std::int64_t{1} << 40);
      });
}
