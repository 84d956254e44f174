// SPDX-License-Identifier: MIT
// Numbers of items that only the device knows: every path under a bound, captured once and replayed
// with other counts, and calls of every kind. The results are those of the plain call with the same
// count.
#include <lookback/device_scan.cuh>
#include <lookback/device_select.cuh>

#include <support/capture.cuh>
#include <support/check_paths.cuh>
#include <support/operators.hpp>

namespace {

using lookback::device_count;
using lookback::DeviceScan;
using word = std::uint32_t; // of the calls as well: their kernels are compiled once

/// Counts under a bound: the edges of tiles, of the pipeline's grid and of the bound, a random one,
/// and two that are invalid.
template <class Random>
std::vector<std::int64_t> counts_to_try(std::int64_t bound, std::int64_t tile, Random &random) {
  cudaDeviceProp device{};
  REQUIRE_CUDA(cudaGetDeviceProperties(&device, 0));
  const std::int64_t grid = tile * device.multiProcessorCount;
  std::vector<std::int64_t> counts{-1, bound + 1, 0, bound,
                                   static_cast<std::int64_t>(random() % (bound + 1))};
  for (const std::int64_t edge :
       {std::int64_t{1}, tile, 2 * tile, 16 * tile, 33 * tile, grid, 2 * grid, 13 * grid, bound})
    for (const std::int64_t n : {edge - 1, edge, edge + 1})
      if (n > 0 && n < bound) counts.push_back(n);
  std::shuffle(counts.begin(), counts.end(), random);
  return counts;
}

/// The path of the plain calls. All have the same bits, and this one has the fewest kernels.
constexpr test::path plainly = test::path::look_back;

/// `problem(in, out)` by path `by` under `bound`. The output has `more` places behind the results.
template <class T, class Random, class Make>
void replay(test::path by, std::int64_t bound, Random &random, std::size_t more, Make problem) {
  INFO("path ", test::name_of(by), ", at most ", bound);
  const auto items = static_cast<std::size_t>(bound);
  const test::guarded_buffer<T> in(test::random_values<T>(items, random), random() % 4);
  test::guarded_buffer<T> out(items + more, random() % 4), plain(items + more);
  test::guarded_buffer<std::int64_t> count(1);
  test::guarded_buffer<int> error(1);
  const test::stream stream;
  const cudaStream_t on = stream;
  const device_count n{count.data(), bound, error.data()};
  std::size_t bytes = 0, plain_bytes = 0;
  const auto scanned = problem(in.data(), out.data());
  REQUIRE_CUDA(test::scan_by(by, nullptr, bytes, scanned, n, on));
  REQUIRE_CUDA(test::scan_by(plainly, nullptr, plain_bytes, scanned, bound, nullptr));
  const test::guarded_buffer<unsigned char> storage(bytes), plain_storage(plain_bytes);
  cudaError_t status = cudaSuccess;
  test::captured graph(stream,
                       [&] { status = test::scan_by(by, storage.data(), bytes, scanned, n, on); });
  if (status == cudaErrorNotSupported) return; // no such path under this bound
  REQUIRE_CUDA(status);
  for (const std::int64_t now :
       counts_to_try(bound, decltype(scanned)::shape::tile_elements, random)) {
    INFO("count ", now);
    const bool is_valid = now >= 0 && now <= bound;
    count.upload({now});
    error.upload({0});
    out.poison();
    plain.poison();
    graph.launch(stream);
    if (is_valid)
      REQUIRE_CUDA(test::scan_by(plainly, plain_storage.data(), plain_bytes,
                                 problem(in.data(), plain.data()), now, nullptr));
    CHECK_EQ(error.download()[0], is_valid ? 0 : cudaErrorInvalidValue);
    CHECK_EQ(test::first_difference(out.download(), plain.download()), test::nowhere);
    CHECK(out.guards_intact());
    CHECK(storage.guards_intact());
  }
}

/// Bounds for which each of the paths is the fastest, and one for a long pipeline.
template <class Random>
std::vector<std::int64_t> bounds(std::int64_t tile, Random &random) {
  cudaDeviceProp device{};
  REQUIRE_CUDA(cudaGetDeviceProperties(&device, 0));
  const std::int64_t grid = tile * device.multiProcessorCount;
  return test::to_try(std::vector<std::int64_t>{0, tile, 3 * tile, 15 * tile + 7, 100 * tile + 1,
                                                grid + 1, 15 * grid + 5},
                      random);
}

} // namespace

