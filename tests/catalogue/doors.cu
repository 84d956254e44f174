// SPDX-License-Identifier: MIT
// The doors to the catalogue: which kernels a call by an algorithm launches, on which stream, with
// whose memory, and what it says when it cannot run.
#include <lookback/lookback.cuh>

#include <support/allocator.cuh>
#include <support/capture.cuh>
#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/types.hpp>

#include <thrust/count.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/scan.h>

#include <string>

namespace {

using namespace lookback;

constexpr std::size_t n = 100000;

/// Every word of `wanted` in the name of some kernel of the graph, no kernel that is not
/// lookback's, and the right results.
template <class Policy>
void check_kernels(const Policy &policy, cudaStream_t stream,
                   const std::vector<std::string> &wanted) {
  TEST_RANDOM(random);
  const auto in = test::random_values<std::uint32_t>(n, random);
  const auto expected = test::serial_inclusive(in, test::compose_words{});
  const test::guarded_buffer<std::uint32_t> x(in);
  test::guarded_buffer<std::uint32_t> y(n);
  const auto call = [&] {
    return thrust::inclusive_scan(policy, x.data(), x.data() + n, y.data(), test::compose_words{});
  };
  CHECK_EQ(call(), y.data() + n);
  CHECK_EQ(test::first_difference(y.download(), expected), test::nowhere);
  y.poison();
  test::captured graph(stream, call);
  std::string all;
  for (const auto &kernel : graph.kernels()) {
    CHECK_MESSAGE(test::is_lookback_kernel(kernel), kernel);
    all += kernel + "\n";
  }
  for (const std::string &word : wanted)
    CHECK_MESSAGE(all.find(word) != std::string::npos, word, " is not in ", all);
  for (int replay = 0; replay < 2; ++replay) {
    y.poison();
    graph.launch(stream);
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    CHECK_EQ(test::first_difference(y.download(), expected), test::nowhere);
  }
  CHECK(y.guards_intact());
}

/// By every form of policy.
template <class Algorithm>
void check_policies(const Algorithm &algorithm, const std::vector<std::string> &wanted) {
  const test::stream stream;
  test::arena_allocator memory;
  check_kernels(par.on(stream).with(algorithm), stream, wanted);
  check_kernels(par.with(algorithm).on(stream), stream, wanted);
  check_kernels(par_nosync.on(stream).with(algorithm), stream, wanted);
  check_kernels(par(memory).on(stream).with(algorithm), stream, wanted);
  const int before = memory.allocations();
  check_kernels(par_nosync.with(algorithm)(memory).on(stream), stream, wanted);
  CHECK_GT(memory.allocations(), before);
  CHECK_EQ(memory.outstanding(), 0u);
}

template <template <class, int, int> class Strategy>
void check_networks(const std::vector<std::string> &kernels) {
  const auto with = [&](const char *network) {
    auto words = kernels;
    words.push_back(network);
    return words;
  };
  const test::stream stream;
  check_kernels(par.on(stream).with(Strategy<sequential, 128, 1>{}), stream, with("sequential"));
  check_kernels(par.on(stream).with(Strategy<hillis_steele, 128, 1>{}), stream,
                with("hillis_steele"));
  check_kernels(par.on(stream).with(Strategy<kogge_stone<>, 128, 1>{}), stream,
                with("kogge_stone"));
  check_kernels(par.on(stream).with(Strategy<brent_kung, 128, 2>{}), stream, with("brent_kung"));
  check_kernels(par.on(stream).with(Strategy<blelloch<>, 128, 2>{}), stream, with("blelloch"));
  check_kernels(par.on(stream).with(Strategy<three_phase<brent_kung>, 128, 4>{}), stream,
                with("three_phase"));
  check_kernels(par.on(stream).with(Strategy<warp_shuffle, 128, 4>{}), stream,
                with("warp_shuffle"));
}

template <class Algorithm>
void check_other_calls() {
  TEST_RANDOM(random);
  const auto keys = test::random_keys<std::uint32_t>(n, random),
             values = test::random_values<std::uint32_t>(n, random);
  const test::guarded_buffer<std::uint32_t> k(keys), x(values);
  test::guarded_buffer<std::uint32_t> y(n);
  const auto policy = par.with(Algorithm{});
  const test::plus<std::uint32_t> add;
  const std::equal_to<std::uint32_t> equal;
  const auto check = [&](const std::vector<std::uint32_t> &expected) {
    CHECK_EQ(test::first_difference(y.download(), expected), test::nowhere);
    CHECK(y.guards_intact());
    y.poison();
  };
  thrust::inclusive_scan_by_key(policy, k.data(), k.data() + n, x.data(), y.data());
  check(test::serial_inclusive_by_key(keys, values, equal, add));
  thrust::exclusive_scan_by_key(policy, k.data(), k.data() + n, x.data(), y.data(), 5u);
  check(test::serial_exclusive_by_key(keys, values, equal, add, 5u));
  y.upload(keys); // over the keys
  thrust::exclusive_scan_by_key(policy, y.data(), y.data() + n, x.data(), y.data(), 5u);
  check(test::serial_exclusive_by_key(keys, values, equal, add, 5u));
  const thrust::counting_iterator<std::uint32_t> count(1);
  lookback::exclusive_scan(policy, count, count + n, y.data(), 7u);
  std::vector<std::uint32_t> triangular;
  for (std::uint32_t i = 0, sum = 7; i < n; sum += ++i) triangular.push_back(sum);
  check(triangular);
  CHECK_EQ(thrust::count(policy, k.data(), k.data() + n, keys[0]),
           std::count(keys.begin(), keys.end(), keys[0]));
}

/// Objects with their own copy constructors, through user-made kernels' memory.
template <class Algorithm>
void check_objects() {
  TEST_RANDOM(random);
  const auto in = test::random_values<test::self_copied>(20011, random);
  const test::compose op{};
  const auto expected = test::serial_inclusive(in, op);
  const test::guarded_buffer<test::self_copied> x(in);
  test::guarded_buffer<test::self_copied> y(in);
  lookback::inclusive_scan(par.with(Algorithm{}), x.data(), x.data() + in.size(), y.data(), op);
  CHECK_EQ(test::first_difference(y.download(), expected), test::nowhere);
}

using by_thread = decoupled_look_back<walk_by_thread>;
using static_look_back = decoupled_look_back<walk_by_warp, static_ids>;
template <class Network, int Threads, int Items>
using by_warp_over = decoupled_look_back<walk_by_warp, dynamic_ids, Network, Threads, Items>;

} // namespace

