// SPDX-License-Identifier: MIT
// Every path over sources that are no vectors in memory: items that warps load through an iterator,
// and structs that wait in shared memory as bytes; and results for an iterator.
#include <lookback/device_scan.cuh>

#include <support/check_paths.cuh>
#include <support/operators.hpp>
#include <support/serial_reference.hpp>
#include <support/tree_reference.hpp>
#include <support/types.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <algorithm>
#include <optional>

namespace {

namespace detail = lookback::detail;

template <class T>
struct element_at {
  const T *memory;
  __host__ __device__ T operator()(std::int64_t i) const { return memory[i]; }
};
struct difference {
  template <class Pair>
  __host__ __device__ float operator()(const Pair &pair) const {
    return thrust::get<0>(pair) - thrust::get<1>(pair);
  }
};
struct negate {
  __host__ __device__ float operator()(float value) const { return -value; }
};

/// Inclusive without an initial value and exclusive with one, of `from(x, n)`, whose items are
/// `items_of(in)`.
template <class T, class Random, class From, class ItemsOf>
void check_source(Random &random, From from, ItemsOf items_of) {
  const test::plus<T> op{};
  const T init = T(3);
  std::int64_t n = 0;
  const auto inclusive = [&](const T *x, T *y) {
    return detail::make_problem<true, T>(from(x, n), y, op, detail::no_initial{});
  };
  const auto exclusive = [&](const T *x, T *y) {
    return detail::make_problem<false, T>(from(x, n), y, op, detail::initial_value<T>{init});
  };
  using problem = decltype(inclusive(nullptr, nullptr));
  static_assert(detail::can_look_ahead<problem>::value, "the pipeline takes such a source");
  for (const std::size_t length : test::lengths(sizeof(T), random, inclusive(nullptr, nullptr))) {
    n = static_cast<std::int64_t>(length);
    const auto in = test::random_values<T>(length, random);
    const std::vector<T> items = items_of(in);
    const auto expected = [&](std::optional<T> initial, bool is_inclusive) {
      return test::tree_scan<T>(items, op, initial, is_inclusive, sizeof(T), sizeof(T));
    };
    test::check_paths<T>(in, expected({}, true), random, inclusive);
    test::check_paths<T>(in, expected(init, false), random, exclusive);
  }
}

} // namespace

TEST_CASE_TEMPLATE("sources: a function of an index that reads memory", T, std::int8_t, float,
                   double) {
  TEST_RANDOM(random);
  check_source<T>(
      random,
      [](const T *x, std::int64_t) {
        return thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}),
                                               element_at<T>{x});
      },
      [](const std::vector<T> &in) { return in; });
}

TEST_CASE("sources: a function of a zip") {
  TEST_RANDOM(random);
  check_source<float>(
      random,
      [](const float *x, std::int64_t n) {
        return thrust::make_transform_iterator(
            thrust::make_zip_iterator(x, thrust::make_reverse_iterator(x + n)), difference{});
      },
      [](const std::vector<float> &in) {
        std::vector<float> items;
        for (std::size_t i = 0; i < in.size(); ++i)
          items.push_back(difference{}(thrust::make_tuple(in[i], in[in.size() - 1 - i])));
        return items;
      });
}

TEST_CASE("sources: reverse, and permuted by an index") {
  TEST_RANDOM(random);
  const auto reversed = [](const std::vector<float> &in) {
    return std::vector<float>(in.rbegin(), in.rend());
  };
  check_source<float>(
      random, [](const float *x, std::int64_t n) { return thrust::make_reverse_iterator(x + n); },
      reversed);
  check_source<float>(
      random,
      [](const float *x, std::int64_t n) {
        return thrust::make_permutation_iterator(
            x, thrust::make_reverse_iterator(thrust::make_counting_iterator(n)));
      },
      reversed);
}

/// A reverse_iterator over a pointer is memory, for the input alone and for the output alone.
TEST_CASE("sources: from the end, and to the end") {
  TEST_RANDOM(random);
  const test::plus<float> op{};
  std::int64_t n = 0;
  const auto from_the_end = [&](const float *x, float *y) {
    return detail::make_problem<true, float>(thrust::make_reverse_iterator(x + n), y, op,
                                             detail::no_initial{});
  };
  const auto to_the_end = [&](const float *x, float *y) {
    return detail::make_problem<false, float>(x, thrust::make_reverse_iterator(y + n), op,
                                              detail::initial_value<float>{3});
  };
  using input = decltype(detail::with_known_iterators(from_the_end(nullptr, nullptr)));
  using output = decltype(detail::with_known_iterators(to_the_end(nullptr, nullptr)));
  static_assert(detail::counts_from_end<input::input_type> &&
                    detail::counts_from_end<output::output_type>,
                "reverse_iterators are known");
  for (const std::size_t length :
       test::lengths(sizeof(float), random, to_the_end(nullptr, nullptr))) {
    n = static_cast<std::int64_t>(length);
    const auto in = test::random_values<float>(length, random);
    const std::vector<float> items(in.rbegin(), in.rend());
    test::check_paths<float>(
        in, test::tree_scan<float>(items, op, {}, true, sizeof(float), sizeof(float)), random,
        from_the_end);
    auto expected = test::tree_scan<float>(in, op, 3.f, false, sizeof(float), sizeof(float));
    std::reverse(expected.begin(), expected.end());
    test::check_paths<float>(in, expected, random, to_the_end);
  }
}

/// From memory by bulk copies, and from an iterator by loading warps.
TEST_CASE("sources: results for an iterator") {
  TEST_RANDOM(random);
  const test::plus<float> op{};
  const auto from_memory = [=](const float *x, float *y) {
    return detail::make_problem<true, float>(x, thrust::make_transform_output_iterator(y, negate{}),
                                             op, detail::no_initial{});
  };
  const auto from_indices = [=](const float *x, float *y) {
    const auto items = thrust::make_transform_iterator(
        thrust::make_counting_iterator(std::int64_t{0}), element_at<float>{x});
    return detail::make_problem<true, float>(
        items, thrust::make_transform_output_iterator(y, negate{}), op, detail::no_initial{});
  };
  for (const std::size_t n : test::lengths(sizeof(float), random, from_memory(nullptr, nullptr))) {
    const auto in = test::random_values<float>(n, random);
    auto expected = test::tree_scan<float>(in, op, {}, true, sizeof(float), sizeof(float));
    std::transform(expected.begin(), expected.end(), expected.begin(), negate{});
    test::check_paths<float>(in, expected, random, from_memory);
    test::check_paths<float>(in, expected, random, from_indices);
  }
}

/// At their own stride: of sizes that are and are not multiples of 16, 8 and 4 bytes.
TEST_CASE_TEMPLATE("sources: structs as bytes", T, test::sized<3>, test::sized<12>, test::sized<24>,
                   test::sized<64>) {
  TEST_RANDOM(random);
  const test::compose op{};
  const auto compositions = [=](const T *x, T *y) {
    return detail::make_problem<true, T>(x, y, op, detail::no_initial{});
  };
  static_assert(detail::can_stage<decltype(compositions(nullptr, nullptr))>, "bytes are staged");
  for (const std::size_t n : test::lengths(sizeof(T), random, compositions(nullptr, nullptr))) {
    std::vector<T> in;
    for (std::size_t i = 0; i < n; ++i) in.push_back(test::random_value<T>::make(random));
    test::check_paths<T>(in, test::serial_inclusive(in, op), random, compositions);
  }
}
