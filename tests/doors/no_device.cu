// SPDX-License-Identifier: MIT
// What the GPU doors answer where there is no GPU. Runs only there.
#include <lookback/lookback.cuh>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <thrust/partition.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/system_error.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <numeric>
#include <vector>

/// Nothing of it can be called on a device, its copy constructor neither. (Not in the unnamed
/// namespace: nvcc's pass for the device calls nothing of it either, and would warn.)
struct plus_on_the_host {
  plus_on_the_host() = default;
  plus_on_the_host(const plus_on_the_host &) {}
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a + b; }
};

namespace {

/// Numbers of the same quotient by 4 are equal. Among odd numbers in order these are pairs.
struct is_pair {
  bool operator()(std::uint32_t a, std::uint32_t b) const { return a / 4 == b / 4; }
};

bool is_no_device(cudaError_t error) {
  return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
}

constexpr int n = 100000;

} // namespace

TEST_CASE("DeviceScan without a device: the error") {
  std::vector<std::uint32_t> data(n);
  std::vector<char> temporary;
  std::size_t bytes = 0;
  const cudaError_t query =
      lookback::DeviceScan::InclusiveSum(nullptr, bytes, data.data(), data.data(), n);
  CHECK((query == cudaSuccess || is_no_device(query)));
  temporary.resize(bytes + (1 << 20));
  bytes = temporary.size();
  CHECK(is_no_device(
      lookback::DeviceScan::InclusiveSum(temporary.data(), bytes, data.data(), data.data(), n)));
  CHECK(is_no_device(
      lookback::DeviceScan::InclusiveSum(temporary.data(), bytes, data.data(), data.data(), 100)));
}

TEST_CASE(
    "thrust::inclusive_scan with lookback's policies without a device: thrust::system_error") {
  std::vector<std::uint32_t> data(n);
  const auto error_of = [&](const auto &policy, int count) {
    try {
      thrust::inclusive_scan(policy, data.data(), data.data() + count, data.data());
    } catch (const thrust::system_error &error) {
      return static_cast<cudaError_t>(error.code().value());
    }
    return cudaSuccess;
  };
  for (int count : {100, n}) {
    INFO("n = ", count);
    CHECK(is_no_device(error_of(lookback::par, count)));
    CHECK(is_no_device(error_of(lookback::par_nosync, count)));
    CHECK(is_no_device(error_of(lookback::par.on(cudaStreamPerThread), count)));
  }
}

TEST_CASE("selections without a device: the error, and thrust::system_error") {
  std::vector<std::uint32_t> data(n);
  std::uint32_t number = 0;
  std::size_t bytes = std::size_t{1} << 20;
  std::vector<char> temporary(bytes);
  CHECK(is_no_device(lookback::DeviceReduce::ReduceByKey(temporary.data(), bytes, data.data(),
                                                         data.data(), data.data(), data.data(),
                                                         &number, lookback::plus{}, n)));
  // The stream may be spelled as 0 or nullptr, also in place.
  CHECK(is_no_device(lookback::DeviceSelect::Unique(temporary.data(), bytes, data.data(),
                                                    data.data(), &number, n, 0)));
  CHECK(is_no_device(
      lookback::DeviceSelect::Unique(temporary.data(), bytes, data.data(), &number, n, nullptr)));
  CHECK(is_no_device(
      lookback::DeviceSelect::Unique(temporary.data(), bytes, data.data(), &number, n, 0)));
  const auto error_of = [&](int count) {
    try {
      thrust::remove(lookback::par, data.data(), data.data() + count, 0u);
    } catch (const thrust::system_error &error) {
      return static_cast<cudaError_t>(error.code().value());
    }
    return cudaSuccess;
  };
  CHECK(is_no_device(error_of(100)));
  CHECK(is_no_device(error_of(n)));
  CHECK_EQ(error_of(0), cudaSuccess);
}

TEST_CASE("lookback::host without a device") {
  std::vector<std::uint32_t> data(n, 1);
  thrust::inclusive_scan(lookback::host, data.begin(), data.end(), data.begin());
  CHECK_EQ(data.front(), 1u);
  CHECK_EQ(data.back(), static_cast<std::uint32_t>(n));

  // nvcc does not warn of iterators and operators that a device cannot call.
  std::deque<std::uint32_t> sums(n, 1);
  const plus_on_the_host op;
  thrust::inclusive_scan(lookback::host, sums.begin(), sums.end(), sums.begin(), op);
  CHECK_EQ(sums.back(), static_cast<std::uint32_t>(n));
}

TEST_CASE("selections by lookback::host without a device") {
  std::deque<std::uint32_t> values(n), kept(n);
  std::iota(values.begin(), values.end(), 0u);
  const auto is_odd = [](std::uint32_t x) { return x % 2 != 0; };
  CHECK(lookback::copy_if(lookback::host, values.begin(), values.end(), kept.begin(), is_odd) ==
        kept.begin() + n / 2);
  CHECK_EQ(kept[n / 2 - 1], n - 1u);
  CHECK(thrust::partition(lookback::host, values.begin(), values.end(), is_odd) ==
        values.begin() + n / 2);
  CHECK_EQ(values[0], 1u);
  CHECK_EQ(values[n / 2], 0u);
  std::vector<std::uint32_t> sums(n);
  const auto ends =
      lookback::reduce_by_key(lookback::host, values.begin(), values.end(), values.begin(),
                              kept.begin(), sums.begin(), is_pair{}, plus_on_the_host{});
  CHECK(ends.second == sums.begin() + n / 2);
  CHECK_EQ(sums[0], 1u + 3u);
}

TEST_CASE("segments and axes by lookback::host without a device") {
  struct larger {
    std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a < b ? b : a; }
  };
  std::deque<std::uint32_t> values(n), scanned(n);
  std::iota(values.begin(), values.end(), 0u);
  const std::vector<int> offsets{0, 10, n};
  lookback::inclusive_segmented_scan(lookback::host, values.begin(), offsets.begin(),
                                     offsets.begin() + 1, 2, scanned.begin(), plus_on_the_host{});
  CHECK_EQ(scanned[9], 45u);
  CHECK_EQ(scanned[11], 10u + 11u);
  const lookback::axis columns{1, 10, n / 10};
  lookback::exclusive_axis_scan(lookback::host, values.begin(), columns, scanned.begin(), 7u,
                                larger{});
  CHECK_EQ(scanned[0], 7u);
  CHECK_EQ(scanned[n - 1], n - 1u - n / 10);
}

TEST_CASE("continued scans by lookback::host without a device") {
  std::deque<std::uint32_t> values(n, 1), scanned(n);
  lookback::continued_scan<std::uint32_t, plus_on_the_host> running({}, 7u);
  const auto middle = values.begin() + n / 3;
  auto result = running.inclusive(lookback::host, values.begin(), middle, scanned.begin());
  result = running.exclusive(lookback::host, middle, values.end(), result);
  CHECK(result == scanned.end());
  CHECK_EQ(scanned[n / 3 - 1], 7u + n / 3);
  CHECK_EQ(scanned[n - 1], 7u + n - 1);
  CHECK_EQ(running.prefix(), 7u + n);
}

int main(int argc, char **argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
    std::puts("skipped: there is a CUDA device");
    return 77; // SKIP_RETURN_CODE in CMakeLists.txt
  }
  return doctest::Context(argc, argv).run();
}
