// SPDX-License-Identifier: MIT
// Every width of element, against the definition of the tree, bit for bit: vectors of more than one
// element, pointers aligned and not, iterators, in place, types that are no bags of bytes.
#include <lookback/strategy/tree_tiles.cuh>

#include <simt/problems.hpp>

#include <support/types.hpp>

namespace {

/// `values` through all kinds of scan; `tiles` of them at most.
template <int Warps, class T, class In = T, class Operator>
void against_tree(std::uint64_t count, std::size_t tiles, Operator op) {
  test::for_each_trial(count, [&](test::trial &one) {
    std::vector<In> values;
    for (std::size_t i = 0; i < tiles * test::tree_sizes(sizeof(In), sizeof(T)).tile; ++i)
      values.push_back(test::random_value<In>::make(one.random));
    const T initial = test::random_value<T>::make(one.random),
            filler = test::random_value<T>::make(one.random);
    const auto expected = [&](std::optional<T> init, bool inclusive) {
      return [&values, op, init, inclusive](std::size_t n, std::size_t bytes_out) {
        return test::tree_scan<T>(
            test::converted<T>(std::vector<In>(values.begin(), values.begin() + n)), op, init,
            inclusive, sizeof(In), bytes_out);
      };
    };
    using test::kind;
    switch (one.random() % 3) {
    case 0:
      return test::check_scan<kind::inclusive, Warps, false, T>(one, values, initial, op, filler,
                                                                expected({}, true));
    case 1:
      return test::check_scan<kind::inclusive_from_initial, Warps, false, T>(
          one, values, initial, op, filler, expected(initial, true));
    default:
      return test::check_scan<kind::exclusive, Warps, false, T>(one, values, initial, op, filler,
                                                                expected(initial, false));
    }
  });
}

/// An item that an accumulator, the sum of weights, does not tell.
struct parcel {
  std::int16_t weight, label;
  explicit operator std::int64_t() const { return weight; }
};
struct placed {
  std::int64_t before;
  std::int16_t label;
  friend bool operator==(const placed &a, const placed &b) {
    return a.before == b.before && a.label == b.label;
  }
};
struct place_parcel {
  static constexpr bool needs_item = true;
  placed operator()(const std::int64_t &before, const parcel &item) const {
    return {before, item.label};
  }
};

} // namespace

template <>
struct test::random_value<test::affine> {
  template <class Random>
  static affine make(Random &random) {
    return {static_cast<std::uint32_t>(random()) | 1, static_cast<std::uint32_t>(random())};
  }
};
template <>
struct test::random_value<test::brackets> {
  template <class Random>
  static brackets make(Random &random) {
    return {static_cast<std::uint32_t>(random() % 3), static_cast<std::uint32_t>(random() % 3)};
  }
};

TEST_CASE("1 byte") { against_tree<8, std::uint8_t>(60, 3, test::plus<std::uint8_t>{}); }
TEST_CASE("1 byte, sums") { against_tree<8, std::int8_t>(60, 3, lookback::plus{}); }
TEST_CASE("2 bytes to 4, sums") {
  against_tree<4, std::uint32_t, std::uint16_t>(60, 4, lookback::plus{});
}
TEST_CASE("1 byte to 4") {
  against_tree<4, std::int32_t, std::int8_t>(60, 4, test::plus<std::int32_t>{});
}
TEST_CASE("4 bytes, not commutative") {
  against_tree<4, std::uint32_t>(60, 4, test::compose_words{});
}
TEST_CASE("4 bytes, float") { against_tree<8, float>(60, 4, test::plus<float>{}); }
TEST_CASE("8 bytes, affine maps") { against_tree<4, test::affine>(60, 6, test::compose_affine{}); }
TEST_CASE("8 bytes, brackets") {
  against_tree<2, test::brackets>(60, 6, test::concatenate_brackets{});
}
TEST_CASE("8 bytes, double") { against_tree<1, double>(30, 34, test::plus<double>{}); }
TEST_CASE("12 bytes") { against_tree<4, test::sized<12>>(60, 4, test::compose{}); }
TEST_CASE("16 bytes") { against_tree<4, test::sized<16>>(60, 6, test::compose{}); }
TEST_CASE("32 bytes") { against_tree<4, test::sized<32>>(60, 35, test::compose{}); }
TEST_CASE("not trivially copyable") { against_tree<2, test::self_copied>(60, 6, test::compose{}); }
TEST_CASE("without a default constructor") {
  against_tree<4, test::no_default>(60, 4, test::compose{});
}

TEST_CASE("intervals through pointers and iterators") {
  const auto elements = test::interval_elements<test::interval, test::interval>(6 * 2048);
  test::for_each_trial(300, [&](test::trial &one) {
    test::check_intervals<4, test::interval, true>(one, elements);
  });
}

TEST_CASE("a result made of the scanned value and of the item as it was read") {
  namespace core = lookback::detail;
  using sink = core::dense<placed *, place_parcel>;
  using problem = core::scan_problem<false, std::int64_t, const parcel *, lookback::plus,
                                     core::initial_value<std::int64_t>, sink>;
  test::for_each_trial(60, [&](test::trial &one) {
    const std::size_t n = 1 + one.random() % (5 * problem::shape::tile_elements);
    INFO("n = ", n);
    std::vector<parcel> parcels;
    std::vector<placed> output(n), expected;
    std::int64_t before = 7;
    for (std::size_t i = 0; i < n; ++i) {
      parcels.push_back({static_cast<std::int16_t>(one.random() % 100),
                         static_cast<std::int16_t>(one.random() % 30000)});
      expected.push_back({before, parcels[i].label});
      before += parcels[i].weight;
    }
    const problem scanned(parcels.data(), {}, {7}, sink{output.data(), {}});
    if (one.index % 3 == 0 && n > problem::shape::tile_elements) // one tile has no state
      test::scan_ahead<test::look_ahead_by<4, 2, 3, 4, 2>>(scanned, n, 2, one.schedule);
    else
      test::scan<4>(scanned, n, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}