TEST_CASE("catalogue: the kernels of every strategy") {
  check_policies(scan_then_add<>{},
                 {"scan_tiles_kernel", "add_kernel", "three_phase", "warp_shuffle"});
  check_policies(reduce_then_scan<>{}, {"reduce_tiles_kernel", "scan_from_aggregates_kernel"});
  check_policies(chained<>{}, {"chained_kernel"});
  check_policies(auxiliary_block<>{}, {"auxiliary_block_kernel"});
  check_policies(decoupled_look_back<>{}, {"decoupled_walk_kernel", "walk_by_warp", "dynamic_ids"});
  check_policies(by_thread{}, {"decoupled_walk_kernel", "walk_by_thread", "dynamic_ids"});
  check_policies(static_look_back{}, {"decoupled_walk_kernel", "walk_by_warp", "static_ids"});
  check_policies(look_ahead{}, {"pipeline_kernel"});
  check_policies(fastest{}, {"cluster_or_wave_kernel"});
}
TEST_CASE("catalogue: the networks of every strategy") {
  check_networks<scan_then_add>({"scan_tiles_kernel", "add_kernel"});
  check_networks<reduce_then_scan>({"reduce_tiles_kernel"});
  check_networks<chained>({"chained_kernel"});
  check_networks<auxiliary_block>({"auxiliary_block_kernel"});
  check_networks<by_warp_over>({"decoupled_walk_kernel"});
}
TEST_CASE_TEMPLATE("catalogue: by key, over iterators, and what is no scan", Algorithm,
                   scan_then_add<>, reduce_then_scan<>, chained<>, auxiliary_block<>, by_thread,
                   decoupled_look_back<>) {
  check_other_calls<Algorithm>();
}
TEST_CASE_TEMPLATE("catalogue: objects", Algorithm, scan_then_add<>, reduce_then_scan<>, chained<>,
                   auxiliary_block<>, by_thread, decoupled_look_back<>, scan_then_add<blelloch<>>,
                   chained<kogge_stone<memory_of::global>>) {
  check_objects<Algorithm>();
}
TEST_CASE("catalogue: what cannot run names the limit") {
  using too_large = chained<three_phase<>, 1024, 63>; // 516,096 bytes of doubles
  const test::guarded_buffer<double> x(n);
  std::size_t bytes = 0;
  REQUIRE_CUDA(
      DeviceScan::InclusiveSum(nullptr, bytes, x.data(), x.data(), n, nullptr, too_large{}));
  const test::guarded_buffer<char> storage(bytes);
  CHECK_EQ(
      DeviceScan::InclusiveSum(storage.data(), bytes, x.data(), x.data(), n, nullptr, too_large{}),
      cudaErrorInvalidConfiguration);
  std::string text;
  try {
    thrust::inclusive_scan(par.with(too_large{}), x.data(), x.data() + n, x.data());
  } catch (const thrust::system_error &error) {
    CHECK_EQ(error.code().value(), cudaErrorInvalidConfiguration);
    text = error.what();
  }
  CHECK_MESSAGE(text.find("1024 threads needs") != std::string::npos, text);
  CHECK_MESSAGE(text.find("bytes of shared memory, and a block of this device has at most") !=
                    std::string::npos,
                text);
  const test::guarded_buffer<test::sized<10>> odd(n);
  CHECK_THROWS_WITH_AS(lookback::inclusive_scan(par.with(look_ahead{}), odd.data(), odd.data() + n,
                                                odd.data(), test::compose{}),
                       doctest::Contains("results of 1, 2, 4, 8 or 16 bytes"),
                       thrust::system_error);
  // Storage that is too small, a negative length, and nothing to do.
  using small = chained<>;
  REQUIRE_CUDA(DeviceScan::InclusiveSum(nullptr, bytes, x.data(), x.data(), n, nullptr, small{}));
  std::size_t less = bytes - 1;
  CHECK_EQ(DeviceScan::InclusiveSum(storage.data(), less, x.data(), x.data(), n, nullptr, small{}),
           cudaErrorInvalidValue);
  CHECK_EQ(
      DeviceScan::InclusiveSum(storage.data(), bytes, x.data(), x.data(), -1, nullptr, small{}),
      cudaErrorInvalidValue);
  CHECK_CUDA(
      DeviceScan::InclusiveSum(storage.data(), bytes, x.data(), x.data(), 0, nullptr, small{}));
  CHECK_CUDA(cudaDeviceSynchronize());
}

