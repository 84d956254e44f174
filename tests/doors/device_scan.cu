// SPDX-License-Identifier: MIT
#include <lookback/device_scan.cuh>

// The door has to be complete before CUB is: nothing of CUB may be in sight above this line.
#if defined(CUB_VERSION) || defined(THRUST_VERSION)
#error "lookback/device_scan.cuh includes CUB or Thrust"
#endif

#include <support/capture.cuh>
#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <cub/device/device_scan.cuh>

#include <cstdint>

namespace {

using lookback::DeviceScan;

/// `call(scan, temporary, bytes, in, out, n)` once with each library's DeviceScan as `scan`: the
/// same results, also with misaligned storage, in and out.
template <class In, class Out, class Call>
void same_as_cub(const char *name, Call call) {
  TEST_RANDOM(random);
  for (std::size_t n :
       test::to_try({1, 2 + random() % 5000, 100000 + random() % 1000000}, random)) {
    INFO(doctest::String(name), ", n = ", n);
    const std::vector<In> in = test::random_values<In>(n, random);
    const test::guarded_buffer<In> device_in(in, random() % 16);
    const test::guarded_buffer<Out> expected(n);
    const test::guarded_buffer<Out> actual(n, random() % 16);
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return call(cub::DeviceScan{}, temporary, bytes, device_in.data(), expected.data(),
                  static_cast<int>(n));
    });
    test::two_phases(
        [&](void *temporary, std::size_t &bytes) {
          return call(DeviceScan{}, temporary, bytes, device_in.data(), actual.data(),
                      static_cast<int>(n));
        },
        random() % 256);
    CHECK_EQ(test::first_difference(actual.download(), expected.download()), test::nowhere);
    CHECK(actual.guards_intact());
    CHECK_EQ(test::first_difference(device_in.download(), in), test::nowhere);
  }
}

template <class Scan, class Value>
auto future(Scan, Value *value) {
  if constexpr (std::is_same<Scan, DeviceScan>::value)
    return lookback::FutureValue<Value>(value);
  else
    return cub::FutureValue<Value>(value);
}

} // namespace

#define CALL(...)                                                                                  \
  [=](auto scan, void *temporary, std::size_t &bytes, auto in, auto out, int n) {                  \
    using library = decltype(scan);                                                                \
    return library::__VA_ARGS__;                                                                   \
  }

TEST_CASE("DeviceScan::InclusiveSum, DeviceScan::ExclusiveSum: the results of CUB") {
  SUBCASE("uint32") {
    same_as_cub<std::uint32_t, std::uint32_t>("inclusive",
                                              CALL(InclusiveSum(temporary, bytes, in, out, n)));
    same_as_cub<std::uint32_t, std::uint32_t>("exclusive",
                                              CALL(ExclusiveSum(temporary, bytes, in, out, n)));
  }
  SUBCASE("int8 to int32 accumulates in int32") {
    same_as_cub<std::int8_t, std::int32_t>("inclusive",
                                           CALL(InclusiveSum(temporary, bytes, in, out, n)));
    same_as_cub<std::int8_t, std::int32_t>("exclusive",
                                           CALL(ExclusiveSum(temporary, bytes, in, out, n)));
  }
  SUBCASE("uint32 to uint8") {
    same_as_cub<std::uint32_t, std::uint8_t>("inclusive",
                                             CALL(InclusiveSum(temporary, bytes, in, out, n)));
  }
}

TEST_CASE("DeviceScan::InclusiveScan, InclusiveScanInit, ExclusiveScan: the results of CUB") {
  const test::compose_words op{};
  same_as_cub<std::uint32_t, std::uint32_t>("inclusive",
                                            CALL(InclusiveScan(temporary, bytes, in, out, op, n)));
  same_as_cub<std::uint32_t, std::uint32_t>(
      "init", CALL(InclusiveScanInit(temporary, bytes, in, out, op, 0x50003u, n)));
  same_as_cub<std::uint32_t, std::uint32_t>(
      "exclusive", CALL(ExclusiveScan(temporary, bytes, in, out, op, 0x50003u, n)));
}

TEST_CASE("DeviceScan: the accumulator is what op(init, value) returns") {
  const cuda::std::plus<> sum{};
  same_as_cub<std::uint8_t, std::int64_t>(
      "init", CALL(InclusiveScanInit(temporary, bytes, in, out, sum, std::int64_t{1} << 40, n)));
  same_as_cub<std::uint8_t, std::int64_t>(
      "exclusive", CALL(ExclusiveScan(temporary, bytes, in, out, sum, std::int64_t{1} << 40, n)));
  // The operator's own type wins over both: sums modulo 256 in an int64.
  const test::plus<std::uint8_t> modulo{};
  same_as_cub<std::uint8_t, std::int64_t>(
      "modulo", CALL(InclusiveScan(temporary, bytes, in, out, modulo, n)));
}

