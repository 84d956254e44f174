// SPDX-License-Identifier: MIT
// One strategy of the catalogue over every network: inclusive and exclusive, elements of 1 to 32
// bytes, lengths at the edges of its tiles and 2^20, under operators that tell.
#pragma once

#include <lookback/catalogue.cuh>
#include <lookback/device_scan.cuh>

#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>

#include <algorithm>
#include <string>

namespace test {

/// Several monoids in 32 bytes, which are one: intervals and brackets, whose order matters, an
/// affine map, a sum and a maximum.
struct product {
  interval range;
  brackets text;
  affine map;
  std::uint32_t sum, largest;
};
TEST_HOST_DEVICE constexpr bool operator==(const product &a, const product &b) {
  return a.range == b.range && a.text == b.text && a.map == b.map && a.sum == b.sum &&
         a.largest == b.largest;
}

/// Which operator is decided at run time, so that one kernel is tried with all of them.
enum class operation { sum, maximum, affine };
template <class T>
struct chosen_operator {
  operation which;
  TEST_HOST_DEVICE constexpr T operator()(T a, T b) const {
    if (which == operation::maximum) return a < b ? b : a;
    if constexpr (std::is_integral<T>::value)
      if (which == operation::affine)
        return static_cast<T>(compose_packed(static_cast<std::make_unsigned_t<T>>(a),
                                             static_cast<std::make_unsigned_t<T>>(b)));
    return static_cast<T>(a + b);
  }
};
template <>
struct chosen_operator<product> {
  operation which;
  TEST_HOST_DEVICE constexpr product operator()(const product &a, const product &b) const {
    return {join_intervals{}(a.range, b.range), concatenate_brackets{}(a.text, b.text),
            compose_affine{}(a.map, b.map), a.sum + b.sum,
            a.largest < b.largest ? b.largest : a.largest};
  }
};

template <class T>
std::vector<T> elements_for_catalogue(std::size_t n, std::mt19937_64 &random) {
  std::vector<T> values;
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_same<T, product>::value) {
      const auto number = [&](unsigned below) {
        return static_cast<std::uint32_t>(random() % below);
      };
      values.push_back({interval_element(i),
                        {number(4), number(4)},
                        {number(1 << 20) | 1, number(1 << 30)},
                        number(1 << 30),
                        number(1 << 30)});
    } else {
      values.push_back(static_cast<T>(random() % 127)); // sums of doubles stay exact
    }
  }
  return values;
}
template <class T>
T initial_for_catalogue() {
  if constexpr (std::is_same<T, product>::value)
    return {interval_initial, {1, 2}, {3, 5}, 7, 11};
  else
    return static_cast<T>(9);
}

constexpr std::size_t largest_of_matrix = std::size_t{1} << 20;

