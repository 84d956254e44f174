// SPDX-License-Identifier: MIT
// Continued scans on a GPU: chunks of all lengths against one scan of the whole sequence by
// lookback::host, bit for bit. Needs a GPU.
#include <lookback/continued_scan.cuh>

#include <lookback/execution_policy.cuh>

#include <support/allocator.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/tree_reference.hpp>

#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/system_error.h>

#include <cstring>
#include <memory>
#include <stdexcept>

namespace {

using lookback::host;
using lookback::par;
using lookback::par_nosync;

/// Lengths that add up to `n`: to the edges of groups, a group and more beyond them, and any.
template <class Random>
std::vector<std::size_t> random_chunks(std::size_t n, std::size_t group, Random &random) {
  std::vector<std::size_t> chunks;
  for (std::size_t at = 0; at < n; at += chunks.back()) {
    const std::size_t edge = group - at % group, any = random() % (group << random() % 6);
    const std::size_t choices[] = {edge, edge - 1, edge + 1, edge + group, 1, any, any, any};
    chunks.push_back(std::min(n - at, choices[random() % 8]));
  }
  return chunks;
}

template <class T>
bool same(const T *a, const T *b, std::size_t n) {
  return std::memcmp(a, b, n * sizeof(T)) == 0;
}

/// Chunks of `x` against one scan; `call(running, inclusive, first, last, result)` scans one.
template <class T, class Operator, class Random, class Call>
void check_chunks(const std::vector<T> &x, Operator op, const T *initial, Random &random,
                  Call call) {
  const test::tree_sizes size(sizeof(T), sizeof(T));
  const std::size_t n = x.size();
  std::vector<T> inclusive(n), exclusive(n);
  if (initial == nullptr) {
    // The exclusive results from the first element on, which has none.
    lookback::inclusive_scan(host, x.begin(), x.end(), inclusive.begin(), op);
    lookback::continued_scan<T, Operator> rest(op);
    rest.inclusive(host, x.begin(), x.begin() + 1, exclusive.begin());
    rest.exclusive(host, x.begin() + 1, x.end(), exclusive.begin() + 1);
  } else {
    lookback::inclusive_scan(host, x.begin(), x.end(), inclusive.begin(), *initial, op);
    lookback::exclusive_scan(host, x.begin(), x.end(), exclusive.begin(), *initial, op);
  }
  using scan = lookback::continued_scan<T, Operator>;
  scan running = initial == nullptr ? scan(op) : scan(op, *initial);
  std::vector<T> expected(n);
  const std::size_t shift = random() % 4;
  const test::guarded_buffer<T> in(x, shift), apart(n, shift);
  const bool in_place = random() % 2 == 0;
  const auto chunks = random_chunks(n, size.group, random);
  INFO(chunks.size(), " chunks of ", n, " elements, the first of ", chunks[0],
       in_place ? ", in place" : "", initial != nullptr ? ", initial" : "");
  T *const to = in_place ? in.data() : apart.data();
  std::size_t at = 0;
  for (const std::size_t length : chunks) {
    const bool is_inclusive = (at == 0 && initial == nullptr) || random() % 2 == 0;
    const T *const first = in.data() + at;
    CHECK_EQ(call(running, is_inclusive, first, first + length, to + at), to + at + length);
    const std::vector<T> &from = is_inclusive ? inclusive : exclusive;
    std::copy(from.begin() + at, from.begin() + at + length, expected.begin() + at);
    at += length;
    REQUIRE_EQ(running.position(), static_cast<std::int64_t>(at));
  }
  CHECK(same((in_place ? in : apart).download().data(), expected.data(), n));
  CHECK(in.guards_intact());
  CHECK(apart.guards_intact());
}

/// A call with a policy that `policy()` returns.
template <class Policy>
auto calls_with(Policy policy) {
  return [=](auto &running, bool inclusive, auto first, auto last, auto result) {
    return inclusive ? running.inclusive(policy(), first, last, result)
                     : running.exclusive(policy(), first, last, result);
  };
}

struct to_affine {
  __host__ __device__ test::affine operator()(std::int64_t i) const {
    const auto x = static_cast<std::uint32_t>(i) * 2654435761u;
    return {x | 1, x >> 7};
  }
};

template <class Call>
bool throws_logic_error(Call call) {
  try {
    call();
  } catch (const std::logic_error &) {
    return true;
  }
  return false;
}

} // namespace

TEST_CASE("continued scans on a GPU: sums of floats, with every policy") {
  TEST_RANDOM(random);
  const float initial = 0.37f;
  const std::size_t group = test::tree_sizes(4, 4).group;
  const auto elements = [&](std::size_t most) {
    return test::random_values<float>(1 + random() % most, random);
  };
  for (const float *const from : {static_cast<const float *>(nullptr), &initial}) {
    for (int trial = 0; trial < 4; ++trial)
      check_chunks(elements(40 * group), lookback::plus{}, from, random,
                   calls_with([] { return par; }));
    // Streams that take turns, without a wait of the host.
    test::stream streams[2];
    int turn = 0;
    REQUIRE_CUDA(cudaDeviceSynchronize());
    check_chunks(elements(60 * group), lookback::plus{}, from, random,
                 [&](auto &running, bool inclusive, auto first, auto last, auto result) {
                   const auto policy = par_nosync.on(streams[++turn % 2]);
                   return inclusive ? running.inclusive(policy, first, last, result)
                                    : running.exclusive(policy, first, last, result);
                 });
  }
}