TEST_CASE("lookback::FutureValue") {
  const test::compose_words op{};
  const test::guarded_buffer<std::uint32_t> init(std::vector<std::uint32_t>{0x70005});
  std::uint32_t *const address = init.data();
  SUBCASE("the results of CUB") {
    same_as_cub<std::uint32_t, std::uint32_t>(
        "exclusive", CALL(ExclusiveScan(temporary, bytes, in, out, op, future(scan, address), n)));
  }
  SUBCASE("cub::FutureValue is one too") {
    TEST_RANDOM(random);
    const auto in = test::random_values<std::uint32_t>(30000, random);
    const test::guarded_buffer<std::uint32_t> device_in(in), out(in.size());
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return DeviceScan::ExclusiveScan(temporary, bytes, device_in.data(), out.data(), op,
                                       cub::FutureValue<std::uint32_t>(address), in.size());
    });
    CHECK_EQ(test::first_difference(out.download(), test::serial_exclusive(in, op, 0x70005u)),
             test::nowhere);
  }
  SUBCASE("it is read in stream order, and again at every replay") {
    TEST_RANDOM(random);
    const auto in = test::random_values<std::uint32_t>(50000, random);
    const test::guarded_buffer<std::uint32_t> device_in(in);
    test::guarded_buffer<std::uint32_t> out(in.size()), value(1);
    const lookback::FutureValue<std::uint32_t> when_run(value.data());
    std::size_t bytes = 0;
    const auto call = [&](void *temporary, cudaStream_t s) {
      return DeviceScan::ExclusiveScan(temporary, bytes, device_in.data(), out.data(), op, when_run,
                                       in.size(), s);
    };
    REQUIRE_CUDA(call(nullptr, nullptr));
    const test::guarded_buffer<unsigned char> temporary(bytes);
    test::stream s;
    test::captured graph(s, [&] { REQUIRE_CUDA(call(temporary.data(), s)); });
    for (std::uint32_t init : {0x10001u, 0x20003u}) {
      value.upload({init});
      out.poison();
      graph.launch(s);
      CHECK_EQ(test::first_difference(out.download(), test::serial_exclusive(in, op, init)),
               test::nowhere);
    }
  }
}

TEST_CASE("DeviceScan: in place") {
  TEST_RANDOM(random);
  const test::compose_words op{};
  const test::plus<std::uint32_t> sum{};
  for (std::size_t n : test::to_try({5, 1000 + random() % 1000000}, random)) {
    INFO("n = ", n);
    const auto in = test::random_values<std::uint32_t>(n, random);
    test::guarded_buffer<std::uint32_t> data(n, random() % 4);
    const auto check = [&](const char *name, const std::vector<std::uint32_t> &expected,
                           auto call) {
      INFO(doctest::String(name));
      data.upload(in);
      test::two_phases(call);
      CHECK_EQ(test::first_difference(data.download(), expected), test::nowhere);
      CHECK(data.guards_intact());
    };
    check("InclusiveSum", test::serial_inclusive(in, sum),
          [&](void *temporary, std::size_t &bytes) {
            return DeviceScan::InclusiveSum(temporary, bytes, data.data(), n);
          });
    check("ExclusiveSum", test::serial_exclusive(in, sum, 0u),
          [&](void *temporary, std::size_t &bytes) {
            return DeviceScan::ExclusiveSum(temporary, bytes, data.data(), n);
          });
    check("InclusiveScan", test::serial_inclusive(in, op),
          [&](void *temporary, std::size_t &bytes) {
            return DeviceScan::InclusiveScan(temporary, bytes, data.data(), op, n);
          });
    check("ExclusiveScan", test::serial_exclusive(in, op, 0x30001u),
          [&](void *temporary, std::size_t &bytes) {
            return DeviceScan::ExclusiveScan(temporary, bytes, data.data(), op, 0x30001u, n);
          });
    const test::guarded_buffer<std::uint32_t> init(std::vector<std::uint32_t>{0x30001});
    check("ExclusiveScan, future", test::serial_exclusive(in, op, 0x30001u),
          [&](void *temporary, std::size_t &bytes) {
            return DeviceScan::ExclusiveScan(temporary, bytes, data.data(), op,
                                             lookback::FutureValue<std::uint32_t>(init.data()), n);
          });
    check("InclusiveScanInit", test::serial_inclusive<std::uint32_t>(in, op, 0x30001u),
          [&](void *temporary, std::size_t &bytes) {
            return DeviceScan::InclusiveScanInit(temporary, bytes, data.data(), data.data(), op,
                                                 0x30001u, n);
          });
  }
}

