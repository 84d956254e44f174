// SPDX-License-Identifier: MIT
// Elements too large to wait in shared memory, up to the limit: plain, from an initial value, and
// by key.
#include <device/types.cuh>

namespace {

/// Both scans by key, the results over the keys, the values or elsewhere.
template <class T>
void check_by_key(const char *name) {
  TEST_RANDOM(random);
  const test::compose op{};
  const lookback::equal_to equal{};
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{31}, std::size_t{33}, std::size_t{1000}}) {
    std::vector<T> keys, values = test::random_values<T>(n, random);
    for (std::size_t i = 0; i < n; ++i)
      keys.push_back(i == 0 || random() % 7 == 0 ? test::random_value<T>::make(random)
                                                 : keys.back());
    const T init = test::random_value<T>::make(random);
    for (const int where : {0, 1, 2}) {
      INFO(doctest::String(name), ", n = ", n, ", the results over: ",
           where == 0   ? "nothing"
           : where == 1 ? "keys"
                        : "values");
      for (const bool inclusive : {true, false}) {
        const test::guarded_buffer<T> device_keys(keys), device_values(values), elsewhere(n);
        const test::guarded_buffer<T> &out = where == 0   ? elsewhere
                                             : where == 1 ? device_keys
                                                          : device_values;
        test::two_phases([&](void *temporary, std::size_t &bytes) {
          if (inclusive)
            return lookback::DeviceScan::InclusiveScanByKey(temporary, bytes, device_keys.data(),
                                                            device_values.data(), out.data(), op, n,
                                                            equal);
          return lookback::DeviceScan::ExclusiveScanByKey(temporary, bytes, device_keys.data(),
                                                          device_values.data(), out.data(), op,
                                                          init, n, equal);
        });
        const auto expected = inclusive
                                  ? test::serial_inclusive_by_key(keys, values, equal, op)
                                  : test::serial_exclusive_by_key(keys, values, equal, op, init);
        CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
        CHECK(out.guards_intact());
      }
    }
  }
}

/// Words that are composed in a loop: unrolled, it would take a minute to compile.
struct compose_words_of_4096_bytes {
  using type = test::sized<4096>;
  __host__ __device__ type operator()(const type &f, const type &g) const {
    type result;
    LOOKBACK_ROLLED
    for (int w = 0; w < type::words; ++w)
      result.maps[w] = test::compose_packed(f.maps[w], g.maps[w]);
    return result;
  }
};

} // namespace

TEST_CASE("large elements: 504, 512 and 1024 bytes") {
  test::check_type<test::sized<504>>("504 bytes");
  test::check_type<test::sized<512>>("512 bytes");
  test::check_type<test::sized<1024>>("1024 bytes");
}
TEST_CASE("large elements by key: 1024 bytes") { check_by_key<test::sized<1024>>("1024 bytes"); }

TEST_CASE("large elements: 4096 bytes, the limit") {
  TEST_RANDOM(random);
  using T = test::sized<4096>;
  const compose_words_of_4096_bytes op{};
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{32}, std::size_t{33}, std::size_t{1500}}) {
    INFO("n = ", n);
    const auto in = test::random_values<T>(n, random);
    const test::guarded_buffer<T> device_in(in), out(n);
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return lookback::DeviceScan::InclusiveScan(temporary, bytes, device_in.data(), out.data(), op,
                                                 n);
    });
    CHECK_EQ(test::first_difference(out.download(), test::serial_inclusive(in, op)), test::nowhere);
    CHECK(out.guards_intact());
  }
}
