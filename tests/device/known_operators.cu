// SPDX-License-Identifier: MIT
// Function objects of std, which are host functions, at every door of the GPU.
#include <lookback/lookback.cuh>

#include <support/device_call.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <functional>
#include <vector>

namespace {

using lookback::DeviceScan;
using word = std::uint32_t;

/// An element of no number type.
struct point {
  int x, y;
  __host__ __device__ friend point operator+(const point &a, const point &b) {
    return {a.x + b.x, a.y + b.y};
  }
  __host__ __device__ friend bool operator==(const point &a, const point &b) {
    return a.x == b.x && a.y == b.y;
  }
};

constexpr std::size_t lengths[] = {1, 1000, 4096 * 40 + 17, (std::size_t{1} << 22) + 3};

template <class T, class Operator>
void check(const char *name, const std::vector<T> &in, Operator op) {
  INFO(doctest::String(name), ", n = ", in.size());
  const std::size_t n = in.size();
  const test::guarded_buffer<T> device_in(in);
  test::guarded_buffer<T> out(n);
  test::two_phases([&](void *temporary, std::size_t &bytes) {
    return DeviceScan::InclusiveScan(temporary, bytes, device_in.data(), out.data(), op, n);
  });
  CHECK_EQ(test::first_difference(out.download(), test::serial_inclusive(in, op)), test::nowhere);
  out.poison();
  const T *const first = device_in.data();
  lookback::exclusive_scan(lookback::par, first, first + n, out.data(), in[0], op);
  CHECK_EQ(test::first_difference(out.download(), test::serial_exclusive(in, op, in[0])),
           test::nowhere);
}

template <class Key, class Equal>
void check_by_key(const char *name, const std::vector<Key> &keys, Equal equal) {
  INFO(doctest::String(name), ", n = ", keys.size());
  const std::size_t n = keys.size();
  const std::vector<word> in(n, 3);
  const test::guarded_buffer<Key> device_keys(keys);
  const test::guarded_buffer<word> device_in(in);
  const test::guarded_buffer<word> out(n);
  test::two_phases([&](void *temporary, std::size_t &bytes) {
    return DeviceScan::ExclusiveScanByKey(temporary, bytes, device_keys.data(), device_in.data(),
                                          out.data(), std::plus<word>{}, word{7}, n, equal);
  });
  CHECK_EQ(test::first_difference(
               out.download(), test::serial_exclusive_by_key(keys, in, equal, std::plus<>{}, 7u)),
           test::nowhere);
}

constexpr int threads = 64;

/// Scans of `threads` words: by a block, by one thread, and the same by key.
__global__ void scan_in_kernel(const word *in, word *inclusive, word *exclusive, word *serial,
                               word *by_key) {
  using scan = lookback::block_scan<word, threads>;
  __shared__ scan::storage storage;
  const int i = threadIdx.x;
  inclusive[i] = scan(storage).inclusive(in[i], std::plus<word>{});
  __syncthreads();
  exclusive[i] = scan(storage).exclusive(in[i], word{5}, std::plus<>{});
  if (i != 0) return;
  lookback::inclusive_scan(lookback::par, in, in + threads, serial, std::plus<word>{});
  lookback::inclusive_scan_by_key(lookback::par, in, in + threads, in, by_key,
                                  std::equal_to<word>{}, std::plus<>{});
}

} // namespace

TEST_CASE("function objects of std as operators") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths) {
    auto in = test::random_values<word>(n, random);
    check("std::plus<T>", in, std::plus<word>{});
    check("std::plus<>", in, std::plus<>{});
    check("std::bit_and<T>", in, std::bit_and<word>{});
    check("std::bit_or<>", in, std::bit_or<>{});
    check("std::bit_xor<T>", in, std::bit_xor<word>{});
    for (word &value : in) value |= 1;
    check("std::multiplies<T>", in, std::multiplies<word>{});
    for (word &value : in) value &= 1;
    in[0] = 1;
    check("std::logical_and<T>", in, std::logical_and<word>{});
    check("std::logical_or<>", in, std::logical_or<>{});

    std::vector<point> points(n);
    for (std::size_t i = 0; i < n; ++i)
      points[i] = {static_cast<int>(i % 7), static_cast<int>(i % 5) - 2};
    check("std::plus<point>", points, std::plus<point>{});
    check("std::plus<> of points", points, std::plus<>{});
  }
}

TEST_CASE("std::equal_to compares keys") {
  TEST_RANDOM(random);
  for (std::size_t n : lengths) {
    const auto keys = test::random_keys<word>(n, random);
    check_by_key("std::equal_to<T>", keys, std::equal_to<word>{});
    check_by_key("std::equal_to<>", keys, std::equal_to<>{});
    std::vector<point> points(n);
    for (std::size_t i = 0; i < n; ++i) points[i] = {static_cast<int>(keys[i]), 1};
    check_by_key("std::equal_to<point>", points, std::equal_to<point>{});
  }
}

TEST_CASE("std::plus<int> rounds what it adds") {
  const std::size_t n = 100000;
  std::vector<double> in(n), expected(n);
  for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<double>(i % 10) + 0.5;
  for (std::size_t i = 0, sum = 0; i < n; ++i) expected[i] = sum += i % 10;
  expected[0] = in[0]; // no operator is applied to the first element
  const test::guarded_buffer<double> device_in(in), out(n);
  const double *const first = device_in.data();
  lookback::inclusive_scan(lookback::par, first, first + n, out.data(), std::plus<int>{});
  CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
}

TEST_CASE("function objects of std in kernels: lookback::block_scan, scans by one thread") {
  TEST_RANDOM(random);
  const auto in = test::random_keys<word>(threads, random);
  const test::guarded_buffer<word> device_in(in);
  const test::guarded_buffer<word> inclusive(threads), exclusive(threads), serial(threads),
      by_key(threads);
  scan_in_kernel<<<1, threads>>>(device_in.data(), inclusive.data(), exclusive.data(),
                                 serial.data(), by_key.data());
  REQUIRE_CUDA(cudaDeviceSynchronize());
  const auto check = [](const test::guarded_buffer<word> &actual,
                        const std::vector<word> &expected) {
    CHECK_EQ(test::first_difference(actual.download(), expected), test::nowhere);
  };
  check(inclusive, test::serial_inclusive(in, std::plus<>{}));
  check(exclusive, test::serial_exclusive(in, std::plus<>{}, word{5}));
  check(serial, test::serial_inclusive(in, std::plus<>{}));
  check(by_key, test::serial_inclusive_by_key(in, in, std::equal_to<>{}, std::plus<>{}));
}
