// SPDX-License-Identifier: MIT
// Every strategy of the catalogue over every network: one run over intervals proves a length right
// for every associative operator. Tiles of 32 elements give three levels and many small blocks.
#include <lookback/block/blelloch.cuh>
#include <lookback/block/brent_kung.cuh>
#include <lookback/block/hillis_steele.cuh>
#include <lookback/block/kogge_stone.cuh>
#include <lookback/block/sequential.cuh>

#include <simt/strategies.hpp>

namespace {

using namespace lookback;
using test::kind;

template <kind Kind, class Strategy, class T, class Input, class Output, class Operator>
void scan_as(Input input, Output output, const T &initial, Operator op, std::size_t n,
             const emulator::schedule &chosen) {
  if constexpr (Kind == kind::inclusive)
    test::scan_by_textbook<Strategy>(
        detail::make_problem<true, T>(input, output, op, detail::no_initial{}), n, chosen);
  else
    test::scan_by_textbook<Strategy>(detail::make_problem<Kind == kind::inclusive_from_initial, T>(
                                         input, output, op, detail::initial_value<T>{initial}),
                                     n, chosen);
}

/// A length: the edges of a tile and of the next level up, or any.
template <int Tile>
std::size_t pick_length(test::trial &one, std::size_t largest) {
  const std::size_t edges[] = {1,        Tile - 1,        Tile,        Tile + 1,
                               2 * Tile, Tile * Tile - 1, Tile * Tile, Tile * Tile + 1};
  const std::size_t turn = one.index / emulator::mode_count;
  const std::size_t edge = edges[turn / 2 % std::size(edges)];
  return turn % 2 == 0 && edge <= largest ? edge : 1 + one.random() % largest;
}

/// Through pointers; and, where `Iterators`, classes that read or write. They matter to a strategy,
/// whatever its network.
template <class Strategy, int Tile, class T, bool Iterators = false>
void intervals(std::uint64_t count, std::size_t largest) {
  test::for_each_trial(count, [=](test::trial &one) {
    const std::size_t n = pick_length<Tile>(one, largest);
    const T initial = test::make_interval<T>(test::interval_initial),
            filler = test::make_interval<T>({77, 78});
    const auto elements = test::interval_elements<T, T>(n);
    test::guarded_buffer<T> x(n, 0, filler), y(n, 0, filler);
    std::copy(elements.begin(), elements.end(), x.data());
    const auto which = static_cast<kind>(one.random() % 3);
    const auto how =
        one.random() %
        (Iterators ? 4 : 2); // in place; pointers; a class that reads; a class that writes
    INFO("n = ", n, ", kind ", static_cast<int>(which), ", iterators ", how);
    std::vector<T> expected;
    for (std::uint32_t i = 0; i < n; ++i)
      expected.push_back(test::make_interval<T>(
          {which == kind::inclusive ? 1u : 0u, i + (which == kind::exclusive ? 1 : 2)}));
    auto &result = how == 0 ? x : y;
    const auto as = [&](auto Kind) {
      constexpr kind chosen = decltype(Kind)::value;
      const T *const from = x.data();
      if constexpr (Iterators) {
        if (how == 2)
          return scan_as<chosen, Strategy>(test::reading_iterator<T>(from), y.data(), initial,
                                           test::join_neighbours{}, n, one.schedule);
        if (how == 3)
          return scan_as<chosen, Strategy>(from, test::writing_iterator<T>(y.data()), initial,
                                           test::join_neighbours{}, n, one.schedule);
      }
      scan_as<chosen, Strategy>(from, result.data(), initial, test::join_neighbours{}, n,
                                one.schedule);
    };
    if (which == kind::inclusive) as(std::integral_constant<kind, kind::inclusive>{});
    if (which == kind::inclusive_from_initial)
      as(std::integral_constant<kind, kind::inclusive_from_initial>{});
    if (which == kind::exclusive) as(std::integral_constant<kind, kind::exclusive>{});
    REQUIRE_EQ(test::first_difference(result.results(), expected), test::nowhere);
    REQUIRE(result.intact());
  });
}

/// Segments by key, the results over the keys, the values or elsewhere.
template <class Strategy, int Tile>
void by_key(std::uint64_t count) {
  using number = std::uint32_t;
  test::for_each_trial(count, [](test::trial &one) {
    const std::size_t n = pick_length<Tile>(one, 5 * Tile);
    const bool inclusive = one.random() % 2 == 0;
    std::vector<number> keys, values, elsewhere(n), expected;
    for (number i = 0; i < n; ++i) {
      keys.push_back(i == 0 || one.random() % 9 != 0 ? (i == 0 ? 5 : keys.back())
                                                     : keys.back() + 1);
      values.push_back(static_cast<number>(one.random()));
      const bool head = i == 0 || keys[i] != keys[i - 1];
      if (inclusive)
        expected.push_back(head ? values[i] : expected.back() + values[i]);
      else
        expected.push_back(head ? 3 : expected.back() + values[i - 1]);
    }
    std::vector<number> *const results[] = {&keys, &values, &elsewhere};
    auto &result = *results[one.random() % 3];
    const number *const k = keys.data(), *const v = values.data();
    INFO("n = ", n, inclusive ? ", inclusive" : ", exclusive");
    if (inclusive)
      test::scan_by_textbook<Strategy>(
          detail::make_inclusive_by_key<number>(k, v, result.data(), equal_to{}, plus{}), n,
          one.schedule);
    else
      test::scan_by_textbook<Strategy>(
          detail::make_exclusive_by_key<number>(k, v, result.data(), number{3}, equal_to{}, plus{}),
          n, one.schedule);
    REQUIRE_EQ(test::first_difference(result, expected), test::nowhere);
  });
}

/// Counts of elements with the order checked at every step, and brackets: a monoid with neither
/// commutation nor inverses.
template <class Strategy, int Tile>
void counts_and_brackets(std::uint64_t count) {
  test::for_each_trial(count, [](test::trial &one) {
    const std::size_t n = pick_length<Tile>(one, 5 * Tile);
    INFO("n = ", n);
    std::vector<test::counted> x, y(n), expected;
    std::vector<test::brackets> text, nesting(n), nested;
    for (std::uint64_t i = 0; i < n; ++i) {
      x.push_back({1, i + 1});
      expected.push_back({i + 1, i + 1});
      text.push_back({static_cast<std::uint32_t>(one.random() % 4),
                      static_cast<std::uint32_t>(one.random() % 4)});
      nested.push_back(i == 0 ? text[0] : test::concatenate_brackets{}(nested.back(), text.back()));
    }
    scan_as<kind::inclusive, Strategy>(static_cast<const test::counted *>(x.data()), y.data(), x[0],
                                       test::count{}, n, one.schedule);
    REQUIRE_EQ(test::first_difference(y, expected), test::nowhere);
    scan_as<kind::inclusive, Strategy>(static_cast<const test::brackets *>(text.data()),
                                       nesting.data(), text[0], test::concatenate_brackets{}, n,
                                       one.schedule);
    REQUIRE_EQ(test::first_difference(nesting, nested), test::nowhere);
  });
}

/// An initial value that stands in the output is read before anything is written.
template <class Strategy, int Tile>
void initial_in_output(std::uint64_t count) {
  using test::interval;
  test::for_each_trial(count, [](test::trial &one) {
    const std::size_t n = pick_length<Tile>(one, 5 * Tile), place = one.random() % n;
    const bool inclusive = one.random() % 2 == 0;
    INFO("n = ", n, ", the initial value in element ", place,
         inclusive ? ", inclusive" : ", exclusive");
    const auto x = test::interval_elements<interval, interval>(n);
    std::vector<interval> y(n, {77, 78}), expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back({0, i + (inclusive ? 2 : 1)});
    y[place] = test::interval_initial;
    using future = FutureValue<interval>;
    const detail::initial_value<future> initial{future(y.data() + place)};
    if (inclusive)
      test::scan_by_textbook<Strategy>(detail::make_problem<true, interval>(
                                           x.data(), y.data(), test::join_neighbours{}, initial),
                                       n, one.schedule);
    else
      test::scan_by_textbook<Strategy>(detail::make_problem<false, interval>(
                                           x.data(), y.data(), test::join_neighbours{}, initial),
                                       n, one.schedule);
    REQUIRE_EQ(test::first_difference(y, expected), test::nowhere);
  });
}

template <template <class, int, int> class Strategy>
void every_network() {
  intervals<Strategy<sequential, 32, 1>, 32, test::interval>(10, 1100);
  intervals<Strategy<hillis_steele, 32, 1>, 32, test::interval>(10, 1100);
  intervals<Strategy<kogge_stone<memory_of::global>, 32, 1>, 32, test::interval>(10, 1100);
  intervals<Strategy<kogge_stone<memory_of::shared, exclusive_by::inclusive>, 32, 1>, 32,
            test::interval>(10, 1100);
  intervals<Strategy<kogge_stone<>, 32, 1>, 32, test::interval, true>(20, 1100);
  intervals<Strategy<brent_kung, 32, 1>, 32, test::interval>(10, 1100);
  intervals<Strategy<blelloch<>, 32, 1>, 32, test::interval>(10, 1100);
  intervals<Strategy<blelloch<bank_padding::off, load_pairs::adjacent>, 32, 1>, 32, test::interval>(
      10, 1100);
  intervals<Strategy<three_phase<>, 32, 3>, 96, test::owned_interval, true>(20, 700);
  intervals<Strategy<warp_shuffle, 64, 1>, 64, test::owned_interval>(10, 700);
  counts_and_brackets<Strategy<three_phase<>, 32, 3>, 96>(20);
  by_key<Strategy<three_phase<>, 32, 3>, 96>(20);
  initial_in_output<Strategy<sequential, 32, 1>, 32>(20);
}
template <class Network, int Threads, int Items>
using by_thread = decoupled_look_back<walk_by_thread, dynamic_ids, Network, Threads, Items>;
template <class Network, int Threads, int Items>
using by_warp = decoupled_look_back<walk_by_warp, dynamic_ids, Network, Threads, Items>;

} // namespace

