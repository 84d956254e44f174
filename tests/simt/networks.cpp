// SPDX-License-Identifier: MIT
// Every network of the catalogue, alone in a block: the interval, bicyclic and counting monoids,
// objects that are no bags of bytes, and as many additions as its file says.
#include <lookback/block_scan.cuh>

#include <simt/problems.hpp>

#include <memory>

namespace {

using namespace lookback;

/// Additions of every network over n elements, as its file has them.
int steps(int n) { return n <= 1 ? 0 : 1 + steps((n + 1) / 2); }
int every_step(int n) { return n <= 0 ? 0 : n * steps(n) - (1 << steps(n)) + 1; }
int additions(sequential, bool inclusive, int n, int, int) {
  return std::max(0, inclusive ? n - 1 : n - 2);
}
int additions(hillis_steele, bool inclusive, int n, int, int) {
  return every_step(inclusive ? n : n - 1);
}
template <memory_of Memory, exclusive_by By>
int additions(kogge_stone<Memory, By>, bool inclusive, int n, int, int) {
  return every_step(inclusive || By == exclusive_by::inclusive ? n : n - 1);
}
int additions(brent_kung, bool inclusive, int n, int, int) {
  if (!inclusive) --n;
  int sum = 0;
  for (int s = 1; s < n; s *= 2) sum += n / (2 * s) + (n - s) / (2 * s);
  return sum;
}
template <bank_padding Padding, load_pairs Pairs>
int additions(blelloch<Padding, Pairs>, bool, int n, int, int) {
  return 2 * (n - 1) - steps(n);
}
int additions(warp_shuffle, bool, int n, int, int items) {
  int sum = every_step((n - 1) / (32 * items)) + n - std::min(n, 32 * items);
  for (int row = 0; row < n; row += 32)
    sum +=
        every_step(std::min(32, n - row)) + (row % (32 * items) == 0 ? 0 : std::min(32, n - row));
  return sum;
}
template <class Network>
int additions(three_phase<Network>, bool, int n, int threads, int items) {
  const int ends = (n - 1) / items + 1;
  return n - ends + additions(Network{}, false, ends, threads, 1) + n - 1;
}

/// A block of a user's: a scan of the first `n` of `x`.
template <bool Inclusive, int Threads, class Network, int Items, class T, class Operator>
void scan_in_block(test::trial &one, const T *x, T *y, const T &initial, Operator op, int n) {
  using scan = block_scan<T, Threads, Network, Items>;
  using storage = typename scan::storage;
  const auto global = std::make_unique<storage>();
  emulator::run(one.schedule, {{1, Threads, Network::in_global_memory ? 0 : sizeof(storage), [&] {
                                  storage *room = global.get();
                                  if constexpr (!Network::in_global_memory)
                                    room = &simt::shared_memory<storage>();
                                  scan block(*room);
                                  std::vector<T> mine(Items, initial), results(Items, initial);
                                  for (int k = 0; k < Items; ++k)
                                    if (simt::thread_index() * Items + k < n)
                                      mine[k] = x[simt::thread_index() * Items + k];
                                  auto &in = *reinterpret_cast<T(*)[Items]>(mine.data());
                                  auto &out = *reinterpret_cast<T(*)[Items]>(results.data());
                                  if constexpr (Inclusive)
                                    block.inclusive(in, out, op, n);
                                  else
                                    block.exclusive(in, out, initial, op, n);
                                  for (int k = 0; k < Items; ++k)
                                    if (simt::thread_index() * Items + k < n)
                                      y[simt::thread_index() * Items + k] = results[k];
                                }}});
}

template <class T, int Threads, class Network, int Items>
void intervals(std::uint64_t count) {
  test::for_each_trial(count, [](test::trial &one) {
    const int capacity = Threads * Items;
    const int edges[] = {
        1, 2, 31, 32, 33, capacity / 2 - 1, capacity / 2, capacity / 2 + 1, capacity - 1, capacity};
    const bool inclusive = one.index % 2 == 0;
    const int n = one.index / 2 < std::size(edges) ? edges[one.index / 2]
                                                   : 1 + static_cast<int>(one.random() % capacity);
    INFO("n = ", n, inclusive ? ", inclusive" : ", exclusive");
    const auto x = test::interval_elements<T, T>(n);
    std::vector<T> y(n, test::make_interval<T>({77, 78})), expected;
    for (int i = 0; i < n; ++i)
      expected.push_back(test::make_interval<T>(
          {inclusive ? 1u : 0u, static_cast<std::uint32_t>(i) + (inclusive ? 2 : 1)}));
    const T initial = test::make_interval<T>(test::interval_initial);
    if (inclusive)
      scan_in_block<true, Threads, Network, Items>(one, x.data(), y.data(), initial,
                                                   test::join_neighbours{}, n);
    else
      scan_in_block<false, Threads, Network, Items>(one, x.data(), y.data(), initial,
                                                    test::join_neighbours{}, n);
    REQUIRE_EQ(test::first_difference(y, expected), test::nowhere);
  });
}

/// Brackets against a serial scan, and the operator's calls against the formula.
template <int Threads, class Network, int Items>
void brackets_and_work(std::uint64_t count) {
  static int calls;
  struct counted_concatenation {
    test::brackets operator()(test::brackets a, test::brackets b) const {
      ++calls;
      return test::concatenate_brackets{}(a, b);
    }
  };
  test::for_each_trial(count, [](test::trial &one) {
    const int n = 1 + static_cast<int>(one.random() % (Threads * Items));
    const bool inclusive = one.random() % 2 == 0;
    INFO("n = ", n, inclusive ? ", inclusive" : ", exclusive");
    std::vector<test::brackets> x, y(n), expected;
    const test::brackets initial{1, 2};
    test::brackets sum = initial;
    for (int i = 0; i < n; ++i) {
      x.push_back({static_cast<std::uint32_t>(one.random() % 4),
                   static_cast<std::uint32_t>(one.random() % 4)});
      if (!inclusive) expected.push_back(sum);
      sum = inclusive && i == 0 ? x[0] : test::concatenate_brackets{}(sum, x[i]);
      if (inclusive) expected.push_back(sum);
    }
    calls = 0;
    if (inclusive)
      scan_in_block<true, Threads, Network, Items>(one, x.data(), y.data(), initial,
                                                   counted_concatenation{}, n);
    else
      scan_in_block<false, Threads, Network, Items>(one, x.data(), y.data(), initial,
                                                    counted_concatenation{}, n);
    REQUIRE_EQ(test::first_difference(y, expected), test::nowhere);
    REQUIRE_EQ(calls, additions(Network{}, inclusive, n, Threads, Items) + (inclusive ? 0 : n - 1));
  });
}

template <class Network>
void network() {
  intervals<test::owned_interval, 64, Network, 1>(24);
  intervals<test::interval, 96, Network, 3>(24);
  brackets_and_work<64, Network, 2>(20);
}

} // namespace

