// SPDX-License-Identifier: MIT
#include <lookback/device_scan.cuh>

#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <algorithm>

namespace {

using lookback::DeviceScan;

/// Both scans by key of `values`, at the edges of the tree, with runs of random length.
template <class Value, class Key, class Equal, class Operator, class Make>
void check_by_key(const char *name, Equal equal, Operator op, Make make_value, Value init) {
  TEST_RANDOM(random);
  constexpr std::size_t bytes = sizeof(Value);
  for (std::size_t n : test::to_try(
           test::edge_sizes(bytes, bytes, (std::size_t{16} << 20) / bytes, random), random)) {
    INFO(doctest::String(name), ", n = ", n);
    const auto keys = test::random_keys<Key>(n, random, 1 + random() % 4);
    std::vector<Value> in;
    in.reserve(n);
    for (std::size_t i = 0, run = 0; i < n; ++i) {
      run = i != 0 && equal(keys[i - 1], keys[i]) ? run + 1 : 0;
      in.push_back(make_value(random, run));
    }
    const test::guarded_buffer<Key> device_keys(keys, random() % 5);
    const test::guarded_buffer<Value> device_in(in, random() % 5);
    test::guarded_buffer<Value> out(n, random() % 5);
    test::two_phases(
        [&](void *temporary, std::size_t &bytes) {
          return DeviceScan::InclusiveScanByKey(temporary, bytes, device_keys.data(),
                                                device_in.data(), out.data(), op, n, equal);
        },
        random() % 256);
    CHECK_EQ(
        test::first_difference(out.download(), test::serial_inclusive_by_key(keys, in, equal, op)),
        test::nowhere);
    out.poison();
    test::two_phases(
        [&](void *temporary, std::size_t &bytes) {
          return DeviceScan::ExclusiveScanByKey(temporary, bytes, device_keys.data(),
                                                device_in.data(), out.data(), op, init, n, equal);
        },
        random() % 256);
    CHECK_EQ(test::first_difference(out.download(),
                                    test::serial_exclusive_by_key(keys, in, equal, op, init)),
             test::nowhere);
    CHECK(out.guards_intact());
    CHECK_EQ(test::first_difference(device_in.download(), in), test::nowhere);
  }
}

/// Copies itself by its own code, at an alignment that makes a pair with its key's flag twice as
/// large.
template <int Bytes>
struct alignas(16) copied_words {
  static constexpr int words = Bytes / 4;
  std::uint32_t word[words];
  __host__ __device__ explicit copied_words(std::uint32_t first = 0) {
    for (int i = 0; i < words; ++i) word[i] = first + i;
  }
  __host__ __device__ copied_words(const copied_words &other) { *this = other; }
  __host__ __device__ copied_words &operator=(const copied_words &other) {
    for (int i = 0; i < words; ++i) word[i] = other.word[i];
    return *this;
  }
  friend bool operator==(const copied_words &a, const copied_words &b) {
    return std::equal(a.word, a.word + words, b.word);
  }
};
struct add_words {
  template <int Bytes>
  __host__ __device__ copied_words<Bytes> operator()(const copied_words<Bytes> &a,
                                                     const copied_words<Bytes> &b) const {
    copied_words<Bytes> sum(a);
    for (int i = 0; i < sum.words; ++i) sum.word[i] += b.word[i];
    return sum;
  }
};

template <int Bytes>
void check_copied_words() {
  const auto element = [](auto &random, std::size_t) {
    return copied_words<Bytes>(static_cast<std::uint32_t>(random()));
  };
  check_by_key<copied_words<Bytes>, std::int32_t>("words that are copied", lookback::equal_to{},
                                                  add_words{}, element, copied_words<Bytes>(5));
}

} // namespace

TEST_CASE("by key: aligned values that are copied by their own code") {
  check_copied_words<16>();
  check_copied_words<32>();
}

TEST_CASE("by key: intervals that start anew in every run") {
  const auto element = [](auto &, std::size_t run) { return test::interval_element(run); };
  check_by_key<test::interval, std::int32_t>(
      "interval", lookback::equal_to{}, test::join_intervals{}, element, test::interval_initial);
}

TEST_CASE("by key: an equality that is not that of the keys") {
  const auto element = [](auto &random, std::size_t) {
    return test::random_packed<std::uint32_t>(random);
  };
  check_by_key<std::uint32_t, std::uint64_t>("octaves of 8-byte keys", test::same_octave{},
                                             test::compose_words{}, element, 0x30005u);
}

TEST_CASE("by key: 1-byte keys, 1-byte values; 24-byte values") {
  const auto narrow = [](auto &random, std::size_t) { return static_cast<std::uint8_t>(random()); };
  check_by_key<std::uint8_t, std::uint8_t>("1 byte", lookback::equal_to{},
                                           test::plus<std::uint8_t>{}, narrow, std::uint8_t{3});
  const auto wide = [](auto &random, std::size_t) {
    return test::random_value<test::sized<24>>::make(random);
  };
  check_by_key<test::sized<24>, std::int16_t>("24 bytes", lookback::equal_to{}, test::compose{},
                                              wide, test::sized<24>{{1, 3, 5, 7, 9, 11}});
}

TEST_CASE("by key: a type without a default constructor") {
  const auto element = [](auto &random, std::size_t) {
    return test::random_value<test::no_default>::make(random);
  };
  check_by_key<test::no_default, std::int32_t>("no default constructor", lookback::equal_to{},
                                               test::compose{}, element, test::no_default(5));
}
