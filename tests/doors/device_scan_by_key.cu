// SPDX-License-Identifier: MIT
#include <lookback/device_scan.cuh>

#include <support/capture.cuh>
#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <cub/device/device_scan.cuh>

#include <cstdint>

namespace {

using lookback::DeviceScan;

/// `call(scan, temporary, bytes, keys, in, out, n)` once with each library's DeviceScan as `scan`:
/// the same results.
template <class In, class Out, class Call>
void same_as_cub(const char *name, Call call) {
  TEST_RANDOM(random);
  for (std::size_t n : test::to_try({1, 2 + random() % 5000, 100000 + random() % 500000}, random)) {
    INFO(doctest::String(name), ", n = ", n);
    const auto keys = test::random_keys<std::int32_t>(n, random);
    const std::vector<In> in = test::random_values<In>(n, random);
    const test::guarded_buffer<std::int32_t> device_keys(keys, random() % 8);
    const test::guarded_buffer<In> device_in(in, random() % 8);
    const test::guarded_buffer<Out> expected(n), actual(n, random() % 8);
    const auto count = static_cast<std::uint32_t>(n);
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return call(cub::DeviceScan{}, temporary, bytes, device_keys.data(), device_in.data(),
                  expected.data(), count);
    });
    test::two_phases(
        [&](void *temporary, std::size_t &bytes) {
          return call(DeviceScan{}, temporary, bytes, device_keys.data(), device_in.data(),
                      actual.data(), count);
        },
        random() % 256);
    CHECK_EQ(test::first_difference(actual.download(), expected.download()), test::nowhere);
    CHECK(actual.guards_intact());
  }
}

} // namespace

#define CALL(...)                                                                                  \
  [=](auto scan, void *temporary, std::size_t &bytes, auto keys, auto in, auto out,                \
      std::uint32_t n) {                                                                           \
    using library = decltype(scan);                                                                \
    return library::__VA_ARGS__;                                                                   \
  }

TEST_CASE("DeviceScan::InclusiveSumByKey, ExclusiveSumByKey: the results of CUB") {
  same_as_cub<std::uint32_t, std::uint32_t>(
      "inclusive", CALL(InclusiveSumByKey(temporary, bytes, keys, in, out, n)));
  same_as_cub<std::uint32_t, std::uint32_t>(
      "exclusive", CALL(ExclusiveSumByKey(temporary, bytes, keys, in, out, n)));
  same_as_cub<std::int8_t, std::int32_t>(
      "int8 to int32", CALL(InclusiveSumByKey(temporary, bytes, keys, in, out, n)));
}

TEST_CASE("DeviceScan::InclusiveScanByKey, ExclusiveScanByKey: the results of CUB") {
  const test::compose_words op{};
  const test::same_octave same{};
  same_as_cub<std::uint32_t, std::uint32_t>(
      "inclusive", CALL(InclusiveScanByKey(temporary, bytes, keys, in, out, op, n, same)));
  same_as_cub<std::uint32_t, std::uint32_t>(
      "exclusive",
      CALL(ExclusiveScanByKey(temporary, bytes, keys, in, out, op, 0x50003u, n, same)));
}

TEST_CASE("DeviceScan::ExclusiveScanByKey: the accumulator is what op(init, value) returns") {
  const cuda::std::plus<> sum{};
  same_as_cub<std::uint8_t, std::int64_t>(
      "exclusive",
      CALL(ExclusiveScanByKey(temporary, bytes, keys, in, out, sum, std::int64_t{1} << 40, n)));
}

