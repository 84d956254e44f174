// SPDX-License-Identifier: MIT
// Scans of host memory through one GPU or several, against lookback::host bit for bit; what goes
// wrong on the way leaves nothing behind. Needs a GPU.
#include <lookback/out_of_core.cuh>

#include <lookback/execution_policy.cuh>

#include <support/allocator.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/tree_reference.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/system_error.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace {

namespace out_of_core = lookback::out_of_core;
using lookback::host;
using lookback::par;

/// Elements in pinned host memory, or in pageable memory.
template <class T>
class host_buffer {
public:
  host_buffer(std::size_t n, bool pinned) : pinned_(pinned), n_(n) {
    void *memory = nullptr;
    if (pinned)
      REQUIRE_CUDA(cudaHostAlloc(&memory, n * sizeof(T) + 1, cudaHostAllocDefault));
    else
      memory = std::malloc(n * sizeof(T) + 1);
    std::memset(memory, 0xa5, n * sizeof(T));
    first_ = static_cast<T *>(memory);
  }
  host_buffer(const std::vector<T> &values, bool pinned) : host_buffer(values.size(), pinned) {
    std::copy(values.begin(), values.end(), first_);
  }
  host_buffer(const host_buffer &) = delete;
  host_buffer &operator=(const host_buffer &) = delete;
  ~host_buffer() {
    if (pinned_)
      cudaFreeHost(first_);
    else
      std::free(first_);
  }
  T *begin() const { return first_; }
  T *end() const { return first_ + n_; }

private:
  bool pinned_;
  std::size_t n_;
  T *first_;
};

template <class T>
bool same(const T *a, const T *b, std::size_t n) {
  return std::memcmp(a, b, n * sizeof(T)) == 0;
}

/// Chunks of `groups` groups.
out_of_core::options in_chunks(std::size_t group_bytes, std::size_t groups) {
  out_of_core::options limits;
  limits.chunk_bytes = groups * group_bytes;
  return limits;
}

/// None, or up to four that take turns: the GPUs of the machine, or the same one several times.
template <class Random>
std::vector<int> random_devices(Random &random) {
  int count = 0;
  REQUIRE_CUDA(cudaGetDeviceCount(&count));
  std::vector<int> devices(random() % 5);
  for (int &each : devices) each = static_cast<int>(random() % static_cast<unsigned>(count));
  return devices;
}
std::string text_of(const std::vector<int> &devices) {
  std::string text;
  for (const int each : devices) text += " " + std::to_string(each);
  return text;
}

template <class T, class Random>
std::vector<T> random_elements(std::size_t n, Random &random) {
  if constexpr (std::is_same<T, test::affine>::value) {
    std::vector<T> maps(n);
    for (T &map : maps)
      map = {static_cast<std::uint32_t>(random() | 1), static_cast<std::uint32_t>(random())};
    return maps;
  } else {
    return test::random_values<T>(n, random);
  }
}

/// Inclusive and exclusive scans, with and without an initial value, apart and in place.
enum which { all_calls, exclusive_only };
template <which Calls, class T, class Operator>
void check_bits(const char *name, Operator op, const T &initial) {
  INFO(doctest::String(name));
  TEST_RANDOM(random);
  const test::tree_sizes size(sizeof(T), sizeof(T));
  const std::size_t group = size.group;
  for (const std::size_t n : {std::size_t{1}, group - 1, group, group + 1, 2 * group, 8 * group - 1,
                              8 * group + 1, random() % (40 * group) + 1}) {
    const auto x = random_elements<T>(n, random);
    std::vector<T> expected(n, initial);
    const bool pinned_in = random() % 2 == 0, pinned_out = random() % 2 == 0;
    out_of_core::options limits = in_chunks(group * sizeof(T), 1 + random() % 3);
    limits.devices = random_devices(random);
    INFO(n, " elements, ", pinned_in ? "pinned" : "pageable", " to ",
         pinned_out ? "pinned" : "pageable", ", chunks of ", limits.chunk_bytes, " bytes, devices",
         doctest::String(text_of(limits.devices).c_str()));
    const host_buffer<T> in(x, pinned_in), out(n, pinned_out);
    const auto check = [&](const char *call, const T *end) {
      INFO(doctest::String(call));
      CHECK_EQ(end, out.end());
      CHECK(same(out.begin(), expected.data(), n));
    };
    if constexpr (Calls != exclusive_only) {
      lookback::inclusive_scan(host, x.begin(), x.end(), expected.begin(), op);
      check("inclusive",
            out_of_core::inclusive_scan(par, in.begin(), in.end(), out.begin(), op, limits));
      lookback::inclusive_scan(host, x.begin(), x.end(), expected.begin(), initial, op);
      check(
          "inclusive with an initial value",
          out_of_core::inclusive_scan(par, in.begin(), in.end(), out.begin(), initial, op, limits));
    }
    lookback::exclusive_scan(host, x.begin(), x.end(), expected.begin(), initial, op);
    check("exclusive",
          out_of_core::exclusive_scan(par, in.begin(), in.end(), out.begin(), initial, op, limits));
    out_of_core::exclusive_scan(par, in.begin(), in.end(), in.begin(), initial, op, limits);
    CHECK_MESSAGE(same(in.begin(), expected.data(), n), "in place");
  }
}

