// SPDX-License-Identifier: MIT
#include <lookback/device_partition.cuh>
#include <lookback/device_reduce.cuh>
#include <lookback/device_run_length_encode.cuh>
#include <lookback/device_select.cuh>

// The doors have to be complete before CUB is: nothing of CUB may be in sight above this line.
#if defined(CUB_VERSION) || defined(THRUST_VERSION)
#error "a header of lookback's CUB interface includes CUB or Thrust"
#endif

#include <support/capture.cuh>
#include <support/device_call.cuh>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include <cuda/std/functional>

#include <cstdint>

namespace {

/// Device memory of a call: keys in runs, their values, and outputs.
struct arrays {
  const int *keys;
  const std::uint64_t *values;
  int *keys_output, *lengths, *rest, *counts;
  std::uint64_t *values_output;
  int n;
};

/// Outputs of a call, as they are afterwards.
struct outputs {
  test::guarded_buffer<int> keys, lengths, rest, counts{2};
  test::guarded_buffer<std::uint64_t> values;
  explicit outputs(std::size_t n) : keys(n, 1), lengths(n, 2), rest(n, 3), values(n, 1) {}
  arrays with(const int *from, const std::uint64_t *values_from, std::size_t n) const {
    return {from,        values_from,   keys.data(),   lengths.data(),
            rest.data(), counts.data(), values.data(), static_cast<int>(n)};
  }
};

struct below {
  int limit;
  __host__ __device__ bool operator()(int x) const { return x < limit; }
};

/// `call(library, temporary, bytes, arrays)` with lookback's doors and with CUB's: the same
/// results, the same numbers, and nothing else written.
template <class Ours, class Cubs, class Call>
void same_as_cub(const char *name, Ours ours, Cubs cubs, Call call) {
  TEST_RANDOM(random);
  for (const std::size_t n : test::to_try(
           {0, 1, 2 + random() % 5000, 100000 + random() % 1000000, 5000000 + random() % 9},
           random)) {
    INFO(doctest::String(name), ", n = ", n);
    std::vector<int> keys;
    const std::uint64_t longest = std::uint64_t{1} << random() % 12;
    while (keys.size() < n)
      keys.insert(keys.end(), std::min<std::size_t>(1 + random() % longest, n - keys.size()),
                  static_cast<int>(random() % 100));
    const test::guarded_buffer<int> device_keys(keys, random() % 4);
    const test::guarded_buffer<std::uint64_t> values(test::random_values<std::uint64_t>(n, random));
    const outputs expected(n), actual(n);
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return call(cubs, temporary, bytes, expected.with(device_keys.data(), values.data(), n));
    });
    test::two_phases(
        [&](void *temporary, std::size_t &bytes) {
          return call(ours, temporary, bytes, actual.with(device_keys.data(), values.data(), n));
        },
        random() % 256);
    const auto check = [](const auto &one, const auto &other) {
      CHECK_EQ(test::first_difference(one.download(), other.download()), test::nowhere);
      CHECK(one.guards_intact());
    };
    if (n == 0) CHECK_EQ(actual.counts.download()[0], 0);
    check(actual.keys, expected.keys);
    check(actual.lengths, expected.lengths);
    check(actual.rest, expected.rest);
    check(actual.counts, expected.counts);
    check(actual.values, expected.values);
  }
}

} // namespace

#define ARGUMENTS auto door, void *temporary, std::size_t &bytes, const arrays &a

TEST_CASE("DeviceSelect::UniqueByKey has the results of CUB's") {
  same_as_cub("UniqueByKey", lookback::DeviceSelect{}, cub::DeviceSelect{}, [](ARGUMENTS) {
    return door.UniqueByKey(temporary, bytes, a.keys, a.values, a.keys_output, a.values_output,
                            a.counts, a.n);
  });
}

TEST_CASE("DevicePartition::If with three parts has the results of CUB's") {
  same_as_cub("If", lookback::DevicePartition{}, cub::DevicePartition{}, [](ARGUMENTS) {
    return door.If(temporary, bytes, a.keys, a.keys_output, a.lengths, a.rest, a.counts, a.n,
                   below{20}, below{70});
  });
}

TEST_CASE("DeviceReduce::ReduceByKey has the results of CUB's") {
  same_as_cub("sums", lookback::DeviceReduce{}, cub::DeviceReduce{}, [](ARGUMENTS) {
    return door.ReduceByKey(temporary, bytes, a.keys, a.keys_output, a.values, a.values_output,
                            a.counts, cuda::std::plus<>{}, a.n);
  });
  same_as_cub("maxima", lookback::DeviceReduce{}, cub::DeviceReduce{}, [](ARGUMENTS) {
    return door.ReduceByKey(temporary, bytes, a.keys, a.keys_output, a.values, a.values_output,
                            a.counts, cuda::maximum<>{}, a.n);
  });
}

TEST_CASE("DeviceRunLengthEncode has the results of CUB's") {
  same_as_cub(
      "Encode", lookback::DeviceRunLengthEncode{}, cub::DeviceRunLengthEncode{}, [](ARGUMENTS) {
        return door.Encode(temporary, bytes, a.keys, a.keys_output, a.lengths, a.counts, a.n);
      });
  same_as_cub("NonTrivialRuns", lookback::DeviceRunLengthEncode{}, cub::DeviceRunLengthEncode{},
              [](ARGUMENTS) {
                return door.NonTrivialRuns(temporary, bytes, a.keys, a.keys_output, a.lengths,
                                           a.counts, a.n);
              });
}

TEST_CASE("ReduceByKey on a stream: nothing but lookback's kernels, and bad sizes refused") {
  const std::size_t n = 3000000;
  const test::guarded_buffer<int> keys(std::vector<int>(n, 1)), keys_output(n), count(1);
  const test::guarded_buffer<float> values(std::vector<float>(n, 1.0f)), output(n);
  const auto reduce = [&](void *temporary, std::size_t &bytes, std::int64_t items,
                          cudaStream_t stream) {
    return lookback::DeviceReduce::ReduceByKey(
        temporary, bytes, keys.data(), keys_output.data(), values.data(), output.data(),
        count.data(), lookback::plus{}, items, stream, lookback::fastest{});
  };
  std::size_t bytes = 0;
  REQUIRE_CUDA(reduce(nullptr, bytes, n, nullptr));
  const test::guarded_buffer<unsigned char> temporary(bytes);
  const test::stream stream;
  const test::captured graph(stream,
                             [&] { REQUIRE_CUDA(reduce(temporary.data(), bytes, n, stream)); });
  CHECK_FALSE(graph.kernels().empty());
  for (const auto &name : graph.kernels()) CHECK(test::is_lookback_kernel(name));
  CHECK_EQ(reduce(nullptr, bytes, -1, nullptr), cudaErrorInvalidValue);
}
