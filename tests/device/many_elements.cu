// SPDX-License-Identifier: MIT
// More than 2^33 elements: every index, count and address is wider than 32 bits.
#include <lookback/device_scan.cuh>
#include <lookback/device_select.cuh>

#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstdint>

namespace {

using byte = std::uint8_t;
using lookback::DeviceScan;

/// Element i, and the sum modulo 256 of elements 0 to i: 7 i + 3, and 7 i (i + 1) / 2 + 3 (i + 1).
struct element {
  __host__ __device__ byte operator()(std::uint64_t i) const {
    return static_cast<byte>(7 * i + 3);
  }
};
struct sum_through {
  __host__ __device__ byte operator()(std::uint64_t i) const {
    const std::uint64_t pairs = i % 2 == 0 ? i / 2 * (i + 1) : i * ((i + 1) / 2);
    return static_cast<byte>(7 * pairs + 3 * (i + 1));
  }
};

__global__ void fill(byte *data, std::uint64_t n) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    data[i] = element{}(i);
}

__global__ void count_wrong(const byte *data, std::uint64_t n, unsigned long long *wrong) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    if (data[i] != sum_through{}(i)) atomicAdd(wrong, 1ull);
}

std::uint64_t wrong_results(const byte *data, std::uint64_t n) {
  const test::guarded_buffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
  count_wrong<<<1024, 256>>>(data, n, wrong.data());
  CHECK_CUDA(cudaGetLastError());
  return wrong.download()[0];
}

/// Known before the first test case, so that doctest counts what this GPU has no room for as
/// skipped.
bool has_room_for(std::size_t bytes) {
  std::size_t available = 0, total = 0;
  return cudaMemGetInfo(&available, &total) == cudaSuccess && available > bytes;
}

/// Compares what it is given with the right result, and keeps nothing.
class checking_output {
public:
  using value_type = byte;
  using difference_type = std::int64_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;
  class reference {
  public:
    __host__ __device__ reference(std::uint64_t i, unsigned long long *counts)
        : i_(i), counts_(counts) {}
    __device__ const reference &operator=(byte value) const {
      if (value != sum_through{}(i_)) atomicAdd(counts_, 1ull);
      if (i_ % 65536 == 0) atomicAdd(counts_ + 1, 1ull);
      return *this;
    }

  private:
    std::uint64_t i_;
    unsigned long long *counts_;
  };
  __host__ __device__ explicit checking_output(unsigned long long *counts) : counts_(counts) {}
  __host__ __device__ checking_output operator+(difference_type distance) const {
    checking_output moved = *this;
    moved.position_ += distance;
    return moved;
  }
  __host__ __device__ reference operator[](difference_type distance) const {
    return *(*this + distance);
  }
  __host__ __device__ reference operator*() const {
    return {static_cast<std::uint64_t>(position_), counts_};
  }

private:
  unsigned long long *counts_; // wrong results, results of multiples of 65536
  difference_type position_ = 0;
};

} // namespace

TEST_CASE("decoupled look-back: more than 2^33 elements, computed in and checked on the way out") {
  TEST_RANDOM(random);
  const std::uint64_t n = (std::uint64_t{1} << 33) + 1 + random() % 100000;
  INFO("n = ", n);
  const test::guarded_buffer<unsigned long long> counts(std::vector<unsigned long long>{0, 0});
  const auto in =
      thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), element{});
  test::two_phases([&](void *temporary, std::size_t &bytes) {
    return DeviceScan::InclusiveScan(temporary, bytes, in, checking_output(counts.data()),
                                     test::plus<byte>{}, n);
  });
  CHECK_EQ(counts.download()[0], 0u);
  CHECK_EQ(counts.download()[1], (n + 65535) / 65536);
}

TEST_CASE("decoupled look-back: more than 2^33 elements in memory" *
          doctest::skip(!has_room_for(std::size_t{5} << 32))) {
  TEST_RANDOM(random);
  const std::uint64_t n = (std::uint64_t{1} << 33) + 1 + random() % 100000;
  INFO("n = ", n);
  const test::guarded_buffer<byte> data(n), out(n, 1);
  fill<<<1024, 256>>>(data.data(), n);
  CHECK_CUDA(cudaGetLastError());
  test::two_phases([&](void *temporary, std::size_t &bytes) {
    return DeviceScan::InclusiveScan(temporary, bytes, data.data(), out.data(), test::plus<byte>{},
                                     n);
  });
  CHECK_EQ(wrong_results(out.data(), n), 0u);
  CHECK(out.guards_intact());

  INFO("in place");
  test::two_phases([&](void *temporary, std::size_t &bytes) {
    return DeviceScan::InclusiveScan(temporary, bytes, data.data(), test::plus<byte>{}, n);
  });
  CHECK_EQ(wrong_results(data.data(), n), 0u);
  CHECK(data.guards_intact());
}

namespace {
struct is_not_seven {
  __host__ __device__ bool operator()(byte x) const { return x != 7; }
};
} // namespace

TEST_CASE("selection: more than 2^32 kept elements" *
          doctest::skip(!has_room_for(std::size_t{5} << 32))) {
  TEST_RANDOM(random);
  const std::uint64_t n = (std::uint64_t{1} << 33) + 1 + random() % 100000;
  INFO("n = ", n);
  const test::guarded_buffer<byte> data(n), out(n, 1);
  fill<<<1024, 256>>>(data.data(), n);
  CHECK_CUDA(cudaGetLastError());
  const test::guarded_buffer<std::uint64_t> count(1);
  test::two_phases([&](void *temporary, std::size_t &bytes) {
    return lookback::DeviceSelect::If(temporary, bytes, data.data(), out.data(), count.data(), n,
                                      is_not_seven{});
  });
  // 256 consecutive elements are all bytes, once each.
  const std::uint64_t whole = n / 256 * 255;
  std::uint64_t rest = 0;
  for (std::uint64_t i = n / 256 * 256; i < n; ++i) rest += is_not_seven{}(element{}(i)) ? 1 : 0;
  CHECK_EQ(count.download()[0], whole + rest);
  std::vector<byte> last(255 * 4), expected;
  REQUIRE_CUDA(cudaMemcpy(last.data(), out.data() + whole + rest - last.size(), last.size(),
                          cudaMemcpyDeviceToHost));
  for (std::uint64_t i = n; expected.size() < last.size(); --i)
    if (is_not_seven{}(element{}(i - 1))) expected.insert(expected.begin(), element{}(i - 1));
  CHECK_EQ(last, expected);
  CHECK(out.guards_intact());
}