TEST_CASE("sequential") { network<sequential>(); }
TEST_CASE("hillis_steele") { network<hillis_steele>(); }
TEST_CASE("kogge_stone in global memory") {
  network<kogge_stone<memory_of::global>>();
  network<kogge_stone<memory_of::global, exclusive_by::inclusive>>();
}
TEST_CASE("kogge_stone in place") {
  network<kogge_stone<memory_of::shared>>();
  network<kogge_stone<memory_of::shared, exclusive_by::inclusive>>();
}
TEST_CASE("kogge_stone double-buffered") {
  network<kogge_stone<>>();
  network<kogge_stone<memory_of::double_buffered, exclusive_by::inclusive>>();
}
TEST_CASE("brent_kung") { network<brent_kung>(); }
TEST_CASE("blelloch") {
  network<blelloch<>>();
  network<blelloch<bank_padding::off, load_pairs::half_stride>>();
  network<blelloch<bank_padding::on, load_pairs::adjacent>>();
  network<blelloch<bank_padding::off, load_pairs::adjacent>>();
}
TEST_CASE("three_phase") {
  network<three_phase<>>();
  network<three_phase<sequential>>();
  network<three_phase<kogge_stone<>>>();
  network<three_phase<brent_kung>>();
  network<three_phase<blelloch<>>>();
}
TEST_CASE("warp_shuffle") { network<warp_shuffle>(); }
