// SPDX-License-Identifier: MIT
// Elements and accumulators too large to wait in shared memory: the bits of the tree, objects that
// are no bags of bytes, by key over the keys, and an initial value that stands in the output. Under
// AddressSanitizer, and under ThreadSanitizer once for each mutation.
#include <lookback/strategy/warp_tiles.cuh>

#include <simt/problems.hpp>

#include <support/types.hpp>

namespace {

namespace core = lookback::detail;

/// An interval that copies itself, in more than 1000 bytes.
struct wide_object : test::owned_interval {
  explicit wide_object(test::interval value) : owned_interval(value) {}
  unsigned char rest[1000] = {};
};

double any_number(test::trial &one) { return static_cast<double>(one.random() % 1000003) / 997; }

/// Elements of T, or of In that become T: up to `tiles` tiles of them. `Every` kind of scan, or the
/// exclusive one.
template <class T, bool Every = false, class In = T>
void against_tree(std::uint64_t count, std::size_t tiles) {
  test::for_each_trial(count, [&](test::trial &one) {
    const test::tree_sizes size(
        sizeof(In), sizeof(In)); // an output without a value type has no part in the tree
    const std::size_t n = test::pick_size(one, size, tiles * size.tile);
    INFO(sizeof(T), " bytes, n = ", n);
    std::vector<In> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(In(any_number(one)));
    const T initial(any_number(one));
    const In *const input = values.data();
    std::vector<T> output(n);
    using test::kind;
    const kind which = Every ? static_cast<kind>(one.index % 3) : kind::exclusive;
    const auto scan = [&](auto to) {
      const test::add_floats op{};
      if constexpr (Every) {
        if (which == kind::inclusive)
          return test::scan_as<kind::inclusive, 1, T>(input, to, initial, op, n, one.schedule);
        if (which == kind::inclusive_from_initial)
          return test::scan_as<kind::inclusive_from_initial, 1, T>(input, to, initial, op, n,
                                                                   one.schedule);
      }
      test::scan_as<kind::exclusive, 1, T>(input, to, initial, op, n, one.schedule);
    };
    const auto expected =
        test::tree_scan<T>(test::converted<T>(values), test::add_floats{},
                           which == kind::inclusive ? std::nullopt : std::optional<T>(initial),
                           which != kind::exclusive, sizeof(In), sizeof(In));
    if constexpr (std::is_same<In, T>::value) {
      if (one.index / 3 % 2 == 0) { // in place
        scan(values.data());
        REQUIRE_EQ(test::first_difference(values, expected), test::nowhere);
        return;
      }
      scan(output.data());
    } else {
      scan(test::writing_iterator<T>(output.data()));
    }
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}

} // namespace

TEST_CASE("objects of more than 1000 bytes, an initial value in the output") {
  static_assert(core::exchange_of<wide_object> == core::exchange_by::rounds,
                "large, and no bag of bytes");
  const auto elements = test::interval_elements<wide_object, wide_object>(70);
  test::for_each_trial(40, [&](test::trial &one) {
    const std::size_t n = test::pick_size(
        one, test::tree_sizes(sizeof(wide_object), sizeof(wide_object)), elements.size());
    const std::size_t place = one.random() % n;
    INFO("n = ", n, ", the initial value in element ", place);
    std::vector<wide_object> output(n, wide_object({77, 78})), expected;
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back(wide_object({0, i + 1}));
    output[place] = wide_object(test::interval_initial);
    using future = lookback::FutureValue<wide_object>;
    test::scan<1>(core::make_problem<false, wide_object>(
                      elements.data(), output.data(), test::join_neighbours{},
                      core::initial_value<future>{future(output.data() + place)}),
                  n, one.schedule);
    REQUIRE_EQ(test::first_difference(output, expected), test::nowhere);
  });
}
TEST_CASE("large values by key, over the keys") {
  using T = test::floats<512>;
  test::for_each_trial(24, [&](test::trial &one) {
    const std::size_t n = test::pick_size(one, test::tree_sizes(sizeof(T), sizeof(T)), 70);
    INFO("n = ", n);
    std::vector<T> keys, values, elsewhere(n);
    for (std::size_t i = 0; i < n; ++i) {
      keys.push_back(i == 0 || one.random() % 9 == 0 ? T(any_number(one)) : keys.back());
      values.push_back(T(any_number(one)));
    }
    const T initial(any_number(one));
    const bool inclusive = one.index % 2 == 0;
    const auto expected =
        test::tree_scan_by_key<T>(keys, values, lookback::equal_to{}, test::add_floats{},
                                  inclusive ? std::nullopt : std::optional<T>(initial), sizeof(T));
    std::vector<T> *const results[] = {&keys, &values, &elsewhere};
    auto &result = *results[one.index / 2 % 3];
    const T *const k = keys.data(), *const v = values.data();
    if (inclusive)
      test::scan<1>(core::make_inclusive_by_key<T>(k, v, result.data(), lookback::equal_to{},
                                                   test::add_floats{}),
                    n, one.schedule);
    else
      test::scan<1>(core::make_exclusive_by_key<T>(k, v, result.data(), initial,
                                                   lookback::equal_to{}, test::add_floats{}),
                    n, one.schedule);
    REQUIRE_EQ(test::first_difference(result, expected), test::nowhere);
  });
}
TEST_CASE("512 bytes") { against_tree<test::floats<512>, true>(24, 35); }
#if !defined(__SANITIZE_THREAD__)
TEST_CASE("504 bytes") { against_tree<test::floats<504>>(24, 35); }
TEST_CASE("1000 bytes") { against_tree<test::floats<1000>>(24, 3); }
TEST_CASE("1024 bytes") { against_tree<test::floats<1024>>(24, 3); }
TEST_CASE("2048 bytes") { against_tree<test::floats<2048>>(24, 3); }
TEST_CASE("4096 bytes") { against_tree<test::floats<4096>>(12, 3); }
TEST_CASE("8 bytes that become 512") { against_tree<test::floats<512>, false, double>(12, 2); }
#endif
