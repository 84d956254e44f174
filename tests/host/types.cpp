// SPDX-License-Identifier: MIT
#include <lookback/execution_policy.cuh>

#include <support/guarded_vector.hpp>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <thrust/scan.h>

namespace {

template <class T>
T filler() {
  if constexpr (std::is_default_constructible<T>::value)
    return T{};
  else
    return T(0xdead);
}

template <class T>
void check_type(const char *name) {
  TEST_RANDOM(random);
  const test::compose op{};
  const std::size_t group = test::tree_sizes(sizeof(T), sizeof(T)).group;
  const auto sizes = test::edge_sizes(
      sizeof(T), sizeof(T), std::min(2 * group + 1, (std::size_t{4} << 20) / sizeof(T)), random);
  for (std::size_t n : sizes) {
    const std::size_t shift_in = random() % 17, shift_out = random() % 17;
    INFO(doctest::String(name), ", n = ", n, ", shifted in by ", shift_in, ", out by ", shift_out);
    std::vector<T> padded = test::random_values<T>(n + shift_in, random);
    const std::vector<T> in(padded.begin() + shift_in, padded.end());
    const T init = test::random_value<T>::make(random);
    test::guarded_vector<T> out(n + shift_out, filler<T>());
    const auto results = [&] {
      const auto all = out.values();
      return std::vector<T>(all.begin() + shift_out, all.end());
    };
    const T *const first = padded.data() + shift_in;

    thrust::inclusive_scan(lookback::host, first, first + n, out.data() + shift_out, op);
    CHECK_EQ(test::first_difference(results(), test::serial_inclusive(in, op)), test::nowhere);
    CHECK(out.guards_intact());

    out.refill();
    thrust::exclusive_scan(lookback::host, first, first + n, out.data() + shift_out, init, op);
    CHECK_EQ(test::first_difference(results(), test::serial_exclusive(in, op, init)),
             test::nowhere);
    CHECK(out.guards_intact());
  }
}

/// By key a type is scanned as a pair with a flag, whatever it is by itself.
template <class T>
void check_type_by_key(const char *name) {
  TEST_RANDOM(random);
  const test::compose op{};
  const test::same_octave same{};
  constexpr std::size_t bytes = sizeof(T);
  for (std::size_t n : test::edge_sizes(bytes, bytes, (std::size_t{2} << 20) / bytes, random)) {
    INFO(doctest::String(name), ", n = ", n);
    const auto keys = test::random_keys<std::int16_t>(n, random);
    const auto in = test::random_values<T>(n, random);
    const T init = test::random_value<T>::make(random);
    test::guarded_vector<T> out(n, filler<T>());
    thrust::inclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), in.begin(), out.data(),
                                  same, op);
    CHECK_EQ(
        test::first_difference(out.values(), test::serial_inclusive_by_key(keys, in, same, op)),
        test::nowhere);
    CHECK(out.guards_intact());
    out.refill();
    thrust::exclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), in.begin(), out.data(),
                                  init, same, op);
    CHECK_EQ(test::first_difference(out.values(),
                                    test::serial_exclusive_by_key(keys, in, same, op, init)),
             test::nowhere);
    CHECK(out.guards_intact());
  }
}

} // namespace

TEST_CASE("lookback::host: types of 1 to 256 bytes") {
  check_type<test::sized<1>>("1 byte");
  check_type<test::sized<2>>("2 bytes");
  check_type<test::sized<3>>("3 bytes");
  check_type<test::sized<4>>("4 bytes");
  check_type<test::sized<8>>("8 bytes");
  check_type<test::sized<12>>("12 bytes");
  check_type<test::sized<16>>("16 bytes");
  check_type<test::sized<24>>("24 bytes");
  check_type<test::sized<32>>("32 bytes");
  check_type<test::sized<64, 64>>("64 bytes aligned to 64");
  check_type<test::sized<256>>("256 bytes");
}

TEST_CASE("lookback::host: a type without a default constructor") {
  check_type<test::no_default>("no default constructor");
}

TEST_CASE("lookback::host: a type that is not trivially copyable") {
  check_type<test::self_copied>("not trivially copyable");
}

TEST_CASE("lookback::host: sums of 16-byte integers by key") {
  using wide = lookback::detail::int128; // an arithmetic type in some language modes only
  TEST_RANDOM(random);
  for (const std::size_t n : {std::size_t{10}, std::size_t{5000}, std::size_t{300000}}) {
    INFO("n = ", n);
    std::vector<std::int32_t> keys;
    std::vector<wide> values, sums(n), expected;
    for (std::size_t i = 0; i < n; ++i) {
      keys.push_back(static_cast<std::int32_t>(i / 77));
      values.push_back(static_cast<wide>(random()) << 40);
      expected.push_back(i % 77 == 0 ? values[i] : expected.back() + values[i]);
    }
    thrust::inclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), values.begin(),
                                  sums.begin());
    CHECK(sums == expected);
  }
}

TEST_CASE("lookback::host: types by key") {
  check_type_by_key<test::sized<3>>("3 bytes");
  check_type_by_key<test::sized<24>>("24 bytes");
  check_type_by_key<test::no_default>("no default constructor");
  check_type_by_key<test::self_copied>("not trivially copyable");
}