TEST_CASE("DeviceScan by key: std::equal_to, which kernels cannot call, compares the keys") {
  TEST_RANDOM(random);
  using word = std::uint32_t;
  for (std::size_t n : test::to_try({2 + random() % 5000, 100000 + random() % 500000}, random)) {
    INFO("n = ", n);
    // Runs of keys that differ in their upper bytes alone: another comparison has other segments.
    auto keys = test::random_keys<word>(n, random);
    for (word &key : keys) key = key % 3 + (key << 8);
    const auto in = test::random_values<word>(n, random);
    const test::guarded_buffer<word> device_keys(keys), device_in(in);
    test::guarded_buffer<word> out(n);
    const auto check = [&](auto equal) {
      out.poison();
      test::two_phases([&](void *temporary, std::size_t &bytes) {
        return DeviceScan::InclusiveSumByKey(temporary, bytes, device_keys.data(), device_in.data(),
                                             out.data(), n, equal);
      });
      const auto expected = test::serial_inclusive_by_key(keys, in, equal, test::plus<word>{});
      CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    };
    check(std::equal_to<word>{});
    check(std::equal_to<>{});
    check(std::equal_to<std::uint8_t>{});
  }
}

TEST_CASE("DeviceScan by key: in place, over the values and over the keys") {
  TEST_RANDOM(random);
  const test::compose_words op{};
  for (std::size_t n : test::to_try({70, 5000, 100000 + random() % 1000000}, random)) {
    INFO("n = ", n);
    const auto keys = test::random_keys<std::uint32_t>(n, random);
    const auto in = test::random_values<std::uint32_t>(n, random);
    test::guarded_buffer<std::uint32_t> device_keys(n), device_in(n);
    const auto check = [&](const char *name, std::uint32_t *out,
                           const std::vector<std::uint32_t> &inclusive,
                           const std::vector<std::uint32_t> &exclusive) {
      INFO(doctest::String(name));
      const auto &written = out == device_in.data() ? device_in : device_keys;
      device_keys.upload(keys), device_in.upload(in);
      test::two_phases([&](void *temporary, std::size_t &bytes) {
        return DeviceScan::InclusiveScanByKey(temporary, bytes, device_keys.data(),
                                              device_in.data(), out, op, n);
      });
      CHECK_EQ(test::first_difference(written.download(), inclusive), test::nowhere);
      device_keys.upload(keys), device_in.upload(in);
      test::two_phases([&](void *temporary, std::size_t &bytes) {
        return DeviceScan::ExclusiveScanByKey(temporary, bytes, device_keys.data(),
                                              device_in.data(), out, op, 5u, n);
      });
      CHECK_EQ(test::first_difference(written.download(), exclusive), test::nowhere);
    };
    const std::equal_to<std::uint32_t> equal{};
    const auto inclusive = test::serial_inclusive_by_key(keys, in, equal, op);
    const auto exclusive = test::serial_exclusive_by_key(keys, in, equal, op, 5u);
    check("over the values", device_in.data(), inclusive, exclusive);
    check("over the keys", device_keys.data(), inclusive, exclusive);
    CHECK(device_in.guards_intact());
    CHECK(device_keys.guards_intact());
  }
}

TEST_CASE("DeviceScan by key: a captured graph replayed") {
  TEST_RANDOM(random);
  const std::size_t n = 300000 + random() % 1000;
  test::guarded_buffer<std::uint32_t> device_keys(n), device_in(n), out(n);
  std::size_t bytes = 0;
  const auto call = [&](void *temporary, cudaStream_t s) {
    return DeviceScan::InclusiveSumByKey(temporary, bytes, device_keys.data(), device_in.data(),
                                         out.data(), n, lookback::equal_to{}, s);
  };
  REQUIRE_CUDA(call(nullptr, nullptr));
  const test::guarded_buffer<unsigned char> temporary(bytes);
  test::stream s;
  test::captured graph(s, [&] { REQUIRE_CUDA(call(temporary.data(), s)); });
  for (int replay = 0; replay < 2; ++replay) {
    const auto keys = test::random_keys<std::uint32_t>(n, random);
    const auto in = test::random_values<std::uint32_t>(n, random);
    device_keys.upload(keys), device_in.upload(in), out.poison();
    graph.launch(s);
    CHECK_EQ(test::first_difference(out.download(), test::serial_inclusive_by_key(
                                                        keys, in, std::equal_to<std::uint32_t>{},
                                                        test::plus<std::uint32_t>{})),
             test::nowhere);
  }
}