TEST_CASE("catalogue: from the end, and no totals") {
  TEST_RANDOM(random);
  using strategy = chained<>;
  const auto in = test::random_values<std::uint32_t>(n, random);
  auto expected = test::serial_inclusive(std::vector<std::uint32_t>(in.rbegin(), in.rend()),
                                         test::compose_words{});
  std::reverse(expected.begin(), expected.end());
  const test::guarded_buffer<std::uint32_t> x(in), y(n + 1);
  test::two_phases([&](void *storage, std::size_t &bytes) {
    return DeviceScan::InclusiveScan(storage, bytes, x.data(), y.data(), test::compose_words{}, n,
                                     nullptr, lookback::reverse, strategy{});
  });
  auto results = y.download();
  results.pop_back();
  CHECK_EQ(test::first_difference(results, expected), test::nowhere);
  char storage = 0;
  std::size_t bytes = 1;
  CHECK_EQ(
      DeviceScan::OffsetsFromCounts(&storage, bytes, x.data(), y.data(), n, nullptr, strategy{}),
      cudaErrorNotSupported);
  CHECK_THROWS_AS(
      lookback::offsets_from_counts(par.with(strategy{}), x.data(), x.data() + n, y.data()),
      thrust::system_error);
}

namespace {

using block = block_scan<int, 256, three_phase<brent_kung>, 3>;
__global__ void scan_in_a_users_kernel(const int *x, int *y, int *z, int count) {
  __shared__ block::storage storage;
  int mine[3] = {0, 0, 0}, sums[3] = {-1, -1, -1};
  for (int k = 0; k < 3; ++k)
    if (int(threadIdx.x) * 3 + k < count) mine[k] = x[threadIdx.x * 3 + k];
  block(storage).inclusive(mine, sums, plus{}, count);
  for (int k = 0; k < 3; ++k) y[threadIdx.x * 3 + k] = sums[k];
  __syncthreads();
  block(storage).exclusive(mine, sums, 100, plus{}, count);
  for (int k = 0; k < 3; ++k) z[threadIdx.x * 3 + k] = sums[k];
}
/// As README shows it.
__global__ void kernel(const int *x, int *y) {
  using scan = lookback::block_scan<int, 256, lookback::brent_kung>;
  __shared__ scan::storage storage;
  y[threadIdx.x] = scan(storage).inclusive(x[threadIdx.x], lookback::plus{});
}

} // namespace

TEST_CASE("block_scan in a user's kernel") {
  std::vector<int> x;
  for (int i = 0; i < 768; ++i) x.push_back(i % 7);
  const test::guarded_buffer<int> in(x);
  const test::guarded_buffer<int> y(x), z(x);
  for (const int count : {1, 2, 255, 256, 700, 768}) {
    scan_in_a_users_kernel<<<1, 256>>>(in.data(), y.data(), z.data(), count);
    const auto inclusive = y.download(), exclusive = z.download();
    for (int i = 0, sum = 0; i < 768; ++i) {
      CHECK_EQ(exclusive[i], i < count ? 100 + sum : exclusive[i]);
      sum += x[i];
      if (i < count) CHECK_EQ(inclusive[i], sum);
    }
  }
  kernel<<<1, 256>>>(in.data(), y.data());
  const auto sums = y.download();
  for (int i = 0, sum = 0; i < 256; ++i) CHECK_EQ(sums[i], sum += x[i]);
}