TEST_CASE("counts on the device: every path, replayed") {
  TEST_RANDOM(random);
  const auto inclusive = [](const word *x, word *y) {
    return test::core::device_problem::inclusive_scan(x, y, lookback::plus{});
  };
  const auto exclusive = [](std::int64_t bound) { // the total lies behind the results
    return [=](const float *x, float *y) {
      return test::core::make_problem<false, float>(x, lookback::with_total(y, y + bound),
                                                    lookback::plus{},
                                                    test::core::initial_value<float>{3.0f});
    };
  };
  using words = typename decltype(inclusive(nullptr, nullptr))::shape;
  using floats = typename decltype(exclusive(0)(nullptr, nullptr))::shape;
  for (const test::path by : {test::path::fastest, test::path::cluster, test::path::wave,
                              test::path::look_back, test::path::look_ahead}) {
    for (const std::int64_t bound : bounds(words::tile_elements, random))
      replay<word>(by, bound, random, 0, inclusive);
    for (const std::int64_t bound : bounds(floats::tile_elements, random))
      replay<float>(by, bound, random, 1, exclusive(bound));
  }
}

TEST_CASE("counts on the device: large elements, and by key over the keys") {
  TEST_RANDOM(random);
  using large = test::sized<640>;
  const auto sums = [](const large *x, large *y) {
    return test::core::make_problem<true, large>(x, y, test::compose{}, test::core::no_initial{});
  };
  replay<large>(test::path::fastest, 5000, random, 0, sums);
  const auto by_key = [](const word *x, word *y) {
    return test::core::device_problem::inclusive_by_key(x, x, y, lookback::equal_to{},
                                                        lookback::plus{});
  };
  for (const test::path by : test::paths) replay<word>(by, 1000000, random, 0, by_key);
}

TEST_CASE("counts on the device: calls") {
  TEST_RANDOM(random);
  const test::compose_words op{};
  const word init = 0x30005;
  for (const std::size_t n : test::to_try({0, 1, 4096, 70000 + random() % 1000000}, random)) {
    INFO("n = ", n);
    const std::size_t bound = n + random() % 10000000;
    const auto in = test::random_values<word>(n, random), keys = test::random_keys<word>(n, random);
    const test::guarded_buffer<word> from(in), device_keys(keys);
    const test::guarded_buffer<word> first(std::vector<word>{init});
    const auto items = static_cast<std::int64_t>(n);
    const test::guarded_buffer<std::int64_t> count(std::vector<std::int64_t>{items});
    const test::guarded_buffer<int> small_count(std::vector<int>{static_cast<int>(n)});
    test::guarded_buffer<word> to(n), kept(1);
    const word *const x = from.data(), *const k = device_keys.data();
    word *const y = to.data();
    const device_count at{count.data(), bound};
    const lookback::FutureValue<word> later(first.data());
    const auto check = [&](const char *name, const std::vector<word> &expected, auto two,
                           auto one) {
      INFO(doctest::String(name));
      to.upload(in);
      test::two_phases(two);
      CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
      to.upload(in);
      REQUIRE_CUDA(one());
      CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
      CHECK(to.guards_intact());
    };
#define TEST_BOTH(name, expected, ...)                                                             \
  check(                                                                                           \
      #name, expected,                                                                             \
      [&](void *storage, std::size_t &bytes) {                                                     \
        return DeviceScan::name(storage, bytes, __VA_ARGS__);                                      \
      },                                                                                           \
      [&] { return DeviceScan::name(__VA_ARGS__); })
    const test::plus<word> sum{};
    TEST_BOTH(InclusiveSum, test::serial_inclusive(in, sum), x, y, at);
    TEST_BOTH(ExclusiveScan, test::serial_exclusive(in, op, init), y, op, later, at);
    TEST_BOTH(InclusiveSumByKey,
              test::serial_inclusive_by_key(keys, in, std::equal_to<word>{}, sum), k, x, y, at);
#undef TEST_BOTH
    const auto is_odd = [] __host__ __device__(word value) { return value % 2 != 0; };
    std::vector<word> odd(n, 0xa5a5a5a5u);
    const auto end = std::copy_if(in.begin(), in.end(), odd.begin(), is_odd);
    to.poison();
    test::two_phases([&](void *storage, std::size_t &bytes) {
      return lookback::DeviceSelect::If(storage, bytes, x, y, kept.data(),
                                        device_count{small_count.data(), bound}, is_odd);
    });
    CHECK_EQ(kept.download()[0], static_cast<word>(end - odd.begin()));
    CHECK_EQ(test::first_difference(to.download(), odd), test::nowhere);
  }
}

/// Ends the program's context, so it runs on request only: --no-skip -tc='*trap*'
TEST_CASE("counts on the device: an invalid count without a place for the error: trap" *
          doctest::skip()) {
  const test::guarded_buffer<std::int64_t> count(std::vector<std::int64_t>{5});
  test::guarded_buffer<word> out(std::vector<word>(5, 1));
  const word *const in = out.data();
  REQUIRE_CUDA(DeviceScan::InclusiveSum(in, out.data(), device_count{count.data(), 4}));
  CHECK_NE(cudaDeviceSynchronize(), cudaSuccess);
}