/// Device memory in use, by everything in this process.
std::size_t memory_in_use() {
  std::size_t available = 0, total = 0;
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_CUDA(lookback::release_workspace());
  REQUIRE_CUDA(cudaMemGetInfo(&available, &total));
  return total - available;
}

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

constexpr std::size_t many = std::size_t{5} << 20, group_bytes = std::size_t{512} << 10;

struct third {
  __host__ __device__ double operator()(unsigned char x) const { return x / 3.0; }
};
struct in_halves {
  float operator()(std::int64_t i) const { return static_cast<float>(i) / 2; }
};
struct throws_late {
  float operator()(std::int64_t i) const {
    if (i == 4000000) throw std::runtime_error("thrown by the iterator");
    return 1;
  }
};

} // namespace

TEST_CASE("out_of_core: the bits of lookback::host") {
  check_bits<all_calls>("float", lookback::plus{}, 0.37f);
  check_bits<exclusive_only>("int", lookback::plus{}, 7);
  check_bits<exclusive_only>("affine", test::compose_affine{}, test::affine{3, 5});
}

TEST_CASE("out_of_core: elements, results and accumulators of different types; iterators") {
  TEST_RANDOM(random);
  const auto x = test::random_values<unsigned char>(many, random);
  std::vector<double> y(many), expected(many);
  lookback::transform_exclusive_scan(host, x.begin(), x.end(), expected.begin(), third{}, 9.0,
                                     lookback::plus{});
  out_of_core::transform_exclusive_scan(par, x.begin(), x.end(), y.begin(), third{}, 9.0,
                                        lookback::plus{}, in_chunks(1 << 20, 1));
  CHECK(y == expected);

  const auto first = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::int64_t{-7}), in_halves{});
  std::vector<float> sums(many), expected_sums(many);
  lookback::inclusive_scan(host, first, first + many, expected_sums.begin());
  out_of_core::inclusive_scan(par, first, first + many, sums.begin());
  CHECK(sums == expected_sums);
}

TEST_CASE("out_of_core: n <= 0 writes nothing") {
  float x[3] = {1, 2, 3};
  CHECK_EQ(out_of_core::inclusive_scan(par, x + 1, x + 1, x), x);
  CHECK_EQ(out_of_core::exclusive_scan(par, x + 1, x, x, 5.0f), x);
  CHECK_EQ(x[0], 1.0f);
}

TEST_CASE("out_of_core: device memory stays within its limit, which has a least value") {
  TEST_RANDOM(random);
  const auto x = test::random_values<float>(many, random);
  std::vector<float> y(many), expected(many);
  lookback::inclusive_scan(host, x.begin(), x.end(), expected.begin());
  out_of_core::options limits;
  limits.device_bytes = 1000;
  const std::string error =
      message_of([&] { out_of_core::inclusive_scan(par, x.begin(), x.end(), y.begin(), limits); });
  const std::string least = "needs at least ";
  REQUIRE_NE(error.find("options.device_bytes is 1000"), std::string::npos);
  limits.device_bytes = std::stoull(error.substr(error.find(least) + least.size()));
  test::arena_allocator arena(limits.device_bytes + 255);
  out_of_core::inclusive_scan(par(arena), x.begin(), x.end(), y.begin(), limits);
  CHECK(y == expected);
  CHECK_EQ(arena.allocations(), 1);
  CHECK_EQ(arena.outstanding(), 0u);
  --limits.device_bytes;
  CHECK_THROWS_AS(out_of_core::inclusive_scan(par, x.begin(), x.end(), y.begin(), limits),
                  std::invalid_argument);
}