template <class Algorithm, class T>
void check_algorithm_for(const std::vector<operation> &operations, std::size_t tile) {
  TEST_RANDOM(random);
  const auto values = elements_for_catalogue<T>(largest_of_matrix, random);
  const T initial = initial_for_catalogue<T>();
  const guarded_buffer<T> in(values);
  for (const operation which : operations) {
    const chosen_operator<T> op{which};
    std::vector<T> inclusive, exclusive; // those of n elements are the first n
    for (const T &value : values) {
      exclusive.push_back(exclusive.empty() ? initial
                                            : op(exclusive.back(), values[exclusive.size() - 1]));
      inclusive.push_back(inclusive.empty() ? value : op(inclusive.back(), value));
    }
    const std::vector<std::size_t> lengths{0,
                                           1,
                                           tile - 1,
                                           tile,
                                           tile + 1,
                                           2 * tile,
                                           33 * tile + 1,
                                           tile * tile - 1,
                                           tile * tile + 1,
                                           largest_of_matrix};
    for (const std::size_t n : to_try(lengths, random)) {
      if (n > largest_of_matrix) continue;
      const bool in_place = random() % 2 == 0;
      INFO("n = ", n, ", ", sizeof(T), " bytes, operator ", static_cast<int>(which),
           in_place ? ", in place" : "");
      const auto check = [&](const std::vector<T> &expected, auto call) {
        guarded_buffer<T> out(n);
        if (in_place && n > 0)
          REQUIRE_CUDA(cudaMemcpy(out.data(), in.data(), n * sizeof(T), cudaMemcpyDeviceToDevice));
        const T *const from = in_place ? out.data() : in.data();
        two_phases([&](void *storage,
                       std::size_t &bytes) { return call(storage, bytes, from, out.data()); },
                   random() % 2 * 8);
        const auto results = out.download();
        CHECK(std::equal(results.begin(), results.end(), expected.begin()));
        CHECK(out.guards_intact());
      };
      check(inclusive, [&](void *storage, std::size_t &bytes, const T *x, T *y) {
        return lookback::DeviceScan::InclusiveScan(storage, bytes, x, y, op, n, nullptr,
                                                   Algorithm{});
      });
      check(exclusive, [&](void *storage, std::size_t &bytes, const T *x, T *y) {
        return lookback::DeviceScan::ExclusiveScan(storage, bytes, x, y, op, initial, n, nullptr,
                                                   Algorithm{});
      });
    }
  }
}

/// `Tile` is how many elements a block takes.
template <class Algorithm, int Tile>
void check_algorithm() {
  check_algorithm_for<Algorithm, std::int8_t>(
      {operation::sum, operation::maximum, operation::affine}, Tile);
  check_algorithm_for<Algorithm, std::int32_t>(
      {operation::sum, operation::maximum, operation::affine}, Tile);
  check_algorithm_for<Algorithm, double>({operation::sum, operation::maximum}, Tile);
  check_algorithm_for<Algorithm, product>({operation::sum}, Tile);
}

} // namespace test

/// A test case a network for `Strategy`, a template over network, threads and items.
#define TEST_EVERY_NETWORK(Strategy)                                                               \
  TEST_CASE(#Strategy ", sequential") {                                                            \
    test::check_algorithm<Strategy<lookback::sequential, 32, 2>, 64>();                            \
  }                                                                                                \
  TEST_CASE(#Strategy ", hillis_steele") {                                                         \
    test::check_algorithm<Strategy<lookback::hillis_steele, 128, 1>, 128>();                       \
  }                                                                                                \
  TEST_CASE(#Strategy ", kogge_stone") {                                                           \
    using namespace lookback;                                                                      \
    test::check_algorithm<Strategy<kogge_stone<memory_of::global>, 128, 1>, 128>();                \
    test::check_algorithm<                                                                         \
        Strategy<kogge_stone<memory_of::shared, exclusive_by::inclusive>, 128, 1>, 128>();         \
    test::check_algorithm<Strategy<kogge_stone<>, 64, 2>, 128>();                                  \
  }                                                                                                \
  TEST_CASE(#Strategy ", brent_kung") {                                                            \
    test::check_algorithm<Strategy<lookback::brent_kung, 64, 2>, 128>();                           \
  }                                                                                                \
  TEST_CASE(#Strategy ", blelloch") {                                                              \
    using namespace lookback;                                                                      \
    test::check_algorithm<Strategy<blelloch<>, 64, 2>, 128>();                                     \
    test::check_algorithm<Strategy<blelloch<bank_padding::off, load_pairs::adjacent>, 96, 2>,      \
                          192>();                                                                  \
  }                                                                                                \
  TEST_CASE(#Strategy ", three_phase") {                                                           \
    using namespace lookback;                                                                      \
    test::check_algorithm<Strategy<three_phase<>, 128, 5>, 640>();                                 \
    test::check_algorithm<Strategy<three_phase<brent_kung>, 128, 4>, 512>();                       \
  }                                                                                                \
  TEST_CASE(#Strategy ", warp_shuffle") {                                                          \
    test::check_algorithm<Strategy<lookback::warp_shuffle, 256, 4>, 1024>();                       \
  }