TEST_CASE("scan_then_add") { every_network<scan_then_add>(); }
TEST_CASE("reduce_then_scan") { every_network<reduce_then_scan>(); }
TEST_CASE("chained") { every_network<chained>(); }
TEST_CASE("auxiliary_block") { every_network<auxiliary_block>(); }
TEST_CASE("decoupled_look_back, walk by a thread") { every_network<by_thread>(); }
TEST_CASE("decoupled_look_back, walk by a warp") {
  every_network<by_warp>();
  intervals<by_warp<warp_shuffle, 32, 1>, 32, test::interval>(20,
                                                              100 * 32); // walks of several windows
}
/// Tiles that are not a network's: of one warp and of two, of one row each and of several.
TEST_CASE("decoupled_look_back, vectors") {
  intervals<by_warp<warp_vectors, 64, 4>, 256, test::interval, true>(40, 1100);
  intervals<by_warp<warp_vectors, 32, 1>, 64, test::interval>(20, 100 * 64);
  intervals<by_thread<warp_vectors, 64, 2>, 128, test::owned_interval, true>(20, 700);
  counts_and_brackets<by_warp<warp_vectors, 64, 2>, 128>(40);
  by_key<by_warp<warp_vectors, 64, 1>, 64>(40);
  initial_in_output<by_warp<warp_vectors, 32, 2>, 64>(20);
}
/// Why they are called unsafe: blocks that start from the last to the first, and room for one.
TEST_CASE("decoupled_look_back, static ids, can wait for ever") {
  using unsafe = decoupled_look_back<walk_by_warp, static_ids, warp_shuffle, 32, 1>;
  const auto x = test::interval_elements<test::interval, test::interval>(8 * 32);
  std::vector<test::interval> y(x.size());
  const auto scan = [&] {
    scan_as<kind::inclusive, unsafe>(x.data(), y.data(), x[0], test::join_neighbours{}, x.size(),
                                     {emulator::mode::one_slot, 1});
  };
  std::string report;
  try {
    scan();
  } catch (const std::runtime_error &error) {
    report = error.what();
  }
  REQUIRE(report.find("deadlock, no thread can run") == 0);
}
