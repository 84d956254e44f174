// SPDX-License-Identifier: MIT
// The bits of floating-point results are those of the reduction tree, whatever the iterators, the
// length or the threads.
#include <lookback/execution_policy.cuh>

#include <support/operators.hpp>
#include <support/random.hpp>
#include <support/serial_reference.hpp>
#include <support/sizes.hpp>

#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/transform_scan.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace {

template <class Random>
std::vector<std::size_t> lengths(std::size_t bytes_in, std::size_t bytes_out, Random &random) {
  const std::size_t group = test::tree_sizes(bytes_in, bytes_out).group;
  auto sizes = test::edge_sizes(bytes_in, bytes_out, 2 * group + 1, random);
  sizes.push_back(3 * group + random() % (3 * group));
  return sizes;
}

/// `call(in, in_end, out)` must give the bits of the tree over elements of type T.
template <class T, class In, class Out, class Operator, class Call>
void check_bits(const char *name, Operator op, std::optional<T> init, bool inclusive, Call call) {
  TEST_RANDOM(random);
  for (std::size_t n : lengths(sizeof(In), sizeof(Out), random)) {
    INFO(doctest::String(name), ", n = ", n);
    const auto in = test::random_values<In>(n, random);
    std::vector<Out> out(n);
    call(in.data(), in.data() + n, out.data());
    const auto expected = test::converted<Out>(
        test::tree_scan<T>(test::converted<T>(in), op, init, inclusive, sizeof(In), sizeof(Out)));
    CHECK_EQ(test::first_difference(out, expected), test::nowhere);
  }
}

struct itself {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};

} // namespace

TEST_CASE_TEMPLATE("reduction tree on the host: the bits of sums", T, float, double) {
  const test::plus<T> op{};
  const T init = T(0.3);
  check_bits<T, T, T>("inclusive", op, {}, true, [](auto in, auto end, auto out) {
    thrust::inclusive_scan(lookback::host, in, end, out);
  });
  check_bits<T, T, T>("init", op, init, true, [=](auto in, auto end, auto out) {
    thrust::inclusive_scan(lookback::host, in, end, out, init, op);
  });
  check_bits<T, T, T>("exclusive", op, init, false, [=](auto in, auto end, auto out) {
    thrust::exclusive_scan(lookback::host, in, end, out, init, op);
  });
}

// std::plus is known as a sum and may take another way than an operator of one's own.
TEST_CASE_TEMPLATE("reduction tree on the host: the bits of std::plus, also in place", T, float,
                   double) {
  const std::plus<T> op{};
  const T init = T(0.3);
  const auto in_place = [](auto scan) {
    return [=](auto in, auto end, auto out) {
      std::copy(in, end, out);
      scan(out, out + (end - in), out);
    };
  };
  const auto inclusive = [=](auto in, auto end, auto out) {
    thrust::inclusive_scan(lookback::host, in, end, out, op);
  };
  const auto from_init = [=](auto in, auto end, auto out) {
    thrust::inclusive_scan(lookback::host, in, end, out, init, op);
  };
  const auto exclusive = [=](auto in, auto end, auto out) {
    thrust::exclusive_scan(lookback::host, in, end, out, init, op);
  };
  check_bits<T, T, T>("inclusive", op, {}, true, inclusive);
  check_bits<T, T, T>("inclusive, in place", op, {}, true, in_place(inclusive));
  check_bits<T, T, T>("init", op, init, true, from_init);
  check_bits<T, T, T>("init, in place", op, init, true, in_place(from_init));
  check_bits<T, T, T>("exclusive", op, init, false, exclusive);
  check_bits<T, T, T>("exclusive, in place", op, init, false, in_place(exclusive));
}

