// SPDX-License-Identifier: MIT
// Numbers of items that only the device knows: every path under a bound, captured once and replayed
// with other counts, and calls of every kind. The results are those of the plain call with the same
// count.
#include <lookback/device_partition.cuh>
#include <lookback/device_reduce.cuh>
#include <lookback/device_scan.cuh>
#include <lookback/device_segmented_scan.cuh>
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
  const device_count n{count.data(), bound, error.data()};
  std::size_t plain_bytes = 0;
  const auto scanned = problem(in.data(), out.data());
  REQUIRE_CUDA(test::scan_by(plainly, nullptr, plain_bytes, scanned, bound, nullptr));
  const test::guarded_buffer<unsigned char> plain_storage(plain_bytes);
  test::replayed_call graph([&](void *storage, std::size_t &bytes, cudaStream_t stream) {
    return test::scan_by(by, storage, bytes, scanned, n, stream);
  });
  if (graph.status() == cudaErrorNotSupported) return; // no such path under this bound
  REQUIRE_CUDA(graph.status());
  for (const std::int64_t now :
       counts_to_try(bound, decltype(scanned)::shape::tile_elements, random)) {
    INFO("count ", now);
    const bool is_valid = now >= 0 && now <= bound;
    count.upload({now});
    error.upload({0});
    out.poison();
    plain.poison();
    graph.run();
    if (is_valid)
      REQUIRE_CUDA(test::scan_by(plainly, plain_storage.data(), plain_bytes,
                                 problem(in.data(), plain.data()), now, nullptr));
    CHECK_EQ(error.download()[0], is_valid ? 0 : cudaErrorInvalidValue);
    CHECK_EQ(test::first_difference(out.download(), plain.download()), test::nowhere);
    CHECK(out.guards_intact());
    CHECK(graph.guards_intact());
  }
}

