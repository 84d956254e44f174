// SPDX-License-Identifier: MIT
// The shards of a distributed scan on emulated GPUs, one rank after the other: what each of them
// enqueues, and, between the steps, what the communicator copies. Also under ThreadSanitizer, and
// once for each mutation.
#include <lookback/distributed/device_shard.cuh>

#include <simt/problems.hpp>

#include <cstring>
#include <tuple>

namespace {

using namespace lookback;
using test::kind;

/// Strategies of a body and of a head.
template <int Warps, class Rows = test::rows_of<Warps>>
using strategies_of_part = detail::first_of<detail::one_tile<Rows>, detail::tree_look_back<Rows>,
                                            detail::warp_tiles<Rows>>;

/// Where the shards begin, and n: near the edges of tiles and groups, and anywhere.
std::vector<std::uint64_t> random_cuts(test::trial &one, const test::tree_sizes &size,
                                       std::uint64_t n, int ranks) {
  std::vector<std::uint64_t> cuts{0, n};
  while (cuts.size() <= static_cast<std::size_t>(ranks)) {
    const std::uint64_t units[] = {size.row, size.tile, size.group, size.group};
    const std::uint64_t unit = units[one.random() % 4], near = one.random() % (n / unit + 1) * unit;
    const std::uint64_t choices[] = {one.random() % (n + 1), near, near + one.random() % 3,
                                     near - std::min<std::uint64_t>(near, one.random() % 3),
                                     cuts[one.random() % cuts.size()]};
    cuts.push_back(std::min(n, choices[one.random() % 5]));
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

template <class Exchange>
void all_gather(const std::vector<Exchange> &all) {
  for (const Exchange &to : all)
    for (std::size_t r = 0; r < all.size() && to.bytes > 0; ++r)
      std::memcpy(static_cast<char *>(to.all) + r * to.bytes, all[r].own, to.bytes);
}

/// `make(rank)(at)` is the problem of the shard of `rank` from element `at` on.
template <class Make>
void scan_shards(test::trial &one, const std::vector<std::uint64_t> &cuts, Make make) {
  using part = decltype(make(0));
  using shard =
      detail::device_shard<part, strategies_of_part<2>, strategies_of_part<2>, test::rows_of<2>>;
  const int ranks = static_cast<int>(cuts.size()) - 1;
  std::vector<std::uint64_t> items;
  for (int r = 0; r < ranks; ++r) items.push_back(cuts[r + 1] - cuts[r]);
  const typename shard::layout_type layout(items);
  std::vector<part> parts;
  for (int r = 0; r < ranks; ++r) parts.push_back(make(r));
  std::vector<std::vector<unsigned char>> memory(ranks);
  std::vector<shard> shards;
  std::vector<emulator::kernel> stream;
  test::emulated_launcher launch({}, one.schedule, stream);
  // In any order: none may depend on what others do in the same step.
  const auto on_all_ranks = [&](auto step) {
    std::vector<shard *> order;
    for (shard &each : shards) order.push_back(&each);
    std::shuffle(order.begin(), order.end(), one.random);
    for (shard *each : order) {
      step(*each);
      if (!stream.empty()) emulator::run(one.schedule, stream);
      stream.clear();
    }
    REQUIRE_EQ(launch.status(), test::outcome::launched);
  };
  for (int r = 0; r < ranks; ++r) {
    shards.emplace_back(parts[r], layout, r);
    memory[r].assign(shards[r].bytes(launch), static_cast<unsigned char>(0xa5));
    shards[r].bind(memory[r].data());
  }
  using exchange = typename shard::exchange;
  const auto exchanged = [&](exchange (shard::*of)() const) {
    std::vector<exchange> all;
    for (shard &each : shards) all.push_back((each.*of)());
    all_gather(all);
  };
  on_all_ranks([&](shard &each) { each.copy_keys(launch); });
  exchanged(&shard::last_keys);
  on_all_ranks([&](shard &each) { each.copy_open_items(launch); });
  exchanged(&shard::open_items);
  on_all_ranks([&](shard &each) { each.reduce(launch); });
  exchanged(&shard::group_records);
  on_all_ranks([&](shard &each) { REQUIRE_EQ(each.scan(launch), test::outcome::launched); });
}

/// All shards of `elements` against the results of the whole. Each has memory of its own, as on a
/// GPU of its own, with guards around it: the results before a shard are those of its head as well,
/// and would not stand out in the shard that they belong to.
template <kind Kind, class T, class In>
void check_intervals(test::trial &one, const std::vector<In> &elements, std::size_t n) {
  const test::tree_sizes size(sizeof(In), sizeof(T));
  const int ranks = 1 + static_cast<int>(one.random() % 4);
  const auto cuts = random_cuts(one, size, n, ranks);
  INFO("n = ", n, ", ranks = ", ranks, ", cuts = ", cuts[1], ", ", cuts[ranks > 1 ? 2 : 1]);
  const T guard = test::make_interval<T>({77, 78});
  const std::size_t guards = 1 + one.random() % 4;
  std::vector<std::vector<T>> outputs;
  for (int r = 0; r < ranks; ++r) outputs.emplace_back(guards + cuts[r + 1] - cuts[r] + 1, guard);
  scan_shards(one, cuts, [&](int rank) {
    const In *const from = elements.data() + cuts[rank];
    return [from, result = outputs[rank].data() + guards](std::int64_t at) {
      constexpr bool inclusive = Kind != kind::exclusive;
      const T initial = test::make_interval<T>(test::interval_initial);
      if constexpr (Kind == kind::inclusive)
        return detail::make_problem<true, T>(from + at, result + at, test::join_neighbours{},
                                             detail::no_initial{});
      else
        return detail::make_problem<inclusive, T>(from + at, result + at, test::join_neighbours{},
                                                  detail::initial_value<T>{initial});
    };
  });
  const auto expected = [](std::uint32_t i) {
    const std::uint32_t first = Kind == kind::inclusive ? 1 : 0;
    return test::make_interval<T>({first, i + (Kind == kind::exclusive ? 1 : 2)});
  };
  for (int r = 0; r < ranks; ++r) {
    const T *const results = outputs[r].data() + guards;
    INFO("rank ", r);
    const bool guarded = results[-1] == guard && outputs[r].back() == guard;
    REQUIRE(guarded);
    auto i = static_cast<std::uint32_t>(cuts[r]);
    while (i < cuts[r + 1] && results[i - cuts[r]] == expected(i)) ++i;
    REQUIRE_EQ(i, cuts[r + 1]); // the first wrong element
  }
}

/// The bits of one scan of the whole, of sums that are not associative.
template <class In, class T>
void check_sums(test::trial &one, std::size_t groups) {
  const test::tree_sizes size(sizeof(In), sizeof(T));
  const std::size_t n = one.random() % (groups * size.group + 1);
  const auto cuts = random_cuts(one, size, n, 1 + static_cast<int>(one.random() % 5));
  std::vector<In> input;
  std::vector<T> output(n), as_accumulators;
  for (std::size_t i = 0; i < n; ++i) {
    input.push_back(static_cast<In>(static_cast<double>(one.random() % 20001) / 7 - 100));
    as_accumulators.push_back(static_cast<T>(input.back()));
  }
  scan_shards(one, cuts, [&](int rank) {
    const In *const from = input.data() + cuts[rank];
    return [from, result = output.data() + cuts[rank]](std::int64_t at) {
      return detail::make_problem<true, T>(from + at, result + at, plus{}, detail::no_initial{});
    };
  });
  const auto add = [](T a, T b) { return a + b; };
  const auto expected = test::scan_tree<T>(as_accumulators, add, std::nullopt, size);
  std::size_t i = 0;
  while (i < n && std::memcmp(&output[i], &*expected.through[i], sizeof(T)) == 0) ++i;
  REQUIRE_EQ(i, n); // the first wrong element
}

using wide = test::widened<test::interval, 256>;

/// A result that makes tiles small.
struct alignas(16) wide_result {
  test::interval value;
  unsigned char rest[256 - sizeof(test::interval)];
  wide_result &operator=(const test::interval &scanned) {
    value = scanned;
    return *this;
  }
};

/// By key: all shards of intervals that are numbered within their segments.
void check_segments(test::trial &one, std::size_t n) {
  using T = test::interval;
  const test::tree_sizes size(sizeof(wide_result), sizeof(wide_result));
  const int ranks = 1 + static_cast<int>(one.random() % 5);
  auto cuts = random_cuts(one, size, n, ranks);
  if (ranks > 2) cuts[2] = cuts[1]; // rank 1 is empty
  const std::size_t longest[] = {1, 7, size.tile, 3 * size.group};
  const test::segments<std::uint32_t, T> all(one, n, longest[one.random() % 4]);
  const bool inclusive = one.random() % 2 == 0;
  INFO("n = ", n, ", ranks = ", ranks, ", cuts = ", cuts[1], ", ", cuts[ranks > 1 ? 2 : 1],
       ", inclusive: ", inclusive);
  const wide_result guard{{77, 78}, {}};
  std::vector<std::vector<wide_result>> outputs;
  for (int r = 0; r < ranks; ++r) outputs.emplace_back(cuts[r + 1] - cuts[r] + 2, guard);
  const auto make = [&](int rank) {
    return [keys = all.keys.data() + cuts[rank], values = all.values.data() + cuts[rank],
            result = outputs[rank].data() + 1](std::int64_t at) {
      return std::make_tuple(keys + at, values + at, result + at);
    };
  };
  const test::same_octave equal;
  if (inclusive)
    scan_shards(one, cuts, [&](int rank) {
      return [part = make(rank), equal](std::int64_t at) {
        const auto [keys, values, result] = part(at);
        return detail::make_inclusive_by_key<T>(keys, values, result, equal,
                                                test::join_neighbours{});
      };
    });
  else
    scan_shards(one, cuts, [&](int rank) {
      return [part = make(rank), equal](std::int64_t at) {
        const auto [keys, values, result] = part(at);
        return detail::make_exclusive_by_key<T>(keys, values, result, test::interval_initial, equal,
                                                test::join_neighbours{});
      };
    });
  for (int r = 0; r < ranks; ++r) {
    const bool guarded =
        outputs[r].front().value == guard.value && outputs[r].back().value == guard.value;
    REQUIRE(guarded);
    std::size_t i = cuts[r];
    while (i < cuts[r + 1] &&
           outputs[r][i - cuts[r] + 1].value == (inclusive ? all.inclusive[i] : all.exclusive[i]))
      ++i;
    REQUIRE_EQ(i, cuts[r + 1]); // the first wrong element
  }
}

/// By key, over the keys or not: the bits of one scan of the whole.
[[maybe_unused]] void check_sums_by_key(test::trial &one, std::size_t groups) {
  const test::tree_sizes size(sizeof(double), sizeof(double));
  const std::size_t n = one.random() % (groups * size.group + 1);
  const auto cuts = random_cuts(one, size, n, 1 + static_cast<int>(one.random() % 5));
  const std::size_t longest[] = {1, 7, 1000, n + 1};
  const std::size_t most = longest[one.random() % 4];
  std::vector<double> keys, values;
  for (std::size_t i = 0, left = 0; i < n; ++i, --left) {
    const bool head = left == 0;
    if (head) left = 1 + one.random() % most;
    keys.push_back((i == 0 ? 0 : keys.back()) + head);
    values.push_back(static_cast<double>(one.random() % 20001) / 7 - 100);
  }
  const auto expected = test::tree_scan_by_key<double>(keys, values, equal_to{}, plus{},
                                                       std::nullopt, sizeof(double));
  const bool over_keys = one.random() % 2 == 0;
  std::vector<double> apart(n), &output = over_keys ? keys : apart;
  scan_shards(one, cuts, [&](int rank) {
    return [from = static_cast<const double *>(keys.data()) + cuts[rank],
            values = static_cast<const double *>(values.data()) + cuts[rank],
            result = output.data() + cuts[rank]](std::int64_t at) {
      return detail::make_inclusive_by_key<double>(from + at, values + at, result + at, equal_to{},
                                                   plus{});
    };
  });
  INFO("n = ", n, ", over the keys: ", over_keys);
  REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
}

} // namespace

TEST_CASE("shards of intervals, inclusive") {
  const auto elements = test::interval_elements<wide, test::interval>(70 * 64);
  test::for_each_trial(30, [&](test::trial &one) {
    check_intervals<kind::inclusive, test::interval>(one, elements, one.random() % elements.size());
  });
}
TEST_CASE("shards of intervals with an initial value") {
  const auto elements = test::interval_elements<wide, test::interval>(70 * 64);
  test::for_each_trial(30, [&](test::trial &one) {
    const std::size_t n = one.random() % elements.size();
    if (one.random() % 2 == 0)
      check_intervals<kind::exclusive, test::interval>(one, elements, n);
    else
      check_intervals<kind::inclusive_from_initial, test::interval>(one, elements, n);
  });
}
TEST_CASE("shards of intervals by key") {
  test::for_each_trial(30,
                       [&](test::trial &one) { check_segments(one, one.random() % (70 * 64)); });
}
#if !defined(__SANITIZE_THREAD__) // too many threads for it
TEST_CASE("shards of doubles") {
  test::for_each_trial(30, [&](test::trial &one) { check_sums<double, double>(one, 2); });
}
TEST_CASE("shards of doubles by key") {
  test::for_each_trial(20, [&](test::trial &one) { check_sums_by_key(one, 2); });
}
#endif