TEST_CASE("DeviceScan::OffsetsFromCounts: in two phases and in one") {
  TEST_RANDOM(random);
  for (const std::size_t n : test::to_try({0, 1, 5, 1000 + random() % 1000000}, random)) {
    INFO("n = ", n);
    const auto counts = test::random_values<std::int32_t>(n, random);
    std::vector<std::int64_t> expected(1, 0);
    for (const std::int64_t count : counts) expected.push_back(expected.back() + count);
    const test::guarded_buffer<std::int32_t> device_counts(counts, random() % 4);
    test::guarded_buffer<std::int64_t> offsets(n + 1, random() % 2);
    const auto check = [&] {
      CHECK_EQ(test::first_difference(offsets.download(), expected), test::nowhere);
      CHECK(offsets.guards_intact());
      offsets.poison();
    };
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return DeviceScan::OffsetsFromCounts(temporary, bytes, device_counts.data(), offsets.data(),
                                           n);
    });
    check();
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return DeviceScan::OffsetsFromCounts(temporary, bytes, device_counts.data(), offsets.data(),
                                           n, nullptr, lookback::look_ahead{});
    });
    check();
    REQUIRE_CUDA(DeviceScan::OffsetsFromCounts(device_counts.data(), offsets.data(), n));
    check();
    // Not a kernel for the offsets and another for the last one.
    test::stream s;
    test::captured graph(s, [&] {
      REQUIRE_CUDA(DeviceScan::OffsetsFromCounts(device_counts.data(), offsets.data(),
                                                 n < 1000 ? n : 1000, s));
    });
    CHECK_EQ(graph.nodes(), 1);
  }
  std::size_t bytes = 0;
  std::int64_t *const none = nullptr;
  CHECK_EQ(DeviceScan::OffsetsFromCounts(nullptr, bytes, none, none, -1), cudaErrorInvalidValue);
}

namespace {

template <class Count>
void check_count(const char *name) {
  INFO(doctest::String(name));
  TEST_RANDOM(random);
  const auto in = test::random_values<std::uint32_t>(30000, random);
  const test::guarded_buffer<std::uint32_t> device_in(in), out(in.size());
  test::two_phases([&](void *temporary, std::size_t &bytes) {
    return DeviceScan::InclusiveSum(temporary, bytes, device_in.data(), out.data(),
                                    static_cast<Count>(in.size()));
  });
  CHECK_EQ(test::first_difference(out.download(),
                                  test::serial_inclusive(in, test::plus<std::uint32_t>{})),
           test::nowhere);
}

} // namespace

TEST_CASE("DeviceScan: every integer type of num_items") {
  check_count<short>("short");
  check_count<unsigned short>("unsigned short");
  check_count<int>("int");
  check_count<unsigned>("unsigned");
  check_count<std::int64_t>("int64");
  check_count<std::uint64_t>("uint64");
  check_count<long long>("long long");
  check_count<std::size_t>("size_t");
}

TEST_CASE("DeviceScan: streams and captured graphs") {
  TEST_RANDOM(random);
  for (std::size_t n : test::to_try({100, 40000, 3000000}, random)) {
    INFO("n = ", n);
    const auto in = test::random_values<std::uint32_t>(n, random);
    const auto expected = test::serial_inclusive(in, test::plus<std::uint32_t>{});
    test::guarded_buffer<std::uint32_t> device_in(n), out(n);
    std::size_t bytes = 0;
    REQUIRE_CUDA(DeviceScan::InclusiveSum(nullptr, bytes, device_in.data(), out.data(), n));
    test::guarded_buffer<unsigned char> temporary(bytes);
    test::stream s;

    {
      INFO("a stream is where the work goes");
      // The copy is the only writer of the input, and nothing but the stream puts the scan after
      // it.
      REQUIRE_CUDA(cudaMemcpyAsync(device_in.data(), in.data(), n * 4, cudaMemcpyHostToDevice, s));
      REQUIRE_CUDA(
          DeviceScan::InclusiveSum(temporary.data(), bytes, device_in.data(), out.data(), n, s));
      REQUIRE_CUDA(cudaStreamSynchronize(s));
      CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    }
    {
      INFO("a graph captured once and replayed, with new input each time");
      test::captured graph(s, [&] {
        REQUIRE_CUDA(
            DeviceScan::InclusiveSum(temporary.data(), bytes, device_in.data(), out.data(), n, s));
      });
      for (const auto &kernel : graph.kernels())
        CHECK_MESSAGE(test::is_lookback_kernel(kernel), kernel);
      CHECK_EQ(graph.kernels().size(), graph.nodes());
      for (int replay = 0; replay < 3; ++replay) {
        const auto again = test::random_values<std::uint32_t>(n, random);
        device_in.upload(again);
        out.poison();
        graph.launch(s);
        CHECK_EQ(test::first_difference(out.download(),
                                        test::serial_inclusive(again, test::plus<std::uint32_t>{})),
                 test::nowhere);
      }
    }
    {
      INFO("storage reused by one call after another");
      device_in.upload(in);
      for (int call = 0; call < 3; ++call) {
        out.poison();
        REQUIRE_CUDA(
            DeviceScan::InclusiveSum(temporary.data(), bytes, device_in.data(), out.data(), n, s));
        CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
      }
    }
    CHECK(out.guards_intact());
    CHECK(temporary.guards_intact());
  }
}