TEST_CASE_TEMPLATE(
    "lookback::host: sums of integers modulo 2^bits, every short length and alignment", T,
    std::int8_t, std::uint16_t, std::int32_t, std::uint64_t) {
  TEST_RANDOM(random);
  for (std::size_t n = 1; n < 1200; n += n < 300 ? 1 : random() % 100) {
    const std::size_t shift = random() % 64;
    INFO("n = ", n, ", shift = ", shift);
    std::vector<T> in(shift + n), inclusive(n), exclusive(n);
    for (T &x : in) x = static_cast<T>(random());
    std::uint64_t sum = 7;
    for (std::size_t i = 0; i < n; ++i) {
      exclusive[i] = static_cast<T>(sum);
      sum += static_cast<std::uint64_t>(in[shift + i]);
      inclusive[i] = static_cast<T>(sum - 7);
    }
    const T *const first = in.data() + shift;
    std::vector<T> out(n + 1, T(99));
    thrust::inclusive_scan(lookback::host, first, first + n, out.data() + 1);
    CHECK_EQ(test::first_difference(std::vector<T>(out.begin() + 1, out.end()), inclusive),
             test::nowhere);
    CHECK_EQ(out[0], T(99));
    thrust::exclusive_scan(lookback::host, first, first + n, in.data() + shift, T(7));
    CHECK_EQ(test::first_difference(std::vector<T>(first, first + n), exclusive), test::nowhere);
  }
}

TEST_CASE("reduction tree on the host: the wider of input and output shapes it") {
  const test::plus<float> op{};
  check_bits<float, std::int8_t, float>(
      "int8 to float", op, 0.1f, true, [=](auto in, auto end, auto out) {
        thrust::inclusive_scan(lookback::host, in, end, out, 0.1f, op);
      });
  check_bits<float, float, double>("float to double", op, {}, true,
                                   [=](auto in, auto end, auto out) {
                                     thrust::inclusive_scan(lookback::host, in, end, out, op);
                                   });
}

TEST_CASE("reduction tree on the host: what a transform returns shapes it, exclusive once "
          "converted to the initial value's type") {
  TEST_RANDOM(random);
  const test::plus<double> op{};
  for (std::size_t n : lengths(sizeof(double), sizeof(float), random)) {
    INFO("n = ", n);
    const auto in = test::random_values<float>(n, random);
    const auto tree = [&](bool inclusive, std::size_t bytes_in) {
      return test::converted<float>(test::tree_scan<double>(test::converted<double>(in), op, 0.1,
                                                            inclusive, bytes_in, sizeof(float)));
    };
    std::vector<float> out(n);
    thrust::transform_exclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), itself{},
                                     0.1, op);
    CHECK_EQ(test::first_difference(out, tree(false, sizeof(double))), test::nowhere);
    thrust::transform_inclusive_scan(lookback::host, in.begin(), in.end(), out.begin(), itself{},
                                     0.1, op);
    CHECK_EQ(test::first_difference(out, tree(true, sizeof(float))), test::nowhere);
  }
}

TEST_CASE("reduction tree on the host: an iterator that is no pointer has the same bits") {
  const test::plus<float> op{};
  check_bits<float, float, float>(
      "transform_iterator", op, {}, true, [=](auto in, auto end, auto out) {
        thrust::inclusive_scan(lookback::host, thrust::make_transform_iterator(in, itself{}),
                               thrust::make_transform_iterator(end, itself{}), out, op);
      });
}

TEST_CASE_TEMPLATE("reduction tree on the host: the bits of sums by key", T, float, double) {
  TEST_RANDOM(random);
  const test::plus<T> op{};
  const std::equal_to<std::int32_t> equal{};
  const T init = T(0.7);
  for (std::size_t n : lengths(sizeof(T), sizeof(T), random)) {
    INFO("n = ", n);
    const auto keys = test::random_keys<std::int32_t>(n, random);
    const auto in = test::random_values<T>(n, random);
    std::vector<T> out(n);
    thrust::inclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), in.begin(),
                                  out.begin());
    CHECK_EQ(
        test::first_difference(out, test::tree_scan_by_key<T>(keys, in, equal, op, {}, sizeof(T))),
        test::nowhere);
    thrust::exclusive_scan_by_key(lookback::host, keys.begin(), keys.end(), in.begin(), out.begin(),
                                  init);
    CHECK_EQ(test::first_difference(
                 out, test::tree_scan_by_key<T>(keys, in, equal, op, init, sizeof(T))),
             test::nowhere);
  }
}
