// SPDX-License-Identifier: MIT
// The one-phase selections: the results of the two-phase calls, in every kind of environment.
#include <lookback/device_partition.cuh>
#include <lookback/device_reduce.cuh>
#include <lookback/device_run_length_encode.cuh>
#include <lookback/device_select.cuh>

#include <support/device_call.cuh>
#include <support/one_phase_calls.cuh>

namespace {

struct is_small {
  int limit;
  __host__ __device__ bool operator()(int x) const { return x < limit; }
};
struct same_tens {
  __host__ __device__ bool operator()(int a, int b) const { return a / 10 == b / 10; }
};

/// Device memory of a call. `data` is the input, and the output in place.
struct arrays {
  int *data, *flags, *values, *kept, *more, *rest, *counts;
};
struct memory {
  test::guarded_buffer<int> data, flags, values, kept, more, rest, counts{2};
  memory(const std::vector<int> &x, const std::vector<int> &marks)
      : data(x), flags(marks), values(marks), kept(x.size()), more(x.size()), rest(x.size()) {}
  arrays pointers() const {
    return {data.data(), flags.data(), values.data(), kept.data(),
            more.data(), rest.data(),  counts.data()};
  }
};

/// `call(arrays, storage and its size or nothing, n and environment or stream...)`: one phase in
/// `env` has the results of two phases.
template <class Call, class... Env>
void same_as_two_phases(const char *name, std::size_t n, Call call, const Env &...env) {
  TEST_RANDOM(random);
  INFO(doctest::String(name), ", n = ", n);
  const auto x = test::random_below<int>(n, 30, random),
             marks = test::random_below<int>(n, 2, random);
  const memory expected(x, marks), actual(x, marks);
  test::two_phases([&](void *temporary, std::size_t &bytes) {
    return call(expected.pointers(), [&](auto function, const auto &...arguments) {
      return function(temporary, bytes, arguments...);
    });
  });
  REQUIRE_CUDA(call(actual.pointers(), [&](auto function, const auto &...arguments) {
    return function(arguments..., env...);
  }));
  const auto check = [](const auto &one, const auto &other) {
    CHECK_EQ(test::first_difference(one.download(), other.download()), test::nowhere);
    CHECK(one.guards_intact());
  };
  if (n == 0) CHECK_EQ(actual.counts.download()[0], 0);
  check(actual.data, expected.data);
  check(actual.flags, expected.flags);
  check(actual.values, expected.values);
  check(actual.kept, expected.kept);
  check(actual.more, expected.more);
  check(actual.rest, expected.rest);
  check(actual.counts, expected.counts);
}

#define CALL(door, ...)                                                                            \
  [=](const arrays &a, auto run) {                                                                 \
    return run([](auto &&...all) { return lookback::door(all...); }, __VA_ARGS__);                 \
  }

template <class... Env>
void every_call(std::size_t size, const Env &...env) {
  const int n = static_cast<int>(size);
  const auto check = [&](const char *name, auto call) {
    same_as_two_phases(name, size, call, env...);
  };
  const is_small small{12};
  check("Flagged", CALL(DeviceSelect::Flagged, a.data, a.flags, a.kept, a.counts, n));
  check("Flagged in place", CALL(DeviceSelect::Flagged, a.data, a.flags, a.counts, n));
  check("FlaggedIf", CALL(DeviceSelect::FlaggedIf, a.data, a.flags, a.kept, a.counts, n, small));
  check("FlaggedIf in place", CALL(DeviceSelect::FlaggedIf, a.data, a.flags, a.counts, n, small));
  check("If", CALL(DeviceSelect::If, a.data, a.kept, a.counts, n, small));
  check("If in place", CALL(DeviceSelect::If, a.data, a.counts, n, small));
  check("Unique", CALL(DeviceSelect::Unique, a.data, a.kept, a.counts, n));
  check("Unique(equal)", CALL(DeviceSelect::Unique, a.data, a.kept, a.counts, n, same_tens{}));
  check("Unique in place", CALL(DeviceSelect::Unique, a.data, a.counts, n));
  check("Unique(equal) in place", CALL(DeviceSelect::Unique, a.data, a.counts, n, same_tens{}));
  check("UniqueByKey",
        CALL(DeviceSelect::UniqueByKey, a.data, a.values, a.kept, a.more, a.counts, n));
  check("UniqueByKey(equal)", CALL(DeviceSelect::UniqueByKey, a.data, a.values, a.kept, a.more,
                                   a.counts, n, same_tens{}));
  check("partition Flagged", CALL(DevicePartition::Flagged, a.data, a.flags, a.kept, a.counts, n));
  check("partition If", CALL(DevicePartition::If, a.data, a.kept, a.counts, n, small));
  check("three parts", CALL(DevicePartition::If, a.data, a.kept, a.more, a.rest, a.counts, n, small,
                            is_small{20}));
  check("ReduceByKey", CALL(DeviceReduce::ReduceByKey, a.data, a.kept, a.values, a.more, a.counts,
                            lookback::plus{}, n));
  check("Encode", CALL(DeviceRunLengthEncode::Encode, a.data, a.kept, a.more, a.counts, n));
  check("NonTrivialRuns",
        CALL(DeviceRunLengthEncode::NonTrivialRuns, a.data, a.kept, a.more, a.counts, n));
}

} // namespace

TEST_CASE("one-phase selections: without an environment, on a stream, with a memory resource") {
  const test::stream s;
  test::resource_log log;
  for (const std::size_t n : {0, 1, 1000, 500000}) {
    every_call(n);
    every_call(n, static_cast<cudaStream_t>(s));
  }
  every_call(100000, test::logging_resource{&log});
  CHECK_GT(log.allocations, 0u);
  CHECK_EQ(log.live_bytes, 0u);
}