TEST_CASE("out_of_core: progress, and exceptions that leave nothing behind") {
  TEST_RANDOM(random);
  const host_buffer<float> x(test::random_values<float>(many, random), true), y(many, true);
  std::vector<float> expected(many);
  lookback::inclusive_scan(host, x.begin(), x.end(), expected.begin());
  out_of_core::options limits = in_chunks(group_bytes, 2);
  std::int64_t done_before = 0, calls = 0;
  limits.progress = [&](std::int64_t done, std::int64_t total) {
    CHECK_EQ(total, static_cast<std::int64_t>(many));
    CHECK(same(y.begin() + done_before, expected.data() + done_before, done - done_before));
    CHECK_GT(done, done_before);
    done_before = done;
    ++calls;
  };
  out_of_core::inclusive_scan(par, x.begin(), x.end(), y.begin(), limits);
  CHECK_EQ(done_before, static_cast<std::int64_t>(many));
  CHECK_EQ(calls, static_cast<std::int64_t>(many * sizeof(float) / limits.chunk_bytes));

  limits.progress = [](std::int64_t done, std::int64_t total) {
    if (done > total / 2) throw std::runtime_error("thrown by the progress");
  };
  const auto late = thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}),
                                                    throws_late{});
  const auto fail = [&] {
    CHECK_EQ(message_of(
                 [&] { out_of_core::inclusive_scan(par, x.begin(), x.end(), y.begin(), limits); }),
             "thrown by the progress");
    CHECK_CUDA(cudaStreamQuery(cudaStreamLegacy));
    CHECK_EQ(message_of([&] { out_of_core::inclusive_scan(par, late, late + many, y.begin()); }),
             "thrown by the iterator");
    test::arena_allocator arena;
    arena.fail_from(0, test::arena_allocator::failure::throws);
    CHECK_THROWS_AS(out_of_core::inclusive_scan(par(arena), x.begin(), x.end(), y.begin(), limits),
                    std::bad_alloc);
  };
  fail(); // so that all kernels are loaded, and have the local memory that the context keeps
  const std::size_t before = memory_in_use();
  fail();
  CHECK_EQ(memory_in_use(), before);
  limits.progress = nullptr;
  out_of_core::inclusive_scan(par, x.begin(), x.end(), y.begin(), limits);
  CHECK(same(y.begin(), expected.data(), many));
  CHECK_CUDA(cudaGetLastError());
}

TEST_CASE("out_of_core: several GPUs, of which nothing stays behind") {
  TEST_RANDOM(random);
  int count = 0;
  REQUIRE_CUDA(cudaGetDeviceCount(&count));
  const host_buffer<float> x(test::random_values<float>(many, random), true), y(many, true);
  std::vector<float> expected(many);
  lookback::inclusive_scan(host, x.begin(), x.end(), expected.begin());
  out_of_core::options limits = in_chunks(group_bytes, 1);
  limits.devices = {0, count > 1 ? 1 : 0, 0};
  const auto scan = [&] {
    out_of_core::inclusive_scan(par, x.begin(), x.end(), y.begin(), limits);
  };
  scan();
  CHECK(same(y.begin(), expected.data(), many));
  const std::size_t before = memory_in_use();
  std::int64_t done_before = 0;
  limits.progress = [&](std::int64_t done, std::int64_t) {
    CHECK(same(y.begin() + done_before, expected.data() + done_before, done - done_before));
    done_before = done;
  };
  std::memset(y.begin(), 0, many * sizeof(float));
  scan();
  CHECK_EQ(done_before, static_cast<std::int64_t>(many));
  limits.progress = [](std::int64_t done, std::int64_t total) {
    if (done > total / 2) throw std::runtime_error("thrown by the progress");
  };
  CHECK_EQ(message_of(scan), "thrown by the progress");
  CHECK_EQ(memory_in_use(), before);
  limits.devices = {0, count};
  CHECK_NE(message_of(scan).find("options.devices has " + std::to_string(count)),
           std::string::npos);
  int current = -1;
  CHECK_CUDA(cudaGetDevice(&current));
  CHECK_EQ(current, 0);
  CHECK_CUDA(cudaGetLastError());
}

TEST_CASE("out_of_core: device memory and captures are refused") {
  const test::guarded_buffer<float> device(std::vector<float>(10, 1));
  float results[10] = {};
  const auto refused = message_of(
      [&] { out_of_core::inclusive_scan(par, device.data(), device.data() + 10, results); });
  CHECK_NE(refused.find("memory of a device"), std::string::npos);

  test::stream s;
  REQUIRE_CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  const std::vector<float> x(10, 1);
  CHECK_THROWS_AS(out_of_core::inclusive_scan(par.on(s), x.begin(), x.end(), results),
                  thrust::system_error);
  cudaGraph_t graph = nullptr;
  REQUIRE_CUDA(cudaStreamEndCapture(s, &graph));
  REQUIRE_CUDA(cudaGraphDestroy(graph));
}

TEST_CASE("out_of_core: begins after the work in the policy's stream") {
  const std::size_t n = std::size_t{64} << 20;
  const host_buffer<float> x(n, true), y(n, true);
  void *elements = nullptr;
  test::stream s;
  REQUIRE_CUDA(cudaMalloc(&elements, n * sizeof(float)));
  REQUIRE_CUDA(cudaMemsetAsync(elements, 0x3e, n * sizeof(float), s));
  REQUIRE_CUDA(cudaMemcpyAsync(x.begin(), elements, n * sizeof(float), cudaMemcpyDeviceToHost, s));
  out_of_core::inclusive_scan(par.on(s), x.begin(), x.end(), y.begin());
  REQUIRE_CUDA(cudaFree(elements));
  float element = 0;
  std::memset(&element, 0x3e, sizeof(element));
  std::vector<float> expected(n, element);
  lookback::inclusive_scan(host, expected.begin(), expected.end(), expected.begin());
  CHECK(same(y.begin(), expected.data(), n));
}
