// SPDX-License-Identifier: MIT
// Continued scans on an emulated GPU: chunk after chunk, and what is kept between them. Also under
// ThreadSanitizer, and once for each mutation.
#include <lookback/dispatch/continued_chunk.cuh>

#include <simt/problems.hpp>

#include <cstring>

namespace {

using namespace lookback;

template <class Rows>
using strategies_of_part = detail::first_of<detail::one_tile<Rows>, detail::tree_look_back<Rows>,
                                            detail::warp_tiles<Rows>>;
using rows = test::rows_of<1>;

/// An interval in 272 bytes: its groups have 1024 elements.
struct alignas(16) wide_interval {
  test::interval value;
  unsigned char rest[264];
  wide_interval() = default;
  explicit wide_interval(test::interval interval) : value(interval), rest() {}
};
bool operator==(const wide_interval &a, const wide_interval &b) { return a.value == b.value; }
struct join_wide {
  wide_interval operator()(const wide_interval &a, const wide_interval &b) const {
    return wide_interval(test::join_neighbours{}(a.value, b.value));
  }
};

/// A continued scan whose chunks are in memory of their own, with guards around the results.
template <class T, class Operator>
class emulated_scan {
  using group = detail::open_group<T, Operator>;

public:
  emulated_scan(test::trial &one, const T *initial)
      : one_(one), launch_({}, one.schedule, stream_), memory_(group::bytes(), 0xa5) {
    open_.begin(memory_.data(), initial, launch_);
    run();
  }
  std::int64_t known() const { return open_.known(); }

  /// Scans a chunk. In place, `input` becomes the results.
  template <bool Inclusive, class Output>
  void scan(std::vector<T> &input, Output output) {
    const T *const from = input.data();
    using future = FutureValue<T, const T *>;
    const auto make = [&](std::int64_t at) {
      return detail::make_problem<Inclusive, T>(from + at, output + at, Operator{},
                                                detail::initial_value<future>{future(nullptr)});
    };
    using strategies = strategies_of_part<rows>;
    detail::continued_chunk<decltype(make), Operator, strategies, strategies, rows> chunk(
        make, open_, static_cast<std::int64_t>(input.size()));
    std::vector<unsigned char> storage(chunk.bytes(launch_), 0x5a);
    chunk.bind(storage.data());
    REQUIRE_EQ(chunk.scan(launch_), test::outcome::launched);
    run();
  }

private:
  void run() {
    if (!stream_.empty()) emulator::run(one_.schedule, stream_);
    stream_.clear();
  }
  test::trial &one_;
  std::vector<emulator::kernel> stream_;
  test::emulated_launcher launch_;
  std::vector<unsigned char> memory_;
  group open_;
};

/// Lengths of chunks of n elements: up to the edges of groups, or beyond them, or any.
std::vector<std::size_t> random_chunks(test::trial &one, std::size_t n, std::size_t group) {
  std::vector<std::size_t> chunks;
  for (std::size_t at = 0; at < n; at += chunks.back()) {
    const std::size_t edge = group - at % group;
    const std::size_t choices[] = {edge,
                                   edge + 1,
                                   edge + group,
                                   std::max<std::size_t>(edge - 1, 1),
                                   1 + one.random() % (2 * group),
                                   1 + one.random() % group,
                                   1};
    chunks.push_back(std::min(n - at, choices[one.random() % 7]));
  }
  return chunks;
}

/// Chunks of intervals: each result must be that of all elements before it, in their order.
void check_intervals(test::trial &one) {
  using T = wide_interval;
  const test::tree_sizes size(sizeof(T), sizeof(T));
  const std::size_t n = 1 + one.random() % (3 * size.group);
  const bool has_initial = one.random() % 2 == 0;
  const T initial(test::interval_initial), guard(test::interval{77, 78});
  emulated_scan<T, join_wide> running(one, has_initial ? &initial : nullptr);
  std::size_t at = 0;
  for (const std::size_t length : random_chunks(one, n, size.group)) {
    INFO(length, " of ", n, " elements from ", at, has_initial ? ", initial" : "");
    std::vector<T> input;
    for (std::size_t i = 0; i < length; ++i) input.emplace_back(test::interval_element(at + i));
    const bool in_place = one.random() % 2 == 0;
    const bool inclusive = (at == 0 && !has_initial) || one.random() % 2 == 0;
    std::vector<T> apart(length + 2, guard);
    T *const output = in_place ? input.data() : apart.data() + 1;
    if (inclusive)
      running.scan<true>(input, output);
    else
      running.scan<false>(input, output);
    std::size_t i = 0;
    const auto expected = [&] {
      const auto end = static_cast<std::uint32_t>(at + i + (inclusive ? 2 : 1));
      return T(test::interval{has_initial ? 0u : 1u, end});
    };
    while (i < length && output[i] == expected()) ++i;
    REQUIRE_EQ(i, length); // the first wrong element
    const bool guarded = apart[0] == guard && (in_place || apart[length + 1] == guard);
    REQUIRE(guarded);
    at += length;
    REQUIRE_EQ(running.known(), static_cast<std::int64_t>((at - 1) % size.group + 1));
  }
}

/// The bits of the tree, of elements and results of one type. `n` elements at most.
template <class T>
void check_sums(test::trial &one, std::size_t most) {
  const test::tree_sizes size(sizeof(T), sizeof(T));
  const std::size_t n = 1 + one.random() % most;
  std::vector<T> x;
  for (std::size_t i = 0; i < n; ++i)
    x.push_back(static_cast<T>(static_cast<double>(one.random() % 20001) / 7 - 100));
  const auto expected = test::scan_tree<T>(
      x, [](T a, T b) { return static_cast<T>(a + b); }, std::nullopt, size);
  emulated_scan<T, plus> running(one, nullptr);
  std::size_t at = 0;
  for (const std::size_t length : random_chunks(one, n, size.group)) {
    INFO(length, " of ", n, " elements from ", at);
    std::vector<T> input(x.begin() + at, x.begin() + at + length), output(length);
    running.template scan<true>(input, output.data());
    std::size_t i = 0;
    while (i < length && std::memcmp(&output[i], &*expected.through[at + i], sizeof(T)) == 0) ++i;
    REQUIRE_EQ(i, length); // the first wrong element
    at += length;
  }
}

} // namespace

TEST_CASE("chunks of intervals") { test::for_each_trial(20, check_intervals); }
TEST_CASE("chunks of integers, whose prefix alone is kept") {
  test::for_each_trial(10, [](test::trial &one) { check_sums<std::int16_t>(one, 20000); });
}
#if !defined(__SANITIZE_THREAD__) // too many threads for it
TEST_CASE("chunks of doubles") {
  test::for_each_trial(20, [](test::trial &one) { check_sums<double>(one, 150000); });
}
#endif