/// What a call writes, from the first place of each output on.
struct written {
  std::vector<word> first, second, rest, numbers;
};
struct arrays {
  const word *x, *keys;
  word *first, *second, *rest, *numbers;
};
/// Runs `call(arrays, count, temporary, bytes, stream)` again and again, with other counts of at
/// most the number of keys. The outputs must become `expected(x, keys)` of the first ones, and stay
/// as they are behind that and for an invalid count.
template <class Random, class Call, class Expected>
void replay_outputs(const std::vector<word> &keys, std::int64_t tile, Random &random, Call call,
                    Expected expected) {
  const std::size_t items = keys.size();
  const auto bound = static_cast<std::int64_t>(items);
  const auto x = test::random_values<word>(items, random);
  const test::guarded_buffer<word> from(x, random() % 4), keys_from(keys, random() % 4);
  test::guarded_buffer<word> outputs[] = {test::guarded_buffer<word>(items, random() % 4),
                                          test::guarded_buffer<word>(items, random() % 4),
                                          test::guarded_buffer<word>(items, random() % 4),
                                          test::guarded_buffer<word>(2)};
  test::guarded_buffer<std::int64_t> count(1);
  test::guarded_buffer<int> error(1);
  const arrays at{from.data(),       keys_from.data(),  outputs[0].data(),
                  outputs[1].data(), outputs[2].data(), outputs[3].data()};
  const device_count n{count.data(), bound, error.data()};
  test::replayed_call graph([&](void *temporary, std::size_t &bytes, cudaStream_t stream) {
    return call(at, n, temporary, bytes, stream);
  });
  // Where a block has 99 KiB, no pipeline takes selections and runs, for which some calls ask.
  if (graph.status() != cudaSuccess && test::has_short_ring(test::running_code())) {
    CHECK_EQ(graph.status(), cudaErrorNotSupported);
    return;
  }
  REQUIRE_CUDA(graph.status());
  auto counts = counts_to_try(bound, tile, random);
  counts.resize(std::min<std::size_t>(counts.size(), 8));
  for (const std::int64_t now : counts) {
    INFO("at most ", bound, ", count ", now);
    const bool is_valid = now >= 0 && now <= bound;
    count.upload({now});
    error.upload({0});
    for (auto &output : outputs) output.poison();
    graph.run();
    CHECK_EQ(error.download()[0], is_valid ? 0 : cudaErrorInvalidValue);
    const auto size = static_cast<std::ptrdiff_t>(is_valid ? now : 0);
    const written all =
        is_valid ? expected({x.begin(), x.begin() + size}, {keys.begin(), keys.begin() + size})
                 : written{};
    const std::vector<word> *const wanted[] = {&all.first, &all.second, &all.rest, &all.numbers};
    for (int i = 0; i < 4; ++i) {
      INFO("output ", i);
      std::vector<word> whole(outputs[i].size(), 0xa5a5a5a5u);
      std::copy(wanted[i]->begin(), wanted[i]->end(), whole.begin());
      CHECK_EQ(test::first_difference(outputs[i].download(), whole), test::nowhere);
      CHECK(outputs[i].guards_intact());
    }
    CHECK(graph.guards_intact());
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

namespace {

using words = std::vector<word>;

struct is_low {
  __host__ __device__ bool operator()(word x) const { return x % 8 < 3; }
};
struct is_odd {
  __host__ __device__ bool operator()(word x) const { return x % 2 != 0; }
};

} // namespace

TEST_CASE("counts on the device: partitions, replayed") {
  TEST_RANDOM(random);
  const auto tile = static_cast<std::int64_t>(test::tree_sizes(sizeof(word), sizeof(word)).tile);
  for (const std::int64_t bound : bounds(tile, random)) {
    const auto flags = test::random_below<word>(static_cast<std::size_t>(bound), 2, random);
    replay_outputs(
        flags, tile, random,
        [](const arrays &at, auto n, void *temporary, std::size_t &bytes, cudaStream_t stream) {
          return lookback::DevicePartition::Flagged(temporary, bytes, at.x, at.keys, at.first,
                                                    at.numbers, n, stream, lookback::look_ahead{});
        },
        [](const words &x, const words &flags) {
          written all{words(x.size()), {}, {}, {0}};
          auto end = all.first.end();
          for (std::size_t i = 0; i < x.size(); ++i)
            (flags[i] != 0 ? all.first[all.numbers[0]++] : *--end) = x[i];
          return all;
        });
    replay_outputs(
        flags, tile, random,
        [](const arrays &at, auto n, void *temporary, std::size_t &bytes, cudaStream_t stream) {
          return lookback::DevicePartition::If(temporary, bytes, at.x, at.first, at.second, at.rest,
                                               at.numbers, n, is_low{}, is_odd{}, stream);
        },
        [](const words &x, const words &) {
          written all;
          for (const word item : x)
            (is_low{}(item) ? all.first : is_odd{}(item) ? all.second : all.rest).push_back(item);
          all.numbers = {static_cast<word>(all.first.size()), static_cast<word>(all.second.size())};
          return all;
        });
  }
}

TEST_CASE("counts on the device: runs, replayed") {
  TEST_RANDOM(random);
  const auto tile = static_cast<std::int64_t>(test::tree_sizes(sizeof(word), sizeof(word)).tile);
  for (const std::int64_t bound : bounds(tile, random))
    replay_outputs(
        test::random_keys<word>(static_cast<std::size_t>(bound), random), tile, random,
        [](const arrays &at, auto n, void *temporary, std::size_t &bytes, cudaStream_t stream) {
          return lookback::DeviceReduce::ReduceByKey(temporary, bytes, at.keys, at.first, at.x,
                                                     at.second, at.numbers, test::compose_words{},
                                                     n, stream, lookback::look_ahead{});
        },
        [&](const words &x, const words &keys) {
          written all;
          for (std::size_t i = 0; i < x.size(); ++i)
            if (i == 0 || keys[i] != keys[i - 1]) {
              all.first.push_back(keys[i]);
              all.second.push_back(x[i]);
            } else {
              all.second.back() = test::compose_words{}(all.second.back(), x[i]);
            }
          all.numbers = {static_cast<word>(all.first.size())};
          return all;
        });
}

TEST_CASE("counts on the device: segments, replayed") {
  TEST_RANDOM(random);
  for (const std::int64_t most : test::to_try({0, 1, 32, 33, 5000, 1000000}, random)) {
    const auto bound = static_cast<std::int64_t>(most);
    words offsets{0};
    for (std::int64_t s = 0; s < bound; ++s)
      offsets.push_back(offsets.back() +
                        static_cast<word>(random() % 1000 == 0 ? 9000 : random() % 7));
    const auto x = test::random_values<word>(offsets.back(), random);
    const test::guarded_buffer<word> from(x, random() % 4), device_offsets(offsets);
    test::guarded_buffer<word> to(x.size(), random() % 4);
    test::guarded_buffer<std::int64_t> count(1);
    test::guarded_buffer<int> error(1);
    const word *const in = from.data(), *const begins = device_offsets.data();
    test::replayed_call graph([&](void *temporary, std::size_t &bytes, cudaStream_t stream) {
      return lookback::DeviceSegmentedScan::InclusiveSegmentedSum(
          temporary, bytes, in, to.data(), begins, begins + 1,
          device_count{count.data(), bound, error.data()}, stream);
    });
    REQUIRE_CUDA(graph.status());
    words sums(x.size());
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
      for (word i = offsets[s]; i < offsets[s + 1]; ++i)
        sums[i] = (i > offsets[s] ? sums[i - 1] : 0) + x[i];
    for (const std::int64_t now : counts_to_try(bound, 32, random)) {
      INFO("at most ", bound, ", count ", now);
      const bool is_valid = now >= 0 && now <= bound;
      count.upload({now});
      error.upload({0});
      to.poison();
      graph.run();
      CHECK_EQ(error.download()[0], is_valid ? 0 : cudaErrorInvalidValue);
      auto expected = sums;
      const word end = offsets[static_cast<std::size_t>(is_valid ? now : 0)];
      std::fill(expected.begin() + end, expected.end(), 0xa5a5a5a5u);
      CHECK_EQ(test::first_difference(to.download(), expected), test::nowhere);
      CHECK(to.guards_intact());
      CHECK(graph.guards_intact());
    }
  }
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
