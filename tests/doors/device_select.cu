// SPDX-License-Identifier: MIT
#include <lookback/device_partition.cuh>
#include <lookback/device_select.cuh>

// The doors have to be complete before CUB is: nothing of CUB may be in sight above this line.
#if defined(CUB_VERSION) || defined(THRUST_VERSION)
#error "lookback/device_select.cuh includes CUB or Thrust"
#endif

#include <support/capture.cuh>
#include <support/device_call.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <cub/device/device_partition.cuh>
#include <cub/device/device_select.cuh>

#include <cstdint>

namespace {

struct below {
  int limit;
  template <class T>
  __host__ __device__ bool operator()(const T &x) const {
    return x < T(limit);
  }
};
struct same_tens {
  template <class T>
  __host__ __device__ bool operator()(const T &a, const T &b) const {
    return a / T(10) == b / T(10);
  }
};

/// `call(door, temporary, bytes, in, flags, out, count, n)` once with each door: the same
/// results, the same number, and nothing else written. In place, `out` has the items.
template <class T, class Ours, class Cubs, class Call>
void same_as_cub(Ours ours, Cubs cubs, const char *name, bool in_place, Call call) {
  TEST_RANDOM(random);
  for (std::size_t n : test::to_try(
           {0, 1, 2 + random() % 5000, 100000 + random() % 1000000, 5000000 + random() % 9},
           random)) {
    INFO(doctest::String(name), ", n = ", n);
    const auto in = test::random_below<T>(n, 100, random);
    const auto flags = test::random_below<char>(n, 2, random);
    const test::guarded_buffer<T> device_in(in, random() % 16);
    const test::guarded_buffer<char> device_flags(flags, random() % 16);
    test::guarded_buffer<T> expected(n), actual(n, random() % 16);
    if (in_place) {
      expected.upload(in);
      actual.upload(in);
    }
    const test::guarded_buffer<int> expected_count(1), count(1);
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return call(cubs, temporary, bytes, device_in.data(), device_flags.data(), expected.data(),
                  expected_count.data(), static_cast<int>(n));
    });
    test::two_phases(
        [&](void *temporary, std::size_t &bytes) {
          return call(ours, temporary, bytes, device_in.data(), device_flags.data(), actual.data(),
                      count.data(), static_cast<int>(n));
        },
        random() % 256);
    const int kept = expected_count.download()[0];
    CHECK_EQ(count.download()[0], kept);
    auto results = actual.download(), wanted = expected.download();
    if (in_place) { // what CUB leaves behind the results is its own
      results.resize(static_cast<std::size_t>(kept));
      wanted.resize(static_cast<std::size_t>(kept));
    }
    CHECK_EQ(test::first_difference(results, wanted), test::nowhere);
    CHECK(actual.guards_intact());
    CHECK(count.guards_intact());
    CHECK_EQ(test::first_difference(device_in.download(), in), test::nowhere);
  }
}

} // namespace

#define ARGUMENTS                                                                                  \
  auto door, void *temporary, std::size_t &bytes, [[maybe_unused]] auto *in,                       \
      [[maybe_unused]] auto *flags, auto *out, auto *count, int n

TEST_CASE_TEMPLATE("DeviceSelect has the results of cub::DeviceSelect", T, std::int8_t,
                   std::int32_t, double) {
  const auto check = [](const char *name, bool in_place, auto call) {
    same_as_cub<T>(lookback::DeviceSelect{}, cub::DeviceSelect{}, name, in_place, call);
  };
  check("If", false,
        [](ARGUMENTS) { return door.If(temporary, bytes, in, out, count, n, below{50}); });
  check("If in place", true,
        [](ARGUMENTS) { return door.If(temporary, bytes, out, count, n, below{50}); });
  check("Flagged", false,
        [](ARGUMENTS) { return door.Flagged(temporary, bytes, in, flags, out, count, n); });
  check("Flagged in place", true,
        [](ARGUMENTS) { return door.Flagged(temporary, bytes, out, flags, count, n); });
  check("FlaggedIf", false, [](ARGUMENTS) {
    return door.FlaggedIf(temporary, bytes, in, flags, out, count, n, below{1});
  });
  check("FlaggedIf in place", true,
        [](ARGUMENTS) { return door.FlaggedIf(temporary, bytes, out, flags, count, n, below{1}); });
  check("Unique", false,
        [](ARGUMENTS) { return door.Unique(temporary, bytes, in, out, count, n); });
}

TEST_CASE_TEMPLATE("DevicePartition has the results of cub::DevicePartition", T, std::int16_t,
                   std::int64_t) {
  const auto check = [](const char *name, auto call) {
    same_as_cub<T>(lookback::DevicePartition{}, cub::DevicePartition{}, name, false, call);
  };
  check("Flagged",
        [](ARGUMENTS) { return door.Flagged(temporary, bytes, in, flags, out, count, n); });
  check("If", [](ARGUMENTS) { return door.If(temporary, bytes, in, out, count, n, below{70}); });
}

TEST_CASE("DeviceSelect::Unique by a comparison") {
  TEST_RANDOM(random);
  const std::size_t n = 1000000 + random() % 5000;
  const auto in = test::random_below<int>(n, 100, random);
  std::vector<int> expected;
  for (std::size_t i = 0; i < n; ++i)
    if (i == 0 || !same_tens{}(in[i - 1], in[i])) expected.push_back(in[i]);
  const test::guarded_buffer<int> device_in(in), out(n), count(1);
  test::two_phases([&](void *temporary, std::size_t &bytes) {
    return lookback::DeviceSelect::Unique(temporary, bytes, device_in.data(), out.data(),
                                          count.data(), n, same_tens{});
  });
  auto results = out.download();
  results.resize(expected.size());
  CHECK_EQ(count.download()[0], static_cast<int>(expected.size()));
  CHECK_EQ(test::first_difference(results, expected), test::nowhere);
}

TEST_CASE("selections on a stream: nothing but lookback's kernels, and bad sizes refused") {
  const std::size_t n = 3000000;
  const test::guarded_buffer<int> in(n), out(n), count(1);
  std::size_t bytes = 0;
  using lookback::DeviceSelect;
  REQUIRE_CUDA(DeviceSelect::If(nullptr, bytes, in.data(), out.data(), count.data(), n, below{3}));
  const test::guarded_buffer<unsigned char> temporary(bytes);
  const test::stream stream;
  const test::captured graph(stream, [&] {
    REQUIRE_CUDA(DeviceSelect::If(temporary.data(), bytes, in.data(), out.data(), count.data(), n,
                                  below{3}, stream));
  });
  CHECK_FALSE(graph.kernels().empty());
  for (const auto &name : graph.kernels()) CHECK(test::is_lookback_kernel(name));
  CHECK_EQ(DeviceSelect::If(nullptr, bytes, in.data(), out.data(), count.data(), -1, below{3}),
           cudaErrorInvalidValue);
  std::size_t too_few = bytes - 1;
  CHECK_EQ(
      DeviceSelect::If(temporary.data(), too_few, in.data(), out.data(), count.data(), n, below{3}),
      cudaErrorInvalidValue);
}
