// SPDX-License-Identifier: MIT
// The bits of floating-point results are those of the reduction tree, whatever the alignment, the
// iterators or the length.
#include <lookback/device_scan.cuh>

#include <support/device_call.cuh>
#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <thrust/iterator/transform_iterator.h>

namespace {

using lookback::DeviceScan;

template <class Random>
std::vector<std::size_t> lengths(std::size_t bytes_in, std::size_t bytes_out, Random &random) {
  const std::size_t group = test::tree_sizes(bytes_in, bytes_out).group;
  auto sizes = test::edge_sizes(bytes_in, bytes_out, 2 * group + 1, random);
  sizes.push_back(5 * group + random() % (5 * group));
  return test::to_try(sizes, random);
}

/// `call(temporary, bytes, in, out, n)` must give the bits of the tree over elements of type T.
template <class T, class In, class Out, class Operator, class Call>
void check_bits(const char *name, Operator op, std::optional<T> init, bool inclusive, Call call) {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(sizeof(In), sizeof(Out), random)) {
    const std::size_t shift_in = random() % 17, shift_out = random() % 17;
    INFO(doctest::String(name), ", n = ", n, ", shifted in by ", shift_in, ", out by ", shift_out);
    const auto in = test::random_values<In>(n, random);
    const test::guarded_buffer<In> device_in(in, shift_in);
    const test::guarded_buffer<Out> out(n, shift_out);
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return call(temporary, bytes, device_in.data(), out.data(), n);
    });
    const auto expected = test::converted<Out>(
        test::tree_scan<T>(test::converted<T>(in), op, init, inclusive, sizeof(In), sizeof(Out)));
    CHECK_EQ(test::first_difference(out.download(), expected), test::nowhere);
    CHECK(out.guards_intact());
  }
}

struct itself {
  template <class T>
  __host__ __device__ T operator()(T x) const {
    return x;
  }
};

} // namespace

TEST_CASE_TEMPLATE("reduction tree on the device: the bits of sums", T, float, double) {
  const test::plus<T> op{};
  check_bits<T, T, T>("inclusive", op, {}, true,
                      [=](void *temporary, std::size_t &bytes, auto in, auto out, auto n) {
                        return DeviceScan::InclusiveSum(temporary, bytes, in, out, n);
                      });
  const T init = T(0.3);
  check_bits<T, T, T>(
      "init", op, init, true, [=](void *temporary, std::size_t &bytes, auto in, auto out, auto n) {
        return DeviceScan::InclusiveScanInit(temporary, bytes, in, out, op, init, n);
      });
  check_bits<T, T, T>("exclusive", op, init, false,
                      [=](void *temporary, std::size_t &bytes, auto in, auto out, auto n) {
                        return DeviceScan::ExclusiveScan(temporary, bytes, in, out, op, init, n);
                      });
}

TEST_CASE("reduction tree on the device: the wider of input and output shapes it") {
  const test::plus<float> op{};
  check_bits<float, std::int8_t, float>(
      "int8 to float", op, 0.1f, true,
      [=](void *temporary, std::size_t &bytes, auto in, auto out, auto n) {
        return DeviceScan::InclusiveScanInit(temporary, bytes, in, out, op, 0.1f, n);
      });
  check_bits<float, float, double>(
      "float to double", op, {}, true,
      [=](void *temporary, std::size_t &bytes, auto in, auto out, auto n) {
        return DeviceScan::InclusiveScan(temporary, bytes, in, out, op, n);
      });
}

TEST_CASE("reduction tree on the device: an iterator that is no pointer has the same bits") {
  const test::plus<float> op{};
  check_bits<float, float, float>(
      "transform_iterator", op, {}, true,
      [=](void *temporary, std::size_t &bytes, auto in, auto out, auto n) {
        return DeviceScan::InclusiveScan(temporary, bytes,
                                         thrust::make_transform_iterator(in, itself{}), out, op, n);
      });
}

TEST_CASE(
    "reduction tree on the device: the results of n elements are the first n of any longer input") {
  TEST_RANDOM(random);
  const std::size_t longest = 3 * test::tree_sizes(4, 4).group;
  const auto in = test::random_values<float>(longest, random);
  const test::guarded_buffer<float> device_in(in);
  test::guarded_buffer<float> out(longest);
  const auto scan = [&](std::size_t n) {
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return DeviceScan::InclusiveSum(temporary, bytes, device_in.data(), out.data(), n);
    });
    return out.download();
  };
  const auto all = scan(longest);
  for (int trial = 0; trial < static_cast<int>(test::trials(6)); ++trial) {
    const std::size_t n = random() % longest;
    INFO("n = ", n);
    out.poison();
    auto some = scan(n);
    some.resize(n);
    CHECK_EQ(test::first_difference(some, {all.begin(), all.begin() + n}), test::nowhere);
  }
}

TEST_CASE_TEMPLATE("reduction tree on the device: the bits of sums by key", T, float, double) {
  TEST_RANDOM(random);
  const test::plus<T> op{};
  for (std::size_t n : lengths(sizeof(T), sizeof(T), random)) {
    INFO("n = ", n);
    const auto keys = test::random_keys<std::int32_t>(n, random);
    const auto in = test::random_values<T>(n, random);
    const test::guarded_buffer<std::int32_t> device_keys(keys);
    const test::guarded_buffer<T> device_in(in);
    test::guarded_buffer<T> out(n);
    const T init = T(0.7);
    const std::equal_to<std::int32_t> equal{};
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return DeviceScan::InclusiveSumByKey(temporary, bytes, device_keys.data(), device_in.data(),
                                           out.data(), n);
    });
    CHECK_EQ(test::first_difference(out.download(),
                                    test::tree_scan_by_key<T>(keys, in, equal, op, {}, sizeof(T))),
             test::nowhere);
    out.poison();
    test::two_phases([&](void *temporary, std::size_t &bytes) {
      return DeviceScan::ExclusiveScanByKey(temporary, bytes, device_keys.data(), device_in.data(),
                                            out.data(), op, init, n);
    });
    CHECK_EQ(test::first_difference(
                 out.download(), test::tree_scan_by_key<T>(keys, in, equal, op, init, sizeof(T))),
             test::nowhere);
  }
}