TEST_CASE("continued scans on a GPU: large chunks") {
  TEST_RANDOM(random);
  const std::size_t n = (std::size_t{64} << 20) + random() % 1000;
  const auto x = test::random_values<float>(n, random);
  std::vector<float> expected(n);
  lookback::inclusive_scan(host, x.begin(), x.end(), expected.begin());
  const test::guarded_buffer<float> in(x), out(n);
  lookback::continued_scan<float> running;
  float *result = out.data();
  for (std::size_t at = 0, length = 1 + random() % n; at < n; at += length) {
    length = std::min(length, n - at);
    result = running.inclusive(par, in.data() + at, in.data() + at + length, result);
  }
  CHECK(same(out.download().data(), expected.data(), n));
  CHECK(out.guards_intact());
}

TEST_CASE("continued scans on a GPU: an operator that does not commute, from an iterator") {
  TEST_RANDOM(random);
  const auto x =
      thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), to_affine{});
  const std::size_t group = test::tree_sizes(8, 8).group, n = 1 + random() % (20 * group);
  std::vector<test::affine> expected(n);
  lookback::inclusive_scan(host, x, x + n, expected.begin(), test::compose_affine{});
  thrust::device_vector<test::affine> y(n);
  test::arena_allocator arena;
  auto running = std::make_unique<lookback::continued_scan<test::affine, test::compose_affine>>();
  auto to = y.begin();
  std::size_t at = 0;
  {
    test::stream s; // ends before the scan does
    for (const std::size_t length : random_chunks(n, group, random)) {
      to = running->inclusive(par(arena).on(s), x + at, x + at + length, to);
      auto moved = std::make_unique<lookback::continued_scan<test::affine, test::compose_affine>>(
          std::move(*running));
      running = std::move(moved);
      at += length;
    }
  }
  running.reset();
  CHECK_EQ(arena.outstanding(), 0u);
  const bool all = to == y.end();
  CHECK(all);
  std::vector<test::affine> results(n);
  thrust::copy(y.begin(), y.end(), results.begin());
  CHECK(same(results.data(), expected.data(), n));
}

TEST_CASE("continued scans on a GPU: sums of integers, to a narrower type") {
  TEST_RANDOM(random);
  const std::size_t n = 1 + random() % 3000000;
  const auto x = test::random_values<int>(n, random);
  std::vector<signed char> expected(n), results(n);
  lookback::continued_scan<int> whole({}, 5);
  whole.inclusive(host, x.begin(), x.end(), expected.begin());
  const test::guarded_buffer<int> in(x);
  const test::guarded_buffer<signed char> out(n);
  lookback::continued_scan<int> running({}, 5);
  std::size_t at = 0;
  for (const std::size_t length : random_chunks(n, 4096, random)) {
    running.inclusive(par, in.data() + at, in.data() + at + length, out.data() + at);
    at += length;
  }
  CHECK(out.download() == expected);
  CHECK(out.guards_intact());
}

TEST_CASE("continued scans on a GPU: what is refused, and a new start") {
  const std::vector<float> x(1000, 1);
  const test::guarded_buffer<float> in(x), out(1000);
  const float *const first = in.data();
  float *const to = out.data();
  std::vector<float> y(1000);
  lookback::continued_scan<float> running;
  CHECK_EQ(running.exclusive(par, first + 1, first, to), to);
  CHECK(throws_logic_error([&] { running.exclusive(par, first, first + 9, to); }));
  CHECK_EQ(running.position(), 0);
  running.inclusive(par, first, first + 9, to);
  CHECK(throws_logic_error([&] { running.prefix(); }));
  CHECK(throws_logic_error([&] { running.inclusive(host, x.begin(), x.end(), y.begin()); }));

  test::stream s;
  REQUIRE_CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  CHECK_THROWS_AS(running.inclusive(par_nosync.on(s), first + 9, first + 20, to + 9),
                  thrust::system_error);
  cudaGraph_t graph = nullptr;
  REQUIRE_CUDA(cudaStreamEndCapture(s, &graph));
  REQUIRE_CUDA(cudaGraphDestroy(graph));

  // An allocation that fails leaves the scan as it is.
  test::arena_allocator arena;
  arena.fail_from(0, test::arena_allocator::failure::throws);
  CHECK_THROWS_AS(running.inclusive(par(arena), first + 9, first + 20, to + 9), std::bad_alloc);
  CHECK_EQ(running.position(), 9);
  running.exclusive(par, first + 9, first + 20, to + 9);
  CHECK_EQ(out.download()[19], 19.0f);

  running = lookback::continued_scan<float>({}, 3);
  CHECK_EQ(running.prefix(), 3.0f);
  running.inclusive(host, x.begin(), x.end(), y.begin());
  CHECK_EQ(y.back(), 1003.0f);
  CHECK(throws_logic_error([&] { running.inclusive(par, first, first + 9, to); }));
  CHECK_EQ(running.prefix(), 1003.0f);
  CHECK_CUDA(cudaGetLastError());
}
